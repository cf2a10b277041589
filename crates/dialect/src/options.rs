//! Options of a tool as one table: what they are called, what they take, what they do here or why not.
//! Command lines are read, and help and documentation are written, from it.
//!
//! Letters may be bundled (`-Cge`); a value may be attached (`-b1m`), follow an equals sign (`-G=-1`) or
//! stand in the next word. IOR, whose directives and scripts go further, has a reader of its own.

use std::fmt::Write as _;
use std::path::PathBuf;

use plan::OptionNote;

use crate::help::{self, Help};
use crate::nearest::nearest;
use crate::{ToolError, sizes};

/// What stands behind an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// A value, as in this example.
    Value(&'static str),
    /// A value that is attached or missing, as in `-R5`.
    Attached(&'static str),
    /// A number, attached or in the next word, or nothing: releases differ.
    Number(&'static str),
}

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It is obeyed.
    Honoured,
    /// It is taken and changes nothing here, for this reason.
    Explained(&'static str),
    /// It is refused, for this reason.
    Refused(&'static str),
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<Key: 'static> {
    /// What it sets.
    pub key: Key,
    /// The letter after one dash.
    pub letter: Option<char>,
    /// The words after two dashes.
    pub words: &'static [&'static str],
    pub takes: Takes,
    pub state: State,
    /// One line for the help.
    pub about: &'static str,
}

impl<Key> Spec<Key> {
    /// An option that is obeyed.
    pub(crate) const fn honoured(
        key: Key,
        letter: Option<char>,
        words: &'static [&'static str],
        takes: Takes,
        about: &'static str,
    ) -> Self {
        Self { key, letter, words, takes, state: State::Honoured, about }
    }

    /// An option that is taken and changes nothing, for this reason.
    pub(crate) const fn explained(
        key: Key,
        letter: Option<char>,
        words: &'static [&'static str],
        takes: Takes,
        (about, why): (&'static str, &'static str),
    ) -> Self {
        Self { key, letter, words, takes, state: State::Explained(why), about }
    }

    /// An option that is refused, for this reason.
    pub(crate) const fn refused(
        key: Key,
        letter: Option<char>,
        words: &'static [&'static str],
        takes: Takes,
        why: &'static str,
    ) -> Self {
        Self { key, letter, words, takes, state: State::Refused(why), about: "refused" }
    }
}

/// All options of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options<Key: 'static> {
    pub tool: &'static str,
    pub specs: &'static [Spec<Key>],
}

/// An option as a command line has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given<Key> {
    tool: &'static str,
    pub key: Key,
    /// The option alone, as in `-b`.
    pub option: String,
    /// With its value, as written.
    pub written: String,
    pub value: Option<String>,
    /// Why it changes nothing.
    pub explained: Option<&'static str>,
}

impl<Key: Copy> Given<Key> {
    /// What it does, for the plan: why it changes nothing, or else what `meaning` says of its key.
    pub(crate) fn note(&self, meaning: impl FnOnce(Key) -> String) -> OptionNote {
        OptionNote {
            written: self.written.clone(),
            name: self.option.trim_start_matches('-').to_owned(),
            meaning: self.explained.map_or_else(|| meaning(self.key), |why| format!("no effect: {why}")),
        }
    }
}

