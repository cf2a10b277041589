//! Other programs of this host.

use std::path::{Path, PathBuf};

/// Where system programs may stand beside what `PATH` names: ordinary users often lack `sbin`, and nobody has
/// the directory of GPFS without naming it.
const SBIN: &str = "/usr/sbin:/sbin:/usr/bin:/bin:/usr/lpp/mmfs/bin";

/// Directories that `PATH` names, and [`SBIN`]. A relative one would depend on where we stand.
pub(crate) fn search_path() -> String {
    match std::env::var("PATH") {
        Ok(own) => format!("{own}:{SBIN}"),
        Err(_) => SBIN.to_owned(),
    }
}

/// Where `program` stands.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    find_in(&search_path(), program)
}

/// Where the `program` stands that a shell would start: only `PATH` is looked through.
#[must_use]
pub fn find_on_path(program: &str) -> Option<PathBuf> {
    find_in(&std::env::var("PATH").ok()?, program)
}

fn find_in(directories: &str, program: &str) -> Option<PathBuf> {
    directories
        .split(':')
        .filter(|directory| directory.starts_with('/'))
        .map(|directory| Path::new(directory).join(program))
        .find(|place| place.is_file())
}
