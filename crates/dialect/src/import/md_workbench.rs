//! The text output of md-workbench in IOR 4.0 and 4.1: a line for each phase, or the table of
//! `--print-detailed-stats`.
//!
//! Rates are based on the longest of the tasks' times in a phase. `iops/s` includes the sets that were
//! created or removed; `obj/s` only counts objects, and in a benchmark phase each step on an object consists
//! of several operations. A latency is printed as minimum, quartiles, 90 and 99 %, and maximum.

use plan::{Bytes, Case, Condition, Objects, Operation, Phase, WorkloadSpec};

use super::ImportError;
use super::draft::{Bucket, Draft, Pass, Printed, Test, geometry};
use super::importer::{Form, Importer};
use super::text::lines::{Block, Line, between, labelled, nanos, narrow, number, whole};
use super::text::{command, times, units};
use crate::launcher::Launcher;
use crate::md_workbench::ROW;

/// The tool's name.
pub(super) const TOOL: &str = "md-workbench";

/// Parses md-workbench's text.
pub(crate) const IMPORTER: Importer = Importer {
    name: "md-workbench",
    tool: TOOL,
    newest: Some((4, 1)),
    form: Form::Lines { starts, is_own, continues: false, read: parse },
};

const PHASES: [(&str, Phase); 3] =
    [("precreate", Phase::Precreate), ("benchmark", Phase::Benchmark), ("cleanup", Phase::Cleanup)];
/// md-workbench's names of operations.
const OPERATIONS: [(&str, Operation); 4] = [
    ("read", Operation::Read),
    ("stat", Operation::Stat),
    ("create", Operation::Create),
    ("delete", Operation::Remove),
];
/// The values of a latency, and the share of operations that took no longer than each.
const STATISTICS: [(&str, f64); 7] =
    [("min", 0.0), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)];
const MIB: f64 = 1_048_576.0;

/// Whether an output of md-workbench starts with `line`.
fn starts(line: &str) -> bool {
    let line = line.trim_start();
    let first = labelled(line, "Args").and_then(|rest| rest.split_whitespace().next());
    let name = first.and_then(|word| word.trim_matches('"').rsplit('/').next());
    name.is_some_and(|name| name.starts_with(TOOL))
}

/// Whether only md-workbench can have printed `line`. Used if the beginning is missing.
fn is_own(line: &str) -> bool {
    line.trim_start().starts_with("MD-Workbench total objects:") || phase_of(line).is_some()
}

fn phase_of(line: &str) -> Option<Phase> {
    let (name, rest) = line.trim_start().split_once(" process max:")?;
    let phase = PHASES.iter().find(|(known, _)| *known == name)?.1;
    rest.contains("balance:").then_some(phase)
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let value_of = |label: &str| block.value_of(&[label]).map(|(_, text)| text);
    draft.command = value_of("Args").map(str::to_owned);
    if let Some(head) = block.lines.iter().find(|line| line.text.contains("MD-Workbench total objects:")) {
        draft.version = between(head.text, "(version: ", ")").map(str::to_owned);
        draft.started = between(head.text, " time: ", "").and_then(times::moment);
    }
    let end = value_of("Total runtime");
    draft.finished = end.and_then(|text| between(text, " time: ", "")).and_then(times::moment);
    let object_bytes = object_bytes(draft.command.as_deref());
    let mut found = Vec::new();
    for (at, line) in block.lines.iter().enumerate() {
        if phase_of(line.text).is_some() {
            let is_last = block.lines[at + 1..].iter().all(|line| line.text.trim().is_empty());
            found.push(Row::of(block, *line, draft.command.as_deref(), is_last)?);
        } else if line.text.contains(" \t") && table_phase(line.text).is_some() {
            match Row::of_table(block, *line, object_bytes)? {
                Some(row) => found.push(row),
                None => draft.doubts.push(format!(
                    "line {}: its time is printed as 0.000s, from which no rate can be computed; it was \
                     skipped",
                    line.number
                )),
            }
        }
    }
    if found.is_empty() {
        return Err(block.ended("the line of its first phase (`precreate process max:…`)"));
    }
    if end.is_none() {
        draft.doubts.push("the end of md-workbench's output (`Total runtime`) is missing".to_owned());
    }
    let asked = Conditions::of(block, draft.command.as_deref(), &found);
    for row in found {
        let name = asked.name(&row);
        let place = draft.tests.iter().position(|test| test.case.id == name).unwrap_or_else(|| {
            draft.tests.push(asked.test(&name));
            draft.tests.len() - 1
        });
        let test = &mut draft.tests[place];
        let same = |pass: &&Pass| pass.row.key.phase == row.phase;
        let repetition = match row.phase {
            // The sets of all rounds are removed only once, after the last round.
            Phase::Cleanup => test.passes.iter().map(|pass| pass.row.key.repetition).max().unwrap_or(0),
            _ => narrow(test.passes.iter().filter(same).count() as u64),
        };
        let pass = test.pass_mut(row.phase, repetition);
        if row.phase == Phase::Precreate {
            pass.began(draft.started);
        }
        row.derive(pass, asked.object_bytes);
    }
    Ok(draft)
}

