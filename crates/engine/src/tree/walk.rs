//! Iteration over items: number, directory and name.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use plan::{Operation, RENAMED, TreePlacement};
use rustix::fs::{CWD, Mode, OFlags};

use crate::tree::name::Name;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::{EngineError, Errno};

/// Iteration of a task over the items of its owner.
#[derive(Debug)]
pub(crate) struct Walk<'s> {
    rules: &'s TreeRules<'s>,
    plan: &'s ItemPlan,
    root: Option<OwnedFd>,
    /// The directory containing the names; `None` if they are relative to the root.
    directory: Option<OwnedFd>,
    /// Range of the items in the current directory.
    from: u64,
    to: u64,
    /// The item's name, with its directories if names are relative to the root.
    name: Name,
    /// Another path: the new name of an item, or its directory.
    other: Name,
    /// The current item.
    item: u64,
    /// Name prefix before the number of an item.
    stem: Vec<u8>,
    /// The number in the name of the first item.
    first: u64,
    /// Current suffix after the number.
    suffix: &'static [u8],
    /// Names are relative to the root, since consecutive items are in different directories.
    leaps: bool,
}

impl<'s> Walk<'s> {
    /// The walk of `plan`.
    pub(crate) fn new(rules: &'s TreeRules<'s>, plan: &'s ItemPlan) -> Self {
        let leaps = plan.order.is_some() && rules.tree.used_directories().1 > 1;
        Self {
            rules,
            plan,
            root: None,
            directory: None,
            from: 0,
            to: 0,
            name: Name::new(),
            other: Name::new(),
            item: 0,
            stem: item_stem(rules, plan),
            first: rules.tree.number_of(0),
            suffix: if rules.job.renamed { RENAMED.as_bytes() } else { b"" },
            leaps,
        }
    }

    /// The number of the current item.
    pub(crate) fn item(&self) -> u64 {
        self.item
    }

    /// Opens the root.
    pub(crate) fn enter(&mut self) -> Result<(), EngineError> {
        if self.rules.null || self.plan.limit == 0 {
            return Ok(());
        }
        match open_directory(CWD, &self.plan.root) {
            Ok(root) => self.root = Some(root),
            Err(Errno(libc::ENOENT)) => return Err(EngineError::NoTree { path: self.plan.root.clone() }),
            Err(errno) => return Err(open_failed(&self.plan.root, errno)),
        }
        Ok(())
    }

    /// The directory containing the item, and its name there.
    #[inline(always)]
    pub(crate) fn here(&mut self) -> Result<(BorrowedFd<'_>, &CStr), Errno> {
        let at = if self.leaps { &self.root } else { &self.directory };
        let at = at.as_ref().ok_or(Errno(libc::ENOENT))?;
        Ok((at.as_fd(), self.name.c_str()?))
    }

    /// As [`Walk::here`], with the other name of the item.
    pub(crate) fn here_and_there(&mut self) -> Result<(BorrowedFd<'_>, &CStr, &CStr), Errno> {
        let suffix: &[u8] = if self.suffix.is_empty() { RENAMED.as_bytes() } else { b"" };
        // Both names include the directories.
        let bare = self.name.bytes_without(self.suffix.len());
        self.other.clear().push(bare).push(suffix);
        let at = if self.leaps { &self.root } else { &self.directory };
        let at = at.as_ref().ok_or(Errno(libc::ENOENT))?;
        Ok((at.as_fd(), self.name.c_str()?, self.other.c_str()?))
    }

    /// The root, and the path of the item's directory relative to it.
    pub(crate) fn directory_here(&mut self) -> Result<(BorrowedFd<'_>, &CStr), Errno> {
        let tree = self.rules.tree;
        let number = self.rules.tree_number(self.plan.owner);
        self.other.clear().push_directory(number, tree.directory_of(self.item), tree.branching);
        let root = self.root.as_ref().ok_or(Errno(libc::ENOENT))?;
        Ok((root.as_fd(), self.other.c_str()?))
    }

