//! Repeated measurements: two runs compared with each other, and repetitions that scatter.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testbed::{Programme, ProgrammedFs, skipped};

use crate::desk::{Desk, assert_near, assert_says, events, measured, run};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn latency(millis: u64) -> Programme {
    Programme { write_latency: Duration::from_millis(millis), ..Programme::default() }
}

/// Three points on a shared layer, with a device slow enough that a busy host does not matter. `record` is where they
/// are written.
fn sweep(desk: &Desk, disk: &Path, record: &str) {
    let study = format!(
        "[protocol]\nphase_min = \"100ms\"\n[[target]]\nname = \"d\"\ndirectory = \"{}\"\nlayer = \"shared\"\n\
         [[workload]]\nname = \"w\"\nphases = [\"write\"]\nsharing = \"per-task\"\ntransfer = \"4k\"\n\
         size = \"64k\"\nduration = \"1s\"\nrate = 30\ntasks = [1, 2, 3]\n",
        disk.display()
    );
    fs::write(desk.path("sweep.toml"), study).expect("a study");
    let _ = run(&desk.ioproof(&format!("run sweep.toml --yes --out {record}"))).expect_code(0);
}

/// In the second run, the device cannot keep up with the third task.
#[test]
fn measured_a_second_measurement_is_laid_over_the_first_with_the_largest_gap() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|_| {
        let disk = ProgrammedFs::builder().programme(latency(2)).mount().expect("a device");
        let desk = Desk::new();
        sweep(&desk, disk.path(), "first");
        disk.set_programme_of("ioproof-d.data.00000002", latency(500));
        sweep(&desk, disk.path(), "second");

        let said = run(&desk.ioproof("compare first second --format json")).expect_code(0).stdout;
        let compared: Value = serde_json::from_str(&said).expect("JSON");
        let text = run(&desk.ioproof("compare --full first second")).expect_code(0).stdout;
        let rows = compared["comparisons"].as_array().unwrap_or_else(|| panic!("no rows in {compared}"));
        let rates: Vec<&Value> = rows.iter().filter(|row| row["latency_of"].is_null()).collect();
        assert_eq!(rates.len(), 3, "{compared}");
        for (row, changes) in rates.iter().zip([-0.1..0.1, -0.1..0.1, -0.7..-0.2]) {
            assert!(changes.contains(&number(&row["change"])), "{row} is not in {changes:?}");
        }
        assert_says(&text, &["largest gap", "w:tasks=3"]);

        let page = run(&desk.ioproof("compare first second --format html --output page.html"));
        assert_eq!(page.expect_code(0).stdout, "");
        let page = fs::read_to_string(desk.path("page.html")).expect("the page");
        assert_says(&page, &["the second run"]);
        let (_, charts) = page.split_once("id=\"charts\">").expect("charts");
        let charts: Vec<Value> =
            serde_json::from_str(charts.split_once("</script>").expect("an end").0).expect("JSON");
        let lines: Vec<&Value> = charts
            .iter()
            .filter(|chart| chart["id"].as_str().is_some_and(|id| id.starts_with("chart-sweep")))
            .flat_map(|chart| chart["data"].as_array().expect("lines"))
            .collect();
        let [first, second] = lines[..] else { panic!("two lines, one for each run: {lines:?}") };
        assert_eq!((&first["line"]["dash"] == "dot", &second["line"]["dash"] == "dot"), (false, true));
        assert_eq!(first["x"], second["x"]);

        // When merged into one study, equal points become repetitions.
        let merged = run(&desk.ioproof("report first second --format json")).expect_code(0).stdout;
        let merged: Value = serde_json::from_str(&merged).expect("JSON");
        let figures = merged["figures"].as_array().expect("a list");
        assert_eq!(figures.len(), 3);
        assert!(figures.iter().all(|figure| figure["repetitions"].as_array().map(Vec::len) == Some(2)));
    });
}

/// Bytes per second of the device while its cache has space.
const FAST: u64 = 3_000_000;
const SIZES_KIB: [u64; 3] = [384, 768, 1536];
const REPETITIONS: usize = 5;
/// Sizes that fit into the cache.
const FIT: usize = 2;

fn bandwidth(share: u64) -> Programme {
    Programme { write_bandwidth: Some(FAST / share), ..Programme::default() }
}

