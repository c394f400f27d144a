//! What is carried beside rings of messages, between two machines: newest values, questions, and frames.
#![allow(unreachable_pub, reason = "a part of a test program")]

#[path = "../common/mod.rs"]
mod common;
mod frames;
mod services;
mod values;

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use zenoh::Wait;

/// A program that knows Zenoh, and nothing of Annulus.
fn plain_session(at: SocketAddr) -> zenoh::Session {
    let mut config = zenoh::Config::default();
    config.insert_json5("mode", r#""client""#).unwrap();
    config.insert_json5("scouting/multicast/enabled", "false").unwrap();
    config.insert_json5("listen/endpoints", "[]").unwrap();
    config.insert_json5("connect/endpoints", &format!("[\"tcp/{at}\"]")).unwrap();
    zenoh::open(config).wait().unwrap()
}

/// Is killed with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Another process on that machine: what is no test of its own, and looks for this variable.
fn child(name: &str, variable: &str, machine: &common::Machine) -> Killed {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name]).env(variable, &machine.path);
    Killed(command.stdout(Stdio::null()).spawn().unwrap())
}
