//! fio's text output of releases 2 and 3: a block for each job or group, and terse lines.
//!
//! `BW=1261MiB/s (1322MB/s)(358MiB/284msec)`: the first rate and the size are by 1024, the rate in brackets by
//! 1000. Release 2 prints `io=358MB, bw=1261MB/s, iops=323000, runt= 284msec`, all by 1024 (`kb_base`). Requests are
//! counted in `issued rwts`. With `--status-interval` a block is printed again and again, and the last one counts.

use plan::{Operation, Phase};

use super::errors::{Errors, JobError};
use super::{Job, TOOL, between_percentiles, terse};
use crate::import::draft::{Draft, Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer, no_line};
use crate::import::text::lines::{Block, Line, between, nanos, whole};
use crate::import::text::{times, units};

/// Parses fio's text. Terse lines are only used if there is no other text, because otherwise they repeat
/// it.
pub(crate) const IMPORTER: Importer = Importer {
    name: "fio",
    tool: TOOL,
    newest: Some((3, 42)),
    form: Form::Lines { starts, is_own: no_line, continues: true, read: parse },
};

/// Whether an output of fio starts with `line`.
fn starts(line: &str) -> bool {
    definition(line).is_some()
        || is_version(line)
        || line.contains(": (groupid=")
        || terse::version(line).is_some()
}

/// `fio-3.42`.
fn is_version(line: &str) -> bool {
    line.trim()
        .strip_prefix("fio-")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(' '))
}

/// `rr: (g=0): rw=randrw, bs=(R) 4096B-4096B, …, ioengine=io_uring, iodepth=8`.
fn definition(line: &str) -> Option<Job> {
    let (name, rest) = line.trim().split_once(": (g=")?;
    let field = |name: &str| {
        between(rest, name, "").map(|rest| rest.split(',').next().unwrap_or(rest).trim().to_owned())
    };
    // `(R) 4096B-4096B, (W) 8192B-8192B, (T) …`, in release 2 `4K-4K/8K-8K/…`.
    let sides =
        ["(R)", "(W)"].map(|side| Some(between(rest, side, "")?.split(',').next()?.trim().to_owned()));
    let block = match sides {
        [Some(reads), Some(writes)] => Some(format!("{reads},{writes}")),
        _ => field("bs="),
    };
    Some(Job {
        name: name.to_owned(),
        rw: field("rw="),
        block,
        engine: field("ioengine="),
        depth: field("iodepth=").and_then(|text| text.parse().ok()),
        ..Job::default()
    })
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let errors = Errors::of(block.lines.iter().copied());
    let mut jobs: Vec<Job> = Vec::new();
    let mut open: Option<JobBlock> = None;
    let mut found: Vec<(String, Test)> = Vec::new();
    let mut terse_tests: Vec<Test> = Vec::new();
    let mut finished = None;
    let mut close = |open: Option<JobBlock>| -> Result<(), ImportError> {
        let Some(open) = open else { return Ok(()) };
        let id = open.id.clone();
        finished = finished.max(open.ended);
        let Some(test) = open.finish(block, &errors)? else { return Ok(()) };
        match found.iter_mut().find(|(known, _)| *known == id) {
            Some((_, earlier)) => *earlier = test,
            None => found.push((id, test)),
        }
        Ok(())
    };
    for line in block.lines {
        let text = line.text.trim();
        if terse::version(text).is_some() {
            let (release, test) = terse::read(block, *line, &jobs, &errors)?;
            draft.version = Some(release);
            terse_tests.extend(test);
        } else if is_version(text) {
            draft.version = text.strip_prefix("fio-").map(str::to_owned);
        } else if let Some(job) = definition(text) {
            jobs.push(job);
        } else if text.contains(": (groupid=") {
            close(open.take())?;
            open = Some(JobBlock::of(block, *line, &jobs)?);
        } else if text.starts_with("Run status group") {
            close(open.take())?;
        } else if let Some(open) = &mut open {
            open.line(block, *line)?;
        }
    }
    close(open.take())?;
    draft.finished = finished;
    draft.tests = found.into_iter().map(|(_, test)| test).collect();
    if draft.tests.is_empty() {
        draft.tests = terse_tests;
    }
    errors.tell(&mut draft.tests);
    match draft.tests.is_empty() {
        true => Err(block.ended("a job that has read or written")),
        false => Ok(draft),
    }
}

