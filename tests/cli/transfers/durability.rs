//! Written data that a layer below the target loses keeps no promise, however it was synced.

use std::path::{Path, PathBuf};
use std::process::Command;

use testbed::{FileSystem, LoopDevice, Scratch, Testbed, skipped};

use crate::desk::{Desk, assert_says, run};

/// Writes with an fsync inside their time, and a promise that any rate keeps.
fn study(directory: &Path) -> String {
    format!(
        "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\n\
         [[target]]\nname = \"store\"\ndirectory = \"{}\"\nclient = \"local-to-server\"\ncaches = \"0\"\n\
         [[workload]]\nname = \"writes\"\nphases = [\"write\"]\ntransfer = \"1MiB\"\nsize = \"16MiB\"\n\
         direct = true\nfsync = \"close\"\n\
         [[commitment]]\nname = \"promise\"\nworkload = \"writes\"\nphase = \"write\"\nstatistic = \"median\"\n\
         bandwidth_at_least = \"1kB/s\"\n",
        directory.display()
    )
}

/// The judgement of that promise with its reasons.
fn judged(directory: &Path) -> (String, String) {
    let desk = Desk::new();
    let _ = run(&desk.study(&study(directory)));
    let verdict = run(&desk.ioproof("verdict --json").arg(desk.record())).stdout;
    let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
    (verdict["verdicts"][0]["judgement"].as_str().expect("a judgement").to_owned(), verdict.to_string())
}

/// An overlay over directories in `at`, unmounted when dropped.
struct Overlay(PathBuf);

impl Overlay {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        let directories = ["lower", "upper", "work", "merged"].map(|name| at.join(name));
        for one in &directories {
            std::fs::create_dir(one).expect("a directory");
        }
        let [lower, upper, work, merged] = directories;
        let layers = format!(
            "lowerdir={},upperdir={},workdir={}{options}",
            lower.display(),
            upper.display(),
            work.display()
        );
        let mounted =
            Command::new("mount").args(["-t", "overlay", "-o", &layers, "none"]).arg(&merged).output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(merged))
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn without_barriers(device: &LoopDevice) -> &Path {
    let at = device.mount_point().expect("mounted");
    let done = Command::new("mount").args(["-o", "remount,barrier=0"]).arg(at).status().expect("mount");
    assert!(done.success(), "ext4 can be mounted without barriers");
    at
}

#[test]
fn a_mount_without_barriers_is_found_in_any_layer_below_the_target() {
    if skipped(Testbed::available()) {
        return;
    }
    let builder = LoopDevice::builder().on_disk().file_system(FileSystem::Ext4);
    let outer = builder.build().expect("a device");
    let at = outer.mount_point().expect("mounted");
    // Another doubt may concern passes of milliseconds.
    let (_, said) = judged(at);
    assert!(said.contains("\"judgement\"") && !said.contains("mounted with"), "flushed to a disk: {said}");
    let at = without_barriers(&outer);
    let reason = format!("{} is mounted with nobarrier", at.display());
    let (judgement, said) = judged(at);
    assert_eq!(judgement, "DOUBTFUL", "{said}");
    assert_says(&said, &[&reason]);
    if let Some(overlay) = Overlay::mount(at, "") {
        let (judgement, said) = judged(&overlay.0);
        assert_eq!(judgement, "DOUBTFUL", "below an overlay: {said}");
        assert_says(&said, &[&reason]);
    }
    let image = at.join("image");
    let file = std::fs::File::create(&image).expect("an image");
    file.set_len(128 << 20).expect("a size");
    let inner = LoopDevice::builder().over(&image).bytes(128 << 20).file_system(FileSystem::Ext4).build();
    let inner = inner.expect("a device");
    let (judgement, said) = judged(inner.mount_point().expect("mounted"));
    assert_eq!(judgement, "DOUBTFUL", "below a loop device: {said}");
    assert_says(&said, &[&reason]);
}

#[test]
fn a_loop_device_whose_medium_is_memory_keeps_no_promise_of_writes() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().file_system(FileSystem::Ext4).build().expect("a device");
    let (judgement, said) = judged(device.mount_point().expect("mounted"));
    assert_eq!(judgement, "DOUBTFUL", "{said}");
    assert_says(&said, &[&format!("{} keeps its data in memory", device.name())]);
}

#[test]
fn an_overlay_that_leaves_out_fsync_keeps_no_promise_of_writes() {
    if skipped(Testbed::available()) {
        return;
    }
    let scratch = Scratch::on_disk().expect("a directory");
    let Some(overlay) = Overlay::mount(scratch.path(), ",volatile") else {
        skipped(Err("no volatile overlay can be mounted here".to_owned()));
        return;
    };
    let (judgement, said) = judged(&overlay.0);
    assert_eq!(judgement, "DOUBTFUL", "{said}");
    assert_says(&said, &[&format!("{} is mounted with", overlay.0.display()), "volatile"]);
}
