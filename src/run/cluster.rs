//! The processes of a run: either only this one, or all that a launcher has started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use comm::{Agreement, Comm, JoinOptions, Launched, Launcher, Mpi, Solo, Topology};
use engine::Controls;
use host::{Host, Root};
use runner::RunnerError;

use crate::console;
use crate::console::exit::{Exit, Failure};
use crate::console::signals;
use crate::defaults::Defaults;

/// The option that names the MPI library, which all commands that measure have.
const MPI: &str = "--mpi";

/// The processes of a run, as seen by the first one.
pub(crate) struct World {
    processes: Processes,
    /// Whether a launcher has started this process, even if it is the only one.
    pub(crate) launched: bool,
    /// The defaults of the command.
    pub(crate) defaults: Defaults,
}

enum Processes {
    /// Only this process.
    Alone(Solo),
    /// The processes started by a launcher.
    Started(Mpi),
}

impl World {
    /// The communicator of the processes.
    pub(crate) fn comm(&self) -> &dyn Comm {
        match &self.processes {
            Processes::Alone(solo) => solo,
            Processes::Started(mpi) => mpi,
        }
    }

    /// A world that consists of only this process.
    pub(crate) fn alone() -> Self {
        Self::of(Processes::Alone(Solo::new(Host::new(Root::default()).node())))
    }

    /// A world that consists of only this process, for a run whose nodes are described and do not exist.
    pub(crate) fn of_nodes(topology: Topology) -> Self {
        Self::of(Processes::Alone(Solo::of_nodes(topology)))
    }

    fn of(processes: Processes) -> Self {
        Self { processes, launched: false, defaults: Defaults::default() }
    }

    /// The same with these defaults.
    pub(crate) fn with(self, defaults: Defaults) -> Self {
        Self { defaults, ..self }
    }

    /// The number of nodes on which the processes run.
    pub(crate) fn nodes(&self) -> u32 {
        u32::try_from(self.comm().topology().names().len()).unwrap_or(u32::MAX)
    }

    /// The version text of the MPI library, or `None` without MPI.
    pub(crate) fn library(&self) -> Option<&str> {
        match &self.processes {
            Processes::Alone(_) => None,
            Processes::Started(mpi) => Some(mpi.library()),
        }
    }
}

/// Whether this is the first process of a launcher, or was started by hand.
pub(crate) fn is_first() -> bool {
    Launched::find(|name| std::env::var(name).ok()).is_none_or(|launched| launched.rank == 0)
}

/// Runs `measure` on the first process; the other processes follow it.
pub(crate) fn lead(
    arguments: &[OsString],
    defaults: Defaults,
    measure: impl FnOnce(&World) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let launched = Launched::find(variable);
    let library = library(arguments).or_else(|| defaults.mpi());
    let options = JoinOptions { library: library.as_deref(), variable: &variable, patience: comm::PATIENCE };
    let joined = comm::join(&options);
    let joined = joined.map_err(|error| {
        let failure = Failure::new(Exit::HostLacks, error);
        if is_first() || outlives_first(launched) { failure } else { failure.silent() }
    })?;
    let Some(mpi) = joined else {
        return measure(&World { launched: launched.is_some(), ..World::alone().with(defaults) });
    };
    let own = [("version", program()), ("arguments", words(arguments))];
    match comm::agree(&mpi, &own) {
        Err(lost) => abandon(&mpi, lost.into()),
        Ok(Agreement::Same) => {}
        Ok(Agreement::Different(different)) => {
            let told = Failure::usage(format!(
                "rank {} on node {} has {}: `{}`, and rank 0 has `{}`; start the same program with the same \
                 arguments on every rank",
                different.rank,
                different.node,
                if different.what == "arguments" { "other arguments" } else { "another version" },
                different.theirs,
                different.ours
            ));
            return leave(mpi, Err(told));
        }
        Ok(Agreement::SomebodyDiffers) => return leave(mpi, Ok(Exit::Usage)),
    }
    if mpi.rank() > 0 {
        return follow(mpi);
    }
    let world = World { processes: Processes::Started(mpi), launched: true, defaults };
    let measured = measure(&world);
    let dismissed = runner::dismiss(world.comm());
    let Processes::Started(mpi) = world.processes else { return measured };
    match (measured, dismissed) {
        (measured, Ok(())) => leave(mpi, measured),
        // The other processes cannot be reached, so only the launcher can end them.
        (Err(failure), Err(_)) => {
            console::explain(&failure);
            mpi.abort(failure.exit as i32)
        }
        (Ok(exit), Err(lost)) => {
            let failure = Failure::from(lost);
            console::explain(&failure);
            mpi.abort(if exit == Exit::Success { failure.exit } else { exit } as i32)
        }
    }
}