/// Converts fio's name of a unit of time to the usual one.
fn short(unit: &str) -> Option<&'static str> {
    [("nsec", "ns"), ("usec", "us"), ("msec", "ms"), ("sec", "s")]
        .into_iter()
        .find_map(|(name, short)| (name == unit).then_some(short))
}

/// The counts of `issued rwts: total=26,0,0,0 short=…`, in release 2 `issued    : total=r=26/w=0/d=0, short=…`.
fn issued(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once(':')?;
    let is_it = matches!(name.trim_end(), "issued" | "issued rwt" | "issued rwts");
    rest.trim_start().strip_prefix("total=").filter(|_| is_it)?.split(" short=").next()
}

/// The group, process and name of a job, and its line if no process is printed.
fn id_of(rest: &str, line: Line<'_>, name: &str) -> String {
    let group = rest.split(',').next().unwrap_or_default();
    match between(rest, "pid=", ":") {
        Some(process) => format!("{group} {process} {name}"),
        None => format!("{group} line {} {name}", line.number),
    }
}

/// The error in `text`, which begins with its number, or `None` if that is 0.
fn job_error(number: &str, text: &str) -> Option<JobError> {
    let digits = number.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    let number = digits.parse().ok().filter(|&number| number > 0)?;
    Some(JobError { number, count: 1, text: text.to_owned() })
}

/// The block of a job that is being parsed.
struct JobBlock {
    job: Job,
    name: String,
    /// What distinguishes it from other jobs of the same or of another run.
    id: String,
    error: Option<JobError>,
    ended: Option<i64>,
    pass: Pass,
    read: Option<Direction>,
    write: Option<Direction>,
    issued: bool,
    /// The line that has reads and writes together.
    mixed: Option<u32>,
    /// The direction and the kind of latency to which percentiles belong.
    about: (Operation, &'static str),
    unit: String,
}

#[derive(Clone, Copy)]
struct Direction {
    bytes: f64,
    seconds: f64,
}

impl JobBlock {
    /// `rr: (groupid=0, jobs=2): err= 0: pid=10512: Sat Nov 21 10:19:16 2026`.
    fn of(block: &Block<'_>, line: Line<'_>, jobs: &[Job]) -> Result<Self, ImportError> {
        let (name, rest) = line.text.trim().split_once(": (groupid=").unwrap_or_default();
        let count = between(rest, "jobs=", ")").unwrap_or_default();
        let count = block.count(line, count, "`jobs=N`")?;
        let known = jobs.iter().find(|job| job.name == name).cloned();
        let job =
            Job { name: name.to_owned(), jobs: Some(count), grouped: true, ..known.unwrap_or_default() };
        let mut pass = Pass::new(Phase::Read, 0);
        let error = between(rest, "err=", ": pid=").or_else(|| between(rest, "err=", "")).map(str::trim);
        let error = error.and_then(|text| job_error(text, &format!("err= {text}")));
        let ended = between(rest, "pid=", "")
            .and_then(|rest| rest.split_once(": "))
            .and_then(|(_, text)| times::moment(text));
        if ended.is_none() && rest.contains("pid=") {
            pass.note("its end time cannot be read");
        }
        let about = (Operation::Read, "clat");
        Ok(Self {
            job,
            name: name.to_owned(),
            id: id_of(rest, line, name),
            error,
            ended,
            pass,
            read: None,
            write: None,
            issued: false,
            mixed: None,
            about,
            unit: String::new(),
        })
    }

