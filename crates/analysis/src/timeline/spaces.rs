//! Bytes by space, by what steps do, and against the input.

use std::path::Path;

use plan::{Case, JobSpace, JobsPlacement, TestKind, jobs::ROW_BYTES};
use record::{FileSystemFacts, HostFacts, LaunchRow, SpaceRow, StepRow};

use super::concurrency::held_at_most;
use super::full_timer::{read_bytes, write_bytes};
use crate::gate::Kind;
use crate::headline::RateOf;
use crate::table::{Column, Of, Statement, Value};

/// What was done in one space.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceUse {
    /// Which one.
    pub space: JobSpace,
    /// Its directory.
    pub directory: String,
    /// Bytes that all launches read from it.
    pub read_bytes: u64,
    /// Bytes that they wrote to it.
    pub write_bytes: u64,
    /// Read ÷ both; none where nothing was moved.
    pub read_share: Option<f64>,
    /// The most that one launch had there at a time; none in permanent space, where it is not counted.
    pub peak_bytes: Option<u64>,
    /// The most that all launches can have had there together: sum of the peaks of those that ran at one time.
    pub held_at_most_bytes: Option<u64>,
    /// Bytes of its file system, where they are known.
    pub size_bytes: Option<u64>,
    /// Bytes that were free at the end of the first second.
    pub free_first_bytes: Option<u64>,
    /// The fewest that were free.
    pub free_least_bytes: Option<u64>,
    /// Bytes that were free at the end.
    pub free_last_bytes: Option<u64>,
    /// Fewer than these are warned about; none where the size is not known.
    pub free_limit_bytes: Option<u64>,
    /// There were fewer.
    pub low: bool,
}

impl SpaceUse {
    /// Bytes in either direction.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }
}

impl Statement for (u32, SpaceUse) {
    const KIND: Kind = Kind::JobSpace;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Bytes of each space, the most that launches held there, and the free space of its file system, looked at each second";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("pass", |one: &Self| Some(one.0.into()), "Its number, from 0.").subject(),
        Column::text(
            "space",
            |one: &Self| one.1.space.name().to_owned(),
            "`permanent`, `work` or `utility`.",
        )
        .subject(),
        Column::bytes("read", |one: &Self| Some(one.1.read_bytes), "Bytes that all launches read from it."),
        Column::bytes("written", |one: &Self| Some(one.1.write_bytes), "Bytes that they wrote to it."),
        Column::share("read_share", |one: &Self| one.1.read_share, "Read ÷ both."),
        Column::bytes(
            "held_by_one",
            |one: &Self| one.1.peak_bytes,
            "The most of one launch at a time; not counted in permanent space.",
        ),
        Column::bytes(
            "held_by_all",
            |one: &Self| one.1.held_at_most_bytes,
            "Sum of these of launches that ran at one time, at most.",
        ),
        Column::bytes("free_first", |one: &Self| one.1.free_first_bytes, "Free after the first second.")
            .detail(),
        Column::bytes("free_least", |one: &Self| one.1.free_least_bytes, "The fewest that were free.")
            .headed("least free"),
        Column::bytes("free_last", |one: &Self| one.1.free_last_bytes, "Free at the end.").detail(),
        Column::bytes("limit", |one: &Self| one.1.free_limit_bytes, "Fewer are warned about."),
        Column::bytes("size", |one: &Self| one.1.size_bytes, "Of its file system."),
        Column::flag("low", |one: &Self| Some(one.1.low), "Whether there were fewer than the limit.")
            .detail(),
        Column::text("directory", |one: &Self| one.1.directory.clone(), "Its directory.").detail(),
    ];

    fn notes(all: &[&Self]) -> Vec<String> {
        let words = |(pass, one): &(u32, SpaceUse)| {
            let bytes = |bytes: Option<u64>| plan::Bytes(bytes.unwrap_or(0));
            format!(
                "Pass {pass}: {} space ran low: {} were free at the least, the limit is {} of {}. Flash writes slowly \
                 without fallow space: make it larger or use less of it.",
                one.space,
                bytes(one.free_least_bytes),
                bytes(one.free_limit_bytes),
                bytes(one.size_bytes)
            )
        };
        all.iter().filter(|(_, one)| one.low).map(|one| words(one)).collect()
    }
}

