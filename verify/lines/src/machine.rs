//! The model: cores with caches of their own, lines of 64 bytes that are in one of the states of MESI, and
//! what it costs to move one.
//!
//! - *A transfer has three legs*, of a third of `transfer` each: from the core that asks to the line's home,
//!   from there to the core that has it, and with the bytes to the one that asked. Where no other
//!   cache has to be asked, there are two.
//! - *A line serves one after another.* A core that asks for a line on its way to another waits at its
//!   home, so that the first leg is over by then.
//! - *Loads wait, stores don't.* A core goes on while a store waits for its line, until as many lines as
//!   `under_way` are on their way to it; stores become visible in their order. What reads and writes in one
//!   step waits for all stores before it, and for its line.
//! - *Lines in a row come early.* A core that loads two lines in a row gets the next ones of the page
//!   before it asks, as many as may be under way.
//!
//! Caches never run out of room: a ring of 4,096 messages is smaller than those of a core.

use std::collections::VecDeque;

/// A point in time, or a time: in picoseconds, so that all sums are exact.
pub type Time = u64;

/// What the machine takes for what.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A line from one core to another.
    pub transfer: Time,
    /// An access to a line that is there.
    pub access: Time,
    /// What reads and writes in one step, and a fence, beside their waits.
    pub locked: Time,
    /// A pause instruction.
    pub pause: Time,
    /// What a core does for a message beside its accesses to memory.
    pub work: Time,
    /// Lines on their way to one core at a time, to be read.
    pub loads: usize,
    /// Stores of one core that are not visible yet.
    pub stores: usize,
    /// Whether the other line of a pair of 128 bytes is fetched as well.
    pub pairs: bool,
}

impl Costs {
    /// Of a server's processor that takes `transfer` for a line: what its maker says, and one number that was
    /// fitted (`work`).
    pub fn of(transfer: Time) -> Self {
        Self {
            transfer,
            access: 250,
            locked: 6_000,
            // As the library has it: a rest of 32 takes 740 ns (`wait/spin.rs`).
            pause: 740_000 / 32,
            // So that lossless to one takes what was measured.
            work: 3_900,
            // Line fill buffers, and entries of the store buffer.
            loads: 16,
            stores: 72,
            pairs: false,
        }
    }
}

/// Cores at most: a bit each.
pub const MOST_CORES: usize = 128;

const LINES_OF_A_PAGE: usize = 64;

/// Why a line moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// From the cache of a core that had changed it.
    Changed,
    /// A copy of a line that nobody has changed.
    Shared,
    /// The copies of other cores became worthless.
    Owned,
}

/// Which cores have a line.
#[derive(Clone, Copy, Default)]
struct State {
    /// Which cores have it.
    holders: u128,
    /// Whether the one core that has it may change it without asking.
    is_owned: bool,
}

impl State {
    fn suffices(self, core: usize, to_own: bool) -> bool {
        self.holders & (1 << core) != 0 && (!to_own || self.is_owned)
    }
}

#[derive(Clone, Default)]
struct Line {
    /// Once all that have asked for it so far have got it.
    last: State,
    /// From when on its home answers.
    free: Time,
    /// Which cores have it until when, before that: a core that gets it keeps it until it leaves for the
    /// next one.
    before: Vec<(Time, State)>,
}

impl Line {
    fn at(&self, now: Time) -> State {
        self.before.iter().find(|(until, _)| now < *until).map_or(self.last, |&(_, state)| state)
    }
}

/// Lines that a core loads one after the other.
#[derive(Clone, Copy, Default)]
struct Stream {
    last: usize,
    run: u32,
    used: Time,
}

/// Stores to one line that are not visible yet.
struct Storing {
    line: usize,
    stores: usize,
    visible: Time,
    /// Whether somebody else has taken the line meanwhile.
    was_taken: bool,
}

impl Storing {
    fn of(line: usize, visible: Time) -> Self {
        Self { line, stores: 1, visible, was_taken: false }
    }
}

struct Core {
    now: Time,
    /// When the last store so far is visible.
    drained: Time,
    /// Lines that are on their way to be read, and when they are there.
    coming: Vec<(usize, Time)>,
    /// Lines with stores that are not visible yet, in their order.
    storing: VecDeque<Storing>,
    streams: [Stream; 16],
    /// The line of the last access: most are to the same one.
    last_line: usize,
}

