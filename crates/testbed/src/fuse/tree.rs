//! Names, directories and attributes in a [`crate::ProgrammedFs`].

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use super::contents::Contents;

/// Inode number of the root directory in every FUSE file system.
pub(super) const ROOT: u64 = 1;

/// A file or directory.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) mode: u16,
    pub(super) owner: (u32, u32),
    pub(super) modified: SystemTime,
    parent: u64,
    name: OsString,
    linked: bool,
    lookups: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    File(Arc<RwLock<Contents>>),
    Directory(BTreeMap<OsString, u64>),
}

/// All named files and directories, and removed ones that are still open.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: HashMap<u64, Node>,
    next: u64,
}

impl Tree {
    pub(super) fn new(owner: (u32, u32)) -> Self {
        let root = Node {
            kind: Kind::Directory(BTreeMap::new()),
            mode: 0o755,
            owner,
            modified: SystemTime::now(),
            parent: ROOT,
            name: OsString::new(),
            linked: true,
            lookups: 1,
        };
        Self { nodes: HashMap::from([(ROOT, root)]), next: ROOT + 1 }
    }

    pub(super) fn node(&self, number: u64) -> Result<&Node, i32> {
        self.nodes.get(&number).ok_or(libc::ENOENT)
    }

    pub(super) fn node_mut(&mut self, number: u64) -> Result<&mut Node, i32> {
        self.nodes.get_mut(&number).ok_or(libc::ENOENT)
    }

    pub(super) fn file(&self, number: u64) -> Result<Arc<RwLock<Contents>>, i32> {
        match &self.node(number)?.kind {
            Kind::File(contents) => Ok(Arc::clone(contents)),
            Kind::Directory(_) => Err(libc::EISDIR),
        }
    }

    pub(super) fn entries(&self, number: u64) -> Result<&BTreeMap<OsString, u64>, i32> {
        match &self.node(number)?.kind {
            Kind::Directory(entries) => Ok(entries),
            Kind::File(_) => Err(libc::ENOTDIR),
        }
    }

    fn entries_mut(&mut self, number: u64) -> Result<&mut BTreeMap<OsString, u64>, i32> {
        match &mut self.node_mut(number)?.kind {
            Kind::Directory(entries) => Ok(entries),
            Kind::File(_) => Err(libc::ENOTDIR),
        }
    }

    /// The parent directory. The root is its own parent.
    pub(super) fn parent(&self, number: u64) -> u64 {
        self.nodes.get(&number).map_or(ROOT, |node| node.parent)
    }

    /// The path from the root, without a leading slash.
    pub(super) fn path(&self, number: u64) -> PathBuf {
        let mut names = Vec::new();
        let mut at = number;
        while at != ROOT
            && let Some(node) = self.nodes.get(&at)
        {
            names.push(node.name.as_os_str());
            at = node.parent;
        }
        names.iter().rev().collect()
    }

    /// Looks up a name, and counts the reference that the kernel now holds on the node.
    pub(super) fn look_up(&mut self, parent: u64, name: &OsStr) -> Result<u64, i32> {
        let number = *self.entries(parent)?.get(name).ok_or(libc::ENOENT)?;
        self.node_mut(number)?.lookups += 1;
        Ok(number)
    }

    /// Creates a node, and counts the reference that the kernel now holds on it.
    pub(super) fn add(
        &mut self,
        parent: u64,
        name: &OsStr,
        kind: Kind,
        mode: u16,
        owner: (u32, u32),
    ) -> Result<u64, i32> {
        if self.entries(parent)?.contains_key(name) {
            return Err(libc::EEXIST);
        }
        let number = self.next;
        self.next += 1;
        self.entries_mut(parent)?.insert(name.to_owned(), number);
        let modified = SystemTime::now();
        let name = name.to_owned();
        let node = Node { kind, mode, owner, modified, parent, name, linked: true, lookups: 1 };
        self.nodes.insert(number, node);
        Ok(number)
    }

