//! [`Listing`]: a line for each public item, `path | what it is | where it comes from`.
//!
//! ```text
//! oneshot::Receiver | struct<T: Send> { .. }
//! oneshot::Receiver | auto | Send, Sync [T: Sync], Unpin
//! oneshot::Receiver | impl<T: Send> Debug + Waitable for oneshot::Receiver<T>
//! oneshot::Receiver::recv | fn(&mut self) -> Result<T, RecvError> | impl<T: Send> oneshot::Receiver<T>
//! ```
//!
//! An item of several paths has its lines at the shortest of them, and `use` at the others. What is
//! `#[doc(hidden)]` is not in rustdoc's JSON.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use serde_json::Value;

use crate::text::{Text, list, tagged, word, yes};

/// What the compiler finds out by itself, if nobody says otherwise.
const AUTO: [&str; 5] = ["RefUnwindSafe", "Send", "Sync", "Unpin", "UnwindSafe"];

/// What no program can ask for.
const INSIDE: [&str; 2] = ["Drop", "StructuralPartialEq"];

/// The kinds of items that are types.
const TYPES: [&str; 3] = ["struct", "enum", "union"];

/// The library's public API.
pub(crate) struct Listing {
    /// Sorted.
    pub(crate) lines: Vec<String>,
    /// What was of no known kind.
    pub(crate) unread: Vec<String>,
    items: usize,
    methods: usize,
}

impl Listing {
    pub(crate) fn of(documented: &Value) -> Self {
        let places = Places::of(documented);
        let own = places.first.iter().map(|(id, path)| (id.clone(), path.clone())).collect();
        let mut writer = Writer {
            index: &documented["index"],
            text: Text::new(&documented["paths"], own),
            lines: places.uses.into_iter().collect(),
            methods: 0,
        };
        if places.first.is_empty() {
            writer.text.unknown("the crate", &documented["root"]);
        }
        for (id, path) in &places.first {
            writer.item(&documented["index"][id], path);
        }
        let mut listing = Self {
            lines: writer.lines.into_iter().collect(),
            items: places.first.len(),
            methods: writer.methods,
            unread: writer.text.unread(),
        };
        // A path and what it leads to are beside each other, before longer names.
        listing.lines.sort_by(|a, b| a.split(" | ").cmp(b.split(" | ")));
        listing
    }

    /// The types and traits with the most methods.
    fn longest(&self) -> Vec<(usize, &str)> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for line in &self.lines {
            let mut parts = line.split(" | ");
            let (Some(path), Some(what), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if what != "auto" {
                *counts.entry(path.rsplit_once("::").map_or(path, |(of, _)| of)).or_default() += 1;
            }
        }
        let mut longest: Vec<_> = counts.into_iter().map(|(name, count)| (count, name)).collect();
        longest.sort_by(|a, b| b.cmp(a));
        longest.truncate(3);
        longest
    }
}

/// How large it is.
impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items, {} methods, {} lines", self.items, self.methods, self.lines.len())?;
        for (count, name) in self.longest() {
            write!(f, "; {name} has {count} methods")?;
        }
        Ok(())
    }
}

/// Where each item is.
#[derive(Default)]
struct Places {
    /// The shortest path of each, by its number.
    first: BTreeMap<String, String>,
    /// Lines of the others, and of items of other crates.
    uses: BTreeSet<String>,
}

impl Places {
    fn of(documented: &Value) -> Self {
        let (index, mut places) = (&documented["index"], Self::default());
        let mut modules = VecDeque::from([(documented["root"].to_string(), String::new())]);
        while let Some((module, path)) = modules.pop_front() {
            let mut items = VecDeque::from(items_of(index, &module));
            while let Some(id) = items.pop_front() {
                let item = &index[&id];
                let Some((kind, of)) = tagged(&item["inner"]) else { continue };
                let (id, name) = match kind {
                    "use" => (of["id"].to_string(), word(&of["name"])),
                    _ => (id, word(&item["name"])),
                };
                if kind == "use" && yes(&of["is_glob"]) {
                    items.extend(items_of(index, &id));
                    continue;
                }
                let at = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
                if index[&id].is_null() {
                    places.uses.insert(format!("{at} | use {}", word(&of["source"])));
                } else if let Some(first) = places.first.get(&id) {
                    places.uses.insert(format!("{at} | use {first}"));
                } else {
                    if !index[&id]["inner"]["module"].is_null() {
                        modules.push_back((id.clone(), at.clone()));
                    }
                    places.first.insert(id, at);
                }
            }
        }
        places
    }
}

