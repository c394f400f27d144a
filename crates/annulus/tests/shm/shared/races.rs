//! Two processes and one name.

use annulus::shm::{Fingerprint, NameError};
use std::fs;
use std::sync::Barrier;
use std::thread;

use crate::shared::child::Child;
use crate::shared::{directory, files, memory};

#[test]
fn one_of_two_creators_gets_the_name() {
    let (_scratch, directory) = directory();
    let path = directory.path().join("a.ring");
    let mut children = [Child::new(directory.path()), Child::new(directory.path())];
    for round in 0..100 {
        // Over nothing, and over what a crash left.
        if round % 2 == 1 {
            fs::write(&path, "left").unwrap();
        }
        for child in &mut children {
            child.tell("publish a");
        }
        let [one, other] = children.each_mut().map(|child| child.answer().unwrap());
        let (winner, refused) = if one == "published" { (0, other) } else { (1, one) };
        let expected = format!("error: the name \"a\" is taken by process {}", children[winner].pid());
        assert_eq!(refused, expected, "round {round}");
        assert_eq!(directory.find("a").unwrap().process().pid(), children[winner].pid());
        assert_eq!(children[winner].ask("drop a"), "dropped");
        assert!(files(directory.path()).is_empty());
    }
}

#[test]
fn one_of_many_threads_gets_the_name() {
    let (_scratch, directory) = directory();
    for round in 0..100 {
        if round % 2 == 1 {
            fs::write(directory.path().join("a.ring"), "left").unwrap();
        }
        let (begin, end) = (Barrier::new(4), Barrier::new(4));
        let publish = || {
            begin.wait();
            let published = directory.publish("a", memory(""), Fingerprint::of::<u64>());
            // Nobody gives it back before all have tried.
            end.wait();
            match published {
                Ok(_) => 1,
                Err(NameError::Taken { .. }) => 0,
                Err(error) => panic!("{error}"),
            }
        };
        let winners: u32 = thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(publish));
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(winners, 1, "round {round}");
    }
}
