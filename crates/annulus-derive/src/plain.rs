//! Types that lie in the ring as they are: bytemuck's `NoUninit`, with the checks that its own derive makes,
//! and a word on where the padding is.
//!
//! `NoUninit` promises that all bytes of a value have one. That holds where each field keeps the promise, and
//! no byte belongs to no field. The compiler's layout is asked for that, whatever it is, so `#[repr(C)]` is
//! not needed: messages never leave the program.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataStruct, DeriveInput, Error, Index, Member, Result, Type};

use crate::attributes::Attributes;

pub(crate) fn of_struct(
    input: &DeriveInput,
    attributes: &Attributes,
    data: &DataStruct,
) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let message = "whether a generic struct has padding shows only where it is used; add `#[message(packed)]`, which leaves it out";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let (private, name) = (attributes.private(), &input.ident);
    let members: Vec<Member> = data
        .fields
        .iter()
        .enumerate()
        .map(|(at, field)| field.ident.clone().map_or(Member::Unnamed(Index::from(at)), Member::Named))
        .collect();
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let count = members.len();
    let (name_text, numbers) = (name.to_string(), 0..count);
    // Decision 0064: padding is refused.
    let checks = data.fields.iter().zip(&members).zip(numbers).map(|((field, member), number)| {
        let member_text = member.to_token_stream().to_string();
        let place = field.ident.as_ref().map_or(field.ty.span(), Spanned::span);
        let private = attributes.private_at(place);
        quote_spanned! {Span::mixed_site().located_at(place)=>
            const _: () = #private::no_padding_after(&FIELDS, SIZE, #number, #name_text, #member_text);
        }
    });
    let of_fields = types.iter().map(|ty| {
        let ty = element(ty);
        let private = attributes.private_at(ty.span());
        quote_spanned!(Span::mixed_site().located_at(ty.span())=> #private::is_plain::<#ty>();)
    });
    Ok(quote! {
        #[automatically_derived]
        const _: () = {
            // SAFETY: the checks below, without which this does not compile: each field has no uninitialised
            // byte, and all bytes are those of fields.
            unsafe impl #private::NoUninit for #name {}

            const FIELDS: [(usize, usize); #count] =
                [#((::core::mem::offset_of!(#name, #members), ::core::mem::size_of::<#types>())),*];
            const SIZE: usize = ::core::mem::size_of::<#name>();
            #(#checks)*
            const _: () = #private::no_other_padding(&FIELDS, SIZE, #name_text);
            #[allow(dead_code)]
            fn fields_are_plain() {
                #(#of_fields)*
            }
        };
    })
}

/// An enum without fields, with an integer that it is represented by, all bits of which have a value.
pub(crate) fn of_enum(input: &DeriveInput, attributes: &Attributes) -> TokenStream {
    let (private, name) = (attributes.private(), &input.ident);
    quote! {
        // SAFETY: it is represented by an integer, and has nothing else.
        #[automatically_derived]
        unsafe impl #private::NoUninit for #name {}
    }
}

/// What an array consists of, which has padding exactly where that has; other types are themselves.
fn element(ty: &Type) -> &Type {
    match ty {
        Type::Array(array) => element(&array.elem),
        Type::Paren(inner) => element(&inner.elem),
        Type::Group(inner) => element(&inner.elem),
        _ => ty,
    }
}
