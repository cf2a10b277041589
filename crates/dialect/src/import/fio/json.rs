//! fio's JSON and JSON+.
//!
//! `bw` is in KiB/s, `bw_bytes` in bytes/s, `runtime` in ms, `…_ns` in ns, and before release 3.0 `clat`
//! and `lat` are in µs. Before release 3.0 `io_bytes` may be KiB, which is determined from rate and time.
//! The bins of JSON+ are fio's own, about 1.6 % wide, and each is named by a value in its middle.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;

use plan::limits::PRINTED_PHASES;
use plan::{Operation, Phase};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::errors::{Errors, JobError};
use super::{Job, TOOL, between_percentiles};
use crate::import::draft::{Bucket, Draft, Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer, Whole};
use crate::import::text::json::{Json, Member, Name, Nested, Object, span, text};
use crate::import::text::json_parts::{Element, without_elements};
use crate::import::text::lines::{nanos, number, numbered, whole};
use crate::import::text::{times, units};

/// Parses fio's `--output-format=json` and `json+`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "fio-json",
    tool: TOOL,
    newest: Some((3, 42)),
    form: Form::Parts { member: "fio version", read: parse },
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
/// Latencies: member, label, unit, nanoseconds in this unit. Each is printed in one of its two units.
const LATENCIES: [(&str, &str, &str, f64); 6] = [
    ("slat_ns", "slat", "ns", 1.0),
    ("slat", "slat", "us", 1e3),
    ("clat_ns", "clat", "ns", 1.0),
    ("clat", "clat", "us", 1e3),
    ("lat_ns", "lat", "ns", 1.0),
    ("lat", "lat", "us", 1e3),
];
const MOMENTS: [(&str, &str); 4] =
    [("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "standard deviation")];
/// Times are printed in whole seconds: two differences of them may be off by this much.
const SNAPSHOT_ROOM_SECONDS: f64 = 2.0;
/// If rate × time is about this many times as much as the bytes, these are KiB.
const KIB: f64 = 1024.0;

/// Members that contain the jobs. With a client, these are the jobs of the servers and, at the end, the sum of all.
const ARRAYS: [&str; 2] = ["jobs", "client_stats"];

fn parse(file: &str, start: usize, content: &mut dyn Read) -> Result<Whole<'static>, ImportError> {
    let mut jobs = Vec::new();
    let take = |element: Element<'_>| {
        let json = Json::part(file, TOOL, element.text, element.line);
        jobs.push((element.root, element.array, JobResult::of(&json)?));
        Ok(())
    };
    let text = without_elements(content, start, &ARRAYS, take, ImportError::unreadable(file))?;
    let json = Json::new(file, TOOL, &text);
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let (start, end) = span(&text, true).unwrap_or((0, 0));
    let errors = Errors::of(numbered(&text[..start], 1).chain(numbered(&text[end..], 1)));
    let mut snapshots = Vec::new();
    let mut jobs = jobs.into_iter().peekable();
    for (place, root) in json.leading(PRINTED_PHASES)?.into_iter().enumerate() {
        let of_root = std::iter::from_fn(|| jobs.next_if(|(root, ..)| *root == place));
        let of_root = of_root.map(|(_, array, job)| (array, job)).collect();
        snapshots.push(Snapshot::of(&json, json.object(root)?, of_root)?);
    }
    // With `--status-interval`, the last state is that of the whole run.
    let next: Vec<bool> =
        snapshots.iter().zip(snapshots.iter().skip(1)).map(|(one, next)| one.precedes(next)).collect();
    let mut earlier = next.into_iter();
    snapshots.retain(|_| !earlier.next().unwrap_or(false));
    for snapshot in snapshots {
        run(&json, snapshot, &errors, &mut draft)?;
    }
    errors.tell(&mut draft.tests);
    match draft.tests.is_empty() {
        true => Err(json.ended("a job that has read or written")),
        false => Ok(Whole { draft, text: text.into() }),
    }
}

/// One object of results: that of a run, or of the part of it that was over when it was printed.
struct Snapshot<'a> {
    root: Object<'a>,
    jobs: Vec<JobResult>,
    at_seconds: f64,
}

