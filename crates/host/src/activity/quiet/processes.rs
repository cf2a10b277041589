//! Resource usage of the processes of a host at one time.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::sync::Arc;

use crate::Root;

/// Bit in field 9 of `/proc/PID/stat` that marks kernel threads (`PF_KTHREAD` in `linux/sched.h`). They do
/// writeback, journaling and device work on behalf of any process.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Resource usage of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) command: String,
    /// Start time in ticks since boot. It distinguishes the process from another one with the same
    /// number.
    start_ticks: u64,
    /// Processor time of the process's threads.
    ticks: u64,
    /// Processor time of the children that have ended, and of their ended children.
    child_ticks: u64,
    /// Bytes that devices read and wrote for the process, including its ended children.
    moved: Moved,
}

/// Bytes at the block layer, from `/proc/PID/io` (`proc_pid_io(5)`), or 0 if it cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
}

/// Selects a usage figure of a process.
type Figure = fn(&Process) -> u64;

/// All processes except kernel threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Processes {
    all: HashMap<u32, Process>,
    /// Other processes of the same run, which are not counted as others.
    mates: Arc<BTreeSet<u32>>,
}

impl Processes {
    /// Reads the current processes. Their bytes are only read if `with_bytes` is set.
    pub(super) fn now(root: &Root, with_bytes: bool) -> Self {
        let entries = fs::read_dir(root.path("/proc")).into_iter().flatten().flatten();
        let process = |id: u32| {
            let process = Process::parse(&root.read(&format!("/proc/{id}/stat")).ok()?)?;
            let moved = with_bytes.then(|| root.read(&format!("/proc/{id}/io")).ok()).flatten();
            Some((
                id,
                Process { moved: moved.map(|text| Moved::parse(&text)).unwrap_or_default(), ..process },
            ))
        };
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self { all: ids.filter_map(process).collect(), mates: Arc::default() }
    }

    /// Sets the `mates` that belong to this process's run.
    pub(super) fn with_mates(self, mates: &Arc<BTreeSet<u32>>) -> Self {
        Self { mates: Arc::clone(mates), ..self }
    }

    /// Ticks used by processes outside this run since `earlier`.
    pub(super) fn others_ticks_since(&self, earlier: &Self) -> u64 {
        self.others_since(earlier, |one| one.ticks, |one| one.ticks + one.child_ticks)
    }

    /// Bytes moved by processes outside this run since `earlier`.
    pub(super) fn others_moved_since(&self, earlier: &Self) -> Moved {
        let read: Figure = |one| one.moved.read_bytes;
        let write: Figure = |one| one.moved.write_bytes;
        Moved {
            read_bytes: self.others_since(earlier, read, read),
            write_bytes: self.others_since(earlier, write, write),
        }
    }

    /// Bytes that the processes of this run moved since `earlier`.
    pub(super) fn own_moved_since(&self, earlier: &Self) -> Moved {
        let own = |of: &Self, figure: Figure| {
            let own = of.all.iter().filter(|(id, _)| self.is_own(**id));
            own.map(|(_, one)| figure(one)).fold(0, u64::saturating_add)
        };
        let moved = |figure: Figure| own(self, figure).saturating_sub(own(earlier, figure));
        Moved {
            read_bytes: moved(|one| one.moved.read_bytes),
            write_bytes: moved(|one| one.moved.write_bytes),
        }
    }

    /// The other process whose `figure` increased most, and the increase.
    pub(super) fn busiest_since(&self, earlier: &Self, figure: Figure) -> Option<(u32, &Process, u64)> {
        let grown = self.others().map(|(id, one)| (id, one, grown(one, earlier.all.get(&id), figure)));
        grown.filter(|(.., by)| *by > 0).max_by_key(|(.., by)| *by)
    }

    /// The sum over other processes. `own` selects a process's own usage; `with_children` includes its
    /// ended children. The usage of an ended process moves to its parent, so the second sum also covers
    /// short-lived processes. But it misses those whose parent did not wait for them, so the first sum
    /// may be larger.
    fn others_since(&self, earlier: &Self, own: Figure, with_children: Figure) -> u64 {
        let sum = |of: &Self| of.others().map(|(_, one)| with_children(one)).sum::<u64>();
        let seen: u64 = self.others().map(|(id, one)| grown(one, earlier.all.get(&id), own)).sum();
        seen.max(sum(self).saturating_sub(sum(earlier)))
    }

    fn others(&self) -> impl Iterator<Item = (u32, &Process)> {
        self.all.iter().filter(|(id, _)| !self.is_own(**id)).map(|(id, one)| (*id, one))
    }

    fn is_own(&self, id: u32) -> bool {
        id == std::process::id() || self.mates.contains(&id)
    }
}

