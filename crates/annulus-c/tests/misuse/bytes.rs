//! Records of any length: the same, and those of queues between processes, both sides of which are this one.

use std::ptr;

use annulus_c::annulus_status::ANNULUS_OK;
use annulus_c::*;

use super::{Program, ROOM};

/// Handles of rings of records, some of which were freed.
pub(super) struct Records {
    pub(super) producers: Vec<*mut annulus_bytes_producer>,
    pub(super) consumers: Vec<*mut annulus_bytes_consumer>,
    pub(super) publishers: Vec<*mut annulus_bytes_publisher>,
    pub(super) subscribables: Vec<*mut annulus_bytes_subscribable>,
    pub(super) subscribers: Vec<*mut annulus_bytes_subscriber>,
    pub(super) invitations: Vec<*mut annulus_invitation>,
}

impl Records {
    pub(super) fn new() -> Self {
        Self {
            producers: vec![ptr::null_mut()],
            consumers: vec![ptr::null_mut()],
            publishers: vec![ptr::null_mut()],
            subscribables: vec![ptr::null_mut()],
            subscribers: vec![ptr::null_mut()],
            invitations: vec![ptr::null_mut()],
        }
    }
}

impl Program {
    /// Options, of which each is now and then one that can't be.
    fn bytes_options(&mut self) -> annulus_options {
        let (options, bad) = (self.options(), self.dice.below(20));
        annulus_options {
            capacity: if bad == 1 { options.capacity } else { 16 + self.dice.below(200) },
            message_size: if bad == 2 { options.message_size } else { 1 },
            ..options
        }
    }

    fn bytes_producer(&mut self) -> *mut annulus_bytes_producer {
        self.one_of(|program| &program.records.producers)
    }

    fn bytes_consumer(&mut self) -> *mut annulus_bytes_consumer {
        self.one_of(|program| &program.records.consumers)
    }

    pub(super) fn records(&mut self) {
        match self.dice.below(7) {
            0 => self.make_records(),
            1 | 2 => self.send_records(),
            3 | 4 => self.receive_records(),
            5 => self.broadcast_records(),
            #[cfg(not(miri))]
            6 => self.shared_records(),
            _ => self.end_records(),
        }
    }

