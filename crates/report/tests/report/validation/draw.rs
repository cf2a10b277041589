//! Records drawn from distributions with known parameters. Nothing is measured, and no code of the program under test
//! generates a number here.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "drawn numbers are far below the limits of integers and not negative"
)]

use plan::{
    Bytes, Case, Criteria, Geometry, Measure, Nanos, Operation, Order, Phase, Plan, PlanSource, Setting,
    SettingValue, Sharing, WorkloadSpec,
};
use record::{
    HostFacts, LatencyRow, Manifest, PhaseKey, PhaseRecord, PhaseRow, Provenance, Run, SeriesRow, TaskRow,
};

const SECOND: f64 = 1e9;
const TRANSFER: u64 = 1 << 20;
/// Long enough for a rate under every rule of the audit.
const LONG_SECONDS: f64 = 30.0;
/// The same for a pass with values for each second.
const SERIES_SECONDS: u32 = 120;
/// The second after which the level changes.
const CHANGED_SECOND: u32 = 70;
/// Shorter than the general minimum duration.
const SHORT_SECONDS: f64 = 0.2;

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers for the same seed on any machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in the range from 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by the Box-Muller method.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A random element of `list`.
    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[((self.uniform() * list.len() as f64) as usize).min(list.len() - 1)]
    }
}

/// The defect of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    None,
    TooShort,
    /// The devices moved nothing.
    Cached,
    /// A check found data that was never written.
    Damaged,
    /// There are fewer repetitions than requested.
    Unfinished,
}

/// The seconds of each pass, which have the same noise as the repetitions.
#[derive(Clone, Copy)]
pub(crate) struct Seconds {
    /// First-order autocorrelation.
    pub(crate) autocorrelation: f64,
    /// The loss of rate after [`CHANGED_SECOND`].
    pub(crate) loss: f64,
}

/// The parameters of one figure.
#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) group: &'static str,
    pub(crate) target: &'static str,
    pub(crate) settings: Vec<Setting>,
    pub(crate) phase: Phase,
    /// The true rate of each node, which is the median of infinitely many repetitions.
    pub(crate) node_rates: Vec<f64>,
    /// Standard deviation of the logarithm of a repetition's rate.
    pub(crate) noise: f64,
    pub(crate) repetitions: u32,
    /// The loss of rate in the second half of the repetitions.
    pub(crate) loss: f64,
    pub(crate) seconds: Option<Seconds>,
    pub(crate) tasks: u32,
    /// The bytes that each task moves. `None` for a fixed duration.
    pub(crate) block: Option<Bytes>,
    /// Transfer size of random transfers. `None` for sequential transfers of [`TRANSFER`].
    pub(crate) random: Option<u64>,
    /// Whether the processors were busy all the time.
    pub(crate) busy: bool,
    pub(crate) fault: Fault,
}

/// The sweep key `key` with the value `value`.
pub(crate) fn count(key: &str, value: u64) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Count(value) }
}

/// The sweep point for `target`.
pub(crate) fn word(target: &str) -> Setting {
    Setting { key: "target".to_owned(), value: SettingValue::Word(target.to_owned()) }
}

/// A plan with `points` and `criteria`.
pub(super) fn plan(title: &str, criteria: Criteria, points: &[Point]) -> Plan {
    let cases = points.iter().map(case).collect();
    Plan {
        criteria,
        ..Plan::new(title, PlanSource::Quick { directory: "/data".into(), others: Vec::new() }, 1, cases)
    }
}

/// A run with `points` and `criteria`.
pub(crate) fn run(criteria: Criteria, points: &[Point], random: &mut Random) -> Run {
    let plan = plan("Drawn from known distributions", criteria, points);
    let mut records = Vec::new();
    for (point, case) in points.iter().zip(&plan.cases) {
        for repetition in 0..point.repetitions {
            records.push(record(case, point, repetition, random));
        }
    }
    run_of(plan, records)
}

/// A run of `plan` with these records.
pub(super) fn run_of(plan: Plan, records: Vec<PhaseRecord>) -> Run {
    let manifest = Manifest {
        format_version: record::FORMAT_VERSION,
        run_id: "drawn".to_owned(),
        provenance: Provenance::Measured,
        program_version: "0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: 0,
        finished_unix_ns: Some(1),
        predicted: None,
        plan,
        host: HostFacts { node: "n0".to_owned(), ..HostFacts::default() },
        cluster: None,
        model: None,
        defaults: Vec::new(),
    };
    Run::in_memory(manifest, records)
}

fn case(point: &Point) -> Case {
    let block = point.block.unwrap_or(Bytes::gib(1));
    let geometry = Geometry { transfer: Bytes(point.random.unwrap_or(TRANSFER)), block, segments: 1 };
    let at = point.settings.iter().map(|one| format!("{}={}", one.key, one.value));
    let at = at.collect::<Vec<_>>().join(":");
    let mut spec = WorkloadSpec::new(point.group, format!("/data/{at}"), geometry);
    (spec.direct, spec.tasks, spec.nodes) = (true, point.tasks, point.node_rates.len() as u32);
    spec.files.sharing = Sharing::PerTask;
    spec.order = if point.random.is_some() { Order::Random { seed: 1 } } else { Order::Sequential };
    spec.duration = Some(Nanos::secs(length(point) as u64)).filter(|_| point.block.is_none());
    let id = format!("{}:{at}", point.group);
    Case {
        group: point.group.to_owned(),
        target: point.target.to_owned(),
        settings: point.settings.clone(),
        repetitions: point.repetitions + u32::from(point.fault == Fault::Unfinished),
        ..Case::new(id, spec.validate().expect("valid"), vec![point.phase])
    }
}

