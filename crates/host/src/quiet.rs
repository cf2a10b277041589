//! Whether anything else uses the host before a measurement.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::Duration;

use record::Warning;

use crate::{CpuTimes, DeviceCounters, Root, facts};

/// A load of more than this share of the processors is not quiet.
const LOAD_SHARE_MAX: f64 = 0.5;
/// Other processes that use more than this share of all processors are not quiet: it is what an
/// idle host with its usual services stays below.
const OTHERS_SHARE_MAX: f64 = 0.05;

pub(crate) fn check(root: &Root, devices: &[String], interval: Duration) -> Option<Warning> {
    let mut seen = Vec::new();
    if interval.is_zero() {
        seen.extend(high_load(root));
        for counters in DeviceCounters::read(root, devices).unwrap_or_default() {
            seen.extend(under_way(&counters));
        }
    } else {
        let before = Snapshot::take(root, devices);
        thread::sleep(interval);
        let after = Snapshot::take(root, devices);
        seen.extend(after.others_since(&before));
        seen.extend(after.traffic_since(&before));
    }
    (!seen.is_empty()).then(|| Warning::NotQuiet { seen: seen.join("; ") })
}

/// The average number of tasks that ran or waited for a device in the last minute.
fn high_load(root: &Root) -> Option<String> {
    let load: f64 = root.read("/proc/loadavg").ok()?.split_ascii_whitespace().next()?.parse().ok()?;
    let cpus = facts::logical_cpus(root);
    (load > LOAD_SHARE_MAX * f64::from(cpus)).then(|| format!("load {load:.2} on {cpus} processors"))
}

fn under_way(counters: &DeviceCounters) -> Option<String> {
    (counters.under_way > 0)
        .then(|| format!("{} has {} requests under way", counters.device, counters.under_way))
}

/// What had been used up to a moment.
struct Snapshot {
    cpu: Option<CpuTimes>,
    processes: HashMap<u32, ProcessTime>,
    devices: Vec<DeviceCounters>,
}

/// Processor time of one process.
struct ProcessTime {
    command: String,
    ticks: u64,
}

impl Snapshot {
    fn take(root: &Root, devices: &[String]) -> Self {
        Self {
            cpu: CpuTimes::read(root).ok(),
            processes: processes(root),
            devices: DeviceCounters::read(root, devices).unwrap_or_default(),
        }
    }

    /// Processor time of all but this process, with the name of the busiest.
    fn others_since(&self, earlier: &Self) -> Option<String> {
        let (now, before) = (self.cpu?, earlier.cpu?);
        let all_ticks = now.all_ticks_since(&before);
        let used = |id: u32, process: &ProcessTime| {
            process.ticks.saturating_sub(earlier.processes.get(&id).map_or(0, |process| process.ticks))
        };
        let own = std::process::id();
        let own_ticks = self.processes.get(&own).map_or(0, |process| used(own, process));
        let others_ticks = now.busy_ticks_since(&before).saturating_sub(own_ticks);
        let share = others_ticks as f64 / all_ticks.max(1) as f64;
        if share <= OTHERS_SHARE_MAX {
            return None;
        }
        let busiest = self
            .processes
            .iter()
            .filter(|(id, process)| **id != own && used(**id, process) > 0)
            .max_by_key(|(id, process)| used(**id, process));
        let name = busiest
            .map(|(id, process)| format!(", most of it {} (process {id})", process.command))
            .unwrap_or_default();
        Some(format!("others used {:.0} % of the processors{name}", share * 100.0))
    }

    fn traffic_since(&self, earlier: &Self) -> Vec<String> {
        self.devices
            .iter()
            .zip(&earlier.devices)
            .filter_map(|(now, before)| {
                let delta = now.since(before);
                if delta.reads + delta.writes > 0 {
                    return Some(format!(
                        "{} carried {} reads and {} writes of others",
                        delta.device, delta.reads, delta.writes
                    ));
                }
                under_way(now)
            })
            .collect()
    }
}

