//! Consistency of the printed values of imported runs: the checks of a tool's own output block, the time from its
//! start to its end, and the round trip of a history of single operations.

use std::collections::{BTreeSet, HashMap, HashSet};

use plan::{Case, Phase};
use record::{PhaseKey, PhaseRow, PrintedRow, Run, Warning};

use crate::gate::{
    Kind, Of, Quantity, Statement, Value,
    table::{Column, any, change, count, detail, nanos, text, word},
};
use crate::printed::{
    Printed, PrintedCheck, PrintedStatistics, Reconciled, RoundTrip, check_statistics, latency_agrees,
    one_iteration, rate_of_records, score_checks, short, throughput_block,
};

/// A check of the printed values of one case.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct ImportedCheck {
    pub case: String,
    /// The phase. `None` if the check concerns all of them.
    pub phase: Option<Phase>,
    pub check: PrintedCheck,
}

impl Statement for ImportedCheck {
    const KIND: Kind = Kind::PrintedCheck;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str =
        "Whether printed values agree with each other, within rounding and the tolerance of the rule";
    const COLUMNS: &'static [Column<Self>] = &[
        any(
            "agreement",
            "outcome",
            "`agrees`, `differs` or `says nothing`.",
            Quantity::Judgement(&PrintedCheck::WORDS),
            |one| Value::Judgement(one.check.outcome, PrintedCheck::WORDS[one.check.outcome as usize]),
        ),
        word("case", "case", "The case.", |one| &one.case),
        text("phase", "phase", "The phase; `all` where it is about all of them.", |one| {
            one.phase.map_or("all", Phase::name).to_owned()
        }),
        word("rule", "rule", "In symbols.", |one| one.check.rule),
        word("evidence", "with its numbers", "The rule with its numbers.", |one| &one.check.evidence),
        detail(change("off", "off", "Printed ÷ computed − 1.", |one| one.check.off)),
    ];
}

/// The round trip of a printed history.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct HistoryTrip {
    pub case: String,
    pub trip: RoundTrip,
}

impl Statement for HistoryTrip {
    const KIND: Kind = Kind::RoundTrip;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "Single operations of printed histories, on average";
    const COLUMNS: &'static [Column<Self>] = &[
        word("case", "case", "The case.", |one| &one.case),
        count("operations", "operations", "Of the history.", |one| Some(one.trip.n as u64)),
        nanos("device", "each", "Mean time of one in the history.", |one| Some(one.trip.device_ns)),
        nanos("gap", "start to start", "From one start to the next.", |one| Some(one.trip.gap_ns)),
        nanos("between", "between", "Mean time from the end of one to the start of the next.", |one| {
            Some(one.trip.between_ns)
        }),
        nanos(
            "application",
            "for the application",
            "Time per operation, by the application's rate.",
            |one| one.trip.application_ns,
        ),
        nanos("rest", "not in the history", "Of that, the part not in the history.", |one| one.trip.rest_ns),
    ];
}

