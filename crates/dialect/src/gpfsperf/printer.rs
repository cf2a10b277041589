//! Prints the block of gpfsperf's output.

use record::{Manifest, PhaseRecord, Run};

use super::case::Test;
use super::settings::{Action, Release, Short};
use crate::ToolPrinter;

/// Prints the request when the run begins, and the rates when its phase has ended.
#[derive(Debug)]
pub(super) struct Printer {
    program: String,
    release: Release,
    test: Test,
}

/// The figures in the last line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    bytes: u64,
    operations: u64,
    seconds: f64,
    /// Total time that all threads spent in transfers.
    busy: f64,
    threads: usize,
}

impl Printer {
    pub(super) fn new(program: String, release: Release, test: Test) -> Self {
        Self { program, release, test }
    }

    fn line(&self, figures: &Figures) -> String {
        let kbyte = if self.release == Release::V3 { 1024.0 } else { 1000.0 };
        let rate = figures.bytes as f64 / kbyte / figures.seconds;
        let operations = figures.operations as f64 / figures.seconds;
        let latency = figures.busy * 1e3 / figures.operations.max(1) as f64;
        let utilization = figures.busy / figures.seconds / figures.threads.max(1) as f64;
        let between = match self.release {
            Release::V3 => format!("iops was {operations:.2}, "),
            Release::V4_2 if self.test.action != Action::Read => String::new(),
            Release::V4_2 | Release::V5 => {
                format!("Op Rate was {operations:.2} Ops/sec, Avg Latency was {latency:.3} milliseconds, ")
            }
        };
        let moved = match self.release {
            Release::V3 => String::new(),
            _ => format!(", bytesTransferred {}", figures.bytes),
        };
        format!(
            "    Data rate was {rate:.2} Kbytes/sec, {between}thread utilization {utilization:.3}{moved}\n"
        )
    }
}

impl ToolPrinter for Printer {
    fn header(&mut self, _manifest: &Manifest) -> String {
        let test = &self.test;
        let either = |set: bool, yes: &str, no: &str| format!("  {}\n", if set { yes } else { no });
        let mut out = format!(
            "{} {} {} {}\n  recSize {} nBytes {} fileSize {}\n  nProcesses {} nThreadsPerProcess {}\n",
            self.program,
            test.action.name(),
            test.pattern.name(),
            test.file.display(),
            Short(test.record),
            Short(test.bytes),
            Short(test.file_bytes),
            test.processes,
            test.threads,
        );
        out.push_str(&either(
            test.flushed,
            "file cache flushed before test",
            "file cache not flushed before test",
        ));
        if self.release == Release::V3 {
            out.push_str("  not using data shipping\n");
        }
        out.push_str(&either(test.direct, "using direct I/O", "not using direct I/O"));
        out.push_str(
            "  offsets accessed will cycle through the same file segment\n  not using shared memory buffer\n  \
             not releasing byte-range token after open\n",
        );
        if test.action != Action::Read {
            out.push_str(&either(test.fsync, "fsync at end of test", "no fsync at end of test"));
        }
        out
    }

    fn phase(&mut self, record: &PhaseRecord) -> String {
        let (row, tasks) = (&record.phase, &record.tasks);
        if !row.key.phase.is_result() {
            return String::new();
        }
        let start = tasks.iter().map(|task| task.io_start_ns).min().unwrap_or(0);
        let ended = |task: &record::TaskRow| if self.test.fsync { task.close_end_ns } else { task.io_end_ns };
        let end = tasks.iter().map(ended).max().unwrap_or(row.wall_ns);
        let busy: u64 = tasks.iter().map(|task| task.io_end_ns.saturating_sub(task.io_start_ns)).sum();
        self.line(&Figures {
            bytes: row.bytes(),
            operations: row.transfers(),
            // At least one nanosecond, so that no rate is infinite.
            seconds: end.saturating_sub(start).max(1) as f64 / 1e9,
            busy: busy as f64 / 1e9,
            threads: tasks.len(),
        })
    }

    fn finish(&mut self, _run: &Run) -> String {
        String::new()
    }
}
