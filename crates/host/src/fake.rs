//! Trees of plain files that represent a host in tests.

pub(crate) mod hosts;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Root;

/// A fake host, which is removed when dropped.
pub(crate) struct Tree {
    directory: TempDir,
    root: Root,
}

impl Tree {
    /// Creates a tree with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::inside(tempfile::tempdir().unwrap(), files)
    }

    /// Creates a tree in memory, for tests that sync a lot.
    pub(crate) fn in_memory(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::inside(directory.unwrap(), files)
    }

    fn inside(directory: TempDir, files: &[(&str, &str)]) -> Self {
        let root = Root::new(directory.path().canonicalize().unwrap());
        let tree = Self { directory, root };
        tree.files(files)
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    fn place(&self, path: &str) -> PathBuf {
        let place = self.directory.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        place
    }

    pub(crate) fn files(self, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            fs::write(self.place(path), text).unwrap();
        }
        self
    }

    pub(crate) fn bytes(self, path: &str, bytes: &[u8]) -> Self {
        fs::write(self.place(path), bytes).unwrap();
        self
    }

    pub(crate) fn directories(self, paths: &[&str]) -> Self {
        for path in paths {
            fs::create_dir_all(self.place(path)).unwrap();
        }
        self
    }

    /// Adds a link from one absolute path of the tree to another; the link is made relative.
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        let place = self.place(path);
        let depth = Path::new(path).parent().unwrap().components().count() - 1;
        symlink(Path::new(&"../".repeat(depth)).join(target.trim_start_matches('/')), place).unwrap();
        self
    }

    /// Adds a whole device or a partition: its directory in `/sys/devices`, the links that lead to it, a
    /// node in `/dev`, counters with the value 0, and `files` in its directory.
    pub(crate) fn device(self, directory: &str, number: &str, files: &[(&str, &str)]) -> Self {
        let name = directory.rsplit('/').next().unwrap().to_owned();
        let sys = format!("/sys/devices/{directory}");
        let mut tree = self.files(&[
            (&format!("{sys}/dev"), number),
            (&format!("{sys}/size"), "2048000"),
            (&format!("{sys}/stat"), "0 0 0 0 0 0 0 0 0 0 0"),
            (&format!("/dev/{}", name.replace('!', "/")), ""),
        ]);
        let mut is_partition = false;
        for (file, text) in files {
            is_partition |= *file == "partition";
            tree = tree.files(&[(&format!("{sys}/{file}"), text)]);
        }
        tree = tree.link(&format!("/sys/class/block/{name}"), &sys);
        tree = tree.link(&format!("/sys/dev/block/{number}"), &sys);
        if is_partition { tree } else { tree.link(&format!("/sys/block/{name}"), &sys) }
    }

    /// Adds a hidden whole device, which has no number and no node, and `files` in its directory.
    pub(crate) fn hidden(self, directory: &str, files: &[(&str, &str)]) -> Self {
        let name = directory.rsplit('/').next().unwrap().to_owned();
        let sys = format!("/sys/devices/{directory}");
        let mut tree = self.files(&[
            (&format!("{sys}/size"), "2048000\n"),
            (&format!("{sys}/hidden"), "1\n"),
            (&format!("{sys}/stat"), "0 0 0 0 0 0 0 0 0 0 0"),
        ]);
        for (file, text) in files {
            tree = tree.files(&[(&format!("{sys}/{file}"), text)]);
        }
        tree.link(&format!("/sys/class/block/{name}"), &sys).link(&format!("/sys/block/{name}"), &sys)
    }

    /// Makes `member` a part of the stacked device `holder`, as the kernel shows it for both.
    pub(crate) fn stacked(self, holder: &str, member: &str) -> Self {
        let directory = |name: &str| {
            let canonical = fs::canonicalize(self.root.path(format!("/sys/class/block/{name}"))).unwrap();
            self.root.without_prefix(&canonical).unwrap().to_str().unwrap().to_owned()
        };
        let (above, below) = (directory(holder), directory(member));
        self.link(&format!("{above}/slaves/{member}"), &below)
            .link(&format!("{below}/holders/{holder}"), &above)
    }
}

/// Runs `action` in a thread that only has the rights of an ordinary user. Returns `None` if there are no
/// rights to become one.
pub(crate) fn as_nobody<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    /// The user that owns nothing, by convention.
    const NOBODY: u32 = 65_534;
    std::thread::spawn(move || {
        let nobody = rustix::process::Uid::from_raw(NOBODY);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).ok()?;
        Some(action())
    })
    .join()
    .unwrap()
}
