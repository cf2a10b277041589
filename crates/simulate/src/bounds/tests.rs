//! Tests bounds against values computed by hand.

use crate::bounds::{Bounds, Issuers, Transfer};
use crate::model::{Model, read};

const GB: f64 = 1e9;

fn model(text: &str) -> Model {
    read("model.toml".as_ref(), text).expect("a model")
}

fn at(model: &Model, bytes: u64, writes: bool, nodes: u32) -> Bounds {
    let transfer = Transfer { bytes, writes, random: true };
    model.bounds(&model.layouts[0], transfer, Issuers { nodes, tasks: None, depth: 1 })
}

fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value}, expected {expected}");
}

#[test]
fn the_weakest_link_of_a_cluster_moves_from_its_nodes_to_its_network() {
    // Requirement B3: 1.25 GB/s for each node, 10 GB/s for the network, 120 GB/s for the servers.
    let cluster = model(
        r#"model = { name = "a cluster" }
           [node]
           count = 16
           processors = 160
           bandwidth = "1.25GB/s"
           [[link]]
           name = "ethernet"
           count = 8
           bandwidth = "1.25GB/s"
           [[server]]
           name = "servers"
           count = 4
           limits = { read_bandwidth = "30GB/s", write_bandwidth = "30GB/s" }
           [[device]]
           name = "nsd"
           count = 40
           slots = 8
           read = { rate = "1GB/s" }
           write = { rate = "1GB/s" }
           [[layout]]
           name = "GPFS"
           devices = "nsd"
           through = ["ethernet", "servers"]
           stripe = 40
           chunk = "1MiB""#,
    );
    let expected = [(1, 1.25, "node"), (4, 5.0, "node"), (8, 10.0, "ethernet"), (16, 10.0, "ethernet")];
    for (nodes, rate, weakest) in expected {
        let bounds = at(&cluster, 1 << 20, false, nodes);
        assert_near(bounds.transfers_per_second() * f64::from(1 << 20), rate * GB);
        // Eight nodes have the same bandwidth as the network, so either is the bottleneck.
        let named = bounds.weakest().map(|limit| limit.part.as_str());
        assert!(nodes == 8 || named == Some(weakest), "{nodes} nodes: {named:?}");
    }
    let servers = at(&cluster, 1 << 20, false, 16).limits.into_iter().find(|limit| limit.part == "servers");
    assert_near(servers.expect("servers").transfers_per_second * f64::from(1 << 20), 120.0 * GB);
}

#[test]
fn every_ceiling_of_a_million_operations_is_told_and_the_controllers_are_the_lowest() {
    // Requirement D23.
    let lustre = model(
        r#"model = { name = "Lustre" }
           node = { count = 1500, processors = 24 }
           [[link]]
           name = "infiniband"
           count = 12
           bandwidth = "6GB/s"
           [[link]]
           name = "sas"
           count = 24
           bandwidth = "2.4GB/s"
           [[server]]
           name = "controller"
           count = 3
           limits = { read_iops = 825_000 }
           [[device]]
           name = "drive"
           count = 60
           slots = 1000
           read = { time = "10us" }
           write = { time = "10us" }
           limits = { read_iops = 120_000 }
           [[layout]]
           name = "lustre"
           devices = "drive"
           through = ["infiniband", "sas", "controller"]"#,
    );
    let bounds = at(&lustre, 4096, false, 1500);
    let limits: Vec<(&str, f64)> =
        bounds.limits.iter().map(|limit| (limit.part.as_str(), limit.transfers_per_second)).collect();
    let expected = [
        ("controller", 2_475_000.0),
        ("drive", 7_200_000.0),
        ("sas", 24.0 * 2.4 * GB / 4096.0),
        ("infiniband", 12.0 * 6.0 * GB / 4096.0),
    ];
    for ((part, value), (expected_part, expected)) in limits.into_iter().zip(expected) {
        assert_eq!(part, expected_part);
        assert_near(value, expected);
    }
    // 1.32 million of them are 53 %.
    assert_eq!((1_320_000.0 / bounds.transfers_per_second() * 100.0).round(), 53.0);
}