    /// Removes a name. Returns the number of bytes that this frees.
    pub(super) fn remove(&mut self, parent: u64, name: &OsStr, directory: bool) -> Result<u64, i32> {
        let number = *self.entries(parent)?.get(name).ok_or(libc::ENOENT)?;
        match (&self.node(number)?.kind, directory) {
            (Kind::Directory(_), false) => return Err(libc::EISDIR),
            (Kind::File(_), true) => return Err(libc::ENOTDIR),
            (Kind::Directory(entries), true) if !entries.is_empty() => return Err(libc::ENOTEMPTY),
            (Kind::Directory(_) | Kind::File(_), _) => {}
        }
        self.entries_mut(parent)?.remove(name);
        let node = self.node_mut(number)?;
        node.linked = false;
        let freed = match &node.kind {
            Kind::File(contents) => contents.write().unwrap_or_else(PoisonError::into_inner).remove(),
            Kind::Directory(_) => 0,
        };
        self.drop_if_unused(number);
        Ok(freed)
    }

    /// Renames a node. If this replaces a file, returns the number of bytes that this frees.
    pub(super) fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr)) -> Result<u64, i32> {
        let number = *self.entries(from.0)?.get(from.1).ok_or(libc::ENOENT)?;
        let replaced = self.entries(to.0)?.get(to.1).copied();
        if replaced == Some(number) {
            return Ok(0);
        }
        let freed = match replaced {
            Some(old) => {
                let directory = matches!(self.node(old)?.kind, Kind::Directory(_));
                self.remove(to.0, to.1, directory)?
            }
            None => 0,
        };
        self.entries_mut(from.0)?.remove(from.1);
        self.entries_mut(to.0)?.insert(to.1.to_owned(), number);
        let node = self.node_mut(number)?;
        node.parent = to.0;
        node.name = to.1.to_owned();
        Ok(freed)
    }

    /// Drops `count` references that the kernel held on a node.
    pub(super) fn forget(&mut self, number: u64, count: u64) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.lookups = node.lookups.saturating_sub(count);
        }
        self.drop_if_unused(number);
    }

    fn drop_if_unused(&mut self, number: u64) {
        if self.nodes.get(&number).is_some_and(|node| !node.linked && node.lookups == 0) {
            self.nodes.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::path::Path;

    use super::{Kind, ROOT, Tree};

    #[test]
    fn a_removed_file_lives_until_the_kernel_forgets_it() {
        let mut tree = Tree::new((0, 0));
        let directory = Kind::Directory(BTreeMap::new());
        let parent = tree.add(ROOT, OsStr::new("d"), directory, 0o755, (0, 0)).expect("a directory");
        let kind = Kind::File(std::sync::Arc::default());
        let file = tree.add(parent, OsStr::new("f"), kind, 0o644, (0, 0)).expect("a file");
        tree.file(file).expect("it").write().expect("no panic").write(0, &[1; 10]);
        assert_eq!(tree.path(file), Path::new("d/f"));
        assert_eq!(tree.remove(ROOT, OsStr::new("d"), true), Err(libc::ENOTEMPTY));
        assert_eq!(tree.remove(parent, OsStr::new("f"), false), Ok(4096));
        assert!(tree.file(file).is_ok() && tree.look_up(parent, OsStr::new("f")).is_err());
        tree.forget(file, 1);
        assert!(tree.file(file).is_err());
    }

    #[test]
    fn a_rename_replaces_what_had_the_name() {
        let mut tree = Tree::new((0, 0));
        let mut add = |name: &str| {
            let kind = Kind::File(std::sync::Arc::default());
            tree.add(ROOT, OsStr::new(name), kind, 0o644, (0, 0)).expect("a file")
        };
        let (a, b) = (add("a"), add("b"));
        tree.rename((ROOT, OsStr::new("a")), (ROOT, OsStr::new("b"))).expect("renamed");
        assert_eq!(tree.look_up(ROOT, OsStr::new("b")), Ok(a));
        assert_eq!(tree.look_up(ROOT, OsStr::new("a")), Err(libc::ENOENT));
        assert_eq!(tree.path(a), Path::new("b"));
        tree.forget(b, 1);
        assert!(tree.file(b).is_err());
    }
}
