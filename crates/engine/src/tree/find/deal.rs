//! Distributes the directories of a search to the tasks.
//!
//! The first task opens directories from the top until there are several for each task. It then distributes them by
//! the size of their lists of names: the largest first, each to the task that has least so far. The directories it
//! has opened are distributed as well, but with size 0, since they may hold nothing but the directories that were
//! found in them. All processes get the same distribution, so that every name is visited once.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};

use crate::Errno;
use crate::tree::listing::names;
use crate::tree::walk::again;

/// In a file system that does not count links, a directory is opened to find its subdirectories if its
/// list is shorter than this. A longer list is only read by the task it is assigned to.
const UNCOUNTED_BYTES_MAX: u64 = 1 << 20;
/// If there are more directories than this, their sizes are not determined.
const SIZES_MAX: usize = 8192;
/// Number of shares of each task, if there are enough directories. Several, because the size of a
/// directory's subtree is not known.
const SHARES: usize = 4;
/// Size assumed for a list of unknown size.
const SIZE_LEAST: u64 = 4096;

/// A directory to be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// The target that contains the directory.
    pub(crate) target: usize,
    /// Whether its subdirectories are searched as well. If not, they are assigned to others.
    pub(crate) descends: bool,
    /// The directory's path below the target; empty for the target itself.
    path: Vec<u8>,
}

impl Directory {
    const fn of_target(target: usize) -> Self {
        Self { target, descends: true, path: Vec::new() }
    }

    /// Returns the subdirectory `name`.
    pub(crate) fn below(&self, name: &[u8]) -> Self {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Self { path, ..*self }
    }

    /// The directory's path, for messages.
    pub(crate) fn path_below(&self, target: &Path) -> PathBuf {
        target.join(OsStr::from_bytes(&self.path))
    }

    fn relative(&self) -> &OsStr {
        OsStr::from_bytes(if self.path.is_empty() { b"." } else { &self.path })
    }

    /// Opens the directory to read its names.
    pub(crate) fn open(&self, targets: &[OwnedFd]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        again(|| rustix::fs::openat(&targets[self.target], self.relative(), flags, Mode::empty()))
    }

    /// Returns the directory's number of links and the size of its list of names.
    fn links_and_bytes(&self, targets: &[OwnedFd]) -> Result<(u32, u64), Errno> {
        let wanted = StatxFlags::NLINK | StatxFlags::SIZE;
        let at = targets[self.target].as_fd();
        let status = again(|| rustix::fs::statx(at, self.relative(), AtFlags::SYMLINK_NOFOLLOW, wanted))?;
        Ok((status.stx_nlink, status.stx_size))
    }
}

/// A directory and the task that searches it.
pub(crate) type Share = (u32, Directory);

/// Distributes the directories below `targets` to `tasks`. `bytes` is a buffer for names.
///
/// # Errors
/// Errors if a directory cannot be read.
pub(crate) fn deal(
    targets: &[OwnedFd],
    tasks: u32,
    bytes: &mut [MaybeUninit<u8>],
) -> Result<Vec<Share>, (Directory, Errno)> {
    let mut open: VecDeque<Directory> = (0..targets.len()).map(Directory::of_target).collect();
    // With their sizes: directories without subdirectories, and those whose subdirectories are
    // distributed separately.
    let mut whole: Vec<(u64, Directory)> = Vec::new();
    let wanted = if tasks > 1 { (tasks as usize).saturating_mul(SHARES) } else { 1 };
    let mut leaves = 0;
    while open.len() + leaves < wanted
        && let Some(directory) = open.pop_front()
    {
        let fail = |errno| (directory.clone(), errno);
        let (links, size) = directory.links_and_bytes(targets).map_err(fail)?;
        let has_directories = if links == 1 { size < UNCOUNTED_BYTES_MAX } else { links > 2 };
        if has_directories {
            let list = directory.open(targets).map_err(fail)?;
            let take = |name: &std::ffi::CStr, kind| {
                if kind == FileType::Directory {
                    open.push_back(directory.below(name.to_bytes()));
                }
            };
            let mut take = take;
            while names(&list, bytes, &mut take).map_err(fail)? {}
        }
        leaves += usize::from(!has_directories);
        whole.push((size, Directory { descends: !has_directories, ..directory }));
    }
    let ask = open.len() <= SIZES_MAX && tasks > 1;
    for directory in open {
        let size = if ask { directory.links_and_bytes(targets).map_or(0, |(_, size)| size) } else { 0 };
        whole.push((size, directory));
    }
    Ok(by_size(whole, tasks))
}

/// Distributes the largest first, each to the task that has least so far.
fn by_size(mut whole: Vec<(u64, Directory)>, tasks: u32) -> Vec<Share> {
    whole.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let mut loads: std::collections::BinaryHeap<_> =
        (0..tasks.max(1)).map(|task| std::cmp::Reverse((0_u64, task))).collect();
    let give = |(size, directory): (u64, Directory)| {
        let std::cmp::Reverse((load, task)) = loads.pop()?;
        loads.push(std::cmp::Reverse((load.saturating_add(size.max(SIZE_LEAST)), task)));
        Some((task, directory))
    };
    whole.into_iter().filter_map(give).collect()
}

/// Encodes the distribution as bytes. Each share has its task, target, whether it descends, and its path,
/// which ends with a zero.
pub(crate) fn encoded(shares: &[Share]) -> Vec<u8> {
    let mut out = Vec::new();
    for (task, Directory { target, descends, path }) in shares {
        out.extend_from_slice(format!("{task} {target} {} ", u8::from(*descends)).as_bytes());
        out.extend_from_slice(path);
        out.push(0);
    }
    out
}

/// Decodes the directories of `task` from a distribution made by [`encoded`] over `targets` targets.
pub(crate) fn decoded(bytes: &[u8], task: u32, targets: usize) -> Vec<Directory> {
    let share = |text: &[u8]| {
        let mut words = text.splitn(4, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<usize>().ok();
        let (owner, target, descends) = (number()?, number()?, number()? == 1);
        let is_own = owner == task as usize && target < targets;
        is_own.then(|| Directory { target, descends, path: words.next().unwrap_or_default().to_vec() })
    };
    bytes.split(|byte| *byte == 0).filter_map(share).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use rustix::fs::{Mode, OFlags};

    use super::{MaybeUninit, deal};
    use crate::tree::listing::LIST_BYTES;

    #[test]
    fn directories_far_below_the_top_are_dealt_out_to_all_tasks() {
        let place = tempfile::tempdir().expect("a directory");
        for tree in 0..4 {
            let leaf = place.path().join(format!("one/way/down/tree.{tree}"));
            fs::create_dir_all(&leaf).expect("made");
            fs::write(leaf.join("file"), "").expect("made");
        }
        let top =
            rustix::fs::open(place.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).expect("opened");
        for tasks in [2, 4] {
            let mut bytes = vec![MaybeUninit::uninit(); LIST_BYTES];
            let shares = deal(std::slice::from_ref(&top), tasks, &mut bytes)
                .map_err(|(_, errno)| errno)
                .expect("dealt");
            let leaves = shares.iter().filter(|(_, directory)| directory.path.starts_with(b"one/way/down/"));
            let owners: Vec<u32> = leaves.map(|(task, _)| *task).collect();
            assert_eq!((owners.len(), owners.iter().collect::<BTreeSet<_>>().len()), (4, tasks as usize));
        }
    }
}
