//! The house style, as far as a program can check it; `CONTRIBUTING.md` gives the reasons.

mod bill;
mod circles;
mod packages;

use std::fs;
use std::path::{Path, PathBuf};

/// The maximum for `main.rs`, which only parses, calls and prints.
const MAIN_LINES_MAX: usize = 40;

/// Crates in order: each may use those before it. The root package may use all of them. The testbed uses none and is
/// used only by tests. The fuzz targets may use any and are used by none.
const CRATES: [&str; 11] = [
    "plan", "record", "analysis", "dialect", "engine", "comm", "host", "jobs", "runner", "simulate", "report",
];

/// Directories that are not part of the sources; `.git` is a file in a work tree.
const SKIPPED: [&str; 5] = [".git", "target", "ioproof-quick", "ioproof-runs", "proptest-regressions"];

/// A text file of the project.
struct Text {
    /// The path from the root of the project, with slashes.
    name: String,
    content: String,
}

impl Text {
    fn ends_in(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.name.ends_with(end))
    }

    fn is_rust(&self) -> bool {
        self.ends_in(&[".rs"])
    }

    /// Lines for which `wrong` is true, as `file:line: text`.
    fn lines_where(&self, wrong: impl Fn(&str) -> bool) -> Vec<String> {
        let lines = self.content.lines().enumerate().filter(|(_, line)| wrong(line));
        lines.map(|(index, line)| format!("{}:{}: {}", self.name, index + 1, line.trim())).collect()
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All text files of the project.
fn texts() -> Vec<Text> {
    let mut found = Vec::new();
    let mut directories = vec![root().to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("the sources can be read").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if SKIPPED.iter().any(|skipped| name == *skipped) {
                continue;
            }
            if path.is_dir() {
                directories.push(path);
            } else if let Ok(content) = fs::read_to_string(&path) {
                let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
                found.push(Text { name, content });
            }
        }
    }
    assert!(found.iter().any(|text| text.name == "Cargo.toml"), "these are not the sources");
    found
}

/// Fails with everything that was found, so that a single run shows all of it.
fn expect_none(rule: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

#[test]
fn main_parses_calls_and_prints() {
    let main = fs::read_to_string(root().join("src/main.rs")).expect("the program");
    // An additional module does not mean additional work.
    let lines = main.lines().filter(|line| !line.starts_with("mod ")).count();
    assert!(lines <= MAIN_LINES_MAX, "src/main.rs has {lines} lines beside its modules");
}

#[test]
fn nothing_is_left_to_be_done() {
    // Assembled here, so that this file does not match itself.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    let calls = [concat!("to", "do!("), concat!("unimple", "mented!(")];
    let word = |line: &str, mark: &str| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == mark);
    let unfinished = |line: &str| {
        marks.iter().any(|mark| word(line, mark)) || calls.iter().any(|call| line.contains(call))
    };
    let sources = texts().into_iter().filter(|text| text.ends_in(&[".rs", ".sh", ".toml", ".md", ".html"]));
    let found = sources.flat_map(|text| text.lines_where(unfinished)).collect();
    expect_none("finish this, or file an issue", found);
}

#[test]
fn no_lint_is_allowed_without_a_reason() {
    let starts = [concat!("#[", "allow("), concat!("#![", "allow(")];
    let bare = |text: &Text| {
        let attributes = starts.iter().flat_map(|start| text.content.split(start).skip(1));
        attributes
            .filter(|rest| !rest.split(']').next().is_some_and(|inner| inner.contains("reason")))
            .count()
    };
    let texts = texts();
    let found = texts.iter().filter(|text| text.is_rust() && bare(text) > 0);
    let found = found.map(|text| format!("{}: {} times", text.name, bare(text))).collect();
    expect_none("write #[expect(.., reason = \"..\")]", found);
}

#[test]
fn no_path_of_one_machine_is_in_the_sources() {
    let places = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/var/tmp/", "peers/"), "/Users/"];
    // Only matches with a name after it: a test may look for the bare directory.
    let machine = |line: &str| {
        // Within a path of the project they are names of its own.
        let begins = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric());
        let is_path = |place: &str, at: usize| {
            begins(&line[..at]) && line[at + place.len()..].starts_with(char::is_alphanumeric)
        };
        places.iter().any(|place| line.match_indices(place).any(|(at, _)| is_path(place, at)))
    };
    let found = texts().iter().flat_map(|text| text.lines_where(machine)).collect();
    expect_none("these paths exist on one machine only", found);
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent = |text: &&Text| text.is_rust() && !text.content.starts_with("//!");
    let found = texts().iter().filter(silent).map(|text| text.name.clone()).collect();
    expect_none("these files do not start with //!", found);
}

