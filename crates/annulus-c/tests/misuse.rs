//! Whatever a program calls, with whatever arguments: it gets a status, and never a crash.
#![allow(non_camel_case_types, reason = "C's names")]

use std::ffi::{CStr, c_void};
use std::ptr;

use annulus_c::annulus_status::*;
use annulus_c::*;

#[cfg(target_os = "linux")]
#[path = "../../annulus/tests/support/hang.rs"]
mod hang;

/// The same numbers each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % most
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const SIZES: [usize; 7] = [1, 7, 8, 24, 64, 100, 4096];

/// Room for the largest message, several times over.
const ROOM: usize = 5000;

/// A program that has handles, some of which it has freed.
struct Program {
    dice: Dice,
    producers: Vec<*mut annulus_producer>,
    consumers: Vec<*mut annulus_consumer>,
    closers: Vec<*mut annulus_closer>,
    bytes: Vec<u8>,
    found: [u32; 13],
}

impl Program {
    fn saw(&mut self, status: annulus_status) {
        assert_ne!(status, ANNULUS_PANICKED);
        self.found[status as usize] += 1;
    }

    /// One of the handles, or of another type, or null.
    fn producer(&mut self) -> *mut annulus_producer {
        match self.dice.below(20) {
            0 => ptr::null_mut(),
            1 => self.dice.one_of(&self.consumers).cast(),
            2 => self.dice.one_of(&self.closers).cast(),
            _ => self.dice.one_of(&self.producers),
        }
    }

    fn consumer(&mut self) -> *mut annulus_consumer {
        match self.dice.below(20) {
            0 => ptr::null_mut(),
            1 => self.dice.one_of(&self.producers).cast(),
            2 => self.dice.one_of(&self.closers).cast(),
            _ => self.dice.one_of(&self.consumers),
        }
    }

    fn closer(&mut self) -> *mut annulus_closer {
        match self.dice.below(10) {
            0 => ptr::null_mut(),
            1 => self.dice.one_of(&self.producers).cast(),
            _ => self.dice.one_of(&self.closers),
        }
    }

    /// A size that fits the room, `count` times.
    fn size(&mut self) -> usize {
        self.dice.one_of(&[0, 1, 7, 8, 8, 24, 64, 100, 4096, 4097])
    }

    fn message(&mut self) -> *mut c_void {
        if self.dice.below(20) == 0 { ptr::null_mut() } else { self.bytes.as_mut_ptr().cast() }
    }

    /// Where something is to be stored, or null.
    fn place<T>(&mut self, place: &mut T) -> *mut T {
        if self.dice.below(20) == 0 { ptr::null_mut() } else { place }
    }

    fn make(&mut self) {
        let sizes: Vec<usize> = SIZES.iter().copied().chain([0, 5000, usize::MAX]).collect();
        let options = annulus_options {
            size: self.dice.one_of(&[size_of::<annulus_options>(), size_of::<annulus_options>(), 0, 1]),
            capacity: self.dice.one_of(&[1, 2, 3, 8, 8, 0, usize::MAX]),
            message_size: self.dice.one_of(&sizes),
            wait: annulus_wait {
                kind: self.dice.below(8) as u32,
                spin_polls: self.dice.below(3) as u32,
                yield_polls: self.dice.below(3) as u32,
            },
            flags: self.dice.one_of(&[0, 0, 1, 2]),
        };
        let options = if self.dice.below(20) == 0 { ptr::null() } else { &raw const options };
        let (mut producer, mut consumer) = (ptr::null_mut(), ptr::null_mut());
        let places = (self.place(&mut producer), self.place(&mut consumer));
        let kind = self.dice.below(7) as u32;
        // SAFETY: as the function asks: null, or objects that are there.
        let status = unsafe { annulus_queue_new(kind, options, places.0, places.1) };
        assert_eq!(status == ANNULUS_OK, !producer.is_null() && !consumer.is_null());
        if status == ANNULUS_OK {
            self.producers.push(producer);
            self.consumers.push(consumer);
        }
        self.saw(status);
    }

    fn send(&mut self) {
        let (producer, message, size) = (self.producer(), self.message(), self.size());
        let (mut sent, mut slots) = (0, ptr::null_mut());
        let count = self.dice.one_of(&[0, 1, 2, usize::MAX]);
        // SAFETY: handles that were made, or null; memory of that size, or null. One thread uses all of them.
        let status = unsafe {
            match self.dice.below(6) {
                0 => annulus_producer_try_send(producer, message, size),
                1 => annulus_producer_send_timeout(producer, message, size, self.dice.below(2) as u64),
                2 => {
                    let count = self.dice.below(ROOM / size.max(1) + 1);
                    annulus_producer_try_send_batch(producer, message, count, size, self.place(&mut sent))
                }
                3 => annulus_producer_try_reserve(
                    producer,
                    count,
                    self.place(&mut slots),
                    self.place(&mut sent),
                ),
                4 => annulus_producer_reserve(
                    producer,
                    count,
                    0,
                    self.place(&mut slots),
                    self.place(&mut sent),
                ),
                _ => annulus_producer_commit(producer, self.dice.below(4)),
            }
        };
        if !slots.is_null() {
            assert!(status == ANNULUS_OK && sent > 0);
            // SAFETY: so much was reserved.
            unsafe { slots.cast::<u8>().write_bytes(7, sent * annulus_producer_stride(producer)) };
        }
        self.saw(status);
    }

