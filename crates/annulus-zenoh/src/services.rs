//! Services: [`Asks`] asks a server of this machine what others ask over the network, and [`FarService`] is
//! the service of this machine whose questions go there.
//!
//! A question is a query of Zenoh, and its reply the answer. It goes to the bridge of that one service, which
//! is one of its clients. While as many questions are open as a client may have, the next ones wait, but no
//! longer than it is waited for their answers: then nobody would hear them. What is not answered is told by
//! an error, whose text begins with a code: `refused`, `died`, `busy`, `late`, `closed`, or `length`. The far
//! side refuses the question then, and also after a time without an answer, or at once where no bridge hears
//! it. So a question is asked at most once, and no client waits for ever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use annulus::__bridge::spawn;
use annulus::mpsc::{self, Consumer};
use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{Client, PendingAnswer, Request, Server, service_types};
use annulus::shm::service::{AnswerError, AskError, Builder};
use annulus::shm::{Invitation, PeerState, RingInfo, Shared};
use annulus::{Closer, RecvTimeoutError, Select, Settings, WaitStrategy};
use zenoh::bytes::Encoding;
use zenoh::query::{ConsolidationMode, Query, Queryable, Reply};
use zenoh::{Session, Wait};

use crate::announced::Announced;
use crate::counters::{Counters, RouteState};
use crate::description::{CLIENTS, Description, Refused};
use crate::far_ring::{Makes, Published};
use crate::keys;
use crate::wire::{wait_of_bytes, wait_to_bytes};
use crate::words::{MOST_WORDS, Wake, Words};

/// How long it waits without a look at the rest.
const PATIENCE: Duration = Duration::from_millis(100);

/// What the thread hears.
enum Word {
    /// A question, and when it came.
    Asked(Query, Instant),
    /// There is something to look at.
    Look,
}

/// A service to which questions come from the network, by the thread that runs this.
pub(crate) struct Asks {
    client: Client,
    /// The questions that are asked.
    open: Vec<(PendingAnswer, Query)>,
    heard: Consumer<Word>,
    announced: Announced,
    counters: Arc<Counters>,
    _asked: Queryable<()>,
}

impl Asks {
    /// Joins the service of this invitation. With it comes what wakes its thread.
    pub(crate) fn begin(
        session: &Session,
        (host, name): (&str, &str),
        invitation: &Invitation,
        info: &RingInfo,
        counters: &Arc<Counters>,
    ) -> Result<(Self, Wake), Refused> {
        let (question, answer) = service_types(invitation).map_err(|error| error.to_string())?;
        // (Before it takes a place.)
        Description::of_service(info, [&question, &answer], 1)?;
        let client = Client::join(invitation, &question, &answer, WaitStrategy::default());
        let client = client.map_err(|error| error.to_string())?;
        let described = Description::of_service(info, [&question, &answer], client.capacity())?;
        let (words, heard) = mpsc::channel(MOST_WORDS);
        let words = Words::new(words);
        let (to, epoch, counted) = (words.clone(), info.identity(), Arc::clone(counters));
        let declare = || {
            let asked = move |query: Query| {
                if let Err(Word::Asked(query, _)) = to.say(Word::Asked(query, Instant::now())) {
                    counted.unanswered();
                    refuse(&query, "busy: too many questions wait");
                }
            };
            let queryable = session.declare_queryable(keys::questions(host, name, epoch));
            let asked = queryable.callback(asked).wait()?;
            Ok((asked, Announced::declare(session, (host, name, epoch), &described)?))
        };
        let declared: zenoh::Result<_> = declare();
        let (asked, announced) = declared.map_err(|error| error.to_string())?;
        counters.is(&described.kind);
        let counters = Arc::clone(counters);
        let asks = Self { client, open: Vec::new(), heard, announced, counters, _asked: asked };
        Ok((asks, Box::new(move || _ = words.say(Word::Look))))
    }

    pub(crate) fn run(mut self, stops: &AtomicBool) {
        let mut answer = vec![0; self.client.answer_bytes()];
        while !stops.load(Ordering::Relaxed) {
            let has_room = self.open.len() < self.client.capacity();
            let mut select = Select::new();
            if has_room {
                select.recv(&mut self.heard);
            }
            for (pending, _) in &mut self.open {
                select.recv(pending);
            }
            let is_quiet = select.ready_timeout(PATIENCE).is_none();
            drop(select);
            self.take_answers(&mut answer);
            while self.open.len() < self.client.capacity() {
                match self.heard.try_recv() {
                    Ok(Word::Asked(query, came)) => self.ask(query, came),
                    Ok(Word::Look) => {}
                    Err(_) => break,
                }
            }
            if self.client.is_closed() || is_quiet && self.client.server() != PeerState::Alive {
                // What was asked is answered, or has an error at once: nobody else answers it.
                self.take_answers(&mut answer);
                break;
            }
        }
        let why = if stops.load(Ordering::Relaxed) {
            "closed: the bridge ends"
        } else {
            self.counters.set(RouteState::Ended);
            "closed: the service has ended"
        };
        for (_, query) in self.open {
            self.counters.unanswered();
            refuse(&query, why);
        }
        while let Ok(word) = self.heard.try_recv() {
            if let Word::Asked(query, _) = word {
                self.counters.unanswered();
                refuse(&query, why);
            }
        }
        if !stops.load(Ordering::Relaxed) {
            self.announced.end();
        }
    }

