//! gpfsperf and tsqosperf: the block that each run prints.
//!
//! `Kbytes` are 1000 bytes in some releases and 1024 in others. If the rate of operations is printed, it
//! decides: operations × record size is either 1000 or 1024 times the data rate. Otherwise, releases that
//! print `bytesTransferred` use 1000.

use plan::{Condition, Order, Phase, WorkloadSpec};

use crate::import::draft::{Draft, Pass, Printed, Test, volume};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, between, whole};
use crate::import::text::{lines, units};

/// The tool's name.
pub(super) const TOOL: &str = "gpfsperf";

/// Parses the text of gpfsperf and tsqosperf.
pub(crate) const IMPORTER: Importer = Importer {
    name: "gpfsperf",
    tool: TOOL,
    newest: None,
    form: Form::Lines { starts, is_own, continues: false, read: parse },
};

const OPERATIONS: [(&str, Phase); 3] =
    [("create", Phase::Write), ("write", Phase::Write), ("read", Phase::Read)];
const PATTERNS: [&str; 4] = ["seq", "rand", "randhint", "strided"];
/// Assumed stride, because the actual one is not printed.
const STRIDE: u64 = 2;
/// Number of decimals of the thread utilization.
const UTILIZATION_DIGITS: usize = 3;
/// A number of bytes that is too small by more than this factor was cut off: without its last digit it is
/// below a tenth.
const CUT_OFF: u64 = 5;
/// Tolerance for what is derived from rounded values. 1000 and 1024 differ by 2.4 %.
const ROUNDED: f64 = 0.01;

/// `tsqosperf write seq FILE`, without a prompt before it.
fn head(line: &str) -> Option<(&str, Phase, &str, &str)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.rsplit('/').next()?;
    let name = ["gpfsperf", "tsqosperf", "gpfsperf-mpi"].into_iter().find(|known| *known == name)?;
    let operation = words.next()?;
    let phase = OPERATIONS.iter().find(|(known, _)| *known == operation)?.1;
    let pattern = words.next().filter(|pattern| PATTERNS.contains(pattern))?;
    Some((name, phase, pattern, words.next().unwrap_or("unknown")))
}

/// Whether an output starts with `line`.
fn starts(line: &str) -> bool {
    head(line).is_some()
}

/// Whether only gpfsperf can have printed `line`. Used if the beginning is missing.
fn is_own(line: &str) -> bool {
    line.trim_start().starts_with("Data rate was ") && line.contains("Kbytes/sec")
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let first = block.lines.first().and_then(|line| Some((*line, head(line.text)?)));
    let Some((first, (name, phase, pattern, target))) = first else {
        let line = block.lines.first().copied().unwrap_or(Line { number: 1, text: "", has_end: false });
        return Err(block.malformed(
            line,
            line.text,
            "the first line of the run, such as `gpfsperf read seq FILE`",
        ));
    };
    let mut draft = Draft { tool: name_of(name), ..Draft::default() };
    draft.command = Some(first.text.trim().to_owned());
    let mut pass = Pass::new(phase, 0);
    let mut other_lines = Vec::new();
    let mut facts = RunBlock::default();
    let mut whole_output = false;
    for line in &block.lines[1..] {
        let text = line.text.trim();
        if text.starts_with("recSize ") {
            facts.read_sizes(block, *line)?;
        } else if text.starts_with("nProcesses ") {
            facts.processes = word(text, "nProcesses").and_then(|text| text.parse().ok()).unwrap_or(1);
            facts.threads = word(text, "nThreadsPerProcess").and_then(|text| text.parse().ok()).unwrap_or(1);
        } else if text.starts_with("Data rate was ") {
            facts.read_rates(block, *line, &mut pass)?;
            whole_output = true;
            break;
        } else if !text.is_empty() && !text.starts_with("```") {
            other_lines.push(text.to_owned());
        }
    }
    if !whole_output {
        return Err(block.ended("the line `Data rate was …`"));
    }
    let kilo = facts.kilo(block, first, name)?;
    facts.derive(&mut pass, kilo);
    pass.note(format!("`Kbytes` are {kilo} bytes: {}", facts.why(name)));
    let mut spec =
        WorkloadSpec::new(name, target, volume(facts.record, facts.bytes / u64::from(facts.tasks())));
    spec.tasks = facts.tasks();
    spec.direct = other_lines.iter().any(|line| line == "using direct I/O");
    spec.sync.at_close = other_lines.iter().any(|line| line.starts_with("fsync at end"));
    spec.order = match pattern {
        "seq" => Order::Sequential,
        "strided" => Order::Strided { stride: STRIDE },
        _ => Order::Random { seed: 0 },
    };
    let stated = facts.stated(pattern, &other_lines);
    let id = format!("{}-{pattern}", if phase == Phase::Read { "read" } else { "write" });
    let mut test = Test::new(&id, spec, &stated).knowing(&[
        (Condition::Transfer, true),
        (Condition::Volume, true),
        (Condition::Order, true),
        (Condition::Path, true),
        (Condition::Cache, true),
        (Condition::Sync, true),
        (Condition::Depth, true),
        (Condition::Tasks, facts.processes > 0),
    ]);
    test.passes.push(pass);
    draft.tests.push(test);
    Ok(draft)
}

