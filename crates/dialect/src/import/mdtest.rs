//! mdtest 1.9 to 4.1: the banner and the tables of its summary.
//!
//! Rates are operations of all tasks per second. Releases before 3.2 and from 4.0 on print one rate for
//! each iteration. Releases 3.2 and 3.3 compute minimum, maximum and mean over the processes of all
//! iterations, so these differ even for a single iteration.

use plan::{Condition, Phase, Tree, Work, WorkloadSpec};
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
    let phase_of = |label: &str| OPERATIONS.iter().find(|(name, _)| *name == label).map(|(_, phase)| *phase);
    let mut test = Test::new("mdtest", banner.spec(), &banner.stated()).knowing(&banner.known());
    let mut table: Option<Table> = None;
    let mut seen = false;
    for line in block.lines {
        let text = line.text.trim();
        if text.starts_with("-- finished at ") {
            break;
        }
        if let Some(found) = Table::of(text) {
            table = Some(found);
            continue;
        }
        let Some(table) = &table else { continue };
        let Some(label) = OPERATIONS.iter().map(|(name, _)| *name).find(|name| text.starts_with(name)) else {
            continue;
        };
        let Some(phase) = phase_of(label) else { continue };
        let values = row(block, *line, &text[label.len()..])?;
        let pass = test.pass_mut(phase, 0);
        let unit = if table.rates { "ops/s" } else { "s" };
        for (value, statistic) in values.iter().zip(["max", "min", "mean", "standard deviation"]) {
            let what = if table.rates { label.to_owned() } else { format!("{label} time") };
            pass.printed.push(Printed::new(*line, &what, value, unit, statistic));
        }
        if table.rates {
            seen = true;
            let mean = block.number(*line, values[2], "a rate")?;
            banner.derive(pass, mean, table.iterations);
            pass.began(draft.started);
        }
    }
    if !seen {
        return Err(block.ended("the rows of its SUMMARY"));
    }
    let rows = test.passes.len();
    if rows < block_rows(block) {
        return Err(block.ended("the last row of its SUMMARY"));
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

/// Number of rows in a table that begins in the text, whether or not it is complete.
fn block_rows(block: &Block<'_>) -> usize {
    let names = OPERATIONS.iter().filter(|(name, _)| {
        let mut inside = false;
        block.lines.iter().any(|line| {
            inside |= line.text.trim_start().starts_with("SUMMARY");
            inside && line.text.trim_start().starts_with(name)
        })
    });
    names.count()
}

/// The head of a table.
struct Table {
    rates: bool,
    iterations: u64,
}

impl Table {
    /// `SUMMARY: (of 1 iterations)`, `SUMMARY rate (in ops/sec): (of 3 iterations)`.
    fn of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("SUMMARY")?;
        let iterations = between(rest, "(of ", " iterations")?.trim().parse().ok()?;
        Some(Self { rates: !rest.trim_start().starts_with("time"), iterations })
    }
}

/// The four values of a row.
fn row<'a>(block: &Block<'_>, line: Line<'_>, rest: &'a str) -> Result<[&'a str; 4], ImportError> {
    let malformed =
        || block.malformed(line, rest, "max, min, mean and standard deviation with three digits each");
    let rest = rest.trim_start().trim_start_matches(':');
    let words: Vec<&str> = rest.split_whitespace().collect();
    let values: [&str; 4] = words.try_into().map_err(|_| malformed())?;
    let is_whole = |text: &str| {
        number(text).is_some() && text.split_once('.').is_some_and(|(_, digits)| digits.len() == DIGITS)
    };
    if values.iter().all(|text| is_whole(text)) { Ok(values) } else { Err(malformed()) }
}

/// The lines before the tables.
struct Banner {
    tasks: u64,
    nodes: u64,
    items: Option<u64>,
    command: String,
    path: Option<String>,
    over_processes: bool,
}

impl Banner {
    fn of(block: &Block<'_>, draft: &mut Draft) -> Result<Self, ImportError> {
        let mut banner = Self {
            tasks: 1,
            nodes: 1,
            items: None,
            command: String::new(),
            path: None,
            over_processes: false,
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
                }
            } else if text.starts_with("SUMMARY") {
                break;
            }
        }
        banner.over_processes = block.lines.iter().any(|line| line.text.contains("SUMMARY rate: (of"))
            && draft
                .version
                .as_deref()
                .is_some_and(|version| version.starts_with("3.") || version == "1.9.3");
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
        spec.work = Work::Tree(tree);
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

    /// A phase of `rate` operations per second.
    fn derive(&self, pass: &mut Pass, rate: f64, iterations: u64) {
        let phase = pass.row.key.phase;
        let items = match phase {
            Phase::TreeCreate | Phase::TreeRemove => self.directories(),
            _ => self.items.unwrap_or_else(|| {
                pass.note("the number of items is not printed: the rate is correct, items assume one second");
                whole(rate)
            }),
        };
        pass.took(if rate > 0.0 { nanos(items as f64 / rate) } else { 0 });
        let each = match phase {
            Phase::FileCreate => self.option("-w").unwrap_or(0),
            Phase::FileRead => self.option("-e").unwrap_or(0),
            _ => 0,
        };
        pass.moved(items, items.saturating_mul(each));
        if iterations > 1 {
            pass.warnings.push(Warning::PrintedMean { iterations });
        } else {
            pass.note("the standard deviation is that of one iteration: it says nothing about the spread");
        }
        if self.over_processes && self.tasks > 1 {
            pass.note("this release takes minimum, maximum and mean over processes, not over iterations");
        }
    }
}
