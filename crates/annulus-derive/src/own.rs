//! How the type that is derived for is spoken of in generated code, and what the macro calls its own.
//!
//! A macro's names of items meet those of its user: a type of a field is looked up among them. And a local of
//! the macro's, which no local of the user's can meet, becomes a pattern of a constant where the user has a
//! constant of that name. So whatever a macro calls its own begins with `__annulus`, in small letters or in
//! large ones, and nobody else has a name that does.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{DeriveInput, Result};

/// A local of the macro's.
pub(crate) fn local(name: &str) -> Ident {
    format_ident!("__annulus_{name}", span = Span::mixed_site())
}

/// Locals for so many parts.
pub(crate) fn parts(count: usize) -> Vec<Ident> {
    (0..count).map(|number| local(&format!("part{number}"))).collect()
}

/// A name of the user's where the macro uses it, which is no use that a lint such as `deprecated` warns of.
pub(crate) fn derived(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::mixed_site().located_at(name.span()));
    name
}

/// The type, with its own name wherever it says `Self`, which elsewhere may be another type or none.
pub(crate) fn without_self(input: TokenStream) -> Result<DeriveInput> {
    let parsed: DeriveInput = syn::parse2(input.clone())?;
    if !says_self(input.clone()) {
        return Ok(parsed);
    }
    let name = derived(&parsed.ident);
    let (_, arguments, _) = parsed.generics.split_for_impl();
    let arguments = arguments.as_turbofish();
    syn::parse2(replaced(input, &quote!(#name #arguments)))
}

fn says_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => says_self(group.stream()),
        _ => false,
    })
}

fn replaced(tokens: TokenStream, name: &TokenStream) -> TokenStream {
    let one = |token: TokenTree| match token {
        TokenTree::Ident(ident) if ident == "Self" => name.clone(),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), replaced(group.stream(), name));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(one).collect()
}
