//! What the formats of fio's output have in common: the workload of a job, derived from its options.
//!
//! In job options `k`, `m`, `g` are powers of 1024 (`kb_base` is 1024 by default). In results `MiB/s` are
//! 1024² and `MB/s` 1000² bytes.

mod errors;
pub(super) mod json;
mod terse;
pub(super) mod text;

use plan::{Backend, Condition, Operation, Order, Pace, SyncRule, WorkloadSpec};

use crate::import::draft::{Bucket, Pass, volume};
use crate::import::text::lines::{narrow, whole};
use crate::import::text::units;

/// The tool's name.
pub(super) const TOOL: &str = "fio";

/// The known options of a job.
#[derive(Debug, Clone, Default)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) rw: Option<String>,
    pub(super) block: Option<String>,
    pub(super) engine: Option<String>,
    pub(super) depth: Option<u64>,
    pub(super) jobs: Option<u64>,
    pub(super) direct: Option<bool>,
    pub(super) size: Option<u64>,
    pub(super) file: Option<String>,
    /// Its options that make data durable, as `fsync=16`; `None` if the text does not contain them.
    pub(super) syncs: Option<Vec<(String, String)>>,
    /// Its options that limit the rate, as `rate_iops=100`.
    pub(super) limits: Vec<(String, String)>,
    /// Whether its jobs are combined by `group_reporting`.
    pub(super) grouped: bool,
}

/// Engines with one request at a time, whatever `iodepth` is (HOWTO, `iodepth`).
const SYNCHRONOUS: [&str; 8] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "filecreate"];
/// Options that make data durable.
const SYNCS: [&str; 6] = ["fsync", "fdatasync", "sync", "end_fsync", "fsync_on_close", "sync_file_range"];
/// Options that limit the rate.
const LIMITS: [&str; 5] = ["rate", "rate_iops", "thinktime", "latency_target", "flow"];

impl Job {
    /// Its options, each found by `option`.
    pub(super) fn limited(mut self, option: impl Fn(&str) -> Option<String>) -> Self {
        let set = |names: &[&str]| -> Vec<(String, String)> {
            let set = |name: &&str| Some(((*name).to_owned(), option(name).filter(|text| is_set(text))?));
            names.iter().filter_map(set).collect()
        };
        self.syncs = Some(set(&SYNCS));
        self.limits = set(&LIMITS);
        self
    }

    /// The size of its requests, if all have the same size. Sizes may be given for reads, writes and trims.
    pub(super) fn transfer(&self) -> Option<u64> {
        let one = |text: &str| {
            let size = |text: &str| units::size(text, false).map(whole).filter(|&bytes| bytes > 0);
            let (low, high) = text.split_once('-').unwrap_or((text, text));
            size(low).filter(|&low| size(high) == Some(low))
        };
        // `bssplit` has shares of several sizes: `4k/50:16k/50`.
        let text = self.block.as_deref().filter(|text| !text.contains(':'))?;
        let sizes: Vec<&str> = text.split([',', '/']).map(str::trim).collect();
        let of = |place: usize| sizes.get(place).or(sizes.last()).and_then(|text| one(text));
        match self.mode() {
            Some("read" | "randread") => of(0),
            Some("write" | "randwrite") => of(1),
            _ => of(0).filter(|&bytes| of(1) == Some(bytes)),
        }
    }

    /// `rw` without its modifier.
    fn mode(&self) -> Option<&str> {
        self.rw.as_deref().map(|rw| rw.split(':').next().unwrap_or(rw))
    }

    /// Whether reads and writes are mixed.
    pub(super) fn is_mixed(&self) -> bool {
        matches!(self.mode(), Some("rw" | "readwrite" | "randrw"))
    }

    /// The number of tasks to which the figures refer.
    fn tasks(&self) -> u32 {
        if self.grouped { narrow(self.jobs.unwrap_or(1)).max(1) } else { 1 }
    }

    /// Requests of a job at a time.
    fn depth(&self) -> Option<u64> {
        let is_synchronous = self.engine.as_deref().is_some_and(|engine| SYNCHRONOUS.contains(&engine));
        if is_synchronous { Some(1) } else { self.depth }
    }

    /// Requests per second of all its tasks, if its options limit them.
    fn pace(&self) -> Option<Pace> {
        let limit = |name: &str| self.limits.iter().find(|(limit, _)| limit == name).map(|(_, text)| text);
        let of = |text: &str| {
            // One value holds for each direction.
            let values: Vec<f64> = text.split(',').filter_map(|text| units::size(text, false)).collect();
            let (read, write) = (*values.first()?, *values.last()?);
            Some(match self.mode()? {
                "read" | "randread" => read,
                "write" | "randwrite" => write,
                _ => read + write,
            })
        };
        let by_bytes = || Some(of(limit("rate")?)? / self.transfer()? as f64);
        let each = limit("rate_iops").and_then(|text| of(text)).or_else(by_bytes)?;
        let transfers_per_second = each * f64::from(self.tasks());
        (transfers_per_second > 0.0 && transfers_per_second <= 1e9).then_some(Pace { transfers_per_second })
    }

