//! nsdperf: a line for each test, and its histograms.
//!
//! `MB` are 1000² bytes: the rate is messages per second × bytes of a buffer. The bins of its histograms
//! are 1 ms wide, with the printed number at the centre. The transmit time of a block is that of a whole
//! message.

use plan::{Bytes, Condition, Operation, Pattern, Phase, Rpc, WorkloadSpec};

use crate::import::draft::{Bucket, Draft, Pass, Printed, Test, geometry};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer, no_line};
use crate::import::text::lines::{Block, Line, between, narrow, whole};

/// The tool's name.
pub(super) const TOOL: &str = "nsdperf";

/// Parses nsdperf's text.
pub(crate) const IMPORTER: Importer = Importer {
    name: "nsdperf",
    tool: TOOL,
    newest: None,
    form: Form::Lines { starts, is_own: no_line, continues: true, read: parse },
};

const TESTS: [&str; 4] = ["write", "nwrite", "read", "rw"];
const MSEC_NS: u64 = 1_000_000;

/// `1-1 write 1900 MB/sec (454 msg/sec), …`.
fn is_result(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let pair = words.next().and_then(|word| word.split_once('-'));
    let counted = pair.is_some_and(|(a, b)| [a, b].iter().all(|n| n.parse::<u32>().is_ok()));
    counted && words.next().is_some_and(|test| TESTS.contains(&test)) && line.contains("MB/sec")
}

/// Whether an output of nsdperf starts with `line`.
fn starts(line: &str) -> bool {
    is_result(line) || line.starts_with("Connected to ")
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut threads = 1;
    let mut bins: Option<bool> = None;
    for line in block.lines {
        let text = line.text.trim();
        if let Some(rest) = text.strip_prefix("Number of tester threads set to ") {
            threads = narrow(block.count(*line, rest, "a number of threads")?);
        } else if is_result(text) {
            draft.tests.push(result(block, *line, threads)?);
            bins = None;
        } else if let Some(pass) = draft.tests.last_mut().and_then(|test| test.passes.last_mut()) {
            if text.contains(" delay times (") || text.contains(" transmit times (") {
                bins = Some(text.contains(" transmit times ("));
                times(*line, text, pass);
            } else if let Some(is_whole) = bins.filter(|_| text.starts_with(|c: char| c.is_ascii_digit())) {
                let (msec, count) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
                let msec = block.count(*line, msec, "a time in msec")?;
                let count = block.count(*line, count, "a number of events")?;
                if is_whole {
                    let low_ns = msec.saturating_mul(MSEC_NS).saturating_sub(MSEC_NS / 2);
                    let high_ns = msec.saturating_mul(MSEC_NS).saturating_add(MSEC_NS / 2 - 1);
                    pass.latency.push(Bucket { operation: Operation::Exchange, low_ns, high_ns, count });
                }
            } else if !text.is_empty() && !text.starts_with("msec") {
                bins = None;
            }
        }
    }
    draft.tests.iter_mut().flat_map(|test| &mut test.passes).for_each(keep_mean);
    match draft.tests.is_empty() {
        true => Err(block.ended("the result of a test such as `1-1 write 1900 MB/sec (454 msg/sec), …`")),
        false => Ok(draft),
    }
}

