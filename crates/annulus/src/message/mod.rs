//! Which types can be copied through a ring.

pub(crate) mod encoded;
#[cfg(feature = "derive")]
pub(crate) mod padding;
pub(crate) mod plain;
pub mod schema;
mod text;
#[cfg(any(feature = "derive", feature = "shm"))]
#[cfg_attr(not(feature = "derive"), allow(dead_code, unreachable_pub, reason = "`shm` has pairs only"))]
pub(crate) mod wire;

use encoded::{AsItIs, Encoded};
use schema::Schema;

pub use text::{Text, TooLong};

/// A message that is copied into a ring and out of it: [`Copy`], `'static` and [`Send`].
///
/// It is sealed: nobody implements it by hand. Derive it, with the feature `derive`:
/// `#[derive(Clone, Copy, annulus::Message)]`.
///
/// # What to write
///
/// | your type | what to write |
/// | --- | --- |
/// | integers, floats, `bool`, `char`, `NonZero*`; arrays of numbers | nothing: they are messages |
/// | a struct | the derive. If the struct has padding, the compiler names the field before it and the number of bytes: add a field for them, or `#[message(packed)]` |
/// | an enum, with data or without | the derive |
/// | an `Option`, a tuple, an array of anything else | make it a field of an enum with the derive, or of a struct with the derive and `#[message(packed)]` |
/// | text of limited length | [`Text<N>`](crate::Text), by itself or as a field |
/// | a type of another library, with [`NoUninit`] and [`CheckedBitPattern`] of bytemuck | a field with `#[message(bytes)]` |
/// | `String`, `Vec`, `Box`: types that own memory | owned [events](crate::event), if many readers see each value; a [queue](crate::queue), if one reader receives it |
/// | references | send the value itself, or an index, or an `Arc` through a queue |
/// | large blocks of bytes | if one reader receives each: a buffer of a [pool](crate::pool), whose handle goes through a [queue](crate::queue). If many read it: owned [events](crate::event) |
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use annulus::{Message, Text, broadcast};
///
/// #[derive(Clone, Copy, Message)]
/// struct Quote {
///     bid: f64,
///     ask: f64,
///     symbol: u32,
///     live: bool,
///     _padding: [u8; 3], // what would have been padding, named
/// }
///
/// #[derive(Clone, Copy, Message)]
/// #[message(packed)] // fields of any size, in any order
/// struct Reading {
///     sensor: Text<12>,
///     value: Option<f64>,
///     place: (u8, u32),
/// }
///
/// #[derive(Clone, Copy, Debug, PartialEq, Message)]
/// enum Order {
///     Limit { price: f64, quantity: u32 },
///     Market(u32),
///     Cancel,
/// }
///
/// let (mut publisher, subscribable) = broadcast::lossy::<Order>(64);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(Order::Limit { price: 1.5, quantity: 10 });
/// publisher.publish(Order::Cancel);
/// assert_eq!(subscriber.try_recv(), Ok(Order::Limit { price: 1.5, quantity: 10 }));
/// assert_eq!(subscriber.try_recv(), Ok(Order::Cancel));
///
/// let (mut publisher, subscribable) = broadcast::lossless::<Reading>(64);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(Reading { sensor: "roof".try_into().unwrap(), value: None, place: (1, 2) }).unwrap();
/// let reading = subscriber.try_recv().unwrap();
/// assert_eq!((&*reading.sensor, reading.value, reading.place), ("roof", None, (1, 2)));
/// # let _ = Quote { bid: 0.0, ask: 0.0, symbol: 0, live: true, _padding: [0; 3] };
/// # }
/// ```
///
/// # Padding
///
/// Padding bytes have no value, so they can't be copied through atomic words. A struct without padding lies
/// in the ring as it is, and is copied at once. A struct with padding does not compile: the error says which
/// field the padding follows, and how many bytes it has. `#[repr(C)]` is not needed, because messages never
/// leave the program: the macro asks the compiler for the layout that it chose. (Between processes it is
/// needed: two programs may get two layouts otherwise.)
///
/// # Packed messages
///
/// A struct with `#[message(packed)]` is packed, and so is every enum. (A fieldless enum with `#[repr(u8)]`
/// or a similar attribute is not: it lies in the ring as it is. With an additional `align` it would have
/// padding, so it is packed too.) A packed message is taken apart when it is sent, and put together again
/// when it is received. In the ring its fields lie side by side, without padding. An enum takes the number of
/// its variant (one byte, or two if there are more than 256 variants) and the space of its largest variant.
/// An `Option` takes one byte more than its value.
///
/// The macro recognizes `Option`s, tuples and arrays by how they are written, so an alias of one is not a
/// message. (An array of numbers is one by itself.) Only packed types, fieldless enums and structs with
/// `#[repr(transparent)]` may be generic.
///
/// *The cost*, for small messages: a packed struct takes about as many instructions as a copy of the same
/// fields with their padding. An enum of three variants with data takes a sixth more. A large array inside a
/// packed message is copied once more on each side. A packed message may take fewer words in the ring.
///
/// # What a message is made of
///
/// [`SCHEMA`](Self::SCHEMA) describes the bytes of a message in a ring: the names of its fields, where each
/// lies, and what it is. It is a constant, which costs a program nothing that does not use it. The derive
/// writes it, and these attributes say what the code does not:
///
/// | attribute | of | what it says |
/// | --- | --- | --- |
/// | `#[message(name = "quote")]` | a type, a field, a variant | what it is called, if not as in the code |
/// | `#[message(version = 2)]` | a type | which version of it this is |
/// | `#[message(unit = "ns")]` | a field | what its numbers count |
/// | `#[message(bytes)]` | a field of a struct that is not packed | only its bytes are known: its type is of another library |
/// | a documentation comment | a field | what it means |
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use annulus::Message;
///
/// #[derive(Clone, Copy, Message)]
/// #[message(name = "quote", version = 2)]
/// #[repr(C)]
/// struct Quote {
///     /// Of the best bid.
///     #[message(unit = "EUR")]
///     bid: f64,
///     ask: f64,
///     side: Side,
///     _padding: [u8; 7],
/// }
///
/// #[derive(Clone, Copy, Message)]
/// #[repr(u8)]
/// enum Side {
///     Buy,
///     Sell,
/// }
///
/// assert_eq!(
///     Quote::SCHEMA.to_string(),
///     r#"quote@2{bid:f64(EUR)"Of the best bid.",ask:f64,side:enum u8{Buy=0,Sell=1},_padding:[u8;7]}"#,
/// );
/// # let _ = (Side::Buy, Side::Sell, |quote: Quote| (quote.bid, quote.ask, quote.side, quote._padding));
/// # }
/// ```
///
/// # Another name for the library
///
/// If the library is not called `annulus`, or you use it through another crate, say where it is:
/// `#[message(crate = "path::to::annulus")]`.
///
/// # Names
///
/// Names that begin with `__annulus`, in small letters or in large ones, are the macro's. It uses no other
/// name that could meet one of yours: a constant, a variant, or a type such as `u8` may have any other name.
///
/// # Size
///
/// Any size is allowed. But a message travels by value: it lies on the stacks of the threads that publish and
/// receive it, several times over in builds without optimization. Some KiB do not matter. Half a MiB can
/// overflow the 2 MiB that a thread has by default. Put such a block into a ring of [owned
/// events](crate::event), where it stays in its slot, or, if it has one reader, into a buffer of a
/// [pool](crate::pool), whose handle goes through a [queue](crate::queue).
///
/// # Pointers
///
/// Messages are copied as plain words, so a pointer inside a message loses its provenance on the way. No
/// macro derives such a type.
///
/// # Why a torn value is never a `T`
///
/// A reader copies words into memory that is not a `T` yet. It makes a `T` of them only after the slot's
/// stamp has proved that no writer touched them meanwhile, so all of them belong to one message. That is why
/// types with invalid bit patterns (`bool`, `char`, enums) are allowed.
///
/// Another process may write other bytes, on purpose or by mistake. A subscriber of its ring asks after the
/// copy whether they are a value of each field. If not, it counts that, or a verb with `or_lag` says which
/// field it is, and what is there: [`Corrupt`](crate::LossyTryRecvError::Corrupt). Types of which any bytes
/// are a value are not asked about.
///
/// [`NoUninit`]: bytemuck::NoUninit
/// [`CheckedBitPattern`]: bytemuck::CheckedBitPattern
#[doc(alias = "Pod")]
#[doc(alias = "DerivePod")]
#[doc(alias = "DeriveMessage")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied through a ring: it is not an `annulus::Message`",
    label = "this type is not a `Message`",
    note = "a struct or an enum of your own: add `#[derive(Clone, Copy, annulus::Message)]` to it (feature `derive` of `annulus`)",
    note = "an `Option`, a tuple, or an array of these: make it a field of such a struct",
    note = "text: `annulus::Text<N>` holds up to `N` bytes; or, as `String`, `Vec`, `Box` and all that owns memory: a ring of owned events (`annulus::event`), or a queue (`annulus::queue`), which moves values",
    note = "large blocks of bytes: for one reader a buffer of an `annulus::pool`, whose handle goes through a queue; for many a ring of owned events (example `video_frames`)",
    note = "a `Handle` of an `annulus::pool`, which every subscriber would receive and only one could redeem: no derive helps; use one of the two ways for large blocks"
)]
pub trait Message: Encoded {
    /// What it is made of in a ring: names, kinds and places.
    const SCHEMA: &'static Schema;
}

#[cfg(feature = "schema")]
impl schema::Fingerprint {
    /// Of a type's schema.
    #[must_use]
    pub fn of<T: Message>() -> Self {
        T::SCHEMA.fingerprint()
    }
}

/// A type without padding lies in the ring as it is.
#[diagnostic::do_not_recommend]
impl<T: AsItIs + Send + 'static> Message for T {
    const SCHEMA: &'static Schema = T::SCHEMA;
}
