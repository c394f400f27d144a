//! What a field becomes in the ring, by the way its type is written: an `Option`, a tuple and an array of
//! these are taken apart; all others are messages themselves.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Expr, GenericArgument, PathArguments, Type};

pub(crate) enum Shape<'a> {
    Message(&'a Type),
    Option(Box<Shape<'a>>),
    Array(Box<Shape<'a>>, &'a Expr),
    Row(Vec<Shape<'a>>),
}

impl<'a> Shape<'a> {
    pub(crate) fn of(ty: &'a Type) -> Self {
        match ty {
            Type::Paren(inner) => Self::of(&inner.elem),
            Type::Group(inner) => Self::of(&inner.elem),
            Type::Tuple(tuple) => Self::row(&tuple.elems),
            Type::Array(array) => match Self::of(&array.elem) {
                // As `[u8; 4096]`: these are messages themselves.
                Self::Message(element) if is_primitive(element) => Self::Message(ty),
                element => Self::Array(Box::new(element), &array.len),
            },
            // Decision 0063: as it is written.
            _ => match inside_option(ty) {
                Some(inner) => Self::Option(Box::new(Self::of(inner))),
                None => Self::Message(ty),
            },
        }
    }

    /// Several beside each other.
    pub(crate) fn row(types: impl IntoIterator<Item = &'a Type>) -> Self {
        Self::Row(types.into_iter().map(Self::of).collect())
    }

    /// The types in it that must be messages.
    pub(crate) fn messages(&self) -> Vec<&'a Type> {
        match self {
            Self::Message(ty) => vec![ty],
            Self::Option(inner) | Self::Array(inner, _) => inner.messages(),
            Self::Row(parts) => parts.iter().flat_map(Self::messages).collect(),
        }
    }

    /// The type of what lies in the ring.
    pub(crate) fn wire(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Message(ty) => quote!(<#ty as #private::Message>::Wire),
            Self::Option(inner) => {
                let inner = inner.wire(private);
                quote!(#private::Both<u8, #private::Either<#inner, ()>>)
            }
            Self::Array(element, len) => {
                let element = element.wire(private);
                quote!(#private::Several<#element, { #len }>)
            }
            Self::Row(shapes) => shapes.iter().rev().fold(quote!(()), |rest, shape| {
                let first = shape.wire(private);
                quote!(#private::Both<#first, #rest>)
            }),
        }
    }

    /// What makes that of `value`, an expression.
    pub(crate) fn encode(&self, private: &TokenStream, value: &TokenStream) -> TokenStream {
        match self {
            Self::Message(ty) => quote!(#private::encode::<#ty>(#value)),
            Self::Option(inner) => {
                let inner = inner.encode(private, &quote!(value));
                quote! {
                    match #value {
                        ::core::option::Option::Some(value) => #private::Both(1, #private::Either::first(#inner)),
                        ::core::option::Option::None => #private::Both(0, #private::Either::second(())),
                    }
                }
            }
            Self::Array(element, _) => {
                let element = element.encode(private, &quote!(value));
                quote!(#private::Several(#value.map(|value| #element)))
            }
            Self::Row(shapes) => {
                let names = names(shapes.len());
                let row = self.encode_row(private, &names);
                quote!({ let (#(#names,)*) = #value; #row })
            }
        }
    }

    /// As [`encode`](Self::encode), of a row whose parts have these names.
    pub(crate) fn encode_row(&self, private: &TokenStream, names: &[syn::Ident]) -> TokenStream {
        self.parts().iter().zip(names).rev().fold(quote!(()), |rest, (shape, name)| {
            let first = shape.encode(private, &quote!(#name));
            quote!(#private::Both(#first, #rest))
        })
    }

    /// What makes a value of `wire`, an expression; inside `unsafe`.
    pub(crate) fn decode(&self, private: &TokenStream, wire: &TokenStream) -> TokenStream {
        match self {
            Self::Message(ty) => quote!(#private::decode::<#ty>(#wire)),
            Self::Option(inner) => {
                let inner = inner.decode(private, &quote!(value.as_first()));
                quote! {{
                    let #private::Both(is_some, value) = #wire;
                    if is_some == 0 { ::core::option::Option::None } else { ::core::option::Option::Some(#inner) }
                }}
            }
            Self::Array(element, _) => {
                let element = element.decode(private, &quote!(wire));
                quote!((#wire).0.map(|wire| #element))
            }
            Self::Row(shapes) => {
                let names = names(shapes.len());
                let values = self.decode_row(private, wire, &names);
                quote!({ #values (#(#names,)*) })
            }
        }
    }

    /// Statements that give the parts of a row these names.
    pub(crate) fn decode_row(
        &self,
        private: &TokenStream,
        wire: &TokenStream,
        names: &[syn::Ident],
    ) -> TokenStream {
        let pattern = names.iter().rev().fold(quote!(()), |rest, name| quote!(#private::Both(#name, #rest)));
        let values = self.parts().iter().zip(names).map(|(shape, name)| {
            let value = shape.decode(private, &quote!(#name));
            quote!(let #name = #value;)
        });
        quote!(let #pattern = #wire; #(#values)*)
    }

    fn parts(&self) -> &[Self] {
        match self {
            Self::Row(parts) => parts,
            one => core::slice::from_ref(one),
        }
    }
}

/// Names for so many parts, which no other name is like.
pub(crate) fn names(count: usize) -> Vec<syn::Ident> {
    (0..count).map(|number| format_ident!("part{number}", span = proc_macro2::Span::mixed_site())).collect()
}

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

fn inside_option(ty: &Type) -> Option<&Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == "Option")?;
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => match &arguments.args[0] {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

fn is_primitive(ty: &Type) -> bool {
    const PRIMITIVES: [&str; 14] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
    ];
    last_segment(ty).is_some_and(|segment| PRIMITIVES.iter().any(|name| segment.ident == name))
}