impl<Key: Copy> Options<Key> {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    /// The first word that is unknown, lacks its value, or is refused.
    pub(crate) fn read(&self, words: &[String]) -> Result<Vec<Given<Key>>, ToolError> {
        let mut given = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let mut next = |takes: Takes| match takes {
                Takes::Value(_) => words.next().cloned(),
                Takes::Number(_) => words.next_if(|word| word.parse::<u64>().is_ok()).cloned(),
                Takes::Nothing | Takes::Attached(_) => None,
            };
            if let Some(long) = word.strip_prefix("--") {
                given.push(self.long(word, long, &mut next)?);
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.letters(word, letters, &mut next, &mut given)?;
            } else {
                return Err(self.error(word, "belongs to no option; see -h for all of them"));
            }
        }
        Ok(given)
    }

    fn long(
        &self,
        word: &str,
        long: &str,
        next: &mut impl FnMut(Takes) -> Option<String>,
    ) -> Result<Given<Key>, ToolError> {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let found = |spec: &&Spec<Key>| spec.words.iter().any(|known| known.eq_ignore_ascii_case(name));
        let Some(spec) = self.specs.iter().find(found) else {
            let near = nearest(name, self.specs.iter().flat_map(|spec| spec.words));
            return Err(self.unknown(word, near.map(|near| format!("--{near}"))));
        };
        let value = attached.or_else(|| next(spec.takes));
        self.give(spec, format!("--{name}"), value)
    }

    fn letters(
        &self,
        word: &str,
        letters: &str,
        next: &mut impl FnMut(Takes) -> Option<String>,
        given: &mut Vec<Given<Key>>,
    ) -> Result<(), ToolError> {
        // `-posix.odirect` would be read as letters, of which the last is unknown.
        let whole = letters.split('=').next().unwrap_or(letters);
        let same = |known: &&&str| whole.chars().count() > 1 && known.eq_ignore_ascii_case(whole);
        if let Some(long) = self.specs.iter().flat_map(|spec| spec.words).find(same) {
            return Err(self.unknown(word, Some(format!("--{long}"))));
        }
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let Some(spec) = self.specs.iter().find(|spec| spec.letter == Some(letter)) else {
                return Err(self.unknown(&bundled(word, letter), self.other_case(letter)));
            };
            let attached = match (spec.takes, rest.strip_prefix('=')) {
                (_, Some(value)) => Some(value),
                (Takes::Nothing, None) => None,
                (Takes::Number(_) | Takes::Attached(_), None)
                    if !rest.starts_with(|next: char| next.is_ascii_digit()) =>
                {
                    None
                }
                (_, None) => Some(rest).filter(|rest| !rest.is_empty()),
            };
            if attached.is_some() {
                rest = "";
            }
            let takes = if rest.is_empty() { spec.takes } else { Takes::Nothing };
            let value = attached.map(str::to_owned).or_else(|| next(takes));
            given.push(self.give(spec, format!("-{letter}"), value)?);
        }
        Ok(())
    }

    pub(crate) fn give(
        &self,
        spec: &Spec<Key>,
        option: String,
        value: Option<String>,
    ) -> Result<Given<Key>, ToolError> {
        let written = match &value {
            Some(value) if option.starts_with("--") => format!("{option}={value}"),
            Some(value) => format!("{option} {value}"),
            None => option.clone(),
        };
        if let (Takes::Value(example), None) = (spec.takes, &value) {
            return Err(self.error(&written, &format!("needs a value, as in {example}")));
        }
        let explained = match spec.state {
            State::Honoured => None,
            State::Explained(why) => Some(why),
            State::Refused(why) => return Err(self.error(&written, &format!("is refused: {why}"))),
        };
        Ok(Given { tool: self.tool, key: spec.key, option, written, value, explained })
    }

    fn other_case(&self, letter: char) -> Option<String> {
        let other = match letter.is_ascii_uppercase() {
            true => letter.to_ascii_lowercase(),
            false => letter.to_ascii_uppercase(),
        };
        self.specs.iter().any(|spec| spec.letter == Some(other)).then(|| format!("-{other}"))
    }

    fn unknown(&self, written: &str, suggestion: Option<String>) -> ToolError {
        match suggestion {
            Some(name) => {
                self.error(written, &format!("is no option of {}; did you mean {name}?", self.tool))
            }
            None => self.error(written, &format!("is no option of {}; see -h for all of them", self.tool)),
        }
    }

    /// An error of this tool's command line.
    pub(crate) fn error(&self, written: &str, reason: &str) -> ToolError {
        ToolError { tool: self.tool, written: written.to_owned(), reason: reason.to_owned() }
    }

    /// What `-h` shows: every option that is taken, then those that are refused.
    pub(crate) fn help(&self, what: &'static str) -> Help {
        let refused = |spec: &&Spec<Key>| matches!(spec.state, State::Refused(_));
        let taken = self.specs.iter().filter(|spec| !refused(spec));
        Help {
            usage: format!("{} [OPTION]...", self.tool),
            what,
            called: self.tool,
            options: taken.map(|spec| (usage(spec), spec.about.to_owned())).collect(),
            own: vec![
                help::EXPLAIN,
                help::OUT,
                ("--compat RELEASE", "which release's tables are printed"),
                help::TASKS_PER_RANK,
                help::YES,
                help::NO_PROGRESS,
            ],
            refused: self.specs.iter().filter(refused).map(name).collect(),
        }
    }

    /// The table of all options for a page of documentation, in Markdown.
    pub(crate) fn table(&self) -> String {
        let mut out = String::from("| option | state | what it does, or why not |\n|---|---|---|\n");
        for spec in self.specs {
            let letter = spec.letter.map(|letter| format!("`-{letter}`"));
            let words = spec.words.iter().map(|word| format!("`--{word}`"));
            let options = letter.into_iter().chain(words).collect::<Vec<_>>().join(" ");
            let (state, text) = match spec.state {
                State::Honoured => ("honoured", spec.about.to_owned()),
                State::Explained(why) => ("explained", format!("{}: {why}", spec.about)),
                State::Refused(why) => ("refused", why.to_owned()),
            };
            let _ = writeln!(out, "| {options} | {state} | {} |", text.replace('|', "\\|"));
        }
        out
    }
}

