//! The accounts of one subscriber, and the check of them.
//!
//! Messages are numbered from 0 by the publisher. A subscriber that has received `r` and lost `l` of them is
//! due number `r + l` next; a ring that says so is believed only if the message bears that number. So the
//! accounts hold, message by message, exactly if nothing came twice or out of order, and each gap was owned
//! up to as loss of the same size.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::{counted, grouped};

/// What one subscriber received, and what was wrong with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// How many messages it received, good or bad.
    pub(crate) received: u64,
    /// How many the ring said it lost.
    pub(crate) lost: u64,
    /// One more than the highest number it has seen.
    next: u64,
    repeated: u64,
    disordered: u64,
    unexplained: u64,
    corrupt: u64,
}

impl Ledger {
    /// Of a subscriber whose first message is to be number `first`.
    pub(crate) fn from(first: u64) -> Self {
        Self { next: first, ..Self::default() }
    }

    /// Enters a message with the number `sequence`, after which the ring says `lost` in all.
    #[inline]
    pub(crate) fn enter(&mut self, sequence: u64, lost: u64) {
        let due = self.due(lost);
        if sequence != due {
            self.find_fault(sequence);
        }
        self.received += 1;
        self.lost = lost;
        self.next = self.next.max(sequence.saturating_add(1));
    }

    /// How many messages it has behind it.
    #[inline]
    pub(crate) fn passed(&self) -> u64 {
        self.received.wrapping_add(self.lost)
    }

    /// Enters a message whose checksum is wrong: its number can't be believed, so it is taken to be the one
    /// due.
    #[cold]
    pub(crate) fn enter_corrupt(&mut self, lost: u64) {
        self.next = self.due(lost).wrapping_add(1);
        self.received += 1;
        self.lost = lost;
        self.corrupt += 1;
    }

    /// Ends the accounts: the ring was closed and says `lost` in all.
    pub(crate) fn close(&mut self, lost: u64) {
        self.lost = lost;
    }

    /// The number of the next message, if `lost` is true.
    #[inline]
    fn due(&self, lost: u64) -> u64 {
        self.next.wrapping_add(lost.wrapping_sub(self.lost))
    }

    /// Finds the name for a message that was not due.
    #[cold]
    fn find_fault(&mut self, sequence: u64) {
        let wrong = if sequence >= self.next {
            &mut self.unexplained
        } else if sequence + 1 == self.next {
            &mut self.repeated
        } else {
            &mut self.disordered
        };
        *wrong += 1;
    }

    /// All that is wrong with accounts of a feed of which `published` messages were published; nothing if
    /// they hold.
    pub(crate) fn faults(&self, published: u64) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.received.checked_add(self.lost) != Some(published) {
            faults.push(Fault::Count { received: self.received, lost: self.lost, published });
        }
        let counted_faults = [
            (self.repeated, Fault::Repeated as fn(u64) -> Fault),
            (self.disordered, Fault::Disordered),
            (self.unexplained, Fault::Unexplained),
            (self.corrupt, Fault::Corrupt),
        ];
        faults.extend(
            counted_faults.into_iter().filter(|(count, _)| *count > 0).map(|(count, fault)| fault(count)),
        );
        faults
    }
}

