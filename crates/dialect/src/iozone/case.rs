//! Converts settings to cases of the plan: one for each test and each pair of sizes or number of
//! processes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plan::{
    Backend, Bytes, Case, Existing, FileSet, Geometry, Keep, Nanos, Phase, Protocol, ReadFrom, Sharing,
    Spread, SyncRule, WorkloadSpec,
};
use serde::{Deserialize, Serialize};

use super::clients;
use super::options::wrong;
use super::settings::Settings;
use super::test::{Test, VECTORS_MAX};
use crate::launcher::Launcher;
use crate::{Extras, ToolError};

/// The place of a case of the plan in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Point {
    pub test: Test,
    pub size_kb: u64,
    pub record_kb: u64,
    /// Number of processes; 0 in single and automatic mode.
    pub processes: u32,
}

/// Stored with a plan so that its output can be printed from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Memo {
    pub settings: Settings,
    /// The point of each case, in the order of the plan.
    pub points: Vec<Point>,
}

/// The seed of random orders, so that the same command line gives the same offsets.
const SEED: u64 = 0x10_20_4e;

/// Every case of the command line with its point, in the order in which they run.
pub(super) fn all(
    settings: &Settings,
    extras: &Extras,
    launcher: Launcher<'_>,
    warnings: &mut Vec<String>,
    list: Option<&str>,
) -> Result<Vec<(Case, Point)>, ToolError> {
    let tests = settings.wanted();
    if tests.is_empty() {
        return Err(wrong(
            "-i",
            "no test remains to run: tests 8 to 10 are for throughput mode (-t), 9 to 12 need -E in the table"
                .to_owned(),
        ));
    }
    if settings.read_only && tests.iter().any(|test| test.phase() != Phase::Read) {
        return Err(wrong("-+E", "reads existing files; choose tests that only read, as in -i 1".to_owned()));
    }
    let processes = if settings.is_throughput() { settings.processes.clone() } else { vec![0] };
    for &count in &processes {
        warnings.extend(fit(settings, extras, launcher, count, list)?);
    }
    let mut cases = Vec::new();
    for size_kb in settings.sizes() {
        for record_kb in settings.records(size_kb) {
            for &processes in &processes {
                for &test in &tests {
                    let point = Point { test, size_kb, record_kb, processes };
                    cases.push((case(settings, extras, launcher, point)?, point));
                }
            }
        }
    }
    if cases.is_empty() {
        let reason = format!(
            "no record size of automatic mode fits these files: records have {} to {} kB, no more than the \
             file, and without -z at least 64 kB in a file of 32 MB or more; give record sizes with -r, or \
             other file sizes with -s",
            settings.record_least_kb, settings.record_most_kb
        );
        return Err(wrong(if settings.auto2 { "-A" } else { "-a" }, reason));
    }
    Ok(cases)
}

/// Checks whether `count` processes are possible.
fn fit(
    settings: &Settings,
    extras: &Extras,
    launcher: Launcher<'_>,
    count: u32,
    list: Option<&str>,
) -> Result<Vec<String>, ToolError> {
    let needed = count.max(1);
    if !settings.names.is_empty() && settings.is_throughput() && settings.names.len() < needed as usize {
        return Err(wrong(
            "-F",
            format!("names {} files for {needed} processes; name one for each", settings.names.len()),
        ));
    }
    if let Some(list) = list {
        if settings.clients.len() < needed as usize {
            return Err(wrong(
                list,
                format!(
                    "lists {} clients for {needed} processes; give a line for each process",
                    settings.clients.len()
                ),
            ));
        }
        return clients::check(&settings.clients, needed, launcher, list).and_then(|warnings| {
            too_many(extras, launcher, needed)?;
            Ok(warnings)
        });
    }
    too_many(extras, launcher, needed).map(|()| Vec::new())
}

fn too_many(extras: &Extras, launcher: Launcher<'_>, needed: u32) -> Result<(), ToolError> {
    let ranks = launcher.node_of.len();
    let there = ranks.saturating_mul(extras.tasks_per_rank as usize);
    if ranks == 0 || needed as usize <= there {
        return Ok(());
    }
    Err(wrong(
        &format!("-t {needed}"),
        format!(
            "the launcher has started {ranks} processes (tasks on each: {}): start {} processes, or add \
             --tasks-per-rank {}",
            extras.tasks_per_rank,
            (needed as usize).div_ceil(extras.tasks_per_rank as usize),
            (needed as usize).div_ceil(ranks),
        ),
    ))
}

