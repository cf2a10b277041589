//! Reads a command line of IOR from left to right, with its directives and scripts.
//!
//! Letters may be bundled (`-Cge`), values may be attached (`-b1m`), follow an equals sign
//! (`-G=-1`) or stand in the next word. `-O` holds directives joined by commas. `-f` runs the
//! tests of a script with everything to its left as their defaults.

use std::path::{Path, PathBuf};

use plan::OptionNote;

use super::given::{Given, says_no};
use super::options::{self, Key, Spec, Takes};
use super::settings::Settings;
use super::{Format, IorError, Launcher, OutputOptions, meaning, script};

/// An option that was read and whose meaning is told when the test that it belongs to is known.
#[derive(Debug, Clone)]
struct Seen {
    written: String,
    key: Key,
    name: &'static str,
}

/// One test with the words that set it.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub settings: Settings,
    words: Vec<Seen>,
}

impl Test {
    /// The words that set `keys`, with IOR's default where there are none, for an error.
    pub(super) fn written(&self, keys: &[(Key, &str)]) -> String {
        let one = |(key, default): &(Key, &str)| {
            let last = self.words.iter().rfind(|seen| seen.key == *key);
            last.map_or_else(|| format!("{default} (default)"), |seen| seen.written.clone())
        };
        keys.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

/// What has been read so far.
pub(super) struct Reader<'l> {
    launcher: Launcher<'l>,
    tasks_per_rank: u32,
    settings: Settings,
    words: Vec<Seen>,
    /// The first of `words` whose meaning has not been told.
    untold: usize,
    script: Option<PathBuf>,
    pub tests: Vec<Test>,
    pub notes: Vec<OptionNote>,
    pub warnings: Vec<String>,
    pub output: OutputOptions,
    pub show_help: bool,
    pub show_version: bool,
}

impl<'l> Reader<'l> {
    pub(super) fn new(launcher: Launcher<'l>, tasks_per_rank: u32) -> Self {
        Self {
            launcher,
            tasks_per_rank,
            settings: Settings::default(),
            words: Vec::new(),
            untold: 0,
            script: None,
            tests: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
            output: OutputOptions::default(),
            show_help: false,
            show_version: false,
        }
    }

