//! A configuration: the values of all options, which the benchmark reads from an INI file.

use std::fmt::Write as _;

use super::hash::Hash;
use super::older::{self, Became};
use super::sections::{Kind, OptionRow, SECTIONS, Section};
use crate::ToolError;
use crate::options::nearest::nearest;

/// The tool's name in errors.
const TOOL: &str = "io500";

/// The values of all options of all sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The values, in the order of [`SECTIONS`] and of their options.
    values: Vec<Vec<Option<String>>>,
    /// The verbosity given on the command line, which takes precedence.
    pub(super) verbosity: Option<u32>,
    /// What sections and options of older releases became, a line for each.
    older: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        let of = |section: &Section| {
            section.options.iter().map(|option| option.default.map(str::to_owned)).collect()
        };
        Self { values: SECTIONS.iter().map(of).collect(), verbosity: None, older: Vec::new() }
    }
}

impl Config {
    /// Parses the `text` of a file. `name` is used in errors.
    ///
    /// # Errors
    /// Errors if a line has an invalid format, a section or option is unknown, or a value has the wrong
    /// type.
    pub fn parse(name: &str, text: &str) -> Result<Self, ToolError> {
        let mut config = Self::default();
        let mut section = None;
        let mut direct = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |reason: String| ToolError {
                tool: TOOL,
                written: format!("{name} line {}", index + 1),
                reason,
            };
            match Line::of(line) {
                Some(Line::Empty) => {}
                Some(Line::Section(written)) => {
                    let at = SECTIONS.iter().position(|section| section.name.eq_ignore_ascii_case(written));
                    if let (None, Some(why)) = (at, older::skipped_section(written)) {
                        config
                            .older
                            .push(format!("{name} line {}: [{written}] is skipped: {why}", index + 1));
                    } else if at.is_none() {
                        return Err(wrong(no_section(written)));
                    }
                    section = Some(at);
                }
                Some(Line::Pair(key, value)) => {
                    let at = section.ok_or_else(|| {
                        wrong(format!("{key} is set before any section; begin with [global]"))
                    })?;
                    // Those of a skipped section are skipped with it.
                    let Some(at) = at else { continue };
                    match older::option(&SECTIONS[at], key, value) {
                        None => config.set(at, key, value).map_err(wrong)?,
                        Some(became) => {
                            let place = format!("{name} line {}", index + 1);
                            direct.extend((became == Became::Direct).then_some(at));
                            config.set_older(at, (&place, key, value), became).map_err(wrong)?;
                        }
                    }
                }
                None => {
                    return Err(wrong(format!(
                        "{line:?} is neither a [section] nor an option = value; put a space before # and ;"
                    )));
                }
            }
        }
        direct.into_iter().for_each(|at| config.add_direct(at));
        Ok(config)
    }

    fn set(&mut self, section: usize, key: &str, value: &str) -> Result<(), String> {
        let of = &SECTIONS[section];
        let Some(at) = of.options.iter().position(|option| option.name.eq_ignore_ascii_case(key)) else {
            let names = of.options.iter().map(|option| &option.name);
            let meant = nearest(key, names.clone()).map(|name| format!("did you mean {name}?"));
            let list = || match of.options {
                [] => "it has no options".to_owned(),
                _ => format!("it has {}", names.copied().collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("[{}] has no option {key}; {}", of.name, meant.unwrap_or_else(list)));
        };
        // If there is nothing after the equals sign, the default applies.
        if !value.is_empty() {
            self.values[section][at] = Some(checked(&of.options[at], value)?);
        }
        Ok(())
    }

    /// Sets what an option of an older release became, and tells it if it has a value.
    fn set_older(
        &mut self,
        section: usize,
        (place, key, value): (&str, &str, &str),
        became: Became,
    ) -> Result<(), String> {
        let told = match became {
            Became::Option(option, value) => {
                self.set(section, option, &value)?;
                format!("is {option} = {value} today")
            }
            Became::Direct => "is --posix.odirect of API today".to_owned(),
            Became::Skipped(why) => format!("is skipped: {why}"),
        };
        if !value.is_empty() {
            let of = SECTIONS[section].name;
            self.older.push(format!("{place}: {key} = {value} of [{of}] {told}"));
        }
        Ok(())
    }

    /// Adds direct I/O to the interface of a section, which may be that of its family or of all.
    fn add_direct(&mut self, section: usize) {
        let name = SECTIONS[section].name;
        let own = self.text(name, "API");
        let family = older::family(name).and_then(|family| self.text(family, "API"));
        let api = own.or(family).or_else(|| self.text("global", "api")).unwrap_or("POSIX");
        let direct = "--posix.odirect";
        if !api.split(' ').any(|word| word == direct) {
            let api = format!("{api} {direct}");
            let place = SECTIONS[section].options.iter().position(|option| option.name == "API");
            let place = place.expect("only sections with an interface have direct I/O");
            self.values[section][place] = Some(api);
        }
    }

    /// What sections and options of releases from 2020 to 2024 became, a line for each; empty if the file has none.
    #[must_use]
    pub fn older(&self) -> &[String] {
        &self.older
    }

    /// The value of an option, if it is set.
    pub(super) fn text(&self, section: &str, option: &str) -> Option<&str> {
        let at = SECTIONS.iter().position(|of| of.name == section)?;
        let option = SECTIONS[at].options.iter().position(|of| of.name == option)?;
        self.values[at][option].as_deref()
    }

    /// The value of a flag, if it is set.
    pub(super) fn flag(&self, section: &str, option: &str) -> Option<bool> {
        self.text(section, option).map(|value| value == "TRUE")
    }

    /// The value of a whole-number option, if it is set.
    pub(super) fn number(&self, section: &str, option: &str) -> Option<i64> {
        self.text(section, option)?.parse().ok()
    }

    /// The hash of the configuration, computed from all options that have a value.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Hash::default();
        for (section, values) in SECTIONS.iter().zip(&self.values) {
            for (option, value) in section.options.iter().zip(values) {
                if let Some(value) = value {
                    hash.pair(option.name, value);
                }
            }
        }
        hash.to_string()
    }

    /// All options with their values, as a file. If `explained` is set, with their meaning; if `mandatory`
    /// is set, without the sections of the extended mode.
    #[must_use]
    pub fn listing(&self, explained: bool, mandatory: bool) -> String {
        let mut out = String::new();
        for (section, values) in SECTIONS.iter().zip(&self.values) {
            if mandatory && section.is_extended {
                continue;
            }
            // Writing to a String cannot fail.
            let _ = writeln!(out, "[{}]", section.name);
            for (option, value) in section.options.iter().zip(values) {
                if explained {
                    let _ = writeln!(out, "# {}", option.about);
                }
                let _ = writeln!(out, "{} = {}", option.name, value.as_deref().unwrap_or_default());
            }
            out.push('\n');
        }
        out
    }
}

