//! elbencho's console text, which has a block for each phase that ends with `---`.
//!
//! The first column is the state when the first worker was done, the second when all were. `MiB` are 1024² bytes,
//! latencies are in µs unless they have a unit. A bucket of a histogram is named by its upper bound, which is
//! 2^(1/4) times that of the previous bucket. The requested workload is not printed. Releases 1.x print times in ms,
//! and whole numbers for rates.

use plan::{Operation, Phase};

use super::{Conditions, MIB, TOOL};
use crate::import::draft::{Bucket, Draft, Pass, Printed};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, nanos_at, number, whole};
use crate::import::text::units;

/// Parses what elbencho prints on the terminal.
pub(crate) const IMPORTER: Importer = Importer {
    name: "elbencho",
    tool: TOOL,
    newest: Some((3, 1)),
    form: Form::Lines { starts, is_own, continues: true, read: parse },
};

/// The ratio between the widths of two consecutive buckets of a histogram.
const BUCKET_STEP: f64 = 1.189_207_115_002_721;

/// Whether the line is the heading of the table.
fn starts(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words == ["OPERATION", "RESULT", "TYPE", "FIRST", "DONE", "LAST", "DONE"]
}

/// Whether the line is the first one of a phase, if the heading is missing.
fn is_own(line: &str) -> bool {
    phase_name(line).is_some()
}

/// The labels of the time of a phase. Releases 1.x print the second.
const ELAPSED: [&str; 2] = ["Elapsed time", "Elapsed ms"];

/// `WRITE       Elapsed time     :       304ms       308ms`.
fn phase_name(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(' ')?;
    let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) && !name.is_empty();
    let rest = rest.trim_start();
    let is_time = |label: &&str| rest.strip_prefix(*label).is_some_and(|rest| rest.starts_with(' '));
    (is_name && ELAPSED.iter().any(is_time)).then_some(name)
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut open: Option<PhaseBlock<'_>> = None;
    // Whether the next phase is the first of a run.
    let mut is_new = true;
    for line in block.lines {
        let text = line.text.trim_end();
        if starts(text) {
            is_new = true;
        } else if let Some(name) = phase_name(text) {
            if let Some(cut) = open.take() {
                return Err(block.malformed(*line, text, format!("`---` after the phase {}", cut.name)));
            }
            let (_, rest) = text.split_once(' ').unwrap_or_default();
            open = Some(PhaseBlock { name, rows: vec![row(block, *line, rest)?] });
        } else if text == "---" {
            if let Some(open) = open.take() {
                is_new &= !open.add(block, &mut draft, is_new)?;
            }
        } else if let Some(open) = &mut open {
            // There may be other messages of the program in between.
            if text.starts_with("      ") {
                open.rows.push(row(block, *line, text)?);
            }
        }
    }
    let first = block.lines.iter().find(|line| phase_name(line.text.trim_end()).is_some());
    match (open, draft.tests.is_empty()) {
        (Some(open), _) => Err(block.ended(format!("`---` after the phase {}", open.name))),
        (None, true) if first.is_some() => {
            let next = "give the output of phases that read, write, or make or remove entries";
            let line = first.copied().unwrap_or(block.lines[0]);
            Err(block.unusable(line, "none of its phases is a measurement", next))
        }
        (None, true) => Err(block.ended("the result of a phase that is a measurement")),
        (None, false) => Ok(draft),
    }
}

/// A line of a phase: its label, and the text after `:`.
#[derive(Clone, Copy)]
struct Row<'a> {
    line: Line<'a>,
    label: &'a str,
    values: &'a str,
}

fn row<'a>(block: &Block<'a>, line: Line<'a>, text: &'a str) -> Result<Row<'a>, ImportError> {
    let (label, values) =
        text.split_once(':').ok_or_else(|| block.malformed(line, text, "a label, `:` and values"))?;
    Ok(Row { line, label: label.trim(), values: values.trim() })
}

/// The lines of one phase.
struct PhaseBlock<'a> {
    name: &'a str,
    rows: Vec<Row<'a>>,
}

impl<'a> PhaseBlock<'a> {
    /// The first and the last value in the line with this label.
    fn pair(&self, block: &Block<'_>, label: &str) -> Result<Option<(f64, f64)>, ImportError> {
        let Some(row) = self.rows.iter().find(|row| row.label == label) else { return Ok(None) };
        let mut values = row.values.split_whitespace();
        let mut next = || {
            let text = values.next().unwrap_or_default();
            number(text)
                .or_else(|| elapsed_ns(text).map(|ns| ns / 1e6))
                .ok_or_else(|| block.malformed(row.line, row.line.text, format!("two values of {label}")))
        };
        Ok(Some((next()?, next()?)))
    }

