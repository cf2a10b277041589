//! The options of a tool as one table: their names, their values, and their effect here or the reason why they are
//! rejected. The table is used to parse the command line, and to generate help and documentation.
//!
//! Letters may be bundled (`-Cge`). A value may be attached (`-b1m`), follow an equals sign (`-G=-1`) or be the next
//! word.

pub(crate) mod extras;
pub(crate) mod help;
pub(crate) mod nearest;
pub(crate) mod sizes;

use std::fmt::Write as _;
use std::path::PathBuf;

use plan::OptionNote;

use crate::options::help::Help;
use crate::options::nearest::nearest;
use crate::{Extras, ToolError};

/// The value of an option. Each variant has an example of the option with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// No value.
    Nothing,
    /// A value.
    Value(&'static str),
    /// A value that cannot begin with a dash, so that the next option is not taken for a file name.
    Name(&'static str),
    /// All words up to the next option, at least one.
    Words(&'static str),
    /// An optional value, attached only.
    Attached(&'static str),
    /// An optional number, attached only, for example `-R5`.
    AttachedNumber(&'static str),
    /// An optional number, attached or in the next word, depending on the release.
    Number(&'static str),
}

impl Takes {
    const fn example(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Value(example)
            | Self::Name(example)
            | Self::Words(example)
            | Self::Attached(example)
            | Self::AttachedNumber(example)
            | Self::Number(example) => example,
        }
    }

    const fn is_required(self) -> bool {
        matches!(self, Self::Value(_) | Self::Name(_) | Self::Words(_))
    }
}

/// Whether an option is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It has an effect.
    Honoured,
    /// It is accepted without an effect, for this reason.
    Explained(&'static str),
    /// It is rejected, for this reason.
    Refused(&'static str),
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<Key: 'static> {
    /// What it sets.
    pub key: Key,
    /// The name after one dash, usually a letter; empty if it has none.
    pub short: &'static str,
    /// The words after two dashes.
    pub words: &'static [&'static str],
    /// Its names in `-O` and in IOR scripts.
    pub directives: &'static [&'static str],
    pub takes: Takes,
    pub state: State,
    /// A one-line description for the help.
    pub about: &'static str,
}

impl<Key: Copy> Spec<Key> {
    /// A supported option.
    pub(crate) const fn honoured(
        key: Key,
        short: &'static str,
        words: &'static [&'static str],
        takes: Takes,
        about: &'static str,
    ) -> Self {
        Self { key, short, words, directives: &[], takes, state: State::Honoured, about }
    }

    /// An option that is accepted without an effect, for the reason `why`.
    pub(crate) const fn explained(
        key: Key,
        short: &'static str,
        words: &'static [&'static str],
        takes: Takes,
        (about, why): (&'static str, &'static str),
    ) -> Self {
        Self { key, short, words, directives: &[], takes, state: State::Explained(why), about }
    }

    /// An option that is rejected, for the reason `why`.
    pub(crate) const fn refused(
        key: Key,
        short: &'static str,
        words: &'static [&'static str],
        takes: Takes,
        why: &'static str,
    ) -> Self {
        Self { key, short, words, directives: &[], takes, state: State::Refused(why), about: "refused" }
    }

    /// Returns the same option with names for `-O` and scripts.
    pub(crate) const fn directives(self, directives: &'static [&'static str]) -> Self {
        Self { directives, ..self }
    }

    /// Whether it takes no value.
    pub(crate) fn is_flag(&self) -> bool {
        self.takes == Takes::Nothing
    }

    /// Its first name, as typed.
    fn name(&self) -> String {
        match (self.short, self.words, self.directives) {
            ("", [], [directive, ..]) => format!("-O {directive}"),
            ("", [word, ..], _) => format!("--{word}"),
            (short, ..) => format!("-{short}"),
        }
    }

    /// Its effect, or the reason why it has none or is rejected.
    fn effect(&self) -> String {
        match self.state {
            State::Honoured => self.about.to_owned(),
            State::Explained(why) => format!("{}: {why}", self.about),
            State::Refused(why) => why.to_owned(),
        }
    }

    /// The option with an example of its value, and its long forms.
    fn usage(&self) -> String {
        let first = match self.takes.example() {
            "" if self.short.is_empty() && self.words.is_empty() => format!("{}=1", self.name()),
            "" => self.name(),
            example => example.to_owned(),
        };
        let words = self.words.iter().skip(usize::from(self.short.is_empty()));
        std::iter::once(first).chain(words.map(|word| format!("--{word}"))).collect::<Vec<_>>().join(", ")
    }
}

