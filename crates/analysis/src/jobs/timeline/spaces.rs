//! Bytes per space, and compared with the input.

use plan::{Case, JobSpace, JobsPlacement, TestKind};
use record::{HostFacts, LaunchRow, SpaceRow, StepRow};

use super::concurrency::held_at_most;
use super::launch_timer::{Launches, read_bytes, whole, write_bytes};
use crate::gate::{
    Kind, Of, Statement,
    table::{Column, bytes, count, detail, flag, share, subject, word},
};

/// The activity in one space, and the free bytes of its file system.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceUse {
    pub(super) space: JobSpace,
    directory: String,
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
    /// The maximum that one launch held there at any time. `None` for permanent space, where it is not counted.
    peak_bytes: Option<u64>,
    /// Upper bound of what all launches held there together: the sum of the peaks of those that ran concurrently.
    pub(crate) held_at_most_bytes: Option<u64>,
    size_bytes: Option<u64>,
    /// Free bytes at the end of the first second, at the minimum, and at the end.
    free_bytes: Option<[u64; 3]>,
    /// A warning is given if fewer bytes than this are free. `None` if the size is not known.
    free_limit_bytes: Option<u64>,
}

impl SpaceUse {
    /// Bytes in both directions.
    pub(super) const fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }

    fn is_low(&self) -> bool {
        self.free_bytes.zip(self.free_limit_bytes).is_some_and(|([_, least, _], limit)| least < limit)
    }
}

impl Statement for (u32, SpaceUse) {
    const KIND: Kind = Kind::JobSpace;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Bytes of each space, the most that launches held there, and the free \
                                   space of its file system, sampled each second";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("pass", "pass", "Its number, from 0.", |one| Some(one.0.into()))),
        subject(word("space", "space", "`permanent`, `work` or `utility`.", |one| one.1.space.name())),
        bytes("read", "read", "Bytes that all launches read from it.", |one| Some(one.1.read_bytes)),
        bytes("written", "written", "Bytes that they wrote to it.", |one| Some(one.1.write_bytes)),
        share("read_share", "read share", "Read ÷ both.", |(_, one)| part_of(one.read_bytes, one.bytes())),
        bytes(
            "held_by_one",
            "held by one",
            "The most of one launch at a time; not counted in permanent space.",
            |one| one.1.peak_bytes,
        ),
        bytes(
            "held_by_all",
            "held by all",
            "Upper bound of the sum over launches that ran at the same time.",
            |one| one.1.held_at_most_bytes,
        ),
        detail(bytes("free_first", "free first", "Free after the first second.", |one| {
            Some(one.1.free_bytes?[0])
        })),
        bytes("free_least", "least free", "The least that was free.", |one| Some(one.1.free_bytes?[1])),
        detail(bytes("free_last", "free last", "Free at the end.", |one| Some(one.1.free_bytes?[2]))),
        bytes("limit", "limit", "A warning is issued below this.", |one| one.1.free_limit_bytes),
        bytes("size", "size", "Size of the file system that the space is on.", |one| one.1.size_bytes),
        detail(flag("low", "low", "Whether less than the limit was free.", |one| Some(one.1.is_low()))),
        detail(word("directory", "directory", "Its directory.", |one| &one.1.directory)),
    ];

    fn notes(all: &[&Self]) -> Vec<String> {
        let words = |(pass, one): &(u32, SpaceUse)| {
            let [least, limit, size] =
                [one.free_bytes.map(|free| free[1]), one.free_limit_bytes, one.size_bytes]
                    .map(|bytes| plan::Bytes(bytes.unwrap_or(0)));
            format!(
                "Pass {pass}: {} space ran low: the least that was free is {least}, the limit is {limit} of \
                 {size}. Flash writes slowly without spare space: make it larger or use less of it.",
                one.space
            )
        };
        all.iter().filter(|(_, one)| one.is_low()).map(|one| words(one)).collect()
    }
}

/// The input and the moved bytes of the tests of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct KindMoved {
    pub(super) kind: TestKind,
    tests: usize,
    launches: usize,
    /// Bytes that a single instance of each test works on according to the plan: the loaded tables that it reads,
    /// each counted once, and those that it generates.
    instance_input_bytes: u64,
    /// `None` if rounding to whole pages changes too much of it.
    pub(super) full_scale_input_bytes: Option<f64>,
    read_bytes: u64,
    write_bytes: u64,
}