const CARD: &str = r#"
    model = { name = "cards" }
    node = { processors = 64, request_time = "10us" }
    [[device]]
    name = "card"
    count = 10
    slots = 4
    read = { time = "90us" }
    write = { time = "40us", rate = "1GB/s" }
    [[layout]]
    name = "raid"
    devices = "card"
"#;

#[test]
fn saturation_is_capacity_times_the_least_response() {
    let one = model(&CARD.replace("count = 10", "count = 1"));
    let bounds = at(&one, 4096, false, 1);
    assert_near(bounds.response_ns, 100_000.0);
    assert_near(bounds.transfers_per_second(), 4.0 / 90e-6);
    assert_near(bounds.saturation, 4.0 / 90e-6 * 100e-6);
    // Two tasks of depth 1: at most two transfers in 100 µs.
    let transfer = Transfer { bytes: 4096, writes: false, random: true };
    let few = one.bounds(&one.layouts[0], transfer, Issuers { nodes: 1, tasks: Some(2), depth: 1 });
    assert_near(few.transfers_per_second(), 20_000.0);
    assert_eq!(few.weakest().map(|limit| limit.part.as_str()), Some("transfer in flight"));
    // A larger depth helps until the processor time of one task is used up.
    let deep = one.bounds(&one.layouts[0], transfer, Issuers { nodes: 1, tasks: Some(1), depth: 64 });
    assert!(
        deep.limits.iter().any(|limit| limit.part == "processor" && limit.transfers_per_second == 100_000.0)
    );
}

#[test]
fn parity_and_copies_cost_writes_what_they_move() {
    let capacity = |layout: &str, writes: bool, bytes: u64| {
        let bounds = at(&model(&format!("{CARD}{layout}")), bytes, writes, 1);
        (
            bounds.amplification,
            bounds.limits.iter().find(|limit| limit.part == "card").expect("cards").transfers_per_second,
        )
    };
    let slot_ns = |bytes: f64| 40_000.0 + bytes;
    let (amplification, copies) = capacity("chunk = \"64KiB\"\ncopies = 2", true, 4096);
    assert_near(amplification, 2.0);
    assert_near(copies, 40.0 / (2.0 * slot_ns(4096.0)) * 1e9);
    let (amplification, full) = capacity("chunk = \"64KiB\"\nparity = 2", true, 512 << 10);
    assert_near(amplification, 1.25);
    assert_near(full, 40.0 / (10.0 * slot_ns(65_536.0)) * 1e9);
    // One chunk of data and two of parity, each read and written.
    let (amplification, part) = capacity("chunk = \"64KiB\"\nparity = 2", true, 4096);
    assert_near(amplification, 6.0);
    assert_near(part, 40.0 / (3.0 * (slot_ns(4096.0) + 90_000.0)) * 1e9);
    let (amplification, _) = capacity("chunk = \"64KiB\"\nparity = 2", false, 4096);
    assert_near(amplification, 1.0);
}

#[test]
fn a_task_on_one_device_has_no_more_than_that_device() {
    let cards = model(CARD);
    let transfer = Transfer { bytes: 4096, writes: false, random: true };
    let devices = |tasks| {
        let issuers = Issuers { nodes: 1, tasks: Some(tasks), depth: 64 };
        let bounds = cards.bounds(&cards.layouts[0], transfer, issuers);
        bounds.limits.into_iter().find(|limit| limit.part == "card").expect("cards").count
    };
    assert_eq!([devices(1), devices(3), devices(64)], [1, 3, 10]);
}

#[test]
fn each_node_has_its_own_local_devices() {
    let local = model(&format!("{CARD}local = true"));
    assert_near(at(&local, 4096, false, 8).limits[0].transfers_per_second, 8.0 * 40.0 / 90e-6);
}

#[test]
fn a_write_cache_gives_what_it_drains_with() {
    let cached =
        CARD.replace("count = 10", "write_cache = { size = \"1GiB\", time = \"5us\", drain = \"100MB/s\" }");
    let bounds = at(&model(&cached), 100_000, true, 1);
    assert_near(bounds.transfers_per_second(), 1000.0);
    // Ten microseconds of processor time, and the 100 µs required by the bytes.
    assert_near(bounds.response_ns, 110_000.0);
}