/// All options of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options<Key: 'static> {
    /// The tool's name, as typed.
    pub tool: &'static str,
    /// The tool's name, as written in text.
    pub called: &'static str,
    /// The arguments, for the usage line.
    pub usage: &'static str,
    /// A description of the tool, for the help.
    pub what: &'static str,
    /// ioproof's own options that have an effect with this tool, for the help.
    pub own: &'static [(&'static str, &'static str)],
    /// Whether words may follow a single dash and may be abbreviated, as for `getopt_long_only(3)`.
    pub long_only: bool,
    /// Whether a dash between letters is ignored, as in IOR's `-z-k`.
    pub ignores_dashes: bool,
    /// The options, in groups.
    pub specs: &'static [&'static [Spec<Key>]],
}

/// An option given on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given<Key> {
    tool: &'static str,
    pub key: Key,
    /// Its name in the plan.
    name: String,
    /// The option with its value, as written by the user.
    pub written: String,
    /// Its values; only [`Takes::Words`] has several.
    pub values: Vec<String>,
    /// Why it has no effect, if so.
    pub explained: Option<&'static str>,
}

impl<Key: Copy> Given<Key> {
    /// The note for the plan: the reason why it has no effect, or otherwise the `meaning` of its key.
    pub(crate) fn note(&self, meaning: impl FnOnce(Key) -> String) -> OptionNote {
        OptionNote {
            written: self.written.clone(),
            name: self.name.clone(),
            meaning: self.explained.map_or_else(|| meaning(self.key), |why| format!("no effect: {why}")),
        }
    }
}

type Words<'a> = std::iter::Peekable<std::slice::Iter<'a, String>>;

