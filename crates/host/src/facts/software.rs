//! Storage software and its versions, from files if available, otherwise from the program's output.

use std::path::Path;

use record::{Fact, SoftwareFacts};

use crate::Root;
use crate::activity::programs::output;

/// Directories of administration programs, which are often missing in `PATH`.
const PLACES: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// How a version is found.
enum VersionSource {
    /// The driver's version is in a kernel file. The paths in `there` exist while the driver is loaded.
    Driver { there: &'static [&'static str], version: &'static [&'static str] },
    /// The version follows `after` in the first line of the program's output that contains it.
    Program { name: &'static str, arguments: &'static [&'static str], after: &'static str },
}

/// The software to look for, in display order.
const ALL: [(&str, VersionSource); 12] = [
    (
        "NVMe driver",
        VersionSource::Driver {
            there: &["/sys/bus/pci/drivers/nvme", "/sys/module/nvme"],
            version: &["/sys/module/nvme/version"],
        },
    ),
    ("mdadm", VersionSource::Program { name: "mdadm", arguments: &["--version"], after: "mdadm - " }),
    (
        "Intel RSTe (IMSM)",
        VersionSource::Program { name: "mdadm", arguments: &["--detail-platform"], after: "Version : " },
    ),
    ("LVM", VersionSource::Program { name: "lvm", arguments: &["version"], after: "LVM version:" }),
    (
        "device mapper",
        VersionSource::Program { name: "lvm", arguments: &["version"], after: "Driver version:" },
    ),
    (
        "XVM",
        VersionSource::Driver {
            there: &["/sys/module/xvm", "/proc/xvm"],
            version: &["/sys/module/xvm/version"],
        },
    ),
    (
        "GPFS (Spectrum Scale)",
        VersionSource::Program {
            name: "/usr/lpp/mmfs/bin/mmdiag",
            arguments: &["--version"],
            after: "Current GPFS build: ",
        },
    ),
    (
        "Lustre",
        VersionSource::Driver {
            there: &["/sys/fs/lustre", "/proc/fs/lustre"],
            version: &["/sys/fs/lustre/version", "/proc/fs/lustre/version"],
        },
    ),
    (
        "BeeGFS",
        VersionSource::Driver { there: &["/sys/module/beegfs"], version: &["/sys/module/beegfs/version"] },
    ),
    ("Slurm", VersionSource::Program { name: "slurmd", arguments: &["-V"], after: "slurm" }),
    ("PBS", VersionSource::Program { name: "qstat", arguments: &["--version"], after: "pbs_version =" }),
    ("Flux", VersionSource::Program { name: "flux", arguments: &["--version"], after: "flux-core version" }),
];

pub(super) fn gather(root: &Root) -> Fact<Vec<SoftwareFacts>> {
    let all = ALL.iter().map(|(name, way)| SoftwareFacts {
        name: (*name).to_owned(),
        version: match way {
            VersionSource::Driver { there, version } => of_driver(root, there, version),
            VersionSource::Program { name, arguments, after } => of_program(root, name, arguments, after),
        },
    });
    Fact::Known(all.collect())
}

fn of_driver(root: &Root, there: &[&str], version: &[&str]) -> Fact<Option<String>> {
    if !there.iter().any(|path| root.exists(path)) {
        return Fact::Known(None);
    }
    let found = version.iter().find_map(|path| root.text(path).known().cloned());
    match found {
        // Old versions of Lustre print `lustre: 2.5.3`.
        Some(text) => Fact::Known(Some(text.trim_start_matches("lustre: ").to_owned())),
        None => Fact::Unknown(format!("it is present, but there is no {}", version.join(", no "))),
    }
}

fn of_program(root: &Root, name: &str, arguments: &[&str], after: &str) -> Fact<Option<String>> {
    let Some(path) = program(root, name) else { return Fact::Known(None) };
    if !root.is_system() {
        return Fact::Unknown(format!(
            "{path} exists, but programs in a directory tree under --root are not run"
        ));
    }
    let line = format!("{path} {}", arguments.join(" "));
    match output(Path::new(&path), arguments) {
        Ok(text) => match text.lines().find_map(|line| line.split_once(after)) {
            Some((_, version)) => {
                // Debian calls it `slurm-wlm`; GPFS puts its version in quotes and ends with a full stop.
                let version = version.trim_start_matches("-wlm").trim_matches(['"', '.', ' ']);
                Fact::Known(Some(version.to_owned()))
            }
            None => Fact::Unknown(format!("`{line}` does not print {:?}", after.trim())),
        },
        Err(error) => Fact::Unknown(format!("`{line}`: {error}")),
    }
}

fn program(root: &Root, name: &str) -> Option<String> {
    let all: Vec<String> = match name.starts_with('/') {
        true => vec![name.to_owned()],
        false => PLACES.iter().map(|place| format!("{place}/{name}")).collect(),
    };
    all.into_iter().find(|path| root.exists(path))
}
