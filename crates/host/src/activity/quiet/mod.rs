//! Detects other users of the host, before a measurement and during it.

mod processes;
mod sample;
mod watch;

use std::thread;
use std::time::Duration;

use record::Warning;

use self::sample::{OthersActivity, Sample, processor_use, warning};
pub use self::watch::QuietWatch;
use crate::{DeviceCounters, Root, facts};

/// Maximum load of a quiet host, as a share of the processors.
const LOAD_SHARE_MAX: f64 = 0.5;

pub(crate) fn check(root: &Root, devices: &[String], interval: Duration) -> Option<Warning> {
    if !interval.is_zero() {
        let before = Sample::take(root, devices);
        thread::sleep(interval);
        return warning(&moved_by_others(&Sample::take(root, devices), &before));
    }
    let mut seen: Vec<OthersActivity> =
        high_load(root).map(OthersActivity::of_no_share).into_iter().collect();
    for counters in DeviceCounters::read(root, devices).unwrap_or_default() {
        seen.extend(under_way(&counters).map(OthersActivity::of_no_share));
    }
    warning(&seen)
}

/// The traffic between two samples during which this process did nothing, so that all of it is from
/// others.
fn moved_by_others(now: &Sample, before: &Sample) -> Vec<OthersActivity> {
    let devices = now.devices.iter().zip(&before.devices).filter_map(|(now, before)| {
        let delta = now.since(before);
        if delta.reads + delta.writes == 0 {
            return under_way(now);
        }
        let DeviceCounters { device, reads, writes, .. } = delta;
        Some(format!("{device} processed {reads} reads and {writes} writes by others"))
    });
    processor_use(now, before).into_iter().chain(devices.map(OthersActivity::of_no_share)).collect()
}

/// Describes the load average of the last minute if it is high. It is only reported if as many tasks are
/// running now, because a load that has ended, for example an earlier run, does not disturb.
fn high_load(root: &Root) -> Option<String> {
    let text = root.read("/proc/loadavg").ok()?;
    let mut fields = text.split_ascii_whitespace();
    let load: f64 = fields.next()?.parse().ok()?;
    let running: u32 = fields.nth(2)?.split_once('/')?.0.parse().ok()?;
    let cpus = facts::logical_cpus(root);
    let most = LOAD_SHARE_MAX * f64::from(cpus);
    // The sampling thread is itself one of the running tasks.
    let others = running.saturating_sub(1);
    (load > most && f64::from(others) > most).then(|| format!("load {load:.2} on {cpus} processors"))
}

fn under_way(counters: &DeviceCounters) -> Option<String> {
    let requests = if counters.under_way == 1 { "request" } else { "requests" };
    (counters.under_way > 0)
        .then(|| format!("{} has {} {requests} in flight", counters.device, counters.under_way))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::check;
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
        let tree = tree("3.50 0.10 0.10 5/200 4711\n", "7");
        let warning = check(tree.root(), &["sda".into()], Duration::ZERO).unwrap().to_string();
        assert!(warning.contains("load 3.50 on 4 processors"), "{warning}");
        assert!(warning.contains("sda has 7 requests in flight"), "{warning}");
    }

    #[test]
    fn a_load_that_is_over_is_not_told() {
        let tree = tree("3.50 0.10 0.10 1/200 4711\n", "0");
        assert_eq!(check(tree.root(), &["sda".into()], Duration::ZERO), None);
    }
}
