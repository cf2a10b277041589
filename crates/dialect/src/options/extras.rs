//! Options of ioproof that every dialect takes besides those of its tool.
//!
//! They may be anywhere on the line and never change what is measured, except `--verify` and
//! `--tasks-per-rank`.
//! [`Extras::split`] takes them out, so that a dialect sees only its tool's arguments.
//!
//! ```
//! let line: Vec<String> = ["ior", "--explain", "-w", "--out=run1"].map(String::from).to_vec();
//! let (extras, rest) = dialect::Extras::split(&line)?;
//! assert!(extras.explain);
//! assert_eq!(extras.out.as_deref(), Some(std::path::Path::new("run1")));
//! assert_eq!(rest, ["ior", "-w"]);
//! # Ok::<(), dialect::ExtrasError>(())
//! ```

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use plan::{Advice, OptionNote};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which release's tables are printed, for scripts that were written against them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Compat {
    /// IOR 3.0: neither IOPS nor latency.
    #[serde(rename = "3.0")]
    V3_0,
    /// IOR 3.3.
    #[serde(rename = "3.3")]
    V3_3,
    /// IOR 4.0 and 4.1.
    #[default]
    #[serde(rename = "4.0")]
    V4_0,
}

impl FromStr for Compat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "3.0" => Ok(Self::V3_0),
            "3.3" => Ok(Self::V3_3),
            "4.0" => Ok(Self::V4_0),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V3_0 => "3.0",
            Self::V3_3 => "3.3",
            Self::V4_0 => "4.0",
        })
    }
}

/// The values of ioproof's own options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extras {
    /// `--explain`: print the plan and write nothing.
    pub explain: bool,
    /// `--out RUNDIR`: where the record goes.
    pub out: Option<PathBuf>,
    /// `--compat RELEASE`: the release of the tool whose tables are printed, as written; each tool knows
    /// its own, see [`Extras::release`].
    pub compat: Option<String>,
    /// `--verify`: reads are compared with what was written, inside the timed phase.
    pub verify: bool,
    /// `--fadvise none|as-published|as-meant`: the advice to the kernel after open.
    pub advice: Advice,
    /// `--yes`: do not ask; the user's files may lose their data.
    pub yes: bool,
    /// `--no-progress`: the error stream does not tell where the record is and how far the run is. Some tools have a
    /// `--quiet` of their own.
    pub no_progress: bool,
    /// `--destroy-data-on SERIAL|WWN|PATH`: block devices whose data was given up.
    pub destroy_data_on: Vec<String>,
    /// `--tasks-per-rank K`: how many tasks each process of a launcher carries; 1 without it.
    pub tasks_per_rank: u32,
    /// `--history N`: each process keeps its last N operations.
    pub history: Option<u64>,
    /// The meaning of each, for `--explain`.
    pub notes: Vec<OptionNote>,
}

impl Default for Extras {
    fn default() -> Self {
        Self {
            explain: false,
            out: None,
            compat: None,
            verify: false,
            advice: Advice::None,
            yes: false,
            no_progress: false,
            destroy_data_on: Vec::new(),
            tasks_per_rank: 1,
            history: None,
            notes: Vec::new(),
        }
    }
}

/// One of ioproof's own options that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExtrasError {
    /// The line ends where a value should stand.
    #[error("{option} needs a value: {expected}")]
    MissingValue {
        /// The option.
        option: &'static str,
        /// What is expected.
        expected: &'static str,
    },
    /// A value that is not one of those allowed.
    #[error("{option} cannot be {value:?}: {expected}")]
    BadValue {
        /// The option.
        option: &'static str,
        /// As written.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
}

/// An option and what a missing value is called; flags have none.
const OPTIONS: [(&str, Option<&str>); 11] = [
    ("--explain", None),
    ("--no-progress", None),
    ("--verify", None),
    ("--yes", None),
    ("--mpi", Some("give the path of the MPI library")),
    ("--out", Some("give the directory that the record is written to")),
    ("--compat", Some("give the release of the tool whose tables are wanted")),
    ("--fadvise", Some("give none, as-published or as-meant")),
    ("--tasks-per-rank", Some("give a whole number of at least 1")),
    ("--history", Some("give how many operations each process keeps, from 1 to 1048576")),
    ("--destroy-data-on", Some("give a serial number, a WWN or a path of a block device")),
];

impl Extras {
    /// Takes ioproof's own options out of `arguments` (the program's name first) and returns the rest.
    ///
    /// # Errors
    /// A value that is missing or not allowed.
    pub fn split(arguments: &[String]) -> Result<(Self, Vec<String>), ExtrasError> {
        let mut extras = Self::default();
        let mut rest: Vec<String> = arguments.iter().take(1).cloned().collect();
        let mut words = arguments.iter().skip(1);
        while let Some(word) = words.next() {
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let Some(&(option, expected)) = OPTIONS.iter().find(|(option, _)| *option == name) else {
                rest.push(word.clone());
                continue;
            };
            match (expected, attached) {
                (None, None) => extras.flag(option),
                (None, Some(value)) => {
                    return Err(ExtrasError::BadValue { option, value, expected: "it takes no value" });
                }
                (Some(expected), attached) => {
                    let separate = attached.is_none();
                    let value = attached
                        .or_else(|| words.next().cloned())
                        .filter(|value| !value.is_empty())
                        .ok_or(ExtrasError::MissingValue { option, expected })?;
                    let written = if separate { format!("{option} {value}") } else { word.clone() };
                    extras.value(option, value, expected, written)?;
                }
            }
        }
        Ok((extras, rest))
    }

