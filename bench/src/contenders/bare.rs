//! What two processes can do without a ring, by the same verbs: lines that are written and looked at, and a
//! futex.

use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use rustix::thread::futex;

use super::between::{Between, In, Out, Sleeper};
use crate::common_lines::{CommonLines, LINES};

/// Lines of which one side writes the next, and the other looks at it. Nobody waits for room: a side that is
/// taken off its core for long misses turns.
pub enum BareLines {}

/// One futex, shared by two processes.
pub enum SharedFutex {}

/// One side of either.
pub struct Side {
    lines: CommonLines,
    /// Messages so far, of the lines.
    next: u32,
}

/// The side that sleeps.
pub struct FutexSleeper(CommonLines);

/// The side that wakes it.
pub struct FutexWaker(CommonLines);

impl Between for BareLines {
    type Out = Side;
    type In = Side;
    type Offer = CommonLines;

    fn share(_: usize, _: usize) -> (Side, CommonLines) {
        let lines = CommonLines::new();
        (Side { lines: lines.again(), next: 0 }, lines)
    }

    fn offer(lines: &CommonLines, socket: &UnixStream) {
        lines.send(socket);
    }

    fn join(socket: &UnixStream) -> Side {
        Side { lines: CommonLines::receive(socket), next: 0 }
    }
}

impl Out for Side {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        let line = &self.lines.lines()[self.next as usize % LINES];
        self.next = self.next.wrapping_add(1);
        line.number.store(value, Ordering::Relaxed);
        line.bell.store(self.next, Ordering::Release);
    }
}

impl In for Side {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        let line = &self.lines.lines()[self.next as usize % LINES];
        let bell = line.bell.load(Ordering::Acquire);
        // It grows by the number of lines with each turn; one that is larger than what is due tells of turns
        // that were missed.
        let is_there = bell.wrapping_sub(self.next.wrapping_add(1)).cast_signed() >= 0;
        if is_there {
            self.next = bell;
            look(&[line.number.load(Ordering::Relaxed)]);
        }
        is_there
    }
}

impl Between for SharedFutex {
    type Out = FutexWaker;
    type In = FutexSleeper;
    type Offer = CommonLines;

    fn share(_: usize, _: usize) -> (FutexWaker, CommonLines) {
        let lines = CommonLines::new();
        (FutexWaker(lines.again()), lines)
    }

    fn offer(lines: &CommonLines, socket: &UnixStream) {
        lines.send(socket);
    }

    fn join(socket: &UnixStream) -> FutexSleeper {
        FutexSleeper(CommonLines::receive(socket))
    }
}

impl Out for FutexWaker {
    fn put(&mut self, value: u64) {
        let line = &self.0.lines()[0];
        line.number.store(value, Ordering::Relaxed);
        line.bell.store(1, Ordering::Release);
        futex::wake(&line.bell, futex::Flags::empty(), 1).expect("a futex of ours");
    }
}

impl In for FutexSleeper {
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        let line = &self.0.lines()[0];
        let is_there = line.bell.swap(0, Ordering::Acquire) != 0;
        if is_there {
            look(&[line.number.load(Ordering::Relaxed)]);
        }
        is_there
    }
}

impl Sleeper for FutexSleeper {
    fn sleep(&mut self) -> u64 {
        let mut value = 0;
        while !self.poll(|message| value = message[0]) {
            // It fails where the word has changed, or for a signal: the next look tells.
            _ = futex::wait(&self.0.lines()[0].bell, futex::Flags::empty(), 0, None);
        }
        value
    }
}
