//! fio's terse lines (`--output-format=terse`, `--minimal`): one for each job or group, with values
//! separated by `;`.
//!
//! The fields are those in the manual, TERSE OUTPUT: sizes in KiB, rates in KiB/s, runtimes in ms, latencies in µs.
//! Version 4 adds a direction for trims, version 5 the numbers of samples. The number of requests and their size
//! are not printed. The size may be in the line that fio prints about the job beforehand; otherwise the number of
//! requests is IOPS × runtime.

use plan::{Operation, Phase};

use super::errors::{Errors, JobError};
use super::{Job, between_percentiles};
use crate::import::draft::{Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::text::lines::{Block, Line, whole};

/// Number of fields before the first direction: version, release, job, group, error.
const HEAD: usize = 5;
/// Number of fields of a direction before its bandwidth.
const BEFORE_BANDWIDTH: usize = 4 + 4 + 4 + PERCENTILES + 4;
const PERCENTILES: usize = 20;
const MOMENTS: [&str; 4] = ["min", "max", "mean", "standard deviation"];
const KIB: f64 = 1024.0;

/// The format version of a terse line.
pub(super) fn version(line: &str) -> Option<u32> {
    let mut fields = line.trim().split(';');
    let version = fields.next()?.parse().ok().filter(|version| (2..=9).contains(version))?;
    let known = match version {
        // Only terse lines have that many fields with percentiles among them.
        2 => line.contains("%=") && fields.count() > 100,
        _ => fields.next()?.starts_with("fio-"),
    };
    known.then_some(version)
}

/// The layout of a line of one version.
struct Shape {
    directions: usize,
    /// Number of fields of a direction.
    width: usize,
}

impl Shape {
    const fn of(version: u32) -> Option<Self> {
        match version {
            3 => Some(Self { directions: 2, width: BEFORE_BANDWIDTH + 5 }),
            4 => Some(Self { directions: 3, width: BEFORE_BANDWIDTH + 5 }),
            5 => Some(Self { directions: 3, width: BEFORE_BANDWIDTH + 6 + 5 }),
            _ => None,
        }
    }
}

/// The release of fio that printed the line, and the case of its job, or `None` if the job moved nothing. `jobs`
/// are those that were described before the line.
pub(super) fn read(
    block: &Block<'_>,
    line: Line<'_>,
    jobs: &[Job],
    errors: &Errors,
) -> Result<(String, Option<Test>), ImportError> {
    let version = version(line.text).unwrap_or(0);
    let Some(shape) = Shape::of(version) else {
        let what = format!("fio's terse version {version} is not supported, only 3, 4 and 5");
        return Err(block.unusable(line, what, "measure again with --terse-version=3, or print JSON"));
    };
    let fields: Vec<&str> = line.text.trim().split(';').collect();
    let wanted = HEAD + shape.directions * shape.width + 5;
    let [_, release, name, group, error, ..] = fields[..] else {
        return Err(block.malformed(line, line.text, format!("{wanted} fields of terse version {version}")));
    };
    if fields.len() < wanted {
        let expected = format!("at least {wanted} fields of terse version {version}, not {}", fields.len());
        return Err(block.malformed(line, line.text, expected));
    }
    let _ = block.count(line, group, "the number of a group")?;
    let mut pass = Pass::new(Phase::Read, 0);
    let number = block.count(line, error, "the number of an error")?;
    if number > 0 {
        let text = format!("error {number} of the job {name}");
        errors.of_job(&mut pass, &JobError { number, count: 1, text });
    }
    let job = jobs.iter().find(|job| job.name == name).cloned();
    let job = job.unwrap_or_else(|| Job { name: name.to_owned(), ..Job::default() });
    let transfer = job.transfer();
    let mut moved = Vec::new();
    let directions = [(Operation::Read, "read"), (Operation::Write, "write")];
    for ((operation, direction), at) in directions.into_iter().zip(0..) {
        let fields = &fields[HEAD + at * shape.width..][..shape.width];
        let one = Direction { block, line, name: direction, fields };
        if one.number(0, "KiB moved")? > 0.0 {
            one.add(&mut pass, operation, transfer)?;
            moved.push((operation, one.number(3, "a runtime in ms")?));
        }
    }
    pass.row.key.phase = match moved[..] {
        [] => return Ok((release_of(release), None)),
        [(Operation::Read, _)] => Phase::Read,
        [_] => Phase::Write,
        _ => Phase::Mixed,
    };
    let runtime_ms = moved.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
    pass.took(whole(runtime_ms * 1e6));
    let cpu = &fields[HEAD + shape.directions * shape.width..];
    let cpu = |at: usize| {
        let percent = cpu[at].trim_end_matches('%');
        let percent = block.number(line, percent, "processor time in percent")?;
        Ok::<u64, ImportError>(whole(percent / 100.0 * runtime_ms * 1e6))
    };
    (pass.row.user_cpu_ns, pass.row.system_cpu_ns) = (cpu(0)?, cpu(1)?);
    if transfer.is_none() {
        pass.note("a terse line has no number of requests: it follows from IOPS (a whole number) and time");
    }
    let stated = match job.asked_for() {
        parts if parts.is_empty() => "a terse line has no conditions".to_owned(),
        parts => parts.join(", "),
    };
    let mut test = Test::new(name, job.spec(), &stated).knowing(&job.known());
    test.passes.push(pass);
    Ok((release_of(release), Some(test)))
}

fn release_of(field: &str) -> String {
    field.trim_start_matches("fio-").to_owned()
}

/// The fields of one direction.
struct Direction<'b, 'a> {
    block: &'b Block<'a>,
    line: Line<'a>,
    name: &'static str,
    fields: &'b [&'a str],
}

