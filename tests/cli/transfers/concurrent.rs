//! Workloads at the same time: what each gets of a device whose limit is known.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testbed::{FileSystem, HighPriority, Limits, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, Report, assert_near, measured};

/// Reads per second of the device.
const LIMIT: u32 = 2000;
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
        let limits = Limits { reads: Some(LIMIT.into()), ..Limits::default() };
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
        assert_near("alone", alone, LIMIT.into(), 0.03);
        assert_near("the paced one", paced, PACED, 0.03);
        assert_near("both", greedy + paced, LIMIT.into(), 0.03);
    });
}

/// What the device of the study on quality of service serves per second: MiB in each direction, and reads.
const SYSTEM: (u64, u64) = (100, 1000);

/// The device for it, and the ready study with a fifth of that, less 3 %, as promises. With `paced`, each job asks for a
/// fifth; otherwise for all it can get.
fn five_jobs(paced: bool) -> (LoopDevice, Desk, Program) {
    let (mib, reads) = SYSTEM;
    let bytes = Some(mib << 20);
    let limits = Limits { read_bytes: bytes, write_bytes: bytes, reads: Some(reads), writes: None };
    let builder = LoopDevice::builder().bytes(4 << 30).on_disk();
    let device = builder.file_system(FileSystem::Ext4).limits(limits).build().expect("a device");
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("studies/quality-of-service.toml"));
    let fifth = |all: u64| all as f64 / 5.0 * 0.97;
    let text = text
        .expect("a ready study")
        .replace("\"200MB/s\"", &format!("\"{}MiB/s\"", fifth(mib)))
        .replace("= 10_000", &format!("= {}", fifth(reads)));
    let desk = Desk::new();
    let mut program = desk.study(&text).args(["--verdict", "--set", "workload.*.size=64MiB"]);
    program = program.args(["--set", "target.storage.caches=0"]).limit(Duration::from_secs(7200));
    program = program
        .arg("--set")
        .arg(format!("target.storage.directory={}", device.mount_point().expect("mounted").display()));
    if paced {
        for (job, all) in [("checkpoint", mib), ("restart", mib), ("analysis", reads)] {
            program = program.args(["--set", &format!("workload.{job}.rate={}", all / 5)]);
        }
    }
    (device, desk, program)
}

/// The bytes or transfers per second of the case `id`, from which [`SYSTEM`] is the limit.
fn of_system(report: &Report, id: &str) -> f64 {
    let figures = report.0["figures"].as_array().expect("a list");
    let figure = figures.iter().find(|one| one["case"] == id).unwrap_or_else(|| panic!("no figure of {id}"));
    let per_second = figure["transfers_per_second"]["median"].as_f64().expect("a number");
    per_second / if id.contains("anal") { SYSTEM.1 as f64 } else { SYSTEM.0 as f64 }
}

/// Names of the cases of `count` jobs.
fn jobs(job: &str, plural: &str, count: usize) -> Vec<String> {
    let name = |number| match (count, number) {
        (1, _) => job.to_owned(),
        (_, 1) => format!("{plural}-{count}:{job}"),
        _ => format!("{plural}-{count}:{job}-{number}"),
    };
    (1..=count).map(name).collect()
}

/// One to five jobs, three kinds: with all they can get, they get the whole device; with a fifth each, a fifth each.
#[test]
#[expect(clippy::print_stdout, reason = "its results are written to the documents")]
#[ignore = "an hour: scripts/quality-of-service.sh"]
fn each_of_five_jobs_gets_its_fifth() {
    if skipped(Testbed::available()) {
        return;
    }
    let _priority = HighPriority::raise();
    for paced in [false, true] {
        let (_device, desk, program) = five_jobs(paced);
        let ended = program.run().expect("it runs");
        let report = desk.report();
        println!("{}", ended.stdout);
        for (job, plural) in
            [("checkpoint", "checkpoints"), ("restart", "restarts"), ("analysis", "analyses")]
        {
            for count in 1..=5 {
                let shares: Vec<f64> =
                    jobs(job, plural, count).iter().map(|id| of_system(&report, id)).collect();
                let sum: f64 = shares.iter().sum();
                println!("{plural} {count}, paced {paced}: sum {sum:.4}, shares {shares:.4?}");
                if paced {
                    shares.iter().for_each(|share| assert_near(job, *share, 0.2, 0.03));
                } else {
                    assert_near(job, sum, 1.0, 0.02);
                }
            }
        }
        let _ = ended.expect_code(0);
    }
}
