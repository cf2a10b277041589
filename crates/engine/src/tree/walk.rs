//! Iteration over items: number, directory and name.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use plan::{RENAMED, TreePlacement};
use rustix::fs::Access;

use crate::tree::name::Name;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::{EngineError, Errno};

/// A task's iteration over the items of its owner.
///
/// Each call uses the complete path from the target on. Source: the calls of mdtest of IOR 4.1, as shown by strace.
#[derive(Debug)]
pub(crate) struct Walk<'s> {
    rules: &'s TreeRules<'s>,
    plan: &'s ItemPlan,
    /// Range of the items in the current directory.
    from: u64,
    to: u64,
    /// The path of the item. The part that is kept is its directory.
    name: Name,
    /// The new path of an item, or the path of its directory.
    other: Name,
    /// The current item.
    item: u64,
    /// Name prefix before the number of an item.
    stem: Vec<u8>,
    /// The number in the name of the first item.
    first: u64,
}

impl<'s> Walk<'s> {
    /// Creates the walk of `plan`.
    pub(crate) fn new(rules: &'s TreeRules<'s>, plan: &'s ItemPlan) -> Self {
        Self {
            rules,
            plan,
            from: 0,
            to: 0,
            name: Name::new(),
            other: Name::new(),
            item: 0,
            stem: item_stem(rules, plan),
            first: rules.tree.number_of(0),
        }
    }

    /// The number of the current item.
    pub(crate) fn item(&self) -> u64 {
        self.item
    }

    /// Errors if the root of the phase does not exist.
    pub(crate) fn enter(&self) -> Result<(), EngineError> {
        if self.rules.null || self.plan.limit == 0 { Ok(()) } else { needs_root(&self.plan.root) }
    }

    /// The path of the item.
    #[inline(always)]
    pub(crate) fn path_here(&mut self) -> Result<&CStr, Errno> {
        self.name.c_str()
    }

    /// The old and the new path for renaming in a ring. The first item gets a temporary name of its own, each other
    /// item gets the name of the one before it, and finally the first item gets the last of these names. The last
    /// item keeps its name, so that the set of names is the same afterwards.
    pub(crate) fn old_and_new(&mut self) -> Result<(&CStr, &CStr), Errno> {
        let last = self.plan.limit.saturating_sub(1);
        let (item, aside): (_, &[u8]) = (self.item, RENAMED.as_bytes());
        let ((old, old_end), (new, new_end)) = match item {
            _ if last == 0 => ((item, &b""[..]), (item, &b""[..])),
            0 => ((0, &b""[..]), (0, aside)),
            _ if item == last => ((0, aside), (item - 1, &b""[..])),
            _ => ((item, &b""[..]), (item - 1, &b""[..])),
        };
        for (name, item, end) in [(&mut self.name, old, old_end), (&mut self.other, new, new_end)] {
            push_directory(name, self.rules, self.plan, item);
            name.push(&self.stem).push_number(self.first + item).push(end);
        }
        Ok((self.name.c_str()?, self.other.c_str()?))
    }

    /// The path of the item's directory.
    pub(crate) fn directory_here(&mut self) -> Result<&CStr, Errno> {
        push_directory(&mut self.other, self.rules, self.plan, self.item);
        self.other.c_str()
    }

    /// Moves to item number `position` of this phase.
    #[inline(always)]
    pub(crate) fn go(&mut self, position: u64) {
        self.item = self.plan.order.as_ref().map_or(position, |order| order.at(position));
        if self.item < self.from || self.item >= self.to {
            self.change_directory();
        }
        self.name.back().push(&self.stem).push_number(self.first + self.item);
    }

    /// Changes to the item's directory.
    #[cold]
    #[inline(never)]
    fn change_directory(&mut self) {
        let each = self.rules.tree.items_per_directory.max(1);
        self.from = self.item / each * each;
        self.to = self.from.saturating_add(each);
        push_directory(&mut self.name, self.rules, self.plan, self.item);
        self.name.keep();
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

/// Sets `name` to the path of the directory of `item`, with a trailing slash.
pub(crate) fn push_directory(name: &mut Name, rules: &TreeRules<'_>, plan: &ItemPlan, item: u64) {
    name.clear().push(plan.root.as_os_str().as_bytes()).push(b"/");
    name.push_directory(rules.tree_number(plan.owner), rules.tree.directory_of(item), rules.tree.branching);
}

/// Errors if `root` does not exist.
pub(crate) fn needs_root(root: &Path) -> Result<(), EngineError> {
    match again(|| rustix::fs::access(root, Access::EXISTS)) {
        Ok(()) => Ok(()),
        Err(Errno(libc::ENOENT)) => Err(EngineError::NoTree { path: root.to_owned() }),
        Err(errno) => Err(EngineError::Open { path: root.to_owned(), purpose: "the work in it", errno }),
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
    let directory = rules.placement.directory(plan.owner, rules.tree.directory_of(item));
    plan.root.join(directory).join(name)
}

/// Repeats a call as long as signals interrupt it.
#[inline(always)]
pub(crate) fn again<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}