fn result(block: &Block<'_>, line: Line<'_>, threads: u32) -> Result<Test, ImportError> {
    let text = line.text.trim();
    let malformed = |what: &str| block.malformed(line, text, what);
    let words: Vec<&str> = text.split_whitespace().collect();
    let [pair, name, rate, ..] = words[..] else { return Err(malformed("a test with its rate")) };
    let rate_mb = block.number(line, rate, "a rate in MB/sec")?;
    let field = |before: &str| between(text, before, "").and_then(|rest| rest.split([',', ' ', ')']).next());
    let messages = field("(").ok_or_else(|| malformed("messages per second such as `(454 msg/sec)`"))?;
    let messages_per_second = block.number(line, messages, "messages per second")?;
    let seconds = field("time ").ok_or_else(|| malformed("`time` in seconds"))?;
    let seconds_number = block.number(line, seconds, "a time in seconds")?;
    let buffer = field("buff ").ok_or_else(|| malformed("`buff` in bytes"))?;
    let buffer_bytes = block.count(line, buffer, "a size in bytes")?;
    let threads = match field("th ") {
        Some(text) => narrow(block.count(line, text, "a number of threads")?),
        None => threads,
    };
    let mut pass = Pass::new(Phase::Exchange, 0);
    let printed = [(rate, "rate", "MB/s"), (messages, "messages", "messages/s"), (seconds, "time", "s")];
    for (value, label, unit) in printed {
        pass.printed.push(Printed::new(line, label, value, unit, if unit == "s" { "stated" } else { "" }));
    }
    for side in ["cli", "srv"] {
        if let Some(share) = field(&format!("{side} ")) {
            let share = share.trim_end_matches('%');
            pass.printed.push(Printed::new(line, &format!("{side} processor"), share, "%", ""));
        }
    }
    let bytes = whole(rate_mb * 1e6 * seconds_number);
    pass.row.items = whole(messages_per_second * seconds_number);
    match name {
        "read" => pass.row.read_bytes = bytes,
        _ => pass.row.write_bytes = bytes,
    }
    pass.took(whole(seconds_number * 1e9));
    pass.note("rates are printed with three digits");
    let (clients, servers) = pair.split_once('-').unwrap_or((pair, "1"));
    let clients = narrow(block.count(line, clients, "a number of clients")?).max(1);
    let mut spec = WorkloadSpec::new(name, "network", geometry(Some(buffer_bytes)));
    let (request, response) = if name == "read" { (1, buffer_bytes) } else { (buffer_bytes, 1) };
    let servers_count = narrow(block.count(line, servers, "a number of servers")?).max(1);
    let mut rpc = Rpc::new(Bytes(request.max(1)), Bytes(response.max(1)));
    rpc.ends = clients.saturating_add(servers_count);
    rpc.pattern = if servers_count == 1 && clients > 1 { Pattern::ManyToOne } else { Pattern::OneToOne };
    (rpc.threads, rpc.connections) = (threads.max(1), threads.max(1));
    spec.tasks = rpc.tasks().max(1);
    spec.work = rpc.into();
    let stated = format!(
        "{name} of {}, {clients} clients to {servers} servers, {threads} threads each",
        Bytes(buffer_bytes)
    );
    let mut test =
        Test::new(&format!("{name}-{}k-{threads}", buffer_bytes / 1024), spec, &stated).knowing(&[
            (Condition::Transfer, true),
            (Condition::Depth, true),
            (Condition::Tasks, true),
            (Condition::Nodes, true),
        ]);
    name.clone_into(&mut test.case.group);
    test.passes.push(pass);
    Ok(test)
}

/// The label of the times of a block.
const TRANSMIT: &str = "block transmit time";

/// Keeps the printed mean of the times of a block as that of the figure. Each client prints its own: that of one is that
/// of all.
fn keep_mean(pass: &mut Pass) {
    let means = pass.printed.iter().filter(|one| one.label == TRANSMIT && one.statistic == "mean");
    let means: Vec<f64> = means.filter_map(|one| one.number).collect();
    if let [msec] = means[..] {
        pass.mean_latency(Operation::Exchange, msec * MSEC_NS as f64);
    }
}

/// `10.99.0.1 network delay times (average 2.13297 msec, median 2 msec, std deviation 0.59458 msec)`.
fn times(line: Line<'_>, text: &str, pass: &mut Pass) {
    let what = if text.contains(" transmit times (") { TRANSMIT } else { "network delay" };
    let names = [("average ", "mean"), ("median ", "median"), ("std deviation ", "standard deviation")];
    for (before, statistic) in names {
        if let Some(value) = between(text, before, " msec") {
            pass.printed.push(Printed::new(line, what, value, "ms", statistic));
        }
    }
}
