//! Whether the nodes let a run work, by what was observed of them second by second.

use record::{LoadRow, SeriesRow};

/// From this share of the periods on, the quota of a control group set the rate.
const THROTTLED_SHARE_MIN: f64 = 0.05;
/// From this share of the threads' time on, or of the processors', others had the processors.
const WAITED_SHARE_MIN: f64 = 0.10;
/// From this share of the time on, memory was short.
const MEMORY_SHARE_MIN: f64 = 0.10;
/// A program that did not run, or was held in the kernel, for less of a phase changes no rate by much.
const HELD_SHARE_MIN: f64 = 0.01;
/// Intervals of the observer and of the series that start this close together are the same.
const SAME_INTERVAL_NS: u64 = 500_000_000;

/// What held the threads of one node back, in words, and for which share of the time; none where nothing did. `tasks` and `cpus` are those of the node,
/// `series` what completed on all nodes.
///
/// Threads that wait for a processor only count where there are as many processors as tasks: else they wait for each
/// other, which is what was asked for. A file system that is frozen shows as a second in which nothing completed, no
/// device had a request and threads were held in the kernel.
#[must_use]
pub fn starvation(load: &[&LoadRow], series: &[SeriesRow], tasks: u32, cpus: u32) -> Option<(String, f64)> {
    let sum = |value: &dyn Fn(&LoadRow) -> Option<u64>| {
        load.iter().filter_map(|row| value(row)).sum::<u64>() as f64
    };
    let observed = sum(&|row| Some(row.length_ns));
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let stopped = sum(&|row| Some(row.stopped_ns));
    let (periods, throttled) = (sum(&|row| row.quota_periods), sum(&|row| row.throttled_periods));
    let of_threads = sum(&|row| row.cpu_wait_ns.map(|_| row.length_ns)) * f64::from(tasks);
    let waited = if tasks <= cpus { share(sum(&|row| row.cpu_wait_ns), of_threads) } else { 0.0 };
    let stolen = share(sum(&|row| row.stolen_cpu_ns), observed * f64::from(cpus));
    let stalled = share(sum(&|row| row.memory_stall_ns), observed);
    let blocked: Vec<_> = load.iter().filter(|row| row.blocked_threads > 0 && is_hole(row, series)).collect();
    let held = blocked.iter().map(|row| row.length_ns).sum::<u64>() as f64;
    let most = blocked.iter().max_by_key(|row| row.blocked_threads);
    let (threads, place) = most.map_or((0, ""), |row| (row.blocked_threads, row.blocked_in.as_str()));
    let place = if place.is_empty() { "the kernel" } else { place };
    let causes = [
        (
            share(stopped, observed),
            HELD_SHARE_MIN,
            format!(
                "the program did not run for {:.1} s of {:.1} s: it was stopped, or its control group frozen",
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
            format!("a hypervisor gave {} of the processors' time to others", percent(stolen)),
        ),
        (stalled, MEMORY_SHARE_MIN, format!("tasks waited for memory for {} of the time", percent(stalled))),
    ];
    let seen: Vec<_> = causes.into_iter().filter(|(share, least, _)| share >= least).collect();
    let longest = seen.iter().map(|(share, ..)| *share).max_by(f64::total_cmp)?;
    Some((seen.into_iter().map(|(.., text)| text).collect::<Vec<_>>().join("; "), longest))
}

/// Whether nothing completed in the interval of `row`.
fn is_hole(row: &LoadRow, series: &[SeriesRow]) -> bool {
    let same = |one: &&SeriesRow| one.start_ns.abs_diff(row.start_ns) < SAME_INTERVAL_NS;
    series.iter().filter(same).all(|one| one.transfers == 0)
}

/// The part of `io_ns` for which threads were ready and waited for a processor, summed over the threads of all nodes.
#[must_use]
pub fn cpu_wait_ns(load: &[LoadRow], io_ns: u64) -> Option<u64> {
    let mut nodes: Vec<(&str, u64, u64)> = Vec::new();
    for row in load {
        let Some(waited) = row.cpu_wait_ns else { continue };
        match nodes.iter_mut().find(|(node, ..)| *node == row.node) {
            Some((_, sum, length)) => (*sum, *length) = (*sum + waited, *length + row.length_ns),
            None => nodes.push((&row.node, waited, row.length_ns)),
        }
    }
    let of_node = |&(_, sum, length): &(&str, u64, u64)| {
        u128::from(sum) * u128::from(io_ns) / u128::from(length.max(1))
    };
    (!nodes.is_empty()).then(|| u64::try_from(nodes.iter().map(of_node).sum::<u128>()).unwrap_or(u64::MAX))
}
