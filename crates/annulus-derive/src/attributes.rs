//! What the attributes of a type say.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, GenericParam, Ident, LitInt, LitStr, Meta, Path,
    Result, Token, Variant,
};

pub(crate) struct Attributes {
    /// What the type is called in its schema.
    pub(crate) name: String,
    /// `#[message(version = 2)]`, or 0.
    pub(crate) version: u32,
    /// `#[message(packed)]`: fields lie in the ring without what is between them.
    pub(crate) packed: bool,
    /// The integer of `#[repr(u8)]` or its like. None where `repr` says anything else beside it, such as an
    /// alignment, which could add padding.
    pub(crate) integer: Option<Ident>,
    /// `#[repr(transparent)]`.
    pub(crate) is_transparent: bool,
    /// It, or a part of it, is or may be of something deprecated.
    deprecated: bool,
    /// Where the library is: `::annulus`, or what `#[message(crate = "…")]` says.
    library: TokenStream,
}

impl Attributes {
    pub(crate) fn of(input: &DeriveInput) -> Result<Self> {
        let parts = of_parts(input);
        refuse_message(&input.generics.params)?;
        let mut found = Self {
            name: input.ident.unraw().to_string(),
            version: 0,
            packed: false,
            integer: integer(&input.attrs),
            is_transparent: hints(&input.attrs)
                .is_some_and(|hints| hints.iter().any(|hint| hint.path().is_ident("transparent"))),
            deprecated: input.attrs.iter().chain(parts).any(is_deprecated),
            library: quote!(::annulus),
        };
        for_each(&input.attrs, |meta| {
            if meta.path.is_ident("packed") {
                found.packed = true;
            } else if meta.path.is_ident("name") {
                found.name = name(&meta)?;
            } else if meta.path.is_ident("version") {
                let version: LitInt = meta.value()?.parse()?;
                found.version = version.base10_parse()?;
                if found.version == 0 {
                    return Err(Error::new_spanned(version, "the first version is 1"));
                }
            } else if meta.path.is_ident("crate") {
                let path: LitStr = meta.value()?.parse()?;
                found.library = path.parse::<Path>()?.into_token_stream();
            } else {
                return Err(
                    meta.error("expected `packed`, `name = \"quote\"`, `version = 1` or `crate = \"path\"`")
                );
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Where the library keeps what generated code uses.
    pub(crate) fn private(&self) -> TokenStream {
        let library = &self.library;
        quote!(#library::__private)
    }

    /// The same, for an error that points to `place`. It is the macro's code all the same, which no lint of
    /// its user's crate looks at.
    pub(crate) fn private_at(&self, place: Span) -> TokenStream {
        let at_place = |mut token: TokenTree| {
            token.set_span(token.span().located_at(place));
            token
        };
        self.private().into_iter().map(at_place).collect()
    }

    /// The attributes of what is generated. They allow no more than the type's own attributes do: a crate
    /// that forbids a lint accepts no attribute that allows it.
    pub(crate) fn of_generated(&self) -> Option<TokenStream> {
        self.deprecated.then(|| quote!(#[allow(deprecated)]))
    }
}

/// The integer that `repr` names, if it names nothing else.
fn integer(attributes: &[Attribute]) -> Option<Ident> {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let hints = hints(attributes)?;
    match hints.as_slice() {
        [Meta::Path(hint)] => hint.get_ident().filter(|it| INTEGERS.iter().any(|name| it == name)).cloned(),
        _ => None,
    }
}

/// All that `repr` says. What is not written like a list of hints is an error of the compiler's.
fn hints(attributes: &[Attribute]) -> Option<Vec<Meta>> {
    let mut hints = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("repr")) {
        hints.extend(attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?);
    }
    Some(hints)
}

/// The attributes of variants, fields, and generic parameters.
fn of_parts(input: &DeriveInput) -> Vec<&Attribute> {
    fn all<'a>(fields: impl IntoIterator<Item = &'a Field>) -> impl Iterator<Item = &'a Attribute> {
        fields.into_iter().flat_map(|field| &field.attrs)
    }
    let mut found: Vec<&Attribute> = match &input.data {
        Data::Struct(data) => all(&data.fields).collect(),
        Data::Enum(data) => {
            data.variants.iter().flat_map(|it| it.attrs.iter().chain(all(&it.fields))).collect()
        }
        Data::Union(data) => all(&data.fields.named).collect(),
    };
    found.extend(input.generics.params.iter().flat_map(|parameter| match parameter {
        GenericParam::Type(it) => &it.attrs,
        GenericParam::Const(it) => &it.attrs,
        GenericParam::Lifetime(it) => &it.attrs,
    }));
    found
}

/// What a schema says of a field.
pub(crate) struct OfField {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Its documentation, in a line.
    pub(crate) comment: String,
    /// Only its bytes are known: the type is of another library.
    pub(crate) bytes: bool,
}

impl OfField {
    /// Of a field without a name.
    pub(crate) fn numbered(number: usize) -> Self {
        Self { name: number.to_string(), unit: String::new(), comment: String::new(), bytes: false }
    }

    pub(crate) fn of(field: &Field, number: usize) -> Result<Self> {
        let mut found = Self { comment: comment(&field.attrs), ..Self::numbered(number) };
        if let Some(name) = &field.ident {
            found.name = name.unraw().to_string();
        }
        for_each(&field.attrs, |meta| {
            if meta.path.is_ident("name") {
                found.name = name(&meta)?;
            } else if meta.path.is_ident("unit") {
                found.unit = unit(&meta)?;
            } else if meta.path.is_ident("bytes") {
                found.bytes = true;
            } else {
                return Err(meta.error(
                    "expected `name = \"price\"`, `unit = \"ns\"` or `bytes`; `packed` and `version` are for the whole type",
                ));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Of all fields of a struct, or of a variant. No two of them have one name.
pub(crate) fn of_fields(fields: &Fields) -> Result<Vec<OfField>> {
    let found = fields.iter().enumerate().map(|(number, field)| OfField::of(field, number));
    let found: Vec<_> = found.collect::<Result<_>>()?;
    refuse_twins(fields.iter().zip(found.iter().map(|it| it.name.as_str())))?;
    Ok(found)
}

/// What a variant is called in a schema.
pub(crate) fn name_of_variant(variant: &Variant) -> Result<String> {
    let mut found = variant.ident.unraw().to_string();
    for_each(&variant.attrs, |meta| {
        if meta.path.is_ident("name") {
            found = name(&meta)?;
            Ok(())
        } else {
            Err(meta.error("expected `name = \"buy\"`: that is all that a variant can be given"))
        }
    })?;
    Ok(found)
}

/// Refuses a name that two have. One that begins with `_` is that of a gap.
pub(crate) fn refuse_twins<'n, T: ToTokens>(named: impl Iterator<Item = (T, &'n str)>) -> Result<()> {
    let mut names = BTreeSet::new();
    for (what, name) in named {
        if !name.starts_with('_') && !names.insert(name) {
            return Err(Error::new_spanned(what, format!("two are called `{name}` in the schema")));
        }
    }
    Ok(())
}

fn for_each(attributes: &[Attribute], mut each: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    let mut ours = attributes.iter().filter(|it| it.path().is_ident("message"));
    ours.try_for_each(|attribute| attribute.parse_nested_meta(&mut each))
}

fn name(meta: &ParseNestedMeta<'_>) -> Result<String> {
    let text: LitStr = meta.value()?.parse()?;
    let value = text.value();
    let is_of_name = |letter: char| {
        letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii() && !letter.is_control()
    };
    if value.is_empty() || !value.chars().all(is_of_name) {
        return Err(Error::new_spanned(text, "a name has letters, digits and `_`, and nothing else"));
    }
    Ok(value)
}

fn unit(meta: &ParseNestedMeta<'_>) -> Result<String> {
    let text: LitStr = meta.value()?.parse()?;
    let value = text.value();
    if value.is_empty() || value.chars().any(|letter| letter.is_control() || "()\"".contains(letter)) {
        return Err(Error::new_spanned(
            text,
            "a unit is a text such as \"ns\", without brackets and quotation marks",
        ));
    }
    Ok(value)
}

/// The documentation, in one line.
fn comment(attributes: &[Attribute]) -> String {
    let mut words = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("doc")) {
        if let Meta::NameValue(line) = &attribute.meta {
            if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &line.value {
                let letters = text.value();
                let words_of_it = letters.split(|letter: char| letter.is_whitespace() || letter.is_control());
                words.extend(words_of_it.filter(|word| !word.is_empty()).map(String::from));
            }
        }
    }
    words.join(" ")
}

fn refuse_message(parameters: &Punctuated<GenericParam, Token![,]>) -> Result<()> {
    let mut attributes = parameters.iter().flat_map(|parameter| match parameter {
        GenericParam::Type(it) => &it.attrs,
        GenericParam::Const(it) => &it.attrs,
        GenericParam::Lifetime(it) => &it.attrs,
    });
    match attributes.find(|it| it.path().is_ident("message")) {
        None => Ok(()),
        Some(attribute) => Err(Error::new_spanned(attribute, "a parameter has no `#[message(…)]`")),
    }
}

/// Whether it is `#[deprecated]`, or allows something deprecated.
fn is_deprecated(attribute: &Attribute) -> bool {
    ["allow", "expect", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
        && attribute.meta.to_token_stream().to_string().contains("deprecated")
}
