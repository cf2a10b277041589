//! Names of items and directories, built in reused memory.

use std::ffi::CStr;

use crate::Errno;

/// Longest path that the kernel accepts (`PATH_MAX`), including the terminating zero.
const ROOM: usize = 4096;
/// Initial capacity: enough for an item in a directory.
const ROOM_AT_FIRST: usize = 128;
/// Digits of the largest number.
const DIGITS: usize = 20;

/// A path, as passed to the kernel.
#[derive(Debug)]
pub(crate) struct Name {
    /// As long as the longest path so far, so it only grows during the first items.
    bytes: Vec<u8>,
    length: usize,
    /// Length of the prefix kept for the next item's name.
    kept: usize,
    /// Whether the path has exceeded the kernel's limit.
    too_long: bool,
    /// Directory numbers from a directory up to the topmost one. The memory is reused.
    numbers: Vec<u64>,
}

impl Name {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(ROOM_AT_FIRST),
            length: 0,
            kept: 0,
            too_long: false,
            numbers: Vec::new(),
        }
    }

    /// Makes the name empty.
    pub(crate) fn clear(&mut self) -> &mut Self {
        (self.length, self.kept, self.too_long) = (0, 0, false);
        self
    }

    /// Keeps the current contents as the prefix of all following names.
    pub(crate) fn keep(&mut self) {
        self.kept = self.length;
    }

    /// Truncates to the kept prefix.
    #[inline(always)]
    pub(crate) fn back(&mut self) -> &mut Self {
        self.length = self.kept;
        self
    }

    /// Appends `text`.
    #[inline(always)]
    pub(crate) fn push(&mut self, text: &[u8]) -> &mut Self {
        // There must be room for the terminating zero.
        if self.length + text.len() < ROOM {
            self.bytes.truncate(self.length);
            self.bytes.extend_from_slice(text);
            self.length += text.len();
        } else {
            self.too_long = true;
        }
        self
    }

    /// Appends a number.
    #[inline(always)]
    pub(crate) fn push_number(&mut self, number: u64) -> &mut Self {
        let mut digits = [0; DIGITS];
        let mut at = DIGITS;
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[at..])
    }

    /// Appends the path of directory number `directory` in the tree of a task or in the shared tree, with
    /// a trailing slash: `mdtest_tree.3.0/mdtest_tree.3.2/`.
    pub(crate) fn push_directory(&mut self, tree: Option<u32>, directory: u64, branching: u32) -> &mut Self {
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.push(directory);
        let mut number = directory;
        while number > 0 && numbers.len() < ROOM {
            number = (number - 1) / u64::from(branching.max(1));
            numbers.push(number);
        }
        for &number in numbers.iter().rev() {
            self.push(b"mdtest_tree.");
            if let Some(tree) = tree {
                self.push_number(tree.into()).push(b".");
            }
            self.push_number(number).push(b"/");
        }
        self.numbers = numbers;
        self
    }

    /// Returns the name as a C string.
    #[inline(always)]
    pub(crate) fn c_str(&mut self) -> Result<&CStr, Errno> {
        let too_long = Errno(libc::ENAMETOOLONG);
        if self.too_long {
            return Err(too_long);
        }
        self.bytes.truncate(self.length);
        self.bytes.push(0);
        CStr::from_bytes_with_nul(&self.bytes).map_err(|_| too_long)
    }

    /// Returns the name as text.
    #[cfg(test)]
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.length]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Geometry, Tree, TreePlacement, WorkloadSpec};
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::Name;
    use crate::Errno;

    proptest! {
        #[test]
        fn directories_are_called_what_the_plan_calls_them(
            branching in 1_u32..6, directory in 0_u64..200, owner in 0_u32..9, own_trees in any::<bool>(),
        ) {
            let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
            let mut spec = WorkloadSpec::new("w", "/t", geometry);
            spec.tasks = 9;
            spec.work = Tree { own_trees, branching, depth: 8, ..Tree::flat(1) }.into();
            let workload = spec.validate().expect("valid");
            let expected = TreePlacement::new(&workload).expect("a tree").directory(owner, directory);
            let mut name = Name::new();
            name.push_directory(own_trees.then_some(owner), directory, branching);
            prop_assert_eq!(name.text(), format!("{}/", expected.display()));
        }

        #[test]
        fn numbers_are_written_out(numbers: [u64; 3]) {
            let mut name = Name::new();
            name.push(b"x").keep();
            for number in numbers {
                name.back().push_number(number);
                let found = name.c_str().expect("short").to_str().expect("digits").to_owned();
                prop_assert_eq!(found, format!("x{}", number));
            }
        }
    }

    #[test]
    fn a_path_that_no_kernel_takes_is_refused_and_not_cut() {
        let mut name = Name::new();
        name.push_directory(None, 10_000, 1);
        assert_eq!(name.c_str(), Err(Errno(libc::ENAMETOOLONG)));
        name.clear().push(b"short");
        assert!(name.c_str().is_ok());
    }
}
