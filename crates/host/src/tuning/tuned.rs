//! TuneD, the daemon that study C has set its storage profile with.

use std::io;

use super::programs::Programs;
use crate::Root;

/// The program, and what to install for it.
pub(super) const PROGRAM: &str = "tuned-adm";
pub(super) const PACKAGE: &str =
    "install the package tuned (Debian: apt install tuned; Red Hat: dnf install tuned)";
/// Where TuneD keeps the name of the profile: until 2.23, then since.
const ACTIVE: &str = "/etc/tuned/active_profile";
/// Where profiles stand, a directory each: of the system and of the user, until 2.23 and since.
const PROFILES: [&str; 4] =
    ["/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles"];
/// As study C names it.
pub(super) const PUBLISHED: &str = "enterprise-storage";
/// What came after it.
pub(super) const SUCCESSOR: &str = "throughput-performance";

/// The active profile; empty where TuneD is not there or has none.
pub(super) fn active(root: &Root) -> io::Result<String> {
    match root.read_setting(ACTIVE) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// Whether TuneD has a profile of this name.
pub(super) fn has(root: &Root, profile: &str) -> bool {
    PROFILES.iter().any(|directory| root.exists(&format!("{directory}/{profile}/tuned.conf")))
}

/// Makes a profile the active one; an empty name makes it none.
pub(super) fn activate(programs: &Programs, profile: &str) -> io::Result<()> {
    if profile.is_empty() {
        return programs.run(PROGRAM, &["off"]).map(|_| ());
    }
    let mut arguments = vec!["profile"];
    // Several profiles may be active together; their names are parted by spaces.
    arguments.extend(profile.split_whitespace());
    programs.run(PROGRAM, &arguments).map(|_| ())
}
