//! Slurm starts programs as its users know it.

use std::fs;
use std::time::Duration;

use testbed::{Hosts, Program, Slurm, skipped};

#[test]
fn srun_and_sbatch_start_ranks_on_all_nodes() {
    if skipped(Slurm::available()) {
        return;
    }
    let slurm = Slurm::over(Hosts::of(4).expect("hosts")).expect("a cluster");
    let limit = Duration::from_secs(60);
    for (manager, rank) in [("pmix", "$PMIX_RANK"), ("pmi2", "$PMI_RANK")] {
        let program = Program::new("sh").args(["-c", &format!("echo {rank} $(hostname)")]).limit(limit);
        let finished = slurm.srun(manager, 2, &program).run().expect("it ends").expect_code(0);
        let mut said: Vec<_> = finished.stdout.lines().collect();
        said.sort_unstable();
        let expected: Vec<_> = (0..8).map(|rank| format!("{rank} node{}", rank / 2 + 1)).collect();
        assert_eq!(said, expected, "{manager}");
    }
    let script = slurm.hosts().shared().join("job.sh");
    let text = format!(
        "#!/bin/sh\n#SBATCH --nodes=3\n#SBATCH --output={}/said\n#SBATCH --ntasks-per-node=1\nsrun hostname | sort\nexit 7\n",
        slurm.hosts().shared().display()
    );
    fs::write(&script, text).expect("written");
    let job = slurm.sbatch(&script).limit(limit);
    let ended = job.run().expect("it ends").expect_code(7);
    assert!(ended.stdout.starts_with("Submitted batch job"), "{}", ended.stdout);
    let said = fs::read_to_string(slurm.hosts().shared().join("said")).expect("its output");
    assert_eq!(said, "node1\nnode2\nnode3\n");
}
