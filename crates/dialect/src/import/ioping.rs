//! ioping: its readable text, `-B`, and JSON.
//!
//! Rates with `k` before `iops` use powers of 1000, sizes in bytes powers of 1024 (`KiB`, `MiB`). `-B`
//! and JSON contain nanoseconds and bytes (see "RAW STATISTICS" in its manual). The first request is a
//! warm-up and not part of the statistics.
//!
//! Releases to 0.9 print neither a direction nor bytes, `completed in` with the rests between requests, and `-B` in
//! microseconds: eight values. Their rate is that of one request after the other, too.

use plan::{Condition, Operation, Order, Phase, WorkloadSpec};
use record::ReportedError;

use super::ImportError;
use super::draft::{Bucket, Draft, Pass, Printed, Test, volume};
use super::importer::{Form, Importer, no_line};
use super::text::json::Json;
use super::text::lines::{Block, Line, between, whole};
use super::text::{lines, units};

/// The tool's name.
pub(super) const TOOL: &str = "ioping";

/// Parses ioping's text.
pub(crate) const IMPORTER: Importer = Importer {
    name: "ioping",
    tool: TOOL,
    newest: Some((1, 3)),
    form: Form::Lines { starts, is_own: no_line, continues: true, read: parse },
};

/// Parses `ioping -B`.
pub(crate) const BATCH: Importer = Importer {
    name: "ioping-batch",
    tool: TOOL,
    newest: Some((1, 3)),
    form: Form::File { is_it: is_batch, read: batch },
};

/// Parses `ioping -J`.
pub(crate) const JSON: Importer = Importer {
    name: "ioping-json",
    tool: TOOL,
    newest: Some((1, 3)),
    form: Form::Json { member: "localtime", several: false, read: json },
};

/// The values in a line of `-B`.
const RAW: [(&str, &str, &str); 10] = [
    ("requests", "", "total"),
    ("time", "ns", "total"),
    ("iops", "ops/s", ""),
    ("speed", "bytes/s", ""),
    ("request time", "ns", "min"),
    ("request time", "ns", "mean"),
    ("request time", "ns", "max"),
    ("request time", "ns", "standard deviation"),
    ("requests generated", "", "total"),
    ("time generated", "ns", "total"),
];
/// The number of values in releases before 1.0.
const RAW_BEFORE_1_0: usize = 8;
/// Requests per second × their mean time is 10⁶ in microseconds and 10⁹ in nanoseconds; this factor is far from both.
const UNIT_ROOM: f64 = 30.0;
const NO_DIRECTION: &str = "the direction is not printed: reads are assumed, which is ioping's default";
/// Tolerance for what is derived from rounded values.
const ROUNDED: f64 = 0.02;

/// Whether an output of ioping starts with `line`.
fn starts(line: &str) -> bool {
    let line = line.trim_start();
    let request = (line.contains(" <<< ") || line.contains(" >>> ") || line.contains(" from "))
        && line.contains(": request=");
    request || (line.starts_with("--- ") && line.ends_with("ioping statistics ---"))
}

/// Whether `text` consists only of lines of `-B`. If lines have the eight values of old releases, the
/// last line must be complete, because otherwise two of ten values may be missing.
fn is_batch(text: &str) -> bool {
    let mut counts = text.lines().filter(|line| !line.trim().is_empty()).map(numbers).peekable();
    let ended = text.ends_with('\n');
    counts.peek().is_some()
        && counts.all(|count| count == Some(RAW.len()) || (ended && count == Some(RAW_BEFORE_1_0)))
}

