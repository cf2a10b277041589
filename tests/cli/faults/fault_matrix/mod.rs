//! Each fault at a random moment in each kind of work. Finished results must not be lost, nothing may be left behind,
//! and the program must say what happened.
//!
//! Runs one attempt for each cell of the matrix, or `FAULT_TRIES` attempts in total, with the seed in `FAULT_SEED`.
//! If there are fewer attempts than cells, they are spread over the whole matrix, starting at a different cell for
//! each seed. `FAULT_ONLY` selects the cells whose name contains a word. `UPDATE_DOCS=1` writes the table to
//! `docs/RELIABILITY.md`.

mod attempt;
mod calls;
mod clock;
mod damage;
mod draw;
mod fault;
mod io500;
mod site;
mod table;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use testbed::{
    ControlGroup, FileSystem, Launch, Limited, LoopDevice, ProgrammedFs, Strace, Testbed, skipped,
};

use crate::desk::{Desk, run};

use attempt::{Problems, Tried};
use draw::Draw;
use fault::{Fault, Storage};
use table::{Table, Tally};
use work::Work;

/// How many random moments are tried until the fault strikes while the work runs.
const DRAWS_MAX: u64 = 20;

/// Why this fault cannot be tested with this work; `None` if it can.
fn reason_against(work: Work, fault: Fault) -> Option<&'static str> {
    use Fault as F;
    match (work, fault) {
        (Work::Record, F::FileCut | F::BitFlipped | F::FileMissing) => None,
        (Work::Record, _) => Some("nothing is running"),
        (_, F::FileCut | F::BitFlipped | F::FileMissing) => {
            Some("a finished record is the same for every kind of work")
        }
        (
            Work::Ranks,
            F::Terminated
            | F::InterruptedTwice
            | F::LostRank
            | F::LostLauncher
            | F::ReadFails
            | F::WriteFails,
        ) => None,
        (Work::Io500, F::Killed | F::Terminated | F::InterruptedTwice) => None,
        (Work::Io500, _) => Some("its phases are runs, to which the other columns apply"),
        (Work::Ranks, _) => Some("a rank handles it like a process without ranks"),
        (_, F::LostRank | F::LostLauncher) => Some("it has no ranks"),
        (
            Work::Rpc,
            F::Killed
            | F::Terminated
            | F::InterruptedTwice
            | F::Stopped
            | F::BusError
            | F::OutOfMemory
            | F::Descriptors
            | F::Threads
            | F::ClockSet
            | F::RecordFull,
        ) => None,
        (Work::Rpc, _) => Some("it has no files"),
        (
            Work::Import | Work::Merge | Work::Layout | Work::Tuning | Work::Restore,
            F::Killed
            | F::Terminated
            | F::InterruptedTwice
            | F::OpenFails
            | F::WriteFails
            | F::NoSpace
            | F::InterruptedCalls,
        ) => None,
        (Work::Import | Work::Merge | Work::Layout | Work::Tuning | Work::Restore, F::SyncFails) => None,
        (Work::Import | Work::Merge | Work::Layout | Work::Tuning | Work::Restore, _) => {
            Some("it makes only a few hundred system calls, each of which is made to fail")
        }
        (Work::Mmap, F::ShortTransfers | F::InterruptedCalls) => {
            Some("transfers through a mapping make no system calls")
        }
        (Work::Objects, F::SyncFails) => Some("it does not sync"),
        _ => None,
    }
}

/// What the host lacks to test a cell.
fn lacking(work: Work, fault: Fault) -> Result<(), String> {
    if work == Work::Ranks {
        Launch::open_mpi_available()?;
    }
    if work == Work::Layout {
        Testbed::available()?;
    }
    if fault == Fault::ClockSet {
        clock::library()?;
    }
    if !work.is_run() && !matches!(work, Work::Record | Work::Io500) {
        return Strace::available();
    }
    match (fault.storage(), fault) {
        (Storage::Fuse, _) => ProgrammedFs::available(),
        (_, Fault::ShutDown) => Testbed::available().and_then(|()| can_be_shut_down()),
        (Storage::Ext4, _) | (_, Fault::RecordFull) => Testbed::available(),
        (_, Fault::OutOfMemory) => ControlGroup::new(Limited::Memory, "looks")?.set(1 << 30),
        (_, Fault::Threads) => ControlGroup::new(Limited::Threads, "looks")?.set(1000),
        _ => Ok(()),
    }
}

/// Whether the kernel supports shutting ext4 down.
fn can_be_shut_down() -> Result<(), String> {
    let builder =
        LoopDevice::builder().bytes(FileSystem::Ext4.smallest_bytes()).file_system(FileSystem::Ext4);
    let device = builder.build().map_err(|error| error.to_string())?;
    device.shut_down().map_err(|error| format!("needs ext4 that can be shut down: {error}"))
}

