//! Merges the results of the ranks of a phase into those of a single process.
//!
//! Counts are added, and the earliest, latest and largest values of all ranks are taken, so merging is lossless and
//! independent of the placement of tasks. Times of all ranks count from the common start of the phase.

use engine::{PhaseOutcome, SeriesInterval, TaskOutcome};
use host::Stored;
use plan::{Measure, Nanos, Operation};
use record::{LatencyRow, PhaseKey, PhaseRow, SeriesRow, Warning};
use serde::{Deserialize, Serialize};

/// Length of an interval of the series.
pub const SERIES_INTERVAL: Nanos = Nanos::secs(1);

/// Earliest and latest time of an event, nanoseconds since the phase's common start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Span(u64, u64);

impl Span {
    fn of(
        tasks: &[TaskOutcome],
        from: impl Fn(&TaskOutcome) -> u64,
        to: impl Fn(&TaskOutcome) -> u64,
    ) -> Self {
        // A rank without tasks, for example a mere server, has no first time: that of any other is earlier.
        Self(tasks.iter().map(from).min().unwrap_or(u64::MAX), tasks.iter().map(to).max().unwrap_or(0))
    }

    fn join(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.max(other.1))
    }

    fn length(self) -> u64 {
        self.1.saturating_sub(self.0)
    }
}

/// A time, and the bytes moved until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Moment {
    at_ns: u64,
    bytes: u64,
}

/// The stonewall of a phase that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StonewallState {
    /// When the last task saw it, or `None` if every task had finished before.
    last: Option<Moment>,
}

/// A histogram: smallest latency, largest latency and count of each non-empty bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Buckets {
    operation: Operation,
    measure: Measure,
    buckets: Vec<(u64, u64, u64)>,
}

/// A wrong cell: file, offset, description.
type WrongCell = (u32, u64, String);

/// The merged result of some ranks, without the rows of tasks and nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseTotals {
    started_unix_ns: i64,
    open: Span,
    io: Span,
    close: Span,
    read_bytes: u64,
    write_bytes: u64,
    reads: u64,
    writes: u64,
    items: u64,
    allocated_bytes: Option<u64>,
    found: Option<u64>,
    surprises: u64,
    first_surprises: Vec<String>,
    first_done: Option<Moment>,
    stonewall: Option<StonewallState>,
    user_cpu_ns: u64,
    system_cpu_ns: u64,
    wrong_cells: u64,
    first_wrong: Option<WrongCell>,
    /// Number of transfers that took several calls.
    pub(crate) continued: u64,
    notes: Vec<String>,
    latency: Vec<Buckets>,
    series: Vec<SeriesInterval>,
    /// Bytes of the files to be read that were in page caches before the phase, and the size of these files.
    pub(crate) resident: Option<(u64, u64)>,
    /// What the files to be read store of their data.
    pub(crate) stored: Option<Stored>,
    /// Bytes that the processes of the run read from block devices.
    pub(crate) fetched: Option<u64>,
    /// Activity of other processes on a node during the phase.
    pub(crate) disturbed: Vec<(u32, String, f64)>,
    /// Why the devices of a node could not be observed.
    pub(crate) unobserved: Vec<(u32, String)>,
    /// Warnings about what is below the targets on any node.
    pub(crate) below: Vec<Warning>,
    /// Why the device requests of a node could not be traced, if tracing was requested.
    pub(crate) untraced: Vec<(u32, String)>,
}

