//! Messages of types of one's own: what `#[derive(Message)]` makes of them comes through every ring of copied
//! messages as it went in.

// Whoever derives needs no `unsafe` of his own, whatever the macro writes.
#![forbid(unsafe_code)]

use std::fmt::Debug;

use annulus::{LossyTryRecvError, Message, Text};

/// Without padding, without `#[repr(C)]`: it lies in the ring as it is.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
struct Plain {
    symbol: u32,
    bid: f64,
    live: bool,
    side: Side,
    flags: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(u8)]
enum Side {
    Buy = 7,
    Sell = 200,
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(C, align(8))]
struct Tuple(u64, Text<6>);

#[derive(Clone, Copy, Debug, PartialEq, Message)]
struct Unit;

/// No integer is said, so it goes by the numbers of its variants.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
enum Colour {
    Red,
    Green = 1000,
    Blue = -5,
}

type Code = [u8; 3];

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(packed)]
struct Everything {
    id: u8,
    price: Option<f64>,
    pair: (u8, u32),
    nested: Option<(bool, Option<char>)>,
    array: [Option<u16>; 3],
    plain: [u64; LONG],
    code: Code,
    colour: Colour,
    order: Order,
    text: Text<5>,
    inner: inner::Padded,
    never: (),
    parens: (Option<i8>,),
    non_zero: Option<std::num::NonZeroU32>,
}

/// With a type of a private module in it, and a private field.
mod inner {
    #[derive(Clone, Copy, Debug, PartialEq, annulus::Message)]
    #[message(packed)]
    pub(crate) struct Padded {
        pub(crate) first: u8,
        hidden: Hidden,
    }

    #[derive(Clone, Copy, Debug, PartialEq, annulus::Message)]
    #[message(packed)]
    struct Hidden(u64, u8);