    fn line(&mut self, block: &Block<'_>, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text.trim();
        let of_rates = |rest: &str| ["IOPS=", "io="].iter().any(|label| rest.trim_start().starts_with(label));
        let direction =
            [("read", Operation::Read), ("write", Operation::Write)].into_iter().find(|(name, _)| {
                let rest = text.strip_prefix(name).and_then(|rest| rest.trim_start().strip_prefix(':'));
                rest.is_some_and(of_rates)
            });
        if let Some((name, operation)) = direction {
            let found = match text.contains("IOPS=") {
                true => self.rate(block, line, name)?,
                false => self.rate_of_2(block, line, name)?,
            };
            self.about.0 = operation;
            *(if operation == Operation::Read { &mut self.read } else { &mut self.write }) = Some(found);
        } else if let Some(kind) =
            ["slat", "clat", "lat"].into_iter().find(|kind| text.starts_with(&format!("{kind} (")))
        {
            // `lat (usec)   : 2=0.03%` belongs to a table of shares.
            if text.contains("min=") {
                self.latency(block, line, kind)?;
            }
        } else if let Some(rest) =
            text.strip_prefix("clat percentiles (").or_else(|| text.strip_prefix("lat percentiles ("))
        {
            rest.split(')').next().unwrap_or_default().clone_into(&mut self.unit);
            self.about.1 = if text.starts_with("clat") { "clat" } else { "lat" };
        } else if text.starts_with('|') {
            self.percentiles(block, line)?;
        } else if text.starts_with("mixed") && text.contains("IOPS=") {
            self.mixed = Some(line.number);
        } else if let Some(rest) = text.strip_prefix("errors") {
            // `errors    : total=3, first_error=5/<Input/output error>`.
            let (count, first) = (between(rest, "total=", ","), between(rest, "first_error=", ""));
            if let Some((count, error)) = count.zip(first.and_then(|first| job_error(first, text))) {
                let count = block.count(line, count, "a number of errors")?;
                self.error = Some(JobError { count, ..error });
            }
        } else if let Some(rest) = issued(text) {
            let words = rest.split([',', '/', ' ']).map(|word| word.trim_start_matches(['r', 'w', '=']));
            let counts: Vec<&str> = words.collect();
            let [reads, writes, ..] = counts[..] else {
                return Err(block.malformed(line, text, "`issued rwts: total=READS,WRITES,…`"));
            };
            self.pass.row.reads = block.count(line, reads, "a number of reads")?;
            self.pass.row.writes = block.count(line, writes, "a number of writes")?;
            for (name, direction, count) in [("read", self.read, reads), ("write", self.write, writes)] {
                let label = format!("{name} requests");
                let printed = direction.map(|_| Printed::new(line, &label, count, "", "total"));
                self.pass.printed.extend(printed);
            }
            self.issued = true;
        }
        Ok(())
    }

    /// `read: IOPS=323k, BW=1261MiB/s (1322MB/s)(358MiB/284msec)`.
    fn rate(&mut self, block: &Block<'_>, line: Line<'_>, name: &str) -> Result<Direction, ImportError> {
        let malformed = |what: &str| block.malformed(line, line.text, what);
        let iops = between(line.text, "IOPS=", ",").unwrap_or_default();
        let iops_number = units::thousands(iops).ok_or_else(|| malformed("`IOPS=323k`"))?;
        let rate = between(line.text, "BW=", " ").unwrap_or_default();
        let rate_number = rate.strip_suffix("/s").and_then(|rate| units::size(rate, true));
        let rate_number = rate_number.ok_or_else(|| malformed("`BW=1261MiB/s`"))?;
        let (size, time) =
            between(line.text, ")(", "").and_then(|rest| rest.split_once('/')).unwrap_or_default();
        let bytes = units::size(size, true)
            .ok_or_else(|| malformed("a size and a time such as `(358MiB/284msec)`"))?;
        let time = time.split(')').next().filter(|_| time.contains(')')).unwrap_or_default();
        let time_ns =
            units::time_ns(time).ok_or_else(|| malformed("a size and a time such as `(358MiB/284msec)`"))?;
        self.print(line, name, [(iops, iops_number), (rate, rate_number), (size, bytes), (time, time_ns)]);
        if let Some((decimal, number)) =
            between(line.text, " (", "/s)(").and_then(|decimal| Some((decimal, units::size(decimal, true)?)))
        {
            let printed = Printed::new(line, &format!("{name} bw"), decimal, "bytes/s", "");
            self.pass.printed.push(Printed { number: Some(number), ..printed });
        }
        Ok(Direction { bytes, seconds: time_ns / 1e9 })
    }

