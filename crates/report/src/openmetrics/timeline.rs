//! Jobs over time.

use super::family::{Family, Labels, with};
use crate::view::Report;

/// The families; `of` gives the labels of a figure by its number. A sample is of one repetition that counts.
pub(super) fn families(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> Vec<Family> {
    let mut launches = Family::gauge("ioproof_jobs_launches", "launches, and those that came to their end");
    let mut running = Family::gauge(
        "ioproof_jobs_running",
        "launches at a time: the mean over the elapsed time, and the most",
    );
    let mut time = Family::measured(
        "ioproof_jobs_time_seconds",
        "seconds",
        "elapsed, from the first start to the last end, and the sum of the real times of all launches",
    );
    let mut length = Family::measured(
        "ioproof_jobs_launch_seconds",
        "seconds",
        "real time of the shortest, the median and the longest launch that is complete",
    );
    let mut level = Family::measured(
        "ioproof_jobs_level_bytes_per_second",
        "bytes_per_second",
        "reads and writes of all spaces: at the start, climbed to, at the peak and at the end",
    );
    let mut moved = Family::measured("ioproof_jobs_space_bytes", "bytes", "bytes of a space, by direction");
    let mut free =
        Family::measured("ioproof_jobs_space_free_bytes", "bytes", "the fewest bytes that a space had free");
    let mut harness = Family::measured(
        "ioproof_jobs_launcher_core_ratio",
        "ratio",
        "processor time of the launcher for each of the wall time of the phase",
    );
    for one in report.findings.timelines.iter().filter(|one| one.counts) {
        let Some(figure) = of(one.figure) else { continue };
        let figure = with(&figure, &[("repetition", &one.repetition.to_string())]);
        let named = |name: &str, value: &str| with(&figure, &[(name, value)]);
        launches.put(named("ended", "any"), one.launches as f64);
        launches.put(named("ended", "complete"), one.complete as f64);
        running.put(named("statistic", "mean"), one.mean_running);
        running.put(named("statistic", "maximum"), f64::from(one.most_running));
        time.put(named("of", "elapsed"), one.elapsed_ns as f64 / 1e9);
        time.put(named("of", "launches"), one.real_ns as f64 / 1e9);
        if let Some(all) = &one.lengths {
            length.put(named("statistic", "minimum"), all.shortest_seconds);
            length.put(named("statistic", "median"), all.median_seconds);
            length.put(named("statistic", "maximum"), all.longest_seconds);
        }
        if let Some(levels) = &one.levels {
            level.put(named("level", "start"), levels.start.bytes_per_second);
            if let Some(climb) = &levels.climb {
                level.put(named("level", "climb"), climb.bytes_per_second);
            }
            level.put(named("level", "peak"), levels.peak.bytes_per_second);
            level.put(named("level", "end"), levels.end.bytes_per_second);
        }
        for space in &one.spaces {
            let which = named("space", space.space);
            moved.put(with(&which, &[("operation", "read")]), space.read_bytes as f64);
            moved.put(with(&which, &[("operation", "write")]), space.write_bytes as f64);
            if let Some(bytes) = space.free_least_bytes {
                free.put(which, bytes as f64);
            }
        }
        if let Some(share) = one.harness.core_share {
            harness.put(figure, share);
        }
    }
    vec![launches, running, time, length, level, moved, free, harness]
}
