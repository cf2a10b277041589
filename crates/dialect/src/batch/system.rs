//! The differences between batch systems.

use std::fmt;

/// A batch system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum System {
    /// Slurm: sbatch, srun.
    Slurm,
    /// PBS Professional and OpenPBS: qsub, mpiexec.
    Pbs,
    /// Flux: flux batch, flux run.
    Flux,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slurm => "Slurm",
            Self::Pbs => "PBS",
            Self::Flux => "Flux",
        })
    }
}

impl System {
    /// The prefix of a directive.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::Slurm => "#SBATCH ",
            Self::Pbs => "#PBS ",
            Self::Flux => "# flux: ",
        }
    }

    /// The command that starts the ranks of a job. No rank is bound to a part of its node, because one
    /// rank has many threads there.
    pub(super) fn launcher(self, nodes: u32, ranks_per_node: u32) -> String {
        let ranks = u64::from(nodes) * u64::from(ranks_per_node);
        match self {
            Self::Slurm => format!(
                "srun --nodes={nodes} --ntasks={ranks} --ntasks-per-node={ranks_per_node} --cpu-bind=none \
                 --kill-on-bad-exit=1"
            ),
            Self::Pbs => format!("mpiexec -n {ranks}"),
            Self::Flux => format!(
                "flux run --nodes={nodes} --tasks-per-node={ranks_per_node} --exclusive --setopt=cpu-affinity=off"
            ),
        }
    }

    /// The environment variables that the launcher needs, with the reason.
    pub(super) const fn environment(self) -> &'static str {
        match self {
            // `mpiexec` is that of the site's MPI library. MPICH's does not bind ranks by default.
            Self::Pbs => {
                "# Open MPI (4 and 5) would bind each rank to a part of its node.\n\
                 export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none\n"
            }
            Self::Slurm | Self::Flux => "",
        }
    }

    /// The command that submits a script and prints the number of the job: first for any job, then for
    /// one that must wait for the end of job `$job`.
    pub(super) const fn submission(self) -> (&'static str, &'static str) {
        match self {
            Self::Slurm => ("sbatch --parsable", "sbatch --parsable --dependency=\"afterany:${job%%;*}\""),
            Self::Pbs => ("qsub", "qsub -W \"depend=afterany:$job\""),
            Self::Flux => ("flux batch", "flux batch --dependency=\"afterany:$job\""),
        }
    }

    /// The command that lists jobs.
    pub(super) const fn listing(self) -> &'static str {
        match self {
            Self::Slurm => "squeue --me",
            Self::Pbs => "qstat -u \"$(id -un)\"",
            Self::Flux => "flux jobs",
        }
    }
}
