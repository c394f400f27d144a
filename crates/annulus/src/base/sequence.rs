//! [`Sequence`] and [`Stamp`]: the numbers of messages, and the only home of the stamp's encoding.

/// The number of a message: 0 for the first of a ring, then one more for each, never reused.
///
/// A stamp needs one bit more than a sequence, so sequences end at 2^63 − 2. A publisher of a thousand
/// million messages a second gets there in 292 years: it can't overflow in practice, and no code checks for
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sequence(u64);

impl Sequence {
    pub(crate) const FIRST: Self = Self(0);

    #[inline]
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    #[inline]
    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The sequence `count` before this one, or the first.
    #[inline]
    pub(crate) const fn back(self, count: u64) -> Self {
        Self(self.0.saturating_sub(count))
    }

    /// The sequence `count` after this one.
    #[inline]
    pub(crate) const fn plus(self, count: u64) -> Self {
        Self(self.0 + count)
    }

    /// The largest at which a ring may begin: four thousand million messages before the end.
    pub(crate) const LAST_FIRST: Self = Self((1 << 63) - (1 << 32));

    /// The largest that is believed of another process: half as many before the end.
    pub(crate) const LAST_BELIEVED: Self = Self((1 << 63) - (1 << 31));

    /// How many messages lie from `earlier` up to this one; 0 where it is not earlier.
    #[inline]
    pub(crate) const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The word beside a payload: whose message the slot holds, and whether it is whole.
///
/// | stamp | meaning |
/// | --- | --- |
/// | 0 | never written |
/// | 2·sequence + 1 | message `sequence` is being written; what was there before is gone |
/// | 2·sequence + 2 | message `sequence` is there, whole |
/// | 2·sequence + 3 | number `sequence` was left out: no message has it; what was there before is gone |
///
/// Stamps of one slot only grow, and their order is the order of what they mean.
///
/// The last one has the bits of the next message's `writing`. That message has another slot, because a ring
/// has two slots at least; so in the slot of `sequence` these bits mean nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

/// What a [`Stamp`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Never,
    Writing(Sequence),
    Done(Sequence),
}

impl Stamp {
    #[inline]
    pub(crate) const fn writing(sequence: Sequence) -> Self {
        Self(2 * sequence.0 + 1)
    }

    #[inline]
    pub(crate) const fn done(sequence: Sequence) -> Self {
        Self(2 * sequence.0 + 2)
    }

    /// No message has the number `sequence`. Greater than [`done`](Self::done) of it, and less than
    /// [`writing`](Self::writing) of the message that takes its slot a lap later. [`state`](Self::state) says
    /// of it that the next message is being written: what it says depends on whose slot it is.
    // Decision 0151: the bits of a stamp that this slot has no other use for.
    #[inline]
    pub(crate) const fn left_out(sequence: Sequence) -> Self {
        Self(2 * sequence.0 + 3)
    }

    /// The stamp that message `sequence` finds in its slot once the message a lap of `capacity` before it is
    /// done; 0 in the first lap.
    #[inline]
    pub(crate) const fn of_the_lap_before(sequence: Sequence, capacity: usize) -> Self {
        Self(Self::done(sequence).0.saturating_sub(2 * capacity as u64))
    }

    /// The message that this is the stamp of, once it is done.
    pub(crate) const fn sequence(self) -> Sequence {
        Sequence(self.0 / 2 - 1)
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The same, or the number of a message that is never asked for, if it says one that is too late to count
    /// on from.
    pub(crate) fn believed(self) -> Self {
        self.min(Self::done(Sequence::LAST_BELIEVED))
    }

    #[inline]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn state(self) -> State {
        match self.0 {
            0 => State::Never,
            odd if odd % 2 == 1 => State::Writing(Sequence(odd / 2)),
            even => State::Done(Sequence(even / 2 - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_says_what_it_was_made_from() {
        for number in [0, 1, 2, 3, 1 << 32, (1 << 63) - 2] {
            let sequence = Sequence::new(number);
            assert_eq!(Stamp::writing(sequence).state(), State::Writing(sequence));
            assert_eq!(Stamp::done(sequence).state(), State::Done(sequence));
        }
        assert_eq!(Stamp::from_bits(0).state(), State::Never);
    }

    #[test]
    fn stamps_grow_with_what_they_mean() {
        let (early, late) = (Sequence::new(7), Sequence::new(8));
        let in_order = [
            Stamp::from_bits(0),
            Stamp::writing(early),
            Stamp::done(early),
            Stamp::writing(late),
            Stamp::done(late),
        ];
        assert!(in_order.is_sorted_by(|a, b| a < b));
    }

    /// In one slot, at the smallest capacity: what is left out comes between what is done and the lap after,
    /// and nothing else has its bits.
    #[test]
    fn stamp_left_out_has_its_place_in_each_lap() {
        let lap =
            |sequence: Sequence| [Stamp::writing(sequence), Stamp::done(sequence), Stamp::left_out(sequence)];
        let laps: alloc::vec::Vec<_> = (0..4).flat_map(|laps| lap(Sequence::new(7 + 2 * laps))).collect();
        assert!(laps.is_sorted_by(|a, b| a < b));
        let last = Sequence::LAST_FIRST.plus((1 << 32) - 2);
        assert_eq!(Stamp::left_out(last).bits(), u64::MAX);
    }

    #[test]
    fn lap_before_is_done_or_never_was() {
        let before = |number| Stamp::of_the_lap_before(Sequence::new(number), 4).state();
        assert_eq!([0, 1, 3].map(before), [State::Never; 3]);
        assert_eq!([4, 5, 9].map(before), [0, 1, 5].map(|number| State::Done(Sequence::new(number))));
    }

    #[test]
    fn ring_may_begin_a_good_way_before_the_last_message() {
        let last = Sequence::LAST_FIRST.plus((1 << 32) - 2);
        assert_eq!(Stamp::done(last).bits(), u64::MAX - 1);
    }

    #[test]
    fn distances_never_wrap() {
        let (early, late) = (Sequence::new(7), Sequence::new(9));
        assert_eq!(late.since(early), 2);
        assert_eq!(early.since(late), 0);
        assert_eq!(early.back(10), Sequence::FIRST);
        assert_eq!(early.next(), early.plus(1));
    }
}
