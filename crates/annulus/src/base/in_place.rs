//! `written!`: a struct that is written where it stays, field by field.
//!
//! A large struct that is a function's value is made on the stack, and copied. The copy reads in pieces of 16
//! or 64 bytes what was just stored in pieces of 8, and the processor waits for each of them.

/// Writes each field at `$place`, which is a pointer to a `Self`. All fields have to be named.
macro_rules! written {
    ($place:expr, Self { $($(#[$attribute:meta])* $field:ident: $value:expr),* $(,)? }) => {{
        let place: *mut Self = $place;
        // The compiler refuses this where a field is missing.
        let _ = |whole: &Self| { let Self { $($(#[$attribute])* $field: _),* } = whole; };
        $($(#[$attribute])* (&raw mut (*place).$field).write($value);)*
    }};
}
pub(crate) use written;
