//! The control groups that this process is in, versions 1 and 2 (`cgroups(7)`).

use std::path::{Path, PathBuf};

use crate::Root;
use crate::file_systems::mounts::Mount;

/// Depth limit of nested groups; deeper nesting is treated as a loop.
const LEVELS_MAX: usize = 64;

/// The version of the control group interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Version 1: one hierarchy for each controller.
    One,
    /// Version 2: one hierarchy for all controllers.
    Two,
}

/// The group of this process for one controller, and the groups above it, innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) version: Version,
    pub(crate) directories: Vec<PathBuf>,
}

impl Groups {
    /// The groups that contain this process for `controller`, or `None` if no group is visible.
    pub(crate) fn of(root: &Root, mounts: &[Mount], controller: &str) -> Option<Self> {
        let table = root.read("/proc/self/cgroup").ok()?;
        let line = |wanted: &dyn Fn(&str) -> bool| {
            table.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':');
                let (_number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
                wanted(controllers).then(|| path.to_owned())
            })
        };
        if let Some(path) = line(&|controllers| controllers.split(',').any(|name| name == controller)) {
            let mount =
                mounts.iter().find(|mount| mount.kind == "cgroup" && mount.has_super_option(controller))?;
            return Some(Self { version: Version::One, directories: directories(root, mount, &path) });
        }
        let path = line(&str::is_empty)?;
        let mount = mounts.iter().find(|mount| mount.kind == "cgroup2")?;
        Some(Self { version: Version::Two, directories: directories(root, mount, &path) })
    }

    /// Returns the first word of `file` for each group that has it.
    pub(crate) fn values(&self, root: &Root, file: &str) -> Vec<(PathBuf, String)> {
        self.directories
            .iter()
            .filter_map(|directory| {
                let path = directory.join(file);
                let text = root.read(path.to_str()?).ok()?;
                Some((path, text.trim().to_owned()))
            })
            .collect()
    }
}

/// Returns the directories from the group at `path` of the hierarchy up to the mount point. In a
/// container the mount may begin at the container's own group, so the path may name groups that are not
/// visible.
fn directories(root: &Root, mount: &Mount, path: &str) -> Vec<PathBuf> {
    let group = Path::new(path);
    let below = group.strip_prefix(&mount.root).or_else(|_| group.strip_prefix("/")).unwrap_or(group);
    let innermost = mount.mount_point.join(below);
    let start = if root.path(&innermost).is_dir() { innermost } else { mount.mount_point.clone() };
    start
        .ancestors()
        .take(LEVELS_MAX)
        .take_while(|directory| directory.starts_with(&mount.mount_point))
        .map(Path::to_owned)
        .collect()
}
