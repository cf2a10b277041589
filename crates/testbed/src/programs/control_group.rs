//! Control groups with limits, versions 1 and 2.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::Program;
use crate::programs::command;

/// The period of the CPU quota in microseconds, which is the kernel's default.
const PERIOD_US: u32 = 100_000;

/// The resource that a [`ControlGroup`] limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Processor time, in percent of one processor.
    Processor,
    /// Memory, in bytes. The kernel kills a process of a group that exceeds it.
    Memory,
    /// The number of processes and threads.
    Threads,
}

impl Limited {
    const fn controller(self) -> &'static str {
        match self {
            Self::Processor => "cpu",
            Self::Memory => "memory",
            Self::Threads => "pids",
        }
    }
}

/// A control group whose processes share a limit. It is removed when the value is dropped, and must be empty then.
#[derive(Debug)]
pub struct ControlGroup {
    path: PathBuf,
    limited: Limited,
}

impl ControlGroup {
    /// Creates a group, initially without a limit. `name` must be unique within this process.
    ///
    /// # Errors
    /// The controller does not exist, or this process may not create a group in it.
    pub fn new(limited: Limited, name: &str) -> Result<Self, String> {
        command::needs_root()?;
        let controller = limited.controller();
        let version_1 = PathBuf::from("/sys/fs/cgroup").join(controller);
        let root = if version_1.join("cgroup.procs").exists() {
            version_1
        } else {
            let root = PathBuf::from("/sys/fs/cgroup");
            let _ = fs::write(root.join("cgroup.subtree_control"), format!("+{controller}"));
            root
        };
        let path = root.join(format!("ioproof-testbed-{}-{name}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("needs a control group: {error}"))?;
        Ok(Self { path, limited })
    }

    /// Sets the limit for the group as a whole.
    ///
    /// # Errors
    /// The kernel rejects the value.
    pub fn set(&self, limit: u64) -> Result<(), String> {
        let values = match self.limited {
            Limited::Processor if self.path.join("cpu.cfs_quota_us").exists() => vec![
                ("cpu.cfs_period_us", PERIOD_US.to_string()),
                ("cpu.cfs_quota_us", (u64::from(PERIOD_US) / 100 * limit).to_string()),
            ],
            Limited::Processor => {
                vec![("cpu.max", format!("{} {PERIOD_US}", u64::from(PERIOD_US) / 100 * limit))]
            }
            Limited::Memory if self.path.join("memory.limit_in_bytes").exists() => {
                vec![("memory.limit_in_bytes", limit.to_string())]
            }
            Limited::Memory => vec![("memory.max", limit.to_string())],
            Limited::Threads => vec![("pids.max", limit.to_string())],
        };
        for (file, value) in values {
            let path = self.path.join(file);
            fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if self.limited == Limited::Memory {
            // Swapped memory counts as well. If the kernel does not account for swap, there is no swap.
            let _ = fs::write(self.path.join("memory.memsw.limit_in_bytes"), limit.to_string());
            let _ = fs::write(self.path.join("memory.swap.max"), "0");
        }
        Ok(())
    }

    /// The number of processes and threads in a group of [`Limited::Threads`].
    ///
    /// # Errors
    /// The kernel does not report it.
    pub fn threads(&self) -> Result<u64, String> {
        let text = fs::read_to_string(self.path.join("pids.current")).map_err(|error| error.to_string())?;
        text.trim().parse().map_err(|_| format!("no number: {text}"))
    }

    /// The same program, started inside the group.
    #[must_use]
    pub fn inside(&self, program: &Program) -> Program {
        let start = ["-c", "echo $$ >\"$0\" && exec \"$@\""].map(OsString::from);
        let members = self.path.join("cgroup.procs").into_os_string();
        program.under("sh", start.into_iter().chain([members]).collect())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        /// Attempts to remove the group. A process that was just killed leaves the group within this many.
        const LOOKS: u32 = 40;
        for _ in 0..LOOKS {
            if fs::remove_dir(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
    }
}
