//! Types that lie in the ring as they are: `Plain`, the checks for it, and a word on where the padding is.
//!
//! `Plain` promises that all bytes of a value have one. That holds where each field keeps the promise, and
//! no byte belongs to no field. The compiler's layout is asked for that, whatever it is, so `#[repr(C)]` is
//! not needed: messages never leave the program.
//!
//! What the promise stands on is written here, with nothing but the language and `::core`. The path in
//! `#[message(crate = "…")]` may name a module of anybody's, whose checks find nothing. From there come words
//! for errors, and traits. A trait of another's called `Plain` is another promise, which no ring asks for.
//! (And without `unsafe` nobody writes one for which this compiles.) The types of fields are those that the
//! compiler knows of them, not those that are written, so they are looked up once, where the user wrote them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    DataEnum, DataStruct, DeriveInput, Error, Generics, Index, Member, Result, Type, parse_quote_spanned,
};

use crate::attributes::{self, Attributes};
use crate::{described, own};

pub(crate) fn of_struct(
    input: &DeriveInput,
    attributes: &Attributes,
    data: &DataStruct,
) -> Result<TokenStream> {
    if attributes.is_transparent && data.fields.len() == 1 {
        return transparent(input, attributes, data);
    }
    if !input.generics.params.is_empty() {
        let message = "whether a generic struct has padding shows only where it is used; add `#[message(packed)]`, which leaves it out";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let (private, name, count) = (attributes.private(), own::derived(&input.ident), data.fields.len());
    let (name_text, value) = (name.to_string(), own::local("value"));
    let (mut layout, mut plain, mut checks, mut sizes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut members, mut member_texts) = (Vec::new(), Vec::new());
    let (of_fields, mut described) = (attributes::of_fields(&data.fields)?, Vec::new());
    for ((number, field), of) in data.fields.iter().enumerate().zip(&of_fields) {
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
        let (element, lengths) = element(&field.ty, field_type, of_type);
        let offset = quote!(__ANNULUS_FIELDS[#number].0);
        let of_this = quote!(__ANNULUS_PLAIN[#number]);
        let kind = if of.bytes {
            described::bytes(&private, &quote!(__ANNULUS_FIELDS[#number].1))
        } else {
            lengths.iter().rev().fold(quote!(#of_this.part()), |kind, length| {
                quote!(#private::KindRef::Static { 0: &#private::Kind::Array { 0: #kind, 1: __annulus_length(#length) } })
            })
        };
        described.push(described::field(&private, of, &offset, &kind));
        let private = attributes.private_at(of_name);
        let asked = if of.bytes { quote!(__annulus_has_no_gap) } else { quote!(__annulus_is_plain) };
        plain.push(quote_spanned!(Span::mixed_site().located_at(of_type)=> #asked(#element)));
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
    let schema = described::schema(
        attributes,
        &quote!(#private::Kind::Struct { 0: #private::Cow::Borrowed { 0: &[#(#described),*] } }),
    );
    let helpers = helpers(&private, of_fields.iter().any(|of| of.bytes));
    let checks = quote! {
        #helpers
        const __ANNULUS_SIZE: ::core::primitive::usize = ::core::mem::size_of::<#name>();
        const __ANNULUS_FIELDS: [(::core::primitive::usize, ::core::primitive::usize); #count] =
            [#(#layout),*];
        const __ANNULUS_NAMES: [&::core::primitive::str; #count] = [#(#member_texts),*];
        // One for all fields: where one is not plain, nothing is said of padding, which `packed` leaves
        // out too.
        const __ANNULUS_PLAIN: [&#private::Schema; #count] = [#(#plain),*];
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
    // SAFETY: the checks, without which this does not compile: each field has no uninitialised byte, and all
    // bytes are those of fields.
    Ok(implementation(attributes, &name, &input.generics, &schema, &checks))
}

/// `Plain` for a type, whose promise its caller argues, and what is asked for that.
fn implementation(
    attributes: &Attributes,
    name: &Ident,
    generics: &Generics,
    schema: &TokenStream,
    checks: &TokenStream,
) -> TokenStream {
    let (private, outer) = (attributes.private(), attributes.of_generated());
    let (params, arguments, bounds) = generics.split_for_impl();
    quote! {
        #outer
        const _: () = {
            #[automatically_derived]
            unsafe impl #params #private::Plain for #name #arguments #bounds {
                const SCHEMA: &'static #private::Schema = #schema;
            }

            #checks
        };
    }
}

/// A struct that is its only field in another name. It may be generic.
fn transparent(input: &DeriveInput, attributes: &Attributes, data: &DataStruct) -> Result<TokenStream> {
    let (private, name) = (attributes.private(), own::derived(&input.ident));
    let fields = attributes::of_fields(&data.fields)?;
    let (Some(of), Some(field)) = (fields.first(), data.fields.iter().next()) else {
        return Err(Error::new_spanned(&input.ident, "`transparent` is for a struct with a field"));
    };
    let (ty, place) = (&field.ty, Span::mixed_site().located_at(field.ty.span()));
    let mut generics = input.generics.clone();
    let promise = if of.bytes { quote!(NoUninit) } else { quote!(Plain) };
    let at_place = attributes.private_at(field.ty.span());
    generics.make_where_clause().predicates.push(parse_quote_spanned!(place=> #ty: #at_place::#promise));
    let kind = if of.bytes {
        described::bytes(&private, &quote!(::core::mem::size_of::<#ty>()))
    } else {
        quote!(<#ty as #private::Plain>::SCHEMA.part())
    };
    let described = described::field(&private, of, &quote!(0), &kind);
    let schema = described::schema(
        attributes,
        &quote!(#private::Kind::Struct { 0: #private::Cow::Borrowed { 0: &[#described] } }),
    );
    // SAFETY: the compiler lets it be `transparent` only if it is its field, and that makes the same promise:
    // the bound asks for it.
    Ok(implementation(attributes, &name, &generics, &schema, &TokenStream::new()))
}

/// What asks for the type of a field, as the compiler knows it: it is that of a function's result.
fn helpers(private: &TokenStream, has_bytes: bool) -> TokenStream {
    let (ty, length) = (quote!(__AnnulusField), quote!(__ANNULUS_LENGTH));
    // Asked of a type of another library, of which only the bytes are known.
    let of_another = has_bytes.then(|| {
        quote! {
            const fn __annulus_has_no_gap<#ty: #private::NoUninit>(
                _: fn() -> #ty,
            ) -> &'static #private::Schema {
                <() as #private::Plain>::SCHEMA
            }
        }
    });
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
        const fn __annulus_is_plain<#ty: #private::Plain>(_: fn() -> #ty) -> &'static #private::Schema {
            <#ty as #private::Plain>::SCHEMA
        }
        #of_another
        const fn __annulus_length<#ty, const #length: ::core::primitive::usize>(
            _: fn() -> [#ty; #length],
        ) -> ::core::primitive::usize {
            #length
        }
    }
}

/// What an array consists of, which has padding exactly where that has, and the arrays on the way there.
/// Other types are themselves.
fn element(ty: &Type, of_type: TokenStream, place: Span) -> (TokenStream, Vec<TokenStream>) {
    match ty {
        Type::Array(array) => {
            let of_element =
                quote_spanned! {Span::mixed_site().located_at(place)=> __annulus_of_element(#of_type)};
            let (inner, mut arrays) = element(&array.elem, of_element, place);
            arrays.insert(0, of_type);
            (inner, arrays)
        }
        Type::Paren(inner) => element(&inner.elem, of_type, place),
        Type::Group(inner) => element(&inner.elem, of_type, place),
        _ => (of_type, Vec::new()),
    }
}

/// An enum without fields that is represented by an integer, all bits of which have a value.
pub(crate) fn of_enum(
    input: &DeriveInput,
    attributes: &Attributes,
    data: &DataEnum,
    integer: &Ident,
) -> Result<TokenStream> {
    let (private, name) = (attributes.private(), own::derived(&input.ident));
    let (params, arguments, bounds) = input.generics.split_for_impl();
    let variants = data.variants.iter().map(|it| own::derived(&it.ident));
    let value = own::local("value");
    let scalar = described::scalar(&private, &integer.to_string());
    let integer = own::derived(integer);
    let names: Vec<_> = data.variants.iter().map(attributes::name_of_variant).collect::<Result<_>>()?;
    attributes::refuse_twins(data.variants.iter().zip(names.iter().map(String::as_str)))?;
    let described = names.iter().zip(variants.clone()).map(|(variant, ident)| {
        let turbofish = arguments.as_turbofish();
        let number = quote! {
            __annulus_integer #turbofish (#name #turbofish ::#ident {}) as ::core::primitive::i128
        };
        described::variant(&private, variant, &number, &[])
    });
    let schema = described::schema(
        attributes,
        &quote!(#private::Kind::Enum { 0: #scalar, 1: #private::Cow::Borrowed { 0: &[#(#described),*] } }),
    );
    let checks = quote! {
        const fn __annulus_integer #params (#value: #name #arguments) -> ::core::primitive::#integer #bounds {
            match #value {
                // SAFETY: these variants are numbers.
                #(#name::#variants {})|* => unsafe { ::core::mem::transmute(#value) },
            }
        }
    };
    // SAFETY: it is represented by an integer, and has nothing else: in the checks, the compiler refuses a
    // variant with a field, and any other size than the integer's.
    Ok(implementation(attributes, &name, &input.generics, &schema, &checks))
}
