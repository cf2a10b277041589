//! elbencho's CSV, which has a line for each phase.
//!
//! `[first]` is the state when the first worker was done, `[last]` when all were. `MiB` are 1024² bytes,
//! times are in ms, latencies in µs, sizes in bytes.

pub(super) mod json;
pub(super) mod live;
pub(super) mod text;

use plan::{Backend, Condition, Operation, Order, Phase, Tree, WorkloadSpec};

use crate::import::draft::{Draft, Pass, Printed, Test, geometry, volume};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, nanos_at, narrow, number, whole};
use crate::import::text::times;

/// The tool's name.
pub(super) const TOOL: &str = "elbencho";

/// Parses elbencho's `--csvfile`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "elbencho-csv",
    tool: TOOL,
    newest: Some((3, 1)),
    form: Form::File { is_it, read: parse },
};

const MIB: f64 = 1_048_576.0;

/// Whether the first line is the heading of such a table.
fn is_header(line: &str) -> bool {
    line.starts_with("ISO date,label,path type,")
}

/// The phase of an operation, either on files and devices or in directories.
pub(super) fn phase(operation: &str, in_directories: bool) -> Option<Phase> {
    Some(match (operation, in_directories) {
        ("WRITE", false) => Phase::Write,
        ("READ", false) => Phase::Read,
        ("WRITE", true) => Phase::FileCreate,
        ("READ", true) => Phase::FileRead,
        ("STAT" | "STATFILES", _) => Phase::FileStat,
        ("RMFILES", _) => Phase::FileRemove,
        ("MKDIRS", _) => Phase::DirectoryCreate,
        ("RMDIRS", _) => Phase::DirectoryRemove,
        _ => return None,
    })
}

/// Like [`phase`], including mixed phases, for the formats that print both directions in the same way.
fn phase_or_mixed(operation: &str, in_directories: bool) -> Option<Phase> {
    match operation.starts_with("RWMIX") && !in_directories {
        true => Some(Phase::Mixed),
        false => phase(operation, in_directories),
    }
}

/// The operation on each item of a phase in directories.
pub(super) fn item_operation(phase: Phase) -> Operation {
    match phase {
        Phase::FileRead => Operation::Read,
        Phase::FileStat => Operation::Stat,
        Phase::FileRemove | Phase::DirectoryRemove => Operation::Remove,
        _ => Operation::Create,
    }
}

/// The path of a format that prints none.
const UNKNOWN: &str = "unknown";

/// The workload of a phase, as printed.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    pub(super) path: String,
    pub(super) hosts: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) file_bytes: Option<u64>,
    pub(super) block_bytes: Option<u64>,
    pub(super) direct: Option<bool>,
    pub(super) random: Option<bool>,
    pub(super) depth: Option<u64>,
    pub(super) in_directories: bool,
}

impl Conditions {
    /// The conditions for a format that prints none.
    pub(super) fn unknown() -> Self {
        Self { path: UNKNOWN.to_owned(), ..Self::default() }
    }

    pub(super) fn spec(&self) -> WorkloadSpec {
        let block = self.block_bytes.unwrap_or(1);
        let hosts = narrow(self.hosts.unwrap_or(1)).max(1);
        let mut spec =
            WorkloadSpec::new(TOOL, self.path.clone(), volume(block, self.file_bytes.unwrap_or(block)));
        spec.tasks = narrow(self.threads.unwrap_or(1)).max(1).saturating_mul(hosts);
        spec.nodes = hosts;
        spec.direct = self.direct.unwrap_or(false);
        if self.random == Some(true) {
            spec.order = Order::Random { seed: 0 };
        }
        let depth = narrow(self.depth.unwrap_or(1)).max(1);
        if depth > 1 {
            spec.backend = Backend::Uring { depth, required: false };
        }
        if self.in_directories {
            spec.geometry = geometry(None);
            let mut tree = Tree::flat(1);
            tree.write_bytes.0 = self.file_bytes.unwrap_or(0);
            tree.read_bytes.0 = tree.write_bytes.0;
            spec.work = tree.into();
        }
        spec
    }

