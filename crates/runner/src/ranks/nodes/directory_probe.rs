//! Checks whether a directory is the same on all nodes: a file created by the first node must be visible
//! on every other node.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use comm::Comm;

use crate::RunnerError;
use crate::files::cleanup::RemoveOnDrop;
use crate::ranks::order::{Answer, Order};
use crate::ranks::rank_group::give;

/// Number of attempts, because a shared file system may show a new file on other nodes with a delay.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// A directory that some nodes do not share with the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeLocalDirectory {
    pub(crate) directory: PathBuf,
    /// The name of the first node with a different directory.
    pub(crate) node: String,
}

/// Those of `directories` that are not the same on all nodes. If no file can be created in a directory, it
/// counts as shared; the check of write access reports it.
///
/// # Errors
/// Errors if a rank is lost.
pub(crate) fn find_node_local(
    comm: &dyn Comm,
    directories: Vec<PathBuf>,
    run_id: &str,
) -> Result<Vec<NodeLocalDirectory>, RunnerError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut met = Vec::new();
    for directory in directories {
        let path = directory.join(name(run_id));
        if make(&path).is_ok() {
            paths.push(path);
            met.push(directory);
        }
    }
    // Removed on every return path.
    let _removals: Vec<RemoveOnDrop<'_>> = paths.iter().map(|path| RemoveOnDrop::of(path)).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let order = Order::FindMissing { paths: paths.clone() };
    let Answer::Missing(mut missing) = give(comm, &order, || Ok(Answer::Missing(Vec::new())))? else {
        return Err(RunnerError::OutOfPlace);
    };
    missing.sort_unstable();
    missing.dedup_by_key(|(path, _)| *path);
    let names = comm.topology().names();
    let of_node = |(path, node): (usize, u32)| {
        let (directory, node) = (met.get(path)?.clone(), names.get(node as usize)?.clone());
        Some(NodeLocalDirectory { directory, node })
    };
    Ok(missing.into_iter().filter_map(of_node).collect())
}

/// Looks for `paths`, which rank 0 has just created. Done on the first rank of each node.
pub(crate) fn find_missing(comm: &dyn Comm, paths: &[PathBuf]) -> Answer {
    let (topology, rank) = (comm.topology(), comm.rank());
    if !topology.is_leader(rank) {
        return Answer::Missing(Vec::new());
    }
    let node = topology.node_of()[rank as usize];
    let mut missing: Vec<usize> = (0..paths.len()).collect();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        missing.retain(|index| File::open(&paths[*index]).is_err());
        if missing.is_empty() {
            break;
        }
    }
    Answer::Missing(missing.into_iter().map(|index| (index, node)).collect())
}

/// A unique name.
fn name(run_id: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    record::trial_name(&format!("handshake-{run_id}-{now}"))
}

fn make(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path).map(drop)
}