/// Time within which the launcher ends the job after one of its processes has failed to join.
const ENDED_BY: Duration = Duration::from_secs(4);

/// Whether this process, which could not join and is not the first, has to report the error. Usually all
/// processes fail in the same way: the first one reports the error and exits, and the launcher ends the
/// others. If a process is still alive after a while, it was the only one that failed. Processes on the same
/// node report one after another.
fn outlives_first(launched: Option<Launched>) -> bool {
    // With other launchers the remaining processes continue, and all of them would report it.
    if launched.is_none_or(|launched| launched.launcher != Launcher::OpenMpi) {
        return false;
    }
    let place = std::env::var("OMPI_COMM_WORLD_LOCAL_RANK").ok();
    let place = place.and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
    std::thread::sleep(ENDED_BY * (1 + place.min(3)));
    true
}

/// Leaves the communicator. Reports earlier errors first, because a launcher may end this process as soon as
/// another one has exited with an error.
fn leave(mpi: Mpi, result: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let result = result.map_err(|failure| {
        console::explain(&failure);
        failure.silent()
    });
    match (mpi.leave(), result) {
        (Ok(()), result) => result,
        (Err(stranded), Err(failure)) => stranded.mpi.abort(failure.exit as i32),
        (Err(stranded), Ok(_)) => abandon(&stranded.mpi, stranded.error.into()),
    }
}

/// Ends all processes after a lost connection. One of them reports the loss first, because dropping the
/// communicator would end them without a message.
fn abandon(mpi: &Mpi, lost: RunnerError) -> ! {
    let reports_loss = mpi.rank() == 0 || runner::reports_loss(&lost, mpi);
    let failure = Failure::from(lost);
    if reports_loss {
        console::explain(&failure);
    }
    mpi.abort(failure.exit as i32)
}

/// Carries out the orders of the first process until it releases this one.
fn follow(mpi: Mpi) -> Result<Exit, Failure> {
    let controls = Arc::new(Controls::new());
    let _listening = signals::stop_on_signal(&controls.stop_flags()).unwrap_or_else(|error| {
        let failure = Failure::new(Exit::Internal, error);
        console::explain(&failure);
        mpi.abort(failure.exit as i32)
    });
    let host = Host::new(Root::default());
    match runner::follow(&host, &mpi, controls) {
        Ok(()) => leave(mpi, Ok(Exit::Success)),
        Err(error) => {
            runner::wait_for_rank_0(&error);
            abandon(&mpi, error)
        }
    }
}

/// The library named on the command line.
fn library(arguments: &[OsString]) -> Option<PathBuf> {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        if word == MPI {
            return words.next().map(PathBuf::from);
        }
        if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--mpi=")) {
            return Some(PathBuf::from(path));
        }
    }
    None
}

/// An identity that must be the same for all processes: the version, and the size of the program file,
/// which differs between most builds of one version.
fn program() -> String {
    let length = std::env::current_exe().and_then(std::fs::metadata).map_or(0, |metadata| metadata.len());
    format!("{} ({length} bytes)", env!("CARGO_PKG_VERSION"))
}

fn words(arguments: &[OsString]) -> String {
    let words: Vec<_> = arguments.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
