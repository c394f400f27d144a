//! Types, bounds and signatures as text, much as they are written.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

/// Crates whose items are known without them.
const STANDARD: [&str; 3] = ["core", "alloc", "std"];

/// Writes what rustdoc says, and keeps what it could not read.
pub(crate) struct Text<'d> {
    /// The paths of all items that are mentioned anywhere, by their numbers.
    pub(crate) paths: &'d Value,
    /// The public paths of the library's own items.
    pub(crate) own: BTreeMap<String, String>,
    unread: RefCell<Vec<String>>,
}

impl<'d> Text<'d> {
    pub(crate) fn new(paths: &'d Value, own: BTreeMap<String, String>) -> Self {
        Self { paths, own, unread: RefCell::default() }
    }

    /// What was of no known kind.
    pub(crate) fn unread(self) -> Vec<String> {
        self.unread.into_inner()
    }

    /// Says that this was not read.
    pub(crate) fn unknown(&self, what: &str, value: &Value) -> String {
        let mut said = value.to_string();
        said.truncate(said.char_indices().nth(200).map_or(said.len(), |(at, _)| at));
        self.unread.borrow_mut().push(format!("{what}: {said}"));
        "?".into()
    }

    /// A type.
    pub(crate) fn ty(&self, ty: &Value) -> String {
        let Some((kind, of)) = tagged(ty) else {
            return if ty == "infer" { "_".into() } else { self.unknown("a type", ty) };
        };
        match kind {
            "generic" | "primitive" => word(of).into(),
            "resolved_path" => self.path(of),
            "tuple" => format!("({})", self.all(of, Self::ty)),
            "slice" => format!("[{}]", self.ty(of)),
            "array" => format!("[{}; {}]", self.ty(&of["type"]), word(&of["len"])),
            "impl_trait" => format!("impl {}", self.bounds(of)),
            "borrowed_ref" => {
                let lifetime = of["lifetime"].as_str().map(|name| format!("{name} ")).unwrap_or_default();
                format!(
                    "&{lifetime}{}{}",
                    if yes(&of["is_mutable"]) { "mut " } else { "" },
                    self.ty(&of["type"])
                )
            }
            "raw_pointer" => {
                format!("*{} {}", if yes(&of["is_mutable"]) { "mut" } else { "const" }, self.ty(&of["type"]))
            }
            "qualified_path" => {
                let (of_type, name) = (self.ty(&of["self_type"]), word(&of["name"]));
                let arguments = self.arguments(&of["args"]);
                match &of["trait"] {
                    Value::Null => format!("{of_type}::{name}{arguments}"),
                    of_trait => format!("<{of_type} as {}>::{name}{arguments}", self.path(of_trait)),
                }
            }
            "dyn_trait" => {
                let traits = list(&of["traits"]).iter().map(|one| {
                    format!("{}{}", self.higher_ranked(&one["generic_params"]), self.path(&one["trait"]))
                });
                let lifetime = of["lifetime"].as_str().map(str::to_owned);
                format!("dyn {}", traits.chain(lifetime).collect::<Vec<_>>().join(" + "))
            }
            "function_pointer" => {
                let (qualifiers, bound) =
                    (Self::qualifiers(&of["header"]), self.higher_ranked(&of["generic_params"]));
                let inputs = list(&of["sig"]["inputs"]).iter().map(|input| self.ty(&input[1]));
                let inputs = inputs.collect::<Vec<_>>().join(", ");
                format!("{bound}{qualifiers}fn({inputs}){}", self.output(&of["sig"]["output"]))
            }
            _ => self.unknown("a type", ty),
        }
    }

    /// A type or a trait by its path, with what it is given. The library's own have their public paths.
    pub(crate) fn path(&self, path: &Value) -> String {
        let id = path["id"].to_string();
        let written = word(&path["path"]).rsplit("::").next().unwrap_or_default();
        let known = || {
            let parts = list(&self.paths[&id]["path"]);
            let is_own = self.paths[&id]["crate_id"] == 0;
            let is_known = is_own || parts.first().is_none_or(|name| STANDARD.contains(&word(name)));
            // One whose path is not written, as in `<T as Trait>::Name`, has the last part of it.
            let last = parts.last().map_or("", word);
            if !is_known {
                return parts.iter().map(word).collect::<Vec<_>>().join("::");
            }
            (if written.is_empty() { last } else { written }).to_owned()
        };
        format!("{}{}", self.own.get(&id).cloned().unwrap_or_else(known), self.arguments(&path["args"]))
    }

