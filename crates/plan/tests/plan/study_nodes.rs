//! Studies on several nodes: how many tasks on which, and who reads what whom has written.
#![expect(clippy::unwrap_used, reason = "a study that cannot be read, or is not refused, fails the test")]

use crate::common::{RIGHT, shown, study};
use plan::study::{Options, Override, StudyErrors, read_with};
use plan::{Phase, Plan, ReadFrom, SettingValue, Terms};

/// Reads a study in a run on `nodes` nodes.
fn on(nodes: u32, text: &str, overrides: &[&str]) -> Result<Plan, StudyErrors> {
    let overrides = overrides.iter().map(|one| Override::parse(one).unwrap()).collect();
    read_with("study.toml".as_ref(), text, &Options { overrides, nodes, ..Options::default() })
}

/// The right study with something else in the place of its tasks.
fn with(keys: &str) -> String {
    RIGHT.replace("tasks = 4", &format!("sharing = \"per-task\"\n{keys}"))
}

/// Tasks and nodes of each case.
fn tasks(plan: &Plan) -> Vec<(u32, u32)> {
    plan.cases.iter().map(|case| (case.workload.tasks, case.workload.nodes)).collect()
}

#[test]
fn a_workload_is_on_all_nodes_of_the_run_that_its_tasks_reach() {
    assert_eq!(tasks(&study(RIGHT).unwrap()), [(4, 1)]);
    assert_eq!(tasks(&on(3, RIGHT, &[]).unwrap()), [(4, 3)]);
    assert_eq!(tasks(&on(16, RIGHT, &[]).unwrap()), [(4, 4)], "a node without a task is not in it");
    let named = with("tasks = 4\nnodes = 2");
    assert_eq!(tasks(&on(16, &named, &[]).unwrap()), [(4, 2)]);
    assert_eq!(
        tasks(&on(1, &named, &[]).unwrap()),
        [(4, 2)],
        "whoever runs it refuses more nodes than there are"
    );
}

#[test]
fn tasks_per_node_are_multiplied_and_both_can_be_swept() {
    let plan = on(16, &with("tasks_per_node = 24"), &[]).unwrap();
    assert_eq!(tasks(&plan), [(384, 16)]);
    let plan = on(1, &with("nodes = \"1..3\"\ntasks_per_node = [2, 5]"), &[]).unwrap();
    assert_eq!(tasks(&plan), [(2, 1), (5, 1), (4, 2), (10, 2), (6, 3), (15, 3)]);
    assert_eq!(plan.cases[3].id, "stream:nodes=2:tasks_per_node=5");
    let settings: Vec<_> = plan.cases[3].settings.iter().map(|one| (one.key.as_str(), &one.value)).collect();
    assert_eq!(settings, [("nodes", &SettingValue::Count(2)), ("tasks_per_node", &SettingValue::Count(5))]);
}

#[test]
fn an_override_of_nodes_and_tasks_takes_the_place_of_what_the_file_says() {
    let swept = with("nodes = \"1..16\"\ntasks_per_node = [64, 160]");
    let overrides = ["workload.stream.nodes=4", "workload.stream.tasks_per_node=2"];
    assert_eq!(tasks(&on(1, &swept, &overrides).unwrap()), [(8, 4)]);
    let overrides = ["workload.*.nodes=[1, 2]", "workload.*.tasks=6"];
    assert_eq!(tasks(&on(1, &swept, &overrides).unwrap()), [(6, 1), (6, 2)]);
    assert_eq!(tasks(&on(4, RIGHT, &["workload.stream.tasks_per_node=2"]).unwrap()), [(8, 4)]);
    let timed = with("duration = \"5s\"\ntasks = 2");
    let plan = on(1, &timed, &["workload.stream.operations=2000"]).unwrap();
    assert_eq!((plan.cases[0].workload.operations, plan.cases[0].workload.duration), (Some(2000), None));
}

