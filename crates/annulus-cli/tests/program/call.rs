//! `annulus call` as its users see it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio, exit};
use std::thread;

use annulus::shm::service::{Builder, Server};
use annulus::shm::{Directory, PublishedName, Shared, broadcast};
use annulus::{Message, Settings};

use crate::names::Names;
use crate::running::Running;

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(packed)]
struct Question {
    symbol: u32,
    side: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(packed)]
struct Answer {
    symbol: u32,
    price: Option<f64>,
}

/// A service of that name, and its server.
fn service(names: &Names, name: &str) -> (Server<Question, Answer>, PublishedName) {
    let builder = Builder::new(Settings::new(2)).clients(2);
    let Shared { handle: server, invitation, .. } = builder.build().unwrap();
    let name = invitation.publish(&Directory::open(&names.path).unwrap(), name).unwrap();
    (server, name)
}

/// Answers so many questions; refuses those about symbol 0.
fn serve(mut server: Server<Question, Answer>, count: usize) -> thread::JoinHandle<Server<Question, Answer>> {
    thread::spawn(move || {
        for _ in 0..count {
            let request = server.recv().unwrap();
            let Question { symbol, side } = *request;
            if symbol != 0 {
                let price = side.then_some(f64::from(symbol) + 0.5);
                request.answer(Answer { symbol, price }).unwrap();
            }
        }
        server
    })
}

impl Names {
    /// What it prints, what it says, and how it ends.
    fn call(&self, arguments: &[&str], input: &str) -> (String, String, i32) {
        let mut child = self.command("call", arguments).stdin(Stdio::piped()).spawn().unwrap();
        // (It is an error if the program has ended without a look at it.)
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    }
}