    /// Moves to item number `position` of this phase.
    #[inline(always)]
    pub(crate) fn go(&mut self, position: u64) -> Result<(), EngineError> {
        self.item = self.plan.order.as_ref().map_or(position, |order| order.at(position));
        if self.item < self.from || self.item >= self.to {
            self.change_directory()?;
        }
        self.name.back().push(&self.stem).push_number(self.first + self.item).push(self.suffix);
        Ok(())
    }

    /// Changes to the item's directory.
    #[cold]
    #[inline(never)]
    fn change_directory(&mut self) -> Result<(), EngineError> {
        let tree = self.rules.tree;
        let each = tree.items_per_directory.max(1);
        self.from = self.item / each * each;
        self.to = self.from.saturating_add(each);
        let directory = tree.directory_of(self.item);
        let number = self.rules.tree_number(self.plan.owner);
        self.name.clear().push_directory(number, directory, tree.branching);
        if self.leaps {
            self.name.keep();
            return Ok(());
        }
        self.directory = None;
        let opened = match (&self.root, self.name.c_str()) {
            (Some(root), Ok(path)) => open_directory(root.as_fd(), path).map(Some),
            (None, Ok(_)) => Ok(None),
            (_, Err(errno)) => Err(errno),
        };
        self.name.clear().keep();
        match opened {
            Ok(directory) => self.directory = directory,
            // Another process has removed it: its items will be reported missing one by one.
            Err(Errno(libc::ENOENT)) if self.rules.operation != Operation::Create => {}
            Err(Errno(libc::ENOENT)) => {
                return Err(EngineError::NoTree { path: self.directory_path() });
            }
            Err(errno) => return Err(open_failed(&self.directory_path(), errno)),
        }
        Ok(())
    }

    /// The path of the item's directory, for messages.
    pub(crate) fn directory_path(&self) -> PathBuf {
        let directory = self.rules.tree.directory_of(self.item);
        self.plan.root.join(self.rules.placement.directory(self.plan.owner, directory))
    }

    /// The path of the item, for messages.
    #[cold]
    pub(crate) fn path(&self) -> PathBuf {
        item_path(self.rules, self.plan, self.item)
    }
}

/// Name prefix before the number of an item of the owner of `plan`.
pub(crate) fn item_stem(rules: &TreeRules<'_>, plan: &ItemPlan) -> Vec<u8> {
    match rules.of_directories() {
        true => format!("dir.mdtest.{}.", plan.owner),
        false if rules.tree.shared => "file.mdtest.shared.".to_owned(),
        false => format!("file.mdtest.{}.", plan.owner),
    }
    .into_bytes()
}

/// The path of `item` of the owner of `plan`, for messages.
#[cold]
pub(crate) fn item_path(rules: &TreeRules<'_>, plan: &ItemPlan, item: u64) -> PathBuf {
    let number = rules.tree.number_of(item);
    let name = match rules.of_directories() {
        true => TreePlacement::directory_name(plan.owner, number),
        false if rules.tree.shared => TreePlacement::shared_name(number),
        false => TreePlacement::file_name(plan.owner, number),
    };
    let suffix = if rules.job.renamed { RENAMED } else { "" };
    let directory = rules.placement.directory(plan.owner, rules.tree.directory_of(item));
    plan.root.join(directory).join(name + suffix)
}

/// Opens a directory for path lookups.
pub(crate) fn open_directory<P: rustix::path::Arg + Copy>(
    at: BorrowedFd<'_>,
    path: P,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    again(|| rustix::fs::openat(at, path, flags, Mode::empty()))
}

/// Repeats a call until no signal interrupts it.
#[inline(always)]
pub(crate) fn again<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

pub(crate) fn open_failed(path: &Path, errno: Errno) -> EngineError {
    EngineError::Open { path: path.to_owned(), purpose: "the work in it", errno }
}
