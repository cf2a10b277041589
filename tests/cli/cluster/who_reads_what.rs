//! Which task runs where, on which file, and whose data it reads, across hosts.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testbed::Hosts;

use crate::desk::{Desk, assert_says, names, run};
use crate::hosts::{file, list, no_hosts, number, over, text};

/// The task map of the only read phase, and the report as text.
fn read_over_two_hosts(words: &str) -> Option<(Value, String)> {
    if no_hosts() {
        return None;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let words = format!("-w -r -F -e -t 64k -b 256k {words} -o {}", file(&hosts.shared()));
    let _ = run(&over(&hosts, 3, &desk.ior(&words))).expect_code(0);
    let mut maps = list(&desk, "rank_maps");
    assert_eq!(maps.len(), 1, "one read, one map");
    let shown = desk.tables();
    Some((maps.remove(0), shown))
}

#[test]
fn tasks_that_are_shifted_by_a_node_read_nothing_of_their_own_node() {
    let Some((map, shown)) = read_over_two_hosts("-C") else { return };
    assert_eq!((number(&map["tasks"]), number(&map["own_node"])), (6.0, 0.0));
    let rows = map["rows"].as_array().expect("a list");
    for (task, row) in rows.iter().enumerate() {
        let other = (task + 3) % 6;
        assert_eq!(row["task"], task);
        assert_eq!(row["written_by"], other, "IOR's shift is by the tasks of a node");
        assert_eq!(text(&row["node"]), if task < 3 { "node1" } else { "node2" });
        assert_eq!(text(&row["written_on"]), if other < 3 { "node1" } else { "node2" });
    }
    assert_says(&shown, &["0 of 6 tasks read what their own node had written", "Who read whose data"]);
    // The facts needed to judge placement and transport: processes, nodes, and how messages are carried.
    assert_says(&shown, &["2 nodes: node[1-2]", "6 processes", "Open MPI"]);
}

#[test]
fn tasks_that_are_not_shifted_read_what_they_wrote() {
    let Some((map, _)) = read_over_two_hosts("") else { return };
    assert_eq!((number(&map["tasks"]), number(&map["own_node"]), number(&map["own_data"])), (6.0, 6.0, 6.0));
}

#[test]
fn twenty_four_tasks_of_two_hosts_put_two_files_on_each_of_twelve_targets() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let targets: Vec<PathBuf> = (0..12).map(|index| hosts.shared().join(index.to_string())).collect();
    for target in &targets {
        fs::create_dir(target).expect("a directory");
    }
    let files: Vec<String> = targets.iter().map(|target| file(target)).collect();
    let words = format!("-a POSIX -B -e -t 64k -b 64k -s 3 -N 24 -C -F -k -o {}", files.join("@"));
    let ran = run(&over(&hosts, 12, &desk.ior(&words))).expect_code(0);
    assert_says(&ran.stdout, &["tasks : 24", "nodes : 2", "clients per node : 12"]);
    for (index, target) in targets.iter().enumerate() {
        assert_eq!(names(target), [index, index + 12].map(|task| format!("f.{task:08}")));
        for name in names(target) {
            assert_eq!(fs::metadata(target.join(name)).expect("there").len(), 3 * (64 << 10));
        }
    }
}