    /// `<T, N, Item = u8>` or `(T) -> R`; nothing where there is nothing.
    fn arguments(&self, arguments: &Value) -> String {
        let Some((kind, of)) = tagged(arguments) else {
            return if arguments.is_null() { String::new() } else { self.unknown("arguments", arguments) };
        };
        match kind {
            "angle_bracketed" => {
                let given = list(&of["args"]).iter().map(|argument| match tagged(argument) {
                    Some(("lifetime", name)) => word(name).to_owned(),
                    Some(("type", ty)) => self.ty(ty),
                    Some(("const", number)) => word(&number["expr"]).to_owned(),
                    _ if argument == "infer" => "_".into(),
                    _ => self.unknown("an argument", argument),
                });
                let bound = list(&of["constraints"]).iter().map(|constraint| {
                    let name = word(&constraint["name"]);
                    let arguments = self.arguments(&constraint["args"]);
                    match tagged(&constraint["binding"]) {
                        Some(("equality", to)) => format!("{name}{arguments} = {}", self.term(to)),
                        Some(("constraint", bounds)) => format!("{name}{arguments}: {}", self.bounds(bounds)),
                        _ => self.unknown("a constraint", constraint),
                    }
                });
                let all: Vec<_> = given.chain(bound).collect();
                if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
            }
            "parenthesized" => {
                format!("({}){}", self.all(&of["inputs"], Self::ty), self.output(&of["output"]))
            }
            _ => self.unknown("arguments", arguments),
        }
    }

    /// A type or a constant.
    fn term(&self, term: &Value) -> String {
        match tagged(term) {
            Some(("type", ty)) => self.ty(ty),
            Some(("constant", number)) => word(&number["expr"]).to_owned(),
            _ => self.unknown("a term", term),
        }
    }

    /// `Clone + 'static`.
    pub(crate) fn bounds(&self, bounds: &Value) -> String {
        let one = |bound: &Value| match tagged(bound) {
            Some(("outlives", name)) => word(name).to_owned(),
            Some(("use", names)) => {
                let names = list(names).iter().map(|name| tagged(name).map_or("", |(_, name)| word(name)));
                format!("use<{}>", names.collect::<Vec<_>>().join(", "))
            }
            Some(("trait_bound", of)) => {
                let mark = if of["modifier"] == "maybe" { "?" } else { "" };
                format!("{mark}{}{}", self.higher_ranked(&of["generic_params"]), self.path(&of["trait"]))
            }
            _ => self.unknown("a bound", bound),
        };
        list(bounds).iter().map(one).collect::<Vec<_>>().join(" + ")
    }

    fn higher_ranked(&self, parameters: &Value) -> String {
        if list(parameters).is_empty() {
            String::new()
        } else {
            format!("for<{}> ", self.all(parameters, Self::parameter))
        }
    }

    /// `T: Send = u8`, as it is declared.
    fn parameter(&self, parameter: &Value) -> String {
        let name = word(&parameter["name"]);
        match tagged(&parameter["kind"]) {
            Some(("lifetime", of)) => {
                let longer = list(&of["outlives"]).iter().map(word).collect::<Vec<_>>().join(" + ");
                if longer.is_empty() { name.to_owned() } else { format!("{name}: {longer}") }
            }
            Some(("type", of)) => {
                let bounds = self.bounds(&of["bounds"]);
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let default = &of["default"];
                let default =
                    if default.is_null() { String::new() } else { format!(" = {}", self.ty(default)) };
                format!("{name}{bounds}{default}")
            }
            Some(("const", of)) => {
                let default = of["default"].as_str().map(|it| format!(" = {it}")).unwrap_or_default();
                format!("const {name}: {}{default}", self.ty(&of["type"]))
            }
            _ => self.unknown("a parameter", parameter),
        }
    }