/// The number of words in `line`, if all of them are numbers.
fn numbers(line: &str) -> Option<usize> {
    line.split_whitespace().try_fold(0, |count, word| lines::number(word).map(|_| count + 1))
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut requests: Vec<(Line<'_>, &str, f64)> = Vec::new();
    let mut at = 0;
    let mut write = false;
    let mut empty = None;
    while let Some(line) = block.lines.get(at) {
        at += 1;
        let text = line.text.trim();
        if let Some(time) = between(text, ": request=", "").and_then(|rest| between(rest, " time=", "")) {
            write |= text.contains(" >>> ");
            // Other requests are marked as faster or slower than the specified limits.
            let (time, mark) = time.split_once(" (").unwrap_or((time, ""));
            if mark == "warmup)" {
                continue;
            }
            let ns = units::time_ns(time)
                .ok_or_else(|| block.malformed(*line, time, "a time such as `97.4 us`"))?;
            requests.push((*line, time, ns));
        } else if text.starts_with("--- ") && text.ends_with("ioping statistics ---") {
            let target = between(text, "--- ", " ioping statistics").unwrap_or("unknown");
            let (test, after) = statistics(block, at, target, write, &requests)?;
            if test.is_none() {
                empty = block.lines.get(at).copied();
                draft.doubts.push(format!("ioping completed no request on {target}; it was skipped"));
            }
            draft.tests.extend(test);
            requests.clear();
            at = after;
        }
    }
    if let Some(line) = empty.filter(|_| draft.tests.is_empty()) {
        let next = "measure again with more requests: the first one is a warm-up and does not count";
        return Err(block.unusable(line, "no request was completed", next));
    }
    if draft.tests.is_empty() {
        return Err(block.ended("its statistics (`--- … ioping statistics ---`)"));
    }
    Ok(draft)
}

/// The values in the three lines of statistics.
#[derive(Default)]
struct Totals {
    count: f64,
    time_ns: f64,
    bytes: Option<f64>,
    per_second: f64,
    bytes_per_second: f64,
    /// Smallest, largest and mean time of a request.
    moments_ns: [f64; 3],
    failed: u64,
}

impl Totals {
    /// Replaces the time of old releases, which contains the rests between requests, by that of the requests, and
    /// adds bytes. `request_bytes` is the size of a request, if it is printed.
    fn without_rests(&mut self, request_bytes: Option<f64>) {
        let by_mean = self.count * self.moments_ns[2];
        self.time_ns = if self.per_second > 0.0 { self.count * 1e9 / self.per_second } else { by_mean };
        let by_rate = self.bytes_per_second * self.time_ns / 1e9;
        self.bytes = Some(request_bytes.map_or(by_rate, |bytes| bytes * self.count));
    }
}

fn statistics(
    block: &Block<'_>,
    first: usize,
    target: &str,
    write: bool,
    requests: &[(Line<'_>, &str, f64)],
) -> Result<(Option<Test>, usize), ImportError> {
    let mut found = Totals::default();
    let mut pass = Pass::new(Phase::Read, 0);
    let mut written = write;
    let mut at = first;
    let mut whole_output = false;
    while let Some(line) = block.lines.get(at).filter(|line| !starts(line.text)) {
        at += 1;
        let text = line.text.trim();
        if text.starts_with("no requests completed") {
            return Ok((None, at));
        }
        if text.contains(" requests completed in ") {
            written |= text.contains(" written");
            completed(block, *line, &mut found, &mut pass)?;
        } else if let Some(rest) = text.strip_prefix("generated ") {
            generated(block, *line, rest, &mut pass)?;
        } else if let Some(rest) = between(text, "min/avg/max/mdev =", "") {
            found.moments_ns = extremes(block, *line, rest, &mut pass)?;
            whole_output = true;
            break;
        }
    }
    if !whole_output || found.count <= 0.0 {
        return Err(block.ended("the line `min/avg/max/mdev = …`"));
    }
    if found.bytes.is_none() {
        let size = requests.first().and_then(|(line, ..)| line.text.split_once(" from "));
        found.without_rests(size.and_then(|(size, _)| units::size(size, false)));
        if !written {
            pass.note(NO_DIRECTION);
        }
    }
    Ok((Some(finish(pass, &found, target, written, requests)), at))
}

/// `2 requests completed in 579.4 us, 8 KiB read, 3.45 k iops, 13.5 MiB/s`.
fn completed(
    block: &Block<'_>,
    line: Line<'_>,
    found: &mut Totals,
    pass: &mut Pass,
) -> Result<(), ImportError> {
    let malformed = |what: &str| block.malformed(line, line.text, what);
    let (count, rest) = line.text.trim().split_once(" requests completed in ").unwrap_or_default();
    found.count = units::thousands(count).ok_or_else(|| malformed("a number of requests"))?;
    pass.printed.push(value(line, "requests", count, "", "total", found.count));
    let mut parts = rest.split(", ");
    let time = parts.next().unwrap_or_default();
    found.time_ns =
        units::time_ns(time).filter(|ns| *ns > 0.0).ok_or_else(|| malformed("a time such as `579.4 us`"))?;
    pass.printed.push(value(line, "time", time, "ns", "total", found.time_ns));
    for part in parts {
        let part = part.trim();
        if let Some(iops) = part.strip_suffix(" iops") {
            let number =
                units::thousands(iops).ok_or_else(|| malformed("a number of iops such as `3.45 k iops`"))?;
            found.per_second = number;
            pass.printed.push(value(line, "iops", iops, "ops/s", "", number));
        } else if let Some(speed) = part.strip_suffix("/s") {
            let number =
                units::size(speed, false).ok_or_else(|| malformed("a speed such as `13.5 MiB/s`"))?;
            found.bytes_per_second = number;
            pass.printed.push(value(line, "speed", part, "bytes/s", "", number));
        } else if let Some(failed) = part.strip_suffix(" failed") {
            found.failed = block.count(line, failed, "a number of failed requests")?;
        } else {
            let size = part.trim_end_matches("read").trim_end_matches("written").trim();
            let bytes = units::size(size, false).ok_or_else(|| malformed("a size such as `8 KiB read`"))?;
            found.bytes = Some(bytes);
            pass.printed.push(value(line, "size", size, "bytes", "total", bytes));
        }
    }
    Ok(())
}

/// `generated 3 requests in 1.00 s, 12 KiB, 2 iops, 11.9 KiB/s`, which counts the pauses, too.
fn generated(block: &Block<'_>, line: Line<'_>, rest: &str, pass: &mut Pass) -> Result<(), ImportError> {
    let (count, rest) = rest.split_once(" requests in ").unwrap_or_default();
    let mut parts = rest.split(", ").map(str::trim);
    let time = parts.next().unwrap_or_default();
    let ns = units::time_ns(time).ok_or_else(|| block.malformed(line, time, "a time"))?;
    pass.printed.push(value(line, "time generated", time, "ns", "total", ns));
    let size = parts.next().unwrap_or_default();
    let iops = parts.next().and_then(|part| part.strip_suffix(" iops")).unwrap_or_default();
    let speed = parts.next().unwrap_or_default();
    let others = [
        ("requests generated", count, "", "total", units::thousands(count)),
        ("size generated", size, "bytes", "total", units::size(size, false)),
        ("iops generated", iops, "ops/s", "", units::thousands(iops)),
        (
            "speed generated",
            speed,
            "bytes/s",
            "",
            speed.strip_suffix("/s").and_then(|size| units::size(size, false)),
        ),
    ];
    for (label, text, unit, statistic, number) in others {
        pass.printed.extend(number.map(|number| value(line, label, text, unit, statistic, number)));
    }
    Ok(())
}

fn value(
    line: Line<'_>,
    label: &str,
    text: &str,
    unit: &'static str,
    statistic: &str,
    number: f64,
) -> Printed {
    Printed { number: Some(number), ..Printed::new(line, label, text, unit, statistic) }
}

/// Parses `256.4 us / 289.7 us / 323.0 us / 33.3 us`, or `0.2/0.3/0.4/0.1 ms`, and returns the smallest, the largest and
/// the mean.
fn extremes(block: &Block<'_>, line: Line<'_>, rest: &str, pass: &mut Pass) -> Result<[f64; 3], ImportError> {
    let parts: Vec<&str> = rest.split('/').map(str::trim).collect();
    let malformed = || block.malformed(line, rest, "four times such as `1.0 us / 2.0 us / 3.0 us / 0.5 us`");
    let last = parts
        .last()
        .filter(|_| parts.len() == 4)
        .and_then(|last| units::split(last))
        .ok_or_else(malformed)?;
    let mut found = [0.0; 4];
    for ((part, statistic), slot) in
        parts.iter().zip(["min", "mean", "max", "standard deviation"]).zip(&mut found)
    {
        let (number, unit) = units::split(part).ok_or_else(malformed)?;
        let unit = if unit.is_empty() { last.1 } else { unit };
        let ns = number * units::time_unit_ns(unit).ok_or_else(malformed)?;
        pass.printed.push(value(line, "request time", part, "ns", statistic, ns));
        *slot = ns;
    }
    let [min, mean, max, _] = found;
    Ok([min, max, mean])
}

/// Creates the case from what was found.
fn finish(
    mut pass: Pass,
    found: &Totals,
    target: &str,
    written: bool,
    requests: &[(Line<'_>, &str, f64)],
) -> Test {
    let phase = if written { Phase::Write } else { Phase::Read };
    pass.row.key.phase = phase;
    let bytes = found.bytes.unwrap_or(0.0);
    pass.moved(whole(found.count), whole(bytes));
    pass.took(whole(found.time_ns));
    let operation = if written { Operation::Write } else { Operation::Read };
    for (line, text, ns) in requests {
        let (low_ns, high_ns) = (whole(*ns), whole(*ns));
        pass.latency.push(Bucket { operation, low_ns, high_ns, count: 1 });
        pass.printed.push(value(*line, "request time", text, "ns", "single", *ns));
    }
    if requests.len() as u64 == whole(found.count) {
        pass.printed_latency(operation, found.moments_ns);
    }
    if found.failed > 0 {
        pass.reported(ReportedError::Failed, found.failed, &format!("{} failed", found.failed));
    }
    pass.note(
        "the rate is that of one request directly after the other; the pauses between them are not counted",
    );
    let size = if found.count > 0.0 { whole(bytes / found.count) } else { 0 };
    let path = target.split(" (").next().unwrap_or(target);
    let mut spec = WorkloadSpec::new(
        "ioping",
        path,
        volume(size.max(1), size.max(1).saturating_mul(whole(found.count).max(1))),
    );
    spec.order = Order::Random { seed: 0 };
    let about = if size > 0 {
        format!("requests of {}, one at a time", plan::Bytes(size))
    } else {
        "one request at a time".to_owned()
    };
    let mut test = Test::new("ioping", spec, &format!("{about}, {target}")).knowing(&[
        (Condition::Transfer, size > 0),
        (Condition::Path, true),
        (Condition::Depth, true),
        (Condition::Tasks, true),
        (Condition::Nodes, true),
    ]);
    test.passes.push(pass);
    test
}

/// Parses `-B`, in which each line is a statistic.
fn batch(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    for line in block.lines.iter().filter(|line| !line.text.trim().is_empty()) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if !matches!(words.len(), 8 | 10) {
            return Err(block.malformed(*line, line.text, "8 or 10 numbers, as `ioping -B` prints them"));
        }
        let values: Vec<f64> =
            words.iter().map(|word| block.number(*line, word, "a number")).collect::<Result<_, _>>()?;
        let mut pass = Pass::new(Phase::Read, 0);
        let (count, iops, speed) = (values[0], values[2], values[3]);
        // Releases before 1.0 print microseconds.
        let unit_ns =
            if values.len() == RAW_BEFORE_1_0 && iops * values[5] < 1e6 * UNIT_ROOM { 1e3 } else { 1.0 };
        let time = values[1] * unit_ns;
        for ((word, number), (label, unit, statistic)) in words.iter().zip(&values).zip(RAW) {
            let unit = if unit == "ns" && unit_ns > 1.0 { "us" } else { unit };
            pass.printed.push(value(*line, label, word, unit, statistic, *number));
        }
        let cut = values.len() == RAW.len() && (values[8] < count || values[9] * unit_ns < time);
        if cut {
            return Err(block.malformed(
                *line,
                line.text,
                "at least as many generated requests, in at least the same time",
            ));
        }
        let expected = lines::whole(count * 1e9 / time.max(1.0)) as f64;
        if iops > 0.0 && (expected / iops - 1.0).abs() > ROUNDED.max(1.0 / iops) {
            return Err(block.malformed(
                *line,
                line.text,
                "a time in ns that agrees with the printed requests per second",
            ));
        }
        let found = Totals { count, time_ns: time, bytes: Some(speed * time / 1e9), ..Totals::default() };
        pass.note(NO_DIRECTION);
        draft.tests.push(finish(pass, &found, "unknown", false, &[]));
    }
    match draft.tests.is_empty() {
        true => Err(block.ended("a line of statistics")),
        false => Ok(draft),
    }
}

/// Parses `-J`.
fn json(file: &str, text: &str) -> Result<Draft, ImportError> {
    let json = Json::new(file, TOOL, text);
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut requests = Vec::new();
    let mut write = false;
    for one in json.objects(json.root()?)? {
        if draft.started.is_none() {
            draft.zoned = true;
            draft.started =
                one.number("timestamp").map(|seconds| i64::try_from(lines::nanos(seconds)).unwrap_or(0));
        }
        if let Some(io) = one.get("io") {
            let io = json.object(io)?;
            write |= io.text("operation").is_some_and(|operation| operation.starts_with('w'));
            if io.text("ignored").as_deref() != Some("true")
                && let Some(time) = io.get("time")
            {
                requests.push((json.line(time), time.get(), json.number(time)?));
            }
            continue;
        }
        let Some(stat) = one.get("stat") else { continue };
        let stat = json.object(stat)?;
        let mut pass = Pass::new(Phase::Read, 0);
        let names = [
            ("count", "requests", "", "total"),
            ("time", "time", "ns", "total"),
            ("size", "size", "bytes", "total"),
            ("iops", "iops", "ops/s", ""),
            ("bps", "speed", "bytes/s", ""),
            ("min", "request time", "ns", "min"),
            ("avg", "request time", "ns", "mean"),
            ("max", "request time", "ns", "max"),
            ("mdev", "request time", "ns", "standard deviation"),
        ];
        for (name, label, unit, statistic) in names {
            let raw = stat.get(name).ok_or_else(|| json.ended(&format!("`{name}` of its statistics")))?;
            pass.printed.push(value(json.line(raw), label, raw.get(), unit, statistic, json.number(raw)?));
        }
        let number = |name| stat.number(name).unwrap_or(0.0);
        let load = one.get("load").map(|load| json.object(load)).transpose()?;
        let found = Totals {
            count: number("count"),
            time_ns: number("time"),
            bytes: stat.number("size"),
            moments_ns: ["min", "max", "avg"].map(number),
            failed: load.and_then(|load| load.number("failed")).map_or(0, whole),
            ..Totals::default()
        };
        let target = one.get("target").map(|target| json.object(target)).transpose()?;
        let target =
            target.and_then(|target| Some(format!("{} ({})", target.text("path")?, target.text("fstype")?)));
        draft.tests.push(finish(pass, &found, target.as_deref().unwrap_or("unknown"), write, &requests));
        requests.clear();
    }
    match draft.tests.is_empty() {
        true => Err(json.ended("its statistics (`stat`)")),
        false => Ok(draft),
    }
}
