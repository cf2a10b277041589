//! fio's JSON and JSON+.
//!
//! `bw` is in KiB/s, `bw_bytes` in bytes/s, `runtime` in ms, `…_ns` in ns, and before release 3.0 `clat`
//! and `lat` are in µs. Before release 3.0 `io_bytes` may be KiB, which is determined from rate and time.
//! The bins of JSON+ are fio's own, about 1.6 % wide, and each is named by a value in its middle.

use std::collections::HashMap;

use plan::limits::PRINTED_PHASES;
use plan::{Operation, Phase};
use serde_json::value::RawValue;

use super::errors::{Errors, JobError};
use super::{Job, TOOL, between_percentiles};
use crate::import::draft::{Bucket, Draft, Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::json::{Json, Object, span};
use crate::import::text::lines::{lines, number, whole};
use crate::import::text::{times, units};

/// Parses fio's `--output-format=json` and `json+`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "fio-json",
    tool: TOOL,
    newest: Some((3, 42)),
    form: Form::Json { member: "fio version", several: true, read: parse },
};

/// Rates of a direction: member, label, unit, statistic.
const RATES: [(&str, &str, &str, &str); 14] = [
    ("io_bytes", "io", "bytes", "total"),
    ("total_ios", "requests", "", "total"),
    ("runtime", "runtime", "ms", ""),
    ("bw_bytes", "bw", "bytes/s", ""),
    ("bw", "bw", "KiB/s", ""),
    ("iops", "iops", "ops/s", ""),
    ("bw_min", "bw", "KiB/s", "min"),
    ("bw_max", "bw", "KiB/s", "max"),
    ("bw_mean", "bw", "KiB/s", "mean"),
    ("bw_dev", "bw", "KiB/s", "standard deviation"),
    ("iops_min", "iops", "ops/s", "min"),
    ("iops_max", "iops", "ops/s", "max"),
    ("iops_mean", "iops", "ops/s", "mean"),
    ("iops_stddev", "iops", "ops/s", "standard deviation"),
];
const LATENCIES: [&str; 3] = ["slat", "clat", "lat"];
const MOMENTS: [(&str, &str); 4] =
    [("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "standard deviation")];
/// Times are printed in whole seconds: two differences of them may be off by this much.
const SNAPSHOT_ROOM_SECONDS: f64 = 2.0;
/// If rate × time is about this many times as much as the bytes, these are KiB.
const KIB: f64 = 1024.0;

fn parse(file: &str, text: &str) -> Result<Draft, ImportError> {
    let json = Json::new(file, TOOL, text);
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let (start, end) = span(text, true).unwrap_or((0, 0));
    let errors = Errors::of(&[lines(&text[..start]), lines(&text[end..])].concat());
    let roots = json.leading(PRINTED_PHASES)?.into_iter().map(|root| json.object(root));
    let roots = roots.collect::<Result<Vec<_>, _>>()?;
    let mut snapshots = roots.iter().map(|root| Snapshot::of(&json, root)).collect::<Result<Vec<_>, _>>()?;
    // With `--status-interval`, the last state is that of the whole run.
    let next: Vec<bool> =
        snapshots.iter().zip(snapshots.iter().skip(1)).map(|(one, next)| one.precedes(next)).collect();
    let mut earlier = next.into_iter();
    snapshots.retain(|_| !earlier.next().unwrap_or(false));
    for snapshot in &snapshots {
        run(&json, snapshot, &errors, &mut draft)?;
    }
    errors.tell(&mut draft.tests);
    match draft.tests.is_empty() {
        true => Err(json.ended("a job that has read or written")),
        false => Ok(draft),
    }
}

/// One object of results: that of a run, or of the part of it that was over when it was printed.
struct Snapshot<'a> {
    root: &'a Object<'a>,
    jobs: Vec<Object<'a>>,
    at_seconds: f64,
}

impl<'a> Snapshot<'a> {
    fn of(json: &Json<'a>, root: &'a Object<'a>) -> Result<Self, ImportError> {
        // With a client, `client_stats` contains the jobs of the servers and, at the end, the sum of all.
        let jobs =
            root.get("jobs").or_else(|| root.get("client_stats")).ok_or_else(|| json.ended("`jobs`"))?;
        let jobs = json.array(jobs)?.into_iter().map(|job| json.object(job)).collect::<Result<_, _>>()?;
        let at_seconds = root.number("timestamp").unwrap_or(0.0);
        Ok(Self { root, jobs, at_seconds })
    }

    /// Whether `next` is a later state of the same run: each job has the same name and options, has not moved less,
    /// and as much time has passed as between the two.
    fn precedes(&self, next: &Self) -> bool {
        let of = |job: &Object<'a>, name| job.get(name).map(RawValue::get);
        let elapsed =
            |one: &Self| one.jobs.iter().filter_map(|job| job.number("elapsed")).fold(0.0, f64::max);
        let passed = elapsed(next) - elapsed(self);
        self.jobs.len() <= next.jobs.len()
            && (next.at_seconds - self.at_seconds - passed).abs() <= SNAPSHOT_ROOM_SECONDS
            && self.jobs.iter().zip(&next.jobs).all(|(job, next)| {
                ["jobname", "groupid", "job options"].iter().all(|name| of(job, name) == of(next, name))
                    && job.number("job_runtime") <= next.number("job_runtime")
            })
    }
}

/// Adds the cases of a run.
fn run<'a>(
    json: &Json<'a>,
    snapshot: &Snapshot<'a>,
    errors: &Errors,
    draft: &mut Draft,
) -> Result<(), ImportError> {
    let root = snapshot.root;
    draft.version = root.text("fio version").map(|text| text.trim_start_matches("fio-").to_owned());
    draft.zoned = root.number("timestamp_ms").or(root.number("timestamp")).is_some();
    draft.finished = root
        .number("timestamp_ms")
        .map(|ms| ms * 1e6)
        .or_else(|| root.number("timestamp").map(|seconds| seconds * 1e9))
        .map(|ns| i64::try_from(whole(ns)).unwrap_or(i64::MAX))
        .or_else(|| root.text("time").and_then(|text| times::moment(&text)));
    let global = root.get("global options").map(|options| json.object(options)).transpose()?;
    let names: Vec<Option<String>> = snapshot.jobs.iter().map(|object| object.text("jobname")).collect();
    let mut times: HashMap<&Option<String>, u32> = HashMap::new();
    for name in &names {
        *times.entry(name).or_default() += 1;
    }
    for (object, name) in snapshot.jobs.iter().zip(&names) {
        if name.as_deref() == Some("All clients") {
            continue;
        }
        // The options do not say whether jobs are grouped. If a name occurs only once, it stands for all
        // its jobs.
        let grouped = times.get(name) == Some(&1);
        draft.tests.extend(test(json, object, global.as_ref(), grouped, errors)?);
        if let Some(node) = object.text("hostname") {
            draft.node = Some(node);
        }
    }
    Ok(())
}