    /// Adds its figure, as that of another run if `is_new`. Returns whether it is a measurement.
    fn add(self, block: &Block<'a>, draft: &mut Draft, is_new: bool) -> Result<bool, ImportError> {
        let entries = match self.rows.iter().any(|row| row.label == "Dirs/s") {
            true => "Dirs",
            false => "Files",
        };
        let entry_rate = self.pair(block, &format!("{entries}/s"))?;
        let Some(phase) = super::phase_or_mixed(self.name, entry_rate.is_some()) else {
            draft
                .doubts
                .push(format!("elbencho's phase {} is not a known measurement; it was skipped", self.name));
            return Ok(false);
        };
        let mut pass = Pass::new(phase, 0);
        self.print(block, &mut pass)?;
        let elapsed = match self.pair(block, ELAPSED[0])? {
            Some(elapsed) => elapsed,
            None => self.pair(block, ELAPSED[1])?.unwrap_or_default(),
        };
        let total = |label: &str| Ok::<_, ImportError>(self.pair(block, label)?.map(|(_, last)| last));
        let sum = if phase == Phase::Mixed { "MiB/s total" } else { "Throughput MiB/s" };
        let rate = self.pair(block, sum)?;
        let mib = match phase {
            Phase::Mixed => total("MiB write")?.unwrap_or(0.0) + total("MiB read")?.unwrap_or(0.0),
            _ => total("Total MiB")?.unwrap_or(0.0),
        };
        let items = match total(&format!("{entries} total"))? {
            Some(items) => Some(items),
            None => total(&format!("Total {}", entries.to_lowercase()))?,
        };
        let wall = entry_rate
            .and_then(|(_, rate)| nanos_at(items.unwrap_or(0.0), rate))
            .or_else(|| nanos_at(mib, rate.map_or(0.0, |(_, last)| last)))
            .unwrap_or_else(|| whole(elapsed.1 * 1e6));
        if wall == 0 {
            draft.doubts.push(format!(
                "elbencho's phase {} took 0 ms by its times, so that its rate is not known; it was skipped",
                self.name
            ));
            return Ok(false);
        }
        pass.took(wall);
        let seconds = wall as f64 / 1e9;
        let at_rate = |label: &str| Ok::<_, ImportError>(whole(total(label)?.unwrap_or(0.0) * seconds));
        if phase == Phase::Mixed {
            let bytes = |label: &str| Ok::<_, ImportError>(whole(total(label)?.unwrap_or(0.0) * MIB));
            (pass.row.reads, pass.row.read_bytes) = (at_rate("IOPS read")?, bytes("MiB read")?);
            (pass.row.writes, pass.row.write_bytes) = (at_rate("IOPS write")?, bytes("MiB write")?);
        } else {
            // A whole number of MiB is not precise enough for small amounts.
            let mib = if mib > 0.0 { mib } else { rate.map_or(0.0, |(_, last)| last) * seconds };
            let operations = items.map_or_else(|| at_rate("IOPS"), |items| Ok(whole(items)))?;
            pass.moved(operations, whole(mib * MIB));
        }
        if let (Some((first, _)), Some((mib, _))) = (rate, self.pair(block, "Total MiB")?) {
            pass.row.first_done_bytes = whole(mib * MIB);
            pass.row.first_done_ns = nanos_at(mib * MIB, first * MIB).unwrap_or(0).min(wall);
        }
        self.latencies(block, &mut pass, entry_rate.is_some().then_some(entries))?;
        pass.note("sizes are printed in whole MiB, requests not at all: both follow from rate and time");
        let conditions = Conditions { in_directories: entry_rate.is_some(), ..Conditions::unknown() };
        super::add(draft, conditions, pass, is_new);
        Ok(true)
    }

    /// Adds every value as printed.
    fn print(&self, block: &Block<'_>, pass: &mut Pass) -> Result<(), ImportError> {
        for row in &self.rows {
            let words: Vec<&str> = row.values.split_whitespace().collect();
            let malformed = || block.malformed(row.line, row.line.text, "the first and the last value");
            if let Some(list) = row.values.strip_prefix('[').map(|list| list.trim_end_matches(']')) {
                if row.label.ends_with("latency") || row.label.contains("lat %") {
                    self.print_latency(*row, list, pass);
                }
                continue;
            }
            let unit = match row.label {
                "Elapsed time" | "Elapsed ms" => "ms",
                label if label.starts_with("MiB/s") || label.ends_with("MiB/s") => "MiB/s",
                label if label.ends_with("/s") || label.starts_with("IOPS") => "ops/s",
                label if label.contains("MiB") => "MiB",
                label if label.ends_with('%') => "%",
                _ => "",
            };
            let [first, last] = words[..] else { return Err(malformed()) };
            for (text, statistic) in [(first, "first done"), (last, "last done")] {
                let value = number(text).or_else(|| elapsed_ns(text).map(|ns| ns / 1e6));
                let number = Some(value.ok_or_else(malformed)?);
                let printed = Printed::new(row.line, row.label, text, unit, statistic);
                pass.printed.push(Printed { number, ..printed });
            }
        }
        Ok(())
    }