impl Statement for KindMoved {
    const KIND: Kind = Kind::JobInput;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Input of a single instance of each test, and bytes moved by all launches";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("kind", "kind", "`computation`, `memory` or `io`.", |one| one.kind.name())),
        count("tests", "tests", "Its tests.", |one| Some(one.tests as u64)),
        count("launches", "launches", "Their launches.", |one| Some(one.launches as u64)),
        bytes(
            "instance_input",
            "input of one instance",
            "What one instance of each test works on, by the plan.",
            |one| Some(one.instance_input_bytes),
        ),
        bytes("full_scale_input", "at full scale", "Input of all tables at full scale.", |one| {
            one.full_scale_input_bytes.map(whole)
        }),
        bytes("read", "read by all", "Bytes that all launches read.", |one| Some(one.read_bytes)),
        bytes("written", "written by all", "Bytes that they wrote.", |one| Some(one.write_bytes)),
    ];

    fn notes(all: &[&Self]) -> Vec<String> {
        let rounded = all.iter().any(|one| one.full_scale_input_bytes.is_none());
        let note = "Input at full scale is not stated where one page for each test is a quarter of the input \
                    or more: rounding to whole pages would dominate it.";
        rounded.then(|| note.to_owned()).into_iter().collect()
    }
}

/// If rounding to whole pages, with one page per test, may be this share of the input or more, no full-scale input
/// is given.
const ROUNDED_MAX: f64 = 0.25;

fn part_of(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The use of each space of `case`, according to its launches and its seconds.
pub(super) fn spaces(
    host: &HostFacts,
    case: &Case,
    launches: &Launches,
    seconds: &[&SpaceRow],
) -> Vec<SpaceUse> {
    let rows: Vec<&LaunchRow> = launches.iter().map(|one| &one.row).collect();
    let placement = JobsPlacement::new(&case.workload);
    let limit = case.workload.work.jobs().map_or(0, |jobs| jobs.free_percent_min);
    let of = |(place, &space): (usize, &JobSpace)| {
        let sum = |bytes: fn(&StepRow) -> [u64; 3]| launches.iter().map(|one| bytes(&one.whole)[place]).sum();
        let peak: Option<fn(&LaunchRow) -> u64> = match space {
            JobSpace::Permanent => None,
            JobSpace::Work => Some(|row| row.work_peak_bytes),
            JobSpace::Utility => Some(|row| row.utility_peak_bytes),
        };
        let mut own: Vec<&&SpaceRow> = seconds.iter().filter(|row| row.space == space.name()).collect();
        own.sort_by_key(|row| row.start_ns);
        let free: Vec<u64> = own.iter().filter_map(|row| row.free_bytes).collect();
        let directory = placement.map(|placement| placement.target(space));
        let size =
            directory.and_then(|path| Some(host.file_system_of(path)?.size_bytes).filter(|&size| size > 0));
        SpaceUse {
            space,
            directory: directory.map(|path| path.display().to_string()).unwrap_or_default(),
            read_bytes: sum(read_bytes),
            write_bytes: sum(write_bytes),
            peak_bytes: peak.map(|peak| rows.iter().map(|row| peak(row)).max().unwrap_or(0)),
            held_at_most_bytes: peak.map(|peak| held_at_most(&rows, peak)),
            size_bytes: size,
            free_bytes: free.iter().min().map(|&least| [free[0], least, free[free.len() - 1]]),
            free_limit_bytes: size.map(|size| size / 100 * u64::from(limit)),
        }
    };
    JobSpace::ALL.iter().enumerate().map(of).collect()
}

/// The input of the tests of each kind of `case`, and the bytes that their `launches` moved.
pub(super) fn kinds(case: &Case, launches: &Launches) -> Vec<KindMoved> {
    let Some(jobs) = case.workload.work.jobs() else { return Vec::new() };
    let kind = |&kind: &TestKind| {
        let tests: Vec<_> = jobs.tests.iter().filter(|test| test.kind == kind).collect();
        let input: u64 = tests.iter().map(|test| jobs.instance_bytes(test).0).sum();
        let own: Vec<_> = launches.iter().filter(|one| one.row.kind == kind.name()).collect();
        let sum = |bytes: fn(&StepRow) -> [u64; 3]| own.iter().flat_map(|one| bytes(&one.whole)).sum();
        let rounded = (tests.len() as u64 * jobs.page_bytes.0) as f64;
        let is_known = rounded < input as f64 * ROUNDED_MAX;
        (!tests.is_empty()).then(|| KindMoved {
            kind,
            tests: tests.len(),
            launches: own.len(),
            instance_input_bytes: input,
            full_scale_input_bytes: is_known
                .then(|| input as f64 / (jobs.scale_billionths.max(1) as f64 / 1e9)),
            read_bytes: sum(read_bytes),
            write_bytes: sum(write_bytes),
        })
    };
    TestKind::ALL.iter().filter_map(kind).collect()
}
