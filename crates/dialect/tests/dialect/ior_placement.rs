//! Where the tasks of a command line are when a launcher has started several processes.
#![expect(clippy::unwrap_used, reason = "a line that is not accepted fails the test")]

use dialect::ToolError;
use dialect::ior::{Launcher, ParsedCommand, parse};
use plan::{Phase, Placement, ReadFrom, Spread, Workload, assign};

/// Four nodes of six processes, which fill one node after the other.
fn by_slot() -> Vec<u32> {
    (0..24).map(|rank| rank / 6).collect()
}

/// The same, one process on each node in turn: `mpirun --map-by node`.
fn by_node() -> Vec<u32> {
    (0..24).map(|rank| rank % 4).collect()
}

fn ask(line: &str, node_of: &[u32]) -> Result<ParsedCommand, ToolError> {
    let launcher = Launcher { node_of, ..Launcher::default() };
    parse(&line.split_whitespace().collect::<Vec<_>>(), launcher)
}

fn workload(line: &str, node_of: &[u32]) -> Workload {
    ask(line, node_of).unwrap_or_else(|error| panic!("{line}: {error}")).plan.cases[0].workload.clone()
}

/// The node of each task, by the placement that the run uses.
fn node_of_task(workload: &Workload, node_of: &[u32]) -> Vec<u32> {
    let assigned = assign(workload, node_of).unwrap();
    assigned.iter().flat_map(|one| one.tasks.clone().map(|_| node_of[one.rank as usize])).collect()
}

/// Tasks that read what their own node has written.
fn at_home(workload: &Workload, node_of: &[u32]) -> usize {
    let nodes = node_of_task(workload, node_of);
    let owner = |task| Placement::new(workload).owner(task, Phase::Read, 0);
    (0..workload.tasks).filter(|&task| nodes[task as usize] == nodes[owner(task) as usize]).count()
}

#[test]
fn a_task_is_on_the_process_of_its_number() {
    for node_of in [by_slot(), by_node()] {
        let all = workload("ior -F", &node_of);
        assert_eq!((all.tasks, all.nodes, all.spread), (24, 4, Spread::Ranks { tasks_per_rank: 1 }));
        assert_eq!(node_of_task(&all, &node_of), node_of);
        assert_eq!(workload("ior -F -N -1", &node_of), all);
    }
}

#[test]
fn several_tasks_of_a_process_are_neighbours() {
    let all = workload("ior -F --tasks-per-rank 3", &by_node());
    assert_eq!((all.tasks, all.nodes), (72, 4));
    let nodes = node_of_task(&all, &by_node());
    assert_eq!(nodes[..7], [0, 0, 0, 1, 1, 1, 2]);
    let some = workload("ior -F -N 70 --tasks-per-rank=3", &by_slot());
    assert_eq!(some.tasks, 70, "the last process has one task");
}

#[test]
fn fewer_tasks_leave_the_last_processes_and_their_nodes_idle() {
    let nodes = |line: &str, node_of: &[u32]| workload(line, node_of).nodes;
    assert_eq!(nodes("ior -N 6", &by_slot()), 1);
    assert_eq!(nodes("ior -N 7", &by_slot()), 2);
    assert_eq!(nodes("ior -N 7", &by_node()), 4);
    assert_eq!(nodes("ior -N 3", &by_node()), 3);
    assert_eq!(nodes("ior -N 4 --tasks-per-rank 2", &by_node()), 2);
}

#[test]
fn more_tasks_than_the_processes_carry_are_refused_with_what_would_do() {
    let error = |line: &str| ask(line, &by_slot()).unwrap_err().to_string();
    let said = error("ior -N 25");
    assert!(
        said.contains("-N 25") && said.contains("24 processes") && said.contains("--tasks-per-rank 2"),
        "{said}"
    );
    let said = error("ior -N 132 --tasks-per-rank 4");
    assert!(said.ends_with("--tasks-per-rank 6"), "{said}");
    assert!(ask("ior -N 132 --tasks-per-rank 6", &by_slot()).is_ok());
    for wrong in ["0", "-1", "many"] {
        assert!(error(&format!("ior --tasks-per-rank {wrong}")).contains("at least 1"));
    }
}

