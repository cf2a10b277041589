//! Tests that the command lines in the documentation are ones that the program takes, and that its help has all.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::definition;
use super::groups::{COLUMNS, GROUPS};
use crate::dispatch::tool_called;

/// Pages whose commands a reader copies.
const PAGES: [&str; 3] = ["README.md", "docs/TOUR.md", "docs/CONFIG.md"];

/// The lines of `console` blocks, and what stands in backticks in tables.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &block) {
            (Some(kind), None) => block = Some(kind.to_owned()),
            (Some(_), Some(_)) => block = None,
            (None, Some(kind)) if kind == "console" => {
                found.push(line.strip_prefix("$ ").unwrap_or(line).to_owned());
            }
            (None, None) if line.starts_with('|') => {
                found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

/// The words of a shell line from `ioproof` on, without a comment; `None` if it does not call the program.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.split(" #").next().unwrap_or(line);
    let at = line
        .match_indices("ioproof")
        .map(|(at, _)| at)
        .find(|&at| (at == 0 || line[..at].ends_with(' ')) && line[at..].starts_with("ioproof "))?;
    let (mut words, mut quoted, mut word) = (Vec::new(), false, String::new());
    for letter in line[at..].chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Some(words)
}

#[test]
fn what_the_pages_print_is_taken_as_printed() {
    let mut count = 0;
    for page in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = fs::read_to_string(&path).expect(page);
        for command in commands(&text) {
            assert!(!command.contains("; "), "{page}: a reader runs one command at a time: {command}");
            let Some(words) = words(&command) else { continue };
            if tool_called(words[1].as_ref()).is_some() {
                continue;
            }
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let parsed = definition().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{page}: {command}: {}", parsed.expect_err("it is one"));
            count += 1;
        }
    }
    assert!(count > 30, "only {count} commands were found");
}

#[test]
fn the_first_page_is_short() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let lines = fs::read_to_string(path).expect("there").lines().count();
    assert!(lines <= 150, "{lines} lines; the rest belongs into docs/TOUR.md");
}

#[test]
fn every_command_is_in_exactly_one_group() {
    let definition = definition();
    let mut there: Vec<&str> =
        definition.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name).collect();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    there.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, there);
}

#[test]
fn the_help_fits_a_terminal_of_80_columns() {
    let help = definition().render_help().to_string();
    for line in help.lines() {
        assert!(line.chars().count() <= COLUMNS, "{line}");
    }
    assert!(!help.contains("Commands:"), "{help}");
}