impl PhaseTotals {
    /// The result of one rank.
    pub(crate) fn of(outcome: &PhaseOutcome) -> Self {
        let tasks = &outcome.tasks;
        let io = Span::of(tasks, |task| task.io_start_ns, |task| task.io_end_ns);
        // A time with no bytes moved means that the event did not occur.
        let since_io = |ns: u64, bytes: u64| {
            (ns > 0 || bytes > 0).then_some(Moment { at_ns: io.0.saturating_add(ns), bytes })
        };
        let first = outcome.mismatches.first.first();
        Self {
            started_unix_ns: outcome.started_unix_ns,
            open: Span::of(tasks, |task| task.open_start_ns, |task| task.open_end_ns),
            io,
            close: Span::of(tasks, |task| task.close_start_ns, |task| task.close_end_ns),
            read_bytes: outcome.read_bytes,
            write_bytes: outcome.write_bytes,
            reads: outcome.reads,
            writes: outcome.writes,
            items: outcome.items,
            allocated_bytes: outcome.allocated_bytes,
            found: outcome.found,
            surprises: outcome.surprises.count,
            first_surprises: outcome.surprises.first.clone(),
            first_done: since_io(outcome.first_done_ns, outcome.first_done_bytes),
            stonewall: outcome.stonewall.map(|fell| StonewallState { last: since_io(fell.ns, fell.bytes) }),
            user_cpu_ns: outcome.user_cpu_ns,
            system_cpu_ns: outcome.system_cpu_ns,
            wrong_cells: outcome.mismatches.wrong_cells,
            first_wrong: first.map(|wrong| (wrong.expected_file, wrong.offset, wrong.to_string())),
            continued: outcome.continued,
            notes: outcome.notes.iter().map(ToString::to_string).collect(),
            latency: outcome.latency.iter().map(buckets).collect(),
            series: outcome.series.clone(),
            disturbed: Vec::new(),
            unobserved: Vec::new(),
            resident: None,
            stored: None,
            fetched: None,
            below: Vec::new(),
            untraced: Vec::new(),
        }
    }

    /// Time at which the first task of these ranks was done, counted from the phase's common start.
    pub(crate) fn first_done_ns(&self) -> Option<u64> {
        self.first_done.map(|moment| moment.at_ns)
    }

    /// Counts the bytes that this rank had moved at `at_ns`, when the first task of all ranks was done. This is exact
    /// on the rank of that task. The others interpolate linearly within an interval of their series.
    pub(crate) fn count_at(&mut self, at_ns: u64) {
        if self.first_done.is_none_or(|own| own.at_ns != at_ns) {
            let bytes = self.series.iter().map(|interval| self.moved_by(interval, at_ns)).sum();
            self.first_done = Some(Moment { at_ns, bytes });
        }
    }

