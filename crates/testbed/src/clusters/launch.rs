//! Programs on many ranks, started by the usual launchers.

use std::ffi::OsString;

use crate::programs::command;
use crate::{Hosts, Program, Scratch};

/// The most ranks of Open MPI that this testbed supports: startup time grows to half a minute at 256.
const OPEN_MPI_RANKS_MAX: u32 = 64;
/// The most ranks of MPICH: each rank keeps a processor busy while it waits.
const MPICH_RANKS_MAX: u32 = 8;

/// A launcher that starts a program on many ranks.
///
/// ```
/// use testbed::{Launch, Program, skipped};
/// if skipped(Launch::open_mpi_available()) {
///     return;
/// }
/// let program = Program::new("printenv").arg("OMPI_COMM_WORLD_RANK");
/// let finished = Launch::open_mpi(2).start(&program).run().unwrap().expect_code(0);
/// assert_eq!(finished.stdout.lines().count(), 2);
/// ```
#[derive(Debug, Clone)]
pub struct Launch<'h> {
    launcher: Launcher,
    ranks: u32,
    hosts: Option<&'h Hosts>,
    settings: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Launcher {
    OpenMpi,
    Mpich,
}

impl<'h> Launch<'h> {
    /// `ranks` of Open MPI. With hosts, this is the number per host.
    ///
    /// # Panics
    /// There are none, or more than this machine can handle.
    #[must_use]
    pub fn open_mpi(ranks: u32) -> Self {
        Self::new(Launcher::OpenMpi, ranks, OPEN_MPI_RANKS_MAX)
    }

    /// `ranks` of MPICH. With hosts, this is the number per host.
    ///
    /// # Panics
    /// There are none, or more than this machine can handle.
    #[must_use]
    pub fn mpich(ranks: u32) -> Self {
        Self::new(Launcher::Mpich, ranks, MPICH_RANKS_MAX)
    }

    fn new(launcher: Launcher, ranks: u32, most: u32) -> Self {
        assert!((1..=most).contains(&ranks), "{ranks} ranks; 1 to {most} can be started");
        Self { launcher, ranks, hosts: None, settings: Vec::new() }
    }

    /// Whether Open MPI is available.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn open_mpi_available() -> Result<(), String> {
        command::needs_tools(&["mpirun.openmpi", "orted"])
    }

    /// Whether MPICH is available.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn mpich_available() -> Result<(), String> {
        command::needs_tools(&["mpirun.mpich", "hydra_pmi_proxy"])
    }

    /// Starts the ranks in all of these hosts, in order. Ranks on the same host are numbered consecutively.
    #[must_use]
    pub const fn over(mut self, hosts: &'h Hosts) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Additional arguments for the launcher, placed before the program.
    #[must_use]
    pub fn with<I: IntoIterator<Item = S>, S: Into<OsString>>(mut self, arguments: I) -> Self {
        self.settings.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The command that launches `program` on all ranks, with the directory and time limit of `program`.
    #[must_use]
    pub fn start(&self, program: &Program) -> Program {
        let (launcher, mut arguments) = match self.launcher {
            Launcher::OpenMpi => ("mpirun.openmpi", self.open_mpi_arguments()),
            Launcher::Mpich => ("mpirun.mpich", self.mpich_arguments()),
        };
        arguments.extend(self.settings.iter().cloned());
        let mut launched = program
            .under(launcher, arguments)
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        if let (Launcher::OpenMpi, Ok(files)) = (self.launcher, Scratch::in_memory()) {
            // Killed ranks leave their shared memory behind.
            launched =
                launched.env("OMPI_MCA_btl_vader_backing_directory", files.path()).with_files_in(files);
        }
        self.hosts.map_or(launched.clone(), |hosts| hosts.at_head(&launched))
    }

    /// Allows more ranks than processors, over shared memory and TCP only: the other transports probe for hardware
    /// and take a second to find none.
    fn open_mpi_arguments(&self) -> Vec<OsString> {
        let mut words = words("--oversubscribe --bind-to none --mca pml ob1");
        let Some(hosts) = self.hosts else {
            words.extend(self::words("--mca btl self,vader -np"));
            words.push(self.ranks.to_string().into());
            return words;
        };
        // Daemons stay children of the launcher, so that they end with it. Job directories are named after the host
        // and the PID of the launcher, which can collide with those of other tests.
        words.extend(self::words(
            "--leave-session-attached --mca btl self,vader,tcp --mca plm_rsh_no_tree_spawn 1 \
             --mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24 \
             --mca orte_tmpdir_base /dev/shm --mca plm_rsh_agent",
        ));
        words.push(hosts.entrance_path().into());
        let slots = hosts.names().into_iter().map(|name| format!("{name}:{}", self.ranks));
        words.extend(["--host".into(), slots.collect::<Vec<_>>().join(",").into(), "-np".into()]);
        words.push((u64::from(self.ranks) * hosts.count() as u64).to_string().into());
        words
    }

    fn mpich_arguments(&self) -> Vec<OsString> {
        let Some(hosts) = self.hosts else {
            return vec!["-n".into(), self.ranks.to_string().into()];
        };
        let mut words = words("-launcher ssh -launcher-exec");
        words.push(hosts.entrance_path().into());
        let places = hosts.names().into_iter().map(|name| format!("{name}:{}", self.ranks));
        words.extend(["-hosts".into(), places.collect::<Vec<_>>().join(",").into()]);
        words.extend(["-iface", "eth0", "-n"].map(OsString::from));
        words.push((u64::from(self.ranks) * hosts.count() as u64).to_string().into());
        words
    }
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}
