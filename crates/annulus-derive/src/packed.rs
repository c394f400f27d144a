//! Types that are taken apart: their fields lie in the ring beside each other, without padding; of an enum, a
//! number for the variant, and its fields.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{DataEnum, DataStruct, DeriveInput, Error, Fields, Ident, Result, Type, parse_quote_spanned};

use crate::attributes::Attributes;
use crate::shape::{Shape, names};

pub(crate) fn of_struct(input: &DeriveInput, attributes: &Attributes, data: &DataStruct) -> TokenStream {
    let private = attributes.private();
    let row = Shape::row(data.fields.iter().map(|field| &field.ty));
    let names = names(data.fields.len());
    let whole = pattern(&quote!(Self), &data.fields, &names);
    let fields = row.encode_row(&private, &names);
    let values = row.decode_row(&private, &quote!(wire), &names);
    implementation(
        input,
        attributes,
        &Wire {
            messages: row.messages(),
            ty: row.wire(&private),
            encode: quote!({ let #whole = *self; #fields }),
            decode: quote!({ #values #whole }),
        },
    )
}

pub(crate) fn of_enum(input: &DeriveInput, attributes: &Attributes, data: &DataEnum) -> Result<TokenStream> {
    let private = attributes.private();
    let count = data.variants.len();
    let integer = match count {
        0..=0x100 => quote!(u8),
        0x101..=0x1_0000 => quote!(u16),
        _ => return Err(Error::new_spanned(&input.ident, "more than 65,536 variants")),
    };
    let rows: Vec<_> = data
        .variants
        .iter()
        .map(|variant| Shape::row(variant.fields.iter().map(|field| &field.ty)))
        .collect();
    // The first variant, or else the second, or else …
    let payload = rows.iter().rev().fold(quote!(()), |rest, row| {
        let first = row.wire(&private);
        quote!(#private::Either<#first, #rest>)
    });
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    for (number, (variant, row)) in data.variants.iter().zip(&rows).enumerate() {
        let (name, names) = (&variant.ident, names(variant.fields.len()));
        let whole = pattern(&quote!(Self::#name), &variant.fields, &names);
        let fields = row.encode_row(&private, &names);
        let literal = Literal::usize_unsuffixed(number);
        let first = quote!(#private::Either::first(#fields));
        let placed = (0..number).fold(first, |inner, _| quote!(#private::Either::second(#inner)));
        encoded.push(quote!(#whole => #private::Both(#literal, #private::Both(#placed, ())),));
        let found = (0..number).fold(quote!(payload), |inner, _| quote!(#inner.as_second()));
        let values = row.decode_row(&private, &quote!(#found.as_first()), &names);
        // Numbers are only those that `encode` wrote.
        let number = if number + 1 == count { quote!(_) } else { quote!(#literal) };
        decoded.push(quote!(#number => { #values #whole }));
    }
    Ok(implementation(
        input,
        attributes,
        &Wire {
            messages: rows.iter().flat_map(Shape::messages).collect(),
            ty: quote!(#private::Both<#integer, #private::Both<#payload, ()>>),
            encode: quote!(match *self { #(#encoded)* }),
            decode: quote!({
                let #private::Both(number, #private::Both(payload, ())) = wire;
                match number { #(#decoded)* }
            }),
        },
    ))
}

/// What lies in the ring, and the way there and back.
struct Wire<'a> {
    /// The types that must be messages.
    messages: Vec<&'a Type>,
    ty: TokenStream,
    /// An expression of `self`.
    encode: TokenStream,
    /// An expression of `wire`, inside `unsafe`.
    decode: TokenStream,
}

fn implementation(input: &DeriveInput, attributes: &Attributes, wire: &Wire<'_>) -> TokenStream {
    let private = &attributes.private();
    let mut generics = input.generics.clone();
    let bounds = generics.make_where_clause();
    for ty in &wire.messages {
        // As a condition, a field that is no message is one error, which points to it; what is generated
        // below takes it for granted.
        let private = attributes.private_at(ty.span());
        bounds
            .predicates
            .push(parse_quote_spanned!(Span::mixed_site().located_at(ty.span())=> #ty: #private::Message));
    }
    let (name, (params, arguments, bounds)) = (&input.ident, generics.split_for_impl());
    let marker = format_ident!("__AnnulusWire");
    let Wire { ty, encode, decode, .. } = wire;
    quote! {
        #[automatically_derived]
        #[allow(trivial_bounds, private_bounds, clippy::all, clippy::pedantic)]
        const _: () = {
            // A type of its own, so that fields may be of private types.
            #[repr(transparent)]
            pub struct #marker #params (#ty) #bounds;
            impl #params ::core::marker::Copy for #marker #arguments #bounds {}
            impl #params ::core::clone::Clone for #marker #arguments #bounds {
                #[inline(always)]
                fn clone(&self) -> Self { *self }
            }
            // SAFETY: it is what it holds, which is made of `Both`, `Either`, `Several`, integers, and the
            // wires of messages, all of which have no uninitialised byte.
            unsafe impl #params #private::NoUninit for #marker #arguments #bounds {}

            impl #params #private::Message for #name #arguments #bounds {
                type Wire = #marker #arguments;

                #[inline]
                fn encode<'space>(&'space self, space: &'space mut ::core::mem::MaybeUninit<Self::Wire>) -> &'space Self::Wire {
                    space.write(#marker(#encode))
                }

                #[inline]
                unsafe fn decode(wire: *const Self::Wire) -> Self {
                    // SAFETY: `encode` made `wire`, so each part of it is what the `encode` of its field
                    // made, and the number of a variant says which of them is there.
                    #[allow(unused_unsafe)]
                    unsafe {
                        let wire = wire.read().0;
                        #decode
                    }
                }
            }
        };
    }
}

/// `Name { first: part0, second: part1 }`, or as the fields are: a pattern, and an expression.
fn pattern(name: &TokenStream, fields: &Fields, names: &[Ident]) -> TokenStream {
    match fields {
        Fields::Named(fields) => {
            let members = fields.named.iter().map(|field| &field.ident);
            quote!(#name { #(#members: #names),* })
        }
        Fields::Unnamed(_) => quote!(#name(#(#names),*)),
        Fields::Unit => name.clone(),
    }
}
