//! Detects from environment variables whether a launcher started this process.

use std::fmt;

/// What a launcher's variables say about this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// The launcher.
    pub launcher: Launcher,
    /// This process's number, from 0.
    pub rank: u32,
    /// Number of processes of the job step.
    pub size: u32,
    /// Number of its processes on this node, if the launcher reports it.
    pub local_size: Option<u32>,
}

/// The launcher whose variables are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpiexec` of MPICH and related libraries, or a batch system that behaves like it.
    Hydra,
    /// `flux run`.
    Flux,
    /// `mpiexec` of HPE's PALS.
    Pals,
    /// `srun`.
    Slurm,
}

impl fmt::Display for Launcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenMpi => "Open MPI's mpirun",
            Self::Hydra => "mpiexec of MPICH or its family (PMI)",
            Self::Flux => "flux run",
            Self::Pals => "mpiexec of PALS",
            Self::Slurm => "srun",
        })
    }
}

/// Each launcher's variables of rank, size, and size on this node; the innermost launcher comes first.
/// Sources: `mpirun(1)` of Open MPI; the process management interface of MPICH and related libraries
/// (`PMI_*`, `MPI_LOCALNRANKS`); `flux-environment(7)`; `srun(1)`; `mpiexec(1)` of PALS. `SLURM_NTASKS` is
/// ignored, because it describes the allocation and is also set in scripts that were not started by `srun`.
const LAUNCHERS: [(Launcher, [&str; 3]); 5] = [
    (Launcher::OpenMpi, ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"]),
    (Launcher::Hydra, ["PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"]),
    (Launcher::Flux, ["FLUX_TASK_RANK", "FLUX_JOB_SIZE", ""]),
    (Launcher::Slurm, ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"]),
    (Launcher::Pals, ["PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_SIZE"]),
];

impl Launched {
    /// Evaluates the variables, read by `variable`; `None` if this process was started by hand.
    ///
    /// ```
    /// let set = [("PMI_RANK", "2"), ("PMI_SIZE", "4")];
    /// let read = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    /// let launched = comm::Launched::find(read).expect("both are set");
    /// assert_eq!((launched.rank, launched.size, launched.local_size), (2, 4, None));
    /// assert_eq!(comm::Launched::find(|_| None), None);
    /// ```
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        // Slurm writes `4(x2)` for four tasks on each of two nodes.
        let number = |name: &str| variable(name)?.split('(').next()?.parse::<u32>().ok();
        let mut all = LAUNCHERS.iter().filter_map(|&(launcher, [rank, size, local])| {
            let (rank, size) = (number(rank)?, number(size)?);
            (rank < size).then(|| Self { launcher, rank, size, local_size: number(local) })
        });
        let first = all.next()?;
        // Batch systems set the interface's variables too. If these agree, the batch system is the
        // launcher; otherwise it has only started the launcher's daemons.
        let same = |other: &Self| (other.rank, other.size) == (first.rank, first.size);
        let batch = if first.launcher == Launcher::Hydra { all.find(same) } else { None };
        Some(batch.unwrap_or(first))
    }
}

#[cfg(test)]
mod tests {
    use super::{Launched, Launcher};

    fn find(set: &[(&str, &str)]) -> Option<Launched> {
        Launched::find(|name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn each_launcher_is_known_by_its_variables() {
        let slurm =
            [("SLURM_PROCID", "5"), ("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_STEP_TASKS_PER_NODE", "4(x2)")];
        let expected = Launched { launcher: Launcher::Slurm, rank: 5, size: 8, local_size: Some(4) };
        assert_eq!(find(&slurm), Some(expected));
        let with_interface = [&slurm[..], &[("PMI_RANK", "5"), ("PMI_SIZE", "8")]].concat();
        assert_eq!(find(&with_interface), Some(expected));
        let flux =
            find(&[("FLUX_TASK_RANK", "1"), ("FLUX_JOB_SIZE", "2"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")]);
        assert_eq!(flux.map(|l| (l.launcher, l.rank, l.size)), Some((Launcher::Flux, 1, 2)));
        let pals = find(&[("PALS_RANKID", "1"), ("PMI_SIZE", "2")]);
        assert_eq!(pals.map(|l| (l.launcher, l.rank, l.size)), Some((Launcher::Pals, 1, 2)));
    }

    #[test]
    fn a_launcher_inside_an_allocation_is_the_one_that_counts() {
        // Slurm started one daemon of mpiexec on each of two nodes, and those started eight ranks.
        let set =
            [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "2"), ("PMI_RANK", "7"), ("PMI_SIZE", "8")];
        assert_eq!(find(&set).map(|l| (l.launcher, l.rank, l.size)), Some((Launcher::Hydra, 7, 8)));
        let set = [&set[..], &[("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")]].concat();
        assert_eq!(find(&set).map(|l| (l.launcher, l.rank, l.size)), Some((Launcher::OpenMpi, 3, 4)));
        assert_eq!(find(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
    }
}
