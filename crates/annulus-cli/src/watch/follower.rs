//! [`Follower`]: which message is next, in a ring whose publisher may be faster.

/// How far it is.
pub(super) struct Follower {
    next: u64,
    published: u64,
    capacity: u64,
    /// How many were missed since the last message.
    missed: u64,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// All that was published is seen.
    Nothing,
    /// It was overwritten: try again.
    Missed,
    Message {
        number: u64,
        /// How many were missed before it.
        missed: u64,
    },
}

impl Follower {
    /// Of a ring in which so many messages were published until now. It begins with the newest one.
    pub(super) fn begin(published: u64, capacity: u64, from_oldest: bool) -> Self {
        let back = if from_oldest { capacity } else { 1 };
        Self { next: published.saturating_sub(back), published, capacity, missed: 0 }
    }

    /// There are so many now.
    pub(super) fn look(&mut self, published: u64) {
        self.published = self.published.max(published);
        self.skip_to(self.published.saturating_sub(self.capacity));
    }

    /// The next message that `read` could copy.
    pub(super) fn next(&mut self, read: impl FnOnce(u64) -> bool) -> Next {
        if self.next >= self.published {
            return Next::Nothing;
        }
        let number = self.next;
        if read(number) {
            self.next += 1;
            return Next::Message { number, missed: std::mem::take(&mut self.missed) };
        }
        // The publisher is a lap ahead: where it is now, only another look tells. A half of what is left is
        // given up, so that this comes to an end.
        self.skip_to(number + (self.published - number).div_ceil(2));
        Next::Missed
    }

    fn skip_to(&mut self, number: u64) {
        self.missed += number.saturating_sub(self.next);
        self.next = self.next.max(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that come, each with what was missed before it, if those from `oldest` on are there.
    fn all(follower: &mut Follower, oldest: u64) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        loop {
            match follower.next(|number| number >= oldest) {
                Next::Nothing => return found,
                Next::Missed => {}
                Next::Message { number, missed } => found.push((number, missed)),
            }
        }
    }

    #[test]
    fn follower_begins_with_the_newest_or_the_oldest() {
        assert_eq!(all(&mut Follower::begin(10, 4, false), 0), [(9, 0)]);
        assert_eq!(all(&mut Follower::begin(10, 4, true), 0), [(6, 0), (7, 0), (8, 0), (9, 0)]);
        assert_eq!(all(&mut Follower::begin(2, 4, true), 0), [(0, 0), (1, 0)]);
        assert_eq!(all(&mut Follower::begin(0, 4, false), 0), []);
    }

    #[test]
    fn missed_messages_are_counted() {
        let mut follower = Follower::begin(10, 4, false);
        all(&mut follower, 0);
        follower.look(12);
        assert_eq!(all(&mut follower, 0), [(10, 0), (11, 0)]);
        follower.look(30);
        assert_eq!(all(&mut follower, 0), [(26, 14), (27, 0), (28, 0), (29, 0)]);
        // While it reads, the publisher continues.
        follower.look(34);
        assert_eq!(all(&mut follower, 33), [(33, 3)]);
        follower.look(36);
        assert_eq!(all(&mut follower, 99), []);
        follower.look(38);
        assert_eq!(all(&mut follower, 37), [(37, 3)]);
    }
}