impl<Key: Copy + PartialEq> Options<Key> {
    /// All options.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Spec<Key>> + use<Key> {
        self.specs.iter().copied().flatten()
    }

    /// The line of the help for `key`.
    pub(crate) fn about(&self, key: Key) -> &'static str {
        self.all().find(|spec| spec.key == key).map_or("", |spec| spec.about)
    }

    /// Separates ioproof's own options from the words for the tool, which are returned without the
    /// program's name.
    ///
    /// # Errors
    /// Errors if one of ioproof's own options has no value or an invalid one.
    pub(crate) fn extras(&self, arguments: &[String]) -> Result<(Extras, Vec<String>), ToolError> {
        let split = Extras::split(arguments);
        let (extras, mut words) =
            split.map_err(|error| self.error("ioproof's own options", &error.to_string()))?;
        words.drain(..words.len().min(1));
        Ok((extras, words))
    }

    /// Parses the words after the program's name, all of which must be options.
    ///
    /// # Errors
    /// Returns an error about the first word that is unknown, has no value, or is rejected.
    pub(crate) fn read(&self, words: &[String]) -> Result<Vec<Given<Key>>, ToolError> {
        self.read_with(words, |word| {
            Err(self.error(word, "is neither an option nor an option's value; see -h for all options"))
        })
    }

    /// Like [`Options::read`], but passes words that do not belong to an option to `operand`.
    ///
    /// # Errors
    /// Same as for [`Options::read`], and the errors of `operand`.
    pub(crate) fn read_with(
        &self,
        words: &[String],
        mut operand: impl FnMut(&str) -> Result<(), ToolError>,
    ) -> Result<Vec<Given<Key>>, ToolError> {
        let mut given = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if word == "--" && self.long_only {
                words.by_ref().try_for_each(|word| operand(word))?;
                break;
            }
            let Some(text) = word.strip_prefix('-').filter(|text| !text.is_empty()) else {
                operand(word)?;
                continue;
            };
            match self.long(word, text)? {
                Some(spec) => {
                    let (name, attached) = match word.split_once('=') {
                        Some((name, value)) => (name, Some(value)),
                        None => (word.as_str(), None),
                    };
                    let values = self.values(spec, attached, &mut words);
                    given.push(self.give(spec, name, values)?);
                }
                None => self.letters(word, text, &mut words, &mut given)?,
            }
        }
        Ok(given)
    }

    /// The option with the name `text` after a single dash, or `None` if `text` consists of letters.
    fn long(&self, word: &str, text: &str) -> Result<Option<&'static Spec<Key>>, ToolError> {
        let double = text.strip_prefix('-');
        let name = double.unwrap_or(text);
        let name = name.split('=').next().unwrap_or(name);
        let is_word = double.is_some() || name.chars().count() > 1;
        let same = |spec: &&Spec<Key>| spec.words.iter().any(|known| known.eq_ignore_ascii_case(name));
        if let Some(spec) = self.all().find(same).filter(|_| is_word) {
            return match double.is_some() || self.long_only {
                true => Ok(Some(spec)),
                // `-posix.odirect` would be read as -p, then -o with the file `six.odirect`.
                false => Err(self.unknown(word, spec.words.first().map(|word| format!("--{word}")))),
            };
        }
        if self.long_only && is_word {
            let begins = |spec: &&Spec<Key>| spec.words.iter().any(|known| known.starts_with(name));
            let found: Vec<&Spec<Key>> = self.all().filter(begins).collect();
            match found[..] {
                [] => {}
                [spec] => return Ok(Some(spec)),
                _ => {
                    let names: Vec<String> = found.iter().map(|spec| format!("-{}", spec.words[0])).collect();
                    return Err(self.error(word, &format!("is ambiguous: {}", names.join(", "))));
                }
            }
        }
        match double {
            Some(_) => {
                let near = nearest(name, self.all().flat_map(|spec| spec.words));
                Err(self.unknown(word, near.map(|near| format!("--{near}"))))
            }
            None => Ok(None),
        }
    }

    fn letters(
        &self,
        word: &str,
        letters: &str,
        words: &mut Words<'_>,
        given: &mut Vec<Given<Key>>,
    ) -> Result<(), ToolError> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            if letter == '-' && self.ignores_dashes && rest.len() < letters.len() {
                rest = &rest[1..];
                continue;
            }
            // The longest name takes precedence: `-noinv` is not -n with a value.
            let known = self.all().filter(|spec| !spec.short.is_empty() && rest.starts_with(spec.short));
            let Some(spec) = known.max_by_key(|spec| spec.short.len()) else {
                return Err(self.unknown(&bundled(word, letter), self.other_case(letter)));
            };
            rest = &rest[spec.short.len()..];
            let attached = match (spec.takes, rest.strip_prefix('=')) {
                (_, Some(value)) => Some(value),
                (Takes::Nothing, None) => None,
                (Takes::Number(_) | Takes::AttachedNumber(_), None)
                    if !rest.starts_with(|next: char| next.is_ascii_digit()) =>
                {
                    None
                }
                (_, None) => Some(rest).filter(|rest| !rest.is_empty()),
            };
            if attached.is_some() {
                rest = "";
            }
            let values = match rest {
                "" => self.values(spec, attached, words),
                _ => Vec::new(),
            };
            given.push(self.give(spec, &format!("-{}", spec.short), values)?);
        }
        Ok(())
    }

    /// The values, which are attached or in the next words.
    fn values(&self, spec: &Spec<Key>, attached: Option<&str>, words: &mut Words<'_>) -> Vec<String> {
        let mut values: Vec<String> = attached.map(str::to_owned).into_iter().collect();
        match spec.takes {
            Takes::Words(_) => {
                while let Some(next) = words.next_if(|next| !next.starts_with('-')) {
                    values.push(next.clone());
                }
            }
            _ if attached.is_some() => {}
            Takes::Value(_) => values.extend(words.next().cloned()),
            Takes::Name(_) => values.extend(words.next_if(|next| !next.starts_with('-')).cloned()),
            Takes::Number(_) => values.extend(words.next_if(|next| next.parse::<u64>().is_ok()).cloned()),
            Takes::Nothing | Takes::Attached(_) | Takes::AttachedNumber(_) => {}
        }
        values
    }

    /// Creates the option `spec` with its values. `option` is how it was typed.
    fn give(&self, spec: &Spec<Key>, option: &str, values: Vec<String>) -> Result<Given<Key>, ToolError> {
        let written = match values.is_empty() {
            true => option.to_owned(),
            false if option.starts_with("--") => format!("{option}={}", values.join(" ")),
            false => format!("{option} {}", values.join(" ")),
        };
        let name = spec.directives.first().copied().unwrap_or(option.trim_start_matches('-')).to_owned();
        let given = self.given(spec, name, written, values)?;
        if spec.takes.is_required() && given.values.is_empty() {
            return Err(self.error(option, &format!("needs a value, as in {}", spec.takes.example())));
        }
        Ok(given)
    }

    fn given(
        &self,
        spec: &Spec<Key>,
        name: String,
        written: String,
        values: Vec<String>,
    ) -> Result<Given<Key>, ToolError> {
        let explained = match spec.state {
            State::Honoured => None,
            State::Explained(why) => Some(why),
            // IOR scripts list every directive, most of them with a value that turns it off.
            State::Refused(_) if !spec.directives.is_empty() && values.iter().any(|value| is_off(value)) => {
                Some("it is turned off")
            }
            State::Refused(why) => return Err(self.error(&written, &format!("is refused: {why}"))),
        };
        Ok(Given { tool: self.tool, key: spec.key, name, written, values, explained })
    }

    /// Parses one `NAME=VALUE` of `-O` or of a script. `written` is used in messages.
    ///
    /// # Errors
    /// Errors if the directive is unknown, has no value, or is rejected.
    pub(crate) fn directive(&self, directive: &str, written: String) -> Result<Given<Key>, ToolError> {
        let Some((name, value)) = directive.split_once('=') else {
            let name = if directive.is_empty() { "keepFile" } else { directive };
            return Err(self.error(&written, &format!("needs a value, as in {name}=1")));
        };
        let (name, value) = (name.trim(), value.trim().to_owned());
        let same = |spec: &&Spec<Key>| spec.directives.iter().any(|known| known.eq_ignore_ascii_case(name));
        match self.all().find(same) {
            Some(spec) => self.given(spec, spec.directives[0].to_owned(), written, vec![value]),
            None => Err(self.unknown(&written, nearest(name, self.all().flat_map(|spec| spec.directives)))),
        }
    }

    fn other_case(&self, letter: char) -> Option<String> {
        let other = match letter.is_ascii_uppercase() {
            true => letter.to_ascii_lowercase(),
            false => letter.to_ascii_uppercase(),
        };
        self.all().any(|spec| spec.short.chars().eq([other])).then(|| format!("-{other}"))
    }

    fn unknown(&self, written: &str, suggestion: Option<String>) -> ToolError {
        let next = match suggestion {
            Some(name) => format!("did you mean {name}?"),
            None => "see -h for all options".to_owned(),
        };
        self.error(written, &format!("is not an option of {}; {next}", self.called))
    }

    /// Makes an error about this tool's command line.
    pub(crate) fn error(&self, written: &str, reason: &str) -> ToolError {
        ToolError { tool: self.tool, written: written.to_owned(), reason: reason.to_owned() }
    }

    /// The text of `-h`: the supported options, then the rejected ones.
    pub(crate) fn help(&self) -> Help {
        let (refused, taken): (Vec<&Spec<Key>>, Vec<&Spec<Key>>) =
            self.all().partition(|spec| matches!(spec.state, State::Refused(_)));
        Help {
            usage: format!("{} {}", self.tool, self.usage),
            what: self.what,
            called: self.called,
            options: taken.iter().map(|spec| (spec.usage(), spec.effect())).collect(),
            own: self.own.to_vec(),
            refused: refused.iter().map(|spec| spec.name()).collect(),
        }
    }

    /// The table of all options for a page of documentation, in Markdown.
    pub(crate) fn table(&self) -> String {
        let has_directives = self.all().any(|spec| !spec.directives.is_empty());
        let (column, line) = if has_directives { (" directive |", "---|") } else { ("", "") };
        let mut out = format!("| option |{column} state | what it does, or why not |\n|---|{line}---|---|\n");
        for spec in self.all() {
            let code = |prefix: &str, names: &[&str]| -> Vec<String> {
                names.iter().map(|name| format!("`{prefix}{name}`")).collect()
            };
            let short = match (spec.short, spec.takes.example()) {
                ("", _) => Vec::new(),
                // The example is complete and not only a value.
                (_, example) if example.starts_with('-') => code("", &[example]),
                (short, _) => code("-", &[short]),
            };
            let options = [short, code("--", spec.words)].concat().join(" ");
            let directives = match has_directives {
                true => format!(" {} |", code("", spec.directives).join(" ")),
                false => String::new(),
            };
            let state = match spec.state {
                State::Honoured => "honoured",
                State::Explained(_) => "explained",
                State::Refused(_) => "refused",
            };
            let _ =
                writeln!(out, "| {options} |{directives} {state} | {} |", spec.effect().replace('|', "\\|"));
        }
        out
    }
}