/// With the largest size, every other repetition finds the cache of the device full.
#[test]
fn measured_repetitions_are_all_shown_and_the_size_where_they_begin_to_scatter() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|times| {
        let bandwidth = |share| bandwidth(share * u64::from(times));
        let disk = ProgrammedFs::builder().programme(bandwidth(1)).mount().expect("a device");
        let desk = Desk::new();
        let sizes: Vec<String> = SIZES_KIB.iter().map(|size| format!("\"{size}KiB\"")).collect();
        let study = format!(
            "[protocol]\nrepetitions = {REPETITIONS}\nphase_min = \"1ms\"\n[[target]]\nname = \"d\"\ndirectory = \"{}\"\n\
         [[workload]]\nname = \"w\"\nphases = [\"write\"]\ntransfer = \"64KiB\"\nsize = [{}]\n",
            disk.path().display(),
            sizes.join(", ")
        );
        let mut running = desk.study(&study).spawn().expect("it starts");
        let mut set = 0;
        while !running.has_ended().expect("its state is known") {
            let done = events(&desk, "phase-finished");
            if done != set {
                set = done;
                if done / REPETITIONS >= FIT {
                    disk.set_programme(bandwidth(if done % 2 == 1 { 3 } else { 1 }));
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = running.wait().expect("it ends").expect_code(0);

        let report = desk.report().0;
        let found = report["statements"]["dispersion"].as_array().expect("a list");
        let [one] = &found[..] else { panic!("one curve: {found:?}") };
        assert_eq!(one["axis"], "size");
        let figures = report["figures"].as_array().expect("a list");
        assert_eq!(figures.len(), SIZES_KIB.len());
        let mut worst: f64 = 0.0;
        for (place, (figure, kib)) in figures.iter().zip(SIZES_KIB).enumerate() {
            assert_eq!(
                (&figure["phase"], &figure["settings"][0]["value"]),
                (&"write".into(), &(kib << 10).into())
            );
            let all = figure["repetitions"].as_array().expect("a list");
            assert_eq!(all.len(), REPETITIONS, "every repetition is shown");
            let rate = &figure["bytes_per_second"];
            let variation = number(&rate["deviation"]) / number(&rate["mean"]);
            assert_eq!(variation > 0.35, place >= FIT, "{kib} KiB: {all:?}");
            let times = || all.iter().map(|one| number(&one["wall_ns"]) / 1e9);
            worst = worst.max(times().fold(0.0, f64::max) - times().fold(f64::INFINITY, f64::min));
        }
        assert_eq!(one["onset"], (SIZES_KIB[FIT] << 10) as f64, "{one}");
        assert_near("worst", number(&one["worst_seconds"]), worst, 1e-9);
        let text = desk.tables();
        assert_says(&text, &["Spread of the repetitions", "spread more from"]);
    });
}

/// Mean and deviation are computed from the repetitions that are shown.
#[test]
fn means_have_their_deviation_and_stand_beside_the_published_ones() {
    let desk = Desk::new();
    fs::create_dir(desk.path("data")).expect("a directory");
    let study = "[protocol]\nrepetitions = 5\n[[target]]\nname = \"ssd\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"streams\"\nphases = [\"write\"]\ntransfer = \"128KiB\"\nsize = \"1MiB\"\n\
                 [[published]]\nfigure = \"b-seq128-ssd-write-mean\"\nworkload = \"streams\"\nphase = \"write\"\n";
    let _ = run(&desk.study(study)).expect_code(0);
    let report = desk.report();
    let spread = &report.figure("write")["bytes_per_second"];
    let all: Vec<f64> = report.figure("write")["repetitions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| number(&one["bytes_per_second"]))
        .collect();
    let mean = all.iter().sum::<f64>() / 5.0;
    let deviation = (all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    assert_eq!(all.len(), 5);
    assert_near("mean", number(&spread["mean"]), mean, 1e-9);
    assert_near("deviation", number(&spread["deviation"]), deviation, 1e-6);
    assert_says(&desk.tables(), &["449 ± 2", "mean ± deviation", "fluctuation"]);
    let share = format!("{:.1} %", deviation / mean * 100.0);
    assert_says(&desk.tables(), &[&share]);
}
