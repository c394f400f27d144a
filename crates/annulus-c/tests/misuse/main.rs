//! Whatever a program calls, with whatever arguments: it gets a status, and never a crash.
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]
#![allow(non_camel_case_types, reason = "C's names")]

use std::ffi::c_void;
use std::ptr;

use annulus_c::annulus_status::*;
use annulus_c::*;

#[cfg(target_os = "linux")]
#[path = "../../../annulus/tests/support/hang.rs"]
mod hang;

mod bytes;
#[cfg(all(target_os = "linux", not(miri)))]
mod queues;
#[cfg(all(target_os = "linux", not(miri)))]
mod services;
#[cfg(not(miri))]
mod shared;
mod texts;
mod views;
#[cfg(not(miri))]
mod watch;

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

const STATUSES: usize = 22;

const SIZES: [usize; 5] = [1, 8, 8, 24, 100];

/// Room for the largest message, several times over.
const ROOM: usize = 5000;

/// A program that has handles, some of which it has freed.
struct Program {
    dice: Dice,
    producers: Vec<*mut annulus_producer>,
    consumers: Vec<*mut annulus_consumer>,
    closers: Vec<*mut annulus_closer>,
    publishers: Vec<*mut annulus_publisher>,
    subscribables: Vec<*mut annulus_subscribable>,
    subscribers: Vec<*mut annulus_subscriber>,
    pools: Vec<*mut annulus_pool>,
    invitations: Vec<*mut annulus_invitation>,
    records: bytes::Records,
    #[cfg(not(miri))]
    watches: watch::Watches,
    /// Views that are not ended.
    senders: Vec<annulus_spsc_producer>,
    receivers: Vec<annulus_spsc_consumer>,
    publishes: Vec<annulus_lossy_publisher>,
    receives: Vec<annulus_lossy_subscriber>,
    /// Handles of buffers, of whichever pool.
    buffers: Vec<u32>,
    bytes: Vec<u8>,
    found: [u32; STATUSES],
}

impl Program {
    fn saw(&mut self, status: annulus_status) {
        assert_ne!(status, ANNULUS_PANICKED);
        self.found[status as usize] += 1;
    }

    /// One of the handles, one of another type, or null.
    fn one_of<H>(&mut self, handles: impl Fn(&Self) -> &Vec<*mut H>) -> *mut H {
        match self.dice.below(20) {
            0 => ptr::null_mut(),
            1 => self.dice.one_of(&self.producers).cast(),
            2 => self.dice.one_of(&self.consumers).cast(),
            3 => self.dice.one_of(&self.subscribers).cast(),
            _ => {
                let index = self.dice.below(handles(self).len());
                handles(self)[index]
            }
        }
    }

    fn producer(&mut self) -> *mut annulus_producer {
        self.one_of(|program| &program.producers)
    }

    fn consumer(&mut self) -> *mut annulus_consumer {
        self.one_of(|program| &program.consumers)
    }

    fn closer(&mut self) -> *mut annulus_closer {
        self.one_of(|program| &program.closers)
    }

    /// A size that fits the room, `count` times.
    fn size(&mut self) -> usize {
        self.dice.one_of(&[0, 1, 8, 8, 8, 24, 100, 4097])
    }

    fn message(&mut self) -> *mut c_void {
        if self.dice.below(20) == 0 { ptr::null_mut() } else { self.bytes.as_mut_ptr().cast() }
    }

    /// Where something is to be stored, or null.
    fn place<T>(&mut self, place: &mut T) -> *mut T {
        if self.dice.below(20) == 0 { ptr::null_mut() } else { place }
    }

    /// Options, of which each is now and then one that can't be.
    fn options(&mut self) -> annulus_options {
        let bad = self.dice.below(20);
        annulus_options {
            size: if bad == 0 { 1 } else { size_of::<annulus_options>() },
            capacity: if bad == 1 { self.dice.one_of(&[0, usize::MAX]) } else { 1 + self.dice.below(9) },
            message_size: if bad == 2 {
                self.dice.one_of(&[0, 5000, usize::MAX])
            } else {
                self.dice.one_of(&SIZES)
            },
            wait: annulus_wait {
                kind: if bad == 3 { 7 } else { self.dice.below(7) as u32 },
                spin_polls: self.dice.below(3) as u32,
                pause_polls: self.dice.below(3) as u32,
            },
            flags: if bad == 4 { 2 } else { self.dice.below(2) as u32 },
        }
    }

