//! mdtest 1.9 to 4.1: the banner and the tables of its summary.
//!
//! Rates are operations of all tasks per second. Releases before 3.2 and from 4.0 on print one rate for
//! each iteration. Releases 3.2 (which calls itself 1.9.3) to 3.4 compute minimum, maximum and mean over the processes
//! of all iterations, so these may differ even for a single iteration; some outputs of 3.4 print both.

use plan::{Condition, Phase, Tree, WorkloadSpec};
use record::Warning;

use super::ImportError;
use super::draft::{Draft, Pass, Printed, Test, geometry};
use super::importer::{Form, Importer};
use super::text::lines::{Block, Line, between, labelled, nanos, narrow, number, whole};
use super::text::{command, times, units};

/// The tool's name.
pub(super) const TOOL: &str = "mdtest";

/// Parses mdtest's text.
pub(crate) const IMPORTER: Importer = Importer {
    name: "mdtest",
    tool: TOOL,
    newest: Some((4, 1)),
    form: Form::Lines { starts, is_own, continues: false, read: parse },
};

/// mdtest's names of operations, and their phases.
const OPERATIONS: [(&str, Phase); 12] = [
    ("Directory creation", Phase::DirectoryCreate),
    ("Directory stat", Phase::DirectoryStat),
    ("Directory read", Phase::DirectoryList),
    ("Directory rename", Phase::DirectoryRename),
    ("Directory removal", Phase::DirectoryRemove),
    ("File creation", Phase::FileCreate),
    ("File stat", Phase::FileStat),
    ("File read", Phase::FileRead),
    ("File rename", Phase::FileRename),
    ("File removal", Phase::FileRemove),
    ("Tree creation", Phase::TreeCreate),
    ("Tree removal", Phase::TreeRemove),
];
/// Number of decimals of each rate. A number with fewer decimals was truncated.
const DIGITS: usize = 3;

/// Whether an output of mdtest starts with `line`.
fn starts(line: &str) -> bool {
    line.trim_start().starts_with("mdtest-") && line.contains("was launched with")
}

/// Whether only mdtest can have printed `line`. Used if its banner is missing.
fn is_own(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("SUMMARY") && line.contains("iterations)")
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let moment = |mark: &str| {
        let line = block.lines.iter().find(|line| line.text.trim_start().starts_with(mark))?;
        times::moment(between(line.text, mark, "--")?)
    };
    (draft.started, draft.finished) = (moment("-- started at "), moment("-- finished at "));
    let banner = Banner::of(block, &mut draft)?;
    let mut test = Test::new("mdtest", banner.spec(), &banner.stated()).knowing(&banner.known());
    let mut table: Option<Table> = None;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for line in block.lines {
        let text = line.text.trim();
        if text.starts_with("-- finished at ") {
            break;
        }
        if let Some(found) = Table::of(text) {
            table = Some(found);
        } else if let Some(table) = &mut table {
            table.per_rank |= text.contains("per Rank:");
            rows.extend(Row::of(block, *line, *table)?);
        }
    }
    let Some(last) = rows.iter().rfind(|row| row.table.rates) else {
        return Err(block.ended("the rows of its SUMMARY"));
    };
    if rows.iter().all(|row| row.mean() == 0.0) {
        let what = "no phase ran: all rates of the SUMMARY are 0.000";
        return Err(block.unusable(last.line, what, "read the messages before it"));
    }
    for row in rows.iter().filter(|row| row.mean() > 0.0) {
        let phase = row.phase;
        let pass = test.pass_mut(phase, 0);
        row.print(pass);
        if row.table.rates && !row.is_stonewall {
            let seconds = rows.iter().find(|one| one.phase == phase && one.is_time_of_phase());
            banner.derive(pass, row, seconds.map(Row::mean));
            pass.began(draft.started);
        }
    }
    test.passes.retain(|pass| pass.row.wall_ns > 0);
    if cut_off(block) {
        return Err(block.ended("the last row of its SUMMARY"));
    }
    if let Some(first) = test.passes.first_mut() {
        first.printed.extend(banner.printed.iter().cloned());
    }
    if draft.finished.is_none() {
        draft.doubts.push("the end of mdtest's output (`-- finished at …`) is missing".to_owned());
    }
    moments(block, &draft, &mut test);
    file_system(block, &mut test);
    if let Some(seconds) = banner.option("-p") {
        test.case.delay = plan::Nanos::secs(seconds);
    }
    draft.tests.push(test);
    Ok(draft)
}