impl Direction<'_, '_> {
    fn number(&self, at: usize, what: &str) -> Result<f64, ImportError> {
        self.block.number(self.line, self.fields[at].trim_end_matches('%'), what)
    }

    fn print(
        &self,
        pass: &mut Pass,
        at: usize,
        label: &str,
        unit: &'static str,
        statistic: &str,
    ) -> Result<(), ImportError> {
        let label = format!("{} {label}", self.name);
        let _ = self.number(at, &label)?;
        let text = self.fields[at].trim_end_matches('%');
        pass.printed.push(Printed::new(self.line, &label, text, unit, statistic));
        Ok(())
    }

    fn add(&self, pass: &mut Pass, operation: Operation, transfer: Option<u64>) -> Result<(), ImportError> {
        let (kib, iops, ms) = (self.number(0, "KiB")?, self.number(2, "IOPS")?, self.number(3, "ms")?);
        let bytes = whole(kib * KIB);
        let requests = transfer.map_or_else(|| whole(iops * ms / 1e3), |transfer| bytes / transfer.max(1));
        match operation {
            Operation::Read => (pass.row.reads, pass.row.read_bytes) = (requests, bytes),
            _ => (pass.row.writes, pass.row.write_bytes) = (requests, bytes),
        }
        let rates =
            [("io", "KiB", "total"), ("bw", "KiB/s", ""), ("iops", "ops/s", ""), ("runtime", "ms", "")];
        for ((label, unit, statistic), at) in rates.into_iter().zip(0..) {
            self.print(pass, at, label, unit, statistic)?;
        }
        for (kind, from) in [("slat", 4), ("clat", 8), ("lat", 12 + PERCENTILES)] {
            for (statistic, at) in MOMENTS.into_iter().zip(from..) {
                self.print(pass, at, kind, "us", statistic)?;
            }
        }
        let mut percentiles = Vec::new();
        for field in &self.fields[12..12 + PERCENTILES] {
            let expected = "a percentile such as `99.000000%=24`";
            let malformed = || self.block.malformed(self.line, field, expected);
            let (percent, value) = field.split_once("%=").ok_or_else(malformed)?;
            let percent = self.block.number(self.line, percent, expected)?;
            let latency_us = self.block.number(self.line, value, expected)?;
            // Fields for which no percentile was requested are `0%=0`.
            if percent > 0.0 {
                let statistic = format!("p{percent}");
                let label = format!("{} clat", self.name);
                pass.printed.push(Printed::new(self.line, &label, value, "us", &statistic));
                percentiles.push((percent, whole(latency_us * 1e3)));
            }
        }
        if !percentiles.is_empty() {
            let mut moments = [0.0; 3];
            for (moment, at) in moments.iter_mut().zip(8..) {
                *moment = self.number(at, "a latency")? * 1e3;
            }
            between_percentiles(pass, operation, requests as f64, &percentiles, moments);
        }
        for (statistic, at) in [("min", 0), ("max", 1), ("mean", 3), ("standard deviation", 4)] {
            self.print(pass, BEFORE_BANDWIDTH + at, "bw", "KiB/s", statistic)?;
        }
        Ok(())
    }
}
