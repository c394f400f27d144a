//! What the attributes of a type say.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{DeriveInput, LitStr, Path, Result, parenthesized, token};

pub(crate) struct Attributes {
    /// `#[message(packed)]`: fields lie in the ring without what is between them.
    pub(crate) packed: bool,
    /// `#[repr(u8)]` or its like.
    pub(crate) integer: bool,
    /// Where the library is: `::annulus`, or what `#[message(crate = "…")]` says.
    library: TokenStream,
}

impl Attributes {
    pub(crate) fn of(input: &DeriveInput) -> Result<Self> {
        let mut found = Self { packed: false, integer: false, library: quote!(::annulus) };
        for attribute in &input.attrs {
            if attribute.path().is_ident("message") {
                attribute.parse_nested_meta(|meta| {
                    if meta.path.is_ident("packed") {
                        found.packed = true;
                        Ok(())
                    } else if meta.path.is_ident("crate") {
                        let path: LitStr = meta.value()?.parse()?;
                        found.library = path.parse::<Path>()?.into_token_stream();
                        Ok(())
                    } else {
                        Err(meta.error("expected `packed` or `crate = \"path\"`"))
                    }
                })?;
            } else if attribute.path().is_ident("repr") {
                attribute.parse_nested_meta(|meta| {
                    let integer = |width: &str| {
                        meta.path.is_ident(&format!("u{width}")) || meta.path.is_ident(&format!("i{width}"))
                    };
                    found.integer |= ["8", "16", "32", "64", "128", "size"].into_iter().any(integer);
                    if meta.input.peek(token::Paren) {
                        // The number in `align(8)`.
                        let number;
                        parenthesized!(number in meta.input);
                        number.parse::<TokenStream>()?;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(found)
    }

    /// Where the library keeps what generated code uses.
    pub(crate) fn private(&self) -> TokenStream {
        let library = &self.library;
        quote!(#library::__private)
    }

    /// The same, for an error that points to `place`. It is the macro's code all the same, which no lint of
    /// its user's crate looks at.
    pub(crate) fn private_at(&self, place: Span) -> TokenStream {
        let at_place = |mut token: TokenTree| {
            token.set_span(token.span().located_at(place));
            token
        };
        self.private().into_iter().map(at_place).collect()
    }
}
