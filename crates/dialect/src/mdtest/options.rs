//! Every option of mdtest, of the present release and of 1.9.3, in one table.

use crate::ior_family::{common, interfaces};
use crate::options::help;
use crate::options::{Options, Spec, Takes};

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Api,
    Branching,
    Collective,
    Create,
    Directory,
    Direct,
    DirectoriesOnly,
    ReadBytes,
    Read,
    First,
    FilesOnly,
    Help,
    Iterations,
    ItemsPerDirectory,
    MakeNode,
    Last,
    LeafOnly,
    Items,
    Shift,
    Delay,
    RateAndTime,
    Remove,
    Random,
    RandomSeed,
    Stride,
    Shared,
    Stat,
    Rename,
    OwnTrees,
    Verbose,
    Verbosity,
    WriteBytes,
    Stonewall,
    StatusFile,
    VerifyRead,
    Sync,
    SyncAll,
    Depth,
    Time,
    RankDetails,
    RankStatistics,
    Signature,
    Packet,
    /// An option without an effect, or a rejected one.
    Other,
}

const fn flag(key: Key, short: &'static str, about: &'static str) -> Spec<Key> {
    Spec::honoured(key, short, &[], Takes::Nothing, about)
}

const fn value(key: Key, short: &'static str, example: &'static str, about: &'static str) -> Spec<Key> {
    Spec::honoured(key, short, &[], Takes::Value(example), about)
}

const COMMANDS: &str = "ioproof starts no other program while it measures: run the command by hand before or \
                        after each phase, with -C, -T, -E and -r in separate runs";
const DAOS: &str =
    "it belongs to DAOS, whose library ioproof does not use; run on a dfuse mount with -a POSIX";
const STRIPES: &str = "ioproof leaves striping to the file system: run `lfs setstripe` on the directory first, then leave it out";

/// Every option, sorted by letter, then by word.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "mdtest",
    called: "mdtest",
    usage: "[OPTION]...",
    what: "Creates, stats, reads and removes files and directories as mdtest does: -n items per task, -F \
           files, -D directories.
Sizes take k, m, g, t (powers of 1024). All options and differences from mdtest: \
           docs/MDTEST.md",
    own: help::OWN,
    long_only: false,
    ignores_dashes: true,
    specs: &[SPECS, &common(Key::Other, false), &interfaces(Key::Other)],
};

