//! Every option of the command line, in one table.

use crate::options::help;
use crate::options::{Options, Spec, Takes};

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Help,
    List,
    ListMandatory,
    ConfigHash,
    Cleanup,
    DryRun,
    Mode,
    Timestamp,
    Louder,
    Verbosity,
    Resume,
}

/// Every option, in the order of its help.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "io500",
    called: "IO500",
    usage: "CONFIG.ini [OPTION]...",
    what: "Runs the phases of IO500 as configured in CONFIG.ini, and computes the score.
The result is not valid for the list: a submission has to come from the list's own program.
All options and differences from IO500: docs/IO500.md",
    own: &[
        ("--verify FILE", "check the hashes of FILE, a result.txt, against CONFIG.ini"),
        help::EXPLAIN,
        help::OUT,
        help::TASKS_PER_RANK,
        help::YES,
        help::NO_PROGRESS,
    ],
    long_only: false,
    ignores_dashes: false,
    specs: &[SPECS],
};

const SPECS: &[Spec<Key>] = &[
    Spec::honoured(Key::Help, "h", &["help"], Takes::Nothing, "print this help"),
    Spec::honoured(
        Key::List,
        "l",
        &["list"],
        Takes::Nothing,
        "print every option of CONFIG.ini, with defaults",
    ),
    Spec::honoured(
        Key::ListMandatory,
        "lm",
        &["list-mandatory"],
        Takes::Nothing,
        "the same, without the phases of the extended mode",
    ),
    Spec::honoured(Key::ConfigHash, "", &["config-hash"], Takes::Nothing, "print the hash of CONFIG.ini"),
    Spec::honoured(Key::Cleanup, "", &["cleanup"], Takes::Nothing, "run only the phases that remove files"),
    Spec::honoured(
        Key::DryRun,
        "",
        &["dry-run"],
        Takes::Nothing,
        "write the results without running any phase",
    ),
    Spec::honoured(
        Key::Mode,
        "",
        &["mode"],
        Takes::Value("--mode=standard"),
        "standard, or extended with md-workbench, more searches and random reads of 4 KiB",
    ),
    Spec::honoured(
        Key::Timestamp,
        "",
        &["timestamp"],
        Takes::Value("--timestamp=NAME"),
        "name of the directories of this run",
    ),
    Spec::honoured(Key::Louder, "v", &[], Takes::Nothing, "more lines in result.txt; may be repeated"),
    Spec::honoured(
        Key::Verbosity,
        "",
        &["verbose"],
        Takes::Value("--verbose=2"),
        "verbosity, from 0 to 10, instead of that in CONFIG.ini",
    ),
    Spec::honoured(
        Key::Resume,
        "",
        &["resume"],
        Takes::Name("--resume RUNDIR"),
        "resume an interrupted run; phases with a complete record are not repeated",
    ),
];
