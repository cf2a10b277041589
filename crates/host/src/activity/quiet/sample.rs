//! The usage of the host and its devices by all processes at one time, and the usage by others between
//! two times.

use std::time::{Duration, Instant};

use record::Warning;

use super::processes::{self, Process, Processes};
use crate::{CpuTimes, DeviceCounters, Root};

/// Processor time is counted in ticks of 10 ms, so a share over a shorter window would be mostly rounding
/// error.
const WINDOW_MIN: Duration = Duration::from_millis(500);
/// A sample takes at most this fraction of the watched time.
const SAMPLE_PART: u32 = 50;
/// Maximum share of all processors that other processes use on a quiet host. An idle host with its usual
/// services stays below it.
const OTHERS_SHARE_MAX: f64 = 0.05;
/// Minimum share at which a process is named.
const NAMED_SHARE_MIN: f64 = 0.01;

/// Usage at one time.
#[derive(Debug)]
pub(super) struct Sample {
    at: Instant,
    /// Processor time used for the sample. Wall time is not used, because waiting for others must not
    /// lengthen the window.
    took: Duration,
    cpu: Option<CpuTimes>,
    pub(super) processes: Processes,
    pub(super) devices: Vec<DeviceCounters>,
}

impl Sample {
    pub(super) fn take(root: &Root, devices: &[String]) -> Self {
        let before = thread_time();
        let cpu = CpuTimes::read(root).ok();
        let processes = Processes::now(root, !devices.is_empty());
        let devices = DeviceCounters::read(root, devices).unwrap_or_default();
        let took = thread_time().saturating_sub(before);
        Self { at: Instant::now(), took, cpu, processes, devices }
    }

    pub(super) fn is_long_ago(&self) -> bool {
        self.at.elapsed() >= WINDOW_MIN.max(self.took * SAMPLE_PART)
    }
}

/// Processor time used by this thread.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Activity of other processes.
pub(super) struct OthersActivity {
    pub(super) words: String,
    /// Their share of processor time or of bytes.
    pub(super) share: f64,
}

impl OthersActivity {
    pub(super) fn of_no_share(words: String) -> Self {
        Self { words, share: 0.0 }
    }
}

/// The warning about the activity of others, or `None` if there was none.
pub(super) fn warning(seen: &[OthersActivity]) -> Option<Warning> {
    let share = seen.iter().map(|one| one.share).max_by(f64::total_cmp)?;
    let words: Vec<&str> = seen.iter().map(|one| one.words.as_str()).collect();
    Some(Warning::NotQuiet { seen: words.join("; "), share })
}

/// The processor time used by others, if significant.
pub(super) fn processor_use(now: &Sample, base: &Sample) -> Option<OthersActivity> {
    let (cpu, before) = (now.cpu?, base.cpu?);
    let all = cpu.all_ticks_since(&before).max(1) as f64;
    // The counters of a process include children that ended at any time; all together cannot have used more than the
    // processors worked.
    let busy = cpu.busy_ticks_since(&before);
    let share = now.processes.others_ticks_since(&base.processes).min(busy) as f64 / all;
    if share <= OTHERS_SHARE_MAX {
        return None;
    }
    let busiest = now.processes.busiest_since(&base.processes, processes::ticks);
    // If there are many short-lived processes, none of them stands out.
    let most = busiest.filter(|(.., by)| *by as f64 / all >= NAMED_SHARE_MIN);
    let most = most.map(|(id, one, by)| match by <= busy {
        true => format!("{} alone {:.0} %", name(id, one), by as f64 / all * 100.0),
        false => format!("most of it {} or its children", name(id, one)),
    });
    let words = format!("others used {:.0} % of the processors{}", share * 100.0, of_which(most));
    Some(OthersActivity { words, share })
}

pub(super) fn name(id: u32, process: &Process) -> String {
    format!("{} (process {id})", process.command)
}

pub(super) fn of_which(most: Option<String>) -> String {
    most.map(|most| format!(", {most}")).unwrap_or_default()
}
