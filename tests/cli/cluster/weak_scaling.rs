//! The same work per node on an increasing number of nodes: what each added node contributes, and where scaling ends.

use std::time::Duration;

use serde_json::Value;
use testbed::{Hosts, Limits};

use crate::desk::{Desk, assert_near, assert_says, measured, run};
use crate::hosts::{list, no_devices, no_hosts, number, over, target, text};

/// Bytes per second of one node's device.
const RATE: u64 = 20_000_000;
/// Time limit: the phases of the longest attempt alone take 80 s.
const LIMIT: Duration = Duration::from_secs(180);
/// Transfers of 64 KiB per second of the shared layer: 50 MB/s, the rate of two and a half devices.
const PACE: f64 = 762.94;

/// The series over node counts for a target and a number of tasks per node.
fn series<'a>(all: &'a [Value], figures: &[Value], target: &str, tasks: u32) -> &'a Value {
    let of = |one: &Value| figures.iter().find(|figure| figure["number"] == one["figure"]).cloned();
    let is_it = |one: &&Value| {
        of(one).is_some_and(|figure| figure["target"] == target) && one["tasks_per_node"] == tasks
    };
    all.iter().find(is_it).unwrap_or_else(|| panic!("no series of {target} with {tasks} tasks: {all:?}"))
}

/// Node counts and the bytes per second of their figures.
fn points(figures: &[Value], target: &str, tasks: u32) -> Vec<(f64, f64)> {
    let is_it = |one: &&Value| {
        one["target"] == target && number(&one["tasks"]) == number(&one["nodes"]) * f64::from(tasks)
    };
    let all = figures.iter().filter(is_it);
    all.map(|one| (number(&one["nodes"]), number(&one["bytes_per_second"]["median"]))).collect()
}

/// One to four nodes with one and two tasks each. On node-local devices, each node adds the rate of its device. A
/// layer shared by all nodes saturates at two and a half times that rate.
#[test]
fn measured_a_local_layer_grows_by_its_device_beside_a_shared_one_that_is_full() {
    if !no_devices() {
        measured(two_layers);
    }
}

fn two_layers(times: u32) {
    let desk = Desk::new();
    let hosts = Hosts::builder(4).devices(1, Limits::bandwidth(RATE)).build().expect("hosts");
    let common = "nodes = \"1..4\"\ntasks_per_node = [1, 2]\nsharing = \"per-task\"\nphases = [\"write\"]\n";
    let study = target("local", &hosts.device_path(0), "node-local")
        + &target("shared", &hosts.shared(), "shared")
        + &format!(
            "[[workload]]\nname = \"weak\"\ntarget = \"local\"\n{common}transfer = \"256KiB\"\nsize = \"32MiB\"\n\
             direct = true\nduration = \"{}ms\"\n\
             [[workload]]\nname = \"full\"\ntarget = \"shared\"\n{common}transfer = \"64KiB\"\nsize = \"4MiB\"\n\
             rate = {PACE}\nduration = \"1s\"\n\
             [[published]]\nfigure = \"b-ws-ssd-write-slope\"\nworkload = \"weak\"\nphase = \"write\"\n",
            2500 * times
        );
    let _ = run(&over(&hosts, 1, &desk.study(&study).limit(LIMIT))).expect_code(0);
    let (figures, stated) = (list(&desk, "figures"), list(&desk, "statements/weak_scaling"));
    for tasks in [1, 2] {
        let local = series(&stated, &figures, "local", tasks);
        let found = points(&figures, "local", tasks);
        assert_eq!(found.iter().map(|point| point.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert!(local["slope_per_second"].is_null(), "one repetition shows no line: {local}");
        let efficiency = found[3].1 / (4.0 * found[0].1);
        assert_near("efficiency", number(&local["efficiency"]), efficiency, 1e-9);
        assert_near("four nodes", found[3].1, 4.0 * RATE as f64, 0.1);
        let shared = series(&stated, &figures, "shared", tasks);
        for (nodes, rate) in points(&figures, "shared", tasks) {
            assert_near(&format!("{nodes} nodes of the shared layer"), rate, PACE * 65_536.0, 0.1);
        }
        assert!(shared["full_from"].is_null(), "nor that it is full: {shared}");
    }
    assert_says(&desk.tables(), &["Weak scaling"]);
}

/// Four mixes at fixed levels on one to four nodes, and one point that uses all of them.
#[test]
fn measured_four_mixes_are_four_lines_over_nodes_beside_the_full_machine() {
    if !no_hosts() {
        measured(four_mixes);
    }
}

fn four_mixes(times: u32) {
    const LEVELS: [(u32, f64); 4] = [(100, 400.0), (75, 300.0), (50, 200.0), (0, 100.0)];
    let (desk, hosts) = (Desk::new(), Hosts::of(4).expect("hosts"));
    let common = format!(
        "phases = [\"mixed\"]\ntransfer = \"4KiB\"\norder = \"random\"\nsharing = \"per-task\"\n\
         size = \"256KiB\"\nduration = \"{}ms\"\nread_from = \"next-node\"\nfill = true\n",
        500 * times
    );
    let study = target("storage", &hosts.shared(), "shared")
        + &format!(
            "[[workload]]\nname = \"mixes\"\nread_percent = {:?}\nrate = {:?}\nnodes = [1, 2, 4]\n\
             together = [\"read_percent\", \"rate\"]\ntasks_per_node = 2\n{common}\
             [[workload]]\nname = \"full\"\nread_percent = 100\nnodes = 4\ntasks_per_node = 24\n{common}",
            LEVELS.map(|(percent, _)| percent),
            LEVELS.map(|(_, level)| level),
        );
    let _ = run(&over(&hosts, 1, &desk.study(&study))).expect_code(0);
    let (figures, stated) = (list(&desk, "figures"), list(&desk, "statements/weak_scaling"));
    assert_eq!(stated.len(), 4, "a line for each mix");
    for line in &stated {
        let says = "one repetition does not show from where on more nodes add nothing";
        assert!(line["reaches_90"].is_null() && line["full_from"].is_null(), "{says}: {line}");
    }
    for (percent, level) in LEVELS {
        let of_mix = |one: &&Value| {
            let settings = one["settings"].as_array().expect("a list");
            settings.iter().any(|one| one["key"] == "read_percent" && one["value"] == percent)
        };
        let points: Vec<_> = figures.iter().filter(of_mix).collect();
        assert_eq!(points.len(), 3, "{percent} %");
        for point in points {
            let rate = number(&point["transfers_per_second"]["median"]);
            assert_near(&format!("{percent} %"), rate, level, 0.1);
        }
    }
    let full = figures.into_iter().find(|one| one["group"] == "full").expect("one point");
    assert_says(text(&full["conditions"]), &["96 tasks on 4 nodes"]);
    assert_says(&desk.tables(), &["Weak scaling"]);
}
