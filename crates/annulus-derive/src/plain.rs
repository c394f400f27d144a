//! Types that lie in the ring as they are: bytemuck's `NoUninit`, with the checks that its own derive makes,
//! and a word on where the padding is.
//!
//! `NoUninit` promises that all bytes of a value have one. That holds where each field keeps the promise, and
//! no byte belongs to no field. The compiler's layout is asked for that, whatever it is, so `#[repr(C)]` is
//! not needed: messages never leave the program.
//!
//! What the promise stands on is written here, with nothing but the language and `::core`. The path in
//! `#[message(crate = "…")]` may name a module of anybody's, whose checks find nothing. From there come words
//! for errors, and traits. A trait of another's called `NoUninit` is another promise, which no ring asks for.
//! And `Plain` is believed only where it implies the very `NoUninit` that is promised. The types of fields
//! are those that the compiler knows of them, not those that are written, so they are looked up once, where
//! the user wrote them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataEnum, DataStruct, DeriveInput, Error, Index, Member, Result, Type};

use crate::attributes::Attributes;
use crate::own;

pub(crate) fn of_struct(
    input: &DeriveInput,
    attributes: &Attributes,
    data: &DataStruct,
) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let message = "whether a generic struct has padding shows only where it is used; add `#[message(packed)]`, which leaves it out";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let (private, name, count) = (attributes.private(), own::derived(&input.ident), data.fields.len());
    let (name_text, value) = (name.to_string(), own::local("value"));
    let (mut layout, mut plain, mut checks, mut sizes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut members, mut member_texts) = (Vec::new(), Vec::new());
    for (number, field) in data.fields.iter().enumerate() {
        let member = field
            .ident
            .as_ref()
            .map_or(Member::Unnamed(Index::from(number)), |it| Member::Named(own::derived(it)));
        let size = format_ident!("__ANNULUS_SIZE{number}");
        let (of_type, of_name) =
            (field.ty.span(), field.ident.as_ref().map_or(field.ty.span(), Spanned::span));
        let field_type = quote_spanned! {Span::mixed_site().located_at(of_type)=>
            __annulus_of_field(|#value: #name| #value.#member)
        };
        layout.push(quote! {
            (::core::mem::offset_of!(#name, #member), __annulus_size_of(#field_type))
        });
        let element = element(&field.ty, field_type, of_type);
        let private = attributes.private_at(of_name);
        plain.push(quote_spanned!(Span::mixed_site().located_at(of_type)=> __annulus_is_plain(#element);));
        // Decision 0064: padding is refused.
        checks.push(quote_spanned! {Span::mixed_site().located_at(of_name)=>
            const #size: ::core::primitive::usize = {
                __ANNULUS_PLAIN;
                #private::no_padding_after(
                    &__ANNULUS_FIELDS, __ANNULUS_SIZE, #number, #name_text, &__ANNULUS_NAMES,
                );
                __ANNULUS_FIELDS[#number].1
            };
        });
        sizes.push(size);
        member_texts.push(member.to_token_stream().to_string());
        members.push(member);
    }
    let padding = format!("`{name}` has padding");
    let helpers = helpers(&private);
    let outer = attributes.of_generated();
    Ok(quote! {
        #outer
        const _: () = {
            // SAFETY: the checks below, without which this does not compile: each field has no uninitialised
            // byte, and all bytes are those of fields.
            #[automatically_derived]
            unsafe impl #private::NoUninit for #name {}

            #helpers
            const __ANNULUS_SIZE: ::core::primitive::usize = ::core::mem::size_of::<#name>();
            const __ANNULUS_FIELDS: [(::core::primitive::usize, ::core::primitive::usize); #count] =
                [#(#layout),*];
            const __ANNULUS_NAMES: [&::core::primitive::str; #count] = [#(#member_texts),*];
            // One for all fields: where one is not plain, nothing is said of padding, which `packed` leaves
            // out too.
            const __ANNULUS_PLAIN: () = { #(#plain)* };
            #(#checks)*
            const __ANNULUS_FILLED: ::core::primitive::usize = 0 #(+ #sizes)*;
            const _: () = {
                #private::no_other_padding(__ANNULUS_FILLED, __ANNULUS_SIZE, #name_text);
                // No two fields share a byte, so all bytes are theirs. Where a check above has failed, the
                // compiler has no sizes, and says nothing of this.
                ::core::assert!(__ANNULUS_FILLED == __ANNULUS_SIZE, #padding);
                // The same without a path, as `::core` may be anybody's too (`extern crate self as core`):
                // the end of a value is as far from its beginning as its fields are long, or there is
                // nothing at that index.
                let #value = &[0u8; __ANNULUS_FILLED] as *const _ as *const #name;
                // SAFETY: nothing is read, and where there are fewer bytes than one of it takes, this does
                // not compile.
                [()][unsafe {
                    (#value.wrapping_add(1).byte_offset_from(#value)
                        #(- (&raw const (*#value).#members)
                            .wrapping_add(1)
                            .byte_offset_from(&raw const (*#value).#members))*)
                        .unsigned_abs()
                }]
            };
        };
    })
}

/// What asks for the type of a field, as the compiler knows it: it is that of a function's result.
fn helpers(private: &TokenStream) -> TokenStream {
    let (ty, length) = (quote!(__AnnulusField), quote!(__ANNULUS_LENGTH));
    quote! {
        const fn __annulus_of_field<__AnnulusStruct, #ty>(_: fn(__AnnulusStruct) -> #ty) -> fn() -> #ty {
            __annulus_never
        }
        const fn __annulus_of_element<#ty, const #length: ::core::primitive::usize>(
            _: fn() -> [#ty; #length],
        ) -> fn() -> #ty {
            __annulus_never
        }
        fn __annulus_never<#ty>() -> #ty { loop {} }
        const fn __annulus_size_of<#ty>(_: fn() -> #ty) -> ::core::primitive::usize {
            ::core::mem::size_of::<#ty>()
        }
        const fn __annulus_is_plain<#ty: #private::Plain>(_: fn() -> #ty) {
            const fn __annulus_promises<#ty: #private::NoUninit>() {}
            __annulus_promises::<#ty>();
        }
    }
}

/// What an array consists of, which has padding exactly where that has; other types are themselves.
fn element(ty: &Type, of_type: TokenStream, place: Span) -> TokenStream {
    match ty {
        Type::Array(array) => {
            let of_element =
                quote_spanned! {Span::mixed_site().located_at(place)=> __annulus_of_element(#of_type)};
            element(&array.elem, of_element, place)
        }
        Type::Paren(inner) => element(&inner.elem, of_type, place),
        Type::Group(inner) => element(&inner.elem, of_type, place),
        _ => of_type,
    }
}

/// An enum without fields that is represented by an integer, all bits of which have a value.
pub(crate) fn of_enum(
    input: &DeriveInput,
    attributes: &Attributes,
    data: &DataEnum,
    integer: &Ident,
) -> TokenStream {
    let (private, name) = (attributes.private(), own::derived(&input.ident));
    let (params, arguments, bounds) = input.generics.split_for_impl();
    let variants = data.variants.iter().map(|it| own::derived(&it.ident));
    let value = own::local("value");
    let integer = own::derived(integer);
    let outer = attributes.of_generated();
    quote! {
        #outer
        const _: () = {
            // SAFETY: it is represented by an integer, and has nothing else: below, the compiler refuses a
            // variant with a field, and any other size than the integer's.
            #[automatically_derived]
            unsafe impl #params #private::NoUninit for #name #arguments #bounds {}

            fn __annulus_integer #params (#value: #name #arguments) -> ::core::primitive::#integer #bounds {
                match #value {
                    // SAFETY: these variants are numbers.
                    #(#name::#variants {})|* => unsafe { ::core::mem::transmute(#value) },
                }
            }
        };
    }
}
