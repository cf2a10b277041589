//! The help of `ioproof ior` and the reference of its options, from the one table.

use std::fmt::Write as _;

use super::options::{Key, OPTIONS, Spec, Takes};
use crate::help::{self, Help};

/// What `-h` shows: every option that is honoured, then those that are refused.
#[must_use]
pub fn help() -> Help {
    let taken = OPTIONS.iter().filter(|spec| !is_refused(spec));
    Help {
        usage: "ior [OPTION]...".to_owned(),
        what: "Measures as IOR does: -w -r on one file, -F a file for each task, -N tasks.\n\
               Sizes take k, m, g, t (powers of 1024). Every option and every difference to IOR: docs/IOR.md",
        called: "IOR",
        options: taken.map(|spec| (usage(spec), spec.about.to_owned())).collect(),
        own: vec![
            help::EXPLAIN,
            help::OUT,
            ("--compat 3.0|3.3|4.0", "which release's tables are printed"),
            ("--verify", "compare every read, inside the timed phase"),
            ("--fadvise none|as-published|as-meant", "what the kernel is told after open"),
            help::TASKS_PER_RANK,
            help::YES,
            help::NO_PROGRESS,
            ("--destroy-data-on SERIAL|WWN|PATH", "give up the data of a block device"),
        ],
        refused: OPTIONS.iter().filter(|spec| is_refused(spec)).map(name).collect(),
    }
}

/// The table of all options for `docs/IOR.md`, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut out =
        String::from("| option | directive | state | what it does, or why not |\n|---|---|---|---|\n");
    for spec in OPTIONS {
        let letter = spec.short.map(|letter| format!("`-{letter}`"));
        let words = spec.long.iter().map(|long| format!("`--{long}`"));
        let options = letter.into_iter().chain(words).collect::<Vec<_>>().join(" ");
        let names = spec.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
        let (state, text) = match spec.key {
            Key::Refused(reason) => ("refused", reason),
            Key::ShowHints | Key::GpuId | Key::AioGranularity | Key::Packet | Key::StoreOffset => {
                ("explained", spec.about)
            }
            _ => ("honoured", spec.about),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| {options} | {names} | {state} | {text} |");
    }
    out
}

fn is_refused(spec: &Spec) -> bool {
    matches!(spec.key, Key::Refused(_))
}

fn name(spec: &Spec) -> String {
    match (spec.short, spec.long.first(), spec.names.first()) {
        (Some(letter), _, _) => format!("-{letter}"),
        (None, Some(long), _) => format!("--{long}"),
        (None, None, name) => format!("-O {}", name.copied().unwrap_or_default()),
    }
}

fn usage(spec: &Spec) -> String {
    let mut usage = match (spec.takes, spec.short) {
        (Takes::Value(example), Some(_)) => example.to_owned(),
        (Takes::Value(example), None) => format!("{}={example}", name(spec)),
        (Takes::Nothing, None) if spec.long.is_empty() => format!("{}=1", name(spec)),
        (Takes::Nothing, _) => name(spec),
    };
    for long in spec.long.iter().take(1).filter(|_| spec.short.is_some()) {
        usage.push_str(", --");
        usage.push_str(long);
    }
    usage
}
