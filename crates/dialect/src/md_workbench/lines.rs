//! The line that md-workbench prints for a phase.

use analysis::figures::Latency;
use plan::{Measure, Operation, Phase};
use record::PhaseRecord;

use super::settings::Settings;
use crate::printed::{exponent, seconds};

const MIB: f64 = 1_048_576.0;
/// The percentiles between the smallest and the largest latency: quartiles, 90 and 99 %.
const PERCENTS: [f64; 5] = [25.0, 50.0, 75.0, 90.0, 99.0];
/// Operations in the order in which md-workbench prints them.
const OPERATIONS: [(Operation, &str); 4] = [
    (Operation::Read, "read"),
    (Operation::Stat, "stat"),
    (Operation::Create, "create"),
    (Operation::Remove, "delete"),
];

/// A rest in millionths of the step's duration as a multiple of it, in the precision of md-workbench, whose rounding to
/// two digits depends on it.
pub(super) fn factor(rest_ppm: u32) -> f32 {
    rest_ppm as f32 / 1e6
}

/// The figures of one phase, as defined by md-workbench.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    phase: Phase,
    /// Number of sets of all tasks.
    sets: u64,
    /// Number of objects that were created, used in steps, or removed.
    objects: u64,
    /// Number of operations on objects.
    operations: u64,
    bytes: u64,
    surprises: u64,
    /// The tasks' own times, in seconds.
    times: Vec<f64>,
    wall: f64,
    latencies: Vec<(&'static str, Latency)>,
    /// Rest after each step, in millionths of the step's duration.
    rest: u32,
    /// Set if a deadline may end the phase.
    stonewall: Option<AtDeadline>,
}

/// The effect of a deadline on a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AtDeadline {
    /// Number of steps of the task that did most.
    steps: u64,
    /// Time at which it was seen.
    seconds: f64,
    /// Whether it came before the steps were done.
    fell: bool,
}

impl Line {
    pub(super) fn of(record: &PhaseRecord, settings: &Settings, tasks: u32, rest: u32) -> Self {
        let row = &record.phase;
        let latency = |(operation, name): (Operation, &'static str)| {
            Some((name, Latency::of(&record.latency, operation, Measure::Response)?))
        };
        let phase = row.key.phase;
        let each = match phase {
            Phase::Benchmark if settings.read_only => 2,
            Phase::Benchmark => 4,
            _ => 1,
        };
        let sets_of_task = u64::from(settings.sets);
        let most = record.tasks.iter().map(|task| task.transfers).max().unwrap_or(0);
        let stopped = phase == Phase::Benchmark && settings.deadline > 0;
        let own = |open: u64, close: u64| seconds(close.saturating_sub(open));
        let seen = seconds(row.stonewall_ns.unwrap_or(row.wall_ns));
        Self {
            phase,
            sets: sets_of_task * u64::from(tasks),
            objects: row.transfers() / each,
            operations: row.transfers(),
            bytes: row.bytes(),
            surprises: row.surprises,
            times: record.tasks.iter().map(|task| own(task.open_start_ns, task.close_end_ns)).collect(),
            wall: seconds(row.wall_ns),
            latencies: OPERATIONS.into_iter().filter_map(latency).collect(),
            rest,
            stonewall: stopped.then(|| AtDeadline {
                steps: most / each / sets_of_task.max(1),
                seconds: seen,
                fell: seen >= settings.deadline as f64,
            }),
        }
    }

    fn longest(&self) -> f64 {
        self.times.iter().copied().max_by(f64::total_cmp).unwrap_or(self.wall)
    }

    /// `precreate process max:0.00s …`.
    pub(super) fn text(&self, settings: &Settings) -> String {
        let mut out = String::new();
        if let (Some(AtDeadline { steps, seconds, fell: true }), true) = (self.stonewall, settings.wear_out) {
            out.push_str(&format!("stonewall wear out {seconds:.6}s ({steps} iter)\n"));
        }
        out.push_str(&match settings.detailed {
            true => self.detailed(),
            false => self.plain(settings),
        });
        out
    }

