//! Messages of types of one's own: what `#[derive(Message)]` makes of them comes through every ring of copied
//! messages as it went in.

// A crate that derives needs no `unsafe`, whatever the macro writes.
#![forbid(unsafe_code)]

use std::fmt::Debug;

use annulus::__private::Encoded;
use annulus::{Message, Text, TryRecvError};

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

/// Taken apart, as the compiler would add padding to the integer.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(u8, align(8))]
enum Aligned {
    Off = 3,
    On = 4,
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(i16)]
enum Level<const MOST: usize> {
    Low = -1,
    High = 1000,
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

/// An array of what is taken apart itself.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(packed)]
struct Orders {
    count: u8,
    all: [Order; 2],
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

    let (mut publisher, subscribable) = annulus::broadcast::mp_lossy::<T>(8);
    let (mut one, mut other) = (subscribable.subscribe(), publisher.clone());
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
                Err(TryRecvError::Closed) => break,
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
fn padded_types_come_through_every_ring() {
    through_every_ring(everything);
    through_every_ring(|number| Orders { count: number, all: [order(number), order(!number)] });
    through_every_ring(inner::Padded::new);
}

#[test]
fn enums_come_through_every_ring() {
    through_every_ring(order);
    through_every_ring(|number| [Colour::Red, Colour::Green, Colour::Blue][usize::from(number % 3)]);
    through_every_ring(|number| if number % 3 == 0 { Aligned::Off } else { Aligned::On });
    through_every_ring(|number| if number % 3 == 0 { Level::<7>::Low } else { Level::High });
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
fn library_may_have_another_name() {
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
fn wire_has_no_padding() {
    assert_eq!(size_of::<<inner::Padded as Encoded>::Wire>(), 1 + 8 + 1);
    assert_eq!(size_of::<<Colour as Encoded>::Wire>(), 1);
    assert_eq!(size_of::<<Aligned as Encoded>::Wire>(), 1);
    assert_eq!(size_of::<<Level<7> as Encoded>::Wire>(), 2);
    assert_eq!(size_of::<<Many as Encoded>::Wire>(), 2);
    assert_eq!(size_of::<<ManyWithData as Encoded>::Wire>(), 2 + 1 + 8);
    assert_eq!(size_of::<<Order as Encoded>::Wire>(), 1 + 8 * LONG);
    assert_eq!(size_of::<<Orders as Encoded>::Wire>(), 1 + 2 * size_of::<<Order as Encoded>::Wire>());
    assert_eq!(size_of::<<Either<u8, u32> as Encoded>::Wire>(), 1 + 4 + 2);
    assert_eq!(size_of::<<Plain as Encoded>::Wire>(), size_of::<Plain>());
}

/// More variants than one byte counts, and more of them and of fields than the compiler would nest.
macro_rules! many {
    ($($name:ident)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Message)]
        enum Many {
            $($name,)*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Message)]
        enum ManyWithData {
            $($name(u8, u64),)*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Message)]
        #[message(packed)]
        #[allow(non_snake_case, reason = "named as the variants are")]
        struct ManyFields {
            $($name: u16,)*
        }

        const MANY: &[Many] = &[$(Many::$name),*];
        const MANY_WITH_DATA: &[fn(u8, u64) -> ManyWithData] = &[$(ManyWithData::$name),*];

        fn many_fields(first: u16) -> ManyFields {
            let mut values = first..;
            ManyFields { $($name: values.next().unwrap(),)* }
        }
    };
}

many! {
    V0 V1 V2 V3 V4 V5 V6 V7 V8 V9 V10 V11 V12 V13 V14 V15 V16 V17 V18 V19 V20 V21 V22 V23 V24 V25 V26 V27
    V28 V29 V30 V31 V32 V33 V34 V35 V36 V37 V38 V39 V40 V41 V42 V43 V44 V45 V46 V47 V48 V49 V50 V51 V52
    V53 V54 V55 V56 V57 V58 V59 V60 V61 V62 V63 V64 V65 V66 V67 V68 V69 V70 V71 V72 V73 V74 V75 V76 V77
    V78 V79 V80 V81 V82 V83 V84 V85 V86 V87 V88 V89 V90 V91 V92 V93 V94 V95 V96 V97 V98 V99 V100 V101 V102
    V103 V104 V105 V106 V107 V108 V109 V110 V111 V112 V113 V114 V115 V116 V117 V118 V119 V120 V121 V122
    V123 V124 V125 V126 V127 V128 V129 V130 V131 V132 V133 V134 V135 V136 V137 V138 V139 V140 V141 V142
    V143 V144 V145 V146 V147 V148 V149 V150 V151 V152 V153 V154 V155 V156 V157 V158 V159 V160 V161 V162
    V163 V164 V165 V166 V167 V168 V169 V170 V171 V172 V173 V174 V175 V176 V177 V178 V179 V180 V181 V182
    V183 V184 V185 V186 V187 V188 V189 V190 V191 V192 V193 V194 V195 V196 V197 V198 V199 V200 V201 V202
    V203 V204 V205 V206 V207 V208 V209 V210 V211 V212 V213 V214 V215 V216 V217 V218 V219 V220 V221 V222
    V223 V224 V225 V226 V227 V228 V229 V230 V231 V232 V233 V234 V235 V236 V237 V238 V239 V240 V241 V242
    V243 V244 V245 V246 V247 V248 V249 V250 V251 V252 V253 V254 V255 V256 V257 V258 V259 V260 V261 V262
    V263 V264 V265 V266 V267 V268 V269 V270 V271 V272 V273 V274 V275 V276 V277 V278 V279 V280 V281 V282
    V283 V284 V285 V286 V287 V288 V289 V290 V291 V292 V293 V294 V295 V296 V297 V298 V299
}

#[test]
fn many_variants_and_fields_come_through_a_ring() {
    fn through_a_ring<T: Message + PartialEq + Debug>(messages: impl Iterator<Item = T>) {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<T>(2);
        let mut subscriber = subscribable.subscribe();
        for message in messages {
            publisher.publish(message);
            assert_eq!(subscriber.try_recv(), Ok(message));
        }
    }
    let some = if cfg!(miri) { 99 } else { 1 };
    through_a_ring(MANY.iter().copied().step_by(some));
    through_a_ring(MANY_WITH_DATA.iter().zip(1..).map(|(make, number)| make(7, number << 50)).step_by(some));
    through_a_ring((0..1000).map(many_fields).step_by(some));
}
