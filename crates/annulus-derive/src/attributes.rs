//! What the attributes of a type say.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, GenericParam, Ident, LitStr, Meta, Path, Result, Token,
};

pub(crate) struct Attributes {
    /// `#[message(packed)]`: fields lie in the ring without what is between them.
    pub(crate) packed: bool,
    /// The integer of `#[repr(u8)]` or its like. None where `repr` says anything else beside it, such as an
    /// alignment, which could add padding.
    pub(crate) integer: Option<Ident>,
    /// It, or a part of it, is or may be of something deprecated.
    deprecated: bool,
    /// Where the library is: `::annulus`, or what `#[message(crate = "…")]` says.
    library: TokenStream,
}

impl Attributes {
    pub(crate) fn of(input: &DeriveInput) -> Result<Self> {
        let parts = of_parts(input);
        refuse_message(&parts)?;
        let mut found = Self {
            packed: false,
            integer: integer(&input.attrs),
            deprecated: input.attrs.iter().chain(parts).any(is_deprecated),
            library: quote!(::annulus),
        };
        for attribute in input.attrs.iter().filter(|it| it.path().is_ident("message")) {
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

    /// The attributes of what is generated. They allow no more than the type's own attributes do: a crate
    /// that forbids a lint accepts no attribute that allows it.
    pub(crate) fn of_generated(&self) -> Option<TokenStream> {
        self.deprecated.then(|| quote!(#[allow(deprecated)]))
    }
}

/// The integer that `repr` names, if it names nothing else.
fn integer(attributes: &[Attribute]) -> Option<Ident> {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let mut hints = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("repr")) {
        // What is not written like a list of hints is an error of the compiler's.
        hints.extend(attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?);
    }
    match hints.as_slice() {
        [Meta::Path(hint)] => hint.get_ident().filter(|it| INTEGERS.iter().any(|name| it == name)).cloned(),
        _ => None,
    }
}

/// The attributes of variants, fields, and generic parameters.
fn of_parts(input: &DeriveInput) -> Vec<&Attribute> {
    fn of_fields<'a>(fields: impl IntoIterator<Item = &'a Field>) -> impl Iterator<Item = &'a Attribute> {
        fields.into_iter().flat_map(|field| &field.attrs)
    }
    let mut found: Vec<&Attribute> = match &input.data {
        Data::Struct(data) => of_fields(&data.fields).collect(),
        Data::Enum(data) => {
            data.variants.iter().flat_map(|it| it.attrs.iter().chain(of_fields(&it.fields))).collect()
        }
        Data::Union(data) => of_fields(&data.fields.named).collect(),
    };
    found.extend(input.generics.params.iter().flat_map(|parameter| match parameter {
        GenericParam::Type(it) => &it.attrs,
        GenericParam::Const(it) => &it.attrs,
        GenericParam::Lifetime(it) => &it.attrs,
    }));
    found
}

fn refuse_message(parts: &[&Attribute]) -> Result<()> {
    match parts.iter().find(|it| it.path().is_ident("message")) {
        None => Ok(()),
        Some(attribute) => {
            let message = "`#[message(…)]` is for the whole struct or enum: a field and a variant have none";
            Err(Error::new_spanned(attribute, message))
        }
    }
}

/// Whether it is `#[deprecated]`, or allows something deprecated.
fn is_deprecated(attribute: &Attribute) -> bool {
    ["allow", "expect", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
        && attribute.meta.to_token_stream().to_string().contains("deprecated")
}