#[test]
fn operations_are_transfers_of_each_task() {
    let plan = on(1, &with("tasks = 3\noperations = [10, 2000]"), &[]).unwrap();
    let transfers: Vec<u64> = plan.cases.iter().map(|case| case.workload.transfers()).collect();
    assert_eq!(transfers, [30, 6000]);
    assert_eq!(plan.cases[0].workload.transfers_per_pass(), 64);
}

#[test]
fn the_next_node_is_as_many_tasks_on_as_a_node_has() {
    let text = |nodes: &str| with(&format!("tasks_per_node = 6\nnodes = {nodes}\nread_from = \"next-node\""));
    let of = |plan: Plan| plan.cases.iter().map(|case| case.workload.read_from).collect::<Vec<_>>();
    assert_eq!(of(on(1, &text("4"), &[]).unwrap()), [ReadFrom::Shift { tasks: 6 }]);
    // The first point of a sweep over nodes.
    assert_eq!(of(on(1, &text("[1, 2]"), &[]).unwrap()), [ReadFrom::Same, ReadFrom::Shift { tasks: 6 }]);
}

/// Otherwise each task would read its own file, and nobody would notice.
#[test]
fn without_a_next_node_nothing_is_read_there() {
    let swept = with("tasks_per_node = 6\nnodes = [1, 4]\nread_from = \"next-node\"");
    let unstated = with("tasks = 6\nread_from = \"next-node\"");
    assert!(on(4, &unstated, &[]).is_ok());
    let refused = [
        on(1, &unstated, &[]),
        on(1, &swept, &["workload.*.nodes=1"]),
        on(1, &swept, &["workload.*.nodes=[1]"]),
    ];
    for refused in refused {
        let errors = refused.unwrap_err();
        let error = &errors.errors()[0];
        assert_eq!(error.to_string(), "`read_from` is \"next-node\", but all tasks are on one node");
        assert!(error.help_text().contains("read_from = \"same\""), "{}", error.help_text());
    }
}