/// All checks that are possible with the printed values of `run`, in the order of its cases.
#[must_use]
pub fn imported_checks(run: &Run) -> Vec<ImportedCheck> {
    let mut found = Vec::new();
    let mut of_case: HashMap<&str, Vec<&PhaseRow>> = HashMap::new();
    for row in &run.phases {
        of_case.entry(&row.key.case).or_default().push(row);
    }
    let mut of_phase: HashMap<&PhaseKey, Vec<&Warning>> = HashMap::new();
    for row in &run.warnings {
        if let Some(key) = &row.key {
            of_phase.entry(key).or_default().push(&row.warning);
        }
    }
    for case in &run.manifest.plan.cases {
        let printed = run.printed(&case.id);
        let rows = of_case.get(case.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let check = |phase, check| ImportedCheck { case: case.id.clone(), phase, check };
        for &row in rows {
            let warnings = of_phase.get(&row.key).map(Vec::as_slice).unwrap_or_default();
            let values = Values(printed.iter().filter(|one| one.key == row.key).collect());
            let iterations = iterations(warnings, rows, row);
            let of_rates = iterations.filter(|_| !are_over_processes(warnings));
            let checks = values.throughput(case).into_iter().chain(values.block(case));
            let checks = checks.chain(values.scatter(iterations)).chain(values.impossible(of_rates));
            found.extend(checks.map(|one| check(Some(row.key.phase), one)));
        }
        let phases: BTreeSet<Phase> = rows.iter().map(|row| row.key.phase).collect();
        found.extend(phases.into_iter().flat_map(|phase| {
            of_iterations(case, phase, &printed).into_iter().map(move |one| check(Some(phase), one))
        }));
        found.extend(reconciled(case, rows, &printed).map(|time| check(None, time.check())));
    }
    let case = run.manifest.plan.cases.last().map(|case| case.id.clone()).unwrap_or_default();
    let of_scores = score_checks(run).into_iter();
    found.extend(of_scores.map(|check| ImportedCheck { case: case.clone(), phase: None, check }));
    found
}

/// The round trips of `run`'s imported histories, by case, with the rate of an output block of one thread that was
/// printed with them.
#[must_use]
pub fn round_trips(run: &Run) -> Vec<HistoryTrip> {
    let cases = &run.manifest.plan.cases;
    let of_one_thread = cases.iter().filter(|case| case.tasks() == Some(1));
    let rate = |case: &Case| run.printed(&case.id).iter().find(|row| row.label == OPERATION_RATE)?.number;
    let rates: Vec<f64> = of_one_thread.filter_map(rate).collect();
    // With several rates, it is not known which one belongs to the history.
    let rate = if let [rate] = rates[..] { Some(rate) } else { None };
    let trip = |case: &Case| {
        let rows = run.history(&case.id);
        let operations: Vec<_> = rows.iter().map(|row| (row.start_ns, row.latency_ns)).collect();
        Some(HistoryTrip { case: case.id.clone(), trip: RoundTrip::of(&operations, rate)? })
    };
    cases.iter().filter_map(trip).collect()
}

/// Whether the import states that the statistics of a phase are over processes, so that their number is not the
/// number of iterations.
fn are_over_processes(warnings: &[&Warning]) -> bool {
    warnings.iter().any(|one| matches!(one, Warning::Import { note } if note.contains("over processes")))
}

const OPERATION_RATE: &str = "Op Rate";
const DEVIATION: &str = "standard deviation";
/// The label of iozone's per-process throughput.
const EACH: &str = "throughput per process";

/// The number of iterations behind the figure. Returns `None` if it is not known.
fn iterations(warnings: &[&Warning], of_case: &[&PhaseRow], row: &PhaseRow) -> Option<u64> {
    let mean = warnings.iter().find_map(|warning| match warning {
        Warning::PrintedMean { iterations } => Some(*iterations),
        _ => None,
    });
    let passes = of_case.iter().filter(|other| other.key.phase == row.key.phase);
    mean.or_else(|| (passes.count() == 1).then_some(1))
}

/// The printed values of one phase.
struct Values<'a>(Vec<&'a PrintedRow>);

impl Values<'_> {
    fn find(&self, label: &str, statistic: &str) -> Option<&PrintedRow> {
        self.0.iter().copied().find(|row| row.label == label && row.statistic == statistic)
    }

    fn value(&self, label: &str, statistic: &str) -> Option<Printed> {
        Printed::parse(&self.find(label, statistic)?.value)
    }

    /// Checks of iozone's block.
    fn throughput(&self, case: &Case) -> Vec<PrintedCheck> {
        let block = || {
            let each = |statistic| self.value(EACH, statistic);
            Some((self.value("Children see throughput", "sum")?, [each("min")?, each("max")?, each("mean")?]))
        };
        let Some((total, each)) = block() else { return Vec::new() };
        let geometry = case.workload.geometry;
        let Some(tasks) = case.tasks() else { return Vec::new() };
        let moved =
            self.find("xfer", "min").filter(|_| case.transfers_per_task().is_some()).and_then(|row| {
                let each = match row.unit.as_str() {
                    "ops" => geometry.transfers_per_task() as f64,
                    _ => geometry.bytes_per_task().0 as f64 / 1024.0,
                };
                Some((Printed::parse(&row.value)?, Printed::exact(each)))
            });
        throughput_block(tasks.into(), total, each, moved)
    }

    /// Checks of gpfsperf's block.
    fn block(&self, case: &Case) -> Vec<PrintedCheck> {
        let (rate, operations) = (self.value("Data rate", ""), self.value(OPERATION_RATE, ""));
        let Some((rate, operations)) = rate.zip(operations) else { return Vec::new() };
        let busy = self.value("thread utilization", "").unwrap_or(Printed::exact(1.0));
        let agrees = |latency| latency_agrees(latency, case.tasks()?.into(), busy, operations);
        let records = rate_of_records(rate, operations, case.workload.geometry.transfer);
        std::iter::once(records).chain(self.value("Latency", "mean").and_then(agrees)).collect()
    }

    /// Statistics that cannot belong to the same values, which are rates of `iterations` iterations if that is given.
    fn impossible(&self, iterations: Option<u64>) -> Vec<PrintedCheck> {
        // Blocks of iozone have a rule of their own, and fio's samples in a group are per job.
        let is_sample = |label: &str| {
            ["read ", "write "].iter().any(|direction| label.starts_with(direction))
                && !label.ends_with("lat")
        };
        let mut seen = HashSet::new();
        let means = self.0.iter().filter(|row| row.statistic == "mean" && row.label != EACH);
        let found = means.filter(|row| !is_sample(&row.label) && seen.insert((&row.label, &row.unit)));
        let check = |row: &&PrintedRow| {
            let why = self.impossible_of(row, iterations.filter(|_| row.unit.ends_with("/s")))?;
            let evidence = format!("{}: {why}", row.label);
            Some(PrintedCheck::new("statistics of the same values", false, evidence, None))
        };
        found.filter_map(check).collect()
    }

    /// The reason why the statistics that `of` belongs to are impossible.
    fn impossible_of(&self, of: &PrintedRow, iterations: Option<u64>) -> Option<String> {
        let rows = ["min", "max", "mean", DEVIATION].map(|statistic| {
            let mut alike = self.0.iter().filter(|row| row.label == of.label && row.unit == of.unit);
            alike.find(|row| row.statistic == statistic)
        });
        let rounding = rows.iter().flatten().filter(|row| row.number > Some(0.0)).filter_map(|row| {
            let digits = row.value.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
            Some(Printed::parse(digits)?.share())
        });
        let rounding = rounding.fold(0.0, f64::max);
        let [min, max, mean, deviation] = rows.map(|row| row.and_then(|row| row.number));
        // Some tools divide by n, others by n − 1.
        let n = iterations.filter(|&n| n > 1);
        let printed =
            PrintedStatistics { n, min, max, range: None, mean, deviation, either_divisor: true, rounding };
        check_statistics(&printed).into_iter().next().map(|(_, evidence)| evidence)
    }

    /// Checks the meaning of a deviation over one iteration.
    fn scatter(&self, iterations: Option<u64>) -> Option<PrintedCheck> {
        let deviation = self.0.iter().find(|row| row.statistic == DEVIATION && row.unit.ends_with("/s"))?;
        one_iteration(iterations?, Printed::parse(&deviation.value))
    }
}

