//! Which file uses which: the paths in its code, followed through re-exports to where a thing is defined.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// A module's path below the crate.
type Module = Vec<String>;

/// One use: the file of `from` uses a thing that the file of `to` defines.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: Module,
    pub(crate) to: Module,
    pub(crate) name: String,
}

/// What a `use` brings into a module.
struct Import {
    /// What it is called there; `None` for all of a module.
    name: Option<String>,
    path: Vec<String>,
    is_public: bool,
}

/// What a module consists of.
#[derive(Default)]
struct Contents {
    /// The module of the file in which it is.
    file: Module,
    defines: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in its code, but for those of imports.
    paths: BTreeSet<Vec<String>>,
    /// Single names in its code.
    names: BTreeSet<String>,
}

/// A crate's modules.
struct Crate {
    modules: BTreeMap<Module, Contents>,
}

/// Which module uses which in the crate whose sources are in this folder. Unit tests are not looked at.
pub(crate) fn edges(tree: &Tree, folder: &str) -> BTreeSet<Edge> {
    let mut all = Crate { modules: BTreeMap::new() };
    for (path, lines) in tree.rust() {
        let Some(name) = path.strip_prefix(folder).and_then(|path| path.strip_prefix('/')) else { continue };
        let mut module: Module = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            module.pop();
        }
        let code: Vec<&str> =
            lines.iter().filter(|line| !line.is_test).map(|line| line.code.as_str()).collect();
        all.read(&module, &tokens(&code.join("\n")));
    }
    let mut edges = BTreeSet::new();
    for (module, contents) in &all.modules {
        let imports = contents.imports.iter().filter(|import| {
            // A facade does not use what it only shows.
            !import.is_public || import.name.as_ref().is_some_and(|name| contents.names.contains(name))
        });
        for path in imports.map(|import| &import.path).chain(&contents.paths) {
            if let Some((to, name)) = all.find(module, path, 0)
                && to != contents.file
            {
                edges.insert(Edge { from: contents.file.clone(), to, name });
            }
        }
    }
    edges
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_name = false;
    for letter in code.chars() {
        let belongs_to_a_name = letter.is_alphanumeric() || letter == '_';
        match tokens.last_mut() {
            Some(last) if is_name && belongs_to_a_name => last.push(letter),
            Some(last) if letter == ':' && last == ":" => last.push(':'),
            _ if letter.is_whitespace() => {}
            _ => tokens.push(letter.to_string()),
        }
        is_name = belongs_to_a_name;
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

impl Crate {
    /// Reads the code of a file, and of the modules that are written in it.
    fn read(&mut self, file: &Module, tokens: &[String]) {
        // The modules that are open here, each with the depth of its contents.
        let mut open = vec![(file.clone(), 0)];
        let mut depth = 0;
        let mut at = 0;
        self.modules.entry(file.clone()).or_default().file.clone_from(file);
        while at < tokens.len() {
            let from = at;
            let token = |offset: usize| tokens.get(from + offset).map_or("", String::as_str);
            let before = if at > 0 { tokens[at - 1].as_str() } else { "" };
            let (module, level) = open.last().cloned().unwrap_or_default();
            let contents = self.modules.entry(module.clone()).or_default();
            contents.file.clone_from(file);
            match token(0) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if open.len() > 1 && depth < level {
                        open.pop();
                    }
                }
                "mod" if is_name(token(1)) && token(2) == "{" => {
                    depth += 1;
                    let mut inner = module;
                    inner.push(token(1).to_owned());
                    open.push((inner, depth));
                    at += 2;
                }
                "mod" if is_name(token(1)) => at += 1,
                "use" => {
                    let is_public = before == "pub" || before == ")";
                    let end = tokens[at..]
                        .iter()
                        .position(|token| token == ";")
                        .map_or(tokens.len(), |end| at + end);
                    read_use(&tokens[at + 1..end], &mut Vec::new(), is_public, &mut contents.imports);
                    at = end;
                }
                "struct" | "enum" | "trait" | "fn" | "type" | "const" | "static" | "union"
                    if depth == level =>
                {
                    let name = if token(1) == "fn" || token(1) == "mut" { token(2) } else { token(1) };
                    contents.defines.insert(name.to_owned());
                }
                "macro_rules" => {
                    contents.defines.insert(token(2).to_owned());
                }
                // `pub(in crate::a)` uses nothing.
                "in" if before == "(" => {
                    at += tokens[at..].iter().position(|token| token == ")").unwrap_or(0);
                }
                name if is_name(name) && before != "::" && before != "." => {
                    let mut path = vec![name.to_owned()];
                    while token(at - from + 1) == "::" && is_name(token(at - from + 2)) {
                        path.push(token(at - from + 2).to_owned());
                        at += 2;
                    }
                    contents.names.insert(path[0].clone());
                    if path.len() > 1 {
                        contents.paths.insert(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Where a thing is defined that `module` calls so: the module of its file, and its name there. `None` if
    /// it is not of this crate.
    fn find(&self, module: &Module, path: &[String], depth: u32) -> Option<(Module, String)> {
        if depth > 20 {
            return None;
        }
        let mut here: Module;
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                here = Vec::new();
                rest = &rest[1..];
            }
            "self" | "super" => {
                here = module.clone();
                while let Some(first) = rest.first() {
                    match first.as_str() {
                        "self" => {}
                        "super" => drop(here.pop()),
                        _ => break,
                    }
                    rest = &rest[1..];
                }
            }
            first => {
                here = module.clone();
                let is_child = self.modules.contains_key(&[module.as_slice(), &[first.to_owned()]].concat());
                let contents = self.modules.get(module)?;
                let is_import = contents.imports.iter().any(|import| import.name.as_deref() == Some(first));
                if !is_child && !is_import {
                    return None;
                }
            }
        }
        for (number, name) in rest.iter().enumerate() {
            let child = [here.as_slice(), std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&child) {
                here = child;
                continue;
            }
            return self.item(&here, name, &rest[number + 1..], depth);
        }
        // A module itself: what is used of it says what is used.
        None
    }

    /// What `name` is in module `here`; `rest` follows it in the path.
    fn item(&self, here: &Module, name: &str, rest: &[String], depth: u32) -> Option<(Module, String)> {
        let contents = self.modules.get(here)?;
        if contents.defines.contains(name) {
            return Some((contents.file.clone(), name.to_owned()));
        }
        if let Some(import) = contents.imports.iter().find(|import| import.name.as_deref() == Some(name)) {
            // Not through itself: `use error::error`.
            let path = [import.path.as_slice(), rest].concat();
            return self.find(here, &path, depth + 1);
        }
        contents.imports.iter().filter(|import| import.name.is_none()).find_map(|import| {
            let path = [import.path.as_slice(), &[name.to_owned()]].concat();
            self.find(here, &path, depth + 1)
        })
    }
}

/// Reads a tree of `use`: `a::{b as c, d::*}`.
fn read_use(tokens: &[String], prefix: &mut Vec<String>, is_public: bool, imports: &mut Vec<Import>) {
    let length = prefix.len();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => {
                for part in parts(&tokens[at + 1..]) {
                    read_use(part, prefix, is_public, imports);
                }
                prefix.truncate(length);
                return;
            }
            "*" => {
                imports.push(Import { name: None, path: prefix.clone(), is_public });
                prefix.truncate(length);
                return;
            }
            "as" => {
                let name = tokens.get(at + 1).cloned();
                imports.push(Import { name: name.or(Some(String::new())), path: prefix.clone(), is_public });
                prefix.truncate(length);
                return;
            }
            "::" => {}
            // `a::{self}` is `a`.
            "self" if at == 0 && length > 0 => {}
            name => prefix.push(name.to_owned()),
        }
        at += 1;
    }
    imports.push(Import { name: prefix.last().cloned(), path: prefix.clone(), is_public });
    prefix.truncate(length);
}

/// What stands between the commas, up to the brace that closes.
fn parts(tokens: &[String]) -> Vec<&[String]> {
    let mut parts = Vec::new();
    let (mut begin, mut depth) = (0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 0 => {
                parts.push(&tokens[begin..at]);
                break;
            }
            "}" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&tokens[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