/// The line of a phase.
struct Row {
    phase: Phase,
    objects: f64,
    sets: Option<f64>,
    objects_per_second: f64,
    operations_per_second: f64,
    mib_per_second: Option<f64>,
    errors: f64,
    waiting_percent: u32,
    latencies: Vec<(Operation, Vec<u64>)>,
    printed: Vec<Printed>,
}

/// The phase of a row of the table: `precreate \t2\t0\t2000…`.
fn table_phase(line: &str) -> Option<Phase> {
    let (name, _) = line.split_once(" \t")?;
    PHASES.iter().find(|(known, _)| *known == name).map(|(_, phase)| *phase)
}

impl Row {
    /// A row of the table: sets created and removed; objects created, read, examined and removed; times with and
    /// without the barrier in ms; throughput and the longest latency. `None` if no time can be derived from it.
    fn of_table(
        block: &Block<'_>,
        line: Line<'_>,
        object_bytes: Option<u64>,
    ) -> Result<Option<Self>, ImportError> {
        let expected = "a row of the table of --print-detailed-stats, to its `max_t`";
        let malformed = || block.malformed(line, line.text, expected);
        let phase = table_phase(line.text).ok_or_else(malformed)?;
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let [_, made, removed, creates, reads, stats, deletes, with, without, rate, "MiB/s", longest] =
            words[..]
        else {
            return Err(malformed());
        };
        let count = |text: &str| block.number(line, text, expected);
        let time = |text: &str| text.strip_suffix('s').and_then(number).ok_or_else(malformed);
        let counts = [
            (Operation::Create, creates),
            (Operation::Read, reads),
            (Operation::Stat, stats),
            (Operation::Remove, deletes),
        ];
        let mut printed = vec![
            Printed::new(line, "time of a task", without.trim_end_matches('s'), "s", ""),
            Printed::new(line, "time with the barrier", with.trim_end_matches('s'), "s", ""),
            Printed::new(line, "throughput", rate, "MiB/s", ""),
            Printed::new(line, "latency", longest, "s", "max"),
        ];
        let (mut objects, mut moved, mut latencies) = (0.0_f64, 0.0, Vec::new());
        for (operation, text) in counts {
            let done = count(text)?;
            if done > 0.0 {
                objects = objects.max(done);
                latencies.push((operation, Vec::new()));
                printed.push(Printed::new(line, operation.name(), text, "", "total"));
            }
            if matches!(operation, Operation::Create | Operation::Read) {
                moved += done * object_bytes.unwrap_or(0) as f64;
            }
        }
        let (_, throughput, _) = (time(with)?, count(rate)?, count(longest)?);
        let by_rate = (throughput > 0.0 && moved > 0.0).then(|| moved / (throughput * MIB));
        let Some(seconds) = by_rate.or(Some(time(without)?).filter(|&time| time > 0.0)) else {
            return Ok(None);
        };
        let sets = count(made)? + count(removed)?;
        Ok(Some(Self {
            phase,
            objects,
            sets: Some(sets).filter(|&sets| sets > 0.0),
            objects_per_second: objects / seconds,
            operations_per_second: objects * latencies.len().max(1) as f64 / seconds,
            mib_per_second: Some(throughput),
            errors: 0.0,
            waiting_percent: 0,
            latencies,
            printed,
        }))
    }