const SPECS: &[Spec<Key>] = &[
    Spec::honoured(Key::Api, "a", &["api"], Takes::Value("-a POSIX"), "POSIX or DUMMY (no I/O at all)"),
    value(Key::Branching, "b", "-b 2", "subdirectories of each directory of the tree"),
    Spec::explained(
        Key::Other,
        "B",
        &[],
        Takes::Number("-B 1"),
        (
            "no barriers between phases",
            "the tasks of a phase always start together, because each phase has its own figures",
        ),
    ),
    flag(Key::Collective, "c", "task 0 creates and removes the trees of all tasks"),
    flag(Key::Create, "C", "create; without any of -C -T -E -r -U all phases run"),
    value(Key::Directory, "d", "-d DIR@DIR", "directory of the test; of n, task t uses number t mod n"),
    flag(Key::DirectoriesOnly, "D", "directories only"),
    value(Key::ReadBytes, "e", "-e 4k", "bytes to read from each file; with 0, it is only opened and closed"),
    flag(Key::Read, "E", "read"),
    value(Key::First, "f", "-f 1", "first number of tasks, with -l"),
    flag(Key::FilesOnly, "F", "files only"),
    Spec::refused(Key::Other, "g", &[], Takes::Nothing, STRIPES),
    value(Key::Signature, "G", "-G 5", "signature of the data"),
    Spec::honoured(Key::Help, "h", &["help"], Takes::Nothing, "print this help"),
    value(Key::Iterations, "i", "-i 3", "number of iterations of all phases, each in its own tree"),
    value(Key::ItemsPerDirectory, "I", "-I 10", "items per task in each directory that has any"),
    flag(Key::MakeNode, "k", "create files by mknod(2)"),
    value(Key::Last, "l", "-l 8", "last number of tasks, with -f and -s"),
    flag(Key::LeafOnly, "L", "items only on the lowest level of the tree"),
    value(Key::Items, "n", "-n 1000", "total items per task"),
    value(Key::Shift, "N", "-N 1", "each phase works on the items of the task this many numbers further on"),
    value(Key::Delay, "p", "-p 8", "seconds of pause before each iteration"),
    flag(Key::RateAndTime, "P", "print rates and times"),
    flag(Key::Remove, "r", "remove"),
    Spec::honoured(Key::Random, "R", &[], Takes::AttachedNumber("-R[SEED]"), "stat items in a random order"),
    value(Key::Stride, "s", "-s 2", "step from one number of tasks to the next, with -l"),
    flag(Key::Shared, "S", "all tasks use the same files"),
    Spec::explained(
        Key::Other,
        "t",
        &[],
        Takes::Nothing,
        (
            "measure the cost of unique directories",
            "each call uses the whole path of its item, from -d on, as without this option: no task changes \
             its directory",
        ),
    ),
    flag(Key::Stat, "T", "stat items"),
    flag(Key::OwnTrees, "u", "each task has its own tree"),
    flag(Key::Rename, "U", "rename directories"),
    flag(Key::Verbose, "v", "increase verbosity; may be repeated"),
    value(Key::Verbosity, "V", "-V 1", "verbosity"),
    value(Key::WriteBytes, "w", "-w 3901", "bytes to write to each file"),
    value(
        Key::Stonewall,
        "W",
        "-W 300",
        "seconds after which each task creates files only until it has as many as the fastest",
    ),
    value(
        Key::StatusFile,
        "x",
        "-x FILE",
        "file for the number of files, written by -C -W and read by later phases",
    ),
    Spec::honoured(
        Key::VerifyRead,
        "X",
        &["verify-read"],
        Takes::Nothing,
        "compare the data read with the data written",
    ),
    flag(Key::Sync, "y", "fsync each file after it is written"),
    flag(Key::SyncAll, "Y", "sync(2) at the end of each phase, included in its time"),
    value(Key::Depth, "z", "-z 1", "levels of directories below the topmost one"),
    flag(Key::Time, "Z", "print times instead of rates; in published command lines of 1.9.3 a local patch"),
    Spec::honoured(Key::RandomSeed, "", &["random-seed"], Takes::Value("--random-seed=7"), "seed of -R"),
    Spec::honoured(
        Key::RankDetails,
        "",
        &["saveRankPerformanceDetails"],
        Takes::Value("--saveRankPerformanceDetails=ranks.csv"),
        "file for one row per task",
    ),
    Spec::honoured(
        Key::RankStatistics,
        "",
        &["showRankStatistics"],
        Takes::Nothing,
        "print statistics over tasks as well",
    ),
    Spec::honoured(
        Key::Packet,
        "",
        &["dataPacketType"],
        Takes::Value("--dataPacketType=timestamp"),
        "offset, incompressible, timestamp or random",
    ),
    Spec::explained(
        Key::Other,
        "",
        &["print-all-procs"],
        Takes::Nothing,
        (
            "all processes print their results",
            "the rows of all tasks are in the record: --saveRankPerformanceDetails=FILE, or `ioproof report RUNDIR`",
        ),
    ),
    Spec::explained(
        Key::Other,
        "",
        &["warningAsErrors"],
        Takes::Nothing,
        (
            "fail the run on a warning",
            "an error ends the run in any case; warnings about figures are printed beside them, and `ioproof \
             check RUNDIR` fails if a figure cannot be trusted",
        ),
    ),
    Spec::refused(
        Key::Other,
        "",
        &["verify-write"],
        Takes::Nothing,
        "a file that is read back at once is served from memory; compare in the read phase: -E -X -e BYTES",
    ),
    Spec::refused(Key::Other, "", &["run-cmd-before-phase"], Takes::Value("CMD"), COMMANDS),
    Spec::refused(Key::Other, "", &["run-cmd-after-phase"], Takes::Value("CMD"), COMMANDS),
    Spec::refused(
        Key::Other,
        "",
        &["savePerOpDataCSV"],
        Takes::Value("FILE"),
        "ioproof records a full latency histogram and a time series by second instead of one line for each \
         operation; see them with `ioproof report RUNDIR`",
    ),
    Spec::honoured(
        Key::Direct,
        "",
        &["posix.odirect"],
        Takes::Nothing,
        "opens files with O_DIRECT; the file system decides which sizes it takes",
    ),
    Spec::refused(
        Key::Other,
        "",
        &["posix.lustre.stripecount", "posix.lustre.stripesize", "posix.lustre.startost"],
        Takes::Value("1"),
        STRIPES,
    ),
    Spec::refused(
        Key::Other,
        "",
        &[
            "dfs.pool",
            "dfs.cont",
            "dfs.group",
            "dfs.chunk_size",
            "dfs.oclass",
            "dfs.dir_oclass",
            "dfs.prefix",
        ],
        Takes::Value("NAME"),
        DAOS,
    ),
    Spec::refused(Key::Other, "", &["dfs.destroy"], Takes::Nothing, DAOS),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::OPTIONS;

    #[test]
    fn no_letter_or_word_stands_for_two_options() {
        let mut seen = BTreeSet::new();
        for spec in OPTIONS.all() {
            assert!(spec.short.is_empty() || seen.insert(spec.short.to_owned()), "-{}", spec.short);
            for word in spec.words {
                assert!(seen.insert(word.to_ascii_lowercase()), "--{word} stands twice");
            }
        }
    }

    #[test]
    fn every_letter_of_the_present_release_is_known() {
        for letter in "abBcCdDeEfFgGhiIklLnNpPrRsStTuUvVwWxXyYzZ".chars() {
            assert!(OPTIONS.all().any(|spec| spec.short.chars().eq([letter])), "-{letter} is missing");
        }
    }
}