    /// `<T: Send>`. What `impl Trait` stands for is said where it is written.
    pub(crate) fn parameters(&self, generics: &Value) -> String {
        let all = list(&generics["params"]).iter();
        let all = all.filter(|it| !yes(&it["kind"]["type"]["is_synthetic"])).map(|it| self.parameter(it));
        let all: Vec<_> = all.collect();
        if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
    }

    /// ` where T: Send`.
    pub(crate) fn conditions(&self, generics: &Value) -> String {
        let all = self.predicates(generics);
        if all.is_empty() { String::new() } else { format!(" where {}", all.join(", ")) }
    }

    fn predicates(&self, generics: &Value) -> Vec<String> {
        let one = |predicate: &Value| match tagged(predicate) {
            Some(("bound_predicate", of)) => format!(
                "{}{}: {}",
                self.higher_ranked(&of["generic_params"]),
                self.ty(&of["type"]),
                self.bounds(&of["bounds"])
            ),
            Some(("lifetime_predicate", of)) => {
                let longer = list(&of["outlives"]).iter().map(word).collect::<Vec<_>>().join(" + ");
                format!("{}: {longer}", word(&of["lifetime"]))
            }
            Some(("eq_predicate", of)) => format!("{} == {}", self.ty(&of["lhs"]), self.term(&of["rhs"])),
            _ => self.unknown("a condition", predicate),
        };
        list(&generics["where_predicates"]).iter().map(one).collect()
    }

    /// All conditions of an `impl`, wherever they are written; those that `known` has are left out.
    pub(crate) fn demands(&self, generics: &Value, known: &[String]) -> Vec<String> {
        let declared = list(&generics["params"]).iter().map(|it| self.parameter(it));
        let declared = declared.filter(|it| it.contains(": ") && !it.starts_with("const "));
        let mut all: Vec<_> = declared.chain(self.predicates(generics)).collect();
        all.retain(|demand| !known.contains(demand));
        all.sort();
        all.dedup();
        all
    }

    /// `fn<R>(&mut self, value: T) -> R where R: Send`, with `const` and the like before it.
    pub(crate) fn function(&self, function: &Value) -> String {
        let input = |input: &Value| {
            let (name, ty) = (word(&input[0]), self.ty(&input[1]));
            match (name, ty.as_str()) {
                ("self", "Self") => "self".to_owned(),
                ("self", "&Self") => "&self".to_owned(),
                ("self", "&mut Self") => "&mut self".to_owned(),
                _ => format!("{name}: {ty}"),
            }
        };
        let inputs = list(&function["sig"]["inputs"]).iter().map(input).collect::<Vec<_>>().join(", ");
        let generics = &function["generics"];
        format!(
            "{}fn{}({inputs}){}{}",
            Self::qualifiers(&function["header"]),
            self.parameters(generics),
            self.output(&function["sig"]["output"]),
            self.conditions(generics)
        )
    }

    fn qualifiers(header: &Value) -> String {
        let mut all = String::new();
        for (name, word) in [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")] {
            all += if yes(&header[name]) { word } else { "" };
        }
        match header["abi"].as_str() {
            Some("Rust") => all,
            _ => all + &format!("extern {} ", header["abi"]),
        }
    }

    fn output(&self, output: &Value) -> String {
        if output.is_null() { String::new() } else { format!(" -> {}", self.ty(output)) }
    }

    fn all(&self, values: &Value, one: impl Fn(&Self, &Value) -> String) -> String {
        list(values).iter().map(|value| one(self, value)).collect::<Vec<_>>().join(", ")
    }
}

/// The one key of a value that says what it is, and what it has there.
pub(crate) fn tagged(value: &Value) -> Option<(&str, &Value)> {
    let (key, of) = value.as_object().filter(|it| it.len() == 1)?.iter().next()?;
    Some((key, of))
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(crate) fn yes(value: &Value) -> bool {
    value.as_bool().unwrap_or_default()
}
