//! `saveRankPerformanceDetailsCSV`: one row for each task of each write and read phase.

use plan::Phase;
use record::TaskRow;

use super::number::scientific;

/// The complete file, beginning with the header, from the rows of one case in the order of their
/// creation.
#[must_use]
pub fn rank_csv(tasks: &[TaskRow]) -> String {
    let mut out =
        String::from("access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n");
    for task in tasks {
        let access = match task.key.phase {
            Phase::Write => "write",
            Phase::Read => "read",
            _ => continue,
        };
        let whole = seconds(task.open_start_ns, task.close_end_ns);
        let io = seconds(task.io_start_ns, task.io_end_ns);
        let bytes = task.bytes as f64;
        let columns = [whole, io, bytes / whole, bytes / io].map(scientific).join(",");
        out.push_str(&format!("{access},{},{columns}\n", task.task));
    }
    out
}

/// Seconds between two times, at least one nanosecond, so that no rate is infinite.
fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns).max(1) as f64 / 1e9
}