    /// `read : io=4096.0MB, bw=204800KB/s, iops=51200, runt= 20480msec`.
    fn rate_of_2(&mut self, block: &Block<'_>, line: Line<'_>, name: &str) -> Result<Direction, ImportError> {
        let field = |name: &str| {
            let rest = between(line.text, name, "").unwrap_or_default();
            rest.split(',').next().unwrap_or_default().trim()
        };
        let malformed = |what: &str| block.malformed(line, line.text, what);
        let (size, rate, iops, time) = (field("io="), field("bw="), field("iops="), field("runt="));
        let bytes = units::size(size, false).ok_or_else(|| malformed("a size such as `io=4096.0MB`"))?;
        let bytes_per_second = rate.strip_suffix("/s").and_then(|rate| units::size(rate, false));
        let bytes_per_second = bytes_per_second.ok_or_else(|| malformed("a rate such as `bw=204800KB/s`"))?;
        let per_second = units::thousands(iops).ok_or_else(|| malformed("`iops=51200`"))?;
        let time_ns = units::time_ns(time).ok_or_else(|| malformed("a time such as `runt= 20480msec`"))?;
        self.print(
            line,
            name,
            [(iops, per_second), (rate, bytes_per_second), (size, bytes), (time, time_ns)],
        );
        Ok(Direction { bytes, seconds: time_ns / 1e9 })
    }

    /// Adds the rates of a direction, its bytes and its time in ns.
    fn print(&mut self, line: Line<'_>, name: &str, values: [(&str, f64); 4]) {
        let names =
            [("iops", "ops/s", ""), ("bw", "bytes/s", ""), ("io", "bytes", "total"), ("runtime", "ns", "")];
        let printed = names.into_iter().zip(values).map(|((label, unit, statistic), (text, number))| {
            let printed = Printed::new(line, &format!("{name} {label}"), text, unit, statistic);
            Printed { number: Some(number), ..printed }
        });
        self.pass.printed.extend(printed);
    }

    fn direction(&self) -> &'static str {
        if self.about.0 == Operation::Read { "read" } else { "write" }
    }

    /// `clat (nsec): min=206, max=2002.0k, avg=32783.04, stdev=35077.40`.
    fn latency(&mut self, block: &Block<'_>, line: Line<'_>, kind: &str) -> Result<(), ImportError> {
        let text = line.text;
        let unit = between(text, "(", ")").and_then(short);
        let unit = unit.ok_or_else(|| block.malformed(line, text, "nsec, usec or msec"))?;
        for (name, statistic) in
            [("min=", "min"), ("max=", "max"), ("avg=", "mean"), ("stdev=", "standard deviation")]
        {
            let value =
                between(text, name, "").and_then(|rest| rest.split(',').next()).unwrap_or_default().trim();
            let number = units::thousands(value)
                .ok_or_else(|| block.malformed(line, value, format!("a number behind `{name}`")))?;
            let label = format!("{} {kind}", self.direction());
            let printed = Printed::new(line, &label, value, unit, statistic);
            self.pass.printed.push(Printed { number: Some(number), ..printed });
        }
        Ok(())
    }