fn name_of(name: &str) -> &'static str {
    if name == "tsqosperf" { "tsqosperf" } else { TOOL }
}

/// The word after `name`.
fn word<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut words = text.split_whitespace();
    words.find(|word| *word == name)?;
    words.next()
}

/// The values of the block.
#[derive(Default)]
struct RunBlock {
    record: u64,
    bytes: u64,
    processes: u32,
    threads: u32,
    kbytes_per_second: f64,
    operations_per_second: Option<f64>,
    latency_ms: Option<f64>,
    transferred: Option<u64>,
}

impl RunBlock {
    fn tasks(&self) -> u32 {
        self.processes.max(1).saturating_mul(self.threads.max(1))
    }

    fn read_sizes(&mut self, block: &Block<'_>, line: Line<'_>) -> Result<(), ImportError> {
        let sized = |name| {
            let text = word(line.text, name).unwrap_or_default();
            let found = units::size(text, false).map(whole).filter(|&bytes| bytes > 0);
            found.ok_or_else(|| {
                block.malformed(line, line.text, format!("{name} with a size, as in `{name} 16M`"))
            })
        };
        (self.record, self.bytes) = (sized("recSize")?, sized("nBytes")?);
        Ok(())
    }

    /// `Data rate was X Kbytes/sec, Op Rate was Y Ops/sec, Avg Latency was Z milliseconds, …`.
    fn read_rates(&mut self, block: &Block<'_>, line: Line<'_>, pass: &mut Pass) -> Result<(), ImportError> {
        let value = |before: &str, after: &str| -> Result<Option<(f64, &str)>, ImportError> {
            let Some(rest) = between(line.text, before, "") else { return Ok(None) };
            let text = if after.is_empty() {
                rest.trim()
            } else {
                rest.split_once(after).map_or("", |(text, _)| text)
            };
            let number = block.number(line, text.trim(), &format!("a number behind `{}`", before.trim()))?;
            Ok(Some((number, text)))
        };
        let missing = || block.malformed(line, line.text, "`Data rate was … Kbytes/sec`");
        let (rate, text) = value("Data rate was ", " Kbytes/sec")?.ok_or_else(missing)?;
        self.kbytes_per_second = rate;
        pass.printed.push(Printed::new(line, "Data rate", text, "Kbytes/s", ""));
        if let Some((rate, text)) = value("Op Rate was ", " Ops/sec")? {
            self.operations_per_second = Some(rate);
            pass.printed.push(Printed::new(line, "Op Rate", text, "ops/s", ""));
        }
        if let Some((latency, text)) = value("Avg Latency was ", " milliseconds")? {
            self.latency_ms = Some(latency);
            pass.printed.push(Printed::new(line, "Latency", text, "ms", "mean"));
        }
        let ends = line.text.contains("bytesTransferred ");
        if let Some((_, text)) = value("thread utilization ", if ends { "," } else { "" })? {
            if text.trim().split_once('.').is_none_or(|(_, digits)| digits.len() != UTILIZATION_DIGITS) {
                return Err(block.malformed(
                    line,
                    text,
                    "a thread utilization with three digits such as `0.938`",
                ));
            }
            pass.printed.push(Printed::new(line, "thread utilization", text, "fraction", ""));
        }
        if let Some((_, text)) = value("bytesTransferred ", "")? {
            let bytes = block.count(line, text, "a number of bytes")?;
            if bytes < self.bytes / CUT_OFF {
                let expected = format!("about as many bytes as nBytes states, {}", self.bytes);
                return Err(block.malformed(line, text, expected));
            }
            self.transferred = Some(bytes);
            pass.printed.push(Printed::new(line, "bytesTransferred", text, "bytes", ""));
        }
        if self.kbytes_per_second <= 0.0 {
            return Err(block.unusable(line, "a rate of 0 gives no time", "repeat the measurement"));
        }
        Ok(())
    }

