//! The help of `ioproof iozone` and the reference of its options, from the one table.

use std::fmt::Write as _;

use super::options::{Key, OPTIONS, Spec, Takes};
use crate::help::{self, Help};

/// What IOzone says to an empty line.
pub(super) fn short() -> String {
    "\tUsage: For usage information type iozone -h \n\n".to_owned()
}

pub(super) fn version() -> String {
    format!(
        "       'Iozone' Filesystem Benchmark Program\n \n        Version $Revision: 3.508 $, as ioproof {} measures and prints it\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// What `-h` shows: every option that is heeded, then those that are refused.
pub(super) fn help() -> Help {
    let taken = OPTIONS.iter().filter(|spec| !is_refused(spec));
    Help {
        usage: "iozone [OPTION]...".to_owned(),
        what: "Measures as IOzone does: -a a table of file × record sizes, -s -r one pair, -t processes at once.\n\
               Sizes are kB, or take k, m, g (powers of 1024). Every difference to IOzone: docs/IOZONE.md",
        called: "IOzone",
        options: taken.map(|spec| (usage(spec), spec.about.to_owned())).collect(),
        own: vec![
            help::EXPLAIN,
            help::OUT,
            ("--verify", "compare every read, inside the timed phase"),
            ("--tasks-per-rank K", "processes of the line on each process of a launcher (1)"),
            help::YES,
            help::NO_PROGRESS,
        ],
        refused: OPTIONS.iter().filter(|spec| is_refused(spec)).map(|spec| spec.name.to_owned()).collect(),
    }
}

/// The table of all options for `docs/IOZONE.md`, in Markdown.
pub(super) fn reference() -> String {
    let mut out = String::from("| option | state | what it does, or why not |\n|---|---|---|\n");
    for spec in OPTIONS {
        let (state, text) = match spec.key {
            Key::Refused(reason) => ("refused", reason),
            Key::Idle(_) => ("explained", spec.about),
            _ => ("honoured", spec.about),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| `{}` | {state} | {text} |", usage(spec));
    }
    out
}

fn is_refused(spec: &Spec) -> bool {
    matches!(spec.key, Key::Refused(_))
}

fn usage(spec: &Spec) -> String {
    match spec.takes {
        Takes::Nothing => spec.name.to_owned(),
        Takes::Value(value) | Takes::Words(value) => format!("{} {value}", spec.name),
    }
}