    /// ` min=26us avg=148us max=10.8ms `, ` 1%<=2.4 50%<=2.4 `.
    fn print_latency(&self, row: Row<'_>, list: &str, pass: &mut Pass) {
        let label = row.label.replace(" lat % us", " latency");
        for word in list.split_whitespace() {
            let (statistic, text, ns) = if let Some((percent, us)) = word.split_once("%<=") {
                (format!("p{percent}"), us, number(us).map(|us| us * 1e3))
            } else if let Some((name, time)) = word.split_once('=') {
                (if name == "avg" { "mean".to_owned() } else { name.to_owned() }, time, units::time_ns(time))
            } else {
                continue;
            };
            let printed = Printed::new(row.line, &label, text, "us", &statistic);
            pass.printed.push(Printed { number: ns.map(|ns| ns / 1e3), ..printed });
        }
    }

    /// Adds the histograms of what the phase counts: entries in directories, otherwise transfers.
    fn latencies(
        &self,
        block: &Block<'_>,
        pass: &mut Pass,
        entries: Option<&str>,
    ) -> Result<(), ImportError> {
        for row in self.rows.iter().filter(|row| row.label.ends_with("lat hist")) {
            let of = row.label.trim_end_matches(" lat hist");
            let operation = match (entries, of, pass.row.key.phase) {
                (Some(entries), of, phase) if of == entries => super::item_operation(phase),
                (None, "IO", Phase::Read) | (None, "IO rd", _) => Operation::Read,
                (None, "IO" | "IO wr", _) => Operation::Write,
                _ => continue,
            };
            for part in row.values.trim_matches(['[', ']', ' ']).split(", ") {
                let malformed = || block.malformed(row.line, part, "a latency in us and a count, as `11: 7`");
                let (high, count) = part.split_once(": ").ok_or_else(malformed)?;
                let high = number(high).ok_or_else(malformed)? * 1e3;
                let count = count.trim().parse().map_err(|_| malformed())?;
                let (low_ns, high_ns) = (whole(high / BUCKET_STEP), whole(high));
                pass.latency.push(Bucket { operation, low_ns, high_ns, count });
            }
            let printed = self.rows.iter().find(|row| row.label.strip_suffix(" latency") == Some(of));
            pass.printed_latency(operation, printed.map_or([0.0; 3], |row| moments_ns(row.values)));
            pass.note("the buckets of its histogram are up to 19 % wide");
        }
        Ok(())
    }
}

/// The smallest, the largest and the mean latency of `[ min=26us avg=148us max=10.8ms ]`; 0 for one that is missing.
fn moments_ns(values: &str) -> [f64; 3] {
    let of = |name: &str| {
        let word = values.split([' ', '[', ']']).find_map(|word| word.strip_prefix(name));
        word.and_then(units::time_ns).unwrap_or(0.0)
    };
    [of("min="), of("max="), of("avg=")]
}

/// `304ms`, `2.001s`, `5m0.001s`, `1h2m3.4s`.
fn elapsed_ns(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut ns = 0.0;
    for (letter, unit) in [('h', 3600e9), ('m', 60e9)] {
        if let Some((value, after)) = rest.split_once(letter)
            && let Ok(value) = value.parse::<u32>()
            && after.ends_with('s')
            && after != "s"
        {
            ns += f64::from(value) * unit;
            rest = after;
        }
    }
    units::time_ns(rest).map(|last| ns + last)
}

#[cfg(test)]
mod tests {
    use super::elapsed_ns;

    #[test]
    fn times_of_the_first_line_are_read_with_their_units() {
        for (text, ns) in
            [("304ms", 304e6), ("2.001s", 2.001e9), ("5m0.001s", 300.001e9), ("1h2m3.4s", 3723.4e9)]
        {
            assert!(elapsed_ns(text).is_some_and(|found| (found - ns).abs() < 1.0), "{text}");
        }
        assert_eq!(elapsed_ns("12"), None);
    }
}
