//! Many small jobs, each on whichever node a queue had free, combined into one study.

use std::collections::BTreeMap;

use testbed::Hosts;

use crate::desk::{Desk, assert_says, run};
use crate::hosts::{list, no_hosts, number, over, target, text};

/// The nodes that a queue hands out: each of the four appears, each a different number of times.
const QUEUE: [usize; 10] = [2, 0, 3, 0, 2, 0, 1, 2, 0, 2];

#[test]
fn ten_jobs_on_random_nodes_are_covered_node_by_node() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(4).expect("hosts"));
    let study = "[study]\nexclusive = false\n".to_owned()
        + &target("memory", &hosts.local(), "node-local")
        + "[[workload]]\nname = \"w\"\ntasks_per_node = 1\nnodes = 1\nsharing = \"per-task\"\n\
           transfer = \"64KiB\"\nsize = \"1MiB\"\n";
    std::fs::write(desk.path("study.toml"), study).expect("the study is written");
    let records: Vec<String> = (1..=QUEUE.len()).map(|job| format!("job{job}")).collect();
    for (host, record) in QUEUE.into_iter().zip(&records) {
        let program = desk.ioproof(&format!("run study.toml --yes --out {record}"));
        let _ = run(&hosts.inside(host, &program)).expect_code(0);
    }
    let merged = run(&desk.program().arg("merge").arg(desk.record()).args(&records)).expect_code(0);
    assert_says(&merged.stdout, &["10 runs"]);

    let jobs = list(&desk, "statements/covered_job");
    let on: Vec<String> = jobs.iter().map(|job| text(&job["nodes"][0]).to_owned()).collect();
    assert_eq!(on, QUEUE.map(|host| hosts.name(host)), "jobs in their order, with their nodes");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for host in QUEUE {
        *counts.entry(hosts.name(host)).or_default() += 1;
    }
    let nodes = list(&desk, "statements/covered_node");
    assert_eq!(nodes.len(), counts.len());
    for node in &nodes {
        // Each job has a write and a read.
        let passes = 2 * counts[text(&node["node"])];
        assert_eq!(number(&node["passes"]), passes as f64, "{node}");
        assert!(!text(&node["hours_utc"]).is_empty(), "the time of day is told");
    }
    for figure in list(&desk, "figures") {
        assert_eq!(figure["repetitions"].as_array().map(Vec::len), Some(10), "one of each job");
        assert_says(text(&figure["conditions"]), &["not exclusive"]);
    }
    let shown = desk.tables();
    assert_says(&shown, &["4 nodes: node[1-4]", "4 nodes in 10 jobs", "Storage not exclusive"]);
}

/// One job for each number of nodes: the merged record keeps what only the larger job has.
#[test]
fn jobs_on_one_and_two_nodes_keep_their_maps_when_they_are_merged() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let study = target("shared", &hosts.shared(), "shared")
        + "[[workload]]\nname = \"w\"\ntasks_per_node = 2\nnodes = [1, 2]\nsharing = \"per-task\"\n\
           transfer = \"64KiB\"\nsize = \"1MiB\"\nread_from = \"next-node\"\n";
    std::fs::write(desk.path("study.toml"), study).expect("the study is written");
    let job = |nodes: u32| desk.ioproof(&format!("run study.toml --yes --on-nodes {nodes} --out job{nodes}"));
    let _ = run(&hosts.inside(0, &job(1))).expect_code(0);
    let _ = run(&over(&hosts, 1, &job(2))).expect_code(0);
    let _ = run(&desk.program().arg("merge").arg(desk.record()).args(["job1", "job2"])).expect_code(0);
    let maps = list(&desk, "rank_maps");
    let [map] = &maps[..] else { panic!("one read over nodes: {maps:?}") };
    assert_eq!((number(&map["tasks"]), number(&map["own_node"])), (4.0, 0.0));
    let series = list(&desk, "statements/weak_scaling");
    assert_eq!(series.len(), 2, "writing and reading over nodes");
    assert!(series.iter().all(|one| one["nodes"] == "1–2"), "{series:?}");
}