    fn make(&mut self) {
        let options = self.options();
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

    fn broadcast(&mut self) {
        let publisher = self.one_of(|program| &program.publishers);
        let subscribable = self.one_of(|program| &program.subscribables);
        let subscriber = self.one_of(|program| &program.subscribers);
        let (message, size) = (self.message(), self.size());
        let (mut another, mut makes, mut new) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut closer, mut fd, mut ready) = (ptr::null_mut(), 0, false);
        let options = self.options();
        // SAFETY: as in `send`.
        let status = unsafe {
            match self.dice.below(25) {
                0 | 1 => {
                    let kind = 10 + self.dice.below(6) as u32;
                    annulus_broadcast_new(kind, &raw const options, &raw mut another, &raw mut makes)
                }
                2..=4 => annulus_publisher_try_publish(publisher, message, size),
                5 => annulus_publisher_publish_timeout(publisher, message, size, self.dice.below(2) as u64),
                6 => annulus_publisher_clone(publisher, self.place(&mut another)),
                7 => annulus_publisher_closer(publisher, self.place(&mut closer)),
                8 | 9 => {
                    let from_oldest = self.dice.below(2) == 0;
                    annulus_subscribable_subscribe(subscribable, from_oldest, self.place(&mut new))
                }
                10..=13 => annulus_subscriber_try_recv(subscriber, message, size),
                14 => annulus_subscriber_recv_timeout(subscriber, message, size, self.dice.below(2) as u64),
                15 => annulus_subscriber_fd(subscriber, self.place(&mut fd)),
                16 => annulus_subscriber_arm(subscriber, self.place(&mut ready)),
                17 if annulus_subscriber_is_closed(subscriber) => {
                    annulus_subscriber_recv(subscriber, message, size)
                }
                18 if annulus_publisher_is_closed(publisher) => {
                    annulus_publisher_publish(publisher, message, size)
                }
                19 => {
                    _ = annulus_publisher_capacity(publisher);
                    _ = (annulus_subscriber_lagged(subscriber), annulus_subscriber_received(subscriber));
                    _ = annulus_subscriber_len(subscriber);
                    ANNULUS_OK
                }
                20 if self.dice.below(8) == 0 => annulus_publisher_close(publisher),
                24 => annulus_subscriber_begin_with_last(subscriber, size, self.place(&mut 0)),
                21 if self.dice.below(2) == 0 => annulus_publisher_free(publisher),
                22 if self.dice.below(2) == 0 => annulus_subscribable_free(subscribable),
                23 => annulus_subscriber_free(subscriber),
                _ => ANNULUS_OK,
            }
        };
        self.publishers.extend((!another.is_null()).then_some(another));
        self.subscribables.extend((!makes.is_null()).then_some(makes));
        self.subscribers.extend((!new.is_null()).then_some(new));
        self.closers.extend((!closer.is_null()).then_some(closer));
        self.saw(status);
    }

    fn pool(&mut self) {
        let pool = self.one_of(|program| &program.pools);
        let any = (self.dice.0 >> 7) as u32;
        let name = if self.buffers.is_empty() || self.dice.below(8) == 0 {
            any
        } else {
            self.dice.one_of(&self.buffers)
        };
        let (mut new, mut buffer, mut bytes) = (ptr::null_mut(), 0, ptr::null_mut());
        // SAFETY: as in `send`.
        let status = unsafe {
            match self.dice.below(8) {
                0 => {
                    let size = self.dice.one_of(&[0, 1, 100, usize::MAX]);
                    annulus_pool_new(size, self.dice.one_of(&[0, 1, 3, 1 << 25]), self.place(&mut new))
                }
                1..=3 => annulus_pool_alloc(pool, &raw mut buffer, self.place(&mut bytes)),
                4 => annulus_pool_redeem(pool, name, &raw mut buffer, self.place(&mut bytes)),
                5 | 6 => annulus_pool_release(pool, name),
                _ if self.dice.below(4) == 0 => annulus_pool_free(pool),
                _ => ANNULUS_OK,
            }
        };
        if !bytes.is_null() {
            assert_eq!(status, ANNULUS_OK);
            // SAFETY: so many bytes are there, and nobody else has them.
            unsafe { bytes.cast::<u8>().write_bytes(9, annulus_pool_buffer_size(pool)) };
            self.buffers.push(buffer);
        }
        self.pools.extend((!new.is_null()).then_some(new));
        self.saw(status);
    }

