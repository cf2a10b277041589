//! What the printed values of imported runs say of each other: the checks of a tool's own block, the time from
//! its start to its end, and the round trip behind a history of single operations.

use plan::{Case, Phase};
use record::{PhaseRow, PrintedRow, Run, Warning};

use crate::{
    DeviceOperation, Printed, PrintedCheck, Reconciled, RoundTrip, TimePart, latency_agrees, one_iteration,
    rate_of_records, throughput_block,
};

/// A check of printed values of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedCheck {
    /// [`plan::Case::id`].
    pub case: String,
    /// The phase; none where it concerns all of them.
    pub phase: Option<Phase>,
    /// What was checked.
    pub check: PrintedCheck,
}

/// Every check that the printed values of `run` allow, in the order of its cases.
#[must_use]
pub fn imported_checks(run: &Run) -> Vec<ImportedCheck> {
    let mut found = Vec::new();
    for case in &run.manifest.plan.cases {
        let printed = run.printed(&case.id);
        let phases = || run.phases.iter().filter(|row| row.key.case == case.id);
        for row in phases() {
            let values = Values { rows: &printed, row };
            let mut checks = values.throughput(case);
            checks.extend(values.block(case));
            checks.extend(values.scatter(iterations(run, row)));
            let of_phase = |check| ImportedCheck { case: case.id.clone(), phase: Some(row.key.phase), check };
            found.extend(checks.into_iter().map(of_phase));
        }
        let rows: Vec<&PhaseRow> = phases().collect();
        found.extend(reconciled(case, &rows, &printed).map(|time| ImportedCheck {
            case: case.id.clone(),
            phase: None,
            check: time.check(),
        }));
    }
    found
}

/// The round trips of `run`'s imported histories, by case, with the rate that a block of one thread beside them
/// gives.
#[must_use]
pub fn round_trips(run: &Run) -> Vec<(String, RoundTrip)> {
    let cases = &run.manifest.plan.cases;
    let rates: Vec<f64> = cases
        .iter()
        .filter(|case| case.workload.tasks == 1)
        .filter_map(|case| run.printed(&case.id).iter().find(|row| row.label == OPERATION_RATE)?.number)
        .collect();
    // With several it is not known which of them the history is of.
    let rate = if let [rate] = rates[..] { Some(rate) } else { None };
    let trip = |case: &Case| {
        let operations: Vec<DeviceOperation> = run
            .history(&case.id)
            .iter()
            .map(|row| DeviceOperation {
                start_ns: i64::try_from(row.start_ns).unwrap_or(i64::MAX),
                time: plan::Nanos(row.latency_ns),
            })
            .collect();
        Some((case.id.clone(), RoundTrip::of(&operations, rate)?))
    };
    cases.iter().filter_map(trip).collect()
}

const OPERATION_RATE: &str = "Op Rate";
const DEVIATION: &str = "standard deviation";

/// Of so many iterations is the figure; none where that is not known.
fn iterations(run: &Run, row: &PhaseRow) -> Option<u64> {
    let mut warnings = run.warnings.iter().filter(|warning| warning.key.as_ref() == Some(&row.key));
    let mean = warnings.find_map(|warning| match warning.warning {
        Warning::PrintedMean { iterations } => Some(iterations),
        _ => None,
    });
    let passes =
        run.phases.iter().filter(|other| other.key.case == row.key.case && other.key.phase == row.key.phase);
    mean.or_else(|| (passes.count() == 1).then_some(1))
}

/// The printed values of one phase.
struct Values<'a> {
    rows: &'a [PrintedRow],
    row: &'a PhaseRow,
}

impl Values<'_> {
    fn find(&self, label: &str, statistic: &str) -> Option<&PrintedRow> {
        let wanted =
            |row: &&PrintedRow| row.key == self.row.key && row.label == label && row.statistic == statistic;
        self.rows.iter().find(wanted)
    }

    fn value(&self, label: &str, statistic: &str) -> Option<Printed> {
        Printed::parse(&self.find(label, statistic)?.value)
    }

    /// iozone's block.
    fn throughput(&self, case: &Case) -> Vec<PrintedCheck> {
        const EACH: &str = "throughput per process";
        let Some(total) = self.value("Children see throughput", "sum") else { return Vec::new() };
        let each = |statistic| self.value(EACH, statistic);
        let Some(((min, max), mean)) = each("min").zip(each("max")).zip(each("mean")) else {
            return Vec::new();
        };
        let geometry = case.workload.geometry;
        // One byte stands for a size that is not printed.
        let known = geometry.block.0 > 1;
        let moved = self.find("xfer", "min").filter(|_| known).and_then(|row| {
            let each = match row.unit.as_str() {
                "ops" => geometry.transfers_per_task() as f64,
                _ => geometry.bytes_per_task().0 as f64 / 1024.0,
            };
            Some((Printed::parse(&row.value)?, Printed::exact(each)))
        });
        throughput_block(u64::from(case.workload.tasks), total, [min, max, mean], moved)
    }

    /// gpfsperf's block.
    fn block(&self, case: &Case) -> Vec<PrintedCheck> {
        let (rate, operations) = (self.value("Data rate", ""), self.value(OPERATION_RATE, ""));
        let Some((rate, operations)) = rate.zip(operations) else { return Vec::new() };
        let mut checks = vec![rate_of_records(rate, operations, case.workload.geometry.transfer, None)];
        let busy = self.value("thread utilization", "").unwrap_or(Printed::exact(1.0));
        let latency = self.value("Latency", "mean");
        let tasks = u64::from(case.workload.tasks);
        checks.extend(latency.and_then(|latency| latency_agrees(latency, tasks, busy, operations)));
        checks
    }

    /// What a deviation of one iteration is worth.
    fn scatter(&self, iterations: Option<u64>) -> Option<PrintedCheck> {
        let of_rate = |row: &&PrintedRow| {
            row.key == self.row.key && row.statistic == DEVIATION && row.unit.ends_with("/s")
        };
        let deviation = self.rows.iter().find(of_rate)?;
        one_iteration(iterations?, Printed::parse(&deviation.value))
    }
}

/// The times of all phases of one iteration and its delay against the printed start and end.
fn reconciled(case: &Case, phases: &[&PhaseRow], printed: &[PrintedRow]) -> Option<Reconciled> {
    let moment = |label: &str| printed.iter().find(|row| row.label == label)?.number;
    let (started, finished) = moment("started").zip(moment("finished"))?;
    let once = phases.iter().all(|row| row.key.repetition == 0) && case.repetitions == 1;
    if !once || finished < started {
        return None;
    }
    let of = |wanted: fn(Phase) -> bool| {
        let of = phases.iter().filter(|row| wanted(row.key.phase));
        of.map(|row| row.wall_ns as f64 / 1e9).sum::<f64>()
    };
    let is_tree = |phase| matches!(phase, Phase::TreeCreate | Phase::TreeRemove);
    let parts = [
        ("files and directories", of(|phase| !matches!(phase, Phase::TreeCreate | Phase::TreeRemove))),
        ("tree", of(is_tree)),
        ("delay", case.delay.as_secs_f64()),
    ];
    let parts = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0);
    let parts = parts.map(|(name, seconds)| TimePart::new(name, seconds)).collect();
    // Clocks of tools show whole seconds.
    Some(Reconciled::new(parts, finished - started, 1.0))
}