    fn known(&self) -> [(Condition, bool); 8] {
        [
            (
                Condition::Transfer,
                if self.in_directories { self.file_bytes } else { self.block_bytes }.is_some(),
            ),
            (Condition::Volume, self.file_bytes.is_some() && self.block_bytes.is_some()),
            (Condition::Order, self.random.is_some()),
            (Condition::Path, self.path != UNKNOWN),
            (Condition::Cache, self.direct.is_some()),
            (Condition::Depth, self.depth.is_some()),
            (Condition::Tasks, self.threads.is_some()),
            (Condition::Nodes, self.hosts.is_some()),
        ]
    }

    pub(super) fn stated(&self) -> String {
        let plural = |n: u64, one: &str| if n == 1 { format!("{n} {one}") } else { format!("{n} {one}s") };
        let parts = [
            self.random.map(|random| if random { "random" } else { "sequential" }.to_owned()),
            self.block_bytes.map(|bytes| format!("blocks of {}", plan::Bytes(bytes))),
            self.file_bytes.map(|bytes| format!("files of {}", plan::Bytes(bytes))),
            self.direct.map(|direct| if direct { "direct" } else { "buffered" }.to_owned()),
            self.depth.map(|depth| format!("depth {depth}")),
            self.threads.map(|threads| plural(threads, "thread")),
            self.hosts.filter(|hosts| *hosts > 1).map(|hosts| plural(hosts, "host")),
        ];
        match parts.into_iter().flatten().collect::<Vec<_>>() {
            none if none.is_empty() => "conditions are not printed".to_owned(),
            parts => parts.join(", "),
        }
    }
}

fn is_it(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(is_header)
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut columns: Vec<&str> = Vec::new();
    for line in block.lines.iter().filter(|line| !line.text.trim().is_empty()) {
        // A file that was appended to may repeat its heading.
        if is_header(line.text) {
            columns = line.text.split(',').collect();
            continue;
        }
        // The command line, which is the last column, may contain commas.
        let words: Vec<&str> = line.text.splitn(columns.len().max(1), ',').collect();
        let is_whole =
            words.len() == columns.len() && words.last().is_some_and(|word| !word.trim().is_empty());
        if columns.is_empty() || !is_whole {
            return Err(block.malformed(
                *line,
                line.text,
                format!("{} comma-separated values", columns.len()),
            ));
        }
        let row = Row { block, line: *line, columns: &columns, words: &words };
        row.read(&mut draft)?;
    }
    match draft.tests.is_empty() {
        true => Err(block.ended("the line of its first phase")),
        false => Ok(draft),
    }
}

struct Row<'b, 'a> {
    block: &'b Block<'a>,
    line: Line<'a>,
    columns: &'b [&'a str],
    words: &'b [&'a str],
}