fn job(
    json: &Json<'_>,
    object: &Object<'_>,
    global: Option<&Object<'_>>,
    grouped: bool,
) -> Result<Job, ImportError> {
    let own = object.get("job options").map(|options| json.object(options)).transpose()?;
    let option = |names: &[&str]| {
        let of = |options: Option<&Object<'_>>| names.iter().find_map(|name| options?.text(name));
        of(own.as_ref()).or_else(|| of(global))
    };
    let count = |names: &[&str]| option(names).and_then(|text| text.trim().parse().ok());
    let is_on = |names: &[&str]| option(names).map(|text| super::is_set(&text));
    // All options that were given are printed.
    let default = |one: u64| own.is_some().then_some(one);
    let job = Job {
        name: object.text("jobname").unwrap_or_else(|| "job".to_owned()),
        rw: option(&["rw", "readwrite"]),
        block: option(&["bssplit"]).or_else(|| option(&["bs", "blocksize", "bsrange", "blocksize_range"])),
        engine: option(&["ioengine"]),
        depth: count(&["iodepth"]).or_else(|| default(1)),
        jobs: count(&["numjobs"]).or_else(|| default(1)),
        direct: is_on(&["direct"]).or_else(|| is_on(&["buffered"]).map(|buffered| !buffered)),
        size: option(&["size", "filesize"]).and_then(|text| units::size(&text, false)).map(whole),
        file: option(&["filename", "directory"]),
        grouped,
        ..Job::default()
    };
    Ok(if own.is_some() { job.limited(|name| option(&[name])) } else { job })
}

