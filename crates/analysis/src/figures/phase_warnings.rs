//! Warnings for the reader of a figure, derived from the record alone.

use std::collections::HashMap;

use plan::{Bytes, Case, Nanos, Phase, Workload};
use record::{NodeClock, PhaseRow, TaskRow, Warning};

use crate::figures::{DeviceShare, MovedBeside, node_rates};
use crate::nodes::slow_node_warnings;

/// Below this share of device bytes a figure does not measure the devices. The margin covers what counters and file
/// systems miss at the edges of a phase: read-ahead that an earlier phase started, and requests that are counted when
/// they end.
pub const DEVICE_SHARE_MIN: f64 = 0.95;
/// Above this share of device bytes, other programs were using the devices. Journals and metadata of a direct I/O
/// workload stay well below it.
pub const DEVICE_SHARE_MAX: f64 = 1.25;
/// Above this share of the processors that its tasks can keep busy, the program and the kernel's copying leave no
/// idle time, so the storage was waiting for them.
pub const CPU_SHARE_MAX: f64 = 0.90;

/// All warnings that the rows of one phase give rise to. Phases that give no results (fills and checks) are judged by
/// their data alone, which the engine reports.
#[must_use]
pub fn phase_warnings(phase: &PhaseRow, tasks: &[TaskRow], case: &Case, usable_cpus: u32) -> Vec<Warning> {
    let workload = &case.workload;
    if !phase.key.phase.is_result() {
        return Vec::new();
    }
    let mut warnings = cache_verdict(phase, workload.direct);
    // What the workloads at the same time moved is known when all have ended: a figure has it.
    let is_alone = !case.is_concurrent(phase.key.phase);
    warnings.extend(not_quiet(phase, MovedBeside::default(), workload).filter(|_| is_alone));
    warnings.extend(too_short(phase, case));
    warnings.extend(harness_bound(phase, case, usable_cpus));
    warnings.extend(incomplete(phase, workload));
    if let Some(threshold) = workload.outlier.filter(|_| workload.work.jobs().is_none()) {
        warnings.extend(outliers(tasks, threshold));
    }
    warnings.extend(slow_node_warnings(&node_rates(tasks, workload, phase.key.phase), phase.key.phase));
    warnings
}

/// Seconds of several nodes are only aligned if the clock error is at most this: then at most a thousandth of the
/// data is in the wrong second.
pub const CLOCK_ERROR_MAX: Nanos = Nanos::millis(1);

/// The nodes whose clock error was not within [`CLOCK_ERROR_MAX`] all the time, from the `comparisons` of a run in
/// order. The error is the largest error of an offset, or the drift of the offset from one comparison to the next if
/// that is more.
#[must_use]
pub fn uncertain_clocks(comparisons: &[Vec<NodeClock>]) -> Vec<Warning> {
    let Some(first) = comparisons.first() else { return Vec::new() };
    let mut seen: HashMap<&str, Vec<&NodeClock>> = HashMap::new();
    for one in comparisons.iter().flatten() {
        seen.entry(&one.node).or_default().push(one);
    }
    let error = |node: &str| {
        let seen = &seen[node];
        let moved = seen.windows(2).map(|pair| pair[0].offset_ns.abs_diff(pair[1].offset_ns)).max();
        let largest = seen.iter().map(|one| one.error_ns).max();
        largest.max(moved).unwrap_or(0)
    };
    let uncertain = first.iter().map(|one| (&one.node, error(&one.node)));
    uncertain
        .filter(|(_, error_ns)| *error_ns > CLOCK_ERROR_MAX.0)
        .map(|(node, error_ns)| Warning::ClockUncertain { node: node.clone(), error_ns })
        .collect()
}

/// Whether something other than the devices served the data: the page cache if it was used, or another layer (a cache
/// or a compression below the file system) if it was not. Requests between processes bypass all devices.
#[must_use]
pub fn cache_verdict(phase: &PhaseRow, direct: bool) -> Vec<Warning> {
    if phase.key.phase == Phase::Exchange {
        return Vec::new();
    }
    let DeviceShare { read, write } = DeviceShare::of(phase, MovedBeside::default());
    let low = |share: Option<f64>, verb: &str, cached: fn(f64) -> Warning| {
        let share = share.filter(|&share| share < DEVICE_SHARE_MIN)?;
        Some(match direct {
            true => Warning::Unapplied {
                what: "direct I/O".to_owned(),
                reason: format!(
                    "the devices {verb} {:.1} % of the bytes although the page cache was not used: another layer \
                     answered",
                    share * 100.0
                ),
            },
            false => cached(share),
        })
    };
    let read = low(read, "read", |device_share| Warning::CachedReads { device_share });
    let write = low(write, "wrote", |device_share| Warning::CachedWrites { device_share });
    read.into_iter().chain(write).collect()
}

