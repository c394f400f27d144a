//! No message waits for ever: each is received within a stated number of receives, whatever the other
//! producers do, by every verb. Each verb has plays of its own, and the worst one is made worse.

use annulus::{mpmc::Mpmc, mpsc, mpsc::Mpsc};

use super::dice::Dice;
use super::fair::{Many, Plot, TURN, Verb, copying, in_place, play};

/// Producers of the largest plays, where each verb has one.
const MANY: usize = if cfg!(miri) {
    6
} else if cfg!(debug_assertions) {
    30
} else {
    1_000
};

/// What Miri has the time for: short rings, and a part of the plots. (Without optimization it runs on
/// emulated machines and with sanitizers, too, so there are fewer.)
const CAPACITIES: std::ops::RangeInclusive<usize> = 1..=if cfg!(miri) { 3 } else { 1_024 };
const PLOTS: usize = if cfg!(miri) {
    1
} else if cfg!(debug_assertions) {
    3
} else {
    usize::MAX
};

/// How often the worst plot is changed a little.
const CHANGES: u64 = if cfg!(miri) {
    0
} else if cfg!(debug_assertions) {
    1
} else {
    8
};

/// Producers, capacity, how many are busy, how many pass by.
const SMALL: [(usize, usize, usize, usize); 10] = [
    (4, 1, 4, 0),
    (4, 128, 4, 0),
    (4, 700, 4, 0),
    (30, 16, 20, 3),
    (30, 256, 10, 7),
    (4, 8, 0, 2),
    (4, 1000, 2, 0),
    (30, 128, 30, 0),
    (4, 64, 3, 1),
    (4, 3, 2, 2),
];

/// The same with many producers. A play of these is so long that a verb has one of them.
const LARGE: [(usize, usize, usize, usize); 4] =
    [(MANY, 64, MANY * 7 / 10, 3), (MANY, 128, MANY, 0), (MANY, 16, 30, 1), (MANY, 128, MANY * 9 / 10, 7)];

/// How long a play of `plot` is: about as long as the bound, and at least a few turns.
fn messages(plot: &Plot) -> u64 {
    if cfg!(miri) { 20 } else { (plot.bound() * 3 / 4).max(20 * TURN) }
}

fn play_by(seed: u64, verb: &Verb<impl Many>, plot: Plot) -> u64 {
    let mut dice = Dice(seed);
    play(verb, plot, &mut |sides| dice.throw(sides), messages(&plot))
}

/// Plays plots against `verb`, and the one in which a message waited longest with small changes. Then one
/// with many producers. Returns the longest wait, in thousandths of its bound.
fn worst<K: Many>(index: usize, verb: &Verb<K>, consumers: &[usize]) -> u64 {
    let make = |number: usize, (producers, capacity, busy, passing): (usize, usize, usize, usize)| Plot {
        producers,
        capacity: capacity.clamp(*CAPACITIES.start(), *CAPACITIES.end()),
        consumers: consumers[(number + index) % consumers.len()],
        busy,
        passing,
        staying: number % 2 == 0,
        round: if cfg!(miri) { 8 } else { 3 * TURN },
        burst: 3,
    };
    let small = SMALL.iter().rev().take(PLOTS).enumerate().map(|(number, &sizes)| {
        let (plot, seed) = (make(number, sizes), number as u64 + 1);
        (play_by(seed, verb, plot), plot, seed)
    });
    let (mut worst, mut plot, mut seed) = small.max_by_key(|play| play.0).expect("there are plots");
    for change in 0..CHANGES {
        let (mut changed, mut changed_seed) = (plot, seed);
        match change % 4 {
            0 => changed.round = 1 + plot.round / 3,
            1 => changed.busy = (plot.busy + 1) % (plot.producers + 1),
            2 => changed.burst = 2 * plot.burst,
            _ => changed_seed += 100,
        }
        let play = play_by(changed_seed, verb, changed);
        if play > worst {
            (worst, plot, seed) = (play, changed, changed_seed);
        }
    }
    let large = play_by(1, verb, make(0, LARGE[index % LARGE.len()]));
    println!(
        "{}: {worst} thousandths of the bound, with {MANY} producers {large}. {plot:?}, seed {seed}",
        verb.name
    );
    worst
}

/// All plots against all verbs. A verb with which nothing waits for long is not tested at all.
fn play_all<K: Many>(verbs: &[Verb<K>], consumers: &[usize]) {
    for (index, verb) in verbs.iter().enumerate() {
        let worst = worst(index, verb, consumers);
        assert!(cfg!(miri) || worst > 250, "{}: no message waited for long", verb.name);
    }
}

#[test]
fn no_message_waits_for_ever_for_one_consumer() {
    play_all(&copying::<Mpsc>(), &[1]);
}

#[test]
fn no_message_waits_for_ever_for_one_that_reads_in_place() {
    play_all(&in_place::<Mpsc>(), &[1]);
}

#[test]
fn no_message_waits_for_ever_for_many_consumers() {
    play_all(&copying::<Mpmc>(), &[1, 3]);
}

/// In place a turn ends with the slice in which its budget is reached, or where the consumer says so: not
/// before, and not later.
#[test]
fn turn_in_place_ends_with_its_budget() {
    let (mut first, mut consumer) = mpsc::channel(1024);
    let mut second = first.clone();
    first.send_batch(&[1; 1024]).unwrap();
    second.send_batch(&[2; 1024]).unwrap();
    let now = consumer.readable()[0];
    let other = 3 - now;
    for taken in 0..127 {
        assert_eq!(consumer.readable()[0], now, "after {taken} messages");
        consumer.advance(1);
    }
    assert_eq!(consumer.readable()[0], now, "one is left of the turn");
    consumer.advance(1);
    assert_eq!(consumer.readable()[0], other);
    // A slice beyond the budget is read to its end.
    consumer.advance(1000);
    assert_eq!(consumer.readable()[0], now);
    consumer.advance(1);
    assert_eq!(consumer.readable()[0], now);
    consumer.advance(0);
    assert_eq!(consumer.readable()[0], other, "the turn was given up");
}
