//! Devices measured one by one and together, their seek times, and layers on top of each other, on devices of known
//! speed.

use std::time::Duration;

use serde_json::Value;
use testbed::{Limits, LoopDevice, Programme, ProgrammedFs, Testbed, skipped};

use crate::desk::{Desk, assert_near, assert_says, measured, run};

fn list<'v>(report: &'v Value, key: &str) -> &'v Vec<Value> {
    report["statements"][key].as_array().unwrap_or_else(|| panic!("no statements.{key}"))
}

/// Five disks, the third of which is slow, one by one and all together.
const DISKS: &str = r#"
[protocol]
repetitions = 5
phase_min = "1ms"

[[target]]
name = "disks"
title = "Five disks"
disks = [DISKS]

[[expectation]]
name = "vendor"
bandwidth = "150MB/s"
per = "device"
reached = "what the vendor says"

[[expectation]]
name = "least"
bandwidth = "30MB/s"
per = "device"
reached = "look for a different vendor"

[[workload]]
name = "alone"
member = "0..4"
phases = ["write", "read"]
transfer = "2MiB"
order = "random"
size = "16MiB"
direct = true

[[workload]]
name = "together"
fill = false
tasks = 5
sharing = "own"
phases = ["read"]
transfer = "2MiB"
order = "random"
size = "16MiB"
direct = true
"#;

/// E3, E6, D15: the throttles are 40 MB/s, and 12 MB/s for the third disk.
#[test]
fn measured_the_slow_one_of_several_disks_is_marked_alone_and_among_all() {
    if skipped(Testbed::available()) {
        return;
    }
    // On a busy machine, other work may slow down any of the disks. The measurement is then repeated with longer
    // runs.
    measured(|times| {
        let mut disks: Vec<LoopDevice> = (0..5)
            .map(|_| LoopDevice::builder().bytes(u64::from(times) * (32 << 20)).build().expect("a device"))
            .collect();
        for (place, disk) in disks.iter_mut().enumerate() {
            disk.limit(Limits::bandwidth(if place == 2 { 12_000_000 } else { 40_000_000 })).expect("limited");
        }
        let paths: Vec<String> = disks.iter().map(|disk| disk.device().display().to_string()).collect();
        let desk = Desk::new();
        let consents: Vec<String> =
            paths.iter().flat_map(|path| ["--destroy-data-on".to_owned(), path.clone()]).collect();
        let quoted: Vec<String> = paths.iter().map(|path| format!("\"{path}\"")).collect();
        let study = DISKS.replace("DISKS", &quoted.join(", ")).replace("16MiB", &format!("{}MiB", 8 * times));
        let _ = run(&desk.study(&study).args(consents)).expect_code(0);
        let report = desk.report().0;
        let sets = list(&report, "member_set");
        let named: Vec<_> = sets.iter().map(|set| &set["devices_of"]).collect();
        assert_eq!(sets.len(), 3, "{named:?}");
        let slow = disks[2].name();
        for set in sets {
            let slow_ones = set["slow"].as_array().expect("a list");
            assert!(slow_ones.contains(&Value::from(slow.as_str())), "{set}");
            assert_eq!(set["uneven"], true, "{set}");
            assert_near("variation", set["variation"].as_f64().expect("a share"), 0.7, 0.3);
        }
        let devices = list(&report, "member");
        let of_slow: Vec<&Value> = devices.iter().filter(|one| one["device"] == slow.as_str()).collect();
        assert_eq!(of_slow.len(), 3, "{devices:?}");
        for one in of_slow {
            // The share is relative to the median of the device's model. A throttle lets 2 MiB pass after idle time,
            // and other work uses the machine.
            let share = one["share"].as_f64().expect("a share");
            assert!(one["slow"] == true && (0.2..0.6).contains(&share), "{one}");
        }
        for model in list(&report, "device_model") {
            // Loop devices report no model. Taken as one model, their median is above 30 and below 150 MB/s.
            assert_eq!(model["model"], "model unknown");
            assert_eq!(model["says"], "look for a different vendor", "{model}");
        }
        let text = desk.tables();
        let marked = slow.clone();
        assert_says(
            &text,
            &["Devices one by one and together", "uneven", &marked, "look for a different vendor"],
        );
        let page = run(&desk.ioproof("report --format html").arg(desk.record())).expect_code(0).stdout;
        assert!(page.contains("chart-devices-0"), "the bars are in the page");
        let metrics =
            run(&desk.ioproof("report --format openmetrics").arg(desk.record())).expect_code(0).stdout;
        assert!(metrics.contains(&format!("device=\"{slow}\"")), "{metrics}");
    });
}

