//! The settings that the kernel of a test machine has, on that kernel.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use testbed::{LoopDevice, Testbed};

use crate::Root;
use crate::tuning::{
    Applied, HostSettings, Outcome, RestoreResult, TuningContext, TuningPlan, apply, profile, restore,
    steps_of,
};

const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const VM: [&str; 5] = [
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_bytes",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/dirty_background_bytes",
];

use super::fake_kernel::opened;

fn tune(state: &Path, devices: &[PathBuf], names: &[&str]) -> Vec<Applied> {
    let root = Root::default();
    let settings = HostSettings::new(&root);
    let mut context = TuningContext::new(&root, &settings, devices).unwrap();
    let profiles: Vec<_> = names.iter().map(|name| profile(name).unwrap()).collect();
    let plan = TuningPlan::new(&mut context, Vec::new(), &steps_of(&profiles));
    let mut ledger = opened(state, &root);
    apply(&plan, &root, &settings, &mut ledger, 0, &mut |_| {}).unwrap()
}

fn put_back(state: &Path) -> RestoreResult {
    let root = Root::default();
    let ledger = opened(state, &root);
    restore(ledger, &root, &HostSettings::new(&root), false).unwrap()
}

/// All that can be read below the queue of a device.
fn queue(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(queue(&path));
        } else if let Ok(text) = fs::read_to_string(&path) {
            all.insert(path, text);
        }
    }
    all
}

/// A loop device whose queue is left as it was found: it stays when the device is let go of.
struct Borrowed {
    device: LoopDevice,
    queue: PathBuf,
    before: Vec<(&'static str, String)>,
}

impl Borrowed {
    fn new() -> Self {
        let device = LoopDevice::builder().bytes(1 << 20).build().unwrap();
        let queue = Path::new("/sys/block").join(device.name()).join("queue");
        let files = ["scheduler", "nr_requests", "read_ahead_kb", "rq_affinity", "nomerges", "wbt_lat_usec"];
        let before = files.map(|file| (file, fs::read_to_string(queue.join(file)).unwrap()));
        Self { device, queue, before: before.into() }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        for (file, text) in &self.before {
            let _ = fs::write(self.queue.join(file), crate::devices::block::chosen(text.trim()));
        }
    }
}

#[test]
fn the_queue_of_a_device_comes_back_with_its_scheduler_and_all_that_goes_with_it() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let borrowed = Borrowed::new();
    let directory = borrowed.queue.clone();
    let devices = [borrowed.device.device().to_owned()];
    for (scheduler, parameter) in [("mq-deadline", "fifo_batch"), ("bfq", "slice_idle_us")] {
        fs::write(directory.join("scheduler"), scheduler).unwrap();
        fs::write(directory.join("nr_requests"), "64").unwrap();
        fs::write(directory.join("read_ahead_kb"), "120").unwrap();
        fs::write(directory.join("iosched").join(parameter), "7").unwrap();
        let before = queue(&directory);
        let state = tempfile::tempdir().unwrap();

        let steps = ["nr-requests"];
        assert!(
            matches!(&tune(state.path(), &devices, &steps)[0].outcome, Outcome::Set(text) if text == "1024")
        );
        let steps = ["scheduler", "read-ahead", "rq-affinity", "no-merges", "writeback-throttling"];
        let applied = tune(state.path(), &devices, &steps);
        assert!(applied.iter().all(|one| matches!(one.outcome, Outcome::Set(_))), "{applied:?}");
        let read = |file: &str| fs::read_to_string(directory.join(file)).unwrap();
        assert!(read("scheduler").starts_with("[none]"));
        assert_eq!((read("read_ahead_kb").trim(), read("nomerges").trim()), ("8192", "2"));

        let restored = put_back(state.path());
        assert!(!restored.is_partial(), "{restored:?}");
        assert_eq!(queue(&directory), before, "{scheduler}");
    }
}

#[test]
fn a_value_that_the_kernel_refuses_is_told_and_the_device_stays_as_it_is() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let borrowed = Borrowed::new();
    let name = borrowed.device.name();
    let root = Root::default();
    let settings = HostSettings::new(&root);
    let setting = crate::tuning::Setting::file(format!("/sys/block/{name}/queue/nr_requests"));
    // Without a scheduler the queue is as long as the driver says, and no longer.
    let outcome = super::super::apply::set(&settings, &setting, "4096");
    assert!(
        matches!(&outcome, Outcome::Refused(why) if why.contains("more than the device supports")),
        "{outcome:?}"
    );
    let setting = crate::tuning::Setting::file(format!("/sys/block/{name}/queue/read_ahead_kb"));
    // Whole pages are read ahead.
    let outcome = super::super::apply::set(&settings, &setting, "8191");
    assert_eq!(outcome, Outcome::Changed("8188".to_owned()));
}

/// The host's own values, put back also when the test fails. Tests that change them wait for each other, in
/// other processes too.
struct RestoredValues {
    values: Vec<(&'static str, String)>,
    _lock: File,
}

impl RestoredValues {
    fn all() -> Self {
        let lock = File::open(THP).unwrap();
        lock.lock().unwrap();
        let read = |path: &'static str| (path, fs::read_to_string(path).unwrap().trim().to_owned());
        let thp = fs::read_to_string(THP).unwrap();
        let mut values = vec![(THP, crate::devices::block::chosen(thp.trim()).to_owned())];
        values.extend(VM.map(read));
        Self { values, _lock: lock }
    }
}

impl Drop for RestoredValues {
    fn drop(&mut self) {
        // Of each pair the one in use: the kernel sets the other.
        for (path, value) in &self.values {
            if !(value == "0" && path.contains("dirty")) {
                fs::write(path, value).unwrap();
            }
        }
    }
}

#[test]
fn memory_settings_of_this_host_come_back_in_the_form_they_had() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let kept = RestoredValues::all();
    for background in
        [("/proc/sys/vm/dirty_background_bytes", "67108864"), ("/proc/sys/vm/dirty_background_ratio", "7")]
    {
        for (path, value) in [(THP, "madvise"), (VM[0], "61"), (VM[1], "21"), background] {
            fs::write(path, value).unwrap();
        }
        let now = || -> Vec<String> {
            [THP].into_iter().chain(VM).map(|path| fs::read_to_string(path).unwrap()).collect()
        };
        let before = now();
        let state = tempfile::tempdir().unwrap();
        let applied = tune(state.path(), &[], &["thp-never", "swappiness", "dirty-ratios"]);
        assert_eq!(applied.len(), 4);
        assert!(applied.iter().all(|one| matches!(one.outcome, Outcome::Set(_))), "{applied:?}");
        assert_eq!(now()[1..], ["10\n", "40\n", "0\n", "10\n", "0\n"]);
        assert!(now()[0].contains("[never]"));
        let restored = put_back(state.path());
        assert!(!restored.is_partial(), "{restored:?}");
        assert_eq!(now(), before);
    }
    drop(kept);
}
