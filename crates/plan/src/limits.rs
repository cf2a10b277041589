//! Limits on untrusted input: files from users or third parties, output of programs, and messages of other
//! processes.
//!
//! Each reader stops at its limit, so that an endless device or a crafted file costs a bounded amount of memory and
//! time. [`TABLE`] lists all limits for the documentation.
//!
//! ```
//! assert_eq!(plan::limits::STUDY_BYTES, 1 << 20);
//! assert!(plan::limits::TABLE.iter().all(|limit| limit.value > 0));
//! ```

use std::fmt::Write as _;

use crate::Bytes;

/// One limit, for the documentation.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The constant.
    pub name: &'static str,
    /// What is limited.
    pub what: &'static str,
    /// Its value.
    pub value: u64,
    /// Why it is sufficient.
    pub reason: &'static str,
}

macro_rules! limits {
    ($($name:ident: $type:ty = $value:expr, $what:literal, $reason:literal;)+) => {
        $(
            #[doc = concat!("Limit on ", $what, ": ", $reason, ".")]
            pub const $name: $type = $value;
        )+

        /// All limits.
        pub const TABLE: &[Limit] = &[$(Limit {
            name: stringify!($name),
            what: $what,
            value: $name as u64,
            reason: $reason,
        }),+];
    };
}

