//! A queue over a file that two processes map.
//!
//! Each side looks at the other's number only where its own copy says that there is no room, or nothing to
//! read, and tells of a batch at once. It has no way to sleep.

use std::fs::File;
use std::hint::spin_loop;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use annulus::shm::{recv_fd, send_fd};
use rustix::fs::{MemfdFlags, memfd_create};
use shaq::spsc::{Consumer, Producer, minimum_file_size};

use super::between::{BatchIn, BatchOut, Between, In, Out, THERE};
use super::interface::Named;
use crate::messages::BATCH;

/// Its queue of one producer and one consumer, for messages of so many words.
pub enum Shaq<const WORDS: usize> {}

impl<const WORDS: usize> Named for Shaq<WORDS> {
    const NAME: &'static str = "shaq";
}

#[allow(unsafe_code, reason = "it relies on its callers for which processes join, and with which type")]
impl<const WORDS: usize> Between for Shaq<WORDS> {
    type Out = Producer<[u64; WORDS]>;
    type In = Consumer<[u64; WORDS]>;
    type Offer = File;

    fn share(capacity: usize, _: usize) -> (Self::Out, File) {
        let file =
            File::from(memfd_create("annulus bench", MemfdFlags::CLOEXEC).expect("a memfd is to be had"));
        let size = minimum_file_size::<[u64; WORDS]>(capacity);
        // SAFETY: the file is new, and this is its one producer. Any bytes are such a message.
        let producer = unsafe { Producer::create(&file, size) };
        (producer.expect("such a queue can be made"), file)
    }

    fn offer(file: &File, socket: &UnixStream) {
        send_fd(socket, file.as_fd()).expect(THERE);
    }

    fn join(socket: &UnixStream) -> Self::In {
        let file = File::from(recv_fd(socket).expect(THERE));
        // SAFETY: the file is a queue of such messages, and it is offered to one process, which joins once.
        unsafe { Consumer::join(&file) }.expect("it is such a queue")
    }
}

impl<const WORDS: usize> Out for Producer<[u64; WORDS]> {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        while self.try_write([value; WORDS]).is_err() {
            spin_loop();
            self.sync();
        }
        self.commit();
    }
}

impl<const WORDS: usize> BatchOut<WORDS> for Producer<[u64; WORDS]> {
    #[inline(always)]
    fn put_batch(&mut self, messages: &[[u64; WORDS]; BATCH]) {
        for message in messages {
            while self.try_write(*message).is_err() {
                self.commit();
                spin_loop();
                self.sync();
            }
        }
        self.commit();
    }
}

impl<const WORDS: usize> In for Consumer<[u64; WORDS]> {
    #[inline(always)]
    fn poll(&mut self, look: impl FnOnce(&[u64])) -> bool {
        if self.is_empty() {
            self.sync();
        }
        let is_there = self.try_read().map(|message| look(message)).is_some();
        if is_there {
            self.finalize();
        }
        is_there
    }
}

impl<const WORDS: usize> BatchIn<WORDS> for Consumer<[u64; WORDS]> {
    #[inline(always)]
    fn poll_batch(&mut self, buffer: &mut [[u64; WORDS]; BATCH]) -> usize {
        if self.len() < BATCH {
            self.sync();
        }
        let mut count = 0;
        while count < BATCH
            && let Some(message) = self.try_read()
        {
            buffer[count] = *message;
            count += 1;
        }
        if count > 0 {
            self.finalize();
        }
        count
    }
}