/// What is needed to judge the attempts with a kind of work.
enum Reference {
    Run(attempt::Reference),
    Command(calls::Reference),
    Io500,
    Record,
}

/// Two finished records, used by the merge and by the damage attempts.
struct Records {
    _desks: [Desk; 2],
    paths: Vec<PathBuf>,
}

impl Records {
    fn new() -> Self {
        let made = || {
            let (desk, data) = Desk::with_data();
            let _ = run(&desk.study(&Work::Tree.study(&data))).expect_code(0);
            desk
        };
        let desks = [made(), made()];
        let paths = desks.iter().map(Desk::record).collect();
        Self { _desks: desks, paths }
    }
}

fn reference(work: Work, records: &Records) -> Result<Reference, String> {
    match work {
        Work::Record => Ok(Reference::Record),
        Work::Io500 => Ok(Reference::Io500),
        _ if work.is_run() => attempt::Reference::of(work).map(Reference::Run),
        _ => calls::Command::reference(work, &records.paths).map(Reference::Command),
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

#[test]
fn every_fault_in_every_kind_of_work_loses_and_leaves_nothing() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let seed = number("FAULT_SEED").unwrap_or_else(|| u64::from(now.subsec_nanos()));
    let only = env::var("FAULT_ONLY").unwrap_or_default();
    let mut cells = Vec::new();
    let mut reasons = BTreeMap::new();
    for work in Work::ALL {
        for fault in Fault::ALL {
            match reason_against(work, fault) {
                Some(reason) => _ = reasons.insert((work, fault), reason),
                None => cells.push((work, fault)),
            }
        }
    }
    cells.retain(|(work, fault)| format!("{}: {}", work.name(), fault.name()).contains(&only));
    assert!(!cells.is_empty(), "FAULT_ONLY={only}: no cell has this in its name");
    let mut lacks = BTreeMap::new();
    cells.retain(|&(work, fault)| {
        lacking(work, fault).map_err(|why| lacks.insert((work, fault), why)).is_ok()
    });
    for reason in lacks.values().collect::<BTreeSet<_>>() {
        skipped(Err(reason.clone()));
    }
    if cells.is_empty() {
        return;
    }
    let tries = number("FAULT_TRIES").map_or(cells.len(), |tries| usize::try_from(tries).expect("a number"));
    let records = Records::new();
    let works: BTreeSet<Work> = cells.iter().map(|cell| cell.0).collect();
    let references: BTreeMap<Work, Reference> = works
        .into_iter()
        .map(|work| (work, reference(work, &records).unwrap_or_else(|error| panic!("{error}"))))
        .collect();
    let tallies: Mutex<BTreeMap<(Work, Fault), Tally>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let first = usize::try_from(seed).unwrap_or(0) % cells.len();
    let place = |index: usize| match tries < cells.len() {
        true => (first + index * cells.len() / tries) % cells.len(),
        false => index % cells.len(),
    };
    let workers = 2 * thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= tries {
                        return;
                    }
                    let (work, fault) = cells[place(index)];
                    let number = (index / cells.len()) as u64;
                    let tried = struck(work, fault, &references[&work], &records, seed, number);
                    let mut tallies = tallies.lock().unwrap_or_else(PoisonError::into_inner);
                    tallies.entry((work, fault)).or_default().add(tried);
                }
            });
        }
    });
    let tallies = tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
    let table = Table { tallies, reasons, lacks, seed };
    table.update_docs();
    let bad = table.problems();
    assert!(bad.is_empty(), "{} problems with FAULT_SEED={seed}:\n{}", bad.len(), bad.join("\n"));
}

/// Tries random moments until the fault strikes.
fn struck(
    work: Work,
    fault: Fault,
    reference: &Reference,
    records: &Records,
    seed: u64,
    number: u64,
) -> Result<Problems, String> {
    // The moments of a cell do not depend on which other cells are tested.
    let cell = (work as u64) << 8 | fault as u64;
    for again in 0..DRAWS_MAX {
        let mut draw = Draw::of(seed, (cell << 32) + number * DRAWS_MAX + again);
        let name = format!("{cell}-{number}-{again}");
        let tried: Result<Tried, String> = match reference {
            Reference::Run(reference) => attempt::attempt(work, fault, reference, &name, &mut draw),
            Reference::Command(reference) => {
                calls::attempt(work, fault, &records.paths, reference, &mut draw)
            }
            Reference::Io500 => io500::attempt(fault, &mut draw, again),
            Reference::Record => damage::attempt(fault, &records.paths[0], &mut draw),
        };
        if let Some(problems) = tried? {
            return Ok(problems);
        }
    }
    Err(format!("it never struck while the work ran, in {DRAWS_MAX} draws"))
}
