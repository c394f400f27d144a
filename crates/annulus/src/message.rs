//! What may be sent as a copied message.

use bytemuck::NoUninit;

/// A message that is copied into a ring and out of it: [`Copy`], `'static`, [`Send`], and without padding.
///
/// Every type that implements [`bytemuck::NoUninit`] and [`Send`] is a `Message`; there is nothing to implement
/// here, and no `unsafe` to get wrong. Integers, floats, `bool`, `char`, `NonZero*`, arrays of them and fieldless
/// enums with a fixed representation are messages. For a struct, derive it:
///
/// ```
/// use bytemuck::NoUninit;
///
/// #[derive(Clone, Copy, NoUninit)]
/// #[repr(C)]
/// struct Quote {
///     bid: f64,
///     ask: f64,
///     symbol: u32,
///     live: bool,
///     _reserved: [u8; 3], // what would have been padding, named
/// }
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossy::<Quote>(64);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(Quote { bid: 1.0, ask: 1.1, symbol: 7, live: true, _reserved: [0; 3] });
/// assert_eq!(subscriber.try_recv().unwrap().symbol, 7);
/// ```
///
/// # Padding
///
/// Padding bytes have no value, so they can't be copied through atomic words. A type that has some does not
/// compile:
///
/// ```compile_fail
/// use bytemuck::NoUninit;
///
/// #[derive(Clone, Copy, NoUninit)]
/// #[repr(C)]
/// struct Quote {
///     bid: f64,
///     symbol: u32, // four bytes of padding follow
/// }
/// ```
///
/// What to do: order the fields from the largest to the smallest alignment, and name what is left over at the end
/// as a field of its own (`_reserved: [u8; 4]`, set to zero). Tuples and references are not messages; for values
/// that own something, use a ring of owned messages or a queue.
///
/// # Size
///
/// Any. But a message travels by value: it lies on the stack of the thread that publishes it and of the one that receives it, and in builds without
/// optimization several times over. Some KiB are no matter; half a MiB can overflow the 2 MiB that a thread has by default. What is so large goes into a ring
/// of [owned events](crate::event), where it stays in its slot, or, where it has one reader, into a buffer of a [pool](crate::pool), whose handle
/// goes through a [queue](crate::queue).
///
/// # Pointers
///
/// Messages are copied as plain words, so a pointer inside one loses its provenance on the way. `bytemuck` derives no such type;
/// whoever implements `NoUninit` by hand for a pointer must not read through what comes out.
///
/// # Why a torn value is never a `T`
///
/// A reader copies words into a `MaybeUninit<T>` and turns them into a `T` only after the slot's stamp has proved
/// that no writer touched them. That is why types with invalid bit patterns (`bool`, `char`) are allowed.
pub trait Message: NoUninit + Send {}

impl<T: NoUninit + Send> Message for T {}
