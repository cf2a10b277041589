//! Names of the files that the program adds to a target directory beside those of a workload: claims, and temporary
//! files, which exist for a moment and are named by no claim. Both contain the node, so that what a killed process has
//! left can be told from what a process on another node is using.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::files::replacement::unfinished_parts;

const CLAIM_PREFIX: &str = ".ioproof-claim-";
const CLAIM_SUFFIX: &str = ".json";
const TRIAL_PREFIX: &str = ".ioproof-trial-";
const TRIAL_SUFFIX: &str = ".unfinished";

/// The name of the claim of a run on a node.
pub(super) fn claim_name(run_id: &str, node: &str) -> String {
    format!("{CLAIM_PREFIX}{}@{}{CLAIM_SUFFIX}", plain(run_id), plain(node))
}

/// Whether a file has the name of a claim.
pub(super) fn is_claim(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(CLAIM_PREFIX) && name.ends_with(CLAIM_SUFFIX))
}

/// The name of a file that this process creates in a target directory to learn something about the directory, and
/// then removes. `purpose` distinguishes it from other files of the process. If the process is killed, the next run in
/// the directory removes it, and so does `ioproof clean`.
#[must_use]
pub fn trial_name(purpose: &str) -> String {
    let (purpose, host, process) = (plain(purpose), host(), std::process::id());
    format!("{TRIAL_PREFIX}{purpose}@{host}.{process}{TRIAL_SUFFIX}")
}

/// Whether a file has the name of a temporary file of some process.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).and_then(maker).is_some()
}

/// The node and the process that have created the temporary file `name`: a trial, or a claim that is being written.
fn maker(name: &str) -> Option<(&str, u32)> {
    if let Some((claim, process)) = unfinished_parts(name) {
        let claim = claim.strip_prefix(CLAIM_PREFIX).and_then(|rest| rest.strip_suffix(CLAIM_SUFFIX));
        if let Some((_, node)) = claim.and_then(|claim| claim.rsplit_once('@')) {
            return Some((node, process));
        }
    }
    let (_, maker) = name.strip_prefix(TRIAL_PREFIX)?.strip_suffix(TRIAL_SUFFIX)?.rsplit_once('@')?;
    let (node, process) = maker.rsplit_once('.')?;
    Some((node, process.parse().ok()?))
}

/// Removes the temporary files that processes of this user and host have left in `directory` because they were killed.
/// Returns the number of files removed.
pub fn remove_temporary_files(directory: &Path) -> usize {
    let (host, user) = (host(), rustix::process::geteuid().as_raw());
    let is_over = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let of_this_host = name.to_str().and_then(maker).filter(|(node, _)| *node == host);
        of_this_host.is_some_and(|(_, process)| !Path::new(&format!("/proc/{process}")).exists())
    };
    let is_ours = |entry: &fs::DirEntry| {
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.uid() == user)
    };
    let left = fs::read_dir(directory).into_iter().flatten().flatten();
    left.filter(|entry| is_over(entry) && is_ours(entry))
        .filter(|entry| fs::remove_file(entry.path()).is_ok())
        .count()
}

/// The kernel's name of this node, as part of a file name.
fn host() -> String {
    plain(&rustix::system::uname().nodename().to_string_lossy())
}

/// Converts `text` to a part of a file name without special characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}
