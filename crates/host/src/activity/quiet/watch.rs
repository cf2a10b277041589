//! Detects other users of the host and its devices while phases run.

use std::collections::BTreeSet;
use std::sync::Arc;

use plan::Bytes;
use record::Warning;

use super::processes;
use super::sample::{OthersActivity, Sample, name, of_which, processor_use, warning};
use crate::Root;

/// Less traffic by others than this may come from the log files of an idle host.
const OTHERS_BYTES_MIN: u64 = 1 << 20;
/// Share of the devices' bytes that others may move without a warning.
const OTHERS_BYTES_SHARE_MAX: f64 = 0.05;

/// Samples all processes and some devices before and after phases, never during a phase.
///
/// A window starts with a phase and ends with the first phase after which it is long enough to be
/// significant. If phases are shorter, the last one in the window reports the activity of the whole window.
/// Kernel threads are ignored, because they also do writeback and journaling for this process.
#[derive(Debug)]
pub struct QuietWatch {
    root: Root,
    devices: Vec<String>,
    mates: Arc<BTreeSet<u32>>,
    base: Option<Sample>,
}

impl QuietWatch {
    /// Creates a watch of the host under `root`, and of `devices` on it.
    #[must_use]
    pub fn new(root: &Root, devices: Vec<String>) -> Self {
        Self { root: root.clone(), devices, mates: Arc::default(), base: None }
    }

    /// Sets the processes that belong to this run, for example its other ranks on this host.
    #[must_use]
    pub fn with_mates(self, mates: BTreeSet<u32>) -> Self {
        Self { mates: Arc::new(mates), ..self }
    }

    /// The other processes that belong to the run.
    #[must_use]
    pub fn mates(&self) -> Arc<BTreeSet<u32>> {
        Arc::clone(&self.mates)
    }

    fn sample(&self) -> Sample {
        let mut sample = Sample::take(&self.root, &self.devices);
        sample.processes = sample.processes.with_mates(&self.mates);
        sample
    }

    /// Must be called before a phase starts.
    pub fn phase_starts(&mut self) {
        if self.base.as_ref().is_none_or(Sample::is_long_ago) {
            self.base = Some(self.sample());
        }
    }

    /// Must be called after a phase has ended. Returns a warning if others were active.
    pub fn phase_ended(&mut self) -> Option<Warning> {
        let base = self.base.take_if(|base| base.is_long_ago())?;
        let now = self.sample();
        let seen = others(&now, &base);
        self.base = Some(now);
        seen
    }
}

/// Returns a warning if others were active between two samples.
fn others(now: &Sample, base: &Sample) -> Option<Warning> {
    let seen: Vec<OthersActivity> = processor_use(now, base).into_iter().chain(traffic(now, base)).collect();
    warning(&seen)
}

/// Others count as active on the devices only if they moved bytes and the devices moved more than this
/// process requested. Either condition alone could be due to another device or the kernel's writeback.
fn traffic(now: &Sample, base: &Sample) -> Option<OthersActivity> {
    let (mut read, mut written) = (0_u64, 0_u64);
    for (now, base) in now.devices.iter().zip(&base.devices) {
        let delta = now.since(base);
        read = read.saturating_add(delta.read_bytes);
        written = written.saturating_add(delta.write_bytes);
    }
    let own = now.processes.own_moved_since(&base.processes);
    let others = now.processes.others_moved_since(&base.processes);
    let foreign = others.read_bytes.min(read.saturating_sub(own.read_bytes))
        + others.write_bytes.min(written.saturating_sub(own.write_bytes));
    let share = foreign as f64 / (read + written).max(1) as f64;
    if foreign < OTHERS_BYTES_MIN || share <= OTHERS_BYTES_SHARE_MAX {
        return None;
    }
    let busiest = now.processes.busiest_since(&base.processes, processes::bytes);
    // Its counters include children that ended at any time, so a value above the total is not its own.
    let most = busiest.map(|(id, one, by)| match by <= foreign {
        true => format!("{} alone {}", name(id, one), Bytes(by)),
        false => format!("most of it {} or its children", name(id, one)),
    });
    let words = format!(
        "others transferred {} ({:.0} % of the total) on the devices{}",
        Bytes(foreign),
        share * 100.0,
        of_which(most)
    );
    Some(OthersActivity { words, share })
}

#[cfg(test)]
mod tests {
    use super::{Sample, others};
    use crate::fake::Tree;

    /// Counters of `sda`: sectors read and written.
    fn disk(tree: Tree, read: u64, written: u64) -> Tree {
        let stat = format!("1 0 {read} 0 1 0 {written} 0 0 0 0");
        tree.files(&[("/sys/devices/virtual/block/sda/stat", &stat)])
    }

    /// A process that has used `ticks` and moved bytes.
    fn process(tree: Tree, id: u32, head: &str, ticks: u64, read: u64, written: u64) -> Tree {
        let stat = format!("{id} {head} 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 5 0");
        let io = format!("rchar: 9\nread_bytes: {read}\nwrite_bytes: {written}\n");
        tree.files(&[(&format!("/proc/{id}/stat"), &stat), (&format!("/proc/{id}/io"), &io)])
    }