/// The machine.
pub struct Machine {
    costs: Costs,
    cores: Vec<Core>,
    lines: Vec<Line>,
    random: u64,
    /// What moved since somebody took it: the line, which core got it, and why.
    pub moved: Vec<(usize, usize, Move)>,
}

impl Machine {
    /// With so many cores, at rest.
    pub fn new(costs: Costs, cores: usize, seed: u64) -> Self {
        assert!(cores <= MOST_CORES, "a bit for each core");
        let core = || Core {
            now: 0,
            drained: 0,
            coming: vec![],
            storing: VecDeque::new(),
            streams: [Stream::default(); 16],
            last_line: usize::MAX,
        };
        let mut machine = Self {
            costs,
            cores: (0..cores).map(|_| core()).collect(),
            lines: vec![],
            random: seed.wrapping_mul(2) + 1,
            moved: vec![],
        };
        // They do not begin in step.
        for core in 0..cores {
            machine.cores[core].now = machine.random() % costs.transfer;
        }
        machine
    }

    /// By George Marsaglia, "Xorshift RNGs".
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    pub fn now(&self, core: usize) -> Time {
        self.cores[core].now
    }

    /// A load by `core`. Whether it finds what is there when it is over: the line is on its way to somebody
    /// else before. Otherwise it finds what is there now.
    pub fn load(&mut self, core: usize, line: usize) -> bool {
        let (now, free) = (self.cores[core].now, self.line(line).free);
        let at = self.get(core, line, false, true);
        self.cores[core].now = at + self.costs.access;
        if self.cores[core].last_line != line {
            self.cores[core].last_line = line;
            self.stream(core, line);
        }
        at > now && free > now
    }

    /// A store, after which the core goes on.
    pub fn store(&mut self, core: usize, line: usize) {
        while self.stores_under_way(core) >= self.costs.stores {
            let first = self.cores[core].storing.front().expect("there are some");
            self.cores[core].now = first.visible;
        }
        let ready = self.get(core, line, true, false);
        let own = &mut self.cores[core];
        own.drained = own.drained.max(ready);
        if own.drained > own.now {
            match own.storing.back_mut() {
                Some(last) if last.line == line => last.stores += 1,
                _ => own.storing.push_back(Storing::of(line, own.drained)),
            }
        }
        own.now += self.costs.access;
        // Nobody gets the line before what was stored is visible.
        let visible = own.drained.saturating_sub(self.costs.transfer / 3);
        let line = self.line(line);
        line.free = line.free.max(visible);
    }

    fn stores_under_way(&mut self, core: usize) -> usize {
        let own = &mut self.cores[core];
        while own.storing.front().is_some_and(|first| first.visible <= own.now) {
            own.storing.pop_front();
        }
        own.storing.iter().map(|storing| storing.stores).sum()
    }

    /// Somebody else wants a line. If its owner has it early, for stores that come after others, it has to
    /// get it once more when it is their turn.
    fn take_from(&mut self, owner: usize, line: usize, now: Time) {
        let (again, third) = (self.costs.transfer, self.costs.transfer / 3);
        let own = &mut self.cores[owner];
        let Some(at) = own.storing.iter().position(|storing| storing.line == line && storing.visible > now)
        else {
            return;
        };
        if at == 0 || own.storing[at].was_taken {
            return;
        }
        own.storing[at].was_taken = true;
        let before = own.storing[at - 1].visible;
        let late = (before + again).saturating_sub(own.storing[at].visible);
        let mut moved = vec![];
        for storing in own.storing.iter_mut().skip(at) {
            storing.visible += late;
            moved.push((storing.line, storing.visible));
        }
        own.drained += late;
        for (line, visible) in moved {
            let line = self.line(line);
            line.free = line.free.max(visible - third);
        }
    }

