//! Selects the MPI library: the one named by the user, or otherwise one that matches the launcher.

use std::path::{Path, PathBuf};

use super::calls::{self, LoadedLibrary, ProbedLibrary};
use crate::{JoinError, Launched, Launcher};

/// Names of libraries of the standard ABI.
const STANDARD: [&str; 3] = ["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"];

/// Names of Open MPI's library: 1.10 to 5, the next version, and the one for compilers.
const OPEN_MPI: [&str; 3] = ["libmpi.so.40", "libmpi.so.80", "libmpi.so"];

/// Names of libraries with MPICH's ABI: those of the ABI initiative, Debian's MPICH, and Cray's.
const MPICH: [&str; 5] =
    ["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", "libmpi_gnu.so.12", "libmpi.so"];

/// Variables that name the directory in which an MPI is installed.
const ROOTS: [&str; 5] = ["OPAL_PREFIX", "I_MPI_ROOT", "MPI_ROOT", "MPI_HOME", "CRAY_MPICH_DIR"];

/// Directories of libraries below an installation. Intel's libraries are in the third and fourth.
const BELOW: [&str; 4] = ["lib", "lib64", "lib/release", "intel64/lib/release"];

/// The maker of a library. Its processes can only connect under launchers that use the same protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    OpenMpi,
    Mpich,
}

impl Maker {
    fn of(found: &ProbedLibrary) -> Self {
        if found.abi == calls::Abi::OpenMpi || found.version.contains("Open MPI") {
            Self::OpenMpi
        } else {
            Self::Mpich
        }
    }

    /// The maker that a launcher requires, or `None` if it can start either.
    fn of_launcher(launcher: Launcher) -> Option<Self> {
        match launcher {
            Launcher::OpenMpi => Some(Self::OpenMpi),
            Launcher::Hydra | Launcher::Pals => Some(Self::Mpich),
            Launcher::Flux | Launcher::Slurm => None,
        }
    }
}

/// Loads a library for a process launched this way. Also returns the library's name or path. `library` is
/// the one named by the user; `variable` reads an environment variable.
pub(super) fn find(
    library: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
    launched: Launched,
) -> Result<(LoadedLibrary, PathBuf), JoinError> {
    if let Some(path) = library {
        return match calls::load(path)? {
            Some(found) => Ok((found.keep(path)?, path.to_owned())),
            None => Err(JoinError::NoLibrary { launched, tried: path.display().to_string() }),
        };
    }
    let needed = Maker::of_launcher(launched.launcher);
    let mut tried = Vec::new();
    for name in candidates(variable, launched.launcher) {
        let what = match calls::load(&name) {
            Ok(Some(found)) if needed.is_none_or(|needed| needed == Maker::of(&found)) => {
                return Ok((found.keep(&name)?, name));
            }
            Ok(Some(found)) => format!("{} ({})", name.display(), found.version),
            Ok(None) => name.display().to_string(),
            Err(JoinError::Unloadable { reason, .. }) => format!("{} ({reason})", name.display()),
            Err(error) => return Err(error),
        };
        tried.push(what);
    }
    Err(JoinError::NoLibrary { launched, tried: tried.join(", ") })
}

/// The libraries that can be loaded here without a launcher, one of each maker, with their version texts; `named`
/// alone if it is given.
pub(super) fn installed(
    named: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(PathBuf, String)> {
    if let Some(named) = named {
        let found = calls::load(named).ok().flatten();
        return found.map(|found| (named.to_owned(), found.version)).into_iter().collect();
    }
    let of_launcher = |launcher| {
        let needed = Maker::of_launcher(launcher);
        candidates(variable, launcher).into_iter().find_map(|name| {
            let found = calls::load(&name).ok()??;
            needed.is_none_or(|needed| needed == Maker::of(&found)).then_some((name, found.version))
        })
    };
    [Launcher::OpenMpi, Launcher::Hydra].into_iter().filter_map(of_launcher).collect()
}

/// Candidates for the library, best first: next to the launcher and where variables point, then in the
/// loader's search path.
fn candidates(variable: &dyn Fn(&str) -> Option<String>, launcher: Launcher) -> Vec<PathBuf> {
    let open_mpi_first = match launcher {
        Launcher::OpenMpi => true,
        Launcher::Hydra | Launcher::Pals => false,
        // `srun --mpi=TYPE`: Open MPI uses PMIx, MPICH uses PMI.
        Launcher::Slurm | Launcher::Flux => match variable("SLURM_MPI_TYPE") {
            Some(kind) if kind.starts_with("pmi2") || kind.contains("cray") => false,
            Some(kind) if kind.starts_with("pmix") || kind.starts_with("openmpi") => true,
            _ => variable("PMIX_RANK").is_some() || variable("PMI_FD").is_none(),
        },
    };
    let (first, second) =
        if open_mpi_first { (&OPEN_MPI[..], &MPICH[..]) } else { (&MPICH[..], &OPEN_MPI[..]) };
    let mut names: Vec<&str> = STANDARD.to_vec();
    names.extend(first);
    match launcher {
        Launcher::Slurm | Launcher::Flux => names.extend(second),
        Launcher::OpenMpi | Launcher::Hydra | Launcher::Pals => {}
    }
    let mut all: Vec<PathBuf> = Vec::new();
    for directory in directories(variable) {
        all.extend(names.iter().map(|name| directory.join(name)).filter(|path| path.exists()));
    }
    all.extend(names.iter().map(PathBuf::from));
    let mut seen = std::collections::HashSet::new();
    all.retain(|path| seen.insert(path.clone()));
    all
}

/// Directories of libraries of the launcher's own installation.
fn directories(variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ROOTS.iter().filter_map(|name| variable(name)).map(PathBuf::from).collect();
    // The parent is the launcher or its helper on this node: `bin/mpirun`, `bin/hydra_pmi_proxy`.
    let parent = Path::new("/proc").join(std::os::unix::process::parent_id().to_string()).join("exe");
    let beside = std::fs::read_link(parent).ok();
    roots.extend(beside.as_deref().and_then(Path::parent).and_then(Path::parent).map(Path::to_owned));
    roots
        .iter()
        .flat_map(|root| BELOW.iter().map(|below| root.join(below)))
        .filter(|path| path.is_dir())
        .collect()
}
