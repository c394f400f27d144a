//! [`Dice`].

/// Random enough, and the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number from 0 to before `sides`.
    pub(crate) fn throw(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}
