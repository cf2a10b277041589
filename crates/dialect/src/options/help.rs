//! The text of a tool's `-h`, generated from the table of its options. The terminal, the man page and the completions
//! use the same text.

use std::fmt;

/// Width of an option with its value, in characters.
const COLUMNS: usize = 36;

/// The help of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    /// The arguments, for the usage line.
    pub usage: String,
    /// What the tool does.
    pub what: &'static str,
    /// The tool's own name.
    pub called: &'static str,
    /// Each supported option with an example of its value, and its description.
    pub options: Vec<(String, String)>,
    /// The same for ioproof's own options.
    pub own: Vec<(&'static str, &'static str)>,
    /// The rejected options.
    pub refused: Vec<String>,
}

/// Options of ioproof that every tool accepts.
pub(crate) const EXPLAIN: (&str, &str) = ("--explain", "print the plan and write nothing");
/// See [`EXPLAIN`].
pub(crate) const OUT: (&str, &str) = ("--out RUNDIR", "directory for the record");
/// See [`EXPLAIN`].
pub(crate) const TASKS_PER_RANK: (&str, &str) =
    ("--tasks-per-rank K", "tasks of each process of a launcher [default: 1]");
/// See [`EXPLAIN`].
pub(crate) const YES: (&str, &str) =
    ("--yes", "do not ask for confirmation: existing files may lose their data");
/// See [`EXPLAIN`].
pub(crate) const VERIFY: (&str, &str) =
    ("--verify", "compare the data of every read, inside the timed phase");
/// See [`EXPLAIN`].
pub(crate) const NO_PROGRESS: (&str, &str) = ("--no-progress", "do not show progress on stderr");

/// The options of ioproof that are listed for most tools.
pub(crate) const OWN: &[(&str, &str)] = &[
    EXPLAIN,
    OUT,
    ("--compat RELEASE", "release whose tables are printed"),
    TASKS_PER_RANK,
    YES,
    NO_PROGRESS,
];

impl Help {
    /// The letters and words with which a shell can complete an option, for example `-l` and `--dataPacketType` for
    /// `-l random, --dataPacketType`.
    pub fn names(written: &str) -> impl Iterator<Item = &str> {
        let names = written.split(", ").filter_map(|part| part.split(['=', ' ', '[']).next());
        names.filter(|name| name.starts_with('-'))
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usage, what, called, .. } = self;
        writeln!(f, "Usage: ioproof {usage}\n{what}\n\nOptions of {called}")?;
        let options = self.options.iter().map(|(written, about)| (written.as_str(), about.as_str()));
        let widest = |all: &mut dyn Iterator<Item = &str>| {
            all.map(|written| written.chars().count()).max().unwrap_or(0).min(COLUMNS)
        };
        let columns = widest(&mut options.clone().map(|one| one.0).chain(self.own.iter().map(|one| one.0)));
        for (written, about) in options {
            writeln!(f, "  {written:<columns$} {about}")?;
        }
        f.write_str("\nOptions of ioproof, at any position\n")?;
        for (written, about) in &self.own {
            writeln!(f, "  {written:<columns$} {about}")?;
        }
        writeln!(f, "\nRefused options; using one prints the reason\n  {}", self.refused.join(" "))
    }
}