impl<Key> Given<Key> {
    pub(crate) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// The value cannot be what it is; `problem` says what is allowed.
    pub(crate) fn wrong(&self, problem: &str) -> ToolError {
        ToolError {
            tool: self.tool,
            written: self.written.clone(),
            reason: format!("{:?} {problem}", self.text()),
        }
    }

    /// A whole number from 0 to `most`, with or without the suffix of a size: the tools that come with IOR
    /// take `6k` for 6144 wherever a number stands.
    pub(crate) fn count(&self, most: u64) -> Result<u64, ToolError> {
        match sizes::parse(self.text()) {
            Ok(number) if number <= most => Ok(number),
            Ok(_) => Err(self.wrong(&format!("is too large; the most is {most}"))),
            Err(_) => Err(self.wrong(&format!("is no whole number from 0 to {most}"))),
        }
    }

    /// As [`Given::count`], within 32 bits.
    pub(crate) fn count32(&self, most: u32) -> Result<u32, ToolError> {
        let number = self.count(u64::from(most))?;
        u32::try_from(number).map_err(|_| self.wrong(&format!("is too large; the most is {most}")))
    }

    pub(crate) fn whole(&self) -> Result<i64, ToolError> {
        self.text().parse().map_err(|_| self.wrong("is no whole number"))
    }

    /// Bytes, with or without k, m, g, t or p.
    pub(crate) fn size(&self) -> Result<u64, ToolError> {
        sizes::parse(self.text()).map_err(|problem| self.wrong(&problem))
    }

    pub(crate) fn path(&self) -> Result<PathBuf, ToolError> {
        match self.text() {
            "" => Err(self.wrong("names no file")),
            path => Ok(PathBuf::from(path)),
        }
    }

    /// Paths joined by `@`.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, ToolError> {
        let paths: Vec<PathBuf> = self.text().split('@').map(PathBuf::from).collect();
        match paths.iter().any(|path| path.as_os_str().is_empty()) {
            true => Err(self.wrong("has an empty name; give one directory, or several joined by @")),
            false => Ok(paths),
        }
    }
}

/// The letter that is wrong, and where it stands if not alone.
fn bundled(word: &str, letter: char) -> String {
    let alone = format!("-{letter}");
    if word == alone { alone } else { format!("{alone} in {word}") }
}

fn name<Key>(spec: &Spec<Key>) -> String {
    match (spec.letter, spec.words.first()) {
        (Some(letter), _) => format!("-{letter}"),
        (None, word) => format!("--{}", word.copied().unwrap_or_default()),
    }
}

fn usage<Key>(spec: &Spec<Key>) -> String {
    let example = match spec.takes {
        Takes::Nothing => String::new(),
        Takes::Value(example) | Takes::Attached(example) | Takes::Number(example) => example.to_owned(),
    };
    let words = spec.words.iter().map(|word| format!("--{word}"));
    let names = spec.letter.map(|letter| format!("-{letter}")).into_iter().chain(words);
    match example.is_empty() {
        true => names.collect::<Vec<_>>().join(", "),
        false => example,
    }
}
