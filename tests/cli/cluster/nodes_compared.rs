//! The same work on every node: which node is slow, where nothing was measured, and what that costs the whole run.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};
use testbed::{Hosts, Limits, skipped};

use crate::desk::{Desk, assert_near, assert_says, events, measured, run, wait_for};
use crate::hosts::{list, no_devices, number, over, target, text};

/// Bytes per second of a normal device, and of the slow one.
const RATE: u64 = 20_000_000;
const SLOW: u64 = RATE / 2;

/// At least 48 MiB on the device of each of four nodes, the third of which is slow, and a small amount in the memory
/// of the first three.
#[test]
fn measured_a_node_at_half_the_rate_is_marked_and_bounds_all_others() {
    if !no_devices() {
        measured(one_slow_node_of_four);
    }
}

fn one_slow_node_of_four(times: u32) {
    let desk = Desk::new();
    let mut hosts = Hosts::builder(4).devices(2, Limits::bandwidth(RATE)).build().expect("hosts");
    hosts.device_mut(2, 0).expect("a device").limit(Limits::bandwidth(SLOW)).expect("limited");
    let both = format!(
        "[[target]]\nname = \"both\"\npaths = [\"{}\", \"{}\"]\nlayer = \"node-local\"\n",
        hosts.device_path(0).join("f").display(),
        hosts.device_path(1).join("f").display()
    );
    let workload = |target: &str, nodes: u32, size: &str, direct: bool| {
        format!(
            "[[workload]]\nname = \"{target}\"\ntarget = \"{target}\"\nnodes = {nodes}\ntasks_per_node = 2\n\
             sharing = \"per-task\"\ntransfer = \"256KiB\"\nsize = \"{size}\"\nphases = [\"write\"]\n\
             direct = {direct}\n"
        )
    };
    let published = |figure: &str| {
        format!("[[published]]\nfigure = \"{figure}\"\nworkload = \"card\"\nphase = \"write\"\n")
    };
    let study = target("card", &hosts.device_path(0), "node-local")
        + &target("memory", &hosts.local(), "node-local")
        + &both
        + &workload("both", 4, &format!("{}MiB", 24 * times), true)
        + "barriers = true\n"
        + &workload("card", 4, &format!("{}MiB", 24 * times), true)
        + &workload("memory", 3, "1MiB", false)
        + &published("b-tab3-ssd-write-mean");
    let _ = run(&over(&hosts, 1, &desk.study(&study))).expect_code(0);

    let figures = list(&desk, "figures");
    let card = figures.iter().find(|one| one["target"] == "card").expect("the figure")["number"].clone();
    let of_card = |kind: &str| -> Vec<Value> {
        let all = list(&desk, &format!("statements/{kind}"));
        all.into_iter().filter(|one| one["figure"] == card).collect()
    };
    let (set, mut nodes) = (of_card("nodes").remove(0), of_card("node"));
    nodes.sort_by_key(|one| text(&one["node"]).to_owned());
    let rates: Vec<f64> = nodes.iter().map(|one| number(&one["rate_per_second"])).collect();
    for (index, node) in nodes.iter().enumerate() {
        let limit = if index == 2 { SLOW } else { RATE } as f64;
        assert_eq!(text(&node["node"]), hosts.name(index));
        assert_near(&hosts.name(index), rates[index], limit, 0.1);
        // A single pass cannot establish a difference: the third node may be slow by chance.
        assert_eq!(node["slow"], if index == 2 { Value::Null } else { false.into() }, "{node}");
        let written = number(&node["devices_per_second"]);
        assert_near("by the kernel's count", written, rates[index], 0.1);
    }
    assert!(number(&nodes[2]["z"]) <= -3.5, "{}", nodes[2]);

    // The average states how many nodes it covers.
    let mean = rates.iter().sum::<f64>() / 4.0;
    let deviation = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    assert_eq!(set["nodes"], 4);
    assert_near("mean", number(&set["mean_per_second"]), mean, 1e-9);
    assert_near("deviation", number(&set["deviation_per_second"]), deviation, 1e-9);
    assert_eq!(set["slow"], json!([]), "one pass shows no difference");

    // All nodes had the same amount of work, so the aggregate rate is four times that of the slowest.
    assert_eq!(text(&set["slowest"]), "node3");
    assert_near("bound", number(&set["bound_per_second"]), 4.0 * rates[2], 1e-9);
    assert_near("measured", number(&set["measured_per_second"]), 4.0 * rates[2], 0.1);
    assert_near("lost", number(&set["lost_per_second"]), 4.0 * (RATE - SLOW) as f64, 0.2);
    assert_eq!(set["device"], nodes[2]["devices"][0]);
    let shown = desk.tables();
    assert_says(&shown, &["Nodes compared", "node3", "node node3 had", "its device", "456"]);
    the_devices_of_each_node_have_their_own_rates(&desk, &hosts);
}

