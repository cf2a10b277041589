//! What each option means for the test that it belongs to, with resolved values.

use plan::Bytes;

use super::options::Key;
use super::settings::{Hog, Packet, Settings};

/// The meaning of `key` in `settings`, for `--explain`.
pub(super) fn of(key: Key, settings: &Settings) -> String {
    files(key, settings)
        .or_else(|| transfers(key, settings))
        .or_else(|| reading(key, settings))
        .or_else(|| ending(key, settings))
        .unwrap_or_else(|| other(key, settings))
}

/// `yes` where a flag is set, and what its absence means where a directive cleared it.
fn either(set: bool, yes: impl Into<String>, no: impl Into<String>) -> String {
    if set { yes.into() } else { no.into() }
}

fn both_units(bytes: u64) -> String {
    format!("{bytes} bytes = {}", Bytes(bytes).both_units())
}

fn files(key: Key, settings: &Settings) -> Option<String> {
    let per_task = settings.file_per_proc;
    Some(match key {
        Key::TestFile => test_file(settings),
        Key::FilePerProc => either(
            per_task,
            format!("a file for each of the {} tasks, named by the task's number", settings.tasks),
            "one file for all tasks",
        ),
        Key::UniqueDir if per_task => either(
            settings.unique_dir,
            "each task's file stands in a directory of its own, named by the task's number",
            "all files stand in one directory",
        ),
        Key::UniqueDir => "no effect without -F, as in IOR".to_owned(),
        Key::DualMount => either(
            settings.dual_mount,
            "tasks of even nodes use FILE0/data, those of odd nodes FILE1/data: two mounts of one file system",
            "one path for all tasks",
        ),
        Key::MultiFile => either(
            settings.multi_file,
            "each repetition has files of its own, with its number at the end of the name",
            "all repetitions use the same files",
        ),
        Key::Keep => either(settings.keep, "the files are kept", "the files are removed at the end"),
        Key::KeepWithError => either(
            settings.keep_with_error,
            "files in which a check found wrong data are kept",
            "files are removed also where a check found wrong data, unless -k keeps them",
        ),
        Key::UseExisting => either(
            settings.use_existing,
            "files that are there are written over in place",
            "files that are there are removed before the write",
        ),
        Key::Preallocate => either(
            settings.preallocate,
            "the space is allocated (posix_fallocate) before the write; IOR does it for MPI-IO alone",
            "space is allocated as it is written",
        ),
        _ => return None,
    })
}

fn test_file(settings: &Settings) -> String {
    let names: Vec<&str> = settings.test_file.split('@').collect();
    match (settings.file_per_proc, names.len()) {
        (true, 1) => format!(
            "files {0}.00000000 to {0}.{1:08}, one for each task",
            settings.test_file,
            settings.tasks.saturating_sub(1)
        ),
        (true, count) => {
            format!("{count} targets; task t uses number t mod {count}, with its own number behind")
        }
        (false, 1) => "the file that all tasks share".to_owned(),
        (false, count) => {
            format!("{} for all tasks; the other {} names have no effect without -F", names[0], count - 1)
        }
    }
}