impl<'a> Snapshot<'a> {
    /// The results in `root`, in the arrays of which the objects `jobs` were.
    fn of(
        json: &Json<'a>,
        root: Object<'a>,
        jobs: Vec<(&'static str, JobResult)>,
    ) -> Result<Self, ImportError> {
        let of = |name: &'static str| Some((name, root.get(name)?));
        let (array, raw) = ARRAYS.into_iter().find_map(of).ok_or_else(|| json.ended("`jobs`"))?;
        // All that is not an object is still there.
        json.array(raw)?.into_iter().try_for_each(|one| json.object(one).map(drop))?;
        let jobs = jobs.into_iter().filter(|(of, _)| *of == array).map(|(_, job)| job).collect();
        let at_seconds = root.number("timestamp").unwrap_or(0.0);
        Ok(Self { root, jobs, at_seconds })
    }

    /// Whether `next` is a later state of the same run: each job has the same name and options, has not moved less,
    /// and as much time has passed as between the two.
    fn precedes(&self, next: &Self) -> bool {
        let elapsed = |one: &Self| one.jobs.iter().filter_map(|job| job.elapsed_seconds).fold(0.0, f64::max);
        let passed = elapsed(next) - elapsed(self);
        self.jobs.len() <= next.jobs.len()
            && (next.at_seconds - self.at_seconds - passed).abs() <= SNAPSHOT_ROOM_SECONDS
            && self.jobs.iter().zip(&next.jobs).all(|(job, next)| {
                (&job.name, &job.group, &job.options) == (&next.name, &next.group, &next.options)
                    && job.runtime_ms <= next.runtime_ms
            })
    }
}

/// Adds the cases of a run.
fn run<'a>(
    json: &Json<'a>,
    snapshot: Snapshot<'a>,
    errors: &Errors,
    draft: &mut Draft,
) -> Result<(), ImportError> {
    let root = &snapshot.root;
    draft.version = root.text("fio version").map(|text| text.trim_start_matches("fio-").to_owned());
    draft.zoned = root.number("timestamp_ms").or(root.number("timestamp")).is_some();
    draft.finished = root
        .number("timestamp_ms")
        .map(|ms| ms * 1e6)
        .or_else(|| root.number("timestamp").map(|seconds| seconds * 1e9))
        .map(|ns| i64::try_from(whole(ns)).unwrap_or(i64::MAX))
        .or_else(|| root.text("time").and_then(|text| times::moment(&text)));
    let global = root.get("global options").map(|options| json.object(options)).transpose()?;
    let global = global.as_ref().map(options);
    let mut times: HashMap<Option<String>, u32> = HashMap::new();
    for job in &snapshot.jobs {
        *times.entry(job.name.clone()).or_default() += 1;
    }
    for result in snapshot.jobs {
        if result.name.as_deref() == Some(SUM) {
            continue;
        }
        // The options do not say whether jobs are grouped. If a name occurs only once, it stands for all
        // its jobs.
        let grouped = times.get(&result.name) == Some(&1);
        draft.node = result.node.clone().or(draft.node.take());
        draft.tests.extend(result.test(global.as_ref(), grouped, errors));
    }
    Ok(())
}

/// The name of the sum of the jobs of all servers.
const SUM: &str = "All clients";

/// Options with their values.
type Options = HashMap<String, String>;

fn options(object: &Object<'_>) -> Options {
    object.members().map(|(name, raw)| (name.to_owned(), text(raw))).collect()
}

/// The results of a job.
struct JobResult {
    name: Option<String>,
    group: Option<String>,
    node: Option<String>,
    options: Option<Options>,
    elapsed_seconds: Option<f64>,
    runtime_ms: Option<f64>,
    error: Option<JobError>,
    /// Its figures, or `None` if it moved nothing.
    pass: Option<Pass>,
}

impl JobResult {
    fn of(json: &Json<'_>) -> Result<Self, ImportError> {
        let directions: Nested<'_, DirectionText<'_>> = json.parse()?;
        let object = &directions.others;
        let own = object.get("job options").map(|options| json.object(options)).transpose()?;
        let name = object.text("jobname");
        let mut pass = pass(json, &directions)?;
        if pass.is_none()
            && name.as_deref() != Some(SUM)
            && let Some(raw) = object.get("mixed")
        {
            let next = "measure again with unified_rw_reporting=none or both";
            let what = "this job has the sum of reads and writes, which cannot be told apart";
            return Err(json.unusable(raw, what, next));
        }
        let runtime_ms = object.number("job_runtime");
        if let (Some(runtime), Some(pass)) = (runtime_ms, &mut pass) {
            let cpu =
                |name| object.number(name).map_or(0, |percent: f64| whole(percent / 100.0 * runtime * 1e6));
            (pass.row.user_cpu_ns, pass.row.system_cpu_ns) = (cpu("usr_cpu"), cpu("sys_cpu"));
        }
        Ok(Self {
            name,
            group: object.text("groupid"),
            node: object.text("hostname"),
            options: own.as_ref().map(options),
            elapsed_seconds: object.number("elapsed"),
            runtime_ms,
            error: error_of(object),
            pass,
        })
    }