    /// `precreate process max:0.00s … rate:409399.7 iops/s … create(2.8e-06s, …)`.
    fn of(
        block: &Block<'_>,
        line: Line<'_>,
        command: Option<&str>,
        is_last: bool,
    ) -> Result<Self, ImportError> {
        let text = line.text.trim();
        let phase = phase_of(text).unwrap_or(Phase::Benchmark);
        let mut printed = Vec::new();
        let mut value = |before: &str, after: &str, label: &str, unit: &'static str, statistic: &str| {
            let Some(rest) = between(text, before, "") else { return Ok(None) };
            let found = rest.split_once(after).map_or("", |(value, _)| value.trim());
            let number = block.number(line, found, &format!("a number behind `{}`", before.trim()))?;
            printed.push(Printed::new(line, label, found, unit, statistic));
            Ok(Some(number))
        };
        let needed = |found: Option<f64>, what: &str| found.ok_or_else(|| block.malformed(line, text, what));
        for (before, statistic) in [(" max:", "max"), (" min:", "min"), (" mean:", "mean")] {
            needed(
                value(before, "s ", "time of a task", "s", statistic)?,
                "`max:`, `min:` and `mean:` in s",
            )?;
        }
        needed(value("balance:", " ", "balance", "%", "")?, "`balance:`")?;
        let operations = value(" rate:", " iops/s", "iops", "ops/s", "")?;
        let sets = value("dsets: ", " ", "dsets", "", "total")?;
        let objects = value("objects:", " ", "objects", "", "total")?;
        // Each rate is followed by its unit.
        let rate_of = |unit: &str| text.split_once(unit).and_then(|(before, _)| before.rsplit_once("rate:"));
        let objects_per_second =
            rate_of(" obj/s").map(|(_, value)| block.number(line, value, "a rate in obj/s")).transpose()?;
        let mib_per_second = value("tp:", " MiB/s", "throughput", "MiB/s", "")?;
        needed(value("op-max:", "s", "latency", "s", "max")?, "`op-max:`")?;
        let errors = value(" (", " errs", "errors", "", "total")?;
        let waiting = value("waiting_factor:", " ", "waiting factor", "", "")?;
        let mut row = Self {
            phase,
            objects: needed(objects, "`objects:N`")?,
            sets,
            objects_per_second: needed(objects_per_second, "`rate:N obj/s`")?,
            operations_per_second: needed(operations, "`rate:N iops/s`")?,
            mib_per_second,
            errors: errors.unwrap_or(0.0),
            waiting_percent: narrow(whole(waiting.unwrap_or(0.0) * 100.0)),
            latencies: Vec::new(),
            printed,
        };
        row.printed
            .extend(rate_of(" obj/s").map(|(_, value)| Printed::new(line, "objects", value, "ops/s", "")));
        row.read_latencies(block, line)?;
        row.check_whole(block, line, command, is_last)?;
        Ok(row)
    }

    /// `read(9.5e-07s, …) stat(…)`, at the end of the line.
    fn read_latencies(&mut self, block: &Block<'_>, line: Line<'_>) -> Result<(), ImportError> {
        for (name, operation) in OPERATIONS {
            let Some(rest) = between(line.text, &format!(" {name}("), "") else { continue };
            let malformed = || block.malformed(line, rest, "seven times such as `create(2.8610e-06s, …)`");
            let (values, _) = rest.split_once(')').ok_or_else(malformed)?;
            let texts: Vec<&str> = values.split(',').map(str::trim).collect();
            if texts.len() != STATISTICS.len() {
                return Err(malformed());
            }
            let mut all = Vec::new();
            for (text, (statistic, _)) in texts.iter().zip(STATISTICS) {
                let text = text.strip_suffix('s').ok_or_else(malformed)?;
                let seconds = block.number(line, text, "a time in s")?;
                all.push(nanos(seconds));
                let label = format!("{name} latency");
                self.printed.push(Printed::new(line, &label, text, "s", statistic));
            }
            self.latencies.push((operation, all));
        }
        Ok(())
    }

    /// Errors if operations are missing because the line ends too early.
    fn check_whole(
        &self,
        block: &Block<'_>,
        line: Line<'_>,
        command: Option<&str>,
        is_last: bool,
    ) -> Result<(), ImportError> {
        let reads_alone = command.map_or(!is_last, |command| command::has(command, "--read-only"));
        let expected = match self.phase {
            Phase::Benchmark if reads_alone => 2,
            Phase::Benchmark => OPERATIONS.len(),
            _ => 1,
        };
        // Operations that were never executed have no latency.
        let is_whole = self.errors > 0.0 || self.latencies.len() >= expected;
        match is_whole && line.text.trim_end().ends_with(')') {
            true => Ok(()),
            false => Err(block.malformed(
                line,
                line.text,
                "the latencies of every operation at its end, such as `delete(1.9073e-06s, …)`",
            )),
        }
    }

    /// Number of operations for each object.
    fn each(&self) -> f64 {
        if self.phase == Phase::Benchmark { self.latencies.len().max(1) as f64 } else { 1.0 }
    }

    fn derive(self, pass: &mut Pass, object_bytes: Option<u64>) {
        // In a benchmark phase both rates refer to the same steps, so the one with more digits is used.
        let (count, rate) = match self.phase {
            Phase::Benchmark => (self.objects * self.each(), self.operations_per_second),
            _ => (self.objects, self.objects_per_second),
        };
        let seconds = if rate > 0.0 { count / rate } else { 0.0 };
        pass.took(nanos(seconds));
        let moved = self.mib_per_second.map_or(0, |mib| whole(mib * MIB * seconds));
        let exact = |count: f64| object_bytes.map_or(0, |bytes| whole(count * bytes as f64));
        pass.row.items = whole(count);
        let writes = self.latencies.iter().any(|(operation, _)| *operation == Operation::Create);
        let reads = self.latencies.iter().any(|(operation, _)| *operation == Operation::Read);
        if moved > 0 {
            pass.row.write_bytes = if writes { exact(self.objects) } else { 0 };
            pass.row.read_bytes = if reads { exact(self.objects) } else { 0 };
        }
        pass.row.surprises = whole(self.errors);
        let by_percentiles = self.latencies.iter().any(|(_, values)| !values.is_empty());
        for (operation, values) in self.latencies {
            let objects = self.objects;
            let mut below = 0;
            for (pair, (_, share)) in values.windows(2).zip(&STATISTICS[1..]) {
                let upto = whole(objects * share).max(below);
                if upto > below {
                    pass.latency.push(Bucket {
                        operation,
                        low_ns: pair[0],
                        high_ns: pair[1],
                        count: upto - below,
                    });
                }
                below = upto;
            }
        }
        if by_percentiles {
            pass.note(
                "latencies are only known from printed percentiles: nothing is known between two of them",
            );
        }
        pass.printed.extend(self.printed);
    }
}

