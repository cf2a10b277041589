//! The conditions of an imported case that its text contains.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::{Bytes, Case, Condition, Order, Sharing, SyncRule, Tree};

/// Conditions of an imported case: `None` if the text does not contain it. A measured case has all of them.
impl Case {
    /// Whether the value of `condition` in the workload is that of the measurement.
    #[must_use]
    pub fn knows(&self, condition: Condition) -> bool {
        match (&self.not_printed, &self.stated) {
            (Some(not_printed), _) => !not_printed.contains(&condition),
            (None, Some(stated)) => self.seems_known(condition, stated),
            (None, None) => true,
        }
    }

    /// The conditions that are not printed, in the order of [`Condition::ALL`].
    #[must_use]
    pub fn unknown(&self) -> BTreeSet<Condition> {
        Condition::ALL.into_iter().filter(|condition| !self.knows(*condition)).collect()
    }

    /// Records of format 4 and older only contain the text of an imported case, and placeholders for what it does
    /// not print: one byte, one transfer of each task, one node.
    fn seems_known(&self, condition: Condition, stated: &str) -> bool {
        let has = |words: &[&str]| words.iter().any(|word| stated.contains(word));
        let workload = &self.workload;
        let geometry = workload.geometry;
        match condition {
            Condition::Transfer => geometry.transfer > Bytes(1) || !workload.work.is_transfers(),
            Condition::Block | Condition::Volume => geometry.transfers_per_task() > 1,
            Condition::Order => workload.order != Order::Sequential || has(&["seq", "read", "write"]),
            Condition::Path => workload.files.targets.iter().all(|path| path.as_os_str() != "unknown"),
            Condition::Sharing => workload.files.sharing == Sharing::PerTask,
            Condition::Cache => workload.direct || has(&["buffered"]),
            Condition::Sync => workload.sync != SyncRule::default(),
            Condition::Engine => false,
            Condition::Depth => has(&["depth "]),
            Condition::Tasks => true,
            Condition::Nodes => workload.nodes > 1 || has(&["node", "host"]),
            Condition::Tree => workload.work.tree().is_some(),
        }
    }

    /// Bytes of one transfer.
    #[must_use]
    pub fn transfer(&self) -> Option<Bytes> {
        self.knows(Condition::Transfer).then_some(self.workload.geometry.transfer)
    }

    /// Bytes of a block.
    #[must_use]
    pub fn block(&self) -> Option<Bytes> {
        self.knows(Condition::Block).then_some(self.workload.geometry.block)
    }

    /// The number of blocks of each task.
    #[must_use]
    pub fn segments(&self) -> Option<u64> {
        self.knows(Condition::Block).then_some(self.workload.geometry.segments)
    }

    /// Transfers of each task in a pass.
    #[must_use]
    pub fn transfers_per_task(&self) -> Option<u64> {
        let is_known = self.knows(Condition::Transfer) && self.knows(Condition::Volume);
        is_known.then(|| self.workload.geometry.transfers_per_task())
    }

    /// Bytes that all tasks go over in a pass.
    #[must_use]
    pub fn volume(&self) -> Option<Bytes> {
        self.knows(Condition::Volume).then(|| self.workload.bytes())
    }

    /// The order of a task's transfers.
    #[must_use]
    pub fn order(&self) -> Option<Order> {
        self.knows(Condition::Order).then_some(self.workload.order)
    }

    /// [`crate::Workload::order_name`].
    #[must_use]
    pub fn order_name(&self) -> Option<&'static str> {
        self.knows(Condition::Order).then(|| self.workload.order_name())
    }

    /// The files, devices or directories.
    #[must_use]
    pub fn paths(&self) -> Option<&[PathBuf]> {
        self.knows(Condition::Path).then_some(self.workload.files.targets.as_slice())
    }

    /// Whether tasks share a file.
    #[must_use]
    pub fn sharing(&self) -> Option<Sharing> {
        self.knows(Condition::Sharing).then_some(self.workload.files.sharing)
    }

    /// Whether the page cache was bypassed.
    #[must_use]
    pub fn is_direct(&self) -> Option<bool> {
        self.knows(Condition::Cache).then_some(self.workload.direct)
    }

    /// When data had to be on stable storage.
    #[must_use]
    pub fn sync(&self) -> Option<SyncRule> {
        self.knows(Condition::Sync).then_some(self.workload.sync)
    }

    /// Operations of each task at a time.
    #[must_use]
    pub fn depth(&self) -> Option<u32> {
        self.knows(Condition::Depth).then(|| self.workload.backend.depth())
    }

    /// The number of tasks.
    #[must_use]
    pub fn tasks(&self) -> Option<u32> {
        self.knows(Condition::Tasks).then_some(self.workload.tasks)
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> Option<u32> {
        self.knows(Condition::Nodes).then_some(self.workload.nodes)
    }

    /// Operations of all tasks at a time.
    #[must_use]
    pub fn in_flight(&self) -> Option<f64> {
        Some(f64::from(self.tasks()?) * f64::from(self.depth()?))
    }

    /// The directories and the items in them, if the work is on such.
    #[must_use]
    pub fn tree(&self) -> Option<&Tree> {
        self.workload.work.tree().filter(|_| self.knows(Condition::Tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, Phase, WorkloadSpec};

    fn case(transfer: u64) -> Case {
        let geometry = Geometry { transfer: Bytes(transfer), block: Bytes(transfer), segments: 1 };
        let workload = WorkloadSpec::new("w", "unknown", geometry).validate().expect("valid");
        Case::new("w", workload, vec![Phase::Read])
    }

    #[test]
    fn a_measured_case_knows_all_of_its_conditions() {
        assert!(case(1).unknown().is_empty());
        assert_eq!(
            (case(1).transfer(), case(1).nodes(), case(1).depth()),
            (Some(Bytes(1)), Some(1), Some(1))
        );
    }

    #[test]
    fn what_is_not_printed_has_no_value() {
        let not_printed = Some([Condition::Nodes, Condition::Transfer].into_iter().collect());
        let case = Case { stated: Some("4 tasks".to_owned()), not_printed, ..case(1) };
        assert_eq!((case.transfer(), case.nodes(), case.tasks()), (None, None, Some(1)));
        assert_eq!(case.unknown().into_iter().collect::<Vec<_>>(), [Condition::Transfer, Condition::Nodes]);
    }

    #[test]
    fn the_placeholders_of_older_records_are_unknown() {
        let json = serde_json::to_value(case(1)).expect("a case");
        assert!(json.get("not_printed").is_none(), "a measured case is written as before");
        let mut old = json;
        old["stated"] = "4 tasks".into();
        let old: Case = serde_json::from_value(old).expect("an older case");
        assert_eq!((old.transfer(), old.volume(), old.nodes()), (None, None, None));
        assert_eq!((old.tasks(), old.depth(), old.paths()), (Some(1), None, None));
        let sized = Case { stated: Some("reads of 4 KiB, depth 1, 2 nodes".to_owned()), ..case(4096) };
        assert_eq!((sized.transfer(), sized.depth(), sized.nodes()), (Some(Bytes(4096)), Some(1), Some(1)));
    }
}
