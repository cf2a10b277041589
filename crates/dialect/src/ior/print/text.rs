//! IOR's text, part by part, in the formats of 3.0, 3.3 and 4.0.

use std::fmt::Write as _;

use super::facts::RunFacts;
use super::figures::{Figures, MIB};
use super::number::figure;
use super::parameters::{self, TestHost};
use super::summary::{self, Line};
use crate::Compat;
use crate::ior::settings::Settings;
use crate::options::sizes;
use crate::printed::ctime;

/// Everything before the first test.
pub(super) fn begin(facts: &RunFacts, compat: Compat, long: bool) -> String {
    let (version, machine) = (&facts.version, facts.machine(long));
    let (began, command) = (ctime(facts.started_unix_ns), &facts.command_line);
    let title = format!("IOR-{version}: MPI Coordinated Test of Parallel I/O\n");
    match compat {
        Compat::V3_0 => {
            format!("{title}\nBegan: {began}\nCommand line used: {command}\nMachine: {machine}\n")
        }
        Compat::V3_3 | Compat::V4_0 => format!(
            "{title}{}{}{}",
            named("Began", &began),
            named("Command line", command),
            named("Machine", &machine)
        ),
    }
}

/// Everything between the title of a test and its first row.
pub(super) fn begin_test(
    facts: &RunFacts,
    compat: Compat,
    test: usize,
    settings: &Settings,
    started_unix_ns: i64,
) -> String {
    let started = ctime(started_unix_ns);
    let host = facts.host(test);
    let mut out = String::new();
    if compat == Compat::V3_0 {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "\nTest {test} started: {started}");
        if settings.verbose > 0 {
            let _ = writeln!(out, "Path: {}", facts.path(test, compat));
            if let Some(space) = facts.space(test) {
                let _ = writeln!(out, "FS: {}", space.line());
            }
            let _ = writeln!(out, "Participating tasks: {}", settings.tasks);
        }
        out.push_str(&summary_block(settings));
    } else {
        out.push_str(&named("TestID", &test.to_string()));
        out.push_str(&named("StartTime", &started));
        out.push_str(&named("Path", &facts.path(test, compat)));
        if let Some(space) = facts.space(test) {
            out.push_str(&named("FS", &space.line()));
        }
        out.push_str(&blocks(settings, compat, test, host));
        out.push_str("\nResults: \n");
    }
    out.push_str(&signature(settings));
    out.push('\n');
    out.push_str(table_header(compat));
    out
}

fn named(name: &str, value: &str) -> String {
    format!("{name:<20}: {value}\n")
}

fn blocks(settings: &Settings, compat: Compat, test: usize, host: TestHost<'_>) -> String {
    let lines = |pairs: parameters::Parameters| -> String {
        pairs.iter().map(|(name, value)| named(name, &value.text())).collect()
    };
    let mut out = String::new();
    if settings.verbose > 2 {
        out.push_str("\nParameters: \n");
        out.push_str(&lines(parameters::parameters(settings, test, host)));
    }
    out.push_str("\nOptions: \n");
    out.push_str(&lines(parameters::options(settings, compat, host)));
    out
}

/// The `Summary:` block of 3.0, before the results.
fn summary_block(settings: &Settings) -> String {
    let s = settings;
    let segments = if s.segments == 1 { "segmented (1 segment)" } else { "strided" };
    let pattern = match s.segments {
        1 => segments.to_owned(),
        count => format!("{segments} ({count} segments)"),
    };
    let ordering = if s.reorder {
        format!("constant task offsets = {}", s.task_offset)
    } else if s.reorder_random > 0 {
        format!("random task offsets >= {}, seed={}", s.task_offset, s.reorder_seed)
    } else {
        "no tasks offsets".to_owned()
    };
    let order = if s.random_offset > 0 { "random offsets" } else { "sequential offsets" };
    let mut pairs = vec![
        ("api                = ", s.api.clone()),
        ("test filename      = ", s.test_file.clone()),
        ("access             = ", parameters::access(s).to_owned()),
    ];
    if s.verbose > 0 {
        pairs.push(("pattern            = ", pattern));
    }
    pairs.extend([
        ("ordering in a file = ", order.to_owned()),
        ("ordering inter file= ", ordering),
        ("clients            = ", format!("{} ({} per node)", s.tasks, s.tasks_per_node())),
        ("repetitions        = ", s.repetitions.to_string()),
        ("xfersize           = ", sizes::human(s.transfer)),
        ("blocksize          = ", sizes::human(s.block)),
        ("aggregate filesize = ", sizes::human(s.aggregate().unwrap_or(u64::MAX))),
    ]);
    let lines: String = pairs.iter().map(|(name, value)| format!("        {name}{value}\n")).collect();
    format!("Summary:\n{lines}")
}

