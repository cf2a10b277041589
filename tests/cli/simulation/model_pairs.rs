//! Devices with known behaviour and models fitted to them, run with the same study; the median of five pairs is
//! compared.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use testbed::{FileSystem, Limits, LoopDevice, Programme, ProgrammedFs, Testbed, skipped};

use crate::desk::{Desk, assert_near, measured, run};

const PAIRS: u32 = 5;
/// The maximum number of requests that the file system serves concurrently.
const SLOTS: usize = 4;
/// The smallest latency for which the 99th percentile is compared.
const LATENCY: Duration = Duration::from_millis(5);

/// The paths of the percentiles within a latency, in nanoseconds.
const PERCENTILES: [&str; 4] = ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns"];

/// The results of a run for one number of tasks: transfers per second, and [`PERCENTILES`].
type Found = [f64; 5];

fn found(desk: &Desk, name: &str, group: &str) -> Found {
    let report = run(&desk.ioproof(&format!("report {name} --json"))).expect_code(0);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let figure = report["figures"].as_array().expect("a list").iter().find(|one| one["group"] == group);
    let figure = figure.unwrap_or_else(|| panic!("no figure of {group}: {report}"));
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number: {figure}"));
    let [p50, p90, p99, p99_9] = PERCENTILES.map(|name| number(&figure["latency"][0][name]));
    [number(&figure["transfers_per_second"]["median"]), p50, p90, p99, p99_9]
}

/// The ratios of simulated to measured values, each the median over all pairs; they are printed.
#[expect(clippy::print_stdout, reason = "the log of the tests has the error of each percentile")]
fn ratios(group: &str, pairs: &[(Found, Found)]) -> Found {
    let ratios: Found = std::array::from_fn(|place| {
        let mut all: Vec<f64> =
            pairs.iter().map(|(measured, simulated)| simulated[place] / measured[place]).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    });
    let [rate, latencies @ ..] = ratios;
    println!("{group}: simulated ÷ measured: rate {rate:.3}, p50, p90, p99, p99.9 {latencies:.3?}");
    ratios
}

/// Runs the study on the storage and on `model`, alternating.
fn pairs(desk: &Desk, study: &str, model: &str, group: &str) -> Vec<(Found, Found)> {
    fs::write(desk.path("pair.toml"), study).expect("a study");
    let pair = |number: u32| {
        let of = |name: &str, options: &str| {
            let name = format!("{group}-{name}-{number}");
            let _ = run(&desk.ioproof(&format!("run pair.toml --yes --out {name} {options}"))).expect_code(0);
            found(desk, &name, group)
        };
        (of("measured", ""), of("simulated", &format!("--model {model} --seed {number}")))
    };
    (0..PAIRS).map(pair).collect()
}

#[test]
fn measured_a_model_fitted_to_a_file_system_of_known_latency_gives_its_rates_and_percentiles() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(programmed);
}

fn programmed(times: u32) {
    let slow = Programme { write_latency: LATENCY * times, ..Programme::default() };
    let disk = ProgrammedFs::builder().threads(SLOTS).programme(slow).mount().expect("a device");
    let desk = Desk::new();
    let study = |tasks: &str, repetitions: u32| {
        format!(
            "[protocol]\nphase_min = \"100ms\"\n[[target]]\nname = \"d\"\ndirectory = \"{}\"\n\
             [[workload]]\nname = \"w\"\nphases = [\"write\"]\nsharing = \"per-task\"\norder = \"random\"\n\
             direct = true\ntransfer = \"4k\"\nsize = \"64k\"\nduration = \"{}s\"\ntasks = {tasks}\n\
             repetitions = {repetitions}\n",
            disk.path().display(),
            2 * times
        )
    };
    let _ = run(&desk.study(&study("[1, 2, 3, 4, 6, 8, 12]", 2))).expect_code(0);
    let _ = run(&desk.ioproof("model fit record --in-range --out fitted.toml")).expect_code(0);
    // A number of tasks that was not measured for the fit.
    let [rate, p50, _, p99, _] = ratios("latency", &pairs(&desk, &study("16", 1), "fitted.toml", "w"));
    assert_near("rate", rate, 1.0, 0.05);
    assert_near("p50", p50, 1.0, 0.10);
    assert_near("p99", p99, 1.0, 0.10);
}

/// Bytes and reads per second at which the kernel throttles the device.
const LIMITS: Limits =
    Limits { read_bytes: Some(20_000_000), write_bytes: None, reads: Some(2000), writes: None };

#[test]
fn measured_a_model_with_the_limits_of_a_throttled_device_gives_its_rates() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(throttled);
}

fn throttled(times: u32) {
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).limits(LIMITS).build().expect("a device");
    let desk = Desk::new();
    fs::write(
        desk.path("throttle.toml"),
        "model = { name = \"a throttled device\" }\nnode = { processors = 4 }\n\
         [[device]]\nname = \"loop\"\nslots = 64\nread = { time = \"50us\" }\nwrite = { time = \"50us\" }\n\
         limits = { read_bandwidth = \"20MB/s\", read_iops = 2000 }\n\
         [[layout]]\nname = \"l\"\ndevices = \"loop\"\n",
    )
    .expect("a model");
    for (group, transfer) in [("small", "4k"), ("large", "256k")] {
        let study = format!(
            "[protocol]\nphase_min = \"100ms\"\n[[target]]\nname = \"d\"\ndirectory = \"{}\"\n\
             [[workload]]\nname = \"{group}\"\nphases = [\"read\"]\nsharing = \"per-task\"\norder = \"random\"\n\
             direct = true\nfill = true\ntransfer = \"{transfer}\"\nsize = \"16MiB\"\nduration = \"{}s\"\ntasks = 8\n\
             repetitions = 1\n",
            device.mount_point().expect("mounted").display(),
            // At the start, the kernel's throttle passes the budget that has accumulated in a time slice.
            4 * times
        );
        // A throttle limits the rate, not the latency.
        let [rate, ..] = ratios(group, &pairs(&desk, &study, "throttle.toml", group));
        assert_near(&format!("rate of {group} reads"), rate, 1.0, 0.05);
    }
}