fn transfers(key: Key, settings: &Settings) -> Option<String> {
    Some(match key {
        Key::Block => format!("contiguous bytes of each task in a segment: {}", both_units(settings.block)),
        Key::Transfer => format!("bytes of one I/O call: {}", both_units(settings.transfer)),
        Key::Segments => format!(
            "{} blocks for each task: {} in all",
            settings.segments,
            settings.aggregate().map_or_else(|| "too much".to_owned(), |bytes| Bytes(bytes).both_units())
        ),
        Key::Tasks => match settings.asked_tasks {
            Some(_) => format!("{} tasks{}", settings.tasks, on_processes(settings)),
            None => format!("all tasks of the launcher: {}{}", settings.tasks, on_processes(settings)),
        },
        Key::Api => api(settings),
        Key::Direct => either(
            settings.direct,
            "direct I/O (O_DIRECT): around the page cache",
            "buffered I/O: through the page cache",
        ),
        Key::Fsync => either(
            settings.fsync,
            "fsync(2) after a task's last write, inside the timed close",
            "no fsync(2): what is in memory counts as written",
        ),
        Key::FsyncPerWrite => either(
            settings.fsync_per_write,
            "fsync(2) after each write, inside that transfer's latency",
            "no fsync(2) after a write",
        ),
        Key::SingleAttempt => either(
            settings.single_attempt,
            "a transfer that is cut short is an error at once",
            "a transfer that is cut short is continued",
        ),
        Key::Barriers => either(
            settings.barriers,
            "all tasks wait for each other between open, transfers and close",
            "no barrier between open, transfers and close",
        ),
        Key::RandomOffset => either(
            settings.random_offset > 0,
            "transfers in random order over the whole file, each offset once; every task has an equal share",
            "transfers in rising offsets",
        ),
        Key::RandomSeed => match settings.random_seed {
            Some(seed) => format!("-z draws its order from {seed}"),
            None => "-z draws its order from 0, so that every run visits the same order".to_owned(),
        },
        Key::AioPending => format!("{} transfers under way for each task", settings.aio_pending),
        Key::AioGranularity => "each transfer is handed over as soon as there is room: no effect".to_owned(),
        _ => return None,
    })
}

/// Which processes of the launcher carry the tasks.
fn on_processes(settings: &Settings) -> String {
    let nodes = if settings.nodes == 1 { String::new() } else { format!(" on {} nodes", settings.nodes) };
    match settings.tasks_per_rank {
        0 => String::new(),
        1 => format!(", one on each of the first {} processes{nodes}", settings.tasks),
        each => format!(", {each} on each of the first {} processes{nodes}", settings.tasks.div_ceil(each)),
    }
}

fn api(settings: &Settings) -> String {
    match settings.api.to_ascii_uppercase().as_str() {
        "MMAP" => "copies to and from a shared mapping of the file".to_owned(),
        "DUMMY" => "no I/O at all: measures the harness".to_owned(),
        "AIO" => format!(
            "Linux asynchronous I/O (io_submit) with {} transfers under way for each task",
            settings.aio_pending
        ),
        _ => "pread(2) and pwrite(2), one thread for each task".to_owned(),
    }
}

fn reading(key: Key, settings: &Settings) -> Option<String> {
    Some(match key {
        Key::Write => either(settings.write, "a write phase", "no write phase"),
        Key::Read => either(settings.read, "a read phase", "no read phase"),
        Key::CheckWrite => either(
            settings.check_write,
            "after the write everything is read back and compared; not timed",
            "no check after the write",
        ),
        Key::CheckRead => either(
            settings.check_read,
            "a read phase, after which everything is read again and compared; the check is not timed",
            "no check after the read",
        ),
        Key::QuitOnError => either(
            settings.quit_on_error,
            "a check ends at the first wrong byte",
            "a check counts what is wrong and goes on",
        ),
        Key::Reorder => either(settings.reorder, shift(settings), "each task reads what it wrote itself"),
        Key::ReorderRandom => either(
            settings.reorder_random > 0,
            format!(
                "each task reads another one's data, in a random assignment in which all data is read once{}",
                match settings.places() {
                    0 | 1 => String::new(),
                    places => format!(", at least {places} places away"),
                }
            ),
            "each task reads what it wrote itself",
        ),
        Key::ReorderSeed => match settings.reorder_seed {
            _ if settings.reorder_random == 0 => "no effect without -Z".to_owned(),
            seed if seed < 0 => format!("-Z draws a new assignment in each repetition, starting from {seed}"),
            seed => format!("-Z draws the same assignment in each repetition, from {seed}"),
        },
        Key::TaskOffset if settings.reorder => shift(settings),
        Key::TaskOffset if settings.reorder_random > 0 => {
            format!("-Z reads from at least {} places away, where that can be had", settings.places())
        }
        Key::TaskOffset => "no effect without -C or -Z".to_owned(),
        _ => return None,
    })
}