#[test]
fn by_hand_this_process_carries_all_tasks() {
    let all = workload("ior -N 132", &[]);
    assert_eq!((all.tasks, all.nodes, all.spread), (132, 1, Spread::Nodes));
    assert_eq!(workload("ior --tasks-per-rank 4", &[]).tasks, 4);
}

#[test]
fn over_nodes_no_task_reads_what_its_own_node_wrote() {
    for node_of in [by_slot(), by_node()] {
        for line in
            ["ior -F -C", "ior -F -C -Q 2", "ior -F -C -Q 3", "ior -F -C --tasks-per-rank 5", "ior -C"]
        {
            assert_eq!(at_home(&workload(line, &node_of), &node_of), 0, "{line} {node_of:?}");
        }
        // Four nodes on: round to the own one, as asked.
        assert_eq!(at_home(&workload("ior -F -C -Q 4", &node_of), &node_of), 24);
        assert_eq!(at_home(&workload("ior -F", &node_of), &node_of), 24);
    }
}

#[test]
fn the_shift_is_that_of_the_placement() {
    let shift = |line: &str, node_of: &[u32]| workload(line, node_of).read_from;
    assert_eq!(shift("ior -C", &by_slot()), ReadFrom::Shift { tasks: 6 });
    assert_eq!(shift("ior -C -Q 2", &by_slot()), ReadFrom::Shift { tasks: 12 });
    assert_eq!(shift("ior -C --tasks-per-rank 5", &by_slot()), ReadFrom::Shift { tasks: 30 });
    assert_eq!(shift("ior -C", &by_node()), ReadFrom::Shift { tasks: 1 });
    assert_eq!(shift("ior -C --tasks-per-rank 5", &by_node()), ReadFrom::Shift { tasks: 5 });
    // On one node it is the neighbour's, whichever process it is on.
    assert_eq!(shift("ior -C -N 6", &by_slot()), ReadFrom::Shift { tasks: 1 });
    let least = |line: &str, node_of: &[u32]| match shift(line, node_of) {
        ReadFrom::Shuffle { at_least, seed, reseed } => (at_least, seed, reseed),
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(least("ior -Z -X 5", &by_slot()), (6, 5, false));
    assert_eq!(least("ior -Z -X -5 -Q 2", &by_slot()), (12, (-5_i64).cast_unsigned(), true));
    assert_eq!(least("ior -Z", &by_node()), (1, 0, false));
}

#[test]
fn two_mounts_are_used_by_even_and_odd_nodes() {
    let all = workload("ior -F -y -o /m", &by_slot());
    let mount = |task: u32| {
        let path = Placement::new(&all).file(task, Phase::Write, 0).path;
        path.to_str().unwrap().starts_with("/m1/data")
    };
    let odd: Vec<u32> = (0..24).filter(|&task| mount(task)).collect();
    assert_eq!(odd, [6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23]);
}

#[test]
fn the_meaning_says_where_tasks_are() {
    let meaning = |line: &str, name: &str, node_of: &[u32]| {
        let notes = ask(line, node_of).unwrap().notes;
        notes.into_iter().find(|note| note.name == name).unwrap().meaning
    };
    let tasks = |line: &str| meaning(line, "numTasks", &by_slot());
    assert_eq!(tasks("ior -N 12"), "12 tasks, one on each of the first 12 processes on 2 nodes");
    assert_eq!(tasks("ior -N 9 --tasks-per-rank 4"), "9 tasks, 4 on each of the first 3 processes");
    let shift = |node_of: &[u32]| meaning("ior -C", "reorderTasksConstant", node_of);
    assert!(shift(&by_slot()).contains("task t + 6 wrote (1 × 6 tasks of a node)"), "{}", shift(&by_slot()));
    assert!(shift(&by_node()).contains("task t + 1 wrote (1 × 1 to the next node)"), "{}", shift(&by_node()));
}
