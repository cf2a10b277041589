//! Log of every command with its output, next to the ledgers. It serves as a history of each device.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use record::CommandRun;
use serde::Serialize;

use super::ledger;
use crate::ledger::open;

/// Name of the log, which has one JSON object per line.
const LOG: &str = "commands.jsonl";
/// Name of the previous log, which is replaced when the log is full.
const FULL: &str = "commands.old.jsonl";
/// Size at which the log counts as full: about ten thousand commands.
const LOG_BYTES_MAX: u64 = 32 << 20;

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    /// Wall clock at the end of the command, nanoseconds since 1970-01-01 UTC.
    ended_unix_ns: u64,
    layout: &'a str,
    #[serde(flatten)]
    run: &'a CommandRun,
}

/// Wraps `tell` so that it also writes to the log. A failed write does not prevent an undo.
pub(super) fn logged<'a>(
    state: &'a Path,
    layout: &'a str,
    tell: &'a mut dyn FnMut(&CommandRun),
) -> impl FnMut(&CommandRun) + 'a {
    move |run| {
        let _ = write(state, layout, run);
        tell(run);
    }
}

fn write(state: &Path, layout: &str, run: &CommandRun) -> io::Result<()> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ended_unix_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
    let mut line = serde_json::to_vec(&Line { ended_unix_ns, layout, run })?;
    line.push(b'\n');
    let path = ledger::directory(state).join(LOG);
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX) {
        fs::rename(&path, path.with_file_name(FULL))?;
    }
    open(OpenOptions::new().append(true).create(true), &path)?.write_all(&line)
}