    /// Number of bytes in a `Kbyte`.
    fn kilo(&self, block: &Block<'_>, line: Line<'_>, name: &str) -> Result<u32, ImportError> {
        if let Some(operations) = self.operations_per_second.filter(|_| self.record > 0) {
            let factor = operations * self.record as f64 / self.kbytes_per_second;
            let found =
                [1000_u32, 1024].into_iter().find(|&kilo| (factor / f64::from(kilo) - 1.0).abs() < ROUNDED);
            let what = || {
                format!(
                    "{operations} operations per second of {} bytes do not match {} Kbytes/s",
                    self.record, self.kbytes_per_second
                )
            };
            return found.ok_or_else(|| block.unusable(line, what(), "give the block as it was printed"));
        }
        Ok(if name == "tsqosperf" || self.transferred.is_some() { 1000 } else { 1024 })
    }

    fn why(&self, name: &str) -> String {
        match (self.operations_per_second, name) {
            (Some(_), _) => "computed from the rate of operations and the record size".to_owned(),
            (None, "tsqosperf") => {
                "as in tsqosperf's other blocks; this one prints no rate of operations".to_owned()
            }
            (None, _) if self.transferred.is_some() => {
                "as in releases that print bytesTransferred".to_owned()
            }
            (None, _) => "as in releases that print no bytesTransferred".to_owned(),
        }
    }

    fn derive(&self, pass: &mut Pass, kilo: u32) {
        let bytes = self.transferred.unwrap_or(self.bytes);
        let rate = self.kbytes_per_second * f64::from(kilo);
        let operations = if self.record > 0 { bytes as f64 / self.record as f64 } else { 0.0 };
        pass.moved(whole(operations), bytes);
        pass.took(lines::nanos(bytes as f64 / rate));
    }

    fn stated(&self, pattern: &str, other_lines: &[String]) -> String {
        let pattern = match pattern {
            "seq" => "sequential",
            "rand" => "random",
            "randhint" => "random, announced",
            other => other,
        };
        let mut words = vec![
            pattern.to_owned(),
            format!("records of {}", plan::Bytes(self.record)),
            format!("{} threads in {} processes", self.threads.max(1), self.processes.max(1)),
        ];
        words.extend(other_lines.iter().cloned());
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn a_prompt_is_not_the_head_of_a_block() {
        assert!(head("[root@p8n06 ~]# tsqosperf write seq -n 200g /f -fsync").is_none());
        assert!(head("/usr/lpp/mmfs/samples/perf/gpfsperf read seq /gpfs/testfile").is_some());
    }
}
