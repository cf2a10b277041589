//! Whether the nodes let a run work, by what was observed of them second by second.

use std::collections::HashMap;

use record::{LoadRow, SeriesRow};

/// From this share of the periods on, the quota of a control group set the rate.
const THROTTLED_SHARE_MIN: f64 = 0.05;
/// From this share of the threads' time on, or of the processors', others had the processors.
const WAITED_SHARE_MIN: f64 = 0.10;
/// From this share of the time on, memory was short.
const MEMORY_SHARE_MIN: f64 = 0.10;
/// A program that did not run, or was held in the kernel, for less of a phase changes no rate by much.
const HELD_SHARE_MIN: f64 = 0.01;
/// Of intervals of a second, those of the observer and of the series that start this close together share most of it.
const SAME_INTERVAL_NS: u64 = 500_000_000;

/// What a node had to do, and with how many processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeWork {
    /// Tasks on it.
    pub tasks: u32,
    /// Processor time of the program on it.
    pub cpu_ns: u64,
    /// Processors that these may use.
    pub usable_cpus: u32,
    /// All that it has.
    pub logical_cpus: u32,
    /// Whether transfers go round the page cache.
    pub direct: bool,
}

/// What held the threads of one node back, in words, and for which share of the time; none where nothing did. `series`
/// is what completed on all nodes.
///
/// Threads that wait for a processor only count where there are as many processors as tasks, and for no longer than
/// processors were used beside the program: else they wait for each other, as where the scheduler keeps two tasks on the
/// processor of an interrupt while another one is idle. Waiting for memory only counts where transfers go round the page cache: else the pages that
/// must be freed within the limit of a control group are those of the workload itself. A file system that is frozen shows as a second in which nothing completed, no
/// device had a request and threads were held in the kernel.
#[must_use]
pub fn starvation(load: &[&LoadRow], series: &[SeriesRow], work: NodeWork) -> Option<(String, f64)> {
    let NodeWork { tasks, cpu_ns, usable_cpus, logical_cpus, direct } = work;
    let sum = |value: &dyn Fn(&LoadRow) -> Option<u64>| {
        load.iter().filter_map(|row| value(row)).sum::<u64>() as f64
    };
    let observed = sum(&|row| Some(row.length_ns));
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let stopped = sum(&|row| Some(row.stopped_ns));
    let (periods, throttled) = (sum(&|row| row.quota_periods), sum(&|row| row.throttled_periods));
    let of_tasks = sum(&|row| row.cpu_wait_ns.map(|_| row.length_ns)) * f64::from(tasks);
    let waited_ns = sum(&|row| row.cpu_wait_ns);
    // The threads of the program may be more than its tasks, as those that respond to requests.
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

/// The part of `io_ns` for which threads were ready and waited for a processor, summed over the threads of all nodes.
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
