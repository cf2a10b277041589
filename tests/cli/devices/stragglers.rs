//! One slow member of a stripe: how much it slows down all members, and which member it is.

use std::fmt::Write as _;

use testbed::{Limits, LoopDevice, Rig, Testbed, skipped};

use crate::desk::{Desk, allow_commands, assert_near, measured, run};
use crate::hosts::{list, number, text};

const MEMBERS: usize = 12;
const SLOW: usize = 4;
const MB: u64 = 1_000_000;

/// Eleven members could deliver 40 MB/s each, the twelfth 10 MB/s. A stripe waits for its slowest member every time,
/// so each of the twelve delivers only that rate. Measuring each member alone shows which one is slow.
#[test]
fn measured_a_stripe_is_as_fast_as_its_slowest_member_and_that_is_found() {
    if skipped(Testbed::available()) {
        return;
    }
    let rig = Rig::of(MEMBERS, &LoopDevice::builder().limits(Limits::bandwidth(40 * MB)));
    let mut rig = rig.expect("twelve devices");
    let slow = rig.device_mut(SLOW).expect("a member");
    slow.limit(Limits::bandwidth(10 * MB)).expect("a limit");
    measured(|times| {
        let devices: Vec<String> = rig
            .devices()
            .iter()
            .map(|device| format!("{:?}", device.device().display().to_string()))
            .collect();
        let desk = Desk::new();
        let mut study = String::new();
        for (name, recipe) in [("alone", "raw"), ("together", "btrfs")] {
            let _ = write!(
                study,
                "[[layout]]\nname = \"{name}\"\nrecipe = \"{recipe}\"\ndevices = [{}]\n",
                devices.join(", ")
            );
            if recipe == "btrfs" {
                let _ = writeln!(study, "mount_point = {:?}", desk.path("mnt"));
                study += "mount_options = \"noatime,nodatacow\"\n";
            }
            let _ = writeln!(study, "[[target]]\nname = \"{name}\"\nlayout = \"{name}\"");
        }
        let _ = write!(
            study,
            "[[workload]]\nname = \"each\"\ntarget = \"alone\"\nmember = \"0..11\"\ntasks = 1\n\
             direct = true\ntransfer = \"1MiB\"\nsize = \"{}MiB\"\n\
             [[workload]]\nname = \"all\"\ntarget = \"together\"\ntasks = 12\nsharing = \"per-task\"\n\
             direct = true\ntransfer = \"1MiB\"\nsize = \"{}MiB\"\n",
            12 * times,
            16 * times,
        );
        let _ = run(&allow_commands(&desk.study(&study))).expect_code(0);
        assert_eq!(desk.report().state(), "complete");
        let figures = list(&desk, "figures");
        let rates = |target: &str| -> Vec<f64> {
            let of = figures.iter().filter(|f| text(&f["target"]) == target && text(&f["phase"]) == "read");
            of.map(|figure| number(&figure["bytes_per_second"]["median"])).collect()
        };
        let alone = rates("alone");
        assert_eq!(alone.len(), MEMBERS);
        let slowest = alone.iter().copied().fold(f64::INFINITY, f64::min);
        assert_near("the slow member alone", slowest, 10e6, 0.15);
        assert!(alone[SLOW] <= slowest, "member {SLOW} of {alone:?}");
        assert_near("the stripe", rates("together")[0], MEMBERS as f64 * 10e6, 0.15);
    });
}
