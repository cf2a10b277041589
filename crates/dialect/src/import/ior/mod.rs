//! What the formats of IOR's output have in common: the case, and a row of a pass.
//!
//! IOR's `MiB` and `KiB` are powers of 1024, and its bandwidth is the total number of bytes divided by the
//! total time of the pass. The printed command line is parsed by IOR's dialect, so that an imported case is
//! the same as a case that ioproof measures.

pub(super) mod csv;
pub(super) mod json;
pub(super) mod text;

use plan::{Case, Condition, Order, Phase, WorkloadSpec};

use crate::import::draft::{Draft, Pass, Printed, Test, volume};
use crate::import::text::command;
use crate::import::text::lines::{Line, nanos, narrow, whole};
use crate::import::text::units;
use crate::ior::parse as parse_line;
use crate::launcher::Launcher;

pub(super) const MIB: f64 = 1_048_576.0;
pub(super) const KIB: f64 = 1024.0;
/// The labels of the amount of one pass that was moved, and of that which the summary prints.
pub(super) const MOVED: &str = "bytes moved";
pub(super) const AGGREGATE: &str = "aggregate";
/// The options that say how much is moved.
pub(super) const AMOUNT: [&str; 7] =
    ["tasks", "clients", "segments", "xfersize", "blocksize", "aggregate filesize", "stonewallingTime"];

/// The options of one test, as printed.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    pub(super) api: Option<String>,
    pub(super) file: Option<String>,
    pub(super) access: Option<String>,
    pub(super) segments: Option<u64>,
    pub(super) order: Option<String>,
    pub(super) nodes: Option<u64>,
    pub(super) tasks: Option<u64>,
    pub(super) transfer: Option<u64>,
    pub(super) block: Option<u64>,
    pub(super) aggregate: Option<f64>,
    pub(super) repetitions: Option<u64>,
}

/// One row of results.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) mib_per_second: f64,
    pub(super) open_s: Option<f64>,
    pub(super) io_s: Option<f64>,
    pub(super) close_s: Option<f64>,
    pub(super) total_s: Option<f64>,
    /// The amount, where it is not the requested one.
    pub(super) moved_bytes: Option<f64>,
}

/// What an option says about the amount: `text` is a number, or a size in bytes or with its unit.
pub(super) fn stated(line: Line<'_>, label: &str, text: &str) -> Printed {
    let unit = match label {
        "tasks" | "clients" | "segments" => "",
        "stonewallingTime" => "s",
        _ => "bytes",
    };
    // `clients = 64 (4 per node)`.
    let value = if unit == "bytes" { text } else { text.split_whitespace().next().unwrap_or_default() };
    let number = units::size(value, false);
    Printed { number, ..Printed::new(line, label, value, unit, "stated") }
}

/// The phase for IOR's name of an operation.
pub(super) fn phase(name: &str) -> Option<Phase> {
    match name {
        "write" => Some(Phase::Write),
        "read" => Some(Phase::Read),
        _ => None,
    }
}

impl Options {
    /// Number of bytes of all tasks in one pass.
    fn aggregate(&self) -> Option<f64> {
        let exact = self.block.zip(self.tasks).map(|(block, tasks)| (block as f64) * (tasks as f64));
        match self.segments {
            Some(segments) => exact.map(|bytes| bytes * segments as f64).or(self.aggregate),
            None => self.aggregate.or(exact),
        }
    }

    /// Case number `index` of an output with this command line.
    pub(super) fn test(&self, command: Option<&str>, index: usize) -> Test {
        match command.and_then(|command| self.own_case(command, index)) {
            Some(case) => Test::of_command(
                &case,
                &self.stated(),
                &[(Condition::Tasks, self.tasks.is_some()), (Condition::Nodes, self.nodes.is_some())],
            ),
            None => Test::new(&format!("test{index}"), self.spec(), &self.stated()).knowing(&self.known()),
        }
    }

    /// The case that IOR's dialect creates from the command line, if it matches the printed options.
    fn own_case(&self, command: &str, index: usize) -> Option<Case> {
        let tasks = self.tasks.map(narrow);
        let nodes = self.nodes.map(narrow);
        let launcher = Launcher { tasks, nodes, ..Launcher::default() };
        let case = parse_line(&command::words_of(command, "ior"), launcher)
            .ok()?
            .plan
            .cases
            .into_iter()
            .nth(index)?;
        let geometry = case.workload.geometry;
        // Sizes are printed with two decimals: 28800m as 28.12 GiB.
        let is_near = |printed: Option<u64>, own: u64| {
            printed.is_none_or(|bytes| bytes.abs_diff(own) as f64 <= own as f64 * SIZE_ROUNDED)
        };
        let agrees = tasks.is_none_or(|tasks| tasks == case.workload.tasks)
            && is_near(self.transfer, geometry.transfer.0)
            && is_near(self.block, geometry.block.0);
        agrees.then_some(case)
    }

