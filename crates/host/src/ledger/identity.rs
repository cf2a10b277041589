//! Identifies the writer of a ledger: a host, and a process on it that may have ended.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Root;

/// Identity of a host and of its current boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostIdentity {
    /// Content of `/etc/machine-id` (`machine-id(5)`); empty if it does not exist.
    pub machine_id: String,
    /// The node name. In earlier versions, ledgers of tuning called it `node`.
    #[serde(alias = "node")]
    pub name: String,
    /// Content of `/proc/sys/kernel/random/boot_id`, which changes with each boot; empty if the kernel
    /// has none.
    pub boot_id: String,
}

impl HostIdentity {
    /// The identity of the host under `root`.
    #[must_use]
    pub fn of(root: &Root) -> Self {
        let text = |path: &str| root.text(path).known().cloned().unwrap_or_default();
        Self {
            machine_id: text("/etc/machine-id"),
            name: crate::system::node_name(root),
            boot_id: text("/proc/sys/kernel/random/boot_id"),
        }
    }

    /// Whether both are the same host, possibly rebooted. This is the check before data is destroyed, so
    /// a host that was both renamed and rebooted is not recognised.
    pub(crate) fn is_same_host(&self, other: &Self) -> bool {
        let is_same_boot = !self.boot_id.is_empty() && self.boot_id == other.boot_id;
        // Machines cloned from one image may have the same machine id; they differ in their names.
        is_same_boot || (self.machine_id == other.machine_id && self.name == other.name)
    }

    /// Whether both are the same host, possibly under another name. This check is for settings, whose
    /// restoration does no harm.
    #[must_use]
    pub fn is_same_machine(&self, other: &Self) -> bool {
        if self.machine_id.is_empty() || other.machine_id.is_empty() {
            return self.name == other.name;
        }
        self.machine_id == other.machine_id
    }

    /// Whether the host has not been rebooted in between.
    pub(crate) fn is_same_boot(&self, other: &Self) -> bool {
        self.is_same_host(other) && self.boot_id == other.boot_id
    }
}

/// The identity of a process, which distinguishes it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: u32,
    /// Its start time in clock ticks since boot (`proc_pid_stat(5)`, field 22).
    start_ticks: u64,
    /// The target of `/proc/self/ns/pid`: the namespace of its number.
    pid_namespace: Option<PathBuf>,
}

impl ProcessIdentity {
    /// The identity of this process.
    pub(crate) fn this() -> Self {
        let pid = std::process::id();
        Self { pid, start_ticks: start_ticks(pid).unwrap_or(0), pid_namespace: pid_namespace() }
    }

    /// Whether the process still runs, on a host that was not rebooted. A process in another PID namespace
    /// is not visible, so it is assumed to run.
    pub(crate) fn is_alive(&self) -> bool {
        let is_unseen = self.pid_namespace.is_some() && self.pid_namespace != pid_namespace();
        is_unseen || start_ticks(self.pid) == Some(self.start_ticks)
    }

    /// Whether it is this process.
    pub(crate) fn is_this(&self) -> bool {
        *self == Self::this()
    }
}

fn pid_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/self/ns/pid").ok()
}

/// The start time. Returns `None` if there is no such process or it is a zombie. The second field, the
/// name, may contain any characters, so fields are counted from its closing parenthesis.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{HostIdentity, ProcessIdentity};

    #[test]
    fn this_process_is_alive_and_one_with_its_number_and_another_start_is_not() {
        let own = ProcessIdentity::this();
        assert!(own.is_alive() && own.is_this());
        let before = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
        assert!(!before.is_alive() && !before.is_this());
    }

    #[test]
    fn a_host_stays_itself_when_it_starts_anew() {
        let host = |machine: &str, name: &str, boot: &str| HostIdentity {
            machine_id: machine.into(),
            name: name.into(),
            boot_id: boot.into(),
        };
        let before = host("a", "n1", "1");
        assert!(before.is_same_host(&host("a", "n1", "2")) && !before.is_same_boot(&host("a", "n1", "2")));
        assert!(!before.is_same_host(&host("a", "n2", "2")), "a machine from the same image");
        assert!(!before.is_same_host(&host("b", "n1", "2")), "a machine with the same name");
    }
}
