//! fio's JSON and JSON+.
//!
//! `bw` is in KiB/s, `bw_bytes` in bytes/s, `runtime` in ms, `…_ns` in ns, and before release 3.0 `clat`
//! and `lat` are in µs. Before release 3.0 `io_bytes` may be KiB, which is determined from rate and time.
//! The bins of JSON+ are fio's own, about 1.6 % wide, and each is named by a value in its middle.

use std::collections::HashMap;

use plan::{Operation, Phase};
use serde_json::value::RawValue;

use super::{Job, TOOL, between_percentiles};
use crate::import::draft::{Bucket, Draft, Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::json::{Json, Object};
use crate::import::text::lines::{number, whole};
use crate::import::text::{times, units};

/// Parses fio's `--output-format=json` and `json+`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "fio-json",
    tool: TOOL,
    newest: Some((3, 42)),
    form: Form::Json { member: "fio version", several: false, read: parse },
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
/// If rate × time is about this many times as much as the bytes, these are KiB.
const KIB: f64 = 1024.0;

fn parse(file: &str, text: &str) -> Result<Draft, ImportError> {
    let json = Json::new(file, TOOL, text);
    let root = json.object(json.root()?)?;
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    draft.version = root.text("fio version").map(|text| text.trim_start_matches("fio-").to_owned());
    draft.zoned = root.number("timestamp_ms").or(root.number("timestamp")).is_some();
    draft.finished = root
        .number("timestamp_ms")
        .map(|ms| ms * 1e6)
        .or_else(|| root.number("timestamp").map(|seconds| seconds * 1e9))
        .map(|ns| i64::try_from(whole(ns)).unwrap_or(i64::MAX))
        .or_else(|| root.text("time").and_then(|text| times::moment(&text)));
    let global = root.get("global options").map(|options| json.object(options)).transpose()?;
    // With a client, `client_stats` contains the jobs of the servers and, at the end, the sum of all.
    let jobs = root.get("jobs").or_else(|| root.get("client_stats")).ok_or_else(|| json.ended("`jobs`"))?;
    let jobs = json.array(jobs)?.into_iter().map(|job| json.object(job)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<Option<String>> = jobs.iter().map(|object| object.text("jobname")).collect();
    let mut times: HashMap<&Option<String>, u32> = HashMap::new();
    for name in &names {
        *times.entry(name).or_default() += 1;
    }
    for (object, name) in jobs.iter().zip(&names) {
        if name.as_deref() == Some("All clients") {
            continue;
        }
        // The options do not say whether jobs are grouped. If a name occurs only once, it stands for all
        // its jobs.
        let grouped = times.get(name) == Some(&1);
        draft.tests.extend(test(&json, object, global.as_ref(), grouped)?);
        if let Some(node) = object.text("hostname") {
            draft.node = Some(node);
        }
    }
    match draft.tests.is_empty() {
        true => Err(json.ended("a job that has read or written")),
        false => Ok(draft),
    }
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
    let is_set = |names: &[&str]| option(names).map(|text| text.trim() != "0");
    Ok(Job {
        name: object.text("jobname").unwrap_or_else(|| "job".to_owned()),
        rw: option(&["rw", "readwrite"]),
        block: option(&["bs", "blocksize"]),
        engine: option(&["ioengine"]),
        depth: count(&["iodepth"]),
        // All options that were given are printed.
        jobs: count(&["numjobs"]).or_else(|| own.is_some().then_some(1)),
        direct: is_set(&["direct"]).or_else(|| is_set(&["buffered"]).map(|buffered| !buffered)),
        size: option(&["size", "filesize"]).and_then(|text| units::size(&text, false)).map(whole),
        file: option(&["filename", "directory"]),
        grouped,
    })
}

/// The case of a job, or `None` if it moved nothing.
fn test(
    json: &Json<'_>,
    object: &Object<'_>,
    global: Option<&Object<'_>>,
    grouped: bool,
) -> Result<Option<Test>, ImportError> {
    let job = job(json, object, global, grouped)?;
    let direction = |name: &str| -> Result<Option<Direction<'_>>, ImportError> {
        let Some(raw) = object.get(name) else { return Ok(None) };
        let found = Direction::of(json, raw)?;
        Ok((found.requests > 0.0 || found.bytes > 0.0).then_some(found))
    };
    let (read, write) = (direction("read")?, direction("write")?);
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
    if object.number("error").is_some_and(|error| error > 0.0) {
        pass.note(format!("fio ended this job with error {}", object.text("error").unwrap_or_default()));
    }
    if let Some(runtime) = object.number("job_runtime") {
        let cpu = |name| object.number(name).map_or(0, |percent: f64| whole(percent / 100.0 * runtime * 1e6));
        (pass.row.user_cpu_ns, pass.row.system_cpu_ns) = (cpu("usr_cpu"), cpu("sys_cpu"));
    }
    let mut test = Test::new(&job.name, spec, &job.stated()).knowing(&job.known());
    test.passes.push(pass);
    Ok(Some(test))
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
        let mut histogram: Option<Vec<(u64, u64)>> = None;
        for kind in LATENCIES {
            let (found, unit) = match self.object.get(&format!("{kind}_ns")) {
                Some(raw) => (Some(raw), "ns"),
                None => (self.object.get(kind), "us"),
            };
            let Some(raw) = found else { continue };
            let latency = json.object(raw)?;
            let label = format!("{name} {kind}");
            for (member, statistic) in MOMENTS {
                if let Some(raw) = latency.get(member) {
                    let _ = json.number(raw)?;
                    pass.printed.push(Printed::new(json.line(raw), &label, raw.get(), unit, statistic));
                }
            }
            let scale = if unit == "ns" { 1.0 } else { 1e3 };
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
            if kind == "slat" {
                continue;
            }
            let mean = latency.number("mean").unwrap_or(0.0) * scale;
            if let Some(bins) = latency.get("bins") {
                let bins = bins_of(json, bins, scale)?;
                if !bins.is_empty() {
                    histogram = Some(bins);
                }
            } else if !percentiles.is_empty() && histogram.is_none() {
                let edges = (
                    latency.number("min").unwrap_or(0.0) * scale,
                    latency.number("max").unwrap_or(0.0) * scale,
                );
                between_percentiles(pass, operation, self.requests, &percentiles, edges, mean);
            }
        }
        if let Some(bins) = histogram {
            pass.latency.retain(|bucket| bucket.operation != operation);
            pass.latency.extend(bins.into_iter().map(|(ns, count)| Bucket {
                operation,
                low_ns: ns,
                high_ns: ns,
                count,
            }));
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
