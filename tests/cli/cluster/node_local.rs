//! Node-local storage: no file there is shared, and no node reads another node's data.

use testbed::{Finished, Hosts, Program};

use crate::desk::{Desk, assert_says, run};
use crate::hosts::{file, no_hosts, over, target};

/// The command is refused with this exit code and this message, before anything was created on a host.
fn refused(hosts: &Hosts, program: &Program, code: i32, words: &[&str]) -> Finished {
    let finished = run(&over(hosts, 1, program)).expect_code(code);
    assert_says(&finished.stderr, words);
    for index in 0..hosts.count() {
        let left = run(&hosts.inside(index, &Program::new("ls").arg("-A").arg(hosts.local())));
        assert_eq!(left.expect_code(0).stdout, "", "{} was touched", hosts.name(index));
    }
    finished
}

#[test]
fn a_study_on_a_node_local_layer_shares_no_file_and_reads_nothing_across_nodes() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let study = target("ssd", &hosts.local(), "node-local")
        + "[[workload]]\nname = \"w\"\nnodes = 2\ntasks_per_node = 2\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n";
    refused(&hosts, &desk.study(&study), 2, &["4 tasks cannot share a file on `ssd`", "node-local"]);
    let across = format!("{study}sharing = \"per-task\"\nread_from = \"next-node\"\n");
    refused(&hosts, &desk.study(&across), 2, &["cannot be read across 2 nodes", "`ssd` is node-local"]);
    let own = format!("{study}sharing = \"per-task\"\n");
    let _ = run(&over(&hosts, 1, &desk.study(&own))).expect_code(0);
    assert_eq!(desk.report().state(), "complete");
}

/// IOR's options cannot name layers, so the hosts are asked whether a directory is the same on all of them.
#[test]
fn ior_on_directories_that_differ_reads_nothing_across_nodes() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let file = file(&hosts.local());
    let why = ["is another directory on node node2 than on node1", "tasks cannot read there"];
    for shift in ["-C", "-C -Q 1", "-Z"] {
        let words = format!("-w -r -F {shift} -t 64k -b 1m -o {file}");
        refused(&hosts, &desk.ior(&words), 3, &why);
    }
    let rotated = format!("randomops --yes --node-local --rotate --size 1MiB {}", hosts.local().display());
    refused(&hosts, &desk.ioproof(&rotated), 2, &["cannot be read across 2 nodes", "is node-local"]);
}

/// The node-local directory of each host is empty.
fn nothing_left(hosts: &Hosts) {
    for index in 0..hosts.count() {
        let left = run(&hosts.inside(index, &Program::new("ls").arg("-A").arg(hosts.local())));
        assert_eq!(left.expect_code(0).stdout, "", "{}", hosts.name(index));
    }
}

#[test]
fn each_node_makes_trees_and_objects_of_its_own() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let of = |work: &str, keys: &str| {
        target("ssd", &hosts.local(), "node-local")
            + "[[workload]]\nname = \"w\"\nnodes = 2\ntasks_per_node = 2\n"
            + &format!("work = \"{work}\"\n{keys}")
    };
    let tree = "items_per_directory = 20\nlevels = 1\nbranching = 2\nfile_bytes = 100\nverify = true\n";
    let refused = |study: &str, words: &[&str]| refused(&hosts, &desk.study(study), 2, words);
    refused(&of("tree", tree), &["cannot share a tree on `ssd`", "node-local", "own_trees = true"]);
    let own = format!("{tree}own_trees = true\n");
    refused(&of("tree", &format!("{own}shift = 1\n")), &["tasks cannot reach the trees of other nodes"]);
    let objects = "sets = 2\nprecreated = 20\nsteps = 10\n";
    refused(&of("objects", objects), &["tasks cannot reach the objects of other nodes", "offset = 0"]);
    for study in [of("tree", &own), of("objects", &format!("{objects}offset = 0\n"))] {
        let desk = Desk::new();
        let _ = run(&over(&hosts, 1, &desk.study(&study))).expect_code(0);
        let report = desk.report();
        assert_eq!(report.state(), "complete");
        assert!(!report.0.to_string().contains("not as this run had left"), "nobody else was there");
        nothing_left(&hosts);
    }
}

/// mdtest's options cannot name layers either.
#[test]
fn mdtest_on_directories_that_differ_needs_trees_of_each_task() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let line = |words: &str| format!("mdtest -n 20 -F -d {} --out record {words}", hosts.local().display());
    let why = ["is another directory on node node2 than on node1"];
    refused(&hosts, &desk.ioproof(&line("")), 3, &why);
    refused(&hosts, &desk.ioproof(&line("-u -N 1")), 3, &why);
    let ran = run(&over(&hosts, 1, &desk.ioproof(&line("-u")))).expect_code(0);
    assert_says(&ran.stdout, &["2 total task(s) on 2 node(s)", "2 tasks, 40 files"]);
    nothing_left(&hosts);
}
