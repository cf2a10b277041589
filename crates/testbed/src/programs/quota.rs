//! A control group with a quota of processor time, versions 1 and 2.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::Program;
use crate::programs::command;

/// The period of the quota, in microseconds: the kernel's default.
const PERIOD_US: u32 = 100_000;

/// A group whose processes have a share of one processor together; it is removed when the value is dropped, and has no
/// process then.
#[derive(Debug)]
pub struct ProcessorQuota {
    group: PathBuf,
}

impl ProcessorQuota {
    /// A group that has `percent` of one processor.
    ///
    /// # Errors
    /// There is no controller of processors, or no right to make a group in it.
    pub fn of(percent: u32) -> Result<Self, String> {
        command::needs_root()?;
        let version_1 = PathBuf::from("/sys/fs/cgroup/cpu");
        let root = if version_1.join("cpu.cfs_quota_us").exists() {
            version_1
        } else {
            let root = PathBuf::from("/sys/fs/cgroup");
            let _ = fs::write(root.join("cgroup.subtree_control"), "+cpu");
            root
        };
        let group = root.join(format!("ioproof-testbed-quota-{}-{percent}", std::process::id()));
        fs::create_dir(&group).map_err(|error| format!("needs a control group: {error}"))?;
        let made = Self { group };
        let quota_us = PERIOD_US / 100 * percent;
        let set = if made.group.join("cpu.cfs_quota_us").exists() {
            fs::write(made.group.join("cpu.cfs_period_us"), PERIOD_US.to_string())
                .and_then(|()| fs::write(made.group.join("cpu.cfs_quota_us"), quota_us.to_string()))
        } else {
            fs::write(made.group.join("cpu.max"), format!("{quota_us} {PERIOD_US}"))
        };
        set.map(|()| made).map_err(|error| format!("needs a control group with a processor quota: {error}"))
    }

    /// The same program, started in the group.
    #[must_use]
    pub fn inside(&self, program: &Program) -> Program {
        let start = ["-c", "echo $$ >\"$0\" && exec \"$@\""].map(OsString::from);
        let members = self.group.join("cgroup.procs").into_os_string();
        program.under("sh", start.into_iter().chain([members]).collect())
    }
}

impl Drop for ProcessorQuota {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.group);
    }
}
