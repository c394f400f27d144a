//! Instructions of messages of one's own: published and received one after the other, on one thread.
//! Decision 0062 says what a wire form is. (A program of their own: with them in one program, the compiler
//! inlines less of the hot paths.)

mod common;

use std::hint::black_box;

use annulus::broadcast::{Publisher, Subscriber};
use annulus::{Message, Text};
use common::{CAPACITY, MESSAGES, at_most, message, take};
use gungraun::prelude::*;

/// 24 bytes without padding: they lie in the ring as they are.
#[derive(Clone, Copy, Message)]
struct Plain {
    price: f64,
    number: u64,
    side: u8,
    _padding: [u8; 7],
}

/// The same without the padding: 17 bytes.
#[derive(Clone, Copy, Message)]
#[message(packed)]
struct Packed {
    price: f64,
    number: u64,
    side: u8,
}

#[derive(Clone, Copy, Message)]
#[message(packed)]
struct WithOption {
    price: Option<f64>,
    number: u64,
    side: u8,
}

/// The same fields, of which two are a tuple.
#[derive(Clone, Copy, Message)]
#[message(packed)]
struct WithTuple {
    price: f64,
    place: (u64, u8),
}

/// Three variants, of up to 20 bytes.
#[derive(Clone, Copy, Message)]
enum WithData {
    Limit { price: f64, number: u64, quantity: u32 },
    Market { number: u64, quantity: u32 },
    Cancel(u64),
}

#[derive(Clone, Copy, Message)]
enum Fieldless {
    Buy,
    Sell,
    Hold,
}

/// It lies in the ring as it is.
#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum FieldlessByte {
    Buy,
    Sell,
    Hold,
}

/// A number and a text, 24 bytes together: they lie in the ring as they are.
#[derive(Clone, Copy, Message)]
struct WithText {
    number: u64,
    text: Text<14>,
}

fn ring_of<T: Message>() -> (Publisher<T>, Subscriber<T>) {
    let (publisher, subscribable) = annulus::broadcast::lossy(CAPACITY);
    let subscriber = subscribable.subscribe();
    (publisher, subscriber)
}

/// Publishes and receives one after the other.
#[inline(always)]
fn there_and_back<T: Message>(
    mut ring: (Publisher<T>, Subscriber<T>),
    make: impl Fn(u64) -> T,
) -> (Publisher<T>, Subscriber<T>) {
    (0..MESSAGES).for_each(|number| {
        ring.0.publish(make(message(number)));
        assert!(take(ring.1.try_recv()).is_ok());
    });
    ring
}

#[library_benchmark(setup = ring_of::<Plain>, config = at_most(65_400))]
fn plain(ring: (Publisher<Plain>, Subscriber<Plain>)) -> (Publisher<Plain>, Subscriber<Plain>) {
    there_and_back(ring, |number| Plain { price: 1.5, number, side: number as u8, _padding: [0; 7] })
}

#[library_benchmark(setup = ring_of::<Packed>, config = at_most(58_900))]
fn packed(ring: (Publisher<Packed>, Subscriber<Packed>)) -> (Publisher<Packed>, Subscriber<Packed>) {
    there_and_back(ring, |number| Packed { price: 1.5, number, side: number as u8 })
}

#[library_benchmark(setup = ring_of::<WithOption>, config = at_most(84_200))]
fn with_option(
    ring: (Publisher<WithOption>, Subscriber<WithOption>),
) -> (Publisher<WithOption>, Subscriber<WithOption>) {
    there_and_back(ring, |number| WithOption {
        price: (number % 2 == 0).then_some(1.5),
        number,
        side: number as u8,
    })
}

#[library_benchmark(setup = ring_of::<WithTuple>, config = at_most(63_000))]
fn with_tuple(
    ring: (Publisher<WithTuple>, Subscriber<WithTuple>),
) -> (Publisher<WithTuple>, Subscriber<WithTuple>) {
    there_and_back(ring, |number| WithTuple { price: 1.5, place: (number, number as u8) })
}

#[library_benchmark(setup = ring_of::<WithData>, config = at_most(107_900))]
fn with_data(
    ring: (Publisher<WithData>, Subscriber<WithData>),
) -> (Publisher<WithData>, Subscriber<WithData>) {
    there_and_back(ring, |number| match number % 3 {
        0 => WithData::Limit { price: 1.5, number, quantity: 7 },
        1 => WithData::Market { number, quantity: 7 },
        _ => WithData::Cancel(number),
    })
}

#[library_benchmark(setup = ring_of::<Fieldless>, config = at_most(70_500))]
fn fieldless(
    ring: (Publisher<Fieldless>, Subscriber<Fieldless>),
) -> (Publisher<Fieldless>, Subscriber<Fieldless>) {
    there_and_back(ring, |number| match number % 3 {
        0 => Fieldless::Buy,
        1 => Fieldless::Sell,
        _ => Fieldless::Hold,
    })
}

#[library_benchmark(setup = ring_of::<FieldlessByte>, config = at_most(66_000))]
fn fieldless_byte(
    ring: (Publisher<FieldlessByte>, Subscriber<FieldlessByte>),
) -> (Publisher<FieldlessByte>, Subscriber<FieldlessByte>) {
    there_and_back(ring, |number| match number % 3 {
        0 => FieldlessByte::Buy,
        1 => FieldlessByte::Sell,
        _ => FieldlessByte::Hold,
    })
}

#[library_benchmark(setup = ring_of::<WithText>, config = at_most(60_200))]
fn with_text(
    ring: (Publisher<WithText>, Subscriber<WithText>),
) -> (Publisher<WithText>, Subscriber<WithText>) {
    let text = black_box(Text::try_from("a few letters").expect("it fits"));
    there_and_back(ring, |number| WithText { number, text })
}

library_benchmark_group!(
    name = wire_forms,
    benchmarks = [plain, packed, with_option, with_tuple, with_data, fieldless, fieldless_byte, with_text]
);
main!(library_benchmark_groups = wire_forms);