/// Compares the printed statistics of bandwidths with those of all iterations (IOR).
fn of_iterations(case: &Case, phase: Phase, printed: &[PrintedRow]) -> Vec<PrintedCheck> {
    let rates = printed.iter().filter(|row| row.key.phase == phase && row.label == "bw");
    let of = |statistic: &str| -> Vec<Printed> {
        let rows = rates.clone().filter(|row| row.statistic == statistic);
        rows.filter_map(|row| Printed::parse(&row.value)).collect()
    };
    let singles = of("single");
    // In a truncated text, some iterations are missing.
    if singles.len() < 2 || singles.len() != case.repetitions as usize {
        return Vec::new();
    }
    let n = singles.len() as f64;
    let mean = Printed {
        value: singles.iter().map(|one| one.value).sum::<f64>() / n,
        half_digit: singles.iter().map(|one| one.half_digit).sum::<f64>() / n,
    };
    let by_value = |a: &&Printed, b: &&Printed| a.value.total_cmp(&b.value);
    let computed = [
        ("maximum of the iterations", "max", singles.iter().max_by(by_value).copied()),
        ("minimum of the iterations", "min", singles.iter().min_by(by_value).copied()),
        ("mean of the iterations", "mean", Some(mean)),
    ];
    let mut found = Vec::new();
    for (rule, name, computed) in computed {
        let Some(computed) = computed else { continue };
        // The highest value is printed in the summary and again below it.
        let mut printed = of(name);
        printed.dedup_by(|a, b| a.value == b.value);
        found.extend(printed.into_iter().map(|printed| {
            let by = format!("{} by its {n} iterations", short(computed.value));
            PrintedCheck::of(rule, printed, computed, 0.0, format!("{by}, printed {}", printed.value))
        }));
    }
    found
}

/// The times of all phases of one iteration and its delay, compared with the printed start and end.
fn reconciled(case: &Case, phases: &[&PhaseRow], printed: &[PrintedRow]) -> Option<Reconciled> {
    let moment = |label: &str| printed.iter().find(|row| row.label == label)?.number;
    let (started, finished) = moment("started").zip(moment("finished"))?;
    let once = phases.iter().all(|row| row.key.repetition == 0) && case.repetitions == 1;
    if !once || finished < started {
        return None;
    }
    let is_tree = |row: &&PhaseRow| matches!(row.key.phase, Phase::TreeCreate | Phase::TreeRemove);
    let (trees, others): (Vec<&PhaseRow>, Vec<&PhaseRow>) = phases.iter().partition(|row| is_tree(row));
    let seconds = |rows: &[&PhaseRow]| rows.iter().map(|row| row.wall_ns as f64 / 1e9).sum::<f64>();
    let delay = case.delay.as_secs_f64();
    let parts = [("files and directories", seconds(&others)), ("tree", seconds(&trees)), ("delay", delay)];
    let parts = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0).collect();
    // The tools print clock times in whole seconds.
    Some(Reconciled::new(parts, finished - started, 1.0))
}