fn shift(settings: &Settings) -> String {
    let places = settings.places() % settings.tasks.max(1);
    let nodes = match settings.nodes {
        1 => String::new(),
        _ if settings.in_turn => {
            format!(" ({} × {} to the next node)", settings.task_offset, settings.tasks_to_next_node())
        }
        _ => format!(" ({} × {} tasks of a node)", settings.task_offset, settings.tasks_per_node()),
    };
    if places == 0 {
        return format!(
            "with {} tasks this shift{nodes} comes round to 0: each task reads its own data",
            settings.tasks
        );
    }
    format!("task t reads what task t + {places} wrote{nodes}, modulo {} tasks", settings.tasks)
}

fn ending(key: Key, settings: &Settings) -> Option<String> {
    let seconds = |number: u64| if number == 1 { "1 second".to_owned() } else { format!("{number} seconds") };
    Some(match key {
        Key::Repetitions => format!("the test is run {} times", settings.repetitions),
        Key::Delay => format!("{} of rest before each write and read phase", seconds(settings.delay)),
        Key::Deadline => either(
            settings.deadline > 0,
            format!("each task stops {} after it began to transfer", seconds(settings.deadline)),
            "no time limit: the phase ends by volume",
        ),
        Key::WearOut => either(
            settings.wear_out,
            "after the deadline all tasks go on until each has done as many transfers as the fastest had",
            "what was left undone at the deadline stays undone",
        ),
        Key::WearOutIterations => settings.wear_out_iterations.map_or_else(
            || "no limit on the number of transfers".to_owned(),
            |limit| format!("each task ends after {limit} transfers"),
        ),
        Key::StatusFile if settings.write => {
            "the number of transfers that each task did is written there, for a later read".to_owned()
        }
        Key::StatusFile => "each task ends after the number of transfers that is read from there".to_owned(),
        Key::MinTime => either(
            settings.min_time > 0,
            format!(
                "each phase starts again from the beginning until {} are over",
                seconds(settings.min_time)
            ),
            "no least time",
        ),
        Key::MaxMinutes => either(
            settings.max_minutes > 0,
            format!("no phase starts after {} min", settings.max_minutes),
            "no limit on the time of all repetitions",
        ),
        Key::Outlier => either(
            settings.outlier > 0,
            format!("warns of a task that is more than {} from the mean", seconds(settings.outlier)),
            "no warning of outliers",
        ),
        _ => return None,
    })
}

fn other(key: Key, settings: &Settings) -> String {
    match key {
        Key::Signature => {
            format!("signature of the data: {} (the same value gives the same bytes)", settings.signature)
        }
        Key::Packet | Key::StoreOffset => format!(
            "{}; every transfer here is incompressible and stamped with its file, offset, signature and generation",
            match settings.packet {
                Packet::Generic => "IOR's usual data",
                Packet::Offset => "data with offsets",
                Packet::Incompressible => "incompressible data",
                Packet::Timestamp => "data with a signature",
                Packet::Random => "random data",
            }
        ),
        Key::MemoryPerNode => match settings.memory_per_node {
            Hog::None => "no memory is held".to_owned(),
            Hog::Bytes(bytes) => format!("{} of this node's memory are held during the run", Bytes(bytes)),
            Hog::Percent(percent) => format!("{percent} % of this node's memory are held during the run"),
        },
        Key::MemoryPerTask => format!("each task holds {} during the run", Bytes(settings.memory_per_task)),
        Key::RefNum => format!("the summary repeats the number {}", settings.ref_num),
        Key::Verbose => format!("verbosity {}", settings.verbose),
        Key::DryRun => either(settings.dry_run, "prints the plan; nothing is moved", "the test is run"),
        Key::WarningsAsErrors => {
            either(settings.warnings_as_errors, "a warning makes the run fail", "a warning is no error")
        }
        Key::RankCsv => "each task's times and rates go into that file".to_owned(),
        Key::ShowHints => "files have no hints outside MPI-IO: nothing to show".to_owned(),
        Key::SummaryAlways => "a summary is always printed, also of an interrupted run".to_owned(),
        Key::GpuId => "no effect without buffers on a GPU, as in IOR".to_owned(),
        Key::Help | Key::Version => "prints a text and ends; nothing is run".to_owned(),
        Key::Script => {
            "the tests of that script are run, with the rest of this line as their defaults".to_owned()
        }
        // Only a value that says no comes here: anything else was refused when it was read.
        _ => "not asked for".to_owned(),
    }
}