    /// Bytes of `interval` that were moved before `at_ns`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share between 0 and 1 of a u64"
    )]
    fn moved_by(&self, interval: &SeriesInterval, at_ns: u64) -> u64 {
        let start = interval.start_ns.max(self.io.0);
        let end = (interval.start_ns + interval.length_ns).min(self.io.1).max(start + 1);
        let share = at_ns.saturating_sub(start) as f64 / (end - start) as f64;
        (interval.bytes as f64 * share.min(1.0)) as u64
    }

    /// Adds the result of ranks with higher numbers.
    pub(crate) fn join(&mut self, other: Self) {
        self.open = self.open.join(other.open);
        self.io = self.io.join(other.io);
        self.close = self.close.join(other.close);
        add(&mut self.read_bytes, other.read_bytes);
        add(&mut self.write_bytes, other.write_bytes);
        add(&mut self.reads, other.reads);
        add(&mut self.writes, other.writes);
        add(&mut self.items, other.items);
        self.found = match (self.found, other.found) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.allocated_bytes = match (self.allocated_bytes, other.allocated_bytes) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        self.resident = self
            .resident
            .zip(other.resident)
            .map(|(one, two)| (one.0.saturating_add(two.0), one.1.saturating_add(two.1)));
        self.stored = match (self.stored, other.stored) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        };
        self.fetched = self.fetched.zip(other.fetched).map(|(one, two)| one.saturating_add(two));
        add(&mut self.surprises, other.surprises);
        self.first_surprises.extend(other.first_surprises);
        self.first_surprises.truncate(engine::Surprises::DESCRIBED);
        self.first_done = earlier(self.first_done, other.first_done);
        self.stonewall = match (self.stonewall, other.stonewall) {
            (Some(one), Some(two)) => Some(StonewallState { last: later(one.last, two.last) }),
            (one, two) => one.or(two),
        };
        add(&mut self.user_cpu_ns, other.user_cpu_ns);
        add(&mut self.system_cpu_ns, other.system_cpu_ns);
        add(&mut self.wrong_cells, other.wrong_cells);
        self.first_wrong = match (self.first_wrong.take(), other.first_wrong) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        add(&mut self.continued, other.continued);
        let new: Vec<String> = other.notes.into_iter().filter(|note| !self.notes.contains(note)).collect();
        self.notes.extend(new);
        self.join_latency(other.latency);
        join_sorted(&mut self.series, other.series, SeriesInterval::place, SeriesInterval::add);
        self.disturbed.extend(other.disturbed);
        self.unobserved.extend(other.unobserved);
        for warning in other.below {
            self.add_below(warning);
        }
        self.untraced.extend(other.untraced);
    }

    /// Nodes that share a kernel, or have the same device names, report the same warning.
    pub(crate) fn add_below(&mut self, warning: Warning) {
        if !self.below.contains(&warning) {
            self.below.push(warning);
        }
    }

    fn join_latency(&mut self, other: Vec<Buckets>) {
        for histogram in other {
            let kind = |one: &Buckets| (one.measure, one.operation);
            let known = self.latency.iter_mut().find(|one| kind(one) == kind(&histogram));
            match known {
                Some(known) => join_sorted(
                    &mut known.buckets,
                    histogram.buckets,
                    |bucket| bucket.0,
                    |mine, theirs| add(&mut mine.2, theirs.2),
                ),
                None => self.latency.push(histogram),
            }
        }
        // The order that a single process uses.
        self.latency.sort_by_key(|one| (one.measure == Measure::Service, one.operation));
    }

    /// The phase as a whole; `device_bytes` are the bytes that the devices read and wrote, if known.
    pub(crate) fn phase_row(&self, key: &PhaseKey, device_bytes: Option<(u64, u64)>) -> PhaseRow {
        let since_io = |moment: Moment| moment.at_ns.saturating_sub(self.io.0);
        let fell = self.stonewall.map(|fell| fell.last);
        // Of the items of a tree, only some are examined before they are read.
        let of_files = self.stored.filter(|_| self.items == 0).map(|stored| stored.allocated_bytes);
        PhaseRow {
            key: key.clone(),
            started_unix_ns: self.started_unix_ns,
            wall_ns: Span(self.open.0, self.close.1).length(),
            open_ns: self.open.length(),
            io_ns: self.io.length(),
            close_ns: self.close.length(),
            read_bytes: self.read_bytes,
            write_bytes: self.write_bytes,
            reads: self.reads,
            writes: self.writes,
            first_done_ns: self.first_done.map_or(0, since_io),
            first_done_bytes: self.first_done.map_or(0, |moment| moment.bytes),
            stonewall_ns: fell.map(|last| last.map_or(0, since_io)),
            stonewall_bytes: fell.map(|last| last.map_or(0, |moment| moment.bytes)),
            user_cpu_ns: self.user_cpu_ns,
            system_cpu_ns: self.system_cpu_ns,
            wrong_cells: self.wrong_cells,
            device_read_bytes: device_bytes.map(|bytes| bytes.0),
            device_write_bytes: device_bytes.map(|bytes| bytes.1),
            items: self.items,
            allocated_bytes: self.allocated_bytes.or(of_files),
            found: self.found,
            surprises: self.surprises,
            resident_bytes: self.resident.map(|(resident, _)| resident),
            resident_of_bytes: self.resident.map(|(_, of)| of),
            fetched_bytes: self.fetched,
            ..PhaseRow::new(key.clone())
        }
    }

    /// Every non-empty bucket.
    pub(crate) fn latency_rows(&self, key: &PhaseKey) -> Vec<LatencyRow> {
        let rows = |one: &Buckets| {
            let (operation, measure) = (one.operation, one.measure);
            let row = |&(low_ns, high_ns, count): &(u64, u64, u64)| LatencyRow {
                key: key.clone(),
                operation,
                measure,
                low_ns,
                high_ns,
                count,
            };
            one.buckets.iter().map(row).collect::<Vec<_>>()
        };
        self.latency.iter().flat_map(rows).collect()
    }

    /// Each interval of the phase. The last one ends with the last transfer of any rank.
    pub(crate) fn series_rows(&self, key: &PhaseKey) -> Vec<SeriesRow> {
        let length = |one: &SeriesInterval| {
            one.length_ns.max(self.io.1.saturating_sub(one.start_ns).min(SERIES_INTERVAL.0))
        };
        let row = |one: &SeriesInterval| SeriesRow {
            key: key.clone(),
            operation: one.operation,
            start_ns: one.start_ns,
            length_ns: length(one),
            bytes: one.bytes,
            transfers: one.transfers,
            latency_sum_ns: one.latency_sum_ns,
            latency_max_ns: one.latency_max_ns,
        };
        self.series.iter().map(row).collect()
    }

    /// The number of wrong cells, and a description of the first.
    pub(crate) fn wrong(&self) -> Option<(u64, &str)> {
        self.first_wrong.as_ref().map(|(.., words)| (self.wrong_cells, words.as_str()))
    }

    /// Items modified by another process during the run: their number, and a description of the first ones.
    pub(crate) fn surprises(&self) -> Option<(u64, &[String])> {
        (self.surprises > 0).then_some((self.surprises, self.first_surprises.as_slice()))
    }

    /// The engine's notes, without duplicates.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Adds what another rank counted. Saturates at numbers that no rank can have counted.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// The earlier time; the bytes of equal times are added.
