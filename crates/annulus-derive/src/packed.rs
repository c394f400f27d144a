//! Types that are taken apart: their fields lie in the ring beside each other, without padding; of an enum, a
//! number for the variant, and its fields.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{DataEnum, DataStruct, DeriveInput, Error, Fields, Result, Type, parse_quote_spanned};

use crate::attributes::{self, Attributes, OfField};
use crate::shape::{Shape, nested};
use crate::{described, own};

pub(crate) fn of_struct(
    input: &DeriveInput,
    attributes: &Attributes,
    data: &DataStruct,
) -> Result<TokenStream> {
    let (private, wire) = (attributes.private(), own::local("wire"));
    let row = Shape::row(data.fields.iter().map(|field| &field.ty));
    let names = own::parts(data.fields.len());
    let whole = pattern(&quote!(Self), &data.fields, &names);
    let fields = row.encode_row(&private, &names);
    let values = row.decode_row(&private, &quote!(#wire), &names);
    let (_, arguments, _) = input.generics.split_for_impl();
    let (marker, inside) = (marker(), [Literal::usize_unsuffixed(0)]);
    let described =
        described::row(&private, &packed_fields(&data.fields)?, &row, &quote!(#marker #arguments), &inside);
    Ok(implementation(
        input,
        attributes,
        &Wire {
            messages: row.messages(),
            ty: row.wire(&private),
            encode: quote!(match *self { #whole => #fields }),
            decode: quote!({ #values #whole }),
            any_bits: row.any_bits(&private),
            is_value: row.is_value(&private, &own::local("bytes")),
            kind: quote!(#private::Kind::Struct { 0: #private::Cow::Borrowed { 0: &[#(#described),*] } }),
        },
    ))
}

pub(crate) fn of_enum(input: &DeriveInput, attributes: &Attributes, data: &DataEnum) -> Result<TokenStream> {
    let (private, ty) = (attributes.private(), own::derived(&input.ident));
    let (wire, number, payload) = (own::local("wire"), own::local("number"), own::local("payload"));
    let count = data.variants.len();
    let integer = match count {
        0..=0x100 => "u8",
        0x101..=0x1_0000 => "u16",
        _ => return Err(Error::new_spanned(&input.ident, "more than 65,536 variants")),
    };
    let (scalar, integer) = (described::scalar(&private, integer), Ident::new(integer, Span::mixed_site()));
    let rows: Vec<_> = data
        .variants
        .iter()
        .map(|variant| Shape::row(variant.fields.iter().map(|field| &field.ty)))
        .collect();
    let names_of_variants: Vec<_> =
        data.variants.iter().map(attributes::name_of_variant).collect::<Result<_>>()?;
    attributes::refuse_twins(data.variants.iter().zip(names_of_variants.iter().map(String::as_str)))?;
    let (mut encoded, mut decoded, mut described) = (Vec::new(), Vec::new(), Vec::new());
    let (mut checked, bytes) = (Vec::new(), own::local("bytes"));
    for (at, (variant, row)) in data.variants.iter().zip(&rows).enumerate() {
        let (name, names) = (own::derived(&variant.ident), own::parts(variant.fields.len()));
        // Not `Self`, which has an associated type `Wire` beside a variant of that name.
        let whole = pattern(&quote!(#ty::#name), &variant.fields, &names);
        let (fields, row_wire) = (row.encode_row(&private, &names), row.wire(&private));
        let literal = Literal::usize_unsuffixed(at);
        let fields_described =
            described::row(&private, &packed_fields(&variant.fields)?, row, &row_wire, &[]);
        described.push(described::variant(
            &private,
            &names_of_variants[at],
            &quote!(#literal),
            &fields_described,
        ));
        encoded.push(quote! {
            #whole => #private::Both(#literal, #private::Either::of::<#row_wire>(#fields)),
        });
        let values = row.decode_row(&private, &quote!(#payload.get::<#row_wire>()), &names);
        // Numbers are only those that `encode` wrote, or that were checked.
        let is_value = row.is_value(&private, &bytes);
        checked.push(quote!(#literal => #is_value,));
        let literal = if at + 1 == count { quote!(_) } else { quote!(#literal) };
        decoded.push(quote!(#literal => { #values #whole }));
    }
    // As long as the longest variant. One without fields needs no place in it.
    let mut payloads: Vec<_> =
        rows.iter().filter(|row| !row.is_empty()).map(|row| row.wire(&private)).collect();
    payloads.resize(payloads.len().max(2), quote!(()));
    let payloads = nested(payloads, &|first, second| quote!(#private::Either<#first, #second>));
    Ok(implementation(
        input,
        attributes,
        &Wire {
            messages: rows.iter().flat_map(Shape::messages).collect(),
            ty: quote!(#private::Both<::core::primitive::#integer, #payloads>),
            encode: quote!(match *self { #(#encoded)* }),
            decode: quote!({
                let #private::Both(#number, #payload) = #wire;
                match #number { #(#decoded)* }
            }),
            any_bits: quote!(false),
            is_value: quote!({
                let #number = (#bytes as *const ::core::primitive::#integer).read_unaligned();
                let #bytes = #bytes.add(::core::mem::size_of::<::core::primitive::#integer>());
                match #number { #(#checked)* _ => false }
            }),
            kind: quote! {
                #private::Kind::Enum { 0: #scalar, 1: #private::Cow::Borrowed { 0: &[#(#described),*] } }
            },
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
    /// Whether any bytes are a value, a constant.
    any_bits: TokenStream,
    /// Whether the bytes at `bytes` are a value: an expression, inside `unsafe`.
    is_value: TokenStream,
    /// What it is, a `Kind`.
    kind: TokenStream,
}

/// What a schema says of fields, which are all messages.
fn packed_fields(fields: &Fields) -> Result<Vec<OfField>> {
    let found = attributes::of_fields(fields)?;
    match fields.iter().zip(&found).find(|(_, of)| of.bytes) {
        Some((field, _)) => Err(Error::new_spanned(
            field,
            "`bytes` is for a field that lies in the ring as it is: put it into a struct of its own, without `packed`",
        )),
        None => Ok(found),
    }
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
    let (name, (params, arguments, bounds)) = (own::derived(&input.ident), generics.split_for_impl());
    let marker = marker();
    let (value, space, wire_name) = (own::local("value"), own::local("space"), own::local("wire"));
    let Wire { ty, encode, decode, any_bits, is_value, kind, .. } = wire;
    let bytes = own::local("bytes");
    let schema = described::schema(attributes, kind);
    let outer = attributes.of_generated();
    quote! {
        #outer
        const _: () = {
            // A type of its own, so that fields may be of private types.
            #[repr(transparent)]
            pub struct #marker #params (#ty) #bounds;
            #[automatically_derived]
            impl #params ::core::marker::Copy for #marker #arguments #bounds {}
            #[automatically_derived]
            impl #params ::core::clone::Clone for #marker #arguments #bounds {
                #[inline(always)]
                fn clone(&self) -> Self { *self }
            }
            // SAFETY: it is what it holds, which makes the same promise: `encode` below asks the compiler.
            #[automatically_derived]
            unsafe impl #params #private::Filled for #marker #arguments #bounds {}

            #[automatically_derived]
            impl #params #private::Message for #name #arguments #bounds {
                const SCHEMA: &'static #private::Schema = #schema;
            }

            // SAFETY: `is_value` asks each part, and `decode` takes the parts that `encode` has put together.
            #[automatically_derived]
            unsafe impl #params #private::Encoded for #name #arguments #bounds {
                type Wire = #marker #arguments;

                const ANY_BITS: ::core::primitive::bool = #any_bits;

                #[inline]
                unsafe fn is_value(#bytes: *const ::core::primitive::u8) -> ::core::primitive::bool {
                    // SAFETY: the caller's promise, and parts are beside each other.
                    unsafe { #is_value }
                }

                #[inline]
                fn encode<'__annulus>(
                    &'__annulus self,
                    #space: &'__annulus mut ::core::mem::MaybeUninit<#marker #arguments>,
                ) -> &'__annulus #marker #arguments {
                    const fn __annulus_promises<__AnnulusStruct, __AnnulusField: #private::Filled>(
                        _: fn(__AnnulusStruct) -> __AnnulusField,
                    ) {
                    }
                    const { __annulus_promises(|#value: #marker #arguments| #value.0) };
                    #space.write(#marker(#encode))
                }

                #[inline]
                unsafe fn decode(#wire_name: *const #marker #arguments) -> Self {
                    // SAFETY: `encode` made `wire`, so each part of it is what the `encode` of its field
                    // made, and the number of a variant says which of them is there. Or `is_value` has said
                    // so of each part.
                    unsafe {
                        let #wire_name = #wire_name.read().0;
                        #decode
                    }
                }
            }
        };
    }
}

/// The name of the type of what lies in the ring.
fn marker() -> Ident {
    format_ident!("__AnnulusWire")
}

/// `Name { first: part0, second: part1 }`, or as the fields are: a pattern, and an expression.
fn pattern(name: &TokenStream, fields: &Fields, names: &[Ident]) -> TokenStream {
    match fields {
        Fields::Named(fields) => {
            let members = fields.named.iter().flat_map(|field| &field.ident).map(own::derived);
            quote!(#name { #(#members: #names),* })
        }
        Fields::Unnamed(_) => quote!(#name(#(#names),*)),
        Fields::Unit => name.clone(),
    }
}
