//! The matrix's interface to the processes of launches.

use std::time::Duration;

use plan::{Bytes, TestKind};

use crate::{Counters, JobEvent, JobOrder, Usage};

/// A launch: one process.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchTask {
    /// The order for the process; the launch number is [`JobOrder::launch`].
    pub order: JobOrder,
    /// The tasks that must complete before it starts, by number.
    pub after: Vec<u32>,
    /// Memory limit enforced by the kernel, if possible.
    pub memory_max: Option<Bytes>,
    /// The resource that it stresses most, or `None` for a launch that creates a table. Among launches that may
    /// start, one of the kind with the fewest running launches comes first.
    pub kind: Option<TestKind>,
}

/// Starts, observes and ends processes. Times count from the phase's common start.
pub trait Processes {
    /// Nanoseconds since the start.
    fn now_ns(&self) -> u64;

    /// Starts the process of `task`.
    ///
    /// # Errors
    /// Returns the reason if it cannot be started.
    fn start(&mut self, task: &LaunchTask) -> Result<(), String>;

    /// Waits for news, for at most `most`.
    fn wait(&mut self, most: Duration) -> Vec<News>;

    /// Current counters of a launch's running process.
    fn counters(&self, launch: u32) -> Counters;

    /// Ends the process of a launch.
    fn end(&mut self, launch: u32, how: Ending);

    /// Free bytes in the file system of each space; `None` if unknown.
    fn free_bytes(&self) -> [Option<u64>; 3];

    /// CPU time of the launcher, nanoseconds.
    fn own_cpu_ns(&self) -> u64;
}

/// How a process is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It is asked to end with `SIGTERM`.
    Asked,
    /// It is killed with `SIGKILL`.
    Killed,
}

/// An event of a process.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// It has reported an event, whose times count from the phase's common start.
    Told {
        /// The launch.
        launch: u32,
        /// The event.
        event: JobEvent,
    },
    /// Its output was not an event: an internal error of the program.
    Garbled {
        /// The launch.
        launch: u32,
        /// The output.
        text: String,
    },
    /// It has ended.
    Ended {
        /// The launch.
        launch: u32,
        /// How it ended.
        end: Box<ProcessEnd>,
    },
}

/// The end of a process, as reported by the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessEnd {
    /// Time of the report, since the phase's common start.
    pub at_ns: u64,
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the OOM killer was active in its control group.
    pub out_of_memory: bool,
    /// Its resource usage, from `wait4(2)`.
    pub usage: Usage,
    /// CPU time of its control group, nanoseconds; `None` without one.
    pub group_cpu_ns: Option<u64>,
    /// Its counters.
    pub counters: Counters,
    /// The last part of its standard error.
    pub last_words: String,
}
