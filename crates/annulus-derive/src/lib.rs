//! The derive macro of [annulus](https://docs.rs/annulus), which re-exports it with its feature `derive`. Use
//! it from there: its documentation is that of `annulus::Message`.
//!
//! ```text
//! attributes   what `#[message(…)]` and `#[repr(…)]` say
//! described    the schema
//! own          names in generated code: the type's, and the macro's
//! plain        types without padding: they lie in the ring as they are
//! packed       all others: they are taken apart, and their fields lie beside each other
//! shape        what a field becomes there, by the way its type is written
//! ```

mod attributes;
mod described;
mod own;
mod packed;
mod plain;
mod shape;

use attributes::Attributes;
use proc_macro2::TokenStream;
use syn::{Data, DeriveInput, Error, Result};

/// Makes a struct or an enum an `annulus::Message`. Its documentation is that of the trait.
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = own::without_self(input.into()).and_then(|input| expand(&input));
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let attributes = Attributes::of(input)?;
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let message = "a message cannot borrow: it lies in the ring for longer than any lifetime; let it own what it holds, or send an index";
        return Err(Error::new_spanned(lifetime, message));
    }
    match &input.data {
        Data::Struct(data) if attributes.packed => packed::of_struct(input, &attributes, data),
        Data::Struct(data) => plain::of_struct(input, &attributes, data),
        Data::Enum(data) if data.variants.is_empty() => {
            Err(Error::new_spanned(&input.ident, "an enum without variants has no value that could be sent"))
        }
        Data::Enum(data) => match &attributes.integer {
            Some(integer) if data.variants.iter().all(|it| it.fields.is_empty()) => {
                plain::of_enum(input, &attributes, data, integer)
            }
            _ => packed::of_enum(input, &attributes, data),
        },
        Data::Union(_) => Err(Error::new_spanned(
            &input.ident,
            "a union cannot be a message: nobody knows which of its fields is there; use an enum",
        )),
    }
}