    fn time(tree: Tree, busy: u64, idle: u64) -> Tree {
        tree.files(&[("/proc/stat", &format!("cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\n"))])
    }

    fn start() -> Tree {
        let tree = Tree::new(&[]).device("virtual/block/sda", "8:0", &[]);
        disk(time(tree, 0, 0), 0, 0)
    }

    fn sample(tree: &Tree) -> Sample {
        Sample::take(tree.root(), &["sda".to_owned()])
    }

    const OTHER: &str = "(tar (old)) S 1 1 1 0 -1 0";
    const KERNEL: &str = "(kworker/u8:1) S 2 0 0 0 -1 69238880";

    #[test]
    fn the_busiest_other_process_is_named() {
        let tree = process(start(), 3_000_077, OTHER, 0, 0, 0);
        let before = sample(&tree);
        let tree = process(time(tree, 90, 110), 3_000_077, OTHER, 80, 0, 0);
        let tree = process(tree, 3_000_078, "(idle) S 1 1 1 0 -1 0", 10, 0, 0);
        let seen = others(&sample(&tree), &before).unwrap().to_string();
        let expected =
            "not quiet: others used 45 % of the processors, tar (old) (process 3000077) alone 40 %";
        assert_eq!(seen, expected);
    }

    #[test]
    fn where_many_came_and_went_none_is_named() {
        let tree = process(start(), 3_000_077, OTHER, 0, 0, 0);
        let before = sample(&tree);
        let children = "3000077 (tar (old)) S 1 1 1 0 -1 0 0 0 0 0 1 0 80 0 20 0 1 0 5 0";
        let tree = time(tree, 90, 110).files(&[("/proc/3000077/stat", children)]);
        let seen = others(&sample(&tree), &before).unwrap().to_string();
        assert_eq!(seen, "not quiet: others used 40 % of the processors");
    }

    /// A shell's counters include the processor time of a child from before the phase, once the child has ended.
    #[test]
    fn others_do_not_use_more_than_the_processors_worked() {
        let tree = process(start(), 3_000_077, OTHER, 0, 0, 0);
        let before = sample(&tree);
        let tree = process(time(tree, 90, 110), 3_000_077, OTHER, 5_000, 0, 0);
        let seen = others(&sample(&tree), &before).unwrap().to_string();
        let expected = "not quiet: others used 45 % of the processors, most of it tar (old) (process 3000077) or its children";
        assert_eq!(seen, expected);
    }

    #[test]
    fn own_work_and_the_kernels_are_no_disturbance() {
        let own = std::process::id();
        let tree = process(process(start(), own, OTHER, 0, 0, 0), 3_000_001, KERNEL, 0, 0, 0);
        let before = sample(&tree);
        let tree = process(time(tree, 180, 20), own, OTHER, 80, 0, 1 << 30);
        let tree = disk(process(tree, 3_000_001, KERNEL, 100, 0, 0), 0, 2 << 21);
        assert_eq!(others(&sample(&tree), &before), None, "twice the bytes, as with a journal of data");
    }

    #[test]
    fn what_others_move_on_the_devices_is_told_with_who_it_was() {
        let own = std::process::id();
        let tree = process(process(start(), own, OTHER, 0, 0, 0), 3_000_077, OTHER, 0, 0, 0);
        let before = sample(&tree);
        let tree = process(time(tree, 0, 200), own, OTHER, 0, 300 << 20, 0);
        let tree = disk(process(tree, 3_000_077, OTHER, 0, 100 << 20, 0), 400 << 11, 0);
        let seen = others(&sample(&tree), &before).unwrap().to_string();
        assert!(seen.contains("others transferred 100 MiB (25 % of the total) on the devices"), "{seen}");
        assert!(seen.contains("tar (old) (process 3000077) alone 100 MiB"), "{seen}");
    }

    /// A shell's counters include the lifetime traffic of its children.
    #[test]
    fn nobody_is_said_to_have_moved_more_than_all() {
        let own = std::process::id();
        let tree = process(process(start(), own, OTHER, 0, 0, 0), 3_000_077, OTHER, 0, 0, 0);
        let before = sample(&tree);
        let tree = process(time(tree, 0, 200), own, OTHER, 0, 300 << 20, 0);
        let tree = disk(process(tree, 3_000_077, OTHER, 0, 1 << 30, 0), 400 << 11, 0);
        let seen = others(&sample(&tree), &before).unwrap().to_string();
        assert!(
            seen.contains("on the devices, most of it tar (old) (process 3000077) or its children"),
            "{seen}"
        );
    }

    #[test]
    fn what_others_move_elsewhere_is_not_told() {
        let own = std::process::id();
        let tree = process(process(start(), own, OTHER, 0, 0, 0), 3_000_077, OTHER, 0, 0, 0);
        let before = sample(&tree);
        let tree = process(time(tree, 0, 200), own, OTHER, 0, 300 << 20, 0);
        let tree = disk(process(tree, 3_000_077, OTHER, 0, 1 << 30, 0), 300 << 11, 0);
        assert_eq!(others(&sample(&tree), &before), None);
    }
}