limits! {
    STUDY_BYTES: usize = 1 << 20, "a study file",
        "a hundred workloads take 20 KiB";
    DEFAULTS_BYTES: usize = 64 << 10, "a file of defaults",
        "all keys with their comments take two kilobytes";
    STUDY_LIST_ITEMS: usize = 1024, "a list of a study file",
        "a longer one is a mistake; a range is shorter";
    STUDY_TABLES: usize = 4096, "targets, workloads or other tables of one kind in a study file",
        "published studies have a hundred";
    TOPOLOGY_BYTES: usize = 1 << 20, "a description of a site",
        "the largest has some kilobytes";
    LISTED_NODES: usize = 1 << 16, "the names of a list such as `n[01-16]`",
        "the largest machines have ten thousand nodes";
    USER_TEXT_BYTES: u64 = 16 << 20, "another text file that the user names: a list of nodes, a script of a tool",
        "a million host names";
    PRINTED_BYTES: u64 = 256 << 20, "a file to be imported",
        "twice the histograms of a thousand jobs; it is in memory while it is read";
    PRINTED_OUTPUTS: usize = 100_000, "outputs of tools in one text",
        "the log of the jobs of a year has fewer";
    PRINTED_LINES: usize = 2_000_000, "lines of one output of a tool",
        "three weeks of one request a second, each with its line; they are listed in memory";
    LABELLED_BYTES: u64 = 64 << 20, "a text whose lines have labels of a launcher or times before them",
        "it is in memory with them and without them";
    PRINTED_PHASES: usize = 1_000_000, "phases of one file of elbencho",
        "more are treated as an error";
    NUMBERS_BYTES: u64 = 64 << 20, "a column of numbers for `ioproof calc`",
        "a hundred thousand numbers have less";
    NUMBERS: usize = 100_000, "numbers in such a column",
        "more are not repetitions of a measurement, and resampling them would take minutes";
    MANIFEST_BYTES: u64 = 256 << 20, "the manifest of a record, and its list of parts",
        "10,000 cases take 20 MB";
    CLAIM_BYTES: u64 = 256 << 20, "a claim on a target",
        "a file takes 60 bytes in it, and a plan has at most a million tasks";
    SUMS_BYTES: u64 = 16 << 20, "the checksums of a record",
        "a hundred thousand tables have less";
    SIGNATURE_BYTES: u64 = 64 << 10, "the signature of these checksums",
        "those of `ssh-keygen` have less than a thousand bytes";
    JOURNAL_LINE_BYTES: u64 = 512 << 20, "a line of the journal",
        "a phase that keeps a million operations, the most that can be asked for, has a line of 150 MB";
    JOURNAL_DAMAGED_LINES: usize = 100_000, "damaged lines of a journal that are remembered",
        "a hundred of them are listed one by one, the others are counted";
    JOURNAL_SEARCH_BYTES: u64 = 1 << 30, "bytes that are hashed to find out how many lines of a journal are missing",
        "half a second; a few missing lines are found at once";
    TABLE_BYTES: u64 = 16 << 30, "a table of a record, and a file of it whose checksum is compared",
        "that of the largest case, 14,616 tasks in 500 phases, has 200 MB";
    TABLE_FOOTER_BYTES: u64 = 16 << 20, "the footer of a table",
        "that of a group of 16,384 rows has 3 KB, and rows of 2 GiB are in at most 2,400 groups";
    TABLE_GROUP_ROWS: i64 = 1 << 16, "rows of one row group",
        "four times as many as any version of the program has put into one";
    TABLE_CHUNK_BYTES: u64 = 64 << 20, "the compressed values of one column in one row group",
        "those of 65,536 rows have less";
    TABLE_ROWS_EXPANSION: u64 = 2048, "memory that the rows of a table take for each byte read",
        "rows that are all alike, as those of idle devices, reach 1,800";
    TABLE_ROWS_BYTES: u64 = 2 << 30, "memory that the rows of one table take",
        "those of 384 devices take less in eleven hours";
    RECORD_ROWS_BYTES: u64 = 1 << 30, "memory that the warnings of a record take, and its phases where they are inflated",
        "two million phases take less";
    PHASES_EXPANSION: u64 = 64, "memory that more phases than these take for each byte read",
        "those that were measured reach 20";
    RECORD_TEXTS_BYTES: u64 = 512 << 20, "memory that distinct texts of one table, or of the warnings, take",
        "four million names of files";
    LINE_ROWS_EXPANSION: u64 = 256, "memory that the rows of a line of the journal take for each byte of it",
        "the longest row takes 400 bytes in memory, and two in the line";
    TEXTS_EXPANSION: u64 = 24, "memory that distinct texts of a record take for each byte read",
        "compression makes a text at most 22 times smaller";
    RECORD_NUMBER: i64 = 1 << 31, "repetitions, tasks and other numbers of things in a record",
        "a plan has at most a million tasks";
    RECORD_COUNT: i64 = 1 << 60, "times, bytes and counts in a record",
        "36 years in nanoseconds, an exabyte; sums of some stay below 2^64";
    ATTRIBUTE_BYTES: usize = 64 << 10, "a file of /sys",
        "the kernel gives an attribute one page, and no page is larger";
    KERNEL_TABLE_BYTES: u64 = 64 << 20, "a file of /proc or /etc, and a table of the firmware",
        "the mounts of a node with ten thousand containers have 10 MB";
    LEDGER_BYTES: u64 = 64 << 20, "a ledger of tuning or of a layout",
        "a step takes a kilobyte, a setting some hundred bytes";
    COMMAND_OUTPUT_BYTES: u64 = 64 << 10, "the output of a command of a layout that is kept",
        "such commands print some hundred bytes";
    SERVER_TEXT_BYTES: usize = 16 << 20, "a text of counters of servers",
        "two thousand storage targets print less";
    SERVER_COUNTERS: usize = 1 << 16, "counters in such a text",
        "no existing system has more";
    RIVAL_BYTES: u64 = 64 << 20, "the output of a tool that measures alongside ioproof",
        "the histograms of a pass take far less";
    JOB_ORDER_BYTES: u64 = 16 << 20, "the order of a job",
        "it names a few tables and steps";
    JOB_EVENT_BYTES: usize = 1 << 20, "an event of a job",
        "a step takes some kilobytes";
    JOB_LAST_WORDS_BYTES: usize = 4096, "what is kept of the standard error of a job",
        "the last lines state the cause";
    MESSAGE_BYTES: usize = 512 << 20, "what a rank sends in a message or a stream, and what is queued from one rank",
        "a rank that keeps a million operations, the most that can be asked for, sends 300 MB";
    FRAME_BYTES: usize = 64 << 10, "a frame between processes of a run",
        "a piece of a stream fits, and eight buffers cost a process half a megabyte";
}

/// All limits as a table in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut out = "| limit on | value | why that is enough |\n|---|---|---|\n".to_owned();
    for limit in TABLE {
        let value = match limit.name.ends_with("_BYTES") {
            true => Bytes(limit.value).to_string(),
            false => limit.value.to_string(),
        };
        let _ = writeln!(out, "| {} | {value} | {} |", limit.what, limit.reason);
    }
    out
}
