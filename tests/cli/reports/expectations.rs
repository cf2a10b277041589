//! What was expected, promised and known beforehand, compared with what was measured.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, assert_near, assert_says, names, run};

/// Table 1 of study B: sequential write, sequential read, random write and random read of 4 KiB.
const TABLE_1: [(&str, [&str; 4]); 2] =
    [("ssd", ["520MB/s", "540MB/s", "24000", "93000"]), ("nvme", ["3GB/s", "6.4GB/s", "170000", "1080000"])];

/// The limits of the shared layer in study B.
const LINKS: [(&str, &str, u32, &str); 3] = [
    ("node link", "1.25GB/s", 1, "node"),
    ("cluster link", "1.25GB/s", 8, "target"),
    ("servers", "30GB/s", 4, "target"),
];

/// Three layers, their limits, and a small workload for each.
fn layers() -> String {
    let mut study = "[study]\ntitle = \"Three layers\"\nnodes = [1, 4, 8, 16]\n\
                     [protocol]\nphase_min = \"1us\"\n"
        .to_owned();
    for (name, layer) in [("gpfs", "shared"), ("ssd", "node-local"), ("nvme", "node-local")] {
        study += &format!(
            "[[target]]\nname = \"{name}\"\ndirectory = \"data\"\nlayer = \"{layer}\"\ndevices = 1\n"
        );
    }
    for (name, bandwidth, count, per) in LINKS {
        study += &format!(
            "[[expectation]]\nname = \"{name}\"\ntarget = \"gpfs\"\nbandwidth = \"{bandwidth}\"\n\
             count = {count}\nper = \"{per}\"\nceiling = true\n"
        );
    }
    for (target, values) in TABLE_1 {
        let kinds = [("write", false), ("read", false), ("write", true), ("read", true)];
        for ((phase, random), value) in kinds.into_iter().zip(values) {
            let limit = if random {
                format!("order = \"random\"\ntransfer = \"4KiB\"\niops = {value}")
            } else {
                format!("order = \"sequential\"\nbandwidth = \"{value}\"")
            };
            study += &format!(
                "[[expectation]]\nname = \"{target} {phase} {random}\"\ntarget = \"{target}\"\n\
                 phase = \"{phase}\"\n{limit}\nper = \"device\"\n"
            );
        }
    }
    for (name, transfer, order) in [("stream", "64KiB", "sequential"), ("small", "4KiB", "random")] {
        study += &format!(
            "[[workload]]\nname = \"{name}\"\ntarget = [\"gpfs\", \"ssd\", \"nvme\"]\ntransfer = \"{transfer}\"\n\
             order = \"{order}\"\nsize = \"1MiB\"\ndirect = true\n"
        );
    }
    study
}