/// Adds the printed start and end times to the values of the first phase.
fn moments(block: &Block<'_>, draft: &Draft, test: &mut Test) {
    let marks =
        [("-- started at ", "started", draft.started), ("-- finished at ", "finished", draft.finished)];
    for (mark, label, unix_ns) in marks {
        let line = block.lines.iter().find(|line| line.text.trim_start().starts_with(mark));
        let Some(((line, unix_ns), pass)) = line.zip(unix_ns).zip(test.passes.first_mut()) else { continue };
        let value = between(line.text, mark, "--").unwrap_or_default();
        let printed = Printed::new(*line, label, value, "s since 1970", "stated");
        pass.printed.push(Printed { number: Some(unix_ns as f64 / 1e9), ..printed });
    }
}

/// Adds `FS: 17.1 TiB Used FS: 0.1% Inodes: 476.8 Mi Used Inodes: 0.1%` to the values of the first phase.
fn file_system(block: &Block<'_>, test: &mut Test) {
    let is_it = |line: &&Line<'_>| line.text.trim_start().starts_with("FS") && line.text.contains("Used FS:");
    let Some((line, pass)) = block.lines.iter().find(is_it).zip(test.passes.first_mut()) else { return };
    let text = line.text.trim().trim_start_matches("FS").trim_start().trim_start_matches(':');
    let labels = [("FS", "", "Used FS:", "bytes"), ("Used FS", "Used FS:", "Inodes:", "%")];
    let more = [("Inodes", "Inodes:", "Used Inodes:", ""), ("Used Inodes", "Used Inodes:", "", "%")];
    for (label, before, after, unit) in labels.into_iter().chain(more) {
        let Some(value) = between(text, before, after).map(str::trim) else { continue };
        let number = match unit {
            "%" => number(value.trim_end_matches('%')),
            _ => units::size(value, false),
        };
        let printed = Printed::new(*line, label, value.trim_end_matches('%'), unit, "stated");
        pass.printed.push(Printed { number, ..printed });
    }
}

/// Whether the last line of an output without its end is the beginning of a row of its tables.
fn cut_off(block: &Block<'_>) -> bool {
    block.lines.last().is_some_and(|line| {
        let text = line.text.trim();
        Table::of(text).is_none() && names().any(|(name, _)| !text.is_empty() && name.starts_with(text))
    })
}

/// The row of creations up to the deadline, without those of the wear-out after it.
const STONEWALL: &str = "File create (stonewall)";

/// All names at the beginning of a row.
fn names() -> impl Iterator<Item = (&'static str, Phase)> {
    OPERATIONS.into_iter().chain([(STONEWALL, Phase::FileCreate)])
}

/// The head of a table.
#[derive(Debug, Clone, Copy)]
struct Table {
    rates: bool,
    iterations: u64,
    /// Whether statistics over ranks are before those over iterations (3.4).
    per_rank: bool,
}

impl Table {
    /// `SUMMARY: (of 1 iterations)`, `SUMMARY rate (in ops/sec): (of 3 iterations)`.
    fn of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("SUMMARY")?;
        let iterations = between(rest, "(of ", " iterations")?.trim().parse().ok()?;
        Some(Self { rates: !rest.trim_start().starts_with("time"), iterations, per_rank: false })
    }
}

const STATISTICS: [&str; 4] = ["max", "min", "mean", "standard deviation"];