/// The duration of a pass that is limited by time.
fn length(point: &Point) -> f64 {
    if point.seconds.is_some() { f64::from(SERIES_SECONDS) } else { LONG_SECONDS }
}

/// The rate in each second of a pass with this mean rate.
fn seconds_of(seconds: Seconds, rate: f64, noise: f64, random: &mut Random) -> Vec<f64> {
    let fresh = (1.0 - seconds.autocorrelation * seconds.autocorrelation).sqrt();
    let mut state = random.normal();
    let mut second = |at: u32| {
        let level = if at < CHANGED_SECOND { rate } else { rate * (1.0 - seconds.loss) };
        let value = level * (noise * state).exp();
        state = seconds.autocorrelation * state + fresh * random.normal();
        value
    };
    (0..SERIES_SECONDS).map(&mut second).collect()
}

fn record(case: &Case, point: &Point, repetition: u32, random: &mut Random) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition, phase: point.phase };
    let nodes = point.node_rates.len() as u32;
    // Nodes vary independently, in such a way that the total varies as much as a single node.
    let factor = |random: &mut Random| (point.noise * random.normal()).exp();
    let whole = factor(random);
    let level = if 2 * repetition >= point.repetitions { 1.0 - point.loss } else { 1.0 };
    let mut each: Vec<f64> = point
        .node_rates
        .iter()
        .map(|rate| rate * level * if nodes > 1 { factor(random) } else { whole })
        .collect();
    let series = point.seconds.filter(|_| point.fault != Fault::TooShort);
    let series = series.map(|series| seconds_of(series, each[0], point.noise, random)).unwrap_or_default();
    if !series.is_empty() {
        each = vec![series.iter().sum::<f64>() / series.len() as f64];
    }
    let seconds = match point.block {
        _ if point.fault == Fault::TooShort => SHORT_SECONDS,
        // Add a little more, so that rounding does not remove a byte.
        Some(block) => (block.0 * u64::from(point.tasks) + 1000) as f64 / each.iter().sum::<f64>(),
        None => length(point),
    };
    let wall_ns = (seconds * SECOND) as u64;
    let rows = point.tasks.min(4).max(nodes);
    let of_transfer = point.random.unwrap_or(TRANSFER);
    let task = |task: u32| {
        let of_node = (0..rows).filter(|row| row % nodes == task % nodes).count() as f64;
        let bytes = each[(task % nodes) as usize] * seconds / of_node;
        TaskRow {
            key: key.clone(),
            task,
            node: format!("n{}", task % nodes).into(),
            file: task,
            open_start_ns: 0,
            open_end_ns: 0,
            io_start_ns: 0,
            io_end_ns: wall_ns,
            close_start_ns: wall_ns,
            close_end_ns: wall_ns,
            bytes: bytes as u64,
            transfers: bytes as u64 / of_transfer,
            stonewall_transfers: None,
        }
    };
    let tasks: Vec<TaskRow> = (0..rows).map(task).collect();
    let bytes: u64 = tasks.iter().map(|task| task.bytes).sum();
    let transfers = (bytes / of_transfer).max(1);
    let reads = point.phase == Phase::Read;
    let at_devices = if point.fault == Fault::Cached { 0 } else { bytes };
    let of = |yes: bool, value: u64| if yes { value } else { 0 };
    let low = (f64::from(point.tasks) * wall_ns as f64 / transfers as f64) as u64;
    let latency = LatencyRow {
        key: key.clone(),
        operation: if reads { Operation::Read } else { Operation::Write },
        measure: Measure::Response,
        low_ns: low,
        high_ns: low + low / 128,
        count: transfers,
    };
    let operation = latency.operation;
    let second = |(at, rate): (u64, &f64)| SeriesRow {
        key: key.clone(),
        operation,
        start_ns: at * SECOND as u64,
        length_ns: SECOND as u64,
        bytes: *rate as u64,
        transfers: *rate as u64 / TRANSFER,
        latency_sum_ns: 0,
        latency_max_ns: 0,
    };
    PhaseRecord {
        series: (0..).zip(&series).map(second).collect(),
        tasks,
        latency: vec![latency],
        ..PhaseRecord::new(PhaseRow {
            started_unix_ns: i64::from(repetition) * 60_000_000_000,
            wall_ns,
            io_ns: wall_ns,
            read_bytes: of(reads, bytes),
            write_bytes: of(!reads, bytes),
            reads: of(reads, transfers),
            writes: of(!reads, transfers),
            first_done_ns: wall_ns,
            first_done_bytes: bytes,
            device_read_bytes: Some(of(reads, at_devices)),
            device_write_bytes: Some(of(!reads, at_devices)),
            user_cpu_ns: of(point.busy, wall_ns),
            wrong_cells: u64::from(point.fault == Fault::Damaged),
            ..PhaseRow::new(key)
        })
    }
}
