//! A program in Python, without Annulus, reads the messages of a ring: that of README.md.
//! `ANNULUS_ZENOH_PYTHON` is a folder with `eclipse-zenoh`; without it there is nothing to be tested
//! (`ci/zenoh` fetches it).

mod common;

use std::process::Command;

use annulus::Settings;
use annulus::shm::{Shared, broadcast};
use annulus_zenoh::Direction;
use common::Machine;

/// Two numbers, as `quote{bid:f64,ask:f64}` has them.
type Quote = [f64; 2];

#[test]
fn python_reads_the_messages() {
    let Some(packages) = std::env::var_os("ANNULUS_ZENOH_PYTHON") else {
        println!("not tested: ANNULUS_ZENOH_PYTHON does not say where eclipse-zenoh is");
        return;
    };
    let readme = include_str!("../README.md");
    let (_, program) = readme.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let a = Machine::new("a");
    let (bridge, at) = a.listening();
    let program = program.replace("192.168.1.7:7447", &at.to_string()).replace("sleep(10)", "sleep(3)");
    assert!(program.contains(&at.to_string()) && program.contains("sleep(3)"), "{program}");
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Quote>(Settings::new(64)).unwrap();
    let _name = invitation.publish(&a.directory(), "quotes").unwrap();
    common::until("it goes out", || common::is_open(&bridge, Direction::Out, "quotes"));
    publisher.publish([1.5, 1.75]);
    publisher.publish([2.5, 2.75]);
    let mut python = Command::new("timeout");
    python.args(["60", "python3", "-u", "-c", &program]).env("PYTHONPATH", packages);
    let output = python.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "[f64;2]\n0 1.5 1.75\n1 2.5 2.75\n", "{}", String::from_utf8_lossy(&output.stderr));
}