/// One way in which a subscriber's accounts do not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `received` + `lost` is not `published`.
    Count {
        /// How many messages came.
        received: u64,
        /// How many the ring said were lost.
        lost: u64,
        /// How many there were.
        published: u64,
    },
    /// So many messages came twice in a row.
    Repeated(u64),
    /// So many messages came after one that was published later, or came again after others.
    Disordered(u64),
    /// So often the messages skipped were not as many as the ring said were lost.
    Unexplained(u64),
    /// So many messages had a wrong checksum.
    Corrupt(u64),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Count { received, lost, published } => {
                let [received, lost, published] = [received, lost, published].map(grouped);
                write!(f, "received {received} + lost {lost} is not the {published} that were published")
            }
            Self::Repeated(count) => write!(f, "{} came twice", counted(count, "message")),
            Self::Disordered(count) => write!(f, "{} came out of order", counted(count, "message")),
            Self::Unexplained(count) => {
                write!(f, "{} of another size than the loss that the ring reported", counted(count, "gap"))
            }
            Self::Corrupt(count) => write!(f, "{} came corrupted", counted(count, "message")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accounts of messages, each with its number and the loss reported by then.
    fn ledger(messages: &[(u64, u64)]) -> Ledger {
        let mut ledger = Ledger::default();
        for &(sequence, lost) in messages {
            ledger.enter(sequence, lost);
        }
        ledger
    }

    #[test]
    fn accounts_hold_where_every_message_came_or_was_reported_lost() {
        assert_eq!(ledger(&[]).faults(0), []);
        assert_eq!(ledger(&[(0, 0), (1, 0), (2, 0)]).faults(3), []);
        assert_eq!(ledger(&[(5, 5), (6, 5), (9, 7)]).faults(10), []);
    }

    #[test]
    fn late_subscriber_accounts_for_what_comes_then() {
        let mut ledger = Ledger::from(5);
        ledger.enter(5, 0);
        ledger.enter(8, 2);
        assert_eq!(ledger.faults(4), []);
        let mut ledger = Ledger::from(5);
        ledger.enter(6, 0);
        assert_eq!(ledger.faults(1), [Fault::Unexplained(1)]);
    }

    #[test]
    fn loss_after_the_last_message_counts() {
        let mut ledger = ledger(&[(0, 0)]);
        ledger.close(4);
        assert_eq!(ledger.faults(5), []);
    }

    #[test]
    fn duplicate_is_a_fault() {
        let count = Fault::Count { received: 4, lost: 0, published: 3 };
        assert_eq!(ledger(&[(0, 0), (1, 0), (1, 0), (2, 0)]).faults(3), [count, Fault::Repeated(1)]);
    }

    #[test]
    fn message_out_of_order_is_a_fault_even_where_the_count_is_right() {
        let faults = ledger(&[(0, 0), (2, 0), (1, 0), (3, 0)]).faults(4);
        assert_eq!(faults, [Fault::Disordered(1), Fault::Unexplained(1)]);
    }

    #[test]
    fn wrong_count_is_a_fault() {
        let few = ledger(&[(0, 0), (1, 0)]).faults(3);
        assert_eq!(few, [Fault::Count { received: 2, lost: 0, published: 3 }]);
        let many = ledger(&[(0, 0), (1, 0)]).faults(1);
        assert_eq!(many, [Fault::Count { received: 2, lost: 0, published: 1 }]);
    }

    #[test]
    fn gap_that_was_not_reported_is_a_fault() {
        let faults = ledger(&[(0, 0), (2, 0)]).faults(3);
        assert_eq!(faults, [Fault::Count { received: 2, lost: 0, published: 3 }, Fault::Unexplained(1)]);
    }

    #[test]
    fn loss_that_did_not_happen_is_a_fault() {
        let faults = ledger(&[(0, 0), (1, 1)]).faults(2);
        assert_eq!(faults, [Fault::Count { received: 2, lost: 1, published: 2 }, Fault::Unexplained(1)]);
        // A duplicate that is made up for by a message that was reported lost: the count is right, the
        // messages are not.
        assert_eq!(ledger(&[(0, 0), (2, 1), (2, 1)]).faults(4), [Fault::Repeated(1)]);
    }

    #[test]
    fn corrupt_message_is_a_fault_and_the_rest_is_still_followed() {
        let mut ledger = ledger(&[(0, 0), (1, 0)]);
        ledger.enter_corrupt(2);
        ledger.enter(5, 2);
        assert_eq!(ledger.faults(6), [Fault::Corrupt(1)]);
    }

    #[test]
    fn faults_are_told_in_words() {
        let fault = Fault::Count { received: 4, lost: 1_000, published: 3 };
        assert_eq!(fault.to_string(), "received 4 + lost 1,000 is not the 3 that were published");
        assert_eq!(Fault::Repeated(1).to_string(), "1 message came twice");
        assert_eq!(Fault::Corrupt(2).to_string(), "2 messages came corrupted");
    }
}
