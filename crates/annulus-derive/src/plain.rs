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

use crate::attributes::{self, Attributes, OfField};
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
    let (name, of_fields) = (own::derived(&input.ident), attributes::of_fields(&data.fields)?);
    let fields = Fields::of(attributes, &name, data, &of_fields);
    let Fields { layout, plain, checks, sizes, members, texts, any_bits, are_values, described } = fields;
    let (private, count, value) = (attributes.private(), data.fields.len(), own::local("value"));
    let name_text = name.to_string();
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
        const __ANNULUS_NAMES: [&::core::primitive::str; #count] = [#(#texts),*];
        // One for all fields: where one is not plain, nothing is said of padding, which `packed` leaves
        // out too.
        const __ANNULUS_PLAIN: [__AnnulusPlain; #count] = [#(#plain),*];
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
    let plain = Implemented {
        schema,
        any_bits: quote!(true #(&& #any_bits)*),
        is_value: quote!(true #(&& #are_values)*),
    };
    // SAFETY: the checks, without which this does not compile: each field has no uninitialised byte, and all
    // bytes are those of fields.
    Ok(implementation(attributes, &name, &input.generics, &plain, &checks))
}

/// What is written for each field of a struct.
#[derive(Default)]
struct Fields {
    /// Its offset, and its size.
    layout: Vec<TokenStream>,
    plain: Vec<TokenStream>,
    /// That there is no padding behind it.
    checks: Vec<TokenStream>,
    sizes: Vec<Ident>,
    members: Vec<Member>,
    texts: Vec<String>,
    any_bits: Vec<TokenStream>,
    are_values: Vec<TokenStream>,
    described: Vec<TokenStream>,
}

impl Fields {
    fn of(attributes: &Attributes, name: &Ident, data: &DataStruct, of_fields: &[OfField]) -> Self {
        let (private, name_text) = (attributes.private(), name.to_string());
        let (value, bytes) = (own::local("value"), own::local("bytes"));
        let mut fields = Self::default();
        for ((number, field), of) in data.fields.iter().enumerate().zip(of_fields) {
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
            fields.layout.push(quote! {
                (::core::mem::offset_of!(#name, #member), __annulus_size_of(#field_type))
            });
            fields.any_bits.push(quote!(__ANNULUS_PLAIN[#number].1));
            fields.are_values.push(
                quote!(__annulus_are_values(#bytes, __ANNULUS_PLAIN[#number], __ANNULUS_FIELDS[#number])),
            );
            let (element, lengths) = element(&field.ty, field_type, of_type);
            let offset = quote!(__ANNULUS_FIELDS[#number].0);
            let of_this = quote!(__ANNULUS_PLAIN[#number].0);
            let kind = if of.bytes {
                described::bytes(&private, &quote!(__ANNULUS_FIELDS[#number].1))
            } else {
                lengths.iter().rev().fold(quote!(#of_this.part()), |kind, length| {
                    quote!(#private::KindRef::Static { 0: &#private::Kind::Array { 0: #kind, 1: __annulus_length(#length) } })
                })
            };
            fields.described.push(described::field(&private, of, &offset, &kind));
            let private = attributes.private_at(of_name);
            let asked = if of.bytes { quote!(__annulus_has_no_gap) } else { quote!(__annulus_is_plain) };
            fields.plain.push(quote_spanned!(Span::mixed_site().located_at(of_type)=> #asked(#element)));
            // Decision 0064: padding is refused.
            fields.checks.push(quote_spanned! {Span::mixed_site().located_at(of_name)=>
                const #size: ::core::primitive::usize = {
                    __ANNULUS_PLAIN;
                    #private::no_padding_after(
                        &__ANNULUS_FIELDS, __ANNULUS_SIZE, #number, #name_text, &__ANNULUS_NAMES,
                    );
                    __ANNULUS_FIELDS[#number].1
                };
            });
            fields.sizes.push(size);
            fields.texts.push(member.to_token_stream().to_string());
            fields.members.push(member);
        }
        fields
    }
}

/// What `Plain` has.
struct Implemented {
    schema: TokenStream,
    /// A constant.
    any_bits: TokenStream,
    /// An expression of `bytes`, inside `unsafe`.
    is_value: TokenStream,
}

/// `Plain` for a type, whose promise its caller argues, and what is asked for that.
fn implementation(
    attributes: &Attributes,
    name: &Ident,
    generics: &Generics,
    plain: &Implemented,
    checks: &TokenStream,
) -> TokenStream {
    let (private, outer) = (attributes.private(), attributes.of_generated());
    let (Implemented { schema, any_bits, is_value }, bytes) = (plain, own::local("bytes"));
    let (params, arguments, bounds) = generics.split_for_impl();
    quote! {
        #outer
        const _: () = {
            #[automatically_derived]
            unsafe impl #params #private::Plain for #name #arguments #bounds {
                const SCHEMA: &'static #private::Schema = #schema;
                const ANY_BITS: ::core::primitive::bool = #any_bits;

                #[inline]
                unsafe fn is_value(#bytes: *const ::core::primitive::u8) -> ::core::primitive::bool {
                    // SAFETY: the caller's promise: there are as many bytes. A field is at its offset.
                    unsafe { #is_value }
                }
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
    let at_place = attributes.private_at(field.ty.span());
    let promise = if of.bytes {
        quote!(#at_place::NoUninit + #at_place::CheckedBitPattern)
    } else {
        quote!(#at_place::Plain)
    };
    generics.make_where_clause().predicates.push(parse_quote_spanned!(place=> #ty: #promise));
    let bytes = own::local("bytes");
    let (kind, any_bits, is_value) = if of.bytes {
        let checked = quote!(<#ty as #private::CheckedBitPattern>);
        (
            described::bytes(&private, &quote!(::core::mem::size_of::<#ty>())),
            quote!(false),
            quote!(#checked::is_valid_bit_pattern(&(#bytes as *const #checked::Bits).read_unaligned())),
        )
    } else {
        let plain = quote!(<#ty as #private::Plain>);
        (quote!(#plain::SCHEMA.part()), quote!(#plain::ANY_BITS), quote!(#plain::is_value(#bytes)))
    };
    let described = described::field(&private, of, &quote!(0), &kind);
    let schema = described::schema(
        attributes,
        &quote!(#private::Kind::Struct { 0: #private::Cow::Borrowed { 0: &[#described] } }),
    );
    let plain = Implemented { schema, any_bits, is_value };
    // SAFETY: the compiler lets it be `transparent` only if it is its field, and that makes the same promise:
    // the bound asks for it.
    Ok(implementation(attributes, &name, &generics, &plain, &TokenStream::new()))
}

/// What asks for the type of a field, as the compiler knows it: it is that of a function's result.
fn helpers(private: &TokenStream, has_bytes: bool) -> TokenStream {
    let (ty, length) = (quote!(__AnnulusField), quote!(__ANNULUS_LENGTH));
    let (bytes, ours) = (own::local("bytes"), quote!(::core::primitive));
    let [any_bits, size, is_value, offset, length_of, at] =
        ["any_bits", "size", "is_value", "offset", "length", "at"].map(own::local);
    let asked = |asks: TokenStream, schema: TokenStream, any_bits: TokenStream, is_value: TokenStream| {
        quote! {
            const fn #asks(_: fn() -> #ty) -> __AnnulusPlain {
                (#schema, #any_bits, ::core::mem::size_of::<#ty>(), #is_value)
            }
        }
    };
    let plain = quote!(<#ty as #private::Plain>);
    let of_ours = asked(
        quote!(__annulus_is_plain<#ty: #private::Plain>),
        quote!(#plain::SCHEMA),
        quote!(#plain::ANY_BITS),
        quote!(#plain::is_value),
    );
    // Asked of a type of another library, of which only the bytes are known.
    let of_another = has_bytes.then(|| {
        let checked = quote!(<#ty as #private::CheckedBitPattern>);
        let asked = asked(
            quote!(__annulus_has_no_gap<#ty: #private::NoUninit + #private::CheckedBitPattern>),
            quote!(<() as #private::Plain>::SCHEMA),
            quote!(false),
            quote!(__annulus_is_valid::<#ty>),
        );
        quote! {
            unsafe fn __annulus_is_valid<#ty: #private::CheckedBitPattern>(#bytes: *const #ours::u8) -> #ours::bool {
                // SAFETY: the caller's promise; any bytes are its `Bits`.
                #checked::is_valid_bit_pattern(&unsafe { (#bytes as *const #checked::Bits).read_unaligned() })
            }
            #asked
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
        // A schema, whether any bytes are a value, how many these are, and whether some are. It and what
        // follows is made here, because a module of the user's choice could promise anything.
        type __AnnulusPlain = (
            &'static #private::Schema, #ours::bool, #ours::usize, unsafe fn(*const #ours::u8) -> #ours::bool
        );
        #of_ours
        #of_another
        // Whether a field at this place, of this length, consists of such values.
        #[inline(always)]
        unsafe fn __annulus_are_values(
            #bytes: *const #ours::u8,
            (_, #any_bits, #size, #is_value): __AnnulusPlain,
            (#offset, #length_of): (#ours::usize, #ours::usize),
        ) -> #ours::bool {
            let mut #at = 0;
            // SAFETY: the caller's promise.
            while !#any_bits && #at < #length_of && unsafe { #is_value(#bytes.add(#offset + #at)) } {
                #at += #size;
            }
            #any_bits || #at >= #length_of
        }
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
    let turbofish = arguments.as_turbofish();
    let numbers: Vec<_> = variants
        .clone()
        .map(|ident| quote!(__annulus_integer #turbofish (#name #turbofish ::#ident {})))
        .collect();
    let described = names.iter().zip(&numbers).map(|(variant, number)| {
        described::variant(&private, variant, &quote!(#number as ::core::primitive::i128), &[])
    });
    let (bytes, number) = (own::local("bytes"), own::local("number"));
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
    let plain = Implemented {
        schema,
        any_bits: quote!(false),
        is_value: quote!({
            let #number = (#bytes as *const ::core::primitive::#integer).read_unaligned();
            false #(|| #number == #numbers)*
        }),
    };
    // SAFETY: it is represented by an integer, and has nothing else: in the checks, the compiler refuses a
    // variant with a field, and any other size than the integer's.
    Ok(implementation(attributes, &name, &input.generics, &plain, &checks))
}
