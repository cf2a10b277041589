//! Keeps track of what this run has written to its files, for reads that need data and checks that need
//! its generation.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use plan::{Order, PlanError, ReadFrom, SyncRule, Workload, WorkloadSpec};

/// Queue depth for the transfers of a fill, which keeps any device busy.
const FILL_DEPTH: u32 = 8;

/// Content of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// The generations of data that the file may contain.
    pub(crate) generations: RangeInclusive<u16>,
    /// Whether a write ended at its time limit, so that the file contains less than one pass.
    pub(crate) partial: bool,
}

/// The data that this run has written, by file. The key is the path and, for node-local directories, the
/// node; otherwise the node is 0.
#[derive(Debug, Default)]
pub(crate) struct WrittenData {
    nodes: Vec<Files>,
    last: u16,
}

/// The files of one node.
#[derive(Debug, Default)]
struct Files {
    contents: HashMap<PathBuf, Content>,
    discarded: HashSet<PathBuf>,
}

impl WrittenData {
    /// Returns a generation that no earlier write phase had. It wraps after 65535 write phases, when the
    /// data of the first one has long been overwritten.
    pub(crate) fn next_generation(&mut self) -> u16 {
        self.last = self.last.checked_add(1).unwrap_or(1);
        self.last
    }

    /// Records that a write phase of `generation` wrote `path`, either as a new file (`whole`) or in some
    /// places.
    pub(crate) fn written(&mut self, node: u32, path: &Path, generation: u16, whole: bool, partial: bool) {
        let files = self.of(node);
        files.discarded.remove(path);
        let fresh = Content { generations: generation..=generation, partial };
        files
            .contents
            .entry(path.to_owned())
            .and_modify(|content| {
                if whole {
                    *content = fresh.clone();
                } else {
                    content.generations = *content.generations.start()..=generation;
                }
            })
            .or_insert(fresh);
    }

    /// Content of `path`, if this run wrote it.
    pub(crate) fn content(&self, node: u32, path: &Path) -> Option<&Content> {
        self.nodes.get(node as usize)?.contents.get(path)
    }

    /// Records that the device at `path` was discarded and contains no data.
    pub(crate) fn discarded(&mut self, node: u32, path: &Path) {
        let files = self.of(node);
        files.contents.remove(path);
        files.discarded.insert(path.to_owned());
    }

    /// Whether `path` was discarded and has not been written since.
    pub(crate) fn is_discarded(&self, node: u32, path: &Path) -> bool {
        self.nodes.get(node as usize).is_some_and(|files| files.discarded.contains(path))
    }

    /// Records that `path` was removed.
    pub(crate) fn removed(&mut self, node: u32, path: &Path) {
        self.of(node).contents.remove(path);
    }

    fn of(&mut self, node: u32) -> &mut Files {
        let index = node as usize;
        if self.nodes.len() <= index {
            self.nodes.resize_with(index + 1, Files::default);
        }
        &mut self.nodes[index]
    }
}

/// Derives the workload that writes the data to be read by `workload`: the same files and cells, in
/// sequential, large transfers, synced to stable storage at the end.
///
/// # Errors
/// Does not fail for a valid workload; every derived workload is validated.
pub(crate) fn fill_workload(workload: &Workload) -> Result<Workload, PlanError> {
    if !workload.work.is_transfers() {
        return Ok(workload.clone());
    }
    let mut spec: WorkloadSpec = workload.clone().into();
    spec.geometry.transfer = spec.geometry.fill_transfer();
    spec.order = Order::Sequential;
    spec.read_from = ReadFrom::Same;
    spec.stonewall = None;
    spec.duration = None;
    spec.pace = None;
    spec.verify = false;
    spec.barriers = false;
    spec.sync = SyncRule { at_close: true, per_write: false };
    spec.backend = spec.backend.for_fill(FILL_DEPTH);
    spec.validate()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::WrittenData;

    #[test]
    fn writing_in_places_widens_the_generations() {
        let mut written = WrittenData::default();
        let path = Path::new("f");
        let first = written.next_generation();
        written.written(0, path, first, true, false);
        let second = written.next_generation();
        written.written(0, path, second, false, false);
        assert_eq!(written.content(0, path).map(|c| c.generations.clone()), Some(first..=second));
        let third = written.next_generation();
        written.written(0, path, third, true, false);
        assert_eq!(written.content(0, path).map(|c| c.generations.clone()), Some(third..=third));
        written.removed(0, path);
        assert_eq!(written.content(0, path), None);
    }

    #[test]
    fn a_file_of_another_node_is_another_file() {
        let mut written = WrittenData::default();
        let path = Path::new("f");
        written.written(3, path, 7, true, true);
        assert!(written.content(3, path).is_some_and(|content| content.partial));
        assert_eq!(written.content(0, path), None);
    }
}
