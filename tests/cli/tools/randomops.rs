//! `ioproof randomops`: a fixed number of random operations by many tasks, and their results.

use testbed::{Hosts, Launch, skipped};

use crate::desk::{Desk, assert_near, assert_says, names, run};
use crate::hosts::{list, no_hosts, number, over};

#[test]
fn four_by_four_ranks_do_two_thousand_operations_each_and_get_a_row_of_the_job_table() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(4).expect("hosts"));
    let directory = hosts.shared();
    let words = "randomops --yes --operations 2000 --tasks-per-node 4 --size 1MiB --repetitions 1 --out";
    let program = desk.ioproof(words).arg(desk.record()).arg(&directory);
    let ran = run(&over(&hosts, 4, &program)).expect_code(0);
    assert_eq!(names(&directory), [""; 0], "files are removed");

    let jobs = list(&desk, "statements/job");
    let [published @ .., job] = &jobs[..] else { panic!("one job: {jobs:?}") };
    let above: Vec<_> = published.iter().filter_map(|one| one["job"].as_str()).collect();
    assert_eq!(above, ["12501", "12504", "12515"], "those that were published stand above it");
    let of = |key: &str| number(&job[key]);
    assert_eq!((of("nodes"), of("tasks"), of("operations_per_task")), (4.0, 16.0, 2000.0));
    assert_near("by wall time", of("by_wall_per_second"), 32_000.0 / of("seconds"), 1e-9);
    assert!(of("by_wall_per_second") <= of("by_io_per_second"), "open and close take time: {job}");
    assert!(of("by_io_per_second") <= of("sum_of_tasks_per_second"), "tasks wait for the last: {job}");

    let figure = &list(&desk, "figures")[0];
    assert_eq!(number(&figure["latency"][0]["transfers"]), 32_000.0, "each of them has a latency");
    let header = ["N", "n", "time", "# ops/task", "by wall time", "by I/O phase", "sum of tasks"];
    let table = ran.stdout.lines().find(|line| header.iter().all(|name| line.contains(name)));
    assert!(table.is_some(), "{}", ran.stdout);
    assert_says(&ran.stdout, &["16 tasks on 4 nodes", "2000 random reads of 4 KiB each"]);
    assert_says(&desk.tables(), &["0 of 16 tasks read what their own node had written"]);
}

#[test]
fn every_process_of_a_launcher_has_a_task_or_it_is_refused() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let words = "randomops --yes --operations 100 --size 1MiB --repetitions 1 --out record .";
    let ran = run(&Launch::open_mpi(4).start(&desk.ioproof(words))).expect_code(0);
    assert_says(&ran.stdout, &["4 tasks"]);
    let fewer = desk.ioproof(&words.replace("record .", "other --tasks-per-node 2 ."));
    let refused = run(&Launch::open_mpi(4).start(&fewer));
    assert_ne!(refused.code, Some(0));
    assert_says(&refused.stderr, &["4 processes on a node would share 2 tasks"]);
}
