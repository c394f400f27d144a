//! What a field becomes in the ring, by the way its type is written: an `Option`, a tuple and an array of
//! these are taken apart; all others are messages themselves.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, GenericArgument, Ident, PathArguments, Type};

use crate::own;

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
            Type::Array(array) => Self::Array(Box::new(Self::of(&array.elem)), &array.len),
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
            Self::Message(ty) => quote!(<#ty as #private::Encoded>::Wire),
            Self::Option(inner) => {
                let inner = inner.wire(private);
                quote!(#private::Both<::core::primitive::u8, #private::Either<#inner, ()>>)
            }
            Self::Array(element, len) => {
                let element = element.wire(private);
                quote!(#private::Several<#element, { #len }>)
            }
            Self::Row(shapes) => {
                let wires = shapes.iter().map(|it| it.wire(private)).collect();
                nested(wires, &|first, second| quote!(#private::Both<#first, #second>))
            }
        }
    }

    /// What makes that of `value`, an expression.
    pub(crate) fn encode(&self, private: &TokenStream, value: &TokenStream) -> TokenStream {
        let name = own::local("value");
        match self {
            Self::Message(ty) => quote!(#private::encode::<#ty>(#value)),
            Self::Option(inner) => {
                let (wire, inner) = (inner.wire(private), inner.encode(private, &quote!(#name)));
                quote! {
                    match #value {
                        ::core::option::Option::Some(#name) =>
                            #private::Both(1, #private::Either::of::<#wire>(#inner)),
                        ::core::option::Option::None => #private::Both(0, #private::Either::of::<()>(())),
                    }
                }
            }
            Self::Array(element, len) => match &**element {
                Self::Message(ty) => quote!(#private::encode_all::<#ty, { #len }>(#value)),
                element => {
                    let element = element.encode(private, &quote!(#name));
                    quote!(#private::Several(#value.map(|#name| #element)))
                }
            },
            Self::Row(shapes) if shapes.is_empty() => value.clone(),
            Self::Row(shapes) => {
                let names = own::parts(shapes.len());
                let row = self.encode_row(private, &names);
                quote!({ let (#(#names,)*) = #value; #row })
            }
        }
    }

    /// As [`encode`](Self::encode), of a row whose parts have these names.
    pub(crate) fn encode_row(&self, private: &TokenStream, names: &[Ident]) -> TokenStream {
        let parts = self.parts().iter().zip(names).map(|(it, name)| it.encode(private, &quote!(#name)));
        nested(parts.collect(), &|first, second| quote!(#private::Both(#first, #second)))
    }

    /// What makes a value of `wire`, an expression; inside `unsafe`.
    pub(crate) fn decode(&self, private: &TokenStream, wire: &TokenStream) -> TokenStream {
        let name = own::local("value");
        match self {
            Self::Message(ty) => quote!(#private::decode::<#ty>(#wire)),
            Self::Option(inner) => {
                let (is_some, wire_of_inner) = (own::local("is_some"), inner.wire(private));
                let inner = inner.decode(private, &quote!(#name.get::<#wire_of_inner>()));
                quote! {{
                    let #private::Both(#is_some, #name) = #wire;
                    if #is_some == 0 {
                        ::core::option::Option::None
                    } else {
                        ::core::option::Option::Some(#inner)
                    }
                }}
            }
            Self::Array(element, len) => match &**element {
                Self::Message(ty) => quote!(#private::decode_all::<#ty, { #len }>(#wire)),
                element => {
                    let element = element.decode(private, &quote!(#name));
                    quote!((#wire).0.map(|#name| #element))
                }
            },
            Self::Row(shapes) if shapes.is_empty() => wire.clone(),
            Self::Row(shapes) => {
                let names = own::parts(shapes.len());
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
        names: &[Ident],
    ) -> TokenStream {
        let parts = names.iter().map(ToTokens::to_token_stream).collect();
        let pattern = nested(parts, &|first, second| quote!(#private::Both(#first, #second)));
        let values = self.parts().iter().zip(names).map(|(shape, name)| {
            let value = shape.decode(private, &quote!(#name));
            quote!(let #name = #value;)
        });
        quote!(let #pattern = #wire; #(#values)*)
    }

    /// Whether any bytes are a value, a constant.
    pub(crate) fn any_bits(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Message(ty) => quote!(<#ty as #private::Encoded>::ANY_BITS),
            Self::Option(_) => quote!(false),
            Self::Array(element, _) => element.any_bits(private),
            Self::Row(shapes) => {
                let all = shapes.iter().map(|shape| shape.any_bits(private));
                quote!((true #(&& #all)*))
            }
        }
    }

    /// Whether the bytes that begin at `bytes`, a local, are a value; inside `unsafe`.
    pub(crate) fn is_value(&self, private: &TokenStream, bytes: &Ident) -> TokenStream {
        match self {
            Self::Message(ty) => quote!(<#ty as #private::Encoded>::is_value(#bytes)),
            Self::Option(inner) => {
                let inner = inner.is_value(private, bytes);
                quote! {
                    match *#bytes {
                        0 => true,
                        1 => { let #bytes = #bytes.add(1); #inner }
                        _ => false,
                    }
                }
            }
            Self::Array(element, len) => {
                let (number, wire) = (own::local("number"), element.wire(private));
                let element = element.is_value(private, bytes);
                quote!({
                    let mut #number = 0;
                    while #number < { #len } && {
                        let #bytes = #bytes.add(#number * ::core::mem::size_of::<#wire>());
                        #element
                    } {
                        #number += 1;
                    }
                    #number == { #len }
                })
            }
            Self::Row(shapes) => {
                let (mut parts, at) = (shapes.iter().peekable(), own::local("at"));
                let Some(first) = parts.next().map(|first| first.is_value(private, bytes)) else {
                    return quote!(true);
                };
                if parts.peek().is_none() {
                    return first;
                }
                // Each from where the one before it ends: what a thousand fields generate is as long as a
                // thousand, and not as their square.
                let next = shapes.iter().zip(parts).map(|(before, shape)| {
                    let (wire, part) = (before.wire(private), shape.is_value(private, bytes));
                    quote!({ #at = #at.add(::core::mem::size_of::<#wire>()); let #bytes = #at; #part })
                });
                quote!({ let mut #at = #bytes; true && #first #(&& #next)* })
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Row(parts) if parts.is_empty())
    }

    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Row(parts) => parts,
            one => core::slice::from_ref(one),
        }
    }
}

/// The numbers of the fields of `Both`, one inside the other, that lead to each of so many parts of a row.
pub(crate) fn paths(count: usize) -> Vec<Vec<Literal>> {
    let begin = |paths: Vec<Vec<Literal>>, number: usize| {
        let number = Literal::usize_unsuffixed(number);
        paths.into_iter().map(move |path| [vec![number.clone()], path].concat())
    };
    balanced(vec![vec![Vec::new()]; count], &|first, second| {
        begin(first, 0).chain(begin(second, 1)).collect()
    })
    .unwrap_or_default()
}

/// All of `parts`, two of which `pair` makes one of. The halves are nested as often as each other, so a
/// thousand of them are ten deep, which is far from the compiler's limit.
fn balanced<T>(mut parts: Vec<T>, pair: &dyn Fn(T, T) -> T) -> Option<T> {
    match parts.len() {
        0 | 1 => parts.pop(),
        several => {
            let second = parts.split_off(several / 2);
            Some(pair(balanced(parts, pair)?, balanced(second, pair)?))
        }
    }
}

/// As [`balanced`], of tokens: `()` where there are no parts.
pub(crate) fn nested(
    parts: Vec<TokenStream>,
    pair: &dyn Fn(TokenStream, TokenStream) -> TokenStream,
) -> TokenStream {
    balanced(parts, pair).unwrap_or_else(|| quote!(()))
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
