//! The schema of a type: what its fields are called, where they lie, and what they are.
//!
//! All of it is one constant. Its parts are written with brackets, `Kind::Optional { 0: … }`, because what
//! such an expression borrows lives as long as the constant, in each version of the compiler.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::attributes::{Attributes, OfField};
use crate::shape::{self, Shape};

/// The schema of the whole type; `kind` is an expression of a `Kind`.
pub(crate) fn schema(attributes: &Attributes, kind: &TokenStream) -> TokenStream {
    let (private, name, version) = (attributes.private(), &attributes.name, attributes.version);
    quote! {
        &#private::Schema {
            name: #private::Cow::Borrowed { 0: #name },
            version: #version,
            kind: #private::KindRef::Static { 0: &#kind },
            __made_by_annulus: (),
        }
    }
}

/// A `Field`; `kind` is an expression of a `KindRef`.
pub(crate) fn field(
    private: &TokenStream,
    of: &OfField,
    offset: &TokenStream,
    kind: &TokenStream,
) -> TokenStream {
    let OfField { name, unit, comment, .. } = of;
    quote! {
        #private::Field {
            name: #private::Cow::Borrowed { 0: #name },
            offset: #offset,
            kind: #kind,
            unit: #private::Cow::Borrowed { 0: #unit },
            comment: #private::Cow::Borrowed { 0: #comment },
            __made_by_annulus: (),
        }
    }
}

/// A `Variant`.
pub(crate) fn variant(
    private: &TokenStream,
    name: &str,
    number: &TokenStream,
    fields: &[TokenStream],
) -> TokenStream {
    quote! {
        #private::Variant {
            name: #private::Cow::Borrowed { 0: #name },
            number: #number,
            fields: #private::Cow::Borrowed { 0: &[#(#fields),*] },
            __made_by_annulus: (),
        }
    }
}

/// The fields of a row, beside each other: `inside` leads to the row in `whole`, a type.
pub(crate) fn row(
    private: &TokenStream,
    fields: &[OfField],
    row: &Shape<'_>,
    whole: &TokenStream,
    inside: &[Literal],
) -> Vec<TokenStream> {
    let placed = fields.iter().zip(row.parts()).zip(shape::paths(fields.len())).map(|((of, shape), path)| {
        let path: Vec<_> = inside.iter().chain(&path).collect();
        let offset =
            if path.is_empty() { quote!(0) } else { quote!(::core::mem::offset_of!(#whole, #(#path).*)) };
        field(private, of, &offset, &kind(private, shape))
    });
    placed.collect()
}

/// So many bytes, a `KindRef`; `size` is an expression.
pub(crate) fn bytes(private: &TokenStream, size: &TokenStream) -> TokenStream {
    quote! {
        #private::KindRef::Static { 0: &#private::Kind::Array {
            0: <::core::primitive::u8 as #private::Message>::SCHEMA.part(),
            1: #size,
        } }
    }
}

/// What a field is, a `KindRef`.
fn kind(private: &TokenStream, shape: &Shape<'_>) -> TokenStream {
    let kind = match shape {
        Shape::Message(ty) => return quote!(<#ty as #private::Message>::SCHEMA.part()),
        Shape::Option(inner) => {
            let inner = match **inner {
                // An option of an option is one of a struct: a text has no other word for it.
                Shape::Option(_) => {
                    let inner = beside_each_other(private, inner);
                    quote!(#private::KindRef::Static { 0: &#private::Kind::#inner })
                }
                _ => kind(private, inner),
            };
            quote!(Optional { 0: #inner })
        }
        Shape::Array(element, len) => {
            let element = kind(private, element);
            quote!(Array { 0: #element, 1: { #len } })
        }
        Shape::Row(_) => beside_each_other(private, shape),
    };
    quote!(#private::KindRef::Static { 0: &#private::Kind::#kind })
}

/// A `Kind` without its path: the parts of a shape, which have numbers for names.
fn beside_each_other(private: &TokenStream, shape: &Shape<'_>) -> TokenStream {
    let fields: Vec<_> = (0..shape.parts().len()).map(OfField::numbered).collect();
    let fields = row(private, &fields, shape, &shape.wire(private), &[]);
    quote!(Struct { 0: #private::Cow::Borrowed { 0: &[#(#fields),*] } })
}

/// The scalar of this integer, an expression.
pub(crate) fn scalar(private: &TokenStream, integer: &str) -> TokenStream {
    let of = |signed: bool, bytes: TokenStream| {
        let scalars =
            if signed { ["I8", "I16", "I32", "I64", "I128"] } else { ["U8", "U16", "U32", "U64", "U128"] };
        let scalars = scalars.map(|name| proc_macro2::Ident::new(name, proc_macro2::Span::mixed_site()));
        let sizes = [1, 2, 4, 8].map(Literal::usize_unsuffixed);
        let (last, first) = (&scalars[4], &scalars[..4]);
        quote!(match #bytes { #(#sizes => #private::Scalar::#first,)* _ => #private::Scalar::#last })
    };
    let integer_type = proc_macro2::Ident::new(integer, proc_macro2::Span::mixed_site());
    of(integer.starts_with('i'), quote!(::core::mem::size_of::<::core::primitive::#integer_type>()))
}