    /// The release that `--compat` names, by the releases that a tool knows; `expected` lists them for an
    /// error. None where the line has no `--compat`.
    ///
    /// # Errors
    /// A release that the tool does not have.
    pub fn release<Release: FromStr>(&self, expected: &'static str) -> Result<Option<Release>, ExtrasError> {
        let read = |text: &String| {
            text.parse().map_err(|_| ExtrasError::BadValue {
                option: "--compat",
                value: text.clone(),
                expected,
            })
        };
        self.compat.as_ref().map(read).transpose()
    }

    fn flag(&mut self, option: &'static str) {
        let meaning = match option {
            "--explain" => {
                self.explain = true;
                "prints the plan; nothing is written"
            }
            "--verify" => {
                self.verify = true;
                "every read is compared with what was written, inside the timed phase"
            }
            "--no-progress" => {
                self.no_progress = true;
                "the error stream does not tell how far the run is"
            }
            _ => {
                self.yes = true;
                "nobody is asked: files that are there already may lose their data"
            }
        };
        self.note(option, option, meaning.to_owned());
    }

    fn value(
        &mut self,
        option: &'static str,
        value: String,
        expected: &'static str,
        written: String,
    ) -> Result<(), ExtrasError> {
        let meaning = match option {
            // The program has read it before it knows the tool.
            "--mpi" => format!("processes agree by the MPI library {value}"),
            "--out" => {
                let meaning = format!("the record is written to {value}");
                self.out = Some(PathBuf::from(value));
                meaning
            }
            "--compat" => {
                let meaning = format!("tables are printed as release {value} printed them");
                self.compat = Some(value);
                meaning
            }
            "--fadvise" => {
                let (advice, meaning) = match value.as_str() {
                    "none" => (Advice::None, "the kernel is told nothing about the access"),
                    "as-published" => (
                        Advice::AsPublished,
                        "one posix_fadvise(2) of RANDOM | NOREUSE | DONTNEED, which is 5: NOREUSE alone",
                    ),
                    "as-meant" => {
                        (Advice::AsMeant, "three calls of posix_fadvise(2): RANDOM, NOREUSE and DONTNEED")
                    }
                    _ => return Err(ExtrasError::BadValue { option, value, expected }),
                };
                self.advice = advice;
                meaning.to_owned()
            }
            "--tasks-per-rank" => match value.parse() {
                Ok(tasks @ 1..) => {
                    self.tasks_per_rank = tasks;
                    format!("each process of the launcher carries {tasks} neighbouring tasks")
                }
                _ => return Err(ExtrasError::BadValue { option, value, expected }),
            },
            "--history" => match value.parse() {
                Ok(kept @ 1..=plan::HISTORY_MAX) => {
                    self.history = Some(kept);
                    format!("each process keeps its last {kept} operations; `ioproof history` shows them")
                }
                _ => return Err(ExtrasError::BadValue { option, value, expected }),
            },
            _ => {
                let meaning = format!("the data on block device {value} may be destroyed");
                self.destroy_data_on.push(value);
                meaning
            }
        };
        self.note(&written, option, meaning);
        Ok(())
    }

    fn note(&mut self, written: &str, option: &str, meaning: String) {
        let name = option.trim_start_matches('-').to_owned();
        self.notes.push(OptionNote { written: written.to_owned(), name, meaning });
    }
}

#[cfg(test)]
mod tests {
    use super::{Compat, Extras, ExtrasError};

    fn split(line: &str) -> Result<(Extras, Vec<String>), ExtrasError> {
        Extras::split(&line.split(' ').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn own_options_stand_anywhere_and_leave_the_tool_s_arguments_in_order() {
        let (extras, rest) =
            split("ior -w --yes -b 1m --compat=3.0 -t 1m --destroy-data-on S1 --destroy-data-on=/dev/x")
                .expect("valid");
        assert_eq!(rest, ["ior", "-w", "-b", "1m", "-t", "1m"]);
        assert!(extras.yes && !extras.explain && !extras.verify);
        assert_eq!(extras.compat.as_deref(), Some("3.0"));
        assert_eq!(extras.release("").expect("known"), Some(Compat::V3_0));
        assert_eq!(extras.destroy_data_on, ["S1", "/dev/x"]);
        assert_eq!(extras.notes.len(), 4);
        assert_eq!(extras.notes[2].written, "--destroy-data-on S1");
    }

    #[test]
    fn missing_and_foreign_values_are_named() {
        assert!(split("ior --out").unwrap_err().to_string().contains("--out needs a value"));
        let (extras, _) = split("ior --compat 2.9").expect("a release of some tool");
        let error = extras.release::<Compat>("give 3.0, 3.3 or 4.0").expect_err("not of this one");
        assert!(error.to_string().contains("3.0, 3.3 or 4.0"), "{error}");
        assert!(split("ior --yes=no").unwrap_err().to_string().contains("takes no value"));
    }

    #[test]
    fn the_first_word_is_the_program_whatever_it_is_called() {
        let (extras, rest) = split("--explain -w").expect("valid");
        assert!(!extras.explain);
        assert_eq!(rest, ["--explain", "-w"]);
    }
}