/// The project's crates, including the testbed, that a table of a `Cargo.toml` lists.
fn used(manifest: &str, table: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != format!("[{table}]")).skip(1);
    let entries = lines.take_while(|line| !line.starts_with('['));
    let names = entries.filter_map(|line| line.split(['.', '=', ' ']).next()).map(str::to_owned);
    names.filter(|name| CRATES.contains(&name.as_str()) || name == "testbed").collect()
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let crates = fs::read_dir(root().join("crates")).expect("the crates").flatten();
    let sources = crates.map(|entry| entry.path().join("src")).chain([root().join("src")]);
    let circles: Vec<_> = sources.flat_map(|sources| circles::circles(&sources)).collect();
    assert_eq!(circles, Vec::<Vec<String>>::new(), "each of these files uses all others");
}

#[test]
fn a_crate_uses_only_those_before_it() {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the crates").flatten() {
        let package = entry.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).expect("a manifest");
        let place = CRATES.iter().position(|name| *name == package);
        let before = match package.as_str() {
            "testbed" => &CRATES[..0],
            "fuzz" => &CRATES[..],
            _ => &CRATES[..place.unwrap_or_else(|| panic!("{package} has no place in CRATES"))],
        };
        for (table, testbed) in [("dependencies", false), ("dev-dependencies", true)] {
            let allowed = |name: &str| before.contains(&name) || testbed && name == "testbed";
            let names = used(&manifest, table).into_iter().filter(|name| !allowed(name));
            found.extend(names.map(|name| format!("{package} must not use {name} ({table})")));
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    if used(&manifest, "dependencies").contains(&"testbed".to_owned()) {
        found.push("the program must not use the testbed".to_owned());
    }
    expect_none("the order of the crates is in docs/ARCHITECTURE.md", found);
}

#[test]
fn each_dependency_is_used_and_documented() {
    let root = root();
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let workspace = read(root.join("Cargo.toml"));
    let crates = fs::read_dir(root.join("crates")).expect("the crates").flatten();
    let manifests: String = crates.map(|entry| read(entry.path().join("Cargo.toml"))).collect();
    let architecture = read(root.join("docs/ARCHITECTURE.md"));
    let table = workspace.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let external = table.take_while(|line| !line.starts_with('[')).filter(|line| !line.contains("path = "));
    let names: Vec<_> = external.filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    assert!(names.len() > 20, "{names:?}");
    let mut found = Vec::new();
    for name in names {
        let is_used = [".workspace = true", " = { workspace = true"].iter().any(|end| {
            manifests
                .lines()
                .chain(workspace.lines())
                .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(end)))
        });
        if !is_used {
            found.push(format!("no crate uses {name}"));
        }
        if !architecture.contains(&format!("`{name}`")) {
            found.push(format!("docs/ARCHITECTURE.md does not say what {name} is for"));
        }
    }
    expect_none("name each dependency, and drop those that nothing uses", found);
}

/// Link targets in a Markdown text that are files of the project.
fn linked_files(text: &Text) -> Vec<PathBuf> {
    let from = root().join(&text.name);
    let directory = from.parent().expect("a file is in a directory");
    let mut in_code = false;
    let prose = text.content.lines().filter(|line| {
        in_code ^= line.trim_start().starts_with("```");
        !in_code
    });
    let links = prose.flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    let local = links.filter(|link| !link.contains("://") && !link.starts_with(['#', '<']));
    local.map(|link| directory.join(link.split('#').next().unwrap_or(link))).collect()
}

#[test]
fn what_a_document_links_to_exists() {
    let documents = texts().into_iter().filter(|text| text.ends_in(&[".md"]));
    let found = documents.flat_map(|text| {
        let missing = linked_files(&text).into_iter().filter(|path| !path.exists());
        missing.map(|path| format!("{} links to {}", text.name, path.display())).collect::<Vec<_>>()
    });
    expect_none("these are missing", found.collect());
}