#[test]
fn answers_are_printed() {
    let names = Names::new("call");
    let (server, _name) = service(&names, "prices");
    let serves = serve(server, 4);
    let printed = names.call(&["prices", r#"{"symbol":7,"side":true}"#], "");
    assert_eq!(printed, ("{\"symbol\":7,\"price\":7.5}\n".into(), String::new(), 0));
    let lines = "{\"symbol\":1,\"side\":true}\n\n{\"symbol\":2,\"side\":false}\n{\"symbol\":3,\"side\":true}";
    let printed = names.call(&["prices", "--timeout", "600"], lines);
    let answers =
        "{\"symbol\":1,\"price\":1.5}\n{\"symbol\":2,\"price\":null}\n{\"symbol\":3,\"price\":3.5}\n";
    assert_eq!(printed, (answers.into(), String::new(), 0));
    let _server = serves.join().unwrap();

    let info = names.command("info", &["prices"]).output().unwrap();
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("Question:  {symbol:u32,side:bool}, of 5 bytes\n"), "{info}");
    assert!(info.contains("Answer:    {symbol:u32,price:f64?}, of 13 bytes\n"), "{info}");
}

/// The first that is alive is asked, and named in what is said.
#[test]
fn server_with_a_number_is_asked() {
    let names = Names::new("call-numbered");
    let directory = Directory::open(&names.path).unwrap();
    let lossy = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let lossy_name = lossy.invitation.publish_numbered(&directory, "prices").unwrap();
    let (server, _name) = service(&names, "prices.7");
    let question = r#"{"symbol":7,"side":true}"#;
    let (_, said, code) = names.call(&["prices", question], "");
    assert!(said.contains("`prices.0` is a") && code == 2, "{said}");
    drop(lossy_name);
    let serves = serve(server, 1);
    let printed = names.call(&["prices", question], "");
    assert_eq!(printed, ("{\"symbol\":7,\"price\":7.5}\n".into(), String::new(), 0));
    let _server = serves.join().unwrap();
}

#[test]
fn reason_why_no_answer_came_is_said() {
    let names = Names::new("call-refused");
    let (server, _name) = service(&names, "prices");
    let serves = serve(server, 2);
    let lines = "{\"symbol\":1,\"side\":true}\n{\"symbol\":0,\"side\":true}\n{\"symbol\":3,\"side\":true}\n";
    let (printed, said, code) = names.call(&["prices"], lines);
    assert_eq!((printed.as_str(), code), ("{\"symbol\":1,\"price\":1.5}\n", 1));
    assert_eq!(said, "annulus: line 2 of the standard input: `prices` has refused it\n");

    let server = serves.join().unwrap();
    let question = r#"{"symbol":1,"side":true}"#;
    let (printed, said, code) = names.call(&["prices", question, "--timeout", "0.01"], "");
    assert_eq!((printed.as_str(), code), ("", 1));
    assert_eq!(said, "annulus: the question: the answer has not come in time (--timeout)\n");

    for (question, expected) in [
        ("{", "error: the question: it is no JSON: "),
        (r#"{"symbol":1}"#, "error: the question: the field `side` is missing: bool\n"),
        (r#"{"symbol":-1,"side":true}"#, "error: the question: `symbol`: -1 is no value of u32\n"),
    ] {
        let (printed, said, code) = names.call(&["prices", question], "");
        assert!(printed.is_empty() && code == 2 && said.starts_with(expected), "{said}");
    }

    server.close();
    let (_, said, code) = names.call(&["prices", question], "");
    assert!(code == 2 && said.starts_with("error: `prices` can't be used: "), "{said}");
}

/// Where the process below gives its service a name.
const SERVES_IN: &str = "ANNULUS_TEST_SERVES_IN";

/// A process that ends when it has received a question. In the test program itself it does nothing.
#[test]
fn server_that_dies() {
    let Some(path) = std::env::var_os(SERVES_IN) else { return };
    let Shared { handle: mut server, invitation, .. } =
        Builder::new(Settings::new(2)).build::<Question, Answer>().unwrap();
    let _name = invitation.publish(&Directory::open(path).unwrap(), "prices").unwrap();
    let _request = server.recv().unwrap();
    exit(0);
}

#[test]
fn death_of_the_server_is_told() {
    let names = Names::new("call-death");
    let directory = Directory::open(&names.path).unwrap();
    let mut server = Command::new(std::env::current_exe().unwrap());
    server.args(["--exact", "call::server_that_dies"]).env(SERVES_IN, &names.path).stdout(Stdio::null());
    let mut server = server.spawn().unwrap();
    directory.wait_for("prices", None).unwrap();
    let (printed, said, code) = names.call(&["prices", r#"{"symbol":1,"side":true}"#], "");
    assert_eq!((printed.as_str(), code), ("", 1));
    assert_eq!(said, "annulus: the question: the server of `prices` has died, and has not answered\n");
    server.wait().unwrap();
}

#[test]
fn signal_ends_it_and_gives_the_place_back() {
    let names = Names::new("call-signal");
    let builder = Builder::new(Settings::new(2)).clients(1);
    let Shared { handle: mut server, peers: places, invitation, .. } =
        builder.build::<Question, Answer>().unwrap();
    let _name = invitation.publish(&Directory::open(&names.path).unwrap(), "prices").unwrap();
    let mut child =
        Running(names.command("call", &["prices", r#"{"symbol":1,"side":true}"#]).spawn().unwrap());
    let request = server.recv().unwrap();
    assert_eq!(child.interrupt(), 130);
    let (printed, said, code) = child.end();
    assert_eq!((printed, said.as_str(), code), (Vec::new(), "", 130));
    assert!(!request.is_client_there());
    assert_eq!((places.taken(), places.died()), (0, 0));
}

#[test]
fn rings_of_other_kinds_are_refused_with_the_right_command() {
    let names = Names::new("call-others");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let _ring = invitation.publish(&directory, "quotes").unwrap();
    let (_, said, code) = names.call(&["quotes", "1"], "");
    let expected = "error: `quotes` is a lossy broadcast ring, and no service: `annulus sub --json` prints its messages\n";
    assert_eq!((said.as_str(), code), (expected, 2));

    let (_server, _name) = service(&names, "prices");
    for (subcommand, option) in [("sub", "--json"), ("pub", "--json")] {
        let output = names.command(subcommand, &["prices", option]).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "error: `prices` is a service: `annulus call` asks it\n";
        assert_eq!((said.as_str(), output.status.code()), (expected, Some(2)), "{subcommand}");
    }
}

/// Where nobody reads the answers any more, nothing more is asked.
#[test]
fn end_of_the_reader_is_the_end() {
    let names = Names::new("call-unread");
    let (server, _name) = service(&names, "prices");
    let serves = serve(server, 2);
    let mut child = names.command("call", &["prices"]).stdin(Stdio::piped()).spawn().unwrap();
    let (mut questions, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let question = b"{\"symbol\":7,\"side\":false}\n";
    questions.write_all(question).unwrap();
    let mut answer = String::new();
    BufReader::new(answers).read_line(&mut answer).unwrap();
    assert_eq!(answer, "{\"symbol\":7,\"price\":null}\n");
    // (The third one is for a program that goes on: nobody answers it.)
    let _ = questions.write_all(&question.repeat(2));
    drop(serves.join().unwrap());
    let output = child.wait_with_output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
}