    fn plain(&self, settings: &Settings) -> String {
        let longest = self.longest();
        let shortest = self.times.iter().copied().min_by(f64::total_cmp).unwrap_or(longest);
        let count = self.times.len().max(1) as f64;
        let mean = self.times.iter().sum::<f64>() / count;
        let squares: f64 = self.times.iter().map(|time| (time - mean).powi(2)).sum();
        // If there is only one task, md-workbench divides by 0 and prints the result.
        let deviation = match self.times.len() {
            0 | 1 => "-nan".to_owned(),
            _ => format!("{:.1}", (squares / (count - 1.0)).sqrt()),
        };
        let (sets, objects) = (self.sets, self.objects);
        let (set_rate, object_rate) = (sets as f64 / longest, objects as f64 / longest);
        let throughput = self.bytes as f64 / MIB / longest;
        let mut out = format!(
            "{} process max:{longest:.2}s min:{shortest:.2}s mean: {mean:.2}s balance:{:.1} stddev:{deviation} ",
            self.phase.name(),
            shortest / longest * 100.0,
        );
        out.push_str(&match self.phase {
            Phase::Precreate => format!(
                "rate:{:.1} iops/s dsets: {sets} objects:{objects} rate:{set_rate:.3} dset/s rate:{object_rate:.1} obj/s \
                 tp:{throughput:.1} MiB/s ",
                (sets + objects) as f64 / longest
            ),
            Phase::Cleanup => format!(
                "rate:{:.1} iops/s objects:{objects} dsets: {sets} rate:{object_rate:.1} obj/s rate:{set_rate:.3} dset/s ",
                (sets + objects) as f64 / longest
            ),
            _ => format!(
                "rate:{:.1} iops/s objects:{objects} rate:{object_rate:.1} obj/s tp:{throughput:.1} MiB/s ",
                self.operations as f64 / longest
            ),
        });
        out.push_str(&format!("op-max:{}s", exponent(self.slowest(), 4)));
        if self.rest > 0 && self.phase == Phase::Benchmark {
            out.push_str(&format!(" waiting_factor:{:.2}", factor(self.rest)));
        }
        if !settings.quiet {
            let mark = if self.surprises > 0 { "!!!" } else { "" };
            out.push_str(&format!(" ({} errs{mark})", self.surprises));
        }
        // If tasks continue to the same number of steps, they have agreed on it, whether or not there was
        // a deadline.
        if let Some(wall) = self.stonewall.filter(|wall| wall.fell || settings.wear_out) {
            let steps = wall.steps;
            out.push_str(&format!(" stonewall-iter:{steps}"));
        }
        for (name, latency) in &self.latencies {
            let inner = PERCENTS.iter().map(|&percent| latency.percentile(percent));
            let all = std::iter::once(latency.min_ns()).chain(inner).chain([latency.max_ns()]);
            let texts: Vec<String> = all.map(|ns| format!("{}s", exponent(ns as f64 / 1e9, 4))).collect();
            out.push_str(&format!(" {name}({})", texts.join(", ")));
        }
        out.push('\n');
        out
    }

    /// The largest latency, in seconds.
    fn slowest(&self) -> f64 {
        self.latencies.iter().map(|(_, latency)| latency.max_ns()).max().unwrap_or(0) as f64 / 1e9
    }

    /// A row of the table for programs.
    fn detailed(&self) -> String {
        let of = |operation: &str| {
            let latency = self.latencies.iter().find(|(name, _)| *name == operation);
            latency.map_or(0, |(_, latency)| latency.count())
        };
        let (made, removed) = match self.phase {
            Phase::Precreate => (self.sets, 0),
            Phase::Cleanup => (0, self.sets),
            _ => (0, 0),
        };
        format!(
            "{} \t{made}\t{removed}\t{}\t{}\t{}\t{}\t{:.3}s\t{:.3}s\t{:.2} MiB/s {}\n",
            self.phase.name(),
            of("create"),
            of("read"),
            of("stat"),
            of("delete"),
            self.wall,
            self.longest(),
            self.bytes as f64 / MIB / self.longest(),
            exponent(self.slowest(), 4),
        )
    }
}
