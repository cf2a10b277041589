//! Options of ioproof that every dialect accepts in addition to those of its tool.
//!
//! They may be at any position and never change what is measured, except for `--verify` and
//! `--tasks-per-rank`. [`Extras::split`] removes them from the arguments, so that a dialect only sees the
//! arguments of its tool.
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

/// The release whose output format is used, for scripts that were written for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Compat {
    /// IOR 3.0, which prints neither IOPS nor latency.
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
    /// `--out RUNDIR`: the directory of the record.
    pub out: Option<PathBuf>,
    /// `--compat RELEASE`: the release of the tool whose output format is used, as written. Each tool has
    /// its own releases; see [`Extras::release`].
    pub compat: Option<String>,
    /// `--verify`: compare the data read with what was written, during the timed phase.
    pub verify: bool,
    /// `--fadvise none|as-published|as-meant`: the advice to the kernel after open.
    pub advice: Advice,
    /// `--yes`: do not ask. The user's files may lose their data.
    pub yes: bool,
    /// `--no-progress`: do not report on standard error where the record is and how far the run has progressed. Some
    /// tools have their own `--quiet`.
    pub no_progress: bool,
    /// `--destroy-data-on SERIAL|WWN|PATH`: block devices whose data may be lost.
    pub destroy_data_on: Vec<String>,
    /// `--tasks-per-rank K`: number of tasks that each process of a launcher runs; the default is 1.
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

/// One of ioproof's own options is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExtrasError {
    /// The command line ends where a value is expected.
    #[error("{option} needs a value: {expected}")]
    MissingValue {
        /// The option.
        option: &'static str,
        /// What is expected.
        expected: &'static str,
    },
    /// A value is not one of the permitted values.
    #[error("{option} cannot be {value:?}: {expected}")]
    BadValue {
        /// The option.
        option: &'static str,
        /// The value as written.
        value: String,
        /// The permitted values.
        expected: &'static str,
    },
}

/// Each option with the name of its value, which is `None` for a flag.
const OPTIONS: [(&str, Option<&str>); 11] = [
    ("--explain", None),
    ("--no-progress", None),
    ("--verify", None),
    ("--yes", None),
    ("--mpi", Some("give the path of the MPI library")),
    ("--out", Some("give the directory for the record")),
    ("--compat", Some("give the release of the tool whose tables to print")),
    ("--fadvise", Some("give none, as-published or as-meant")),
    ("--tasks-per-rank", Some("give a whole number of at least 1")),
    ("--history", Some("give the number of operations that each process keeps, from 1 to 1048576")),
    ("--destroy-data-on", Some("give a serial number, a WWN or a path of a block device")),
];

impl Extras {
    /// Removes ioproof's own options from `arguments` (which begin with the program's name), and returns
    /// them with the remaining arguments.
    ///
    /// # Errors
    /// Errors if a value is missing or not permitted.
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

    /// The release specified with `--compat`, among those that the tool knows. `expected` lists these for
    /// an error. Returns `None` if there is no `--compat`.
    ///
    /// # Errors
    /// Errors if the tool does not have such a release.
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
                "the data of every read is compared with what was written, inside the timed phase"
            }
            "--no-progress" => {
                self.no_progress = true;
                "progress is not shown on standard error"
            }
            _ => {
                self.yes = true;
                "no confirmation is requested: existing files may lose their data"
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
            // The program has processed it before the tool is known.
            "--mpi" => format!("processes communicate through the MPI library {value}"),
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
                    "none" => (Advice::None, "no access advice is given to the kernel"),
                    "as-published" => (
                        Advice::AsPublished,
                        "one posix_fadvise(2) call with RANDOM | NOREUSE | DONTNEED, which is 5: NOREUSE \
                         alone",
                    ),
                    "as-meant" => {
                        (Advice::AsMeant, "three posix_fadvise(2) calls: RANDOM, NOREUSE and DONTNEED")
                    }
                    _ => return Err(ExtrasError::BadValue { option, value, expected }),
                };
                self.advice = advice;
                meaning.to_owned()
            }
            "--tasks-per-rank" => match value.parse() {
                Ok(tasks @ 1..) => {
                    self.tasks_per_rank = tasks;
                    format!("each process of the launcher runs {tasks} neighbouring tasks")
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
