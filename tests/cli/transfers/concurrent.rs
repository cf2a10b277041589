//! Workloads at the same time: what each gets of a device whose limit is known.

use serde_json::Value;
use testbed::{FileSystem, Limits, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, Report, assert_near, measured};

/// Reads per second of the device.
const LIMIT: f64 = 2000.0;
/// The rate of the workload that is paced, and what is left for the other one.
const PACED: f64 = 400.0;

fn rate(report: &Report, case: &str) -> f64 {
    let figures = report.0["figures"].as_array().expect("a list");
    let figure = figures.iter().find(|one| one["case"] == case && one["phase"] == "read");
    let figure: &Value = figure.unwrap_or_else(|| panic!("no figure of {case}"));
    figure["transfers_per_second"]["median"].as_f64().expect("a number")
}

/// Both read at random from a device that serves 2000 reads/s. The paced one asks for a fifth of it, gets it, and the
/// greedy one the rest, alone all of it.
#[test]
fn measured_a_paced_workload_keeps_its_share_beside_a_greedy_one() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(|_| {
        let limits = Limits { reads: Some(LIMIT as u64), ..Limits::default() };
        let device =
            LoopDevice::builder().file_system(FileSystem::Ext4).limits(limits).build().expect("a device");
        let desk = Desk::new();
        let workload = |name: &str, keys: &str| {
            format!(
                "[[workload]]\nname = \"{name}\"\nphases = [\"read\"]\norder = \"random\"\ntransfer = \"4KiB\"\n\
                 size = \"64MiB\"\ndirect = true\nfill = true\nduration = \"5s\"\n{keys}\n"
            )
        };
        let study = format!(
            "[[target]]\nname = \"t\"\ndirectory = \"{}\"\n{}{}[[concurrent]]\nname = \"both\"\n\
             workloads = [\"greedy\", \"paced\"]\n",
            device.mount_point().expect("mounted").display(),
            workload("greedy", "tasks = 8"),
            workload("paced", &format!("tasks = 8\nrate = {PACED}")),
        );
        let _ = desk.study(&study).run().expect("it runs").expect_code(0);
        let report = desk.report();
        let [alone, greedy, paced] = ["greedy", "both:greedy", "both:paced"].map(|case| rate(&report, case));
        assert_near("alone", alone, LIMIT, 0.03);
        assert_near("the paced one", paced, PACED, 0.03);
        assert_near("both", greedy + paced, LIMIT, 0.03);
    });
}