/// Size of an object in bytes, according to the command line.
fn object_bytes(command: Option<&str>) -> Option<u64> {
    let size = command::value(command?, "-S").and_then(|text| units::size(&text, false));
    Some(size.map_or(OBJECT_BYTES, whole))
}

/// The workload that was measured.
struct Conditions {
    cases: Vec<Case>,
    tasks: u32,
    /// Whether their number can be told from the text.
    tasks_are_known: bool,
    nodes_are_known: bool,
    object_bytes: Option<u64>,
    stated: String,
}

impl Conditions {
    /// Determined from the printed command line, if ioproof understands it, and from the lines themselves.
    fn of(block: &Block<'_>, command: Option<&str>, rows: &[Row]) -> Self {
        let map = block.value_of(&["Nodemap"]).map(|(_, map)| map.trim());
        let map = map.filter(|map| !map.is_empty() && map.chars().all(|c| matches!(c, '0' | '1')));
        let sets = rows.iter().find_map(|row| row.sets);
        let of_each = command.map(|command| {
            command::value(command, "-D").and_then(|text| number(&text)).unwrap_or(SETS).max(1.0)
        });
        let by_sets = sets.zip(of_each).map(|(sets, each)| narrow(whole(sets / each)));
        let tasks = map.map(|map| narrow(map.len() as u64)).or(by_sets).unwrap_or(1).max(1);
        let several = map.is_some_and(|map| map.contains('0'));
        let launcher = Launcher { tasks: Some(tasks), ..Launcher::default() };
        let words = command.map(|command| command::words_of(command, TOOL));
        let asked = words.and_then(|mut words| {
            // The start position is in a file on the host where it ran.
            words.push("--start-item=0".to_owned());
            (ROW.parse)(&words, launcher).ok()
        });
        let cases = asked.map(|asked| asked.plan.cases).unwrap_or_default();
        // The other nodes are not printed.
        let cases: Vec<Case> = if several { Vec::new() } else { cases };
        let objects = cases.first().and_then(|case| Some(case.workload.work.objects()?.object_bytes.0));
        let plural = |n: u32, one: &str| if n == 1 { format!("{n} {one}") } else { format!("{n} {one}s") };
        let mut stated = plural(tasks, "task");
        if let Some(sets) = sets {
            stated.push_str(&format!(", {} sets", whole(sets)));
        }
        if several {
            stated.push_str(", several nodes");
        }
        Self {
            cases,
            tasks,
            tasks_are_known: map.is_some() || by_sets.is_some(),
            nodes_are_known: map.is_some() && !several,
            object_bytes: objects.or(object_bytes(command)),
            stated,
        }
    }