    /// When data had to be durable. Every n-th write, with n above 1, is neither of these rules.
    fn sync(&self) -> Option<SyncRule> {
        let syncs = self.syncs.as_ref()?;
        let is = |names: &[&str], wanted: Option<&str>| {
            let is_it = |(name, text): &(String, String)| {
                names.contains(&name.as_str()) && wanted.is_none_or(|wanted| wanted == text)
            };
            syncs.iter().any(is_it)
        };
        let per_write = is(&["fsync", "fdatasync"], Some("1")) || is(&["sync"], None);
        let at_close = is(&["end_fsync", "fsync_on_close"], None);
        let other = is(&["fsync", "fdatasync", "sync_file_range"], None) && !per_write;
        (!other).then_some(SyncRule { at_close, per_write })
    }

    pub(super) fn spec(&self) -> WorkloadSpec {
        let transfer = self.transfer().unwrap_or(1);
        let target = self.file.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut spec =
            WorkloadSpec::new(self.name.clone(), target, volume(transfer, self.size.unwrap_or(transfer)));
        spec.tasks = self.tasks();
        spec.direct = self.direct.unwrap_or(false);
        spec.pace = self.pace();
        spec.sync = self.sync().unwrap_or_default();
        if self.rw.as_deref().is_some_and(|rw| rw.starts_with("rand")) {
            spec.order = Order::Random { seed: 0 };
        }
        let depth = narrow(self.depth().unwrap_or(1)).max(1);
        match self.engine.as_deref() {
            Some("io_uring") => spec.backend = Backend::Uring { depth, required: false },
            Some("mmap") => spec.backend = Backend::Mmap,
            // The depth of other engines is kept; which they are is only in the text.
            _ if depth > 1 || self.engine.as_deref() == Some("libaio") => {
                spec.backend = Backend::Libaio { depth };
            }
            _ => {}
        }
        spec
    }

    /// The conditions among its options that are known.
    pub(super) fn known(&self) -> [(Condition, bool); 9] {
        let engine = matches!(self.engine.as_deref(), Some("io_uring" | "libaio" | "psync" | "mmap"));
        [
            (Condition::Transfer, self.transfer().is_some()),
            (Condition::Volume, self.size.is_some() && self.transfer().is_some()),
            (Condition::Order, self.rw.is_some()),
            (Condition::Path, self.file.is_some()),
            (Condition::Cache, self.direct.is_some()),
            (Condition::Sync, self.sync().is_some()),
            (Condition::Engine, engine),
            (Condition::Depth, self.depth().is_some()),
            (Condition::Tasks, self.jobs.is_some() || !self.grouped),
        ]
    }

    pub(super) fn stated(&self) -> String {
        let tasks = self.tasks();
        let jobs = if tasks == 1 { "1 job".to_owned() } else { format!("{tasks} jobs") };
        [self.asked_for(), vec![jobs]].concat().join(", ")
    }

    /// What the known options specify, without the number of jobs.
    fn asked_for(&self) -> Vec<String> {
        let parts = [
            self.rw.clone(),
            self.block.as_deref().map(|size| match self.transfer() {
                Some(bytes) => plan::Bytes(bytes).to_string(),
                None => size.to_owned(),
            }),
            self.direct.map(|direct| if direct { "direct" } else { "buffered" }.to_owned()),
            self.engine.clone(),
            self.depth().map(|depth| format!("depth {depth}")),
        ];
        let options = self.syncs.iter().flatten().chain(&self.limits);
        let options = options.map(|(name, text)| format!("{name}={text}"));
        parts.into_iter().flatten().chain(options).collect()
    }
}

/// Whether the value of an option is not that of one that is off.
fn is_set(text: &str) -> bool {
    !matches!(text.trim(), "0" | "none" | "false" | "")
}

/// Adds a histogram derived from percentiles, given in percent and nanoseconds: the requests between two
/// consecutive percentiles. `min`, `max` and `mean` are printed.
pub(super) fn between_percentiles(
    pass: &mut Pass,
    operation: Operation,
    requests: f64,
    percentiles: &[(f64, u64)],
    [min, max, mean]: [f64; 3],
) {
    let (mut below, mut low) = (0, whole(min));
    let last = [(100.0, whole(max))];
    for &(percent, high) in percentiles.iter().chain(&last) {
        // At least as many requests took at most this long: with one less, the percentile would be the next one's.
        let upto = whole((requests * percent / 100.0 * (1.0 - 1e-12)).ceil()).max(below);
        let high_ns = high.clamp(low, whole(max).max(low));
        if upto > below {
            pass.latency.push(Bucket { operation, low_ns: low, high_ns, count: upto - below });
        }
        (below, low) = (upto, high_ns);
    }
    pass.printed_latency(operation, [min, max, mean]);
    pass.note("latencies are only known from printed percentiles: nothing is known between two of them");
}
