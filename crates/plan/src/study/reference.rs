//! The reference of study files, from the same definition that the reader uses.

use std::fmt::Write as _;

use super::keys::TABLES;
use super::kind::{Absent, Key, Kind, Table};

/// What comes before the tables. The example is read by a test.
const INTRODUCTION: &str = r#"# The study file

<!-- Written by `UPDATE_DOCS=1 cargo test -p ioproof-plan`; change crates/plan/src/study/keys.rs instead. -->

A study says what is to be measured, and `ioproof run STUDY.toml` measures it. It is a
[TOML](https://toml.io) file with the tables below. A key or a value that is not listed here is
refused with its line, and so is a key that would do nothing.

```toml
[study]
title = "Streams on the scratch disk"

[protocol]
repetitions = 3

[[target]]
name = "scratch"
directory = "/mnt/scratch"

[[workload]]
name = "stream"
transfer = "1MiB"
size = "8GiB"
tasks = 4
direct = true
fsync = "close"
```

## Sizes and times

| written | means |
|---|---|
| `4096` or `"4096"` | bytes |
| `"4k"`, `"1m"`, `"1g"`, `"1t"`, `"1p"` | binary, as in IOR: 2^10, 2^20, 2^30, 2^40, 2^50 bytes; capitals mean the same |
| `"4KiB"`, `"1MiB"`, `"1GiB"`, `"1TiB"`, `"1PiB"` | the same |
| `"4kB"`, `"1MB"`, `"1GB"`, `"1TB"`, `"1PB"` | decimal: 10^3, 10^6, 10^9, 10^12, 10^15 bytes |
| `"10ns"`, `"10us"`, `"10ms"`, `"10s"`, `"10min"`, `"10h"` | a time; it always has its unit |

A number may have a fraction that comes out even, as `"1.5GiB"`.

## Workloads on the same files

Two workloads use the same files when they have the same target, `sharing`, `unique_dir` and
`file_per_repetition`. One can read what the other has written. What either says about the files
(`existing`, `keep`, `preallocate`, `fill`) holds for both.

A workload that reads before it writes needs data: from a workload before it on the same files, or
by `fill`.
"#;

/// The text of `docs/STUDY.md`.
#[must_use]
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    for table in TABLES {
        write_table(&mut text, table);
    }
    text
}

fn write_table(text: &mut String, table: &Table) {
    let times = if table.many() { "any number of times" } else { "at most once" };
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    line("");
    line(&format!("## `{}`", table.header()));
    line("");
    line(&format!("{} It comes {times}.", table.meaning));
    line("");
    line("| key | value | left out | meaning |");
    line("|---|---|---|---|");
    for key in table.keys {
        line(&row(key));
    }
}

fn row(key: &Key) -> String {
    let absent = match key.absent {
        Absent::Refused => "refused".to_owned(),
        Absent::Value(value) => format!("`{value}`"),
        Absent::Described(words) => words.to_owned(),
    };
    let mut meaning = key.meaning.to_owned();
    for (word, what) in key.kind.words() {
        // Writing to a String cannot fail.
        let _ = write!(meaning, "<br>`\"{word}\"`: {what}");
    }
    format!("| `{}` | {} | {absent} | {meaning} |", key.name, value(&key.kind))
}

/// The type of a value with its unit or bounds.
fn value(kind: &Kind) -> String {
    match kind {
        Kind::Count(least, most) if *most == i64::MAX.unsigned_abs() => {
            format!("a whole number, {least} or more")
        }
        Kind::Count(least, most) => format!("a whole number from {least} to {most}"),
        Kind::Name => "a name: letters, digits, `.`, `_`, `-`, at most 64".to_owned(),
        Kind::Rate => "a number above 0, per second".to_owned(),
        Kind::Size => "a size in bytes".to_owned(),
        other => other.noun().to_owned(),
    }
}