/// At verbosity 2 each repetition prints the signature of its data.
pub(super) fn signature(settings: &Settings) -> String {
    if settings.verbose < 2 {
        return String::new();
    }
    format!("Using Time Stamp {0} (0x{0:x}) for Data Signature\n", settings.signature)
}

const fn table_header(compat: Compat) -> &'static str {
    match compat {
        Compat::V3_0 => {
            "access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
             ------    ---------  ---------- ---------  --------   --------   --------   --------   ----\n"
        }
        Compat::V3_3 | Compat::V4_0 => {
            "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   \
             total(s)   iter\n\
             ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   \
             --------   ----\n"
        }
    }
}

/// The row of one phase.
pub(super) fn row(figures: &Figures, compat: Compat) -> String {
    let f = figures;
    let rest = [f.block_kib, f.xfer_kib, f.open, f.io, f.close, f.total].map(Some);
    columns(f.access, Some(f.bw_mib), [Some(f.iops), Some(f.latency)], rest, f.repetition, compat)
}

/// The row with the time taken by the removal of the files.
pub(super) fn removed(seconds: f64, repetition: u32, compat: Compat) -> String {
    let rest = [None, None, None, None, None, Some(seconds)];
    columns("remove", None, [None, None], rest, repetition, compat)
}

fn columns(
    access: &str,
    bw: Option<f64>,
    [iops, latency]: [Option<f64>; 2],
    rest: [Option<f64>; 6],
    repetition: u32,
    compat: Compat,
) -> String {
    let mut out = format!("{access:<10}{:<10} ", figure(bw));
    if compat >= Compat::V3_3 {
        let _ = write!(out, "{:<10} {:<10}  ", figure(iops), figure(latency));
    }
    for value in rest {
        let _ = write!(out, "{:<10} ", figure(value));
    }
    let _ = writeln!(out, "{repetition:<4}");
    out
}

/// IOR's warning about a phase that moved a different amount than requested, or whose files have a different
/// size: `file_bytes`, where it is known.
pub(super) fn volume_warning(bytes: u64, file_bytes: Option<u64>, settings: &Settings) -> String {
    let expected = settings.aggregate().unwrap_or(u64::MAX);
    if bytes == expected && file_bytes.is_none_or(|size| size == expected) {
        return String::new();
    }
    let sizes = file_bytes.map(|size| format!("WARNING: Stat() of aggregate file size      = {size}\n"));
    let mut out = format!(
        "WARNING: Expected aggregate file size       = {expected}\n{}\
         WARNING: Using actual aggregate bytes moved = {bytes}\n",
        sizes.unwrap_or_default()
    );
    if settings.deadline > 0 {
        out.push_str("WARNING: Maybe caused by deadlineForStonewalling\n");
    }
    out
}

/// IOR's warning about wrong data. `access` is the phase before the check.
pub(super) fn data_warning(access: &str, errors: u64, settings: &Settings) -> String {
    format!(
        "WARNING: Incorrect data on {access} ({errors} errors found).\n\
         Used Time Stamp {0} (0x{0:x}) for Data Signature\n",
        settings.signature
    )
}

/// The text after the last row of a test.
pub(super) fn end_test(rows: &[Figures], settings: &Settings, compat: Compat) -> String {
    let mut out = String::new();
    if settings.verbose > 0 || compat < Compat::V4_0 {
        if compat == Compat::V3_0 {
            out.push('\n');
        }
        for (access, title) in [("write", "Max Write: "), ("read", "Max Read:  ")] {
            if let Some(best) = best_bw(rows, access) {
                let _ = writeln!(out, "{title}{best:.2} MiB/sec ({:.2} MB/sec)", best * MIB / 1e6);
            }
        }
    }
    if settings.wear_out && settings.status_file.is_none() {
        let most = rows.iter().map(|row| row.most_transfers).max().unwrap_or(0);
        let _ = writeln!(out, "Pairs deadlineForStonewallingaccessed: {most}");
    }
    out
}

/// The best rate of one operation in MiB/s.
pub(super) fn best_bw(rows: &[Figures], access: &str) -> Option<f64> {
    rows.iter().filter(|row| row.access == access).map(|row| row.bw_mib).max_by(f64::total_cmp)
}

/// The summary and the end.
pub(super) fn finish(lines: &[Line<'_>], finished_unix_ns: i64, compat: Compat) -> String {
    let mut out = String::from("\nSummary of all tests:\n");
    out.push_str(summary::header(compat));
    for line in lines {
        out.push_str(&line.text(compat));
    }
    let finished = ctime(finished_unix_ns);
    match compat {
        Compat::V3_0 => {
            let _ = writeln!(out, "\nFinished: {finished}");
        }
        Compat::V3_3 | Compat::V4_0 => out.push_str(&named("Finished", &finished)),
    }
    out
}
