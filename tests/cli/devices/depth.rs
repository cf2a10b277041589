//! Numbers of tasks used as a queue depth, on a device that serves four requests at a time.

use std::time::Duration;

use serde_json::Value;
use testbed::{Programme, ProgrammedFs, skipped};

use crate::desk::{Desk, assert_near, measured, run};

/// The maximum number of requests that the device serves concurrently, and how long each takes.
const DEPTH: usize = 4;
const LATENCY: Duration = Duration::from_millis(10);

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn measured_a_device_is_saturated_at_its_depth_and_more_tasks_give_nothing() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(curve_of_a_device_with_a_depth);
}

fn curve_of_a_device_with_a_depth(times: u32) {
    // Finding the knee needs rates that are accurate to a tenth, so the latency must be large compared with the
    // machine's overhead.
    let latency = LATENCY * times * times;
    let slow = Programme { write_latency: latency, ..Programme::default() };
    let disk = ProgrammedFs::builder().threads(DEPTH).programme(slow).mount().expect("a device");
    let desk = Desk::new();
    let study = format!(
        "[protocol]\nphase_min = \"100ms\"\n[[target]]\nname = \"d\"\ndirectory = \"{}\"\n\
         [[workload]]\nname = \"depth\"\nphases = [\"write\"]\nsharing = \"per-task\"\norder = \"random\"\n\
         transfer = \"4k\"\nsize = \"64k\"\nduration = \"1s\"\ntasks = \"1..16 times 2\"\nrepetitions = 3\n\
         [[workload]]\nname = \"counts\"\nphases = [\"write\"]\nsharing = \"per-task\"\n\
         transfer = [\"4k\", \"8k\", \"16k\"]\nsize = \"64k\"\nduration = \"500ms\"\ntasks = [4, 8]\n",
        disk.path().display()
    );
    let _ = run(&desk.study(&study)).expect_code(0);
    let report = desk.report().0;
    let figures = report["figures"].as_array().expect("a list");
    let points: Vec<&Value> = figures.iter().filter(|figure| figure["group"] == "depth").collect();
    assert_eq!(points.len(), 5);
    let per_task = 1.0 / latency.as_secs_f64();
    for (point, tasks) in points.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0_f64]) {
        let expected = tasks.min(DEPTH as f64) * per_task;
        assert_near(
            &format!("IOPS of {tasks} tasks"),
            number(&point["transfers_per_second"]["median"]),
            expected,
            0.25,
        );
    }
    let shapes = report["statements"]["curve"].as_array().expect("a list");
    let first = points[0]["number"].clone();
    let shape = shapes.iter().find(|one| one["figure"] == first).expect("a shape over tasks");
    assert!(shape["axis"] == "tasks" && shape["reaches_90"] == 4.0, "{shape}");
    assert!(shape["knee"].is_null() || shape["knee"] == 4.0, "{shape}");
    let best = &report["statements"]["best"][0];
    let own =
        report["figures"].as_array().expect("a list").iter().find(|own| own["number"] == best["figure"]);
    let own = own.expect("its figure");
    assert!(own["group"] == "depth" && number(&own["settings"][0]["value"]) >= 4.0, "{own}");

    // Two numbers of tasks compared with each other: both are beyond the depth.
    let pairs = report["statements"]["overlay"].as_array().expect("a list");
    // A single repetition cannot show a difference, and a pair without a difference is not reported.
    assert!(pairs.is_empty(), "{pairs:?}");
}