impl<'a> Row<'_, 'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|column| column.trim() == name)?;
        Some(self.words[at].trim()).filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str) -> Result<Option<f64>, ImportError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        self.block.number(self.line, text, &format!("a number in the column {name}")).map(Some)
    }

    fn read(&self, draft: &mut Draft) -> Result<(), ImportError> {
        let count = |name: &str| self.number(name).map(|value| value.map(whole));
        let flag = |name: &str| self.get(name).map(|text| text != "0");
        // Of files that a time limit cut short, no entries are printed: then it is a phase of transfers.
        let in_directories = self.get("path type") == Some("dir") && self.get("entries [last]").is_some();
        let conditions = Conditions {
            path: UNKNOWN.to_owned(),
            hosts: count("hosts")?,
            threads: count("threads")?,
            file_bytes: count("file size")?,
            block_bytes: count("block size")?,
            direct: flag("direct IO"),
            random: flag("random"),
            depth: count("IO depth")?,
            in_directories,
        };
        let operation = self.get("operation").unwrap_or_default();
        let Some(phase) = phase(operation, in_directories) else {
            draft
                .doubts
                .push(format!("elbencho's phase {operation} is not a known measurement; it was skipped"));
            return Ok(());
        };
        if draft.started.is_none() {
            // ISO 8601, with its zone.
            (draft.started, draft.zoned) = (self.get("ISO date").and_then(times::moment), true);
        }
        draft.version = self.get("version").map(str::to_owned).or(draft.version.take());
        draft.command = self.get("command").map(str::to_owned).or(draft.command.take());
        let mut pass = Pass::new(phase, 0);
        pass.began(self.get("ISO date").and_then(times::moment));
        self.derive(&mut pass)?;
        for (column, word) in self.columns.iter().zip(self.words) {
            if let Some((unit, statistic)) = unit_of(column).filter(|_| number(word).is_some()) {
                let label = column.split(" [").next().unwrap_or(column).trim();
                pass.printed.push(Printed::new(self.line, label, word, unit, statistic));
            }
        }
        add(draft, conditions, pass, false);
        Ok(())
    }

    fn derive(&self, pass: &mut Pass) -> Result<(), ImportError> {
        let mib = self.number("MiB [last]")?;
        let entries = self.number("entries [last]")?;
        let missing = || self.block.malformed(self.line, self.line.text, "`time ms [last]` above 0");
        let time_ms = self.number("time ms [last]")?;
        let bytes = mib.unwrap_or(0.0) * MIB;
        let by_rate = match (self.number("MiB/s [last]")?, self.number("entries/s [last]")?) {
            (Some(rate), _) if bytes > 0.0 => nanos_at(bytes, rate * MIB),
            (_, Some(rate)) => nanos_at(entries.unwrap_or(0.0), rate),
            _ => None,
        };
        let wall =
            by_rate.or_else(|| time_ms.map(|ms| whole(ms * 1e6))).filter(|&ns| ns > 0).ok_or_else(missing)?;
        pass.took(wall);
        let operations = match pass.row.key.phase {
            Phase::Read | Phase::Write => {
                let iops = self.number("IOPS [last]")?;
                iops.map_or(0.0, |iops| iops * wall as f64 / 1e9)
            }
            _ => entries.unwrap_or(0.0),
        };
        let block = self.number("block size")?.filter(|&block| block > 0.0);
        let exact = block.filter(|_| bytes > 0.0 && matches!(pass.row.key.phase, Phase::Read | Phase::Write));
        pass.moved(whole(exact.map_or(operations, |block| bytes / block)), whole(bytes));
        if let Some(mib) = self.number("MiB [first]")? {
            pass.row.first_done_bytes = whole(mib * MIB);
            let rate = self.number("MiB/s [first]")?.unwrap_or(0.0) * MIB;
            pass.row.first_done_ns = nanos_at(mib * MIB, rate).unwrap_or(0).min(wall);
        }
        Ok(())
    }
}

/// Adds a phase to the last case, if that has the same conditions and does not have this phase yet and `is_new` does
/// not say that another run begins.
pub(super) fn add(draft: &mut Draft, conditions: Conditions, mut pass: Pass, is_new: bool) {
    let phase = pass.row.key.phase;
    // The rate of a phase of files is that of the files.
    let bytes = Some(pass.row.bytes()).filter(|&bytes| conditions.in_directories && bytes > 0);
    if let Some(bytes) = bytes {
        let seconds = pass.row.wall_ns.max(1) as f64 / 1e9;
        pass.note(format!("the data of the files moved at {:.1} MiB/s", bytes as f64 / MIB / seconds));
    }
    let stated = conditions.stated();
    let fits = |test: &&mut Test| {
        test.case.stated.as_deref() == Some(stated.as_str())
            && !test.passes.iter().any(|pass| pass.row.key.phase == phase)
    };
    if let Some(test) = draft.tests.last_mut().filter(|test| !is_new && fits(test)) {
        test.passes.push(pass);
        return;
    }
    let mut test = Test::new(TOOL, conditions.spec(), &stated).knowing(&conditions.known());
    test.passes.push(pass);
    draft.tests.push(test);
}

/// The unit and the statistic of a column of results.
fn unit_of(column: &str) -> Option<(&'static str, &'static str)> {
    let (name, which) = column.trim().strip_suffix(']')?.split_once(" [")?;
    let name = name.trim_start_matches("rwmix read ");
    let unit = match name {
        "time ms" => "ms",
        "entries/s" | "IOPS" => "ops/s",
        "MiB/s" => "MiB/s",
        "CPU%" => "%",
        "entries" => "",
        "MiB" => "MiB",
        "Ent lat us" | "IO lat us" => "us",
        _ => return None,
    };
    let statistic = match which {
        "first" => "first done",
        "last" => "last done",
        "avg" => "mean",
        "min" => "min",
        "max" => "max",
        _ => return None,
    };
    Some((unit, statistic))
}
