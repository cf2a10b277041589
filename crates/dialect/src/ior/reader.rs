//! Parses a command line of IOR from left to right, with its directives and scripts.
//!
//! `-O` is followed by directives separated by commas. `-f` runs the tests of a script, for which the rest of the
//! command line gives the defaults.

use std::path::{Path, PathBuf};

use plan::OptionNote;

use super::options::{Key, OPTIONS};
use super::output::{Format, OutputOptions};
use super::settings::Settings;
use super::{meaning, script};
use crate::ToolError;
use crate::launcher::Launcher;
use crate::options::{Given, is_off};

/// One test with the options that set it.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub settings: Settings,
    options: Vec<Given<Key>>,
}

impl Test {
    /// The options that set `keys`, as they were written, or IOR's default. Used in errors.
    pub(super) fn written(&self, keys: &[(Key, &str)]) -> String {
        let one = |(key, default): &(Key, &str)| {
            let last = self.options.iter().rfind(|given| given.key == *key);
            last.map_or_else(|| format!("{default} (default)"), |given| given.written.clone())
        };
        keys.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

/// What has been parsed so far.
pub(super) struct Reader<'l> {
    launcher: Launcher<'l>,
    tasks_per_rank: u32,
    settings: Settings,
    options: Vec<Given<Key>>,
    /// Index of the first of `options` that has no note yet, because its meaning depends on the test to
    /// which it belongs.
    unnoted: usize,
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
            options: Vec::new(),
            unnoted: 0,
            script: None,
            tests: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
            output: OutputOptions::default(),
            show_help: false,
            show_version: false,
        }
    }

    /// Parses all words after the program's name.
    pub(super) fn line(&mut self, words: &[String]) -> Result<(), ToolError> {
        let given = OPTIONS.read_with(words, |word| {
            let reason = format!("is not an option's value; IOR takes its file with -o, as in -o {word}");
            Err(OPTIONS.error(word, &reason))
        })?;
        for option in given {
            if option.key != Key::Directives {
                self.apply(option)?;
                continue;
            }
            for directive in option.text().split(',').map(str::trim) {
                self.apply(OPTIONS.directive(directive, format!("-O {directive}"))?)?;
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

    /// Applies one option.
    fn apply(&mut self, given: Given<Key>) -> Result<(), ToolError> {
        match given.key {
            Key::Script if self.script.is_some() => {
                return Err(OPTIONS.error("-f", "IOR takes one script; put the tests of both into one"));
            }
            Key::Script => self.script = Some(given.path()?),
            Key::Help => self.show_help |= given.values.is_empty() || !is_off(given.text()),
            Key::Version => self.show_version |= given.values.is_empty() || !is_off(given.text()),
            Key::SummaryFormat => self.output.format = summary_format(&given)?,
            Key::SummaryFile => self.output.file = Some(given.path()?),
            Key::SummaryAlways => self.output.summary_always = given.flag()?,
            Key::Repetitions if given.text() == "0" => {
                self.warnings.push("too few test repetitions. Using value of 1.".to_owned());
                self.settings.set(&given)?;
            }
            _ => self.settings.set(&given)?,
        }
        self.output.warnings_as_errors = self.settings.warnings_as_errors;
        self.options.push(given);
        Ok(())
    }

    fn run_script(&mut self, path: &Path) -> Result<(), ToolError> {
        let error = |reason: String| OPTIONS.error(&format!("-f {}", path.display()), &reason);
        let text = record::read_text(path).map_err(|problem| {
            error(format!("cannot read the script: {problem}; name a file that starts with IOR START"))
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for (line, command) in script::commands(&text) {
            match command {
                script::Command::Run => self.run(),
                script::Command::Directive(directive) => {
                    self.apply(OPTIONS.directive(directive, format!("{directive} ({name}:{line})"))?)?;
                }
                script::Command::Unknown(words) => {
                    let reason = "is not a directive; a line is KEY=VALUE, RUN, IOR START or IOR STOP";
                    return Err(OPTIONS.error(&format!("{words} ({name}:{line})"), reason));
                }
            }
        }
        if self.tests.is_empty() {
            return Err(error(
                "the script has no RUN, so it defines no test; end each test with a line RUN".to_owned(),
            ));
        }
        self.note_options(Err("follows the last RUN: no test uses it"));
        Ok(())
    }

    /// Adds a test with the present settings.
    fn run(&mut self) {
        let mut settings = self.settings.clone();
        settings.resolve(self.launcher, self.tasks_per_rank);
        self.note_options(Ok(&settings));
        self.tests.push(Test { settings, options: self.options.clone() });
    }

    /// Adds notes on the meaning of the options since the last test with these settings, or on why they
    /// have no meaning.
    fn note_options(&mut self, settings: Result<&Settings, &str>) {
        for given in &self.options[self.unnoted..] {
            let meaning = |key| match (key, settings) {
                (Key::SummaryFormat, _) => format!("the output is {}", self.output.format.name()),
                (_, Ok(settings)) => meaning::explain(given, settings),
                (_, Err(reason)) => reason.to_owned(),
            };
            self.notes.push(given.note(meaning));
        }
        self.unnoted = self.options.len();
    }
}

fn summary_format(given: &Given<Key>) -> Result<Format, ToolError> {
    match given.text().to_ascii_lowercase().as_str() {
        "default" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        _ => Err(given.wrong("is not a summary format; give default, JSON or CSV")),
    }
}