fn earlier(one: Option<Moment>, two: Option<Moment>) -> Option<Moment> {
    let (Some(one), Some(two)) = (one, two) else { return one.or(two) };
    let bytes = match one.at_ns == two.at_ns {
        true => one.bytes.saturating_add(two.bytes),
        false => return Some(if one.at_ns < two.at_ns { one } else { two }),
    };
    Some(Moment { bytes, ..one })
}

/// The later time, with the bytes of both, since each part counts until its own time.
fn later(one: Option<Moment>, two: Option<Moment>) -> Option<Moment> {
    let (Some(one), Some(two)) = (one, two) else { return one.or(two) };
    Some(Moment { at_ns: one.at_ns.max(two.at_ns), bytes: one.bytes.saturating_add(two.bytes) })
}

/// Merges two lists sorted by `place`; `add` combines two entries of the same place.
pub(crate) fn join_sorted<T, P: Ord>(
    mine: &mut Vec<T>,
    theirs: Vec<T>,
    place: impl Fn(&T) -> P,
    add: impl Fn(&mut T, &T),
) {
    let mut all: Vec<T> = Vec::with_capacity(mine.len().max(theirs.len()));
    let mut others = theirs.into_iter().peekable();
    for mut one in mine.drain(..) {
        while let Some(other) = others.next_if(|other| place(other) < place(&one)) {
            all.push(other);
        }
        if let Some(same) = others.next_if(|other| place(other) == place(&one)) {
            add(&mut one, &same);
        }
        all.push(one);
    }
    all.extend(others);
    *mine = all;
}

fn buckets(latency: &engine::Latency) -> Buckets {
    Buckets {
        operation: latency.operation,
        measure: latency.measure,
        buckets: latency.histogram.buckets().collect(),
    }
}

