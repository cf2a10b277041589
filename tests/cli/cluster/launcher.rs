//! Environment variables of a launcher without a working launcher behind them; nodes.rs tests the real launchers.

use testbed::Finished;

use crate::desk::{Desk, assert_says, names, run};

/// One of four processes that appear to have been started by `srun`.
fn process(desk: &Desk, rank: u32, library: &str) -> Finished {
    let program = desk.ior(&format!("-w -r -F -t 4k -b 4k -k -o f --mpi {library}"));
    let program = program.env("SLURM_STEP_NUM_TASKS", "4").env("SLURM_STEP_TASKS_PER_NODE", "4");
    run(&program.env("SLURM_PROCID", rank.to_string()))
}

#[test]
fn a_library_that_is_not_there_is_named_by_the_first_process_alone() {
    let desk = Desk::new();
    let first = process(&desk, 0, "/nowhere/libmpi.so").expect_code(4);
    assert_says(&first.stderr, &["/nowhere/libmpi.so", "--mpi"]);
    assert_eq!(first.stderr.lines().count(), 1, "{}", first.stderr);
    for rank in 1..4 {
        let other = process(&desk, rank, "/nowhere/libmpi.so").expect_code(4);
        assert_eq!(other.stdout + &other.stderr, "");
    }
    assert_eq!(names(&desk.path("")), [""; 0], "nothing was touched");
}

#[test]
fn a_library_that_is_no_mpi_is_refused() {
    let desk = Desk::new();
    let first = process(&desk, 0, "libm.so.6").expect_code(4);
    assert_says(&first.stderr, &["libm.so.6", "not a known MPI library"]);
    assert_eq!(names(&desk.path("")), [""; 0], "nothing was touched");
}