/// The case of a job, or `None` if it moved nothing.
fn test(
    json: &Json<'_>,
    object: &Object<'_>,
    global: Option<&Object<'_>>,
    grouped: bool,
    errors: &Errors,
) -> Result<Option<Test>, ImportError> {
    let job = job(json, object, global, grouped)?;
    let direction = |name: &str| -> Result<Option<Direction<'_>>, ImportError> {
        let Some(raw) = object.get(name) else { return Ok(None) };
        let found = Direction::of(json, raw)?;
        Ok((found.requests > 0.0 || found.bytes > 0.0).then_some(found))
    };
    let (read, write) = (direction("read")?, direction("write")?);
    if read.is_none()
        && write.is_none()
        && let Some(raw) = object.get("mixed")
    {
        let next = "measure again with unified_rw_reporting=none or both";
        return Err(json.unusable(
            raw,
            "this job has the sum of reads and writes, which cannot be told apart",
            next,
        ));
    }
    let phase = match (&read, &write) {
        (Some(_), Some(_)) => Phase::Mixed,
        (Some(_), None) => Phase::Read,
        (None, Some(_)) => Phase::Write,
        (None, None) => return Ok(None),
    };
    let mut spec = job.spec();
    let mut pass = Pass::new(phase, 0);
    let longest = [&read, &write].into_iter().flatten().map(|one| one.seconds).fold(0.0, f64::max);
    pass.took(crate::import::text::lines::nanos(longest));
    let of_both = [(Operation::Read, "read", &read), (Operation::Write, "write", &write)];
    for (operation, name, direction) in of_both.into_iter().filter_map(|(o, n, d)| Some((o, n, d.as_ref()?)))
    {
        direction.add(json, &mut pass, operation, name)?;
        if direction.seconds < longest {
            pass.note(format!(
                "{name}s took {:.3} s of {longest:.3} s: the printed rate is for their own time only",
                direction.seconds
            ));
        }
    }
    if phase == Phase::Mixed {
        let (reads, writes) = (pass.row.reads as f64, pass.row.writes as f64);
        let percent = whole(100.0 * reads / (reads + writes).max(1.0)).min(100);
        spec.read_percent = u8::try_from(percent).unwrap_or(100);
        if !job.is_mixed() && job.rw.is_some() {
            pass.note("several jobs are combined: some read, others write");
        }
    }
    if let Some(error) = error_of(object) {
        errors.of_job(&mut pass, &error);
    }
    if let Some(runtime) = object.number("job_runtime") {
        let cpu = |name| object.number(name).map_or(0, |percent: f64| whole(percent / 100.0 * runtime * 1e6));
        (pass.row.user_cpu_ns, pass.row.system_cpu_ns) = (cpu("usr_cpu"), cpu("sys_cpu"));
    }
    let mut test = Test::new(&job.name, spec, &job.stated()).knowing(&job.known());
    test.passes.push(pass);
    Ok(Some(test))
}

/// The error of a job: that with which it ended, or those that it went on after (`continue_on_error`).
fn error_of(object: &Object<'_>) -> Option<JobError> {
    let of = |name: &str| object.number(name).map_or(0, whole);
    let (ended, first, count) = (of("error"), of("first_error"), of("total_err"));
    let number = if ended > 0 { ended } else { first };
    let text = format!("error {number} of the job {}", object.text("jobname").unwrap_or_default());
    (ended > 0 || count > 0).then_some(JobError { number, count: count.max(1), text })
}

/// `read` or `write` of a job.
struct Direction<'a> {
    object: Object<'a>,
    requests: f64,
    bytes: f64,
    seconds: f64,
}

impl<'a> Direction<'a> {
    fn of(json: &Json<'a>, raw: &'a RawValue) -> Result<Self, ImportError> {
        let object = json.object(raw)?;
        let get = |name: &str| match object.get(name) {
            Some(raw) => json.number(raw),
            None => Err(json.malformed(raw, &format!("`{name}` as a member of the direction"))),
        };
        let (requests, seconds, rate_kib) = (get("total_ios")?, get("runtime")? / 1e3, get("bw")?);
        let mut bytes = get("io_bytes")?;
        let by_rate = rate_kib * KIB * seconds;
        // Both are either about equal, or differ by a factor of 1024.
        if object.get("bw_bytes").is_none() && bytes > 0.0 && by_rate / bytes > KIB / 2.0 {
            bytes *= KIB;
        }
        Ok(Self { object, requests, bytes, seconds })
    }