#[cfg(test)]
mod tests {
    use engine::{
        Latency, LatencyHistogram, Mismatches, PhaseOutcome, SeriesInterval, Stonewalled, TaskOutcome,
    };
    use host::Observed;
    use plan::{Measure, Operation, Phase};
    use proptest::collection::vec;
    use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};
    use record::PhaseKey;

    use super::{PhaseTotals, SERIES_INTERVAL};
    use crate::ranks::rows::{Rows, Table, TraceSource};

    /// Bytes of every transfer.
    const TRANSFER: u64 = 4096;

    /// One task: the lengths of its open and of the wait before it, and its transfers: how long each
    /// took and whether it read.
    type Task = (u64, u64, Vec<(u64, bool)>);

    fn task(number: u32, (wait, open, transfers): &Task) -> TaskOutcome {
        let io_start_ns = wait + open;
        let io_end_ns = io_start_ns + transfers.iter().map(|(took, _)| took).sum::<u64>();
        let reads = transfers.iter().filter(|(_, is_read)| *is_read).count() as u64;
        TaskOutcome {
            task: number,
            file: number,
            open_start_ns: *wait,
            open_end_ns: io_start_ns,
            io_start_ns,
            io_end_ns,
            close_start_ns: io_end_ns,
            close_end_ns: io_end_ns + open,
            bytes: transfers.len() as u64 * TRANSFER,
            reads,
            writes: transfers.len() as u64 - reads,
            items: 0,
            stonewall_transfers: None,
        }
    }

    /// The result of a process that carries the tasks from `first` on.
    fn outcome(first: u32, tasks: &[Task]) -> PhaseOutcome {
        let all: Vec<TaskOutcome> = (first..).zip(tasks).map(|(number, one)| task(number, one)).collect();
        let io_start = all.iter().map(|task| task.io_start_ns).min().unwrap_or(0);
        let io_end = all.iter().map(|task| task.io_end_ns).max().unwrap_or(0);
        let first_done = all.iter().map(|task| task.io_end_ns).min().unwrap_or(0);
        let mut histograms = [LatencyHistogram::new(), LatencyHistogram::new()];
        let mut series: Vec<SeriesInterval> = Vec::new();
        let mut done_by_then = 0;
        for (task, (.., transfers)) in all.iter().zip(tasks) {
            let mut end = task.io_start_ns;
            for &(took, is_read) in transfers {
                end += took;
                done_by_then += u64::from(end <= first_done);
                let operation = if is_read { Operation::Read } else { Operation::Write };
                histograms[usize::from(!is_read)].add(took, 1);
                let start_ns = end / SERIES_INTERVAL.0 * SERIES_INTERVAL.0;
                let place = |one: &SeriesInterval| (one.start_ns, one.operation);
                let found = series.binary_search_by_key(&(start_ns, operation), place);
                let index = found.unwrap_or_else(|index| {
                    let length_ns = SERIES_INTERVAL.0.min(io_end.saturating_sub(start_ns)).max(1);
                    let (bytes, transfers, latency_sum_ns, latency_max_ns) = (0, 0, 0, 0);
                    series.insert(
                        index,
                        SeriesInterval {
                            operation,
                            start_ns,
                            length_ns,
                            bytes,
                            transfers,
                            latency_sum_ns,
                            latency_max_ns,
                        },
                    );
                    index
                });
                let one = &mut series[index];
                one.bytes += TRANSFER;
                one.transfers += 1;
                one.latency_sum_ns += took;
                one.latency_max_ns = one.latency_max_ns.max(took);
            }
        }
        let latency = Operation::TRANSFERS
            .into_iter()
            .zip(histograms)
            .map(|(operation, histogram)| Latency { operation, measure: Measure::Response, histogram });
        let span = |from: fn(&TaskOutcome) -> u64, to: fn(&TaskOutcome) -> u64| {
            all.iter().map(to).max().unwrap_or(0) - all.iter().map(from).min().unwrap_or(0)
        };
        let (reads, writes) =
            (all.iter().map(|task| task.reads).sum(), all.iter().map(|task| task.writes).sum());
        PhaseOutcome {
            started_unix_ns: 7,
            started_raw_ns: 7,
            wall_ns: span(|task| task.open_start_ns, |task| task.close_end_ns),
            open_ns: span(|task| task.open_start_ns, |task| task.open_end_ns),
            io_ns: io_end - io_start,
            close_ns: span(|task| task.close_start_ns, |task| task.close_end_ns),
            read_bytes: reads * TRANSFER,
            write_bytes: writes * TRANSFER,
            reads,
            writes,
            items: 0,
            allocated_bytes: None,
            found: None,
            surprises: engine::Surprises::default(),
            first_done_ns: first_done - io_start,
            first_done_bytes: done_by_then * TRANSFER,
            stonewall: Some(Stonewalled {
                ns: io_end - io_start,
                bytes: (reads + writes) * TRANSFER,
                worn_out_transfers: None,
            }),
            latency: latency.filter(|latency| latency.histogram.total() > 0).collect(),
            series,
            user_cpu_ns: u64::from(first) + tasks.len() as u64,
            system_cpu_ns: tasks.len() as u64,
            mismatches: Mismatches { wrong_cells: tasks.len() as u64, ..Mismatches::default() },
            stopped: false,
            unstarted: 0,
            continued: 0,
            notes: Vec::new(),
            history: Vec::new(),
            end: None,
            tasks: all,
        }
    }

    fn key() -> PhaseKey {
        PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Mixed }
    }

    fn tasks() -> impl Strategy<Value = (Vec<Task>, Vec<bool>)> {
        let transfer = (1_u64..900_000_000, any::<bool>());
        let task = (0_u64..100_000_000, 1_u64..1000, vec(transfer, 1..12));
        vec(task, 1..12).prop_flat_map(|tasks| {
            let cuts = vec(any::<bool>(), tasks.len());
            (Just(tasks), cuts)
        })
    }

    proptest! {
        #[test]
        fn however_tasks_are_split_over_ranks_the_whole_is_what_one_process_sees((tasks, cuts) in tasks()) {
            let one = outcome(0, &tasks);
            // Each cut starts a new rank.
            let mut ranks: Vec<(u32, Vec<Task>)> = Vec::new();
            for (number, (task, cut)) in (0_u32..).zip(tasks.iter().zip(cuts)) {
                match ranks.last_mut().filter(|_| !cut) {
                    Some((_, tasks)) => tasks.push(task.clone()),
                    None => ranks.push((number, vec![task.clone()])),
                }
            }
            let outcomes: Vec<PhaseOutcome> =
                ranks.iter().map(|(first, tasks)| outcome(*first, tasks)).collect();
            let mut parts: Vec<PhaseTotals> = outcomes.iter().map(PhaseTotals::of).collect();
            let first = parts.iter().filter_map(PhaseTotals::first_done_ns).min().expect("every task did something");
            parts.iter_mut().for_each(|totals| totals.count_at(first));
            let names = ["a".to_owned(), "b".to_owned()];
            let mut table = Table::new(key(), &names);
            for (rank, outcome) in outcomes.iter().enumerate().rev() {
                table.add(Rows::of(outcome, u32::from(rank % 2 == 1), Observed::default(), true, TraceSource::default()));
            }
            // Pairs are merged on different ranks and serialized in between.
            while parts.len() > 1 {
                parts = parts
                    .chunks(2)
                    .map(|pair| {
                        let text = serde_json::to_vec(&pair[0]).expect("numbers and words");
                        let mut joined: PhaseTotals = serde_json::from_slice(&text).expect("as written");
                        pair.iter().skip(1).for_each(|other| joined.join(other.clone()));
                        joined
                    })
                    .collect();
            }
            let (whole, expected) = (&parts[0], PhaseTotals::of(&one));
            let (mut row, expected_row) = (whole.phase_row(&key(), None), expected.phase_row(&key(), None));
            prop_assert!(row.first_done_bytes <= row.bytes());
            row.first_done_bytes = expected_row.first_done_bytes;
            row.user_cpu_ns = expected_row.user_cpu_ns;
            prop_assert_eq!(row, expected_row);
            prop_assert_eq!(whole.latency_rows(&key()), expected.latency_rows(&key()));
            prop_assert_eq!(whole.series_rows(&key()), expected.series_rows(&key()));
            table.close();
            let nodes = &table.record.nodes;
            let order: Vec<u32> = table.record.tasks.iter().map(|row| row.task).collect();
            prop_assert_eq!(order, (0..u32::try_from(tasks.len()).expect("few")).collect::<Vec<_>>());
            let bytes: u64 = nodes.iter().map(|row| row.bytes).sum();
            prop_assert_eq!(bytes, whole.phase_row(&key(), None).bytes());
        }
    }

    #[test]
    fn what_others_had_moved_when_the_first_task_was_done_is_taken_from_their_series() {
        // Four transfers of a quarter of a second each beside one of 0.5 s.
        let slow: Task = (0, 1, vec![(250_000_000, true); 4]);
        let fast: Task = (0, 1, vec![(500_000_000, true)]);
        let mut parts = [outcome(0, &[slow]), outcome(1, &[fast])].map(|one| PhaseTotals::of(&one));
        parts.iter_mut().for_each(|totals| totals.count_at(500_000_001));
        let [mut one, two] = parts;
        one.join(two);
        let row = one.phase_row(&key(), None);
        assert_eq!(row.first_done_ns, 500_000_000);
        // Half of the three that ended within the first second, and the one.
        assert!(row.first_done_bytes.abs_diff(5 * TRANSFER / 2) <= 1, "{}", row.first_done_bytes);
    }
}
