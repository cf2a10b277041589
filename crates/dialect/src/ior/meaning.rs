//! What each option means for the test that it belongs to, with resolved values, for `--explain`.

use plan::Bytes;

use super::options::{Key, OPTIONS};
use super::settings::{HeldMemory, Settings};
use crate::options::Given;

/// The meaning of `given` in `settings`.
pub(super) fn explain(given: &Given<Key>, settings: &Settings) -> String {
    let about = OPTIONS.about(given.key);
    if !given.values.is_empty() && given.flag() == Ok(false) && is_flag(given.key) {
        return format!("off: {about}");
    }
    files(given.key, settings)
        .or_else(|| transfers(given.key, settings))
        .or_else(|| reading(given.key, settings))
        .or_else(|| ending(given.key, settings))
        .unwrap_or_else(|| about.to_owned())
}

fn is_flag(key: Key) -> bool {
    OPTIONS.all().any(|spec| spec.key == key && spec.is_flag())
}

fn both_units(bytes: u64) -> String {
    format!("{bytes} bytes = {}", Bytes(bytes).both_units())
}

fn files(key: Key, settings: &Settings) -> Option<String> {
    let per_task = settings.file_per_proc;
    Some(match key {
        Key::TestFile => test_file(settings),
        Key::FilePerProc => {
            format!("one file for each of the {} tasks, with the task number in its name", settings.tasks)
        }
        Key::UniqueDir if !per_task => "no effect without -F, as in IOR".to_owned(),
        Key::StatusFile if settings.write => {
            "the number of transfers of each task is written to it, for a later read".to_owned()
        }
        Key::StatusFile => "each task stops after the number of transfers that is read from it".to_owned(),
        Key::Script => {
            "the tests of that script are run, with the rest of this line as their defaults".to_owned()
        }
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
            format!("{count} targets; task t uses target t mod {count}, with the task number appended")
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
            "{} blocks per task: {} in total",
            settings.segments,
            settings.aggregate().map_or_else(|| "too much".to_owned(), |bytes| Bytes(bytes).both_units())
        ),
        Key::Tasks => match settings.asked_tasks {
            Some(_) => format!("{} tasks{}", settings.tasks, on_processes(settings)),
            None => format!("all tasks of the launcher: {}{}", settings.tasks, on_processes(settings)),
        },
        Key::Api => api(settings),
        Key::RandomSeed => match settings.random_seed {
            Some(seed) => format!("seed of the random order of -z: {seed}"),
            None => "seed of the random order of -z: 0, so that every run has the same order".to_owned(),
        },
        Key::RandomOffset if settings.random_offset > 1 => {
            "random blocks of -b of the existing file, some of them more than once; sequential within a block"
                .to_owned()
        }
        Key::AioPending => format!("{} transfers in flight for each task", settings.aio_pending),
        Key::MemoryPerNode => match settings.memory_per_node {
            HeldMemory::None => "no memory is held".to_owned(),
            HeldMemory::Bytes(bytes) => {
                format!("{} of this node's memory are held during the run", Bytes(bytes))
            }
            HeldMemory::Percent(percent) => {
                format!("{percent} % of this node's memory are held during the run")
            }
        },
        Key::MemoryPerTask => format!("each task holds {} during the run", Bytes(settings.memory_per_task)),
        _ => return None,
    })
}

/// The processes of the launcher that run the tasks.
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
        "DUMMY" => "no I/O: measures the overhead of the harness".to_owned(),
        "AIO" => format!(
            "Linux asynchronous I/O (io_submit) with {} transfers in flight for each task",
            settings.aio_pending
        ),
        _ => "pread(2) and pwrite(2), one thread per task".to_owned(),
    }
}

fn reading(key: Key, settings: &Settings) -> Option<String> {
    Some(match key {
        Key::Reorder => shift(settings),
        Key::ReorderRandom => format!(
            "each task reads another task's data, in a random assignment in which all data is read once{}",
            match settings.shift_tasks() {
                0 | 1 => String::new(),
                tasks => format!(", at least {tasks} tasks away"),
            }
        ),
        Key::ReorderSeed => match settings.reorder_seed {
            _ if settings.reorder_random == 0 => "no effect without -Z".to_owned(),
            seed if seed < 0 => {
                format!("-Z uses a new random assignment in each repetition, starting from {seed}")
            }
            seed => format!("-Z uses the same random assignment in each repetition, from {seed}"),
        },
        Key::TaskOffset if settings.reorder => shift(settings),
        Key::TaskOffset if settings.reorder_random > 0 => {
            format!("-Z reads from at least {} tasks away, if possible", settings.shift_tasks())
        }
        Key::TaskOffset => "no effect without -C or -Z".to_owned(),
        _ => return None,
    })
}

fn shift(settings: &Settings) -> String {
    let tasks = settings.shift_tasks() % settings.tasks.max(1);
    let nodes = match settings.nodes {
        1 => String::new(),
        _ if settings.in_turn => {
            format!(" ({} × {} to the next node)", settings.task_offset, settings.tasks_to_next_node())
        }
        _ => format!(" ({} × {} tasks of a node)", settings.task_offset, settings.tasks_per_node()),
    };
    if tasks == 0 {
        return format!(
            "with {} tasks this shift{nodes} is a multiple of the number of tasks: each task reads its own \
             data",
            settings.tasks
        );
    }
    format!("task t reads what task t + {tasks} wrote{nodes}, modulo {} tasks", settings.tasks)
}

fn ending(key: Key, settings: &Settings) -> Option<String> {
    let seconds = |number: u64| if number == 1 { "1 second".to_owned() } else { format!("{number} seconds") };
    Some(match key {
        Key::Repetitions => format!("the test is run {} times", settings.repetitions),
        Key::Delay => format!("a pause of {} before each write and read phase", seconds(settings.delay)),
        Key::Deadline if settings.deadline == 0 => "no time limit: the phase ends by volume".to_owned(),
        Key::Deadline => {
            format!("each task stops {} after it begins to transfer", seconds(settings.deadline))
        }
        Key::WearOutIterations => settings.wear_out_iterations.map_or_else(
            || "no limit on the number of transfers".to_owned(),
            |limit| format!("each task ends after {limit} transfers"),
        ),
        Key::MinTime if settings.min_time == 0 => "no minimum time".to_owned(),
        Key::MinTime => {
            format!("each phase is repeated from its beginning for at least {}", seconds(settings.min_time))
        }
        Key::MaxMinutes if settings.max_minutes == 0 => "no limit on the time of all repetitions".to_owned(),
        Key::MaxMinutes => format!("no phase starts after {} min", settings.max_minutes),
        Key::Outlier if settings.outlier == 0 => "no warning about outliers".to_owned(),
        Key::Outlier => {
            format!("warns about a task that is more than {} from the mean", seconds(settings.outlier))
        }
        Key::Signature => {
            format!("signature of the data: {} (the same value gives the same bytes)", settings.signature)
        }
        Key::RefNum => format!("number that is printed in the summary: {}", settings.ref_num),
        Key::Verbose => format!("verbosity {}", settings.verbose),
        _ => return None,
    })
}
