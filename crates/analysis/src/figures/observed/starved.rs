//! Whether the nodes gave a run enough resources, judged by observations second by second.

use std::collections::HashMap;

use record::{LoadRow, SeriesRow};

use crate::figures::observed::TICKED_NS_MIN;

/// From this share of throttled periods on, the quota of a control group determined the rate.
const THROTTLED_SHARE_MIN: f64 = 0.05;
/// From this share of the threads' time, or of the processors' time, on, other programs occupied the processors.
const WAITED_SHARE_MIN: f64 = 0.10;
/// From this share of the time on, memory was short.
const MEMORY_SHARE_MIN: f64 = 0.10;
/// If a program was stopped or held in the kernel for a smaller share of a phase, the effect on the rate is
/// negligible.
const HELD_SHARE_MIN: f64 = 0.01;
/// One-second intervals of the observer and of the series that start within this distance overlap for most of their
/// length.
const SAME_INTERVAL_NS: u64 = 500_000_000;

/// The work of a node, and the number of processors available for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeWork {
    /// The number of tasks on the node.
    pub tasks: u32,
    /// Processor time of the program on the node.
    pub cpu_ns: u64,
    /// The number of processors that the tasks may use.
    pub usable_cpus: u32,
    /// The number of all processors of the node.
    pub logical_cpus: u32,
    /// Whether transfers bypass the page cache.
    pub direct: bool,
}

/// What held back the threads of one node, in words, and for which share of the time. Returns `None` if nothing did.
/// `series` holds what completed on all nodes.
///
/// Waiting for a processor only counts if there are at least as many processors as tasks, and only up to the
/// processor time that was used by others. Otherwise the threads wait for each other, for example if the scheduler
/// keeps two tasks on the processor of an interrupt while another one is idle. Waiting for memory only counts if
/// transfers bypass the page cache. Otherwise the pages that must be freed within the limit of a control group are
/// those of the workload itself. A frozen file system shows as a second in which nothing completed, no device had a
/// request and threads were held in the kernel.
///
/// The counters behind the shares are sampled or advance by the kernel's clock tick, so nothing is said of less than
/// `TICKED_NS_MIN`, and no share exceeds 1.
#[must_use]
pub fn starvation(load: &[&LoadRow], series: &[SeriesRow], work: NodeWork) -> Option<(String, f64)> {
    let NodeWork { tasks, cpu_ns, usable_cpus, logical_cpus, direct } = work;
    let sum = |value: &dyn Fn(&LoadRow) -> Option<u64>| {
        load.iter().filter_map(|row| value(row)).sum::<u64>() as f64
    };
    let observed = sum(&|row| Some(row.length_ns));
    if observed < TICKED_NS_MIN as f64 {
        return None;
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).min(1.0) } else { 0.0 };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let stopped = sum(&|row| Some(row.stopped_ns));
    let (periods, throttled) = (sum(&|row| row.quota_periods), sum(&|row| row.throttled_periods));
    let of_tasks = sum(&|row| row.cpu_wait_ns.map(|_| row.length_ns)) * f64::from(tasks);
    let waited_ns = sum(&|row| row.cpu_wait_ns);
    // The program may have more threads than tasks, for example those that respond to requests.
    let of_threads = of_tasks.max(cpu_ns as f64 + waited_ns);
    let busy: Option<u64> = load.iter().map(|row| row.busy_cpu_ns).sum();
    let of_others = busy.map_or(f64::INFINITY, |busy| busy.saturating_sub(cpu_ns) as f64);
    let waited = if tasks <= usable_cpus { share(waited_ns.min(of_others), of_threads) } else { 0.0 };
    let stolen = share(sum(&|row| row.stolen_cpu_ns), observed * f64::from(logical_cpus));
    let stalled = if direct { share(sum(&|row| row.memory_stall_ns), observed) } else { 0.0 };
    let blocked: Vec<_> =
        load.iter().filter(|row| row.blocked_threads > 0 && nothing_completed(row, series)).collect();
    let held = blocked.iter().map(|row| row.length_ns).sum::<u64>() as f64;
    let most = blocked.iter().max_by_key(|row| row.blocked_threads);
    let (threads, place) = most.map_or((0, ""), |row| (row.blocked_threads, row.blocked_in.as_str()));
    let place = if place.is_empty() { "the kernel" } else { place };
    let causes = [
        (
            share(stopped, observed),
            HELD_SHARE_MIN,
            format!(
                "the program did not run for {:.1} s of {:.1} s: it was stopped, its control group frozen, or the \
                 machine itself paused",
                stopped / 1e9,
                observed / 1e9
            ),
        ),
        (
            share(throttled, periods),
            THROTTLED_SHARE_MIN,
            format!("its control group had used up its processor quota in {throttled} of {periods} periods"),
        ),
        (
            share(held, observed),
            HELD_SHARE_MIN,
            format!(
                "for {:.1} s nothing completed and no device had a request, while {threads} of its threads were held \
                 in {place}: a frozen file system, or a limit above the devices",
                held / 1e9
            ),
        ),
        (
            waited,
            WAITED_SHARE_MIN,
            format!("its tasks waited for a processor for {} of the time", percent(waited)),
        ),
        (
            stolen,
            WAITED_SHARE_MIN,
            format!("the hypervisor took {} of the processor time (steal)", percent(stolen)),
        ),
        (
            stalled,
            MEMORY_SHARE_MIN,
            format!("its control group waited for memory for {} of the time", percent(stalled)),
        ),
    ];
    let seen: Vec<_> = causes.into_iter().filter(|(share, least, _)| share >= least).collect();
    let longest = seen.iter().map(|(share, ..)| *share).max_by(f64::total_cmp)?;
    Some((seen.into_iter().map(|(.., text)| text).collect::<Vec<_>>().join("; "), longest))
}

/// Whether nothing completed in the interval of `row`.
fn nothing_completed(row: &LoadRow, series: &[SeriesRow]) -> bool {
    let same = |one: &&SeriesRow| one.start_ns.abs_diff(row.start_ns) <= SAME_INTERVAL_NS;
    series.iter().filter(same).all(|one| one.transfers == 0)
}

/// The part of `io_ns` during which threads were runnable but waited for a processor, summed over the threads of all
/// nodes.
#[must_use]
pub fn cpu_wait_ns(load: &[LoadRow], io_ns: u64) -> Option<u64> {
    let mut nodes: HashMap<&str, (u64, u64)> = HashMap::new();
    for row in load {
        let Some(waited) = row.cpu_wait_ns else { continue };
        let (sum, length) = nodes.entry(&row.node).or_default();
        (*sum, *length) = (*sum + waited, *length + row.length_ns);
    }
    let of_node =
        |(sum, length): &(u64, u64)| u128::from(*sum) * u128::from(io_ns) / u128::from(*length.max(&1));
    (!nodes.is_empty()).then(|| u64::try_from(nodes.values().map(of_node).sum::<u128>()).unwrap_or(u64::MAX))
}