    /// Its case, or `None` if it moved nothing.
    fn test(self, global: Option<&Options>, grouped: bool, errors: &Errors) -> Option<Test> {
        let job = self.job(global, grouped);
        let mut pass = self.pass?;
        let mut spec = job.spec();
        if pass.row.key.phase == Phase::Mixed {
            let (reads, writes) = (pass.row.reads as f64, pass.row.writes as f64);
            let percent = whole(100.0 * reads / (reads + writes).max(1.0)).min(100);
            spec.read_percent = u8::try_from(percent).unwrap_or(100);
            if !job.is_mixed() && job.rw.is_some() {
                pass.note("several jobs are combined: some read, others write");
            }
        }
        if let Some(error) = &self.error {
            errors.of_job(&mut pass, error);
        }
        let mut test = Test::new(&job.name, spec, &job.stated()).knowing(&job.known());
        test.passes.push(pass);
        Some(test)
    }

    fn job(&self, global: Option<&Options>, grouped: bool) -> Job {
        let own = self.options.as_ref();
        let option = |names: &[&str]| {
            let of = |options: Option<&Options>| names.iter().find_map(|name| options?.get(*name).cloned());
            of(own).or_else(|| of(global))
        };
        let count = |names: &[&str]| option(names).and_then(|text| text.trim().parse().ok());
        let is_on = |names: &[&str]| option(names).map(|text| super::is_set(&text));
        // All options that were given are printed.
        let default = |one: u64| own.is_some().then_some(one);
        let job = Job {
            name: self.name.clone().unwrap_or_else(|| "job".to_owned()),
            rw: option(&["rw", "readwrite"]),
            block: option(&["bssplit"])
                .or_else(|| option(&["bs", "blocksize", "bsrange", "blocksize_range"])),
            engine: option(&["ioengine"]),
            depth: count(&["iodepth"]).or_else(|| default(1)),
            jobs: count(&["numjobs"]).or_else(|| default(1)),
            direct: is_on(&["direct"]).or_else(|| is_on(&["buffered"]).map(|buffered| !buffered)),
            size: option(&["size", "filesize"]).and_then(|text| units::size(&text, false)).map(whole),
            file: option(&["filename", "directory"]),
            grouped,
            ..Job::default()
        };
        if own.is_some() { job.limited(|name| option(&[name])) } else { job }
    }
}

/// The figures of a job, or `None` if it moved nothing.
fn pass(json: &Json<'_>, directions: &Nested<'_, DirectionText<'_>>) -> Result<Option<Pass>, ImportError> {
    let direction = |name: &str| -> Result<Option<Direction<'_>>, ImportError> {
        let Some(text) = directions.get(name) else { return Ok(None) };
        let found = Direction::of(json, text)?;
        Ok((found.requests > 0.0 || found.bytes > 0.0).then_some(found))
    };
    let (read, write) = (direction("read")?, direction("write")?);
    let phase = match (&read, &write) {
        (Some(_), Some(_)) => Phase::Mixed,
        (Some(_), None) => Phase::Read,
        (None, Some(_)) => Phase::Write,
        (None, None) => return Ok(None),
    };
    let mut pass = Pass::new(phase, 0);
    let longest = [&read, &write].into_iter().flatten().map(|one| one.seconds).fold(0.0, f64::max);
    pass.took(nanos(longest));
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
    // There may be many of them.
    pass.printed.shrink_to_fit();
    Ok(Some(pass))
}

/// The error of a job: that with which it ended, or those that it went on after (`continue_on_error`).
fn error_of(object: &Object<'_>) -> Option<JobError> {
    let of = |name: &str| object.number(name).map_or(0, whole);
    let (ended, first, count) = (of("error"), of("first_error"), of("total_err"));
    let number = if ended > 0 { ended } else { first };
    let text = format!("error {number} of the job {}", object.text("jobname").unwrap_or_default());
    (ended > 0 || count > 0).then_some(JobError { number, count: count.max(1), text })
}