    /// Reads all words after the program's name.
    pub(super) fn line(&mut self, words: &[String]) -> Result<(), IorError> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                self.long(word, long, &mut words)?;
            } else if let Some(letters) = word.strip_prefix('-') {
                self.letters(word, letters, &mut words)?;
            } else {
                return Err(IorError::Stray { written: word.clone() });
            }
        }
        match self.script.take() {
            Some(path) => self.run_script(&path),
            None => {
                self.run();
                Ok(())
            }
        }
    }

    fn long<'a>(
        &mut self,
        word: &str,
        long: &str,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), IorError> {
        let (name, attached) = split_value(long);
        let Some(spec) = options::by_word(name) else {
            let suggestion = options::nearest_word(name);
            return Err(IorError::UnknownOption { written: word.to_owned(), suggestion });
        };
        let option = format!("--{name}");
        match (spec.takes, attached) {
            (Takes::Nothing, None) => self.apply(spec, &option, None, word.to_owned()),
            (_, Some(value)) => self.apply(spec, &option, Some(value), word.to_owned()),
            (Takes::Value(example), None) => self.separate(spec, &option, example, words),
        }
    }

    fn letters<'a>(
        &mut self,
        word: &str,
        letters: &str,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), IorError> {
        if letters.is_empty() {
            return Err(IorError::UnknownOption { written: word.to_owned(), suggestion: None });
        }
        // `-posix.odirect` would be -p and -o, and write to a file called six.odirect.
        if let Some(long) = options::by_word(split_value(letters).0).and_then(|spec| spec.long.first()) {
            let suggestion = Some(format!("--{long}"));
            return Err(IorError::UnknownOption { written: word.to_owned(), suggestion });
        }
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let option = format!("-{letter}");
            let Some(spec) = options::by_letter(letter) else {
                let written = if letters.chars().count() > 1 {
                    format!("{option} (in {word})")
                } else {
                    word.to_owned()
                };
                return Err(IorError::UnknownOption { written, suggestion: other_case(letter) });
            };
            match (spec.takes, rest.strip_prefix('=')) {
                (Takes::Nothing, None) => self.apply(spec, &option, None, option.clone())?,
                (_, Some(value)) => {
                    return self.apply(spec, &option, Some(value), format!("{option}={value}"));
                }
                (Takes::Value(_), None) if !rest.is_empty() => {
                    return self.apply(spec, &option, Some(rest), format!("{option}{rest}"));
                }
                (Takes::Value(example), None) => return self.separate(spec, &option, example, words),
            }
        }
        Ok(())
    }

    /// An option whose value is the next word.
    fn separate<'a>(
        &mut self,
        spec: &Spec,
        option: &str,
        example: &str,
        words: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), IorError> {
        let example =
            if example.starts_with('-') { example.to_owned() } else { format!("{option}={example}") };
        let missing = || IorError::MissingValue { written: option.to_owned(), example: example.clone() };
        let value = words.next().ok_or_else(missing)?;
        // IOR would take the next option for a file's name and write to a file called -v.
        let names_a_file = matches!(
            spec.key,
            Key::TestFile | Key::Script | Key::RankCsv | Key::StatusFile | Key::SummaryFile | Key::Api
        );
        if names_a_file && value.starts_with('-') {
            return Err(missing());
        }
        self.apply(spec, option, Some(value), format!("{option} {value}"))
    }

    /// Does what one option with its value asks for.
    fn apply(
        &mut self,
        spec: &Spec,
        option: &str,
        value: Option<&str>,
        written: String,
    ) -> Result<(), IorError> {
        let given = Given { option, value };
        match spec.key {
            Key::Directives => return self.directives(value.unwrap_or_default()),
            Key::Script if self.script.is_some() => {
                return Err(IorError::Conflict {
                    written: "two scripts".to_owned(),
                    reason: "IOR takes one -f; put the tests of both into one script".to_owned(),
                });
            }
            Key::Script => self.script = Some(given.path()?),
            Key::Help => self.show_help |= !value.is_some_and(says_no),
            Key::Version => self.show_version |= !value.is_some_and(says_no),
            Key::SummaryFormat => self.output.format = summary_format(given)?,
            Key::SummaryFile => self.output.file = Some(given.path()?),
            Key::SummaryAlways => self.output.summary_always = given.flag()?,
            Key::WarningsAsErrors => {
                self.settings.set(spec.key, given)?;
                self.output.warnings_as_errors = self.settings.warnings_as_errors;
            }
            key => self.settings.set(key, given)?,
        }
        if spec.key == Key::Repetitions && value == Some("0") {
            self.warnings.push("too few test repetitions. Using value of 1.".to_owned());
        }
        let name = spec.names.first().or_else(|| spec.long.first()).copied().unwrap_or_default();
        self.words.push(Seen { written, key: spec.key, name });
        Ok(())
    }

    /// `-O key=value,key=value`.
    fn directives(&mut self, text: &str) -> Result<(), IorError> {
        for directive in text.split(',') {
            self.directive(directive.trim(), &format!("-O {}", directive.trim()))?;
        }
        Ok(())
    }

    /// One `key=value`, as `-O` and scripts have it.
    fn directive(&mut self, directive: &str, written: &str) -> Result<(), IorError> {
        let Some((name, value)) = directive.split_once('=') else {
            return Err(IorError::MissingValue {
                written: written.to_owned(),
                example: format!("{}=1", if directive.is_empty() { "keepFile" } else { directive }),
            });
        };
        let (name, value) = (name.trim(), value.trim());
        let Some(spec) = options::by_name(name) else {
            let suggestion = options::nearest_name(name);
            return Err(IorError::UnknownDirective { written: directive.to_owned(), suggestion });
        };
        self.apply(spec, name, Some(value), written.to_owned())
    }

    fn run_script(&mut self, path: &Path) -> Result<(), IorError> {
        let text = record::read_text(path).map_err(|error| IorError::ScriptUnreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        for (line, command) in script::commands(&text) {
            let at = |error| IorError::Script { path: path.to_owned(), line, error: Box::new(error) };
            match command.map_err(at)? {
                script::Command::Run => self.run(),
                script::Command::Directive(directive) => {
                    let short = path.file_name().unwrap_or_default().to_string_lossy();
                    self.directive(directive, &format!("{directive} ({short}:{line})")).map_err(at)?;
                }
            }
        }
        if self.tests.is_empty() {
            return Err(IorError::ScriptEmpty { path: path.to_owned() });
        }
        self.tell(Err("stands after the last RUN: no test uses it"));
        Ok(())
    }

    /// The settings as they are now are a test.
    fn run(&mut self) {
        let mut settings = self.settings.clone();
        settings.resolve(self.launcher, self.tasks_per_rank);
        self.tell(Ok(&settings));
        self.tests.push(Test { settings, words: self.words.clone() });
    }

    /// Notes what the options that were read since the last test mean, or why they mean nothing.
    fn tell(&mut self, settings: Result<&Settings, &str>) {
        for seen in &self.words[self.untold..] {
            let meaning = match seen.key {
                Key::SummaryFormat => format!("the output is {}", self.output.format.name()),
                Key::SummaryFile => "the output goes into that file".to_owned(),
                key => match settings {
                    Ok(settings) => meaning::of(key, settings),
                    Err(reason) => reason.to_owned(),
                },
            };
            self.notes.push(OptionNote {
                written: seen.written.clone(),
                name: seen.name.to_owned(),
                meaning,
            });
        }
        self.untold = self.words.len();
    }
}

fn split_value(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    }
}

/// The same letter in the other case, if that is an option.
fn other_case(letter: char) -> Option<String> {
    let other =
        if letter.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
    options::by_letter(other).map(|_| format!("-{other}"))
}

fn summary_format(given: Given<'_>) -> Result<Format, IorError> {
    match given.value.unwrap_or_default().to_ascii_lowercase().as_str() {
        "default" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        other => Err(IorError::BadValue {
            written: given.option.to_owned(),
            value: other.to_owned(),
            problem: "is no format of a summary; give default, JSON or CSV".to_owned(),
        }),
    }
}
