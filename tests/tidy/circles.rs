//! Which files of a crate use which others, according to their paths: `use crate::a::B`, `super::a::f()`, or `a::f()`
//! for a submodule or an imported module. A re-exported name counts for the file that defines it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::{fs, iter};

/// A module by its path within the crate; the path of the root is empty.
type Module = Vec<String>;

struct Sources {
    texts: BTreeMap<Module, String>,
    /// Names that a module re-exports, and the modules that define them.
    exports: HashMap<Module, HashMap<String, Module>>,
}

/// Groups of files of the crate at `src` that form a cycle: each file uses all others, directly or indirectly.
pub(crate) fn circles(src: &Path) -> Vec<Vec<String>> {
    let sources = Sources::of(src);
    let uses: BTreeMap<&Module, BTreeSet<Module>> =
        sources.texts.iter().map(|(module, text)| (module, sources.used(module, text))).collect();
    let reached = |from: &Module| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = left.pop() {
            for next in uses.get(&module).into_iter().flatten().filter(|next| !next.is_empty()) {
                if seen.insert(next.clone()) {
                    left.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> = uses.keys().map(|one| (*one, reached(one))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, beyond) in reached.iter().filter(|(module, beyond)| beyond.contains(**module)) {
        let same =
            beyond.iter().filter(|other| reached.get(other).is_some_and(|back| back.contains(*module)));
        found.insert(same.map(|other| other.join("/")).collect());
    }
    found.into_iter().collect()
}

impl Sources {
    fn of(src: &Path) -> Self {
        let mut texts = BTreeMap::new();
        let mut directories = vec![src.to_path_buf()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).expect("the sources can be read").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let name = path.strip_prefix(src).expect("below it").with_extension("");
                    let mut module: Module =
                        name.iter().map(|part| part.to_string_lossy().into_owned()).collect();
                    module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
                    texts.insert(module, bare(&fs::read_to_string(&path).expect("text")));
                }
            }
        }
        let mut sources = Self { texts, exports: HashMap::new() };
        let modules: Vec<Module> = sources.texts.keys().cloned().collect();
        for module in modules {
            let exported = sources.exported(&module);
            sources.exports.insert(module, exported);
        }
        sources
    }

    fn exported(&self, module: &Module) -> HashMap<String, Module> {
        let text = &self.texts[module];
        let statements = statements(text).filter(|(public, _)| *public);
        let paths = statements.flat_map(|(_, tree)| leaves(&tree));
        let of = |path: Vec<String>| {
            let (name, from) = (path.last()?.clone(), self.absolute(module, &path)?);
            let from = from[..from.len() - 1].to_vec();
            let names = if name == "*" {
                self.texts.get(&from).map_or_else(Vec::new, |text| items(text))
            } else {
                vec![name]
            };
            Some(names.into_iter().map(move |name| (name, from.clone())).collect::<Vec<_>>())
        };
        paths.filter_map(of).flatten().collect()
    }

    /// The modules that a file uses.
    fn used(&self, module: &Module, text: &str) -> BTreeSet<Module> {
        let own = statements(text).filter(|(public, _)| !public).flat_map(|(_, tree)| leaves(&tree));
        let own: Vec<Vec<String>> = own.collect();
        // What is behind an imported module is used where its name stands before `::`. The import alone uses nothing.
        let is_module = |path: &Vec<String>| {
            self.absolute(module, path).is_some_and(|path| self.texts.contains_key(&path))
        };
        let (modules, own): (Vec<_>, Vec<_>) = own.into_iter().partition(is_module);
        let imported = |path: Vec<String>| {
            let through = modules.iter().find(|one| path.len() > 1 && one.last() == path.first());
            through.map_or_else(|| path.clone(), |one| [&one[..], &path[1..]].concat())
        };
        let code = statements(text).fold(text.to_owned(), |code, (_, tree)| code.replace(&tree, ""));
        let words = code.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
        let inline = words.filter(|word| word.contains("::"));
        let inline = inline.map(|word| word.split("::").map(str::to_owned).collect::<Vec<_>>());
        let of = |path: Vec<String>| Some(self.home(&self.absolute(module, &path)?));
        own.into_iter().chain(inline.map(imported)).filter_map(of).filter(|other| other != module).collect()
    }

    /// `path` as seen from `module`, resolved from the root of the crate; `None` if it belongs to another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let parent = || module[..module.len().saturating_sub(1)].to_vec();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some(module.iter().chain(rest).cloned().collect()),
            "super" => {
                let up = rest.iter().take_while(|part| *part == "super").count();
                let mut from = parent();
                from.truncate(from.len().saturating_sub(up));
                Some(from.into_iter().chain(rest[up..].iter().cloned()).collect())
            }
            _ => {
                let child: Module = module.iter().chain(iter::once(first)).cloned().collect();
                self.texts.contains_key(&child).then(|| module.iter().chain(path).cloned().collect())
            }
        }
    }

    /// The module that defines the item at `path`.
    fn home(&self, path: &[String]) -> Module {
        let length = (0..=path.len()).rev().find(|&length| self.texts.contains_key(&path[..length]));
        let (mut module, rest) = path.split_at(length.unwrap_or(0));
        let Some(name) = rest.first() else { return module.to_vec() };
        while let Some(from) = self.exports.get(module).and_then(|names| names.get(name)) {
            match self.texts.get_key_value(from) {
                Some((next, _)) if next != module => module = next,
                _ => break,
            }
        }
        module.to_vec()
    }
}

