//! Called through a launcher, as job scripts call IOR.

use testbed::Finished;

use crate::desk::{Desk, assert_says, names, run};

/// One of four processes that Open MPI's launcher started.
fn process(desk: &Desk, rank: u32, on_this_node: u32) -> Finished {
    let program = desk.ior("-w -r -F -t 4k -b 4k -k -o f").env("OMPI_COMM_WORLD_SIZE", "4");
    let program = program.env("OMPI_COMM_WORLD_RANK", rank.to_string());
    run(&program.env("OMPI_COMM_WORLD_LOCAL_SIZE", on_this_node.to_string()))
}

#[test]
fn the_first_process_carries_out_the_tasks_of_all_and_the_others_keep_still() {
    let desk = Desk::new();
    for rank in 1..4 {
        let still = process(&desk, rank, 4).expect_code(0);
        assert_eq!(still.stdout + &still.stderr, "");
    }
    assert_eq!(names(&desk.path("")), [""; 0]);
    let first = process(&desk, 0, 4).expect_code(0);
    assert_says(&first.stdout, &["tasks : 4", "clients per node : 4"]);
    assert_eq!(names(&desk.path("")), ["f.00000000", "f.00000001", "f.00000002", "f.00000003", "record"]);
}

#[test]
fn processes_on_several_nodes_are_refused_with_the_reason() {
    let desk = Desk::new();
    let failed = process(&desk, 0, 2).expect_code(4);
    assert_says(&failed.stderr, &["4 processes on several nodes", "one node"]);
    assert_eq!(names(&desk.path("")), [""; 0], "nothing was touched");
}