    fn stats(&mut self) {
        let (producer, consumer) = (self.producer(), self.consumer());
        let publisher = self.one_of(|program| &program.publishers);
        let subscriber = self.one_of(|program| &program.subscribers);
        let size = self.dice.one_of(&[size_of::<annulus_stats>(), size_of::<annulus_stats>(), 0]);
        let mut stats = annulus_stats { size, ..annulus_stats::default() };
        let place = self.place(&mut stats);
        // SAFETY: as in `send`.
        let status = unsafe {
            match self.dice.below(4) {
                0 => annulus_producer_stats(producer, place),
                1 => annulus_consumer_stats(consumer, place),
                2 => annulus_publisher_stats(publisher, place),
                _ => annulus_subscriber_stats(subscriber, place),
            }
        };
        self.saw(status);
    }

    /// Frees each that was not freed; then each is told to be none.
    fn end(&mut self) {
        self.end_views();
        macro_rules! all {
            ($($($handles:ident).+ $free:ident;)*) => {$(
                for &handle in &self.$($handles).+ {
                    // SAFETY: handles that were made, or null.
                    unsafe {
                        _ = $free(handle);
                        assert!(handle.is_null() || $free(handle) == ANNULUS_NOT_A_HANDLE);
                    }
                }
            )*};
        }
        all! {
            producers annulus_producer_free;
            consumers annulus_consumer_free;
            closers annulus_closer_free;
            publishers annulus_publisher_free;
            subscribables annulus_subscribable_free;
            subscribers annulus_subscriber_free;
            pools annulus_pool_free;
            invitations annulus_invitation_free;
            records.producers annulus_bytes_producer_free;
            records.consumers annulus_bytes_consumer_free;
            records.publishers annulus_bytes_publisher_free;
            records.subscribables annulus_bytes_subscribable_free;
            records.subscribers annulus_bytes_subscriber_free;
            records.invitations annulus_invitation_free;
        }
        #[cfg(not(miri))]
        all! {
            watches.senders annulus_watch_sender_free;
            watches.readers annulus_watch_reader_free;
            watches.changes annulus_watch_changes_free;
            watches.invitations annulus_invitation_free;
        }
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
fn calls_in_any_order_give_a_status() {
    let rounds = if cfg!(miri) { 20 } else { 400 };
    let mut all = [0; STATUSES];
    for seed in 1..=rounds {
        let mut program = Program {
            dice: Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed)),
            producers: vec![ptr::null_mut()],
            consumers: vec![ptr::null_mut()],
            closers: vec![ptr::null_mut()],
            publishers: vec![ptr::null_mut()],
            subscribables: vec![ptr::null_mut()],
            subscribers: vec![ptr::null_mut()],
            pools: vec![ptr::null_mut()],
            invitations: vec![ptr::null_mut()],
            records: bytes::Records::new(),
            #[cfg(not(miri))]
            watches: watch::Watches::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            publishes: Vec::new(),
            receives: Vec::new(),
            buffers: Vec::new(),
            bytes: vec![1; ROOM],
            found: [0; STATUSES],
        };
        for _ in 0..10 {
            program.make();
            program.broadcast();
            program.records();
        }
        for _ in 0..500 {
            match program.dice.below(24) {
                0 => program.make(),
                1..=4 => program.send(),
                5..=8 => program.receive(),
                9..=11 => program.others(),
                12..=16 => program.broadcast(),
                17 => program.pool(),
                18 => program.views(),
                20..=23 => program.records(),
                #[cfg(not(miri))]
                19 => program.shared(),
                _ => program.stats(),
            }
        }
        #[cfg(not(miri))]
        for _ in 0..100 {
            program.watch();
            program.newest_values();
        }
        program.end();
        for (all, found) in all.iter_mut().zip(program.found) {
            *all += found;
        }
    }
    // It has been everywhere: each status came, but for those that need a system without descriptors, a
    // fault, or another process; and those of a service (`services`).
    println!("{all:?}");
    for (status, count) in all.iter().enumerate() {
        let never = [ANNULUS_SYSTEM, ANNULUS_PANICKED, ANNULUS_PEER_DIED, ANNULUS_NO_RING, ANNULUS_REFUSED];
        let never = never.map(|status| status as usize).contains(&status);
        let never = never || cfg!(not(target_os = "linux")) && status >= ANNULUS_MISMATCH as usize;
        assert!(never == (*count == 0) || cfg!(miri), "status {status} came {count} times");
    }
}