/// A desk with a directory for data.
fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.path("data")).expect("a directory");
    desk
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_table_of_data_sheets_gets_the_share_that_was_reached() {
    let desk = desk();
    let _ = run(&desk.study(&layers())).expect_code(0);
    let report = desk.report().0;
    let figures = report["figures"].as_array().expect("a list");
    let all = report["statements"]["expected"].as_array().expect("a list");
    let mut seen = 0;
    for (target, values) in TABLE_1 {
        let kinds = [("write", "stream"), ("read", "stream"), ("write", "small"), ("read", "small")];
        for ((phase, group), value) in kinds.into_iter().zip(values) {
            let is_it = |figure: &&Value| {
                figure["target"] == target && figure["phase"] == phase && figure["group"] == group
            };
            let figure = figures.iter().find(is_it).unwrap_or_else(|| panic!("no {phase} of {target}"));
            let about: Vec<&Value> = all.iter().filter(|one| one["figure"] == figure["number"]).collect();
            let [one] = about[..] else {
                panic!("one value of the table for {phase} of {target}: {about:?}")
            };
            let (unit, measured) = match group {
                "stream" => ("bytes/s", &figure["bytes_per_second"]["median"]),
                _ => ("ops/s", &figure["transfers_per_second"]["median"]),
            };
            let printed = match value.trim_end_matches("MB/s").trim_end_matches("GB/s").parse::<f64>() {
                Ok(digits) if value.ends_with("MB/s") => digits * 1e6,
                Ok(digits) if value.ends_with("GB/s") => digits * 1e9,
                other => other.expect("a number"),
            };
            assert_eq!((text(&one["unit"]), number(&one["expected"])), (unit, printed));
            assert_near("share", number(&one["ratio"]), number(measured) / printed, 1e-9);
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
    let shown = desk.tables();
    let table =
        ["520 MB/s", "540 MB/s", "24,000 IOPS", "93,000 IOPS", "3.00 GB/s", "6.40 GB/s", "170,000 IOPS"];
    assert_says(&shown, &table);
    assert_says(&shown, &["1,080,000 IOPS", "Reached ÷ expected"]);
}

/// The shared layer is limited by its links, while the local layers grow with the nodes. This is stated both before
/// and after the run.
#[test]
fn the_weakest_link_bounds_each_number_of_nodes() {
    let desk = desk();
    let _ = run(&desk.study(&layers())).expect_code(0);
    let report = desk.report().0;
    let links = report["statements"]["weakest_link"].as_array().expect("a list");
    let expected = [
        ("gpfs", Value::Null, [1.25e9, 5e9, 10e9, 10e9]),
        ("ssd", "write".into(), [0.52e9, 2.08e9, 4.16e9, 8.32e9]),
        ("nvme", "read".into(), [6.4e9, 25.6e9, 51.2e9, 102.4e9]),
    ];
    for (target, phase, bounds) in expected {
        for (nodes, bound) in [1, 4, 8, 16].into_iter().zip(bounds) {
            let is_it = |one: &&Value| {
                one["target"] == target
                    && one["phase"] == phase
                    && one["nodes"] == nodes
                    && one["unit"] == "bytes/s"
            };
            let one = links.iter().find(is_it).unwrap_or_else(|| panic!("no bound of {target} on {nodes}"));
            assert_near(&format!("{target} on {nodes} nodes"), number(&one["expected"]), bound, 1e-9);
        }
    }
    let weakest = |nodes: u32| {
        let one = links.iter().find(|one| one["target"] == "gpfs" && one["nodes"] == nodes);
        text(&one.expect("a bound")["weakest"]).to_owned()
    };
    assert_eq!([weakest(1), weakest(4), weakest(16)], ["node link", "node link", "cluster link"]);
    let before = run(&desk.ioproof("run study.toml --explain --full")).expect_code(0).stdout;
    assert_says(&before, &["Expected at most", "1.25 GB/s", "5.00 GB/s", "10.0 GB/s", "cluster link"]);
}

#[test]
fn a_layer_of_each_node_refuses_a_shared_file() {
    let desk = desk();
    let study = "[[target]]\nname = \"ssd\"\ndirectory = \"data\"\nlayer = \"node-local\"\n\
                 [[workload]]\nname = \"w\"\ntransfer = \"64k\"\nsize = \"1m\"\ntasks = 2\n";
    let refused = run(&desk.study(study)).expect_code(2);
    assert_says(&refused.stderr, &["2 tasks cannot share a file on `ssd`", "node-local", "per-task"]);
    assert_eq!(names(&desk.path("data")), [""; 0], "nothing was touched");
    let apart = format!("{study}sharing = \"per-task\"\n");
    let _ = run(&desk.study(&apart)).expect_code(0);
}

/// A commitment that the figure either meets or misses by a wide margin.
fn promising(amount: &str) -> String {
    format!(
        "[protocol]\nrepetitions = 1\nphase_min = \"10ms\"\n[[target]]\nname = \"d\"\ndirectory = \"data\"\n\
         [[workload]]\nname = \"w\"\ntransfer = \"64k\"\nsize = \"1m\"\nduration = \"2100ms\"\nphases = [\"write\"]\ndirect = true\nfsync = \"close\"\n\
         [[commitment]]\nname = \"the promise\"\nby = \"the vendor\"\nstatistic = \"median\"\n\
         workload = \"w\"\nphase = \"write\"\nbandwidth_at_least = \"{amount}\"\n"
    )
}

#[test]
fn a_promise_decides_the_exit_code_where_that_is_asked_for() {
    let outcomes = [
        (promising("1kB/s"), 0, "PASS"),
        (promising("900TB/s"), 8, "FAIL"),
        (promising("1kB/s").replace("\"10ms\"", "\"1h\""), 8, "DOUBTFUL"),
    ];
    for (study, code, judgement) in outcomes {
        let desk = desk();
        let told = run(&desk.study(&study).arg("--explain")).expect_code(0).stdout;
        assert_says(&told, &["the promise (the vendor)"]);
        let finished = run(&desk.study(&study).arg("--verdict")).expect_code(code);
        assert_says(&finished.stdout, &["the promise", judgement]);
        let verdicts = desk.report().0["statements"]["commitment"].clone();
        assert_eq!(verdicts[0]["judgement"], judgement, "{verdicts}");
        let again = run(&desk.ioproof("verdict").arg(desk.record())).expect_code(code);
        assert_says(&again.stdout, &[judgement, "the vendor"]);
        // A report does not judge commitments.
        let _ = run(&desk.ioproof("report --full --format text").arg(desk.record())).expect_code(0);
    }
    let desk = desk();
    let _ = run(&desk.study(&promising("900TB/s"))).expect_code(0);
}

#[test]
fn a_failure_comes_before_a_verdict() {
    let desk = Desk::new();
    let _ = run(&desk.study(&promising("1kB/s")).arg("--verdict")).expect_code(4);
}