#[test]
fn the_table_of_exit_codes_is_that_of_the_program() {
    let program = fs::read_to_string(root().join("src/console/exit.rs")).expect("the codes");
    let lines =
        program.lines().skip_while(|line| !line.contains("enum Exit")).take_while(|line| *line != "}");
    let codes = lines.filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
    let codes: Vec<String> = codes.map(|(_, code)| code.to_owned()).collect();
    let document = fs::read_to_string(root().join("docs/EXIT_CODES.md")).expect("the table");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    let rows: Vec<String> = rows.filter(|word| word.parse::<u8>().is_ok()).map(str::to_owned).collect();
    assert!(codes.len() > 5 && codes == rows, "program: {codes:?}, docs/EXIT_CODES.md: {rows:?}");
}

/// Files in which the name of a backend may appear: its declaration, its implementation, and the names that other
/// tools use for it.
const NAME_BACKENDS: [&str; 4] = [
    "crates/plan/src/workload/backend",
    "crates/engine/src/backend/",
    "crates/dialect/src/",
    "crates/testbed/",
];

/// Product code outside of tests, without that of these places.
fn product_code(except: &[&str]) -> impl Iterator<Item = Text> {
    let is_product = |text: &Text| {
        text.is_rust()
            && (text.name.starts_with("src/") || text.name.contains("/src/"))
            && !text.name.ends_with("/tests.rs")
    };
    let sources = texts().into_iter().filter(is_product);
    let others: Vec<Text> =
        sources.filter(|text| !except.iter().any(|place| text.name.starts_with(place))).collect();
    others.into_iter().map(|text| {
        let content = text.content.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        Text { content, ..text }
    })
}

/// How often a line names a variant of the enum `name`, outside of comments.
fn variants_named(line: &str, name: &str) -> usize {
    let code = line.split("//").next().unwrap_or_default();
    let all = code.split(name).skip(1).filter_map(|rest| rest.strip_prefix("::"));
    all.filter(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase())).count()
}

#[test]
fn other_code_asks_a_backend_for_its_capabilities() {
    let found = product_code(&NAME_BACKENDS)
        .flat_map(|text| text.lines_where(|line| variants_named(line, "Backend") > 0));
    expect_none("use a capability of plan::Capabilities", found.collect());
}

/// How often product code outside of `plan` and of the words of other tools names a phase instead of asking what it is.
/// This number may only fall.
const PHASES_NAMED_MOST: usize = 227;

#[test]
fn other_code_asks_phases_what_they_are() {
    let code: Vec<Text> = product_code(&["crates/plan/", "crates/dialect/", "src/foreign/"]).collect();
    let lines = code.iter().flat_map(|text| text.content.lines());
    let named = lines.map(|line| variants_named(line, "Phase")).sum::<usize>();
    assert_eq!(
        named, PHASES_NAMED_MOST,
        "`Phase::` is named {named} times: ask its row, and write a lower number here"
    );
}

/// Folders of the report in the order in which a page is made: the values of a report, their sections, the first screen,
/// the formats.
const REPORT: [&str; 4] = ["report", "section", "summary", "render"];

#[test]
fn a_page_is_made_in_one_pass() {
    let found = product_code(&[]).flat_map(|text| {
        let place = REPORT.iter().position(|one| text.name.starts_with(&format!("crates/report/src/{one}/")));
        let later: Vec<String> = place.map_or_else(Vec::new, |place| {
            REPORT[place + 1..].iter().map(|one| format!("crate::{one}::")).collect()
        });
        text.lines_where(|line| later.iter().any(|one| line.contains(one)))
    });
    expect_none("the values of a report do not know its sections, nor these the formats", found.collect());
}

/// The kinds of work, and the keys of each.
const NAME_WORK: [&str; 2] = ["crates/plan/src/work", "crates/plan/src/study/keys/work.rs"];

#[test]
fn other_code_asks_kinds_of_work_what_they_are() {
    let found =
        product_code(&NAME_WORK).flat_map(|text| text.lines_where(|line| variants_named(line, "Work") > 0));
    expect_none("use plan::WorkKind, or From and the accessors of plan::Work", found.collect());
}