/// Code without tests and comments.
fn bare(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The names that a file offers to others: items that start in the first column, and re-exports.
fn items(text: &str) -> Vec<String> {
    const KINDS: [&str; 6] = ["fn", "struct", "enum", "trait", "type", "const"];
    let item = |line: &str| {
        let mut words = line.strip_prefix("pub")?.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let kind = words.find(|word| KINDS.contains(word))?;
        words.find(|word| !word.is_empty() && *word != "fn" && *word != kind).map(str::to_owned)
    };
    let own = text.lines().filter_map(item);
    let exported = statements(text).filter(|(public, _)| *public).flat_map(|(_, tree)| leaves(&tree));
    own.chain(exported.filter_map(|path| path.last().cloned())).collect()
}

/// The text after each `use`, and whether it is a re-export.
fn statements(text: &str) -> impl Iterator<Item = (bool, String)> {
    text.split(';').filter_map(|statement| {
        let start = statement
            .rfind("use ")
            .filter(|&at| at == 0 || statement[..at].ends_with(|c: char| c.is_whitespace()))?;
        let line = statement[..start].rsplit('\n').next().unwrap_or_default();
        Some((line.contains("pub"), statement[start + 4..].to_owned()))
    })
}

/// The paths in a use tree such as `a::{b, c::{self, D as E}}`.
fn leaves(tree: &str) -> Vec<Vec<String>> {
    let tree: String = tree.split(" as ").next().unwrap_or_default().to_owned()
        + &tree
            .split(" as ")
            .skip(1)
            .map(|rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'))
            .collect::<String>();
    let mut found = Vec::new();
    let (mut before, mut stack, mut word) = (Vec::<String>::new(), Vec::new(), String::new());
    let mut close = |before: &[String], word: &mut String| {
        if !word.is_empty() {
            let own = (word != "self").then(|| word.clone());
            found.push(before.iter().cloned().chain(own).collect());
            word.clear();
        }
    };
    for c in tree.chars().filter(|c| !c.is_whitespace()) {
        match c {
            ':' if !word.is_empty() => before.push(std::mem::take(&mut word)),
            ':' => {}
            '{' => stack.push(before.clone()),
            ',' | '}' => {
                close(&before, &mut word);
                before = stack.last().cloned().unwrap_or_default();
                if c == '}' {
                    before = stack.pop().unwrap_or_default();
                }
            }
            c => word.push(c),
        }
    }
    close(&before, &mut word);
    found
}