/// Time of every process that can be seen, from `/proc/PID/stat` (`proc_pid_stat(5)`).
fn processes(root: &Root) -> HashMap<u32, ProcessTime> {
    fs::read_dir(root.path("/proc"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((id, process_time(&root.read(&format!("/proc/{id}/stat")).ok()?)?))
        })
        .collect()
}

/// The command stands in parentheses and may hold any character, these included.
fn process_time(stat: &str) -> Option<ProcessTime> {
    let (head, tail) = stat.rsplit_once(')')?;
    let (_, command) = head.split_once('(')?;
    // The state is field 3; user and system time are fields 14 and 15.
    let mut fields = tail.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(ProcessTime { command: command.to_owned(), ticks: user + system })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Snapshot, check, process_time};
    use crate::fake::Tree;

    fn tree(load: &str, under_way: &str) -> Tree {
        Tree::new(&[("/proc/loadavg", load), ("/sys/devices/system/cpu/online", "0-3\n")]).device(
            "virtual/block/sda",
            "8:0",
            &[("stat", &format!("0 0 0 0 0 0 0 0 {under_way} 0 0"))],
        )
    }

    #[test]
    fn a_host_with_little_load_and_idle_devices_is_quiet() {
        let tree = tree("0.20 0.10 0.10 1/200 4711\n", "0");
        assert_eq!(check(tree.root(), &["sda".into()], Duration::ZERO), None);
    }

    #[test]
    fn load_and_requests_under_way_are_both_told() {
        let tree = tree("3.50 0.10 0.10 1/200 4711\n", "7");
        let warning = check(tree.root(), &["sda".into()], Duration::ZERO).unwrap().to_string();
        assert!(warning.contains("load 3.50 on 4 processors"), "{warning}");
        assert!(warning.contains("sda has 7 requests under way"), "{warning}");
    }

    #[test]
    fn the_busiest_other_process_is_named() {
        let tree = Tree::new(&[
            ("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n"),
            ("/proc/77/stat", "77 (tar (old)) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0\n"),
        ]);
        let before = Snapshot::take(tree.root(), &[]);
        let tree = tree.files(&[
            ("/proc/stat", "cpu  80 0 10 100 10 0 0 0 0 0\n"),
            ("/proc/77/stat", "77 (tar (old)) S 1 1 1 0 -1 0 0 0 0 0 60 20 0 0 20 0 1 0 0\n"),
            ("/proc/78/stat", "78 (idle) S 1 1 1 0 -1 0 0 0 0 0 1 0 0 0 20 0 1 0 0\n"),
        ]);
        let seen = Snapshot::take(tree.root(), &[]).others_since(&before).unwrap();
        assert_eq!(seen, "others used 45 % of the processors, most of it tar (old) (process 77)");
    }

    #[test]
    fn this_processes_own_work_is_no_disturbance() {
        let own = std::process::id();
        let path = format!("/proc/{own}/stat");
        let tree = Tree::new(&[
            ("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n"),
            (&path, "1 (host) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0\n"),
        ]);
        let before = Snapshot::take(tree.root(), &[]);
        let tree = tree.files(&[
            ("/proc/stat", "cpu  80 0 0 120 0 0 0 0 0 0\n"),
            (&path, "1 (host) S 1 1 1 0 -1 0 0 0 0 0 80 0 0 0 20 0 1 0 0\n"),
        ]);
        assert_eq!(Snapshot::take(tree.root(), &[]).others_since(&before), None);
    }

    #[test]
    fn a_command_may_hold_parentheses_and_space() {
        let process = process_time("7 (a) b (c) R 1 1 1 0 -1 0 0 0 0 0 3 4 0 0").unwrap();
        assert_eq!((process.command.as_str(), process.ticks), ("a) b (c", 7));
        assert!(process_time("7 a").is_none());
    }
}
