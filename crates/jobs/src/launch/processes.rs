//! Processes of launches, as the matrix sees them.

use std::time::Duration;

use plan::Bytes;

use crate::{Counters, JobEvent, JobOrder, Usage};

/// Something that is launched: one process.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchTask {
    /// What the process is told; its number is [`JobOrder::launch`].
    pub order: JobOrder,
    /// The tasks that have completed before it begins, by number.
    pub after: Vec<u32>,
    /// A ceiling that the kernel keeps for its memory, where it can.
    pub memory_max: Option<Bytes>,
}

/// Processes are started, heard and ended through this. Times count from the phase's common start.
pub trait Processes {
    /// Nanoseconds since the start.
    fn now_ns(&self) -> u64;

    /// Starts the process of `task`.
    ///
    /// # Errors
    /// Why it cannot be started, in words.
    fn start(&mut self, task: &LaunchTask) -> Result<(), String>;

    /// Waits for news, but no longer than `most`.
    fn wait(&mut self, most: Duration) -> Vec<News>;

    /// What the running process of a launch has moved until now.
    fn counters(&self, launch: u32) -> Counters;

    /// Ends the process of a launch.
    fn end(&mut self, launch: u32, how: Ending);

    /// Bytes that the file system of each space has left; none where it does not tell.
    fn free_bytes(&self) -> [Option<u64>; 3];

    /// Processor time of whoever launches, nanoseconds.
    fn own_cpu_ns(&self) -> u64;
}

/// How a process is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It is asked to (`SIGTERM`).
    Asked,
    /// It is not asked (`SIGKILL`).
    Killed,
}

/// Something that a process has done.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// It has told something; times in it count from the phase's common start.
    Told {
        /// The launch.
        launch: u32,
        /// What.
        event: JobEvent,
    },
    /// It has told something that is no event: a fault of the program.
    Garbled {
        /// The launch.
        launch: u32,
        /// What it told.
        text: String,
    },
    /// It has ended.
    Ended {
        /// The launch.
        launch: u32,
        /// How.
        end: Box<ProcessEnd>,
    },
}

/// The end of a process, as the kernel tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessEnd {
    /// When the kernel told it, since the phase's common start.
    pub at_ns: u64,
    /// Its exit code; none where a signal has ended it.
    pub code: Option<i32>,
    /// The signal that has ended it.
    pub signal: Option<i32>,
    /// The kernel had no memory for its control group, and has killed in it.
    pub out_of_memory: bool,
    /// What it has used, as `wait4(2)` tells it.
    pub usage: Usage,
    /// CPU time of its control group, nanoseconds; none where it had none.
    pub group_cpu_ns: Option<u64>,
    /// What it has moved.
    pub counters: Counters,
    /// The end of what it has written on its standard error.
    pub last_words: String,
}