    /// Asks what this asks, if anybody still waits for the answer.
    fn ask(&mut self, query: Query, came: Instant) {
        let wait = query.attachment().and_then(|wait| wait_of_bytes(&wait.to_bytes()));
        if let Some(wait) = wait.filter(|wait| came.elapsed() >= *wait) {
            self.counters.unanswered();
            return refuse(&query, &format!("late: it was to be asked within {wait:?}"));
        }
        let question = query.payload().map(|payload| payload.to_bytes()).unwrap_or_default();
        let (bytes, wanted) = (question.len(), self.client.question_bytes());
        if bytes != wanted {
            self.counters.corrupt();
            return refuse(
                &query,
                &format!("length: a question has {wanted} bytes here, and this one {bytes}"),
            );
        }
        match self.client.ask(&question) {
            Ok(pending) => {
                drop(question);
                self.open.push((pending, query));
            }
            Err(error) => {
                let code = if error == AskError::Closed(()) { "closed" } else { "busy" };
                self.counters.unanswered();
                refuse(&query, &format!("{code}: {error}"));
            }
        }
    }

    /// Passes the answers on that are there, in whatever order.
    fn take_answers(&mut self, answer: &mut [u8]) {
        let counters = &self.counters;
        self.open.retain_mut(|(pending, query)| {
            match pending.try_recv(answer) {
                Ok(()) => {
                    counters.carried(1, answer.len() as u64);
                    let reply = query.reply(query.key_expr().clone(), &*answer);
                    // (Without it, the far side refuses the question after a while.)
                    _ = reply.encoding(Encoding::APPLICATION_OCTET_STREAM).wait();
                }
                Err(AnswerError::Empty) => return true,
                Err(error) => {
                    counters.unanswered();
                    let code = if error == AnswerError::Died { "died" } else { "refused" };
                    refuse(query, &format!("{code}: {error}"));
                }
            }
            false
        });
    }
}

fn refuse(query: &Query, why: &str) {
    _ = query.reply_err(why).encoding(Encoding::TEXT_PLAIN).wait();
}

/// A service of this machine whose questions go to another one.
pub(crate) struct FarService {
    closer: Closer,
    thread: Option<JoinHandle<()>>,
}

impl FarService {
    /// Makes the service for such questions and answers, of which each client may have so many open. They go
    /// to this key, and wait for an answer for so long.
    pub(crate) fn begin(
        makes: &Makes,
        name: &str,
        ([question, answer], open): ([&MessageType; 2], usize),
        (key, timeout): (String, Duration),
        counters: Arc<Counters>,
    ) -> Result<Self, Refused> {
        let builder = Builder::new(Settings::new(open)).clients(CLIENTS);
        let made = Server::new(builder, question, answer).map_err(|error| error.to_string())?;
        let Shared { handle, invitation, .. } = made;
        let closer = handle.closer();
        let published = makes.publish(name, handle, &invitation)?;
        let serves = Serves { published, session: makes.session.clone(), key, timeout, counters };
        let thread = spawn("annulus asks", move || serves.run());
        let thread = thread.map_err(|error| format!("no thread for it: {error}"))?;
        Ok(Self { closer, thread: Some(thread) })
    }

    /// Ends the service, and waits until it has.
    pub(crate) fn join(mut self) {
        self.closer.close();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

impl Drop for FarService {
    fn drop(&mut self) {
        // Its thread ends by itself: threads of the network must not wait for it.
        self.closer.close();
    }
}

/// What the thread of such a service has.
struct Serves {
    published: Published<Server>,
    session: Session,
    key: String,
    timeout: Duration,
    counters: Arc<Counters>,
}

impl Serves {
    fn run(mut self) {
        loop {
            match self.published.end.recv_timeout(PATIENCE) {
                Ok(request) => self.pass(request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Closed) => return,
            }
        }
    }

    /// Asks the other machine. The thread of the network answers.
    fn pass(&self, request: Request) {
        let question = request.question().to_vec();
        let asked = Asked { request: Mutex::new(Some(request)), counters: Arc::clone(&self.counters) };
        let get = self.session.get(&self.key).payload(question).timeout(self.timeout);
        let get = get.attachment(wait_to_bytes(self.timeout).as_slice());
        // (Where it can't be asked, the drop of the callback refuses it.)
        _ = get.consolidation(ConsolidationMode::None).callback(move |reply| asked.hear(&reply)).wait();
    }
}

/// A question that another machine is asked. Its drop refuses it, if there was no answer.
struct Asked {
    request: Mutex<Option<Request>>,
    counters: Arc<Counters>,
}

impl Asked {
    fn hear(&self, reply: &Reply) {
        // (An error is refused with the drop.)
        let Ok(sample) = reply.result() else { return };
        let answer = sample.payload().to_bytes();
        let mut request = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(asked) = request.take() else { return };
        if answer.len() != asked.answer_bytes() {
            self.counters.corrupt();
            *request = Some(asked);
            return;
        }
        self.counters.carried(1, answer.len() as u64);
        // (Of a client that is gone it is dropped.)
        _ = asked.answer(&answer);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.request.get_mut().is_ok_and(|request| request.take().is_some()) {
            self.counters.unanswered();
        }
    }
}