    fn spec(&self) -> WorkloadSpec {
        let transfer = self.transfer.unwrap_or(1);
        let tasks = narrow(self.tasks.unwrap_or(1)).max(1);
        let file = self.file.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut spec = WorkloadSpec::new("ior", file, volume(transfer, self.block.unwrap_or(transfer)));
        spec.geometry.segments = self.segments.unwrap_or(1).max(1);
        (spec.tasks, spec.nodes) = (tasks, narrow(self.nodes.unwrap_or(1)).clamp(1, tasks));
        if self.order.as_deref().is_some_and(|order| order.starts_with("random")) {
            spec.order = Order::Random { seed: 0 };
        }
        if self.access.as_deref() == Some("file-per-process") {
            spec.files.sharing = plan::Sharing::PerTask;
        }
        spec
    }

    fn known(&self) -> [(Condition, bool); 9] {
        let geometry = self.transfer.is_some() && self.block.is_some();
        [
            (Condition::Transfer, self.transfer.is_some()),
            (Condition::Block, geometry),
            (Condition::Volume, geometry && self.segments.is_some() && self.tasks.is_some()),
            (Condition::Order, self.order.is_some()),
            (Condition::Path, self.file.is_some()),
            (Condition::Sharing, self.access.is_some()),
            (Condition::Depth, true),
            (Condition::Tasks, self.tasks.is_some()),
            (Condition::Nodes, self.nodes.is_some()),
        ]
    }

    fn stated(&self) -> String {
        let bytes = |bytes: u64| plan::Bytes(bytes).to_string();
        let parts = [
            self.order.as_deref().map(|order| order.trim_end_matches(" offsets").to_owned()),
            self.transfer.map(|size| format!("transfers of {}", bytes(size))),
            self.block.map(|size| format!("blocks of {}", bytes(size))),
            self.tasks.map(|tasks| if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") }),
            self.nodes.filter(|nodes| *nodes > 1).map(|nodes| format!("{nodes} nodes")),
            self.access.clone(),
            self.api.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Tolerance between a printed size, of at least 1.00 of its unit, and that of the command line.
const SIZE_ROUNDED: f64 = 0.005;
/// Tolerance between the bytes derived from rate and time, and those requested.
const ROUNDED: f64 = 0.02;

/// Fills a pass from a row.
pub(super) fn derive(pass: &mut Pass, row: &Row, options: &Options) {
    let rate = row.mib_per_second * MIB;
    let asked = options.aggregate();
    // A short pass may have a printed time of 0.0000 s.
    let moved = row.total_s.filter(|seconds| *seconds > 0.0).map(|seconds| rate * seconds);
    let bytes = match (row.moved_bytes.or(asked), moved) {
        _ if row.moved_bytes.is_some_and(|bytes| bytes > 0.0) => row.moved_bytes.unwrap_or_default(),
        // If a deadline ended the pass, the amount moved can only be derived from rate and time.
        (Some(asked), Some(moved)) if (moved / asked - 1.0).abs() > ROUNDED && row.total_s > Some(0.01) => {
            pass.note("it did not move the requested amount, as with a deadline: bytes are rate × time");
            moved
        }
        (Some(asked), _) => asked,
        (None, Some(moved)) => moved,
        (None, None) => {
            pass.note(
                "neither bytes nor a time above 0 are printed: the rate is correct, bytes assume one second",
            );
            rate
        }
    };
    let transfers = options.transfer.map_or(0.0, |transfer| bytes / transfer.max(1) as f64);
    pass.moved(whole(transfers), whole(bytes));
    let wall = if rate > 0.0 { nanos(bytes / rate) } else { row.total_s.map_or(0, nanos) };
    pass.took(wall);
    let within = |seconds: Option<f64>| seconds.map_or(0, nanos).min(wall);
    (pass.row.open_ns, pass.row.close_ns) = (within(row.open_s), within(row.close_s));
    if let Some(io) = row.io_s.map(nanos).filter(|&io| io > 0) {
        pass.row.io_ns = io.min(wall);
    }
}

/// The test of `draft` to which `index` belongs. It is created if it does not exist yet.
pub(super) fn test_mut<'d>(draft: &'d mut Draft, options: &Options, index: usize) -> &'d mut Test {
    while draft.tests.len() <= index {
        let next = draft.tests.len();
        let test = options.test(draft.command.as_deref(), next);
        draft.tests.push(test);
    }
    &mut draft.tests[index]
}