/// The numbers of what a module has: its own items first.
fn items_of(index: &Value, module: &str) -> Vec<String> {
    let mut items: Vec<_> =
        list(&index[module]["inner"]["module"]["items"]).iter().map(Value::to_string).collect();
    items.sort_by_cached_key(|id| {
        let item = &index[id];
        (!item["inner"]["use"].is_null(), word(&item["name"]).to_owned())
    });
    items
}

struct Writer<'d> {
    index: &'d Value,
    text: Text<'d>,
    lines: BTreeSet<String>,
    methods: usize,
}

impl Writer<'_> {
    fn say(&mut self, path: &str, what: &str) {
        self.lines.insert(format!("{path} | {what}"));
    }

    fn item(&mut self, item: &Value, path: &str) {
        let Some((kind, of)) = tagged(&item["inner"]) else {
            self.text.unknown("an item", item);
            return;
        };
        let open =
            if list(&item["attrs"]).iter().any(|it| it == "non_exhaustive") { "non_exhaustive " } else { "" };
        let (parameters, conditions) =
            (self.text.parameters(&of["generics"]), self.text.conditions(&of["generics"]));
        let what = match kind {
            "module" => "mod".to_owned(),
            "function" => self.text.function(of),
            "macro" | "proc_macro" => "macro".to_owned(),
            "constant" => format!("const: {}", self.text.ty(&of["type"])),
            "static" => format!("static: {}", self.text.ty(&of["type"])),
            "type_alias" => format!("type{parameters} = {}{conditions}", self.text.ty(&of["type"])),
            "struct" => format!("{open}struct{parameters}{}{conditions}", self.fields(&of["kind"], path)),
            "union" => format!("{open}union{parameters}{conditions}"),
            "enum" => {
                for id in list(&of["variants"]) {
                    self.variant(id, path);
                }
                format!("{open}enum{parameters}{conditions}")
            }
            "trait" => {
                self.of_trait(of, path);
                let bounds = self.text.bounds(&of["bounds"]);
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let is_unsafe = if yes(&of["is_unsafe"]) { "unsafe " } else { "" };
                format!("{is_unsafe}trait{parameters}{bounds}{conditions}")
            }
            _ => self.text.unknown("an item", item),
        };
        self.say(path, &what);
        if TYPES.contains(&kind) {
            self.impls(of, path);
        }
    }

    /// The fields that all can see, each in a line; what the struct looks like otherwise.
    fn fields(&mut self, kind: &Value, path: &str) -> String {
        match tagged(kind) {
            _ if kind == "unit" => String::new(),
            Some(("plain", of)) => {
                for id in list(&of["fields"]) {
                    let field = &self.index[&id.to_string()];
                    let what = self.text.ty(&field["inner"]["struct_field"]);
                    self.say(&format!("{path}.{}", word(&field["name"])), &what);
                }
                (if yes(&of["has_stripped_fields"]) { " { .. }" } else { " {}" }).to_owned()
            }
            Some(("tuple", of)) => format!("({})", self.row(of)),
            _ => self.text.unknown("a struct", kind),
        }
    }

    /// Fields without names; `_` is a private one.
    fn row(&self, fields: &Value) -> String {
        let one = |id: &Value| match &self.index[&id.to_string()] {
            Value::Null => "_".to_owned(),
            field => self.text.ty(&field["inner"]["struct_field"]),
        };
        list(fields).iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn variant(&mut self, id: &Value, path: &str) {
        let variant = &self.index[&id.to_string()];
        let is_open = list(&variant["attrs"]).iter().any(|it| it == "non_exhaustive");
        let open = if is_open { "non_exhaustive " } else { "" };
        let path = format!("{path}::{}", word(&variant["name"]));
        let kind = &variant["inner"]["variant"]["kind"];
        let number = &variant["inner"]["variant"]["discriminant"]["value"];
        let number = number.as_str().map(|number| format!(" = {number}")).unwrap_or_default();
        let fields = match tagged(kind) {
            _ if kind == "plain" => String::new(),
            Some(("tuple", of)) => format!("({})", self.row(of)),
            Some(("struct", of)) => {
                let fields = list(&of["fields"]).iter().map(|id| {
                    let field = &self.index[&id.to_string()];
                    format!("{}: {}", word(&field["name"]), self.text.ty(&field["inner"]["struct_field"]))
                });
                format!(" {{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            _ => self.text.unknown("a variant", variant),
        };
        self.say(&path, &format!("{open}variant{fields}{number}"));
    }

    fn of_trait(&mut self, of: &Value, path: &str) {
        for id in list(&of["items"]) {
            // What is hidden is not there.
            let item = &self.index[&id.to_string()];
            if item.is_null() {
                continue;
            }
            let what = self.associated(item);
            self.methods += usize::from(!item["inner"]["function"].is_null());
            self.say(&format!("{path}::{}", word(&item["name"])), &format!("{what} | trait"));
        }
        // Of the library's own types they are said there.
        for id in list(&of["implementations"]) {
            let of = &self.index[&id.to_string()]["inner"]["impl"];
            let implementer = of["for"]["resolved_path"]["id"].to_string();
            if !of.is_null() && !yes(&of["is_synthetic"]) && !self.text.own.contains_key(&implementer) {
                let (parameters, conditions) =
                    (self.text.parameters(&of["generics"]), self.text.conditions(&of["generics"]));
                let implementer = self.text.ty(&of["for"]);
                self.say(path, &format!("impl{parameters} for {implementer}{conditions}"));
            }
        }
    }

    /// A method, a constant or a type of a trait or an `impl`.
    fn associated(&self, item: &Value) -> String {
        match tagged(&item["inner"]) {
            Some(("function", of)) => self.text.function(of),
            Some(("assoc_const", of)) => format!("const: {}", self.text.ty(&of["type"])),
            Some(("assoc_type", of)) => {
                let (parameters, bounds) =
                    (self.text.parameters(&of["generics"]), self.text.bounds(&of["bounds"]));
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let ty = &of["type"];
                let ty = if ty.is_null() { String::new() } else { format!(" = {}", self.text.ty(ty)) };
                format!("type{parameters}{bounds}{ty}{}", self.text.conditions(&of["generics"]))
            }
            _ => self.text.unknown("an item", item),
        }
    }

    /// What a type has: its methods, traits, and those that the compiler gives it.
    fn impls(&mut self, of: &Value, path: &str) {
        let known = self.text.demands(&of["generics"], &[]);
        let (mut auto, mut others) = (Vec::new(), BTreeMap::<(String, String), Vec<String>>::new());
        for id in list(&of["impls"]) {
            let of = &self.index[&id.to_string()]["inner"]["impl"];
            if of.is_null() || !of["blanket_impl"].is_null() {
                continue;
            }
            let Value::Object(of_trait) = &of["trait"] else {
                self.inherent(of, path);
                continue;
            };
            let name = word(&of_trait["path"]).rsplit("::").next().unwrap_or_default();
            if AUTO.contains(&name) {
                if !yes(&of["is_negative"]) {
                    let demands = self.text.demands(&of["generics"], &known).join(", ");
                    auto.push(if demands.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{name} [{demands}]")
                    });
                }
            } else if !INSIDE.contains(&name) && !yes(&of["is_synthetic"]) {
                let (around, of_trait) = self.of_other(of);
                others.entry(around).or_default().push(of_trait);
            }
        }
        for ((before, after), mut traits) in others {
            traits.sort();
            self.say(path, &format!("impl{before} {}{after}", traits.join(" + ")));
        }
        auto.sort();
        self.say(path, &format!("auto | {}", auto.join(", ")));
    }

    /// A trait that is implemented, and what is before and behind it. What has types of its own is alone.
    fn of_other(&self, of: &Value) -> ((String, String), String) {
        let (parameters, conditions) =
            (self.text.parameters(&of["generics"]), self.text.conditions(&of["generics"]));
        let (of_trait, ty) = (self.text.path(&of["trait"]), self.text.ty(&of["for"]));
        let named = list(&of["items"]).iter().filter_map(|id| {
            let item = &self.index[&id.to_string()];
            let ty = &item["inner"]["assoc_type"];
            let is_said = !ty.is_null() && list(&ty["generics"]["params"]).is_empty();
            is_said.then(|| format!("{} = {}", word(&item["name"]), self.text.ty(&ty["type"])))
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let named = if named.is_empty() { named } else { format!(" {{ {named} }}") };
        ((parameters, format!(" for {ty}{conditions}{named}")), of_trait)
    }

    fn inherent(&mut self, of: &Value, path: &str) {
        let (parameters, conditions) =
            (self.text.parameters(&of["generics"]), self.text.conditions(&of["generics"]));
        let ty = self.text.ty(&of["for"]);
        for id in list(&of["items"]) {
            let item = &self.index[&id.to_string()];
            if item.is_null() {
                continue;
            }
            let what = self.associated(item);
            self.methods += usize::from(!item["inner"]["function"].is_null());
            let path = format!("{path}::{}", word(&item["name"]));
            self.say(&path, &format!("{what} | impl{parameters} {ty}{conditions}"));
        }
    }
}