fn case(
    settings: &Settings,
    extras: &Extras,
    launcher: Launcher<'_>,
    point: Point,
) -> Result<Case, ToolError> {
    let Point { test, size_kb, record_kb, processes } = point;
    let sizes = format!("{size_kb}k-{record_kb}k");
    let id = match processes {
        0 => format!("{sizes}-{}", test.slug()),
        processes => format!("{sizes}-{processes}p-{}", test.slug()),
    };
    let mut spec = WorkloadSpec::new(&id, "", geometry(settings, point)?);
    spec.files = files(settings, test, processes);
    spec.tasks = processes.max(1);
    spread(&mut spec, extras, launcher);
    spec.order = test.order(SEED, settings.stride, settings.sequential_mix);
    spec.backend = backend(settings, test, &spec.geometry, record_kb);
    spec.direct = settings.direct && !test.is_stream();
    // IOzone syncs after every test that writes, except if only the close is timed. Without -c and -e
    // neither is timed.
    let writes = test.phase().writes();
    spec.sync = SyncRule { at_close: settings.include_flush && writes, per_write: settings.sync_writes };
    spec.primed = match test {
        // The kernel moves pages to its active list after they have been used a few times, which must not
        // happen during the rewrite.
        Test::Rewrite => 3,
        // A second read finds in the caches what the first one has left there.
        Test::Reread | Test::Refread | Test::Repread | Test::Repreadv => 2,
        _ => 1,
    };
    spec.sync_after = writes && !settings.counts_close();
    // Streams and mappings write later than their calls, so their data is synced by a separate call.
    let at_once = spec.backend.capabilities().sync_open;
    spec.sync_open = settings.sync_writes && at_once;
    spec.data_sync = spec.sync_open && settings.data_sync;
    spec.read_from = ReadFrom::Same;
    spec.read_percent = if test == Test::Mixed { settings.read_percent } else { 100 };
    spec.barriers = processes > 0;
    spec.verify = (settings.verify || extras.verify) && test.phase() != Phase::Write;
    spec.advice = extras.advice;
    spec.history = settings.latencies.then(|| spec.geometry.transfers_per_task() * u64::from(spec.tasks));
    let workload = spec.validate().map_err(|error| wrong(written(error.field), error.to_string()))?;
    let title = match processes {
        0 => format!("IOzone {}: {size_kb} kB, records of {record_kb} kB", test.slug()),
        _ => format!("IOzone {}: {processes} × {size_kb} kB, records of {record_kb} kB", test.slug()),
    };
    Ok(Case {
        title,
        group: test.slug().to_owned(),
        delay: Nanos::secs(settings.delay_seconds),
        protocol: Protocol { drop_caches: settings.drop_caches, ..Protocol::default() },
        ..Case::new(id, workload, vec![test.phase()])
    })
}

fn geometry(settings: &Settings, point: Point) -> Result<Geometry, ToolError> {
    let Point { test, size_kb, record_kb, processes } = point;
    let shares = if settings.constant_size { u64::from(processes.max(1)) } else { 1 };
    let records = size_kb / shares / record_kb;
    if records == 0 {
        return Err(wrong(
            &format!("-r {record_kb}k"),
            format!("a record is larger than the file of {} kB; give a smaller record", size_kb / shares),
        ));
    }
    let each = if test.is_vectored() { vectors(records) } else { 1 };
    let transfer = Bytes::kib(record_kb * each);
    Ok(Geometry { transfer, block: Bytes(transfer.0 * (records / each)), segments: 1 })
}

/// Number of records in one vectored call: the largest number up to sixteen that divides evenly.
fn vectors(records: u64) -> u64 {
    (1..=VECTORS_MAX).rev().find(|each| records.is_multiple_of(*each)).unwrap_or(1)
}

fn backend(settings: &Settings, test: Test, geometry: &Geometry, record_kb: u64) -> Backend {
    if settings.mmap {
        return Backend::Mmap;
    }
    if settings.depth > 0 {
        return Backend::Uring { depth: settings.depth, required: true };
    }
    if test.is_vectored() {
        let pieces = geometry.transfer.0 / (record_kb << 10);
        return Backend::Vectored { pieces: u32::try_from(pieces).unwrap_or(1) };
    }
    test.backend()
}

fn files(settings: &Settings, test: Test, processes: u32) -> FileSet {
    let anew = test == Test::Write && !settings.overwrite;
    FileSet {
        targets: targets(settings, processes),
        sharing: if processes > 0 { Sharing::PerTask } else { Sharing::Shared },
        exact_names: processes > 0,
        unique_dir: false,
        file_per_repetition: false,
        existing: if anew { Existing::Replace } else { Existing::Reuse },
        keep: if settings.keep { Keep::Always } else { Keep::Never },
        preallocate: false,
        fill: false,
    }
}

/// `iozone.DUMMY.3` in the directory of the client, or the name from the command line.
fn targets(settings: &Settings, processes: u32) -> Vec<PathBuf> {
    if processes == 0 {
        return vec![settings.file.clone()];
    }
    if !settings.names.is_empty() {
        return settings.names.iter().take(processes as usize).cloned().collect();
    }
    let name = |number: u32| {
        let name = format!("iozone.DUMMY.{number}");
        match settings.clients.get(number as usize) {
            Some(client) => client.directory.join(name),
            None => PathBuf::from(name),
        }
    };
    (0..processes).map(name).collect()
}

fn spread(spec: &mut WorkloadSpec, extras: &Extras, launcher: Launcher<'_>) {
    if launcher.node_of.is_empty() {
        return;
    }
    let each = extras.tasks_per_rank;
    spec.spread = Spread::Ranks { tasks_per_rank: each };
    let ranks = (spec.tasks as usize).div_ceil(each as usize);
    let nodes: BTreeSet<u32> = launcher.node_of.iter().take(ranks).copied().collect();
    spec.nodes = u32::try_from(nodes.len()).unwrap_or(1).max(1);
}

/// The option that sets the invalid value.
fn written(field: &str) -> &'static str {
    match field {
        "transfer" | "direct" => "-r",
        "target" => "-F",
        "tasks" | "nodes" => "-t",
        "depth" => "-k",
        "stride" => "-j",
        "pieces" => "-I with -i 11 or -i 12",
        _ => "-s",
    }
}