impl Statement for KindMoved {
    const KIND: Kind = Kind::JobInput;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Input of a single instance of each test, and what all moved";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("kind", |one: &Self| one.kind.name().to_owned(), "`computation`, `memory` or `io`.")
            .subject(),
        Column::count("tests", |one: &Self| Some(one.tests as u64), "Its tests."),
        Column::count("launches", |one: &Self| Some(one.launches as u64), "Launches of them."),
        Column::bytes(
            "instance_input",
            |one: &Self| Some(one.instance_input_bytes),
            "What one instance of each test works on, by the plan.",
        )
        .headed("input of one instance"),
        Column::bytes(
            "full_scale_input",
            |one: &Self| Some(super::full_timer::whole(one.full_scale_input_bytes)),
            "The same at full scale.",
        )
        .headed("at full scale"),
        Column::bytes("read", |one: &Self| Some(one.read_bytes), "Bytes that all launches read.")
            .headed("read by all"),
        Column::bytes("written", |one: &Self| Some(one.write_bytes), "Bytes that they wrote.")
            .headed("written by all"),
    ];
}

impl Statement for ActionUse {
    const KIND: Kind = Kind::JobAction;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "What steps do. Copies: bytes written for each byte of the rows read";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("action", |one: &Self| one.action.clone(), "What they do, as `sort`.")
            .headed("does")
            .subject(),
        Column::count("steps", |one: &Self| Some(one.steps as u64), "How many."),
        Column::seconds("real", |one: &Self| Some(super::nanos(one.real_ns)), "Sum of their real times."),
        Column::seconds("cpu", |one: &Self| Some(super::nanos(one.cpu_ns)), "Sum of their CPU times.")
            .headed("CPU"),
        Column::bytes("input", |one: &Self| Some(one.input_bytes), "Bytes of the rows that they read.")
            .headed("input rows"),
        Column::bytes("read", |one: &Self| Some(one.read_bytes), "Bytes read."),
        Column::bytes("written", |one: &Self| Some(one.write_bytes), "Bytes written."),
        Column::number("copies", |one: &Self| one.copies, "Written ÷ input."),
        Column::rate(
            "rate",
            |one: &Self| Value::Rate(one.bytes_per_second, RateOf::Bytes),
            "Bytes moved ÷ real time of the steps, which ran beside others.",
        )
        .headed("rate of one"),
    ];
}

/// All bytes of a pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moved {
    /// Read.
    pub read_bytes: u64,
    /// Written.
    pub write_bytes: u64,
    /// Bytes of the loaded tables that the launches read, each step its inputs once: by the plan.
    pub input_bytes: u64,
    /// The same by kind of test.
    pub kinds: Vec<KindMoved>,
}

/// What the tests of one kind are given and move.
#[derive(Debug, Clone, PartialEq)]
pub struct KindMoved {
    /// The kind.
    pub kind: TestKind,
    /// Its tests.
    pub tests: usize,
    /// Launches of them.
    pub launches: usize,
    /// Bytes that a single instance of each test works on, by the plan: the loaded tables that it reads, each once,
    /// and those that it generates.
    pub instance_input_bytes: u64,
    /// The same at full scale.
    pub full_scale_input_bytes: f64,
    /// Bytes that all its launches read.
    pub read_bytes: u64,
    /// Bytes that they wrote.
    pub write_bytes: u64,
}

/// What steps of one kind did.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionUse {
    /// What they did, as `sort`.
    pub action: String,
    /// How many.
    pub steps: usize,
    /// Sum of their real times.
    pub real_ns: u64,
    /// Sum of their CPU times.
    pub cpu_ns: u64,
    /// Bytes of the rows that they read.
    pub input_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Written ÷ bytes of the rows read: how many copies of its input such a step makes; none where it read none.
    pub copies: Option<f64>,
    /// Bytes moved ÷ real time of the steps, which ran beside others.
    pub bytes_per_second: f64,
}

/// Each space of `case`, as its launches and seconds tell of it.
#[must_use]
pub fn spaces(
    host: &HostFacts,
    case: &Case,
    launches: &[&LaunchRow],
    seconds: &[&SpaceRow],
) -> Vec<SpaceUse> {
    let placement = JobsPlacement::new(&case.workload);
    let limit = case.workload.work.jobs().map_or(0, |jobs| jobs.free_percent_min);
    let of = |(place, &space): (usize, &JobSpace)| {
        let sum =
            |bytes: fn(&LaunchRow) -> [u64; 3]| launches.iter().map(|row| bytes(row)[place]).sum::<u64>();
        let (read, write) = (sum(read_bytes), sum(write_bytes));
        let peak = |row: &LaunchRow| match space {
            JobSpace::Permanent => 0,
            JobSpace::Work => row.work_peak_bytes,
            JobSpace::Utility => row.utility_peak_bytes,
        };
        let counted = space != JobSpace::Permanent;
        let mut own: Vec<&&SpaceRow> = seconds.iter().filter(|row| row.space == space.name()).collect();
        own.sort_by_key(|row| row.start_ns);
        let free: Vec<u64> = own.iter().filter_map(|row| row.free_bytes).collect();
        let directory = placement.map(|placement| placement.target(space));
        let size = directory.and_then(|path| Some(file_system_of(host, path)?.size_bytes));
        let free_limit = size.map(|size| size / 100 * u64::from(limit));
        let least = free.iter().min().copied();
        SpaceUse {
            space,
            directory: directory.map(|path| path.display().to_string()).unwrap_or_default(),
            read_bytes: read,
            write_bytes: write,
            read_share: share(read, read + write),
            peak_bytes: counted.then(|| launches.iter().map(|row| peak(row)).max().unwrap_or(0)),
            held_at_most_bytes: counted.then(|| held_at_most(launches, peak)),
            size_bytes: size,
            free_first_bytes: free.first().copied(),
            free_least_bytes: least,
            free_last_bytes: free.last().copied(),
            free_limit_bytes: free_limit,
            low: least.zip(free_limit).is_some_and(|(least, limit)| least < limit),
        }
    };
    JobSpace::ALL.iter().enumerate().map(of).collect()
}