/// The reason why there is no section with this name.
fn no_section(written: &str) -> String {
    let names = || SECTIONS.iter().map(|section| &section.name);
    let meant = nearest(written, names()).map(|name| format!("; did you mean [{name}]?"));
    let list = || {
        let names: Vec<&str> = names().copied().collect();
        format!("; there are {}", names.join(", "))
    };
    format!("there is no section [{written}]{}", meant.unwrap_or_else(list))
}

/// Checks that the value is valid for the option, and returns it in the form used for the hash.
fn checked(option: &OptionRow, value: &str) -> Result<String, String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = match option.kind {
        Kind::Text => true,
        Kind::Whole => digits(value.strip_prefix('-').unwrap_or(value)) && value.parse::<i32>().is_ok(),
        Kind::Count => digits(value) && value.parse::<i64>().is_ok(),
        Kind::Number => value.parse::<f32>().is_ok_and(f32::is_finite),
        Kind::Flag => {
            return match value.to_ascii_lowercase().as_str() {
                "true" | "1" => Ok("TRUE".to_owned()),
                "false" | "0" => Ok("FALSE".to_owned()),
                _ => Err(format!("{} = {value}: give TRUE or FALSE", option.name)),
            };
        }
    };
    // The benchmark keeps whole numbers in 32 bits, and counts in 64.
    let expected = match option.kind {
        Kind::Whole if digits(value) => format!("a whole number of at most {}", i32::MAX),
        Kind::Count if digits(value) => format!("a whole number of at most {}", i64::MAX),
        Kind::Whole => "a whole number".to_owned(),
        Kind::Count => "a whole number of at least 0".to_owned(),
        _ => "a number".to_owned(),
    };
    if fits { Ok(value.to_owned()) } else { Err(format!("{} = {value}: give {expected}", option.name)) }
}

/// A line of the format, which result files have as well.
pub(super) enum Line<'a> {
    Empty,
    Section(&'a str),
    Pair(&'a str, &'a str),
}