/// The increase of a figure of `now` since `before`, which may be a different process with the same
/// number.
fn grown(now: &Process, before: Option<&Process>, figure: Figure) -> u64 {
    let before = before.filter(|before| before.start_ticks == now.start_ticks);
    figure(now).saturating_sub(before.map_or(0, figure))
}

/// The process's own ticks, for [`Processes::busiest_since`].
pub(super) fn ticks(process: &Process) -> u64 {
    process.ticks
}

/// The process's bytes in both directions, for [`Processes::busiest_since`].
pub(super) fn bytes(process: &Process) -> u64 {
    process.moved.read_bytes.saturating_add(process.moved.write_bytes)
}

impl Process {
    /// Parses `/proc/PID/stat` (`proc_pid_stat(5)`). Returns `None` for a kernel thread. The command is
    /// in parentheses and may contain any characters, including parentheses.
    fn parse(stat: &str) -> Option<Self> {
        let (head, tail) = stat.rsplit_once(')')?;
        let (_, command) = head.split_once('(')?;
        // The first field after the command is field 3.
        let mut fields = tail.split_ascii_whitespace();
        let flags: u64 = fields.nth(6)?.parse().ok()?;
        if flags & KERNEL_THREAD != 0 {
            return None;
        }
        let mut fields = fields.skip(4).map(|field| field.parse::<u64>().unwrap_or(0));
        let (user, system) = (fields.next()?, fields.next()?);
        let (child_user, child_system) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
        Some(Self {
            command: command.to_owned(),
            start_ticks: fields.nth(4).unwrap_or(0),
            ticks: user + system,
            child_ticks: child_user + child_system,
            moved: Moved::default(),
        })
    }
}

impl Moved {
    fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
        };
        Self { read_bytes: field("read_bytes:"), write_bytes: field("write_bytes:") }
    }
}

#[cfg(test)]
mod tests {
    use super::{Moved, Process, Processes};
    use crate::fake::Tree;

    #[test]
    fn a_command_may_hold_parentheses_and_space() {
        let process = Process::parse("7 (a) b (c) R 1 1 1 0 -1 0 0 0 0 0 3 4 20 30 0 0 1 0 99 0").unwrap();
        assert_eq!((process.command.as_str(), process.ticks), ("a) b (c", 7));
        assert_eq!((process.child_ticks, process.start_ticks), (50, 99));
        assert!(Process::parse("7 a").is_none());
    }

    #[test]
    fn threads_of_the_kernel_are_nobody_s_processes() {
        assert_eq!(
            Process::parse("7 (kworker/0:1) R 1 1 1 0 -1 69238880 0 0 0 0 3 4 0 0 0 0 1 0 99 0"),
            None
        );
    }

    #[test]
    fn bytes_are_those_that_reached_the_block_layer() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        assert_eq!(Moved::parse(text), Moved { read_bytes: 5, write_bytes: 6 });
    }

    fn stat(id: u32, ticks: u64, child_ticks: u64, start: u64) -> (String, String) {
        let text = format!("{id} (x) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 {child_ticks} 0 0 0 1 0 {start} 0");
        (format!("/proc/{id}/stat"), text)
    }

    fn processes(list: &[(u32, u64, u64, u64)]) -> Processes {
        let files: Vec<_> = list.iter().map(|one| stat(one.0, one.1, one.2, one.3)).collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Processes::now(Tree::new(&files).root(), false)
    }

    #[test]
    fn children_that_came_and_went_count_by_their_parent() {
        let before = processes(&[(2_000_001, 10, 0, 1), (2_000_002, 50, 0, 2)]);
        // The second ended after 20 ticks more; a third lived in between and used 30.
        let after = processes(&[(2_000_001, 12, 100, 1)]);
        assert_eq!(after.others_ticks_since(&before), 2 + 20 + 30);
    }

    #[test]
    fn processes_of_the_same_run_are_no_others() {
        let mates = std::sync::Arc::new(std::collections::BTreeSet::from([2_000_002]));
        let before = processes(&[(2_000_001, 10, 0, 1), (2_000_002, 50, 0, 2)]).with_mates(&mates);
        let after = processes(&[(2_000_001, 12, 0, 1), (2_000_002, 950, 0, 2)]).with_mates(&mates);
        assert_eq!(after.others_ticks_since(&before), 2);
    }

    #[test]
    fn a_number_that_was_given_again_starts_from_nothing() {
        let before = processes(&[(2_000_001, 1000, 0, 1)]);
        let after = processes(&[(2_000_001, 40, 0, 7)]);
        assert_eq!(after.others_ticks_since(&before), 40);
    }
}