    impl Padded {
        pub(crate) fn new(first: u8) -> Self {
            Self { first, hidden: Hidden(u64::from(first) << 60, !first) }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[allow(clippy::large_enum_variant, reason = "that is what is tested")]
enum Order {
    Limit { price: f64, quantity: u32 },
    Market(u32),
    Cancel,
    Note(Option<Text<12>>),
    Wide([u64; LONG]),
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(packed)]
struct Stamped<T: Copy, const N: usize> {
    at: u8,
    value: T,
    also: [Option<T>; N],
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
enum Either<A, B>
where
    A: Copy,
{
    Left(A),
    Right { b: B, also: Option<A> },
}

/// As in a crate that knows the library by another name.
mod renamed {
    use annulus as rings;

    #[derive(Clone, Copy, Debug, PartialEq, rings::Message)]
    #[message(crate = "rings", packed)]
    pub(crate) struct Named(pub(crate) u8, pub(crate) u16);

    #[derive(Clone, Copy, Debug, PartialEq, rings::Message)]
    #[message(crate = "self::rings")]
    pub(crate) struct AlsoNamed(pub(crate) u8);
}

fn everything(number: u8) -> Everything {
    let some = number % 2 == 0;
    Everything {
        id: number,
        price: some.then(|| f64::from(number) / 3.0),
        pair: (number, u32::from(number) << 20),
        nested: Some((some, (number % 3 == 0).then_some('ß'))),
        array: [None, Some(number.into()), some.then_some(u16::MAX)],
        plain: [u64::from(number) << 50; LONG],
        code: [number; 3],
        colour: [Colour::Red, Colour::Green, Colour::Blue][usize::from(number % 3)],
        order: order(number),
        text: Text::truncated(["", "a", "naïve", "abcde"][usize::from(number % 4)]),
        inner: inner::Padded::new(number),
        never: (),
        parens: (some.then_some(-3),),
        non_zero: std::num::NonZeroU32::new((number % 2).into()),
    }
}

fn order(number: u8) -> Order {
    match number % 6 {
        0 => Order::Limit { price: -0.0, quantity: number.into() },
        1 => Order::Market(u32::MAX),
        2 => Order::Cancel,
        3 => Order::Note(Some(Text::truncated("hello, world"))),
        4 => Order::Note(None),
        _ => Order::Wide([u64::from(number); LONG]),
    }
}

/// Words of a message that is copied by vectors, which Miri doesn't do.
const LONG: usize = if cfg!(miri) { 4 } else { 50 };

const MESSAGES: u8 = if cfg!(miri) { 6 } else { 200 };

/// Sends these messages through every ring of copied ones, one by one and in batches, and compares what every
/// kind of reader receives.
fn through_every_ring<T: Message + Sync + PartialEq + Debug>(make: impl Fn(u8) -> T) {
    let messages: Vec<T> = (0..MESSAGES).map(make).collect();
    let mut buffer = vec![messages[0]; 8];

    let (mut publisher, subscribable) = annulus::broadcast::lossy::<T>(8);
    let (mut one, mut group) = (subscribable.subscribe(), subscribable.subscribe_group::<2>());
    let mut newest = subscribable.subscribe();
    for message in &messages {
        publisher.publish(*message);
        assert_eq!(one.try_recv(), Ok(*message));
        assert_eq!(group.try_recv(), Ok(*message));
        assert_eq!(newest.latest(), Some(*message));
    }
    publisher.publish_batch(&messages[..5]);
    assert_eq!(one.try_recv_batch(&mut buffer), 5);
    assert_eq!(buffer[..5], messages[..5]);

    let (mut publisher, subscribable) = annulus::broadcast::lossless::<T>(8);
    let (mut one, mut tap) = (subscribable.subscribe(), subscribable.subscribe_lossy());
    let first = subscribable.subscribe_tracked();
    let mut stage = subscribable.subscribe().after(&[&first]);
    drop(first);
    for several in messages.chunks(8) {
        publisher.publish_batch(several).unwrap();
        assert_eq!(one.try_recv_batch(&mut buffer), several.len());
        assert_eq!(buffer[..several.len()], *several);
        for message in several {
            assert_eq!(tap.try_recv(), Ok(*message));
            assert_eq!(stage.try_process(|seen| *seen), Ok(*message));
        }
        stage.done();
    }

    let (publisher, subscribable) = annulus::broadcast::mp_lossy::<T>(8);
    let (mut one, other) = (subscribable.subscribe(), publisher.clone());
    for pair in messages.chunks_exact(2) {
        publisher.publish(pair[0]);
        other.publish_with(|| pair[1]);
        assert_eq!([one.try_recv(), one.try_recv()], [Ok(pair[0]), Ok(pair[1])]);
    }

    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<T>(8);
    let mut one = subscribable.subscribe();
    for several in messages.chunks(8) {
        publisher.publish_batch(several).unwrap();
        assert!(one.try_iter().eq(several.iter().copied()));
    }

    // And between threads, whatever is written beside the reader.
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<T>(2);
    let mut reader = subscribable.subscribe();
    std::thread::scope(|scope| {
        let sent = &messages;
        scope.spawn(move || sent.iter().for_each(|message| publisher.publish(*message)));
        loop {
            match reader.try_recv() {
                Ok(message) => {
                    let at = (reader.total_received() + reader.total_lagged()) as usize;
                    assert_eq!(message, messages[at - 1]);
                }
                Err(LossyTryRecvError::Closed) => break,
                Err(_) => std::thread::yield_now(),
            }
        }
        assert_eq!((reader.total_received() + reader.total_lagged()) as usize, messages.len());
    });
}

#[test]
fn plain_types_come_through_every_ring() {
    through_every_ring(|number| Plain {
        symbol: number.into(),
        bid: f64::from(number) * 0.1,
        live: number % 2 == 0,
        side: if number % 3 == 0 { Side::Buy } else { Side::Sell },
        flags: [number % 2 == 0, true],
    });
    through_every_ring(|number| Tuple(number.into(), Text::truncated("abcdefg")));
    through_every_ring(|_| Unit);
    through_every_ring(|number| if number % 3 == 0 { Side::Buy } else { Side::Sell });
}

#[test]
fn what_has_padding_comes_through_every_ring() {
    through_every_ring(everything);
    through_every_ring(inner::Padded::new);
}

#[test]
fn enums_come_through_every_ring() {
    through_every_ring(order);
    through_every_ring(|number| [Colour::Red, Colour::Green, Colour::Blue][usize::from(number % 3)]);
}

#[test]
fn generic_types_come_through_every_ring() {
    through_every_ring(|number| Stamped {
        at: number,
        value: order(number),
        also: [Some(order(!number)), None],
    });
    through_every_ring(|number| Stamped::<_, 0> { at: number, value: number, also: [] });
    through_every_ring(|number| match number % 2 {
        0 => Either::Left(inner::Padded::new(number)),
        _ => Either::Right { b: u64::from(number), also: Some(inner::Padded::new(1)) },
    });
}

#[test]
fn the_library_may_have_another_name() {
    through_every_ring(|number| renamed::Named(number, 1 << (number % 16)));
    through_every_ring(renamed::AlsoNamed);
}

#[test]
fn text_comes_through_every_ring() {
    through_every_ring(|number| Text::<9>::truncated(&"äöüäöü"[..usize::from(number % 7) * 2]));
}

/// A wire is as long as its fields, and no byte of it is missing: the ring's slots are no larger than they
/// must be.
#[test]
fn a_wire_has_no_padding() {
    assert_eq!(size_of::<<inner::Padded as Message>::Wire>(), 1 + 8 + 1);
    assert_eq!(size_of::<<Colour as Message>::Wire>(), 1);
    assert_eq!(size_of::<<Order as Message>::Wire>(), 1 + 8 * LONG);
    assert_eq!(size_of::<<Either<u8, u32> as Message>::Wire>(), 1 + 4 + 2);
    assert_eq!(size_of::<<Plain as Message>::Wire>(), size_of::<Plain>());
}
