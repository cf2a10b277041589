//! A batch system on hosts of the testbed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::programs::command;
use crate::{Error, Hosts, Program, Running, Scratch};

/// How long the nodes may take to become ready. They usually take less than a second.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit of the daemons: they run until their value is dropped.
const FOR_EVER: Duration = Duration::from_secs(86_400);
/// Ranks per host: more than there are processors, because tests need that many.
const PROCESSORS: u32 = 8;

/// Slurm with a node on every host, and a controller on their network. Dropping the value tears down Slurm and its
/// hosts.
///
/// ```no_run
/// use testbed::{Hosts, Program, Slurm};
/// let slurm = Slurm::over(Hosts::of(4)?)?;
/// let finished = slurm.srun("pmix", 2, &Program::new("hostname")).run()?;
/// assert_eq!(finished.stdout.lines().count(), 8);
/// # Ok::<(), testbed::Error>(())
/// ```
#[derive(Debug)]
pub struct Slurm {
    // Fields drop in this order.
    _daemons: Vec<Running>,
    hosts: Hosts,
    scratch: Scratch,
}

impl Slurm {
    /// Whether Slurm is available.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        Hosts::available()?;
        command::needs_tools(&["slurmctld", "slurmd", "srun", "sbatch", "sinfo", "munged"])
    }

    /// Makes `hosts` the nodes of a cluster, and waits until they are ready.
    ///
    /// # Errors
    /// A daemon could not be started, or the nodes did not become ready.
    pub fn over(hosts: Hosts) -> Result<Self, Error> {
        let scratch = Scratch::on_disk()?;
        let place = scratch.path().to_path_buf();
        for directory in ["munge", "state"] {
            let path = place.join(directory);
            fs::create_dir(&path).map_err(Error::file(&path))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(Error::file(&path))?;
        }
        let key = place.join("key");
        let configuration = configuration(&place, &hosts);
        // Two clusters of the testbed never share a network, so the key does not have to be secret.
        let written = [
            (&key, "key of a cluster that lasts as long as a test\n".repeat(2), 0o600),
            (&place.join("slurm.conf"), configuration, 0o644),
            // Every node needs its own directory for this, and this path is private to each host.
            (&place.join("mpi.conf"), "PMIxCliTmpDirBase=/dev/shm\n".to_owned(), 0o644),
        ];
        for (path, text, mode) in written {
            fs::write(path, text).map_err(Error::file(path))?;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::file(path))?;
        }
        let daemon = |program: &str, arguments: Vec<OsString>| {
            Program::new(program).args(arguments).env("SLURM_CONF", place.join("slurm.conf")).limit(FOR_EVER)
        };
        let file =
            |option: &str, name: &str| OsString::from(format!("--{option}={}/{name}", place.display()));
        let munged = vec![
            "--foreground".into(),
            "--force".into(),
            file("socket", "munge/socket"),
            file("key-file", "key"),
            file("pid-file", "munge/pid"),
            file("log-file", "munge/log"),
            file("seed-file", "munge/seed"),
        ];
        let mut daemons = vec![hosts.at_head(&daemon("munged", munged)).spawn()?];
        wait("the socket of munge", || Ok(place.join("munge/socket").exists()))?;
        daemons.push(hosts.at_head(&daemon("slurmctld", vec!["-D".into()])).spawn()?);
        for (index, name) in hosts.names().into_iter().enumerate() {
            let arguments = vec!["-D".into(), "-N".into(), name.into()];
            daemons.push(hosts.inside(index, &daemon("slurmd", arguments)).spawn()?);
        }
        let slurm = Self { _daemons: daemons, hosts, scratch };
        let ready = format!("idle {}", slurm.hosts.count());
        let ask = slurm.program("sinfo").args(["--noheader", "--format=%t %D"]);
        // Until the controller listens, the command fails.
        wait("nodes that are idle", || Ok(ask.run()?.stdout.trim() == ready))?;
        Ok(slurm)
    }

    /// The hosts.
    #[must_use]
    pub const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// A Slurm command, such as `sbatch`, `squeue` or `scancel`, on the network of the cluster.
    #[must_use]
    pub fn program(&self, name: &str) -> Program {
        self.hosts.at_head(&self.known(&Program::new(name)))
    }

    /// Runs `program` under `srun`, `each` times on every host, with this process manager interface: `pmix` for Open
    /// MPI, `pmi2` for MPICH.
    #[must_use]
    pub fn srun(&self, manager: &str, each: u32, program: &Program) -> Program {
        let hosts = self.hosts.count();
        let ranks = u64::from(each) * hosts as u64;
        let words = [
            format!("--mpi={manager}"),
            "--kill-on-bad-exit=1".to_owned(),
            format!("--nodes={hosts}"),
            format!("--ntasks={ranks}"),
            format!("--ntasks-per-node={each}"),
        ];
        // By default this release alternates between two algorithms for barriers between ranks. Under load one of
        // them releases a rank too early, and the first message of that rank makes another fail in MPI_Init.
        let launched = program.under("srun", words.into_iter().map(OsString::from).collect());
        let launched = launched.env("SLURM_PMIX_FENCE", "tree");
        self.hosts.at_head(&self.known(&launched))
    }

    /// Runs a script under `sbatch`, which waits for it to end and returns its exit code. The output of the script
    /// goes to `slurm-NUMBER.out` in the directory where the program starts.
    #[must_use]
    pub fn sbatch(&self, script: &Path) -> Program {
        self.program("sbatch").arg("--wait").arg(script)
    }

    fn known(&self, program: &Program) -> Program {
        program.clone().env("SLURM_CONF", self.configuration())
    }

    /// The value of `SLURM_CONF` for every program that talks to the cluster.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.scratch.path().join("slurm.conf")
    }
}

/// Waits until `ready` returns true.
fn wait(what: &str, ready: impl Fn() -> Result<bool, Error>) -> Result<(), Error> {
    let start = Instant::now();
    while !ready()? {
        if start.elapsed() > PATIENCE {
            return Err(Error::Missing(format!("{what}, for which {} s were too short", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// `slurm.conf`: all files below `place`, no cgroups, and nodes that report more processors than they have.
fn configuration(place: &Path, hosts: &Hosts) -> String {
    let (place, nodes) = (place.display(), hosts.count());
    format!(
        "ClusterName=testbed\n\
         SlurmctldHost={head}\n\
         SlurmUser=root\n\
         AuthType=auth/munge\n\
         CredType=cred/munge\n\
         AuthInfo=socket={place}/munge/socket\n\
         StateSaveLocation={place}/state\n\
         SlurmdSpoolDir={place}/spool.%n\n\
         SlurmdPidFile={place}/slurmd.%n.pid\n\
         SlurmctldPidFile={place}/slurmctld.pid\n\
         SlurmdLogFile={place}/slurmd.%n.log\n\
         SlurmctldLogFile={place}/slurmctld.log\n\
         ProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\n\
         JobAcctGatherType=jobacct_gather/none\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\n\
         ReturnToService=2\n\
         SlurmctldTimeout=30\n\
         SlurmdTimeout=15\n\
         SchedulerType=sched/builtin\n\
         SchedulerParameters=sched_min_interval=0\n\
         MpiDefault=none\n\
         KillWait=5\n\
         SlurmdParameters=config_overrides\n\
         NodeName=node[1-{nodes}] CPUs={PROCESSORS} Sockets=1 CoresPerSocket={PROCESSORS} \
         ThreadsPerCore=1 RealMemory=4000 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES\n",
        head = crate::clusters::hosts::HEAD,
    )
}
