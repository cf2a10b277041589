//! Other programs of this host.

use std::path::{Path, PathBuf};

/// Directories of system programs in addition to `PATH`. Ordinary users often lack `sbin`, and the
/// directory of GPFS is never in the default path.
const SBIN: &str = "/usr/sbin:/sbin:/usr/bin:/bin:/usr/lpp/mmfs/bin";

/// The directories in `PATH` and [`SBIN`], except relative ones, which would depend on the working
/// directory.
pub(crate) fn search_path() -> String {
    match std::env::var("PATH") {
        Ok(own) => format!("{own}:{SBIN}"),
        Err(_) => SBIN.to_owned(),
    }
}

/// The path of `program`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    find_in(&search_path(), program)
}

/// The path of the `program` that a shell would start. Only searches `PATH`.
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