#[test]
fn mistakes_about_nodes() {
    let refused = |keys: &str| shown(&on(4, &with(keys), &[]).unwrap_err());
    let wrong = [
        ("tasks_and_tasks_per_node", refused("tasks = 8\ntasks_per_node = 2")),
        ("more_nodes_than_tasks", refused("tasks = 2\nnodes = 3")),
        ("no_nodes", refused("tasks = 2\nnodes = 0")),
        ("some_points_with_more_nodes_than_tasks", refused("tasks = 4\nnodes = \"1..16\"")),
        ("too_many_tasks_on_nodes", refused("nodes = 2000\ntasks_per_node = 2000")),
        ("operations_and_duration", refused("operations = 2000\nduration = \"5s\"")),
        ("operations_and_stonewall", refused("operations = 2000\nstonewall = \"5s\"")),
        ("no_operations", refused("operations = 0")),
        ("distance_to_the_next_node", refused("tasks = 8\nread_from = \"next-node\"\nread_distance = 2")),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

/// A workload that writes, and one that reads what is there, on storage of `layer`.
fn writer_and_reader(layer: &str, writer: &str, reader: &str) -> String {
    format!(
        "[[target]]\nname = \"t\"\npath = \"/t/data\"\nlayer = \"{layer}\"\n\
         [[workload]]\nname = \"w\"\nphases = [\"write\"]\nsharing = \"per-task\"\ntransfer = \"1MiB\"\nsize = \"8MiB\"\n{writer}\n\
         [[workload]]\nname = \"r\"\nphases = [\"read\"]\nsharing = \"per-task\"\ntransfer = \"1MiB\"\nsize = \"8MiB\"\n{reader}\n"
    )
}

#[test]
fn on_storage_of_each_node_a_task_reads_only_what_was_written_there() {
    let reads = |layer, writer, reader| on(1, &writer_and_reader(layer, writer, reader), &[]).is_ok();
    assert!(reads("node-local", "nodes = 4\ntasks = 8", "nodes = 4\ntasks = 8"));
    assert!(reads("node-local", "nodes = 4\ntasks = 8", "nodes = 2\ntasks = 4"), "two tasks on each");
    assert!(!reads("node-local", "nodes = 4\ntasks = 8", "nodes = 2\ntasks = 8"), "tasks have moved");
    assert!(!reads("node-local", "nodes = 1\ntasks = 8", "nodes = 4\ntasks = 4"));
    assert!(reads("shared", "nodes = 4\ntasks = 8", "nodes = 2\ntasks = 8"));
    assert!(!reads("shared", "nodes = 4\ntasks = 4", "nodes = 2\ntasks = 8"), "half of it is not there");
    // One of two writers will do.
    assert!(reads("node-local", "nodes = [4, 2]\ntasks = 8", "nodes = 4\ntasks = 8"));
    let errors = on(1, &writer_and_reader("node-local", "nodes = 4\ntasks = 8", "nodes = 2\ntasks = 8"), &[]);
    insta::assert_snapshot!("written_on_other_nodes", shown(&errors.unwrap_err()));
}

#[test]
fn what_operations_have_written_in_part_serves_no_other_workload() {
    let reads = |writer| on(1, &writer_and_reader("shared", writer, "tasks = 2"), &[]).is_ok();
    assert!(reads("tasks = 2\noperations = 8"));
    assert!(!reads("tasks = 2\noperations = 7"));
}

/// A study of four nodes with a promise, read with overrides; the terms of the promise.
fn terms(overrides: &[&str]) -> Terms {
    let text = with("tasks_per_node = 2\nnodes = 4\nread_from = \"next-node\"")
        + "\n[[commitment]]\nname = \"reads\"\nphase = \"read\"\nstatistic = \"median\"\nbandwidth_at_least = \"1MB/s\"\n";
    on(1, &text, overrides).unwrap().criteria.commitments.remove(0).terms
}

#[test]
fn a_promise_is_about_the_nodes_and_the_rotation_that_the_file_asks_for_whatever_an_override_makes_of_them() {
    let asked = Terms { nodes: vec![4], reads_others: true, ..Terms::default() };
    assert_eq!(terms(&[]), asked);
    let fewer = ["workload.*.nodes=1", "workload.*.read_from=same"];
    assert_eq!(terms(&fewer), asked);
    assert_eq!(terms(&["workload.*.nodes=2", "commitment.reads.nodes=2"]).nodes, [2]);
    let one = Terms { taken_away: 1, ..asked };
    assert_eq!(terms(&["workload.*.phases=[\"write\"]"]), one, "the file promises reads");
    assert_eq!(terms(&["commitment.reads.phase=write"]), one);
}

#[test]
fn what_an_override_takes_out_of_a_sweep_is_counted() {
    let text = with("tasks = [1, 2, 4, 8]\nnodes = 1")
        + "\n[[commitment]]\nname = \"all\"\nphase = \"read\"\nstatistic = \"median\"\nbandwidth_at_least = \"1MB/s\"\n";
    let taken =
        |overrides: &[&str]| on(1, &text, overrides).unwrap().criteria.commitments[0].terms.taken_away;
    assert_eq!(taken(&[]), 0);
    assert_eq!(taken(&["workload.*.tasks=[1, 8]", "workload.*.size=64MiB"]), 2);
    assert_eq!(taken(&["workload.*.tasks=[1, 2, 4, 8, 16]"]), 0);
}

#[test]
fn a_figure_of_other_nodes_or_of_own_data_does_not_meet_the_terms() {
    let text = with("tasks_per_node = 2\nnodes = [1, 4]\nread_from = \"next-node\"");
    let cases = on(1, &text, &[]).unwrap().cases;
    let asked = Terms { nodes: vec![4], reads_others: true, ..Terms::default() };
    let (one, four) = (&cases[0], &cases[1]);
    assert_eq!(asked.unmet(four, Phase::Read), Vec::<String>::new());
    assert_eq!(asked.unmet(one, Phase::Write), ["it is about 4 nodes, and this is a figure of 1 node"]);
    assert_eq!(asked.unmet(one, Phase::Read).len(), 2);
    assert_eq!(Terms::default().unmet(one, Phase::Read), Vec::<String>::new());
}