/// Whether a value turns its option off.
pub(crate) fn is_off(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "-1" | "" | "(null)" | "default")
}

impl<Key> Given<Key> {
    /// The value; empty if there is none.
    pub(crate) fn text(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }

    /// Whether a flag is set: either it has no value, or one that sets it, as in `keepFile=1`.
    pub(crate) fn flag(&self) -> Result<bool, ToolError> {
        match self.values.first().map(|value| value.to_ascii_lowercase()).as_deref() {
            None | Some("1" | "true") => Ok(true),
            Some("0" | "false") => Ok(false),
            Some(other) => match other.parse::<i64>() {
                Ok(number) => Ok(number != 0),
                Err(_) => Err(self.wrong("is neither 0 nor 1")),
            },
        }
    }

    /// The error for a value that is not permitted; `problem` is the reason.
    pub(crate) fn wrong(&self, problem: &str) -> ToolError {
        ToolError {
            tool: self.tool,
            written: self.written.clone(),
            reason: format!("{:?} {problem}", self.text()),
        }
    }

    /// A whole number from 0 to `most`, with or without the suffix of a size, because the tools included
    /// in IOR accept `6k` for 6144 wherever a number is expected.
    pub(crate) fn count(&self, most: u64) -> Result<u64, ToolError> {
        match sizes::parse(self.text()) {
            Ok(number) if number <= most => Ok(number),
            Ok(_) => Err(self.wrong(&format!("is too large; the maximum is {most}"))),
            Err(_) => Err(self.wrong(&format!("is not a whole number from 0 to {most}"))),
        }
    }

    /// Like [`Given::count`], limited to 32 bits.
    pub(crate) fn count32(&self, most: u32) -> Result<u32, ToolError> {
        let number = self.count(u64::from(most))?;
        u32::try_from(number).map_err(|_| self.wrong(&format!("is too large; the maximum is {most}")))
    }

    pub(crate) fn whole(&self) -> Result<i64, ToolError> {
        self.text().parse().map_err(|_| self.wrong("is not a whole number"))
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

    /// Paths separated by `@`.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, ToolError> {
        let paths: Vec<PathBuf> = self.text().split('@').map(PathBuf::from).collect();
        match paths.iter().any(|path| path.as_os_str().is_empty()) {
            true => Err(self.wrong("has an empty name; give one directory, or several joined by @")),
            false => Ok(paths),
        }
    }
}

/// The wrong letter, together with its word if that contains other letters.
fn bundled(word: &str, letter: char) -> String {
    let alone = format!("-{letter}");
    if word == alone { alone } else { format!("{alone} in {word}") }
}
