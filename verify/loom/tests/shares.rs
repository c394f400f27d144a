//! What all handles have a share of: the last share drops it, once, after all that others did with it.
#![cfg(annulus_loom)]
#![allow(clippy::disallowed_types, reason = "what counts the drops is not part of the model")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annulus::{Share, watch};
use annulus_loom::check;
use loom::cell::UnsafeCell;
use loom::thread;

/// A value that loom watches, and that counts its drops.
struct Watched {
    cell: UnsafeCell<()>,
    drops: Arc<AtomicUsize>,
}

// SAFETY: what loom watches is nothing.
unsafe impl Sync for Watched {}

impl Watched {
    fn new() -> (Self, Arc<AtomicUsize>) {
        let drops = Arc::new(AtomicUsize::new(0));
        (Self { cell: UnsafeCell::new(()), drops: Arc::clone(&drops) }, drops)
    }

    fn look(&self) {
        self.cell.with(|_| ());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.cell.with_mut(|_| ());
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

/// The last share, given up by a subtraction or alone, sees what the other one did.
#[test]
fn last_share_sees_the_others_writes() {
    check(|| {
        let (value, drops) = Watched::new();
        let (sender, receiver) = watch::channel(value);
        let reader = thread::spawn(move || receiver.borrow().look());
        drop(sender);
        reader.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// The same, where threads meet in the shares alone.
#[test]
fn unique_share_sees_the_others_writes() {
    check(|| {
        let (value, drops) = Watched::new();
        let [one, other] = Share::all_of(value);
        let reader = thread::spawn(move || other.look());
        drop(one);
        reader.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// A closer has a share while it closes, and it may be the last one. It gets none of what is gone.
#[test]
fn dropped_value_does_not_come_back() {
    check(|| {
        let (value, drops) = Watched::new();
        let (sender, receiver) = watch::channel(value);
        let closer = receiver.closer();
        let other = thread::spawn(move || {
            closer.close();
            assert!(closer.is_closed());
        });
        receiver.borrow().look();
        drop((sender, receiver));
        other.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}
