//! Limits of this process that a plan may exceed. They are reported before the run, with the remedy.

use std::fs;
use std::os::unix::fs::MetadataExt;

use plan::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::CapabilitySet;
use thiserror::Error;

use crate::Root;
use crate::activity::cgroup::Groups;
use crate::file_systems::file_system;

/// What a plan needs in addition to what the process already uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Number of files open at the same time.
    pub open_files: u64,
    /// Number of bytes of buffers that are registered or locked.
    pub locked_bytes: u64,
    /// Number of threads at the same time.
    pub threads: u64,
    /// Whether the needs are those of job launches, which have no tasks.
    pub of_jobs: bool,
}

impl Needs {
    /// What to reduce in the plan: `tasks`, or for jobs the concurrency.
    const fn less(self, tasks: &'static str) -> &'static str {
        if self.of_jobs { "set a lower concurrency" } else { tasks }
    }
}

/// A limit that the plan would exceed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{which} is {have}, but the plan needs {need}: {remedy}")]
pub struct LimitTooLow {
    /// The limit, for example `the limit on open files (RLIMIT_NOFILE)`.
    pub which: String,
    /// The permitted value.
    pub have: u64,
    /// What the plan and the process need in total.
    pub need: u64,
    /// The remedy.
    pub remedy: String,
}

/// Raises the limits of this process as far as possible, and compares them with `needs`.
///
/// # Errors
/// Returns the first limit that is too low.
pub fn check(root: &Root, needs: Needs) -> Result<(), LimitTooLow> {
    open_files(root, needs)?;
    locked_memory(needs.locked_bytes)?;
    threads(root, needs)
}

/// Raises the soft limit to the hard one, and the hard one too if permitted. Returns the limit, or `None`
/// if there is no limit.
fn raised(resource: Resource, need: u64) -> Option<u64> {
    let limit = getrlimit(resource);
    if limit.current.is_none_or(|current| current >= need) {
        return limit.current;
    }
    let maximum = limit.maximum.map(|maximum| maximum.max(need));
    if maximum != limit.maximum {
        let wanted = Rlimit { current: maximum, maximum };
        if setrlimit(resource, wanted).is_ok() {
            return maximum;
        }
    }
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    match setrlimit(resource, wanted) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

/// Raises the limit on `resource` to at least `need`, or errors.
fn require(
    resource: Resource,
    need: u64,
    which: &str,
    remedy: impl FnOnce() -> String,
) -> Result<(), LimitTooLow> {
    match raised(resource, need) {
        Some(have) if have < need => {
            Err(LimitTooLow { which: which.to_owned(), have, need, remedy: remedy() })
        }
        _ => Ok(()),
    }
}

fn open_files(root: &Root, needs: Needs) -> Result<(), LimitTooLow> {
    // Includes the directory that is open for counting; one too many does no harm.
    let already = root.names("/proc/self/fd").len() as u64;
    let need = needs.open_files.saturating_add(already);
    require(Resource::Nofile, need, "the limit on open files (RLIMIT_NOFILE)", || {
        format!(
            "{}, or raise it: ulimit -n {need}, or LimitNOFILE= of the service, at most fs.nr_open",
            needs.less("use fewer tasks or files")
        )
    })
}

fn locked_memory(locked_bytes: u64) -> Result<(), LimitTooLow> {
    if locked_bytes == 0 || has(CapabilitySet::IPC_LOCK) {
        return Ok(());
    }
    require(Resource::Memlock, locked_bytes, "the limit on locked memory (RLIMIT_MEMLOCK)", || {
        format!(
            "use smaller transfers, a lower depth or fewer tasks, or raise it: ulimit -l {} ({}), or run \
             with CAP_IPC_LOCK",
            locked_bytes.div_ceil(1024),
            Bytes(locked_bytes)
        )
    })
}

fn threads(root: &Root, needs: Needs) -> Result<(), LimitTooLow> {
    if needs.threads == 0 {
        return Ok(());
    }
    user_processes(root, needs)?;
    control_groups(root, needs)?;
    whole_host(root, needs)
}

/// Checks `RLIMIT_NPROC`, which counts the threads of all processes of this user. It does not apply to
/// root and to users who may exceed limits (`getrlimit(2)`).
fn user_processes(root: &Root, needs: Needs) -> Result<(), LimitTooLow> {
    let user = rustix::process::geteuid();
    if user.is_root() || has(CapabilitySet::SYS_RESOURCE) || has(CapabilitySet::SYS_ADMIN) {
        return Ok(());
    }
    if getrlimit(Resource::Nproc).current.is_none() {
        return Ok(());
    }
    let need = needs.threads.saturating_add(threads_of(root, user.as_raw()));
    require(Resource::Nproc, need, "the limit on processes and threads of this user (RLIMIT_NPROC)", || {
        format!(
            "{}, or raise it: ulimit -u {need}",
            needs.less("use fewer tasks, or io_uring, which runs many tasks on few threads")
        )
    })
}

/// Number of threads of all processes of a user: field 20 of `/proc/PID/stat`.
fn threads_of(root: &Root, user: u32) -> u64 {
    let threads = |id: &str| -> Option<u64> {
        let directory = format!("/proc/{id}");
        if fs::metadata(root.path(&directory)).ok()?.uid() != user {
            return None;
        }
        let stat = root.read(&format!("{directory}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(17)?.parse().ok()
    };
    root.names("/proc")
        .iter()
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|name| threads(name))
        .sum()
}

fn control_groups(root: &Root, needs: Needs) -> Result<(), LimitTooLow> {
    let table = file_system::mount_table(root).unwrap_or_default();
    let Some(groups) = Groups::of(root, &table, "pids") else { return Ok(()) };
    for (path, limit) in groups.values(root, "pids.max") {
        // `max` means no limit.
        let Ok(have) = limit.parse::<u64>() else { continue };
        let current = path.with_file_name("pids.current");
        let used = current.to_str().and_then(|path| root.number::<u64>(path).known().copied()).unwrap_or(0);
        let need = needs.threads.saturating_add(used);
        if have < need {
            return Err(LimitTooLow {
                which: format!("the task limit of the control group ({})", path.display()),
                have,
                need,
                remedy: format!(
                    "{}, or raise it: TasksMax= of the service, --pids-limit of the container",
                    needs.less("use fewer tasks, or io_uring")
                ),
            });
        }
    }
    Ok(())
}

/// Checks `kernel.threads-max` and `kernel.pid_max`, which limit the tasks of the host. Their present
/// number is the second number in the fourth field of `/proc/loadavg`.
fn whole_host(root: &Root, needs: Needs) -> Result<(), LimitTooLow> {
    let Some(used) = root
        .read("/proc/loadavg")
        .ok()
        .and_then(|text| text.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse::<u64>().ok())
    else {
        return Ok(());
    };
    let need = needs.threads.saturating_add(used);
    for setting in ["threads-max", "pid_max"] {
        let path = format!("/proc/sys/kernel/{setting}");
        if let Some(&have) = root.number::<u64>(&path).known()
            && have < need
        {
            return Err(LimitTooLow {
                which: format!("the limit on threads of the host (kernel.{setting})"),
                have,
                need,
                remedy: format!(
                    "{}, or raise it: sysctl kernel.{setting}={need}",
                    needs.less("use fewer tasks, or io_uring")
                ),
            });
        }
    }
    Ok(())
}

fn has(capability: CapabilitySet) -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}

#[cfg(test)]
mod tests {
    use super::{Needs, check, control_groups, open_files, threads_of, whole_host};
    use crate::Root;
    use crate::fake::{Tree, as_nobody};

    #[test]
    fn a_modest_plan_fits_here() {
        check(&Root::default(), Needs { open_files: 4, locked_bytes: 4096, threads: 1, of_jobs: false })
            .unwrap();
    }

    #[test]
    fn the_soft_limit_on_open_files_is_raised_first() {
        use rustix::process::{Resource, getrlimit};
        let before = getrlimit(Resource::Nofile).current.unwrap();
        let Some(maximum) = getrlimit(Resource::Nofile).maximum.filter(|maximum| *maximum > before) else {
            println!("skipped: the soft limit is at its maximum");
            return;
        };
        open_files(&Root::default(), Needs { open_files: before.min(maximum - 100), ..Needs::default() })
            .unwrap();
        assert!(getrlimit(Resource::Nofile).current.unwrap() > before);
    }

    #[test]
    fn too_many_open_files_are_refused_with_the_number_to_ask_for() {
        // More than fs.nr_open can ever be, so that root is refused as well.
        let error =
            open_files(&Root::default(), Needs { open_files: 1 << 40, ..Needs::default() }).unwrap_err();
        assert!(error.which.contains("RLIMIT_NOFILE"));
        assert!(error.need > 1 << 40);
        assert!(error.remedy.contains(&format!("ulimit -n {}", error.need)));
    }

    #[test]
    fn locked_memory_beyond_the_limit_is_refused_for_an_ordinary_user() {
        let Some(result) = as_nobody(|| super::locked_memory(1 << 50)) else {
            println!("skipped: this user cannot become another");
            return;
        };
        match result {
            Err(error) => assert!(error.which.contains("RLIMIT_MEMLOCK"), "{error}"),
            Ok(()) => println!("skipped: locked memory has no limit here"),
        }
    }

    #[test]
    fn the_limit_of_a_container_on_tasks_is_found() {
        let tree = Tree::new(&[
            ("/proc/self/cgroup", "0::/\n"),
            ("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"),
            ("/sys/fs/cgroup/pids.max", "100\n"),
            ("/sys/fs/cgroup/pids.current", "40\n"),
        ]);
        control_groups(tree.root(), Needs { threads: 60, ..Needs::default() }).unwrap();
        let error = control_groups(tree.root(), Needs { threads: 61, ..Needs::default() }).unwrap_err();
        assert_eq!((error.have, error.need), (100, 101));
        assert!(error.which.contains("/sys/fs/cgroup/pids.max"));
    }

    #[test]
    fn the_limit_of_the_host_on_threads_is_found() {
        let tree = Tree::new(&[
            ("/proc/loadavg", "0.00 0.00 0.00 1/500 4711\n"),
            ("/proc/sys/kernel/threads-max", "190000\n"),
            ("/proc/sys/kernel/pid_max", "1000\n"),
        ]);
        whole_host(tree.root(), Needs { threads: 500, ..Needs::default() }).unwrap();
        let error = whole_host(tree.root(), Needs { threads: 501, ..Needs::default() }).unwrap_err();
        assert!(error.remedy.contains("sysctl kernel.pid_max=1001"), "{error}");
    }

    #[test]
    fn threads_of_this_user_are_counted() {
        use std::os::unix::fs::MetadataExt;
        let tree = Tree::new(&[
            ("/proc/7/stat", "7 (a b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 12 0 0\n"),
            ("/proc/8/stat", "8 (c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 0\n"),
            ("/proc/self/stat", "7 (a b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 12 0 0\n"),
        ]);
        let owner = std::fs::metadata(tree.root().path("/proc")).unwrap().uid();
        assert_eq!(threads_of(tree.root(), owner), 15);
        assert_eq!(threads_of(tree.root(), owner.wrapping_add(1)), 0);
    }
}