    fn add(
        &self,
        json: &Json<'a>,
        pass: &mut Pass,
        operation: Operation,
        name: &str,
    ) -> Result<(), ImportError> {
        let (requests, bytes) = (whole(self.requests), whole(self.bytes));
        match operation {
            Operation::Read => (pass.row.reads, pass.row.read_bytes) = (requests, bytes),
            _ => (pass.row.writes, pass.row.write_bytes) = (requests, bytes),
        }
        for (member, label, unit, statistic) in RATES {
            if let Some(raw) = self.object.get(member) {
                let number = json.number(raw)?;
                let unit = if member == "io_bytes" && bytes != whole(number) { "KiB" } else { unit };
                pass.printed.push(Printed::new(
                    json.line(raw),
                    &format!("{name} {label}"),
                    raw.get(),
                    unit,
                    statistic,
                ));
            }
        }
        for kind in LATENCIES {
            self.latency(json, pass, (operation, name), kind)?;
        }
        Ok(())
    }

    /// Adds what is printed of one kind of latency, and its histogram if no other kind had one.
    fn latency(
        &self,
        json: &Json<'a>,
        pass: &mut Pass,
        (operation, name): (Operation, &str),
        kind: &str,
    ) -> Result<(), ImportError> {
        let (found, unit, scale) = match self.object.get(&format!("{kind}_ns")) {
            Some(raw) => (Some(raw), "ns", 1.0),
            None => (self.object.get(kind), "us", 1e3),
        };
        let Some(raw) = found else { return Ok(()) };
        let latency = json.object(raw)?;
        let label = format!("{name} {kind}");
        for (member, statistic) in MOMENTS {
            if let Some(raw) = latency.get(member) {
                let _ = json.number(raw)?;
                pass.printed.push(Printed::new(json.line(raw), &label, raw.get(), unit, statistic));
            }
        }
        let mut percentiles = Vec::new();
        if let Some(raw) = latency.get("percentile") {
            let listed = json.object(raw)?;
            for (percent, raw) in listed.members() {
                let Some(percent) = number(percent) else { continue };
                let statistic = format!("p{percent}");
                pass.printed.push(Printed::new(json.line(raw), &label, raw.get(), unit, &statistic));
                percentiles.push((percent, whole(json.number(raw)? * scale)));
            }
        }
        let is_known = pass.latency.iter().any(|bucket| bucket.operation == operation);
        if kind == "slat" || is_known {
            return Ok(());
        }
        let moments = ["min", "max", "mean"].map(|name| latency.number(name).unwrap_or(0.0) * scale);
        let bins = latency.get("bins").map(|raw| bins_of(json, raw, scale)).transpose()?.unwrap_or_default();
        if !bins.is_empty() {
            let bucket = |(ns, count)| Bucket { operation, low_ns: ns, high_ns: ns, count };
            pass.latency.extend(bins.into_iter().map(bucket));
            pass.printed_latency(operation, moments);
        } else if !percentiles.is_empty() {
            between_percentiles(pass, operation, self.requests, &percentiles, moments);
        }
        Ok(())
    }
}

/// Parses `{"932": 1, "980": 4}`: latencies and their counts, in ascending order.
fn bins_of<'a>(json: &Json<'a>, raw: &'a RawValue, scale: f64) -> Result<Vec<(u64, u64)>, ImportError> {
    let mut bins = Vec::new();
    for (name, raw) in json.object(raw)?.members() {
        let ns = number(name).ok_or_else(|| json.malformed(raw, "a latency as the name of a bin"))? * scale;
        let count = raw
            .get()
            .trim_matches('"')
            .trim()
            .parse()
            .map_err(|_| json.malformed(raw, "a number of requests"))?;
        bins.push((whole(ns), count));
    }
    bins.sort_unstable();
    Ok(bins)
}