    fn make_records(&mut self) {
        let options = self.bytes_options();
        let options = if self.dice.below(20) == 0 { ptr::null() } else { &raw const options };
        let (mut producer, mut consumer) = (ptr::null_mut(), ptr::null_mut());
        let (mut publisher, mut subscribable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as the functions ask: null, or objects that are there.
        let status = unsafe {
            if self.dice.below(2) == 0 {
                annulus_bytes_queue_new(options, self.place(&mut producer), self.place(&mut consumer))
            } else {
                annulus_bytes_broadcast_new(
                    self.dice.one_of(&[ANNULUS_LOSSY, ANNULUS_LOSSLESS, 0]),
                    options,
                    self.place(&mut publisher),
                    self.place(&mut subscribable),
                )
            }
        };
        assert_eq!(producer.is_null(), consumer.is_null());
        assert_eq!(publisher.is_null(), subscribable.is_null());
        assert_eq!(status == ANNULUS_OK, !producer.is_null() || !publisher.is_null());
        self.records.producers.extend((!producer.is_null()).then_some(producer));
        self.records.consumers.extend((!consumer.is_null()).then_some(consumer));
        self.records.publishers.extend((!publisher.is_null()).then_some(publisher));
        self.records.subscribables.extend((!subscribable.is_null()).then_some(subscribable));
        self.saw(status);
    }

    fn send_records(&mut self) {
        let (producer, record, length) = (self.bytes_producer(), self.message(), self.size());
        let mut bytes = ptr::null_mut();
        let (mut closer, mut reserved) = (ptr::null_mut(), 0);
        let size = self.dice.one_of(&[size_of::<annulus_stats>(), size_of::<annulus_stats>(), 0]);
        let mut stats = annulus_stats { size, ..annulus_stats::default() };
        // SAFETY: handles that were made, or null; memory of that size, or null. One thread uses all of them.
        let status = unsafe {
            match self.dice.below(14) {
                0..=2 => annulus_bytes_producer_try_send(producer, record, length),
                3 => annulus_bytes_producer_send_timeout(producer, record, length, self.dice.below(2) as u64),
                4 if annulus_bytes_producer_is_closed(producer) => {
                    annulus_bytes_producer_send(producer, record, length)
                }
                5 | 6 => {
                    reserved = self.dice.one_of(&[0, 1, 8, 30, usize::MAX]);
                    annulus_bytes_producer_try_reserve(producer, reserved, self.place(&mut bytes))
                }
                7 => {
                    reserved = self.dice.one_of(&[0, 1, 8, 30]);
                    annulus_bytes_producer_reserve(producer, reserved, 1, self.place(&mut bytes))
                }
                8 | 9 => annulus_bytes_producer_commit(producer, self.dice.below(10)),
                10 => annulus_bytes_producer_cancel(producer),
                11 => annulus_bytes_producer_closer(producer, self.place(&mut closer)),
                12 => annulus_bytes_producer_stats(producer, self.place(&mut stats)),
                _ => {
                    _ = (annulus_bytes_producer_is_empty(producer), annulus_bytes_producer_max_len(producer));
                    _ = annulus_bytes_producer_capacity(producer);
                    ANNULUS_OK
                }
            }
        };
        if !bytes.is_null() {
            assert_eq!(status, ANNULUS_OK);
            // SAFETY: so much was reserved.
            unsafe { bytes.cast::<u8>().write_bytes(7, reserved) };
        }
        self.closers.extend((!closer.is_null()).then_some(closer));
        self.saw(status);
    }

    fn receive_records(&mut self) {
        let (consumer, buffer, size) = (self.bytes_consumer(), self.message(), self.size());
        let (mut record, mut length) = (ptr::null(), 0);
        let (mut closer, mut fd, mut ready) = (ptr::null_mut(), 0, false);
        let stats_size = self.dice.one_of(&[size_of::<annulus_stats>(), 0]);
        let mut stats = annulus_stats { size: stats_size, ..annulus_stats::default() };
        let timeout = self.dice.below(2) as u64;
        // SAFETY: as in `send_records`.
        let status = unsafe {
            match self.dice.below(14) {
                0..=2 => annulus_bytes_consumer_try_recv(consumer, buffer, size, self.place(&mut length)),
                3 => {
                    let length = self.place(&mut length);
                    annulus_bytes_consumer_recv_timeout(consumer, buffer, size, length, timeout)
                }
                4 if annulus_bytes_consumer_is_closed(consumer) => {
                    annulus_bytes_consumer_recv(consumer, buffer, size, self.place(&mut length))
                }
                5 | 6 => {
                    let places = (self.place(&mut record), self.place(&mut length));
                    annulus_bytes_consumer_readable(consumer, timeout, places.0, places.1)
                }
                7 | 8 => annulus_bytes_consumer_advance(consumer),
                9 => annulus_bytes_consumer_fd(consumer, self.place(&mut fd)),
                10 => annulus_bytes_consumer_arm(consumer, self.place(&mut ready)),
                11 => annulus_bytes_consumer_closer(consumer, self.place(&mut closer)),
                12 => annulus_bytes_consumer_stats(consumer, self.place(&mut stats)),
                _ => {
                    _ = (annulus_bytes_consumer_is_empty(consumer), annulus_bytes_consumer_max_len(consumer));
                    _ = annulus_bytes_consumer_capacity(consumer);
                    ANNULUS_OK
                }
            }
        };
        assert!(length <= ROOM);
        if !record.is_null() {
            assert_eq!(status, ANNULUS_OK);
            // SAFETY: so many bytes are there, and were written.
            let bytes = unsafe { std::slice::from_raw_parts(record.cast::<u8>(), length) };
            assert!(bytes.iter().all(|&byte| byte == 1 || byte == 7), "{bytes:?}");
        }
        self.closers.extend((!closer.is_null()).then_some(closer));
        self.saw(status);
    }

    fn broadcast_records(&mut self) {
        let publisher = self.one_of(|program| &program.records.publishers);
        let subscribable = self.one_of(|program| &program.records.subscribables);
        let subscriber = self.one_of(|program| &program.records.subscribers);
        let (buffer, size) = (self.message(), self.size());
        let (mut new, mut closer, mut length) = (ptr::null_mut(), ptr::null_mut(), 0);
        let (mut fd, mut ready, mut stats) = (0, false, annulus_stats::default());
        stats.size = self.dice.one_of(&[size_of::<annulus_stats>(), 0]);
        let timeout = self.dice.below(2) as u64;
        // SAFETY: as in `send_records`.
        let status = unsafe {
            match self.dice.below(16) {
                0 if annulus_bytes_publisher_is_closed(publisher) => {
                    annulus_bytes_publisher_publish(publisher, buffer, size)
                }
                0..=2 => annulus_bytes_publisher_try_publish(publisher, buffer, size),
                3 => annulus_bytes_publisher_publish_timeout(publisher, buffer, size, timeout),
                4 | 5 => {
                    let from_oldest = self.dice.below(2) == 0;
                    annulus_bytes_subscribable_subscribe(subscribable, from_oldest, self.place(&mut new))
                }
                6..=8 => annulus_bytes_subscriber_try_recv(subscriber, buffer, size, self.place(&mut length)),
                9 => {
                    let length = self.place(&mut length);
                    annulus_bytes_subscriber_recv_timeout(subscriber, buffer, size, length, timeout)
                }
                10 if annulus_bytes_subscriber_is_closed(subscriber) => {
                    annulus_bytes_subscriber_recv(subscriber, buffer, size, self.place(&mut length))
                }
                11 => annulus_bytes_subscriber_fd(subscriber, self.place(&mut fd)),
                12 => annulus_bytes_subscriber_arm(subscriber, self.place(&mut ready)),
                13 => annulus_bytes_publisher_closer(publisher, self.place(&mut closer)),
                14 if timeout == 0 => annulus_bytes_publisher_stats(publisher, self.place(&mut stats)),
                14 => annulus_bytes_subscriber_stats(subscriber, self.place(&mut stats)),
                _ => {
                    _ = (
                        annulus_bytes_publisher_max_len(publisher),
                        annulus_bytes_publisher_capacity(publisher),
                    );
                    _ = annulus_bytes_publisher_is_closed(publisher);
                    _ = (
                        annulus_bytes_subscriber_lagged(subscriber),
                        annulus_bytes_subscriber_received(subscriber),
                    );
                    _ = (
                        annulus_bytes_subscriber_len(subscriber),
                        annulus_bytes_subscriber_max_len(subscriber),
                    );
                    ANNULUS_OK
                }
            }
        };
        assert!(length <= ROOM);
        self.records.subscribers.extend((!new.is_null()).then_some(new));
        self.closers.extend((!closer.is_null()).then_some(closer));
        self.saw(status);
    }

    #[cfg(not(miri))]
    fn shared_records(&mut self) {
        let bad = self.dice.below(20);
        let options = annulus_shared_options {
            size: if bad == 0 { 1 } else { size_of::<annulus_shared_options>() },
            capacity: if bad == 1 { self.dice.below(2) } else { 16 + self.dice.below(200) },
            message_size: if bad == 2 { 8 } else { 1 },
            message_alignment: if bad == 3 { 8 } else { 1 },
            schema: if bad == 4 { c"u8".as_ptr() } else { ptr::null() },
            wait: annulus_wait::default(),
            places: 0,
            flags: if bad == 5 { 64 } else { self.dice.below(4) as u32 },
            receivers: 0,
            deadline_ns: u64::from(bad == 6),
            numbering: if bad == 7 { c"numbers".as_ptr() } else { ptr::null() },
            numbering_directory: ptr::null(),
        };
        // One of another kind of ring now and then.
        let is_any = self.dice.below(8) == 0;
        let invitation =
            self.one_of(|program| if is_any { &program.invitations } else { &program.records.invitations });
        let (producer, consumer) = (self.bytes_producer(), self.bytes_consumer());
        let (mut sends, mut takes, mut invites) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let mut peer = annulus_peer::ANNULUS_PEER_NONE;
        // SAFETY: as in `send_records`; an error need not be asked for.
        let status = unsafe {
            match self.dice.below(6) {
                0 => annulus_shared_bytes_producer_new(
                    &raw const options,
                    self.place(&mut sends),
                    &raw mut invites,
                    ptr::null_mut(),
                ),
                1..=3 => annulus_invitation_bytes_consumer(
                    invitation,
                    &raw const options,
                    self.place(&mut takes),
                    ptr::null_mut(),
                ),
                4 => annulus_bytes_producer_peer(producer, self.place(&mut peer)),
                _ => annulus_bytes_consumer_peer(consumer, self.place(&mut peer)),
            }
        };
        assert!(status == ANNULUS_OK || sends.is_null() && takes.is_null() && invites.is_null());
        self.records.producers.extend((!sends.is_null()).then_some(sends));
        self.records.consumers.extend((!takes.is_null()).then_some(takes));
        self.records.invitations.extend((!invites.is_null()).then_some(invites));
        self.saw(status);
    }

    fn end_records(&mut self) {
        let (producer, consumer) = (self.bytes_producer(), self.bytes_consumer());
        let publisher = self.one_of(|program| &program.records.publishers);
        let subscribable = self.one_of(|program| &program.records.subscribables);
        let subscriber = self.one_of(|program| &program.records.subscribers);
        // SAFETY: as in `send_records`.
        let status = unsafe {
            match self.dice.below(24) {
                0 => annulus_bytes_producer_close(producer),
                1 => annulus_bytes_consumer_close(consumer),
                2 => annulus_bytes_publisher_close(publisher),
                3 => annulus_bytes_producer_free(producer),
                4 => annulus_bytes_consumer_free(consumer),
                5 => annulus_bytes_publisher_free(publisher),
                6 => annulus_bytes_subscribable_free(subscribable),
                7 => annulus_bytes_subscriber_free(subscriber),
                _ => ANNULUS_OK,
            }
        };
        self.saw(status);
    }
}