/// The file system that `path` is on, where its size is known: of those that were mounted above it the deepest.
pub(crate) fn file_system_of<'a>(host: &'a HostFacts, path: &Path) -> Option<&'a FileSystemFacts> {
    let above = host.file_systems.iter().filter(|one| path.starts_with(&one.mount_point));
    let deepest = above.max_by_key(|one| Path::new(&one.mount_point).components().count())?;
    Some(deepest).filter(|one| one.size_bytes > 0)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// All bytes of `launches` of `case`.
#[must_use]
pub fn moved(case: &Case, launches: &[&LaunchRow]) -> Moved {
    let sum = |of: &mut dyn Iterator<Item = [u64; 3]>| of.flatten().sum::<u64>();
    let (read, write) = (
        sum(&mut launches.iter().map(|row| read_bytes(row))),
        sum(&mut launches.iter().map(|row| write_bytes(row))),
    );
    let Some(jobs) = case.workload.work.jobs() else {
        return Moved { read_bytes: read, write_bytes: write, ..Moved::default() };
    };
    let kind = |&kind: &TestKind| {
        let tests: Vec<_> = jobs.tests.iter().filter(|test| test.kind == kind).collect();
        let input: u64 = tests.iter().map(|test| jobs.instance_bytes(test).0).sum();
        let own: Vec<_> = launches.iter().filter(|row| row.kind == kind.name()).collect();
        let scale = jobs.scale_billionths.max(1) as f64 / 1e9;
        (!tests.is_empty()).then(|| KindMoved {
            kind,
            tests: tests.len(),
            launches: own.len(),
            instance_input_bytes: input,
            full_scale_input_bytes: input as f64 / scale,
            read_bytes: sum(&mut own.iter().map(|row| read_bytes(row))),
            write_bytes: sum(&mut own.iter().map(|row| write_bytes(row))),
        })
    };
    Moved {
        read_bytes: read,
        write_bytes: write,
        input_bytes: jobs.read_bytes().0,
        kinds: TestKind::ALL.iter().filter_map(kind).collect(),
    }
}

/// What `steps` of each kind did, in the order in which kinds come first.
#[must_use]
pub fn actions<'a>(steps: impl Iterator<Item = &'a StepRow>) -> Vec<ActionUse> {
    let mut found: Vec<ActionUse> = Vec::new();
    for step in steps {
        let place = found.iter().position(|one| one.action == step.action).unwrap_or_else(|| {
            found.push(ActionUse {
                action: step.action.clone(),
                steps: 0,
                real_ns: 0,
                cpu_ns: 0,
                input_bytes: 0,
                read_bytes: 0,
                write_bytes: 0,
                copies: None,
                bytes_per_second: 0.0,
            });
            found.len() - 1
        });
        let one = &mut found[place];
        one.steps += 1;
        one.real_ns += step.end_ns.saturating_sub(step.start_ns);
        one.cpu_ns += step.user_cpu_ns + step.system_cpu_ns;
        one.input_bytes += step.rows_in * ROW_BYTES;
        one.read_bytes += step.permanent_read_bytes + step.work_read_bytes + step.utility_read_bytes;
        one.write_bytes += step.permanent_write_bytes + step.work_write_bytes + step.utility_write_bytes;
    }
    for one in &mut found {
        one.copies = share(one.write_bytes, one.input_bytes).filter(|&copies| copies > 0.0);
        let moved = (one.read_bytes + one.write_bytes) as f64;
        one.bytes_per_second = if one.real_ns > 0 { moved / one.real_ns as f64 * 1e9 } else { 0.0 };
    }
    found
}