/// A row of a table.
struct Row<'a> {
    line: Line<'a>,
    table: Table,
    phase: Phase,
    label: &'static str,
    is_stonewall: bool,
    /// Maximum, minimum, mean and standard deviation, over iterations where both are printed.
    values: [&'a str; 4],
    of_ranks: Option<[&'a str; 4]>,
}

impl<'a> Row<'a> {
    fn of(block: &Block<'_>, line: Line<'a>, table: Table) -> Result<Option<Self>, ImportError> {
        let text = line.text.trim();
        let Some((label, phase)) = names().find(|(name, _)| text.starts_with(name)) else { return Ok(None) };
        let rest = text[label.len()..].trim_start().trim_start_matches(':');
        let is_stonewall = label == STONEWALL;
        let malformed =
            || block.malformed(line, rest, "max, min, mean and standard deviation with three digits each");
        let words: Vec<&str> = rest.split_whitespace().collect();
        // A number with fewer decimals was truncated.
        let is_whole = |text: &&str| {
            (is_stonewall && *text == "NA")
                || (number(text).is_some()
                    && text.split_once('.').is_some_and(|(_, digits)| digits.len() == DIGITS))
        };
        let (sets, rest) = words.as_chunks::<4>();
        let of_ranks = match sets {
            _ if !rest.is_empty() || !words.iter().all(is_whole) => return Err(malformed()),
            [_] if !table.per_rank => None,
            [of_ranks, _] if table.per_rank => Some(*of_ranks),
            _ => return Err(malformed()),
        };
        let values = *sets.last().ok_or_else(malformed)?;
        Ok(Some(Self { line, table, phase, label, is_stonewall, values, of_ranks }))
    }

    fn mean(&self) -> f64 {
        number(self.values[2]).unwrap_or(0.0)
    }

    /// Whether it has the seconds of the phase. That is what the table of times has, whatever unit its head names.
    const fn is_time_of_phase(&self) -> bool {
        !self.table.rates && !self.is_stonewall
    }

    /// Adds its values to those of its pass.
    fn print(&self, pass: &mut Pass) {
        let (unit, time) = if self.table.rates { ("ops/s", "") } else { ("s", " time") };
        let sets = [(Some(self.values), ""), (self.of_ranks, " per rank")];
        for (values, of) in sets.into_iter().filter_map(|(values, of)| Some((values?, of))) {
            let label = format!("{}{time}{of}", self.label);
            let known = values.iter().zip(STATISTICS).filter(|(value, _)| **value != "NA");
            let printed = known.map(|(value, of)| Printed::new(self.line, &label, value, unit, of));
            pass.printed.extend(printed);
        }
    }
}

/// The lines before the tables.
struct Banner {
    tasks: u64,
    nodes: u64,
    items: Option<u64>,
    command: String,
    path: Option<String>,
    /// The items of each task when the deadline ended the creation: all tasks go on up to the largest number.
    stonewall: Option<u64>,
    /// Whether minimum, maximum and mean are over processes.
    over_processes: bool,
    printed: Vec<Printed>,
}

impl Banner {
    fn of(block: &Block<'_>, draft: &mut Draft) -> Result<Self, ImportError> {
        let mut banner = Self {
            tasks: 1,
            nodes: 1,
            items: None,
            command: String::new(),
            path: None,
            stonewall: None,
            over_processes: false,
            printed: Vec::new(),
        };
        for line in block.lines {
            let text = line.text.trim();
            if let Some(rest) = text.strip_prefix("mdtest-").filter(|rest| rest.contains("was launched with"))
            {
                let count = |before, after| {
                    let text = between(rest, before, after).unwrap_or_default();
                    block.count(*line, text, "`N total task(s) on M node(s)`").map(|count| count.max(1))
                };
                draft.version = rest.split_whitespace().next().map(str::to_owned);
                (banner.tasks, banner.nodes) =
                    (count("was launched with ", " total task")?, count(" on ", " node")?);
            } else if let Some(rest) = labelled(text, "Command line used") {
                rest.clone_into(&mut banner.command);
            } else if let Some(rest) = labelled(text, "Path") {
                banner.path = Some(rest.to_owned());
            } else if let Some((tasks, rest)) = text.split_once(" tasks, ") {
                let items = rest.split_whitespace().next().unwrap_or_default();
                if tasks.parse::<u64>().is_ok() {
                    banner.items = Some(block.count(*line, items, "`N tasks, M files`")?);
                    banner.printed.push(Printed::new(*line, "items", items, "", "stated"));
                }
            } else if let Some(rest) = text.strip_prefix("Continue stonewall hit ") {
                let parts = [("min: ", " max:", "min"), ("max: ", " avg:", "max"), ("avg: ", "", "mean")];
                for (before, after, statistic) in parts {
                    let Some(value) = between(rest, before, after) else { continue };
                    banner.printed.push(Printed::new(*line, "items at the deadline", value, "", statistic));
                }
                banner.stonewall = between(rest, "max: ", " avg:").and_then(|text| text.trim().parse().ok());
            } else if text.starts_with("SUMMARY") {
                break;
            }
        }
        let is_early = |version: &str| version.starts_with("3.") || version.starts_with("1.9");
        banner.over_processes = block.lines.iter().any(|line| line.text.contains("SUMMARY rate: (of"))
            && !block.lines.iter().any(|line| line.text.contains("per Iteration:"))
            && draft.version.as_deref().is_some_and(is_early);
        draft.command = Some(banner.command.clone()).filter(|command| !command.is_empty());
        Ok(banner)
    }

    fn option(&self, name: &str) -> Option<u64> {
        let text = command::value(&self.command, name)?;
        units::size(&text, false).map(whole)
    }

    fn has(&self, name: &str) -> bool {
        command::has(&self.command, name)
    }

    /// Number of directories of one tree, which mdtest divides by the time needed to create it.
    fn directories(&self) -> u64 {
        Tree { depth: narrow(self.option("-z").unwrap_or(0)), branching: self.branching(), ..Tree::flat(1) }
            .directories()
    }

    fn branching(&self) -> u32 {
        narrow(self.option("-b").unwrap_or(1)).max(1)
    }

    fn spec(&self) -> WorkloadSpec {
        let tasks = narrow(self.tasks);
        let target = command::value(&self.command, "-d").or_else(|| self.path.clone());
        let mut spec =
            WorkloadSpec::new("mdtest", target.unwrap_or_else(|| "unknown".to_owned()), geometry(None));
        (spec.tasks, spec.nodes) = (tasks, narrow(self.nodes).min(tasks));
        let per_task = self.items.unwrap_or(self.tasks) / self.tasks;
        let mut tree = Tree::flat(1);
        tree.depth = narrow(self.option("-z").unwrap_or(0));
        tree.branching = self.branching();
        tree.leaf_only = self.has("-L");
        tree.own_trees = self.has("-u");
        (tree.write_bytes.0, tree.read_bytes.0) =
            (self.option("-w").unwrap_or(0), self.option("-e").unwrap_or(0));
        tree.shift = narrow(self.option("-N").unwrap_or(0));
        tree.sync = self.has("-y");
        tree.items_per_directory = (per_task / tree.used_directories().1.max(1)).max(1);
        spec.work = tree.into();
        spec
    }

    /// Without a command line, options may have been set that are not printed.
    fn known(&self) -> [(Condition, bool); 5] {
        let has_command = !self.command.is_empty();
        [
            (Condition::Transfer, has_command),
            (Condition::Path, has_command || self.path.is_some()),
            (Condition::Tasks, true),
            (Condition::Nodes, true),
            (Condition::Tree, has_command && self.items.is_some()),
        ]
    }

    fn stated(&self) -> String {
        let plural = |n: u64, one: &str| if n == 1 { format!("{n} {one}") } else { format!("{n} {one}s") };
        let mut parts = vec![format!("{} on {}", plural(self.tasks, "task"), plural(self.nodes, "node"))];
        parts.extend(self.items.map(|items| format!("{items} items")));
        parts.extend(self.option("-w").map(|bytes| format!("{} written of each", plan::Bytes(bytes))));
        parts.extend(self.has("-u").then(|| "a directory for each task".to_owned()));
        parts.join(", ")
    }

    /// The operations of `phase` if the text prints them. With a status file of a deadline (`-x`), only creations are
    /// known: the others do as many as that file says.
    fn operations(&self, phase: Phase) -> Option<u64> {
        match (phase, self.stonewall) {
            (Phase::TreeCreate | Phase::TreeRemove, _) => Some(self.directories()),
            (Phase::FileCreate, Some(each)) => Some(self.tasks.saturating_mul(each)),
            (Phase::FileCreate, None) => self.items,
            _ => self.items.filter(|_| self.stonewall.is_none() && !self.has("-x")),
        }
    }

    /// A phase with the rate in `row` and the time in `seconds`, if it is printed.
    fn derive(&self, pass: &mut Pass, row: &Row<'_>, seconds: Option<f64>) {
        let (phase, rate) = (pass.row.key.phase, row.mean());
        let items = self.operations(phase).unwrap_or_else(|| {
            let seconds = seconds.filter(|seconds| *seconds > 0.0).unwrap_or_else(|| {
                pass.note("the number of items is not printed: the rate is correct, items assume one second");
                1.0
            });
            whole(rate * seconds).max(1)
        });
        pass.took(nanos(items as f64 / rate));
        let each = match phase {
            Phase::FileCreate => self.option("-w").unwrap_or(0),
            Phase::FileRead => self.option("-e").unwrap_or(0),
            _ => 0,
        };
        pass.moved(items, items.saturating_mul(each));
        let iterations = row.table.iterations;
        if iterations > 1 {
            pass.warnings.push(Warning::PrintedMean { iterations });
        } else if !self.over_processes {
            pass.note("the standard deviation is that of one iteration: it says nothing about the spread");
        }
        if self.over_processes && self.tasks > 1 {
            pass.note("this release takes minimum, maximum and mean over processes, not over iterations");
        }
    }
}