    fn receive(&mut self) {
        let (consumer, message, size) = (self.consumer(), self.message(), self.size());
        let (mut received, mut messages) = (0, ptr::null());
        // SAFETY: as in `send`.
        let status = unsafe {
            match self.dice.below(5) {
                0 => annulus_consumer_try_recv(consumer, message, size),
                1 => annulus_consumer_recv_timeout(consumer, message, size, self.dice.below(2) as u64),
                2 => {
                    let count = self.dice.below(ROOM / size.max(1) + 1);
                    annulus_consumer_try_recv_batch(consumer, message, count, size, self.place(&mut received))
                }
                3 => annulus_consumer_readable(
                    consumer,
                    self.dice.below(2) as u64,
                    self.place(&mut messages),
                    self.place(&mut received),
                ),
                _ => annulus_consumer_advance(consumer, self.dice.below(4)),
            }
        };
        if !messages.is_null() {
            assert!(status == ANNULUS_OK && received > 0);
            // SAFETY: so many messages are there.
            let sum = unsafe {
                let bytes = received * annulus_consumer_stride(consumer);
                let all = std::slice::from_raw_parts(messages.cast::<std::mem::MaybeUninit<u8>>(), bytes);
                all.len()
            };
            assert!(sum > 0);
        }
        self.saw(status);
    }

    fn others(&mut self) {
        let (producer, consumer, closer) = (self.producer(), self.consumer(), self.closer());
        let (mut another, mut one_more, mut ends) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut fd, mut ready) = (0, false);
        // SAFETY: as in `send`.
        let status = unsafe {
            match self.dice.below(14) {
                0 => annulus_producer_clone(producer, self.place(&mut another)),
                1 => annulus_consumer_clone(consumer, self.place(&mut one_more)),
                2 => annulus_producer_closer(producer, self.place(&mut ends)),
                3 => annulus_consumer_closer(consumer, self.place(&mut ends)),
                4 => annulus_consumer_fd(consumer, self.place(&mut fd)),
                5 => annulus_consumer_arm(consumer, self.place(&mut ready)),
                6 => {
                    _ = (annulus_producer_len(producer), annulus_consumer_len(consumer));
                    _ = (annulus_producer_capacity(producer), annulus_consumer_capacity(consumer));
                    _ = (annulus_producer_stride(producer), annulus_consumer_stride(consumer));
                    if annulus_producer_is_closed(producer) {
                        // Those that wait for ever return at once.
                        annulus_producer_send(producer, self.message(), self.size())
                    } else {
                        ANNULUS_OK
                    }
                }
                7 if annulus_consumer_is_closed(consumer) => {
                    annulus_consumer_recv(consumer, self.message(), self.size())
                }
                8 if self.dice.below(8) == 0 => annulus_producer_close(producer),
                9 if self.dice.below(8) == 0 => annulus_consumer_close(consumer),
                10 if self.dice.below(8) == 0 => annulus_closer_close(closer),
                11 => annulus_closer_free(closer),
                12 => annulus_producer_free(producer),
                13 => annulus_consumer_free(consumer),
                _ => ANNULUS_OK,
            }
        };
        let is_made = !another.is_null() || !one_more.is_null() || !ends.is_null();
        assert!(status == ANNULUS_OK || !is_made);
        self.producers.extend((!another.is_null()).then_some(another));
        self.consumers.extend((!one_more.is_null()).then_some(one_more));
        self.closers.extend((!ends.is_null()).then_some(ends));
        self.saw(status);
    }
}

#[test]
fn any_call_gives_a_status() {
    let rounds = if cfg!(miri) { 20 } else { 400 };
    let mut all = [0; 13];
    for seed in 1..=rounds {
        let mut program = Program {
            dice: Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed)),
            producers: vec![ptr::null_mut()],
            consumers: vec![ptr::null_mut()],
            closers: vec![ptr::null_mut()],
            bytes: vec![1; ROOM],
            found: [0; 13],
        };
        for _ in 0..300 {
            match program.dice.below(12) {
                0 => program.make(),
                1..=4 => program.send(),
                5..=8 => program.receive(),
                _ => program.others(),
            }
        }
        // Each is freed once; what was freed before is told.
        // SAFETY: handles that were made, or null.
        unsafe {
            for &producer in &program.producers {
                _ = annulus_producer_free(producer);
                assert!(producer.is_null() || annulus_producer_free(producer) == ANNULUS_NOT_A_HANDLE);
            }
            for &consumer in &program.consumers {
                _ = annulus_consumer_free(consumer);
                assert!(consumer.is_null() || annulus_consumer_free(consumer) == ANNULUS_NOT_A_HANDLE);
            }
            for &closer in &program.closers {
                _ = annulus_closer_free(closer);
                assert!(closer.is_null() || annulus_closer_free(closer) == ANNULUS_NOT_A_HANDLE);
            }
        }
        for (all, found) in all.iter_mut().zip(program.found) {
            *all += found;
        }
    }
    // It has been everywhere: each status came, but for those that need a system without descriptors, or a
    // fault.
    println!("{all:?}");
    for (status, count) in all.iter().enumerate() {
        let never = [ANNULUS_SYSTEM as usize, ANNULUS_PANICKED as usize].contains(&status);
        assert!(never == (*count == 0) || cfg!(miri), "status {status} came {count} times");
    }
}

#[test]
fn each_status_has_a_text() {
    let text = |status| {
        // SAFETY: the text is constant.
        unsafe { CStr::from_ptr(annulus_strerror(status)) }.to_str().unwrap()
    };
    let texts: std::collections::HashSet<_> = (-1..13).map(text).collect();
    assert_eq!(texts.len(), 14, "no two are the same: {texts:?}");
    assert_eq!(text(13), text(-1));
}