/// Two devices on each node, where the tasks of fast nodes wait for those of the slow one before they close.
fn the_devices_of_each_node_have_their_own_rates(desk: &Desk, hosts: &Hosts) {
    let figures = list(desk, "figures");
    let both = figures.iter().find(|one| one["target"] == "both").expect("the figure");
    let slow = format!("{}:", hosts.name(2));
    // One device of the slow node is slow, whichever number the kernel gave it.
    let check = |mut rates: Vec<(&str, f64)>, slow_ones: usize| {
        assert_eq!(rates.len(), 8, "{rates:?}");
        rates.sort_by(|one, other| one.1.total_cmp(&other.1));
        assert!(rates[..slow_ones].iter().all(|(name, _)| name.starts_with(&slow)), "{rates:?}");
        for (place, &(name, rate)) in rates.iter().enumerate() {
            assert_near(name, rate, if place < slow_ones { SLOW } else { RATE } as f64, 0.15);
        }
    };
    let members = list(desk, "statements/member");
    let own = members.iter().filter(|one| one["figure"] == both["number"]);
    let own: Vec<(&str, f64)> =
        own.map(|one| (text(&one["device"]), number(&one["bytes_per_second"]))).collect();
    // By the time of the tasks on it.
    check(own, 1);
    let counted = both["devices"].as_array().expect("a list");
    // By the time of the node's own I/O, in which both devices moved as much.
    let counted = counted.iter().map(|one| (text(&one["device"]), number(&one["write_bytes_per_second"])));
    check(counted.collect(), 2);
}

/// Jobs on three nodes, the last of which is killed before it reaches its second storage target.
#[test]
fn a_node_without_a_measurement_is_missing_and_a_blank() {
    if skipped(Hosts::available()) {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(3).expect("hosts"));
    let study = target("one", &hosts.local(), "node-local")
        + &target("two", &hosts.shared(), "shared")
        + "[[workload]]\nname = \"w\"\ntarget = [\"one\", \"two\"]\nnodes = 1\nsharing = \"per-task\"\n\
           transfer = \"64KiB\"\nsize = \"1MiB\"\nphases = [\"write\"]\nduration = \"1s\"\n";
    let whole = desk.study(&study);
    for host in 0..2 {
        let _ = run(&hosts.inside(host, &whole)).expect_code(0);
        fs::rename(desk.record(), desk.path(&format!("job{host}"))).expect("moved");
    }
    let mut last = hosts.inside(2, &whole).spawn().expect("it starts");
    wait_for(&mut last, "the second case", || events(&desk, "case-finished") == 1);
    for process in hosts.processes(2) {
        process.signal(Signal::KILL);
    }
    let _ = last.wait().expect("it ends");
    fs::rename(desk.record(), desk.path("job2")).expect("moved");
    let merged = desk.program().arg("merge").arg(desk.record()).args(["job0", "job1", "job2"]);
    let _ = run(&merged).expect_code(0);

    let compared = list(&desk, "statements/nodes");
    let figures = list(&desk, "figures");
    let missing = |target: &str| {
        let figure = figures.iter().find(|one| one["target"] == target).expect("a figure");
        let one = compared.iter().find(|one| one["figure"] == figure["number"]);
        one.unwrap_or_else(|| panic!("no nodes of {target}"))["missing"].clone()
    };
    assert_eq!((missing("one"), missing("two")), (json!([]), json!(["node3"])));
    let shown = desk.tables();
    assert_says(&shown, &["not measured on", "node3"]);
}
