//! [`Members`]: the topics that match a pattern, as the one receiver of all of them keeps them.
//!
//! It waits at the eventcount of its [inbox](super::inbox), where new topics and the end of the bus are
//! announced. The eventcounts of the topics' rings are [relayed](crate::wait::Relay) to it.

use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(any(feature = "std", feature = "async"))]
use core::ptr::NonNull;
#[cfg(any(feature = "std", feature = "async"))]
use core::task::Waker;

use super::inbox::Inbox;
use super::kind::AnySubscriber;
use crate::error::LossyTryRecvError;
use crate::message::Message;
use crate::stats::Stats;
use crate::sync::seeded;
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EndMark, EventCount, Relay};

/// The topics that match.
pub(super) struct Members<T: Message> {
    /// In the order in which they joined, and so of their numbers.
    all: Vec<MatchingTopic<T>>,
    /// Whose turn it is.
    turn: usize,
    /// How many have joined.
    joined: u64,
    /// What was lost on topics that are left.
    lagged: u64,
    /// Whether the end of the bus was seen.
    is_over: bool,
    inbox: Arc<Inbox<T>>,
    /// Of the inbox.
    #[cfg(any(feature = "std", feature = "async"))]
    waker: Waker,
}

/// A topic that matches.
struct MatchingTopic<T: Message> {
    // Before the subscriber: it is dropped first, and the subscriber keeps its ring alive.
    #[cfg(any(feature = "std", feature = "async"))]
    relay: Relay,
    /// How many have joined before.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for workers"))]
    number: u64,
    name: Arc<str>,
    subscriber: AnySubscriber<T>,
}

/// What a look at all topics found: a message, with the number of its topic among the members; or how many
/// messages of a topic were lost.
pub(super) enum Looked<T> {
    Message(usize, T),
    Lag(u64),
    Nothing,
    End,
}

impl<T: Message> Members<T> {
    pub(super) fn new(inbox: Arc<Inbox<T>>) -> Self {
        let mut members = Self {
            all: Vec::new(),
            turn: 0,
            joined: 0,
            lagged: 0,
            is_over: false,
            #[cfg(any(feature = "std", feature = "async"))]
            waker: Arc::clone(&inbox).into(),
            inbox,
        };
        members.join_new();
        members
    }

    pub(super) fn inbox(&self) -> &Inbox<T> {
        &self.inbox
    }

    /// The name of the topic of that number.
    pub(super) fn name(&self, index: usize) -> &Arc<str> {
        &self.all[index].name
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|member| &*member.name)
    }

    pub(super) fn stats(&self) -> impl Iterator<Item = (&str, Stats)> {
        let most = if seeded!("numbers_of_one_topic") { 1.min(self.all.len()) } else { self.all.len() };
        self.all[..most].iter().map(|member| (&*member.name, member.subscriber.stats()))
    }

    /// How many messages were lost, of all topics together.
    pub(super) fn total_lagged(&self) -> u64 {
        self.lagged + self.all.iter().map(|member| member.subscriber.total_lagged()).sum::<u64>()
    }

    /// Joins the topics that are new.
    fn join_new(&mut self) {
        let is_over = self.inbox.is_over();
        // After that look, so that nothing comes any more if the bus is gone.
        if self.inbox.has_some() {
            for (name, subscriber) in self.inbox.take() {
                self.all.push(MatchingTopic {
                    #[cfg(any(feature = "std", feature = "async"))]
                    relay: Relay::new(),
                    number: self.joined,
                    name,
                    subscriber,
                });
                self.joined += 1;
            }
        }
        self.is_over = is_over;
    }

    /// The topic is at its end.
    fn leave(&mut self, index: usize) {
        self.lagged += self.all.remove(index).subscriber.total_lagged();
        if index < self.turn {
            self.turn -= 1;
        }
    }

    /// Whether nothing comes any more, if nothing is there now.
    fn is_end(&self) -> bool {
        self.is_over && self.all.is_empty()
    }

    /// What is there, of the topic whose turn it is, and so on around.
    pub(super) fn next(&mut self) -> Looked<T> {
        self.join_new();
        let mut left = self.all.len();
        while left > 0 {
            left -= 1;
            let index = if self.turn < self.all.len() { self.turn } else { 0 };
            self.turn = index + 1;
            match self.all[index].subscriber.try_recv() {
                Ok(message) => return Looked::Message(index, message),
                Err(LossyTryRecvError::Lagged { skipped }) => return Looked::Lag(skipped),
                Err(LossyTryRecvError::Empty) => {}
                Err(LossyTryRecvError::Closed) => self.leave(index),
            }
        }
        if self.is_end() { Looked::End } else { Looked::Nothing }
    }
}

/// For threads and tasks that wait.
#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> Members<T> {
    /// Where new topics, the end, and messages of all topics are notified.
    pub(super) fn wait_point(&self) -> &EventCount {
        &self.inbox.event
    }

    /// As [`next`](Self::next), for a caller that waits if nothing is there.
    pub(super) fn next_or_listen(&mut self) -> Looked<T> {
        match self.next() {
            Looked::Nothing if self.listen() => self.next(),
            found => found,
        }
    }

    /// Whether [`next`](Self::next) would find something, for a caller that waits if not.
    pub(super) fn is_ready_or_listens(&mut self) -> bool {
        self.is_ready() || self.listen() && self.is_ready()
    }

    /// A topic at its end is ready to be left, and nothing more. It may come to its end at any time, so each
    /// is asked for that after it was found ready.
    fn is_ready(&mut self) -> bool {
        self.join_new();
        let mut index = 0;
        while index < self.all.len() {
            let subscriber = &mut self.all[index].subscriber;
            if !subscriber.is_ready() {
                index += 1;
            } else if subscriber.is_at_end() && !seeded!("matching_ready_at_an_end") {
                self.leave(index);
            } else {
                return true;
            }
        }
        self.is_end()
    }

    /// If a thread or a task has registered at the eventcount: from now on, messages of all topics are
    /// notified there.
    /// Returns whether the caller has to look once more (`wait/listener.rs`).
    fn listen(&mut self) -> bool {
        let mut looks_again = false;
        if self.inbox.event.has_sleepers() {
            for member in &mut self.all {
                let event = NonNull::from(member.subscriber.wait_point());
                // SAFETY: the eventcount is in the ring, which the subscriber keeps alive. The subscriber
                // stays with its relay, and is dropped after it.
                looks_again |= unsafe { member.relay.set(event, &self.waker) };
            }
        }
        looks_again
    }

    /// Whether no topic is open, and none comes any more.
    pub(super) fn is_closed(&self) -> bool {
        // In that order: nothing comes behind the end.
        self.inbox.is_over()
            && !self.inbox.has_some()
            && self.all.iter().all(|member| member.subscriber.is_closed())
    }

    /// Whether a message is there.
    pub(super) fn has_more(&mut self) -> bool {
        self.join_new();
        self.all.iter_mut().any(|member| member.subscriber.has_more())
    }

    /// Where the messages end that were sent before this call, with the numbers of their topics.
    pub(super) fn mark(&mut self) -> EndMark {
        self.join_new();
        EndMark::of(self.all.iter().map(|member| (member.number, member.subscriber.end())))
    }

    /// Whether no message from before `mark` is left. Topics that have passed theirs leave the list.
    pub(super) fn have_passed(&self, mark: &mut EndMark) -> bool {
        mark.is_passed(|number, end| {
            // A topic that was left has come to its end.
            let member = self.all.binary_search_by_key(&number, |member| member.number);
            member.map_or(true, |index| self.all[index].subscriber.cursor() >= end)
        })
    }
}
