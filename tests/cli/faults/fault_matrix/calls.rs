//! One attempt with a command that takes only a few system calls: the fault strikes at one of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use record::{Run, RunState};
use serde_json::Value;
use testbed::{Finished, LoopDevice, Program, Strace, Trace};

use crate::desk::{Desk, names, run, tree};

use super::attempt::{PANIC, Problems, Tried};
use super::draw::Draw;
use super::fault::Fault;
use super::work::Work;

/// System calls at which a command may be interrupted.
const CALLS: &str =
    "openat,read,write,pwrite64,fsync,fdatasync,rename,renameat2,mkdir,unlink,unlinkat,ftruncate";
/// Codes with which such a command may end: success, and the documented reasons for failure (docs/EXIT_CODES.md).
const CODES: [i32; 8] = [0, 2, 3, 4, 5, 7, 8, 130];
/// Size of each device of a layout.
const DEVICE_BYTES: u64 = 32 << 20;

/// A command, what it works on, and how its result is checked.
pub(super) struct Command {
    desk: Desk,
    work: Work,
    devices: Vec<LoopDevice>,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Command {
    /// `sources` are two records for a merge.
    pub(super) fn new(work: Work, sources: &[PathBuf]) -> Result<Self, String> {
        let desk = Desk::new();
        let mut devices = Vec::new();
        match work {
            Work::Import => {
                fs::write(desk.path("source"), crate::tools::import::fixture("ior-3.3.0.txt"))
                    .map_err(|e| e.to_string())?;
            }
            Work::Merge => {
                for (name, source) in ["first", "second"].iter().zip(sources) {
                    let copied = run(&Program::new("cp").arg("-r").arg(source).arg(desk.path(name)));
                    let _ = copied.expect_code(0);
                }
            }
            Work::Layout => {
                for _ in 0..2 {
                    let device = LoopDevice::builder().bytes(DEVICE_BYTES).build();
                    devices.push(device.map_err(|error| error.to_string())?);
                }
            }
            _ => crate::devices::tune::host(&desk.path("root")),
        }
        let before = contents(&desk);
        let command = Self { desk, work, devices, before };
        if work == Work::Restore {
            let _ = run(&command.tune()).expect_code(0);
        }
        Ok(command)
    }

    fn program(&self, out: &str) -> Program {
        match self.work {
            Work::Import => self.desk.ioproof("import source --out").arg(self.desk.path(out)),
            Work::Merge => self.desk.ioproof("merge").arg(self.desk.path(out)).args(["first", "second"]),
            Work::Layout => {
                let program = self.layout("create per-device --file-system ext4 --yes");
                let program = program.arg("--mount").arg(self.desk.path("mnt"));
                self.devices
                    .iter()
                    .fold(program, |program, device| program.arg("--device").arg(device.device()))
            }
            Work::Restore => self.restore(),
            _ => self.tune(),
        }
    }

    fn tune(&self) -> Program {
        self.desk.ioproof("host tune irq-affinity thp-never swappiness --root root --yes")
    }

    fn restore(&self) -> Program {
        self.desk.ioproof("host restore --root root --yes")
    }

    fn layout(&self, words: &str) -> Program {
        let state = self.desk.path("state");
        self.desk.ioproof("layout").args(words.split_whitespace()).arg("--state").arg(state)
    }

    /// The system calls of the command without a fault, from its first write on, and its figures.
    pub(super) fn reference(work: Work, sources: &[PathBuf]) -> Result<Reference, String> {
        let command = Self::new(work, sources)?;
        let trace = Strace::new().calls(CALLS).run(&command.program("record"));
        let trace = trace.map_err(|error| error.to_string())?;
        if trace.finished.code != Some(0) {
            return Err(format!("{} without a fault: {:?}", work.name(), trace.finished));
        }
        let figures = if command.makes_a_record() { command.figures("record")? } else { Value::Null };
        command.undo();
        Ok(Reference { calls: calls(&trace, command.desk.path("").as_path()), figures })
    }

    const fn makes_a_record(&self) -> bool {
        matches!(self.work, Work::Import | Work::Merge)
    }

    fn figures(&self, record: &str) -> Result<Value, String> {
        let shown = run(&self.desk.ioproof("report --format json").arg(self.desk.path(record)));
        let report: Value = serde_json::from_str(&shown.stdout).map_err(|_| format!("{shown:?}"))?;
        Ok(report["figures"].clone())
    }

    /// Undoes what a layout or a tuning has done.
    fn undo(&self) -> Option<Finished> {
        match self.work {
            Work::Layout => {
                let _ = run(&self.layout("destroy per-device --yes"));
                Some(run(&self.layout("clean --yes")))
            }
            Work::Tuning | Work::Restore => Some(run(&self.restore())),
            _ => None,
        }
    }

    /// The user either runs `ioproof clean`, if it `cleans`, or repeats the command at once.
    fn judge(&self, finished: &Finished, reference: &Reference, cleans: bool) -> Problems {
        let mut problems = Problems::default();
        if finished.stderr.contains(PANIC) {
            problems.wrong.push("it panicked".to_owned());
        }
        match finished.code {
            Some(code) if !CODES.contains(&code) => {
                problems.wrong.push(format!("code {code}, not one of {CODES:?}"));
            }
            _ => {}
        }
        // A second Ctrl-C ends the program at once, without a message.
        if finished.code.is_some_and(|code| ![0, 130].contains(&code)) && finished.stderr.trim().is_empty() {
            problems.wrong.push("no message".to_owned());
        }
        if self.makes_a_record() {
            self.judge_record(finished, reference, cleans, &mut problems);
        } else {
            self.judge_undone(&mut problems);
        }
        if problems != Problems::default() {
            problems.wrong.push(format!("it had said: {finished:?}"));
        }
        problems
    }

    fn judge_record(
        &self,
        finished: &Finished,
        reference: &Reference,
        cleans: bool,
        problems: &mut Problems,
    ) {
        let beside = || {
            let mut now = contents(&self.desk);
            now.retain(|path, _| !path.starts_with("record"));
            let names = || format!("beside the record: {:?}", names(&self.desk.path("")));
            (now != self.before).then(names)
        };
        if cleans {
            let cleaned = run(&self.desk.ioproof("clean --yes ."));
            if cleaned.code != Some(0) {
                problems.left.push(format!("{cleaned:?}"));
            }
            problems.left.extend(beside());
        }
        let record = "record";
        // The fault may have struck when everything was done.
        let is_whole = Run::open(&self.desk.record()).is_ok_and(|run| run.state == RunState::Complete);
        // A command that has said that its record is not as it should be is repeated.
        let is_refused = finished.code.is_some_and(|code| code != 0) && is_whole;
        if is_refused {
            let _ = fs::remove_dir_all(self.desk.record());
        }
        if finished.code != Some(0) && (!is_whole || is_refused) {
            if self.desk.record().exists() {
                let shown = run(&self.desk.ioproof("report --format text record"));
                if !matches!(shown.code, Some(0 | 7)) {
                    problems.wrong.push(format!("report of what was written: {shown:?}"));
                }
            }
            let again = run(&self.program(record));
            if again.code != Some(0) {
                problems.lost.push(format!("it cannot be repeated: {again:?}"));
            }
        }
        if self.figures(record).as_ref() != Ok(&reference.figures) {
            problems.lost.push("the figures are others".to_owned());
        }
        if finished.code == Some(0) || !is_whole {
            problems.left.extend(beside());
        }
    }

    fn judge_undone(&self, problems: &mut Problems) {
        if let Some(undone) = self.undo()
            && undone.code != Some(0)
        {
            problems.left.push(format!("it cannot be undone: {undone:?}"));
        }
        if matches!(self.work, Work::Tuning | Work::Restore) {
            let mut now = contents(&self.desk);
            now.retain(|path, _| !path.starts_with("root/var"));
            let differs: Vec<&PathBuf> = now
                .iter()
                .filter(|(path, bytes)| {
                    self.before.get(*path).map(|before| chosen(before)) != Some(chosen(bytes))
                })
                .map(|one| one.0)
                .collect();
            if !differs.is_empty() || now.len() != self.before.len() {
                let text = |path: &PathBuf| String::from_utf8_lossy(&now[path]).into_owned();
                let differs: Vec<(&PathBuf, String)> =
                    differs.into_iter().map(|path| (path, text(path))).collect();
                problems.left.push(format!("settings: {differs:?}"));
            }
            return;
        }
        let listed = run(&self.layout("list"));
        if !listed.stdout.contains("there is no layout") || self.desk.path("mnt").exists() {
            problems.left.push(format!("{listed:?}"));
        }
        let _ = run(&Program::new("sync")).expect_code(0);
        for device in &self.devices {
            if fs::read(device.device()).is_ok_and(|bytes| bytes.iter().any(|&byte| byte != 0)) {
                problems.left.push(format!("{} is not blank", device.device().display()));
            }
        }
    }
}

/// The value of a setting. The kernel may show the selected value in brackets among the alternatives.
fn chosen(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    bracketed.unwrap_or(&text).trim().to_owned()
}

/// All files on a desk, with their contents.
fn contents(desk: &Desk) -> BTreeMap<PathBuf, Vec<u8>> {
    let place = desk.path("");
    let files =
        tree(&place).into_keys().filter(|path| path.is_file() && !path.starts_with(place.join("mnt")));
    let relative =
        |path: PathBuf| Some((path.strip_prefix(&place).ok()?.to_path_buf(), fs::read(&path).ok()?));
    files.filter_map(relative).collect()
}

/// What a command does without a fault.
pub(super) struct Reference {
    /// The call's name, and its number among the calls with this name in its thread.
    calls: Vec<(String, usize)>,
    figures: Value,
}

/// The calls of the first thread, starting with the first call that writes or creates something of the command's.
fn calls(trace: &Trace, place: &Path) -> Vec<(String, usize)> {
    let first = trace.calls.first().map(|call| call.thread);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let mut began = false;
    for call in trace.calls.iter().filter(|call| Some(call.thread) == first) {
        let count = counts.entry(&call.name).or_default();
        *count += 1;
        let path = call.path.as_ref().is_some_and(|path| path.starts_with(place));
        began |= path && (call.name != "read" && (call.name != "openat" || call.has("O_CREAT")));
        if began {
            found.push((call.name.clone(), *count));
        }
    }
    found
}

/// One attempt. An error means that the test itself failed.
pub(super) fn attempt(
    work: Work,
    fault: Fault,
    sources: &[PathBuf],
    reference: &Reference,
    draw: &mut Draw,
) -> Result<Tried, String> {
    let (wanted, effect): (&[&str], &str) = match fault {
        Fault::Killed => (&[], "signal=KILL"),
        Fault::Terminated => (&[], "signal=TERM"),
        Fault::InterruptedTwice => (&[], "signal=INT"),
        Fault::OpenFails => (&["openat"], "error=EIO"),
        Fault::ReadFails => (&["read"], "error=EIO"),
        Fault::WriteFails => (&["write", "pwrite64"], "error=EIO"),
        Fault::SyncFails => (&["fsync", "fdatasync"], "error=EIO"),
        Fault::NoSpace => (&["write", "pwrite64", "mkdir"], "error=ENOSPC"),
        _ => (&["read", "write", "openat"], "error=EINTR"),
    };
    let possible: Vec<&(String, usize)> = reference
        .calls
        .iter()
        .filter(|(name, _)| wanted.is_empty() || wanted.contains(&name.as_str()))
        .collect();
    let index = usize::try_from(draw.below(possible.len() as u64)).map_err(|error| error.to_string())?;
    let (name, count) = possible.get(index).ok_or_else(|| format!("{} makes no such call", work.name()))?;
    let when = match fault {
        Fault::InterruptedTwice => format!("{count}..{}", count + 1),
        _ => count.to_string(),
    };
    let command = Command::new(work, sources)?;
    let traced = Strace::new().calls(CALLS).inject(name, &format!("{effect}:when={when}"));
    let trace = traced.run(&command.program("record")).map_err(|error| error.to_string())?;
    let is_signal = matches!(fault, Fault::Killed | Fault::Terminated | Fault::InterruptedTwice);
    let was_struck = match is_signal {
        true => trace.finished.code != Some(0),
        false => trace.calls.iter().any(|call| call.injected),
    };
    if !was_struck {
        command.undo();
        return Ok(None);
    }
    let mut problems = command.judge(&trace.finished, reference, draw.below(2) == 0);
    if problems != Problems::default() {
        problems.wrong.push(format!("at {name} number {count}"));
    }
    Ok(Some(problems))
}
