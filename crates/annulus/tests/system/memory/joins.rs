//! Rings of producers that join while the queue runs.

use annulus::Settings;
use annulus::memory::{Grant, Memory};
use annulus::queue;
use annulus::queue::kind::Joinable;
use annulus::{mpmc, mpsc};

use crate::memory::asks::status;
use crate::support::alone;

fn each_ring_has_the_options<K: Joinable>() {
    let before = status("VmLck");
    let memory = Memory::require().lock();
    let (first, consumer) = queue::with::<u64, K>(Settings::new(1000).memory(memory)).unwrap();
    let each = first.placement().mapped_bytes();
    let mut all = vec![first];
    for count in 2..5 {
        let mut another = all[0].register().unwrap();
        assert_eq!(another.placement().lock(), Grant::Granted);
        another.send(7).unwrap();
        all.push(another);
        assert_eq!(consumer.placement().lock(), Grant::Granted, "of all");
        assert_eq!(consumer.placement().mapped_bytes(), count * each);
        assert_eq!(status("VmLck"), before + count * each);
    }
    // A ring that is used again.
    drop(all.pop());
    all.push(all[0].clone());
    assert_eq!(consumer.placement().mapped_bytes(), 4 * each);
    drop((all, consumer));
    assert_eq!(status("VmLck"), before);
}

#[test]
fn many_to_one() {
    alone!();
    each_ring_has_the_options::<mpsc::Mpsc>();
}

#[test]
fn many_to_many() {
    alone!();
    each_ring_has_the_options::<mpmc::Mpmc>();
}