    /// The name of the case to which a line belongs. Phases have their own cases, and so have different
    /// rests.
    fn name(&self, row: &Row) -> String {
        // Two digits of the factor are printed.
        let printed =
            |objects: &Objects| (objects.waiting_percent() - f64::from(row.waiting_percent)).abs() <= 0.5;
        let rests = |case: &&Case| case.workload.work.objects().is_some_and(printed);
        let mut of_phase = self.cases.iter().filter(|case| case.phases.contains(&row.phase));
        let found = match row.phase {
            Phase::Benchmark => of_phase.find(rests),
            _ => of_phase.next(),
        };
        found.map_or_else(|| TOOL.to_owned(), |case| case.id.clone())
    }

    fn test(&self, name: &str) -> Test {
        if let Some(case) = self.cases.iter().find(|case| case.id == name) {
            return Test::of_command(
                case,
                &self.stated,
                &[(Condition::Tasks, self.tasks_are_known), (Condition::Nodes, self.nodes_are_known)],
            );
        }
        let mut spec = WorkloadSpec::new(name, "unknown", geometry(None));
        spec.tasks = self.tasks;
        spec.work = Objects {
            sets: 1,
            precreated: 1,
            steps: 1,
            object_bytes: Bytes(self.object_bytes.unwrap_or(1)),
            offset: 1,
            ..Objects::default()
        }
        .into();
        Test::new(name, spec, &self.stated).knowing(&[
            (Condition::Transfer, self.object_bytes.is_some()),
            (Condition::Tasks, self.tasks_are_known),
        ])
    }
}

/// md-workbench's defaults: number of sets of each task, bytes of an object.
const SETS: f64 = 10.0;
const OBJECT_BYTES: u64 = 3901;
