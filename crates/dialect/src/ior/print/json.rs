//! `-O summaryFormat=JSON`: the same keys, order and layout as IOR's, but always valid JSON.
//!
//! IOR writes its warnings between the values, which makes some of its documents invalid. Here they are
//! printed on the terminal.

use super::facts::RunFacts;
use super::figures::{Figures, MIB};
use super::parameters::{self, Parameters, Value};
use super::summary::Line;
use super::text::best_bw;
use crate::Compat;
use crate::ior::settings::Settings;
use crate::printed::ctime;

/// IOR writes a space and a newline after the comma.
const NEXT: &str = ", \n";

/// `text` with quotes and escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

/// `"name": value` lines with `indent` spaces.
fn lines<'a>(indent: usize, pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let line = |(name, value): (&str, String)| format!("{:indent$}{}: {value}", "", quoted(name));
    pairs.into_iter().map(line).collect::<Vec<_>>().join(NEXT)
}

fn block(name: &str, pairs: Parameters) -> String {
    let pairs = pairs.into_iter().map(|(name, value)| match value {
        Value::Text(text) => (name, quoted(&text)),
        Value::Number(number) => (name, number.to_string()),
    });
    format!("    {}: {{\n{}\n    }}\n", quoted(name), lines(6, pairs))
}

/// Everything before the first test.
pub(super) fn begin(facts: &RunFacts, long: bool) -> String {
    let pairs = [
        ("Version", quoted(&facts.version)),
        ("Began", quoted(&ctime(facts.started_unix_ns))),
        ("Command line", quoted(&facts.command_line)),
        ("Machine", quoted(&facts.machine(long))),
    ];
    format!("{{\n{}{NEXT}  \"tests\": [\n", lines(2, pairs))
}

/// The part of a test before its first result.
pub(super) fn begin_test(
    facts: &RunFacts,
    compat: Compat,
    test: usize,
    settings: &Settings,
    started_unix_ns: i64,
) -> String {
    let first = if test == 0 { "" } else { NEXT };
    let started = quoted(&ctime(started_unix_ns));
    let path = quoted(&facts.path(test, compat));
    let space = facts.space(test).map_or_else(String::new, |space| {
        format!(
            ",\"Capacity\": {}, \"Used Capacity\": {},\"Inodes\": {}, \"Used Inodes\" : {}",
            quoted(&space.capacity),
            quoted(&space.used),
            quoted(&space.inodes),
            quoted(&space.used_inodes)
        )
    });
    let host = facts.host(test);
    let parameters = block("Parameters", parameters::parameters(settings, test, host));
    let options = block("Options", parameters::options(settings, compat, host));
    format!(
        "{first}    {{\n    \"TestID\": {test}{NEXT}    \"StartTime\": {started}    , \"Path\": {path}{space}\n\
         {NEXT}{parameters}{NEXT}{options}{NEXT}    \"Results\": [\n"
    )
}

/// A result. `first` says whether it is the first one of the test.
pub(super) fn row(figures: &Figures, first: bool) -> String {
    let f = figures;
    result(
        first,
        [
            ("access", quoted(f.access)),
            ("bwMiB", number(f.bw_mib)),
            ("blockKiB", number(f.block_kib)),
            ("xferKiB", number(f.xfer_kib)),
            ("iops", number(f.iops)),
            ("latency", number(f.latency)),
            ("openTime", number(f.open)),
            ("wrRdTime", number(f.io)),
            ("closeTime", number(f.close)),
            ("totalTime", number(f.total)),
        ],
    )
}

/// The result with the time taken by the removal of the files.
pub(super) fn removed(seconds: f64, first: bool) -> String {
    result(first, [("access", quoted("remove")), ("totalTime", number(seconds))])
}

fn result<'a>(first: bool, pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let before = if first { "" } else { NEXT };
    format!("{before}            {{\n{}\n      }}\n", lines(8, pairs))
}

/// The end of a test.
pub(super) fn end_test(rows: &[Figures], settings: &Settings, compat: Compat) -> String {
    let mut out = String::from("]\n");
    let best = |access, mib_name, mb_name| {
        best_bw(rows, access)
            .map(|best| [(mib_name, number(best)), (mb_name, number(best * MIB / 1e6))])
            .into_iter()
            .flatten()
    };
    let all: Vec<(&str, String)> =
        best("write", "writeMiB", "writeMB").chain(best("read", "readMiB", "readMB")).collect();
    if (settings.verbose > 0 || compat < Compat::V4_0) && !all.is_empty() {
        out.push_str(&format!("{NEXT}    \"max\": {{\n{}\n    }}\n", lines(6, all)));
    }
    out.push_str("\n  }\n");
    out
}

/// The summary and the end.
pub(super) fn finish(summary: &[Line<'_>], finished_unix_ns: i64) -> String {
    let entries: Vec<String> = summary.iter().map(entry).collect();
    format!(
        "]\n{NEXT}\"summary\": [\n{}]\n{NEXT}\"Finished\": {}\n}}\n",
        entries.join(NEXT),
        quoted(&ctime(finished_unix_ns))
    )
}

fn entry(line: &Line<'_>) -> String {
    let s = line.settings;
    let mut pairs = vec![
        ("operation", quoted(line.access)),
        ("API", quoted(&s.api)),
        ("TestID", line.test.to_string()),
        ("ReferenceNumber", s.ref_num.to_string()),
        ("segmentCount", s.segments.to_string()),
        ("blockSize", s.block.to_string()),
        ("transferSize", s.transfer.to_string()),
        ("numTasks", s.tasks.to_string()),
        ("tasksPerNode", s.tasks_per_node().to_string()),
        ("repetitions", s.repetitions.to_string()),
        ("filePerProc", u8::from(s.file_per_proc).to_string()),
        ("reorderTasks", u8::from(s.reorder).to_string()),
        ("taskPerNodeOffset", s.task_offset.to_string()),
        ("reorderTasksRandom", s.reorder_random.min(1).to_string()),
        ("reorderTasksRandomSeed", s.reorder_seed.to_string()),
        ("bwMaxMIB", number(line.bw.max)),
        ("bwMinMIB", number(line.bw.min)),
        ("bwMeanMIB", number(line.bw.mean)),
        ("bwStdMIB", number(line.bw.deviation_population)),
        ("OPsMax", number(line.ops.max)),
        ("OPsMin", number(line.ops.min)),
        ("OPsMean", number(line.ops.mean)),
        ("OPsSD", number(line.ops.deviation_population)),
        ("MeanTime", number(line.mean_seconds)),
    ];
    if let Some(wall) = line.wall {
        pairs.push(("StoneWallTime", number(wall.seconds)));
        pairs.push(("StoneWallbwMeanMIB", number(wall.mean_mib_per_second)));
    }
    pairs.push(("xsizeMiB", number(line.moved_mib)));
    format!("    {{\n{}\n  }}\n", lines(4, pairs))
}