impl<'a> Line<'a> {
    /// Parses a line. Returns `None` if it has an invalid format.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let word = |text: &str, also: &[u8]| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || also.contains(&byte))
        };
        let blank = |text: &str| text.is_empty() || text.starts_with(['#', ';']);
        let text = line.trim();
        if blank(text) {
            return Some(Self::Empty);
        }
        if let Some((name, after)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let (name, comment) = (name.trim(), after.trim_start());
            let fits =
                word(name, b"_-") && (after.is_empty() || comment.len() < after.len() && blank(comment));
            return fits.then_some(Self::Section(name));
        }
        let (key, rest) = text.split_once('=')?;
        let key = key.trim_end();
        // A comment must be preceded by white space.
        let end = rest.find(['#', ';']).unwrap_or(rest.len());
        let value = &rest[..end];
        let fits = word(key, b"_.-") && (end == rest.len() || value.ends_with(char::is_whitespace));
        fits.then(|| Self::Pair(key, value.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    const DEBUG: &str = "[global]\ndatadir = /scratch/data\nresultdir = /scratch/results\n\
                         timestamp-datadir = FALSE\ntimestamp-resultdir = FALSE\n\n[debug]\nstonewall-time = 1\n";

    #[test]
    fn the_hash_is_that_of_the_benchmark() {
        // From the result of a run of the benchmark itself with this file.
        assert_eq!(Config::parse("c.ini", DEBUG).expect("valid").hash(), "54674C3");
    }

    #[test]
    fn comments_case_and_the_words_for_a_flag_do_not_count() {
        let same = DEBUG
            .replace("[global]", " [ Global ] ; all")
            .replace("= FALSE\n", "= 0 # off\n")
            .replace("stonewall-time = 1", "Stonewall-Time=1\r\npause-dir =");
        let (one, other) = (Config::parse("c", DEBUG), Config::parse("c", &same));
        assert_eq!(one.expect("valid"), other.expect("valid"));
    }

    #[test]
    fn a_listing_is_a_file_of_the_same_configuration() {
        let config = Config::parse("c", DEBUG).expect("valid");
        for explained in [true, false] {
            assert_eq!(Config::parse("l", &config.listing(explained, false)).expect("valid"), config);
        }
        assert!(!config.listing(false, true).contains("mdworkbench"));
    }

    #[test]
    fn what_older_releases_had_becomes_what_it_is_today_or_is_skipped() {
        let text = "[global]\napi = DFS\n[ior-easy]\nnoRun = TRUE\nhintsFileName =\nposix.odirect = True\n\
                    [ior-rnd4K]\nblockSize = 1073741824\n[find]\nexternal-args = -x\n\
                    [mdtest-easy]\nposix.odirect = FALSE\n[ior-hard]\nhintsFileName = h\n";
        let config = Config::parse("c", text).expect("valid");
        assert_eq!(config.flag("ior-easy", "run"), Some(false));
        assert_eq!(config.text("ior-easy", "API"), Some("DFS --posix.odirect"));
        assert_eq!(config.text("find", "external-extra-args"), Some("-x"));
        assert_eq!(config.text("mdtest-easy", "API"), None);
        let told = [
            "c line 4: noRun = TRUE of [ior-easy] is run = FALSE today",
            "c line 6: posix.odirect = True of [ior-easy] is --posix.odirect of API today",
            "c line 7: [ior-rnd4K] is skipped: these random phases of the extended mode exist no longer",
            "c line 10: external-args = -x of [find] is external-extra-args = -x today",
            "c line 12: posix.odirect = FALSE of [mdtest-easy] is skipped: without it, I/O is buffered",
            "c line 14: hintsFileName = h of [ior-hard] is skipped: hints are for MPI-IO",
        ];
        assert_eq!(config.older(), told);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, told) in [
            ("[globl]\n", "c line 1: there is no section [globl]; did you mean [global]?"),
            ("datadir = x\n", "c line 1: datadir is set before any section"),
            (
                "[debug]\nstonewall = 1\n",
                "c line 2: [debug] has no option stonewall; it has stonewall-time, pause-dir",
            ),
            ("[debug]\nstonewall-time = 1s\n", "stonewall-time = 1s: give a whole number"),
            ("[global]\nscc = yes\n", "scc = yes: give TRUE or FALSE"),
            ("[global]\ndatadir = a#b\n", "put a space before # and ;"),
            ("[global]\nnothing\n", "neither a [section] nor an option = value"),
            ("[mdtest-easy]\nn = -1\n", "n = -1: give a whole number of at least 0"),
            ("[ior-hard]\nsegmentCount = 5000000000\n", "give a whole number of at most 2147483647"),
            ("[mdtest-easy]\nn = 9999999999999999999\n", "a whole number of at most 9223372036854775807"),
        ] {
            let error = Config::parse("c", text).expect_err(text).to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