/// `read` or `write` of a job, as printed.
type DirectionText<'a> = Nested<'a, LatencyText<'a>>;

impl Member for DirectionText<'_> {
    fn is_called(name: &str) -> bool {
        matches!(name, "read" | "write")
    }
}

/// One kind of latency, as printed.
type LatencyText<'a> = Nested<'a, Bins>;

impl Member for LatencyText<'_> {
    fn is_called(name: &str) -> bool {
        LATENCIES.iter().any(|(member, ..)| *member == name)
    }
}

/// The bins of JSON+, as `{"932": 1, "980": 4}`: latencies and their counts.
struct Bins(Vec<(f64, u64)>);

impl Member for Bins {
    fn is_called(name: &str) -> bool {
        name == "bins"
    }
}

/// `read` or `write` of a job.
struct Direction<'a> {
    text: &'a DirectionText<'a>,
    requests: f64,
    bytes: f64,
    seconds: f64,
}

impl<'a> Direction<'a> {
    fn of(json: &Json<'a>, text: &'a DirectionText<'a>) -> Result<Self, ImportError> {
        let object = &text.others;
        let get = |name: &str| match object.get(name) {
            Some(raw) => json.number(raw),
            None => Err(json.lacking(&format!("`{name}` in each direction of the job"))),
        };
        let (requests, seconds, rate_kib) = (get("total_ios")?, get("runtime")? / 1e3, get("bw")?);
        let mut bytes = get("io_bytes")?;
        let by_rate = rate_kib * KIB * seconds;
        // Both are either about equal, or differ by a factor of 1024.
        if object.get("bw_bytes").is_none() && bytes > 0.0 && by_rate / bytes > KIB / 2.0 {
            bytes *= KIB;
        }
        Ok(Self { text, requests, bytes, seconds })
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
            if let Some(raw) = self.text.others.get(member) {
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
        for (member, kind, unit, scale) in LATENCIES {
            if let Some(text) = self.text.get(member) {
                self.latency(json, pass, (operation, text), &format!("{name} {kind}"), (unit, scale))?;
            }
        }
        Ok(())
    }

    /// Adds what is printed of one kind of latency, and its histogram if no other kind had one.
    fn latency(
        &self,
        json: &Json<'a>,
        pass: &mut Pass,
        (operation, text): (Operation, &LatencyText<'a>),
        label: &str,
        (unit, scale): (&'static str, f64),
    ) -> Result<(), ImportError> {
        let latency = &text.others;
        for (member, statistic) in MOMENTS {
            if let Some(raw) = latency.get(member) {
                let _ = json.number(raw)?;
                pass.printed.push(Printed::new(json.line(raw), label, raw.get(), unit, statistic));
            }
        }
        let mut percentiles = Vec::new();
        if let Some(raw) = latency.get("percentile") {
            let listed = json.object(raw)?;
            for (percent, raw) in listed.members() {
                let Some(percent) = number(percent) else { continue };
                let statistic = format!("p{percent}");
                pass.printed.push(Printed::new(json.line(raw), label, raw.get(), unit, &statistic));
                percentiles.push((percent, whole(json.number(raw)? * scale)));
            }
        }
        if label.ends_with("slat") || pass.latency.has(operation) {
            return Ok(());
        }
        let moments = ["min", "max", "mean"].map(|name| latency.number(name).unwrap_or(0.0) * scale);
        let mut bins: Vec<(u64, u64)> = text
            .get("bins")
            .into_iter()
            .flat_map(|bins| &bins.0)
            .map(|&(ns, n)| (whole(ns * scale), n))
            .collect();
        bins.sort_unstable();
        if !bins.is_empty() {
            let bucket = |(ns, count)| Bucket { operation, low_ns: ns, high_ns: ns, count };
            pass.latency = pass.latency.iter().chain(bins.into_iter().map(bucket)).collect();
            pass.printed_latency(operation, moments);
        } else if !percentiles.is_empty() {
            between_percentiles(pass, operation, self.requests, &percentiles, moments);
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Bins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Bins;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("latencies, each with a number of requests")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bins, A::Error> {
                let mut bins = Vec::new();
                while let Some((Name(name), count)) = map.next_entry()? {
                    let latency = number(&name).ok_or_else(|| A::Error::custom("expected a latency"))?;
                    bins.push((latency, count));
                }
                Ok(Bins(bins))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