/// E4: each read takes 5 ms, and transfers then run at 40 MB/s.
#[test]
fn measured_the_seek_time_and_the_rate_of_a_programmed_disk_are_found() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|times| {
        let programme = Programme {
            read_latency: Duration::from_millis(5 * u64::from(times)),
            read_bandwidth: Some(40_000_000 / u64::from(times)),
            ..Programme::default()
        };
        let fs = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
        let desk = Desk::new();
        let study = format!(
            "[protocol]\nrepetitions = 1\nphase_min = \"1ms\"\n\n[[target]]\nname = \"disk\"\ndirectory = \"{}\"\n\n\
             [[workload]]\nname = \"sizes\"\nphases = [\"read\"]\nfill = true\n\
             transfer = [\"16KiB\", \"64KiB\", \"128KiB\", \"512KiB\", \"1MiB\"]\norder = \"random\"\nsize = \"8MiB\"\n\
             direct = true\noperations = 16\n",
            fs.path().display()
        );
        let _ = run(&desk.study(&study)).expect_code(0);
        let report = desk.report().0;
        let [fit] = list(&report, "seek").as_slice() else { panic!("{}", report["statements"]["seek"]) };
        let number = |key: &str| fit[key].as_f64().unwrap_or_else(|| panic!("no {key} in {fit}"));
        let times = f64::from(times);
        assert_near("rate", number("rate_per_second"), 40e6 / times, 0.15);
        assert_near("seek time", number("positioning"), 5e6 * times, 0.25);
        assert!(number("error") < 0.2, "{fit}");
        for figure in report["figures"].as_array().expect("a list") {
            let rate = figure["bytes_per_second"]["median"].as_f64().expect("a rate");
            let bytes = figure["transfer_bytes"].as_f64().expect("a size");
            let predicted = bytes / (number("positioning") / 1e9 + bytes / number("rate_per_second"));
            assert_near("measured ÷ predicted", rate / predicted, 1.0, 0.25);
        }
        let text = desk.tables();
        assert_says(&text, &["For one device: time of a transfer", "seek time"]);
    });
}

/// E8, E22: each layer adds a known time to a write: 4 ms, 8 ms and 32 ms. The last layer costs by far the most, so
/// noise cannot change which one is found.
#[test]
fn measured_what_each_layer_takes_is_the_share_of_its_delay() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|times| {
        let mount = |millis: u64| {
            let write_latency = Duration::from_millis(millis * u64::from(times));
            let programme = Programme { write_latency, ..Programme::default() };
            ProgrammedFs::builder().programme(programme).mount().expect("a file system")
        };
        let layers = [mount(4), mount(8), mount(32)];
        let desk = Desk::new();
        let mut study = "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\n\n".to_owned();
        for (fs, (name, above)) in layers.iter().zip([("device", ""), ("fs", "device"), ("net", "fs")]) {
            let above = if above.is_empty() { String::new() } else { format!("above = \"{above}\"\n") };
            let path = fs.path().display();
            study.push_str(&format!("[[target]]\nname = \"{name}\"\ndirectory = \"{path}\"\n{above}\n"));
        }
        study.push_str(
            "[[workload]]\nname = \"w\"\ntarget = [\"device\", \"fs\", \"net\"]\nphases = [\"write\"]\n\
             transfer = \"64KiB\"\nsize = \"1MiB\"\ndirect = true\n",
        );
        let _ = run(&desk.study(&study)).expect_code(0);
        let report = desk.report().0;
        let layers = report["statements"]["layer"].as_array().expect("layers");
        let names: Vec<&str> = layers.iter().map(|one| one["below"].as_str().unwrap_or_default()).collect();
        assert_eq!(names, ["", "device", "fs"]);
        let value = |step: usize, key: &str| {
            layers[step][key].as_f64().unwrap_or_else(|| panic!("no {key}: {layers:?}"))
        };
        assert_near("what the file system takes", value(1, "loss"), 0.5, 0.2);
        assert_near("what the network takes", value(2, "loss"), 0.75, 0.2);
        assert_near("what is left", value(2, "share"), 0.125, 0.25);
        assert!(value(0, "cpu_seconds_per_gb") > 0.0 && value(0, "cpu_per_operation") > 0.0);
        // It is counted in ticks of 10 ms, and these phases are too short for that.
        assert!(value(0, "node_cpu_seconds_per_gb") >= 0.0);
        assert_eq!((&layers[0]["best"], &layers[0]["loss"]), (&true.into(), &Value::Null));
        let text = desk.tables();
        assert_says(&text, &["Layer by layer", "CPU s/GB", "of the lowest"]);
        let page = run(&desk.ioproof("report --format html").arg(desk.record())).expect_code(0).stdout;
        assert!(page.contains("chart-layers-0") && page.contains("from the device to the application"));
        let csv = run(&desk.ioproof("report --format csv").arg(desk.record())).expect_code(0).stdout;
        assert!(csv.lines().any(|line| line.contains(",layer,") && line.contains(",loss,")), "{csv}");
    });
}