    /// A load and a store in one step. Whether they happen only when it is over, because the line has to
    /// come.
    pub fn change(&mut self, core: usize, line: usize) -> bool {
        self.fence(core);
        let now = self.cores[core].now;
        let at = self.get(core, line, true, true);
        self.cores[core].now = at;
        self.cores[core].drained = at;
        let until = at.saturating_sub(self.costs.transfer / 3);
        let line = self.line(line);
        line.free = line.free.max(until);
        at > now
    }

    /// Waits for all stores.
    pub fn fence(&mut self, core: usize) {
        let own = &mut self.cores[core];
        own.now = own.now.max(own.drained) + self.costs.locked;
    }

    /// What the loop around a verb does, and the verb beside its accesses.
    pub fn work(&mut self, core: usize) {
        self.cores[core].now += self.costs.work;
    }

    pub fn pause(&mut self, core: usize) {
        self.cores[core].now += self.costs.pause;
    }

    /// Asks for a line early.
    pub fn prefetch(&mut self, core: usize, line: usize) {
        if self.under_way(core) < self.costs.loads {
            self.get(core, line, false, false);
        }
    }

    fn line(&mut self, line: usize) -> &mut Line {
        if self.lines.len() <= line {
            self.lines.resize(line + 1, Line::default());
        }
        &mut self.lines[line]
    }

    fn under_way(&mut self, core: usize) -> usize {
        let own = &mut self.cores[core];
        let now = own.now;
        own.coming.retain(|&(_, at)| at > now);
        own.coming.len()
    }

    /// When the core has the line, also to change it if `to_own`. It asks for it, if it has to. A core
    /// that `waits` does nothing else meanwhile.
    fn get(&mut self, core: usize, line: usize, to_own: bool, waits: bool) -> Time {
        let bit = 1 << core;
        let now = self.cores[core].now;
        let state = self.line(line);
        state.before.retain(|(until, _)| now < *until);
        if state.at(now).suffices(core, to_own) {
            return now;
        }
        let last = state.last;
        if last.suffices(core, to_own) {
            let coming = self.cores[core].coming.iter().find(|&&(coming, at)| coming == line && at > now);
            return coming.map_or(now, |&(_, at)| at);
        }
        // As many as can be are under way: the first one that comes makes room.
        while self.under_way(core) >= self.costs.loads {
            let first = self.cores[core].coming.iter().map(|&(_, at)| at).min().expect("there are some");
            self.cores[core].now = first;
        }
        let others = last.holders & !bit;
        if last.is_owned && others != 0 {
            self.take_from(others.trailing_zeros() as usize, line, now);
        }
        let free = self.line(line).free;
        let (why, legs) = match (others, last.is_owned, to_own) {
            (0, ..) | (_, false, false) => (Move::Shared, 2),
            (_, true, _) => (Move::Changed, 3),
            (_, false, true) => (Move::Owned, 3),
        };
        // A tenth more or less: not all cores are equally far.
        let leg = self.costs.transfer / 3 * (900 + self.random() % 201) / 1000;
        let (now, third) = (self.cores[core].now, self.costs.transfer / 3);
        let ready = now.max(free) + legs * leg;
        let state = self.line(line);
        if to_own || last.is_owned {
            state.free = ready - third;
            // What a plain store writes is there at once here, so nobody may look at it early.
            if waits || !to_own {
                state.before.push((ready - third, last));
            }
        }
        state.last.holders = if to_own { bit } else { last.holders | bit };
        state.last.is_owned = to_own || others == 0;
        self.cores[core].coming.retain(|(coming, _)| *coming != line);
        self.cores[core].coming.push((line, ready));
        self.moved.push((line, core, why));
        if self.costs.pairs && waits && self.under_way(core) < self.costs.loads {
            self.get(core, line ^ 1, false, false);
        }
        ready
    }