/// Whether the devices moved much more than the tasks and the workloads `beside` them did, which means that others used
/// them too. Buffered reads are
/// left out because the kernel reads ahead for them. So are names and small files, for which a file system moves a
/// lot of data of its own.
#[must_use]
pub fn not_quiet(phase: &PhaseRow, beside: MovedBeside, workload: &Workload) -> Option<Warning> {
    let DeviceShare { read, write } = DeviceShare::of(phase, beside);
    let busy = |share: Option<f64>, verb: &str| {
        let transfers = phase.key.phase.is_transfers();
        let share = share.filter(|&share| transfers && workload.direct && share > DEVICE_SHARE_MAX)?;
        let whose = if beside == MovedBeside::default() { "the tasks" } else { "all workloads at the time" };
        let seen = format!("the devices {verb} {share:.2} times what {whose} did");
        Some(Warning::NotQuiet { seen, share: 1.0 - 1.0 / share })
    };
    busy(read, "read").or_else(|| busy(write, "wrote"))
}

/// The seconds that a phase of `case` falls below if it is too short for a rate, with `passes` of them; see
/// [`plan::short_of`].
pub(crate) fn short_of(phase: &PhaseRow, case: &Case, passes: usize) -> Option<f64> {
    let operations = (phase.reads + phase.writes).max(phase.items) as f64;
    let turns = case.in_flight().map_or(0.0, |in_flight| operations / in_flight.max(1.0));
    plan::short_of(Nanos(phase.wall_ns).as_secs_f64(), case.protocol.phase_min, passes, turns)
}

/// Whether the phase was too short for a rate, with as many passes as its case has at least.
#[must_use]
pub fn too_short(phase: &PhaseRow, case: &Case) -> Option<Warning> {
    let at_least_seconds = short_of(phase, case, case.repetitions_least() as usize)?;
    Some(Warning::TooShort { seconds: Nanos(phase.wall_ns).as_secs_f64(), at_least_seconds })
}

/// Whether the processors, not the storage, determined the rate: CPU time of all nodes ÷ (wall time × processors that
/// the tasks could keep busy). `usable_cpus` is the number for all nodes together. The null backend is meant to be
/// CPU bound, so it gets no warning. Jobs do computing work of their own: for them only the CPU time of the launcher
/// and monitor counts, against one processor. Names, small files and messages are work of the kernel, which is what
/// is measured: for them only the time outside the kernel counts.
#[must_use]
pub fn harness_bound(phase: &PhaseRow, case: &Case, usable_cpus: u32) -> Option<Warning> {
    let workload = &case.workload;
    if !workload.backend.moves_data() || phase.wall_ns == 0 {
        return None;
    }
    let system_ns = if phase.key.phase.is_transfers() { phase.system_cpu_ns } else { 0 };
    let (busy_ns, processors) = match workload.work.jobs() {
        Some(_) => (phase.harness_cpu_ns?, 1),
        // The time is also that of the tasks at the same time, which can keep the other processors busy.
        None if case.is_concurrent(phase.key.phase) => (phase.user_cpu_ns + system_ns, usable_cpus.max(1)),
        None => (phase.user_cpu_ns + system_ns, usable_cpus.min(workload.tasks).max(1)),
    };
    let cpu_share = busy_ns as f64 / (phase.wall_ns as f64 * f64::from(processors));
    (cpu_share > CPU_SHARE_MAX).then_some(Warning::HarnessBound { cpu_share: cpu_share.min(1.0) })
}

/// Whether fewer bytes were moved than a full pass has. A phase limited by duration moves what it can and is never
/// incomplete; phases without transfers have items, which a figure counts.
#[must_use]
pub fn incomplete(phase: &PhaseRow, workload: &Workload) -> Option<Warning> {
    let Bytes(planned_bytes) = workload.bytes();
    let bytes = phase.bytes();
    (phase.key.phase.is_transfers() && workload.duration.is_none() && bytes < planned_bytes)
        .then_some(Warning::Incomplete { bytes, planned_bytes })
}

/// A time of a task.
type Timer = fn(&TaskRow) -> u64;

/// Tasks whose open, transfer or close time deviates from the mean of all tasks by more than `threshold`, as with
/// IOR's `-j`. The deviation is that of the population, as IOR prints it.
#[must_use]
pub fn outliers(tasks: &[TaskRow], threshold: Nanos) -> Vec<Warning> {
    const TIMERS: [(&str, Timer); 3] = [
        ("open", |task| task.open_end_ns.saturating_sub(task.open_start_ns)),
        ("transfer", |task| task.io_end_ns.saturating_sub(task.io_start_ns)),
        ("close", |task| task.close_end_ns.saturating_sub(task.close_start_ns)),
    ];
    let mut warnings = Vec::new();
    for (timer, time) in TIMERS {
        let seconds: Vec<f64> = tasks.iter().map(|task| Nanos(time(task)).as_secs_f64()).collect();
        let Some(all) = crate::statistics::Summary::of(&seconds) else { continue };
        for (task, &seconds) in tasks.iter().zip(&seconds) {
            if (seconds - all.mean).abs() > threshold.as_secs_f64() {
                warnings.push(Warning::Outlier {
                    task: task.task,
                    timer: timer.to_owned(),
                    seconds,
                    mean_seconds: all.mean,
                    deviation_seconds: all.deviation_population,
                });
            }
        }
    }
    warnings
}