    /// `|  1.00th=[    6],  5.00th=[    8], …`.
    fn percentiles(&mut self, block: &Block<'_>, line: Line<'_>) -> Result<(), ImportError> {
        let unit = short(&self.unit).unwrap_or("ns");
        let label = format!("{} {}", self.direction(), self.about.1);
        for part in line.text.trim().trim_start_matches('|').split("],").filter(|part| part.contains("th=["))
        {
            let (percent, value) = part.trim().trim_end_matches(']').split_once("th=[").unwrap_or_default();
            let _ = block.number(line, value, "a latency")?;
            let percent = block.number(line, percent, "a percentile")?;
            self.pass.printed.push(Printed::new(line, &label, value, unit, &format!("p{percent}")));
        }
        Ok(())
    }

    /// The case, or `None` if the job moved nothing.
    fn finish(mut self, block: &Block<'_>, errors: &Errors) -> Result<Option<Test>, ImportError> {
        let phase = match (self.read, self.write) {
            (Some(_), Some(_)) => Phase::Mixed,
            (Some(_), None) => Phase::Read,
            (None, Some(_)) => Phase::Write,
            (None, None) => match self.mixed {
                Some(number) => {
                    let line = block.lines.iter().find(|line| line.number == number).copied();
                    let what = "this job has the sum of reads and writes, which cannot be told apart";
                    let next = "measure again with unified_rw_reporting=none or both";
                    return Err(block.unusable(line.unwrap_or(block.lines[0]), what, next));
                }
                None => return Ok(None),
            },
        };
        if !self.issued {
            return Err(block.ended(format!("`issued rwts` of the job {}", self.name)));
        }
        let pass = &mut self.pass;
        pass.row.key.phase = phase;
        if let Some(error) = &self.error {
            errors.of_job(pass, error);
        }
        let transfer = self.job.transfer();
        let seconds =
            [self.read, self.write].into_iter().flatten().map(|one| one.seconds).fold(0.0, f64::max);
        pass.took(nanos(seconds));
        let exact = |requests: u64, printed: Option<Direction>| match (printed, transfer) {
            (None, _) => 0,
            (Some(_), Some(transfer)) => requests.saturating_mul(transfer),
            (Some(printed), None) => whole(printed.bytes),
        };
        pass.row.read_bytes = exact(pass.row.reads, self.read);
        pass.row.write_bytes = exact(pass.row.writes, self.write);
        pass.note("rates are printed with few digits: they are computed from requests and time");
        for (operation, name) in [(Operation::Read, "read"), (Operation::Write, "write")] {
            latencies(pass, operation, name);
        }
        let mut test =
            Test::new(&self.job.name, self.job.spec(), &self.job.stated()).knowing(&self.job.known());
        test.passes.push(self.pass);
        Ok(Some(test))
    }
}

/// Adds the latencies of a direction, of which the text has percentiles.
fn latencies(pass: &mut Pass, operation: Operation, name: &str) {
    let requests = if operation == Operation::Read { pass.row.reads } else { pass.row.writes };
    for kind in ["clat", "lat"] {
        let label = format!("{name} {kind}");
        let in_ns = |one: &Printed| Some(one.number? * units::time_unit_ns(&one.unit)?);
        let of = |statistic: &str| {
            let mut rows = pass.printed.iter().filter(|one| one.label == label);
            rows.find(|one| one.statistic == statistic).and_then(in_ns).unwrap_or(0.0)
        };
        let moments = ["min", "max", "mean"].map(of);
        let percentile = |one: &Printed| {
            let percent = one.statistic.strip_prefix('p')?.parse().ok()?;
            Some((percent, whole(in_ns(one)?)))
        };
        let rows = pass.printed.iter().filter(|one| one.label == label);
        let percentiles: Vec<(f64, u64)> = rows.filter_map(percentile).collect();
        if requests > 0 && moments[1] > 0.0 && !percentiles.is_empty() {
            between_percentiles(pass, operation, requests as f64, &percentiles, moments);
            return;
        }
    }
}