    /// Asks for the next lines, where the core has loaded two in a row.
    fn stream(&mut self, core: usize, line: usize) {
        let now = self.cores[core].now;
        let streams = &mut self.cores[core].streams;
        let Some(stream) = streams.iter_mut().find(|stream| stream.used > 0 && stream.last + 1 == line)
        else {
            if streams.iter().any(|stream| stream.used > 0 && stream.last == line) {
                return;
            }
            let oldest = streams.iter_mut().min_by_key(|stream| stream.used).expect("there are some");
            *oldest = Stream { last: line, run: 0, used: now.max(1) };
            return;
        };
        *stream = Stream { last: line, run: stream.run + 1, used: now.max(1) };
        if stream.run < 1 {
            return;
        }
        for next in line + 1..=line + self.costs.loads {
            let is_of_the_page = next / LINES_OF_A_PAGE == line / LINES_OF_A_PAGE;
            if is_of_the_page && self.line(next).last.holders & (1 << core) == 0 {
                self.prefetch(core, next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSFER: Time = 90_000;

    fn machine(cores: usize) -> Machine {
        let mut machine = Machine::new(Costs::of(TRANSFER), cores, 1);
        meet(&mut machine);
        machine
    }

    /// From here on all clocks say the same, and nothing is on its way.
    fn meet(machine: &mut Machine) -> Time {
        let latest = machine.cores.iter().map(|core| core.now.max(core.drained)).max().unwrap() + TRANSFER;
        machine.cores.iter_mut().for_each(|core| core.now = latest);
        latest
    }

    /// How many transfers a time is, in hundredths; a transfer takes a tenth more or less.
    fn transfers(time: Time) -> Time {
        100 * time / TRANSFER
    }

    #[test]
    fn store_that_somebody_waits_for_is_two_transfers_of_which_a_leg_is_hidden() {
        let mut machine = machine(2);
        machine.store(0, 5);
        machine.load(1, 5);
        let begun = meet(&mut machine);
        machine.store(0, 5);
        assert!(machine.now(0) - begun < 1_000, "a store does not wait");
        machine.load(1, 5);
        let took = transfers(machine.now(1) - begun);
        assert!((145..190).contains(&took), "{took}");
        let begun = meet(&mut machine);
        machine.load(1, 5);
        assert!(machine.now(1) - begun < 1_000, "it is there");
    }

    #[test]
    fn line_that_all_change_serves_one_after_another() {
        let mut machine = machine(8);
        machine.change(0, 5);
        let begun = meet(&mut machine);
        (1..8).for_each(|core| assert!(machine.change(core, 5), "the line has to come"));
        let took = transfers(machine.now(7) - begun) / 7;
        assert!((60..90).contains(&took), "two legs each, and the instruction: {took}");
    }

    #[test]
    fn line_stays_until_it_leaves() {
        let mut machine = machine(2);
        machine.change(0, 5);
        meet(&mut machine);
        assert!(machine.change(1, 5));
        assert!(!machine.change(0, 5), "it has not left yet");
        meet(&mut machine);
        assert!(machine.change(0, 5), "now it has");
    }

    #[test]
    fn fence_waits_for_stores() {
        let mut machine = machine(2);
        machine.store(1, 5);
        let begun = meet(&mut machine);
        machine.store(0, 5);
        machine.fence(0);
        assert!(transfers(machine.now(0) - begun) > 85);
    }

    #[test]
    fn lines_in_a_row_come_early() {
        let time = |step: usize| {
            let mut machine = machine(2);
            (0..64).for_each(|line| machine.store(0, line * step));
            let begun = meet(&mut machine);
            (0..64).for_each(|line| _ = machine.load(1, line * step));
            transfers(machine.now(1) - begun)
        };
        assert!(time(1) < 1_000, "{}", time(1));
        assert!(time(3) > 5_500, "{}", time(3));
    }

    #[test]
    fn line_that_is_taken_before_its_turn_has_to_come_again() {
        let time = |is_taken: bool| {
            let mut machine = machine(2);
            (0..4).for_each(|line| _ = machine.load(1, 10 * line));
            let begun = meet(&mut machine);
            (0..4).for_each(|line| machine.store(0, 10 * line));
            if is_taken {
                machine.load(1, 30);
            }
            machine.fence(0);
            transfers(machine.now(0) - begun)
        };
        assert!(time(false) < 130, "all at once: {}", time(false));
        assert!(time(true) > 180, "one after the other: {}", time(true));
    }

    #[test]
    fn the_same_seed_makes_the_same_run() {
        let run = |seed| {
            let mut machine = Machine::new(Costs::of(TRANSFER), 3, seed);
            (0..100).for_each(|turn| _ = machine.change(turn % 3, turn % 5));
            machine.now(0)
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
