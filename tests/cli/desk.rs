//! A place to call the program from, and ways to look at what it left.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use testbed::{Finished, HighPriority, Program, Running, Scratch};

/// No run of these tests takes longer, unless it hangs.
const LIMIT: Duration = Duration::from_secs(90);
/// How long a test waits for something that a running program is about to do.
const PATIENCE: Duration = Duration::from_secs(30);
/// The factor of the last attempt of [`measured`].
pub(crate) const LONGEST: u32 = 4;

/// A directory in which the program is called. Runs go to `record` in it.
pub(crate) struct Desk {
    scratch: Scratch,
}

impl Desk {
    /// An empty desk on a disk.
    pub(crate) fn new() -> Self {
        Self { scratch: Scratch::on_disk().expect("a directory") }
    }

    /// A desk with a directory that holds a file of the user.
    pub(crate) fn with_data() -> (Self, PathBuf) {
        let desk = Self::new();
        let data = desk.path("data");
        fs::create_dir(&data).expect("a directory");
        fs::write(data.join("mine"), "stays").expect("a file");
        (desk, data)
    }

    /// A path on the desk.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Where records go.
    pub(crate) fn record(&self) -> PathBuf {
        self.path("record")
    }

    /// The program, called from the desk.
    pub(crate) fn program(&self) -> Program {
        Program::new(env!("CARGO_BIN_EXE_ioproof")).current_dir(self.scratch.path()).limit(LIMIT)
    }

    /// The program with arguments that are parted by spaces.
    pub(crate) fn ioproof(&self, words: &str) -> Program {
        self.program().args(words.split_whitespace())
    }

    /// `ioproof ior` with IOR's options, recorded on the desk.
    pub(crate) fn ior(&self, words: &str) -> Program {
        self.tool("ior", words)
    }

    /// `ioproof` under the name of a tool with that tool's options, recorded on the desk.
    pub(crate) fn tool(&self, name: &str, words: &str) -> Program {
        self.ioproof(name).args(words.split_whitespace()).arg("--out").arg(self.record())
    }

    /// `ioproof run` with a study of this text, recorded on the desk.
    pub(crate) fn study(&self, text: &str) -> Program {
        let path = self.path("study.toml");
        fs::write(&path, text).expect("the study is written");
        self.ioproof("run").arg(path).arg("--yes").arg("--out").arg(self.record())
    }

    /// The program through a shell that first lowers limits, as `ulimit -n 20`.
    pub(crate) fn after(&self, shell: &str, program: &str) -> Program {
        let script = format!("{shell}\nexec {} {program}", env!("CARGO_BIN_EXE_ioproof"));
        Program::new("sh").args(["-c", &script]).current_dir(self.scratch.path()).limit(LIMIT)
    }

    /// The record as `ioproof report --format json` tells it.
    pub(crate) fn report(&self) -> Report {
        let program = self.ioproof("report --format json").arg(self.record());
        Report(serde_json::from_str(&run(&program).expect_code(0).stdout).expect("valid JSON"))
    }

    /// All tables of the record.
    pub(crate) fn tables(&self) -> String {
        let program = self.ioproof("report --full --format text").arg(self.record());
        run(&program).expect_code(0).stdout
    }
}

/// Whether fio is installed here.
pub(crate) fn fio() -> Result<(), String> {
    Program::new("fio").arg("--version").run().map(|_| ()).map_err(|_| "needs the program fio".to_owned())
}

static PROCESSORS: RwLock<()> = RwLock::new(());

/// Held by a test that measures.
pub(crate) struct Timed {
    _beside_each_other: RwLockReadGuard<'static, ()>,
    _priority: HighPriority,
}

/// What the test starts goes before everything else on the host. Several of these tests run at a time: they wait for
/// their devices, and hardly use a processor.
pub(crate) fn timed() -> Timed {
    Timed {
        _beside_each_other: PROCESSORS.read().unwrap_or_else(PoisonError::into_inner),
        _priority: HighPriority::raise(),
    }
}

/// Measures what is known, again and longer where a busy machine kept it from being found. `measure` gets
/// the factor for its latencies and lengths, so that what the machine adds weighs less each time. The last
/// attempt, with [`LONGEST`], counts.
pub(crate) fn measured(measure: impl Fn(u32)) {
    let _timed = timed();
    let found = |times| panic::catch_unwind(AssertUnwindSafe(|| measure(times))).is_ok();
    if ![1, 2].into_iter().any(found) {
        measure(LONGEST);
    }
}

/// Held by a test that keeps processors busy on purpose.
pub(crate) struct Alone {
    _lock: RwLockWriteGuard<'static, ()>,
    _priority: HighPriority,
}

/// As [`timed`], and no other test measures meanwhile.
pub(crate) fn alone() -> Alone {
    Alone {
        _lock: PROCESSORS.write().unwrap_or_else(PoisonError::into_inner),
        _priority: HighPriority::raise(),
    }
}

/// Emptying the page cache empties that of the whole host.
static PAGE_CACHE: RwLock<()> = RwLock::new(());

/// Held by a test that finds in the page cache what it has written or read.
pub(crate) fn cached() -> RwLockReadGuard<'static, ()> {
    PAGE_CACHE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that empties the page cache.
pub(crate) fn emptied() -> RwLockWriteGuard<'static, ()> {
    PAGE_CACHE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program to its end.
pub(crate) fn run(program: &Program) -> Finished {
    program.run().expect("the program ends in time")
}

/// Runs a program at a terminal where this is typed, as `printf` takes it. All output is in `stdout`.
pub(crate) fn at_terminal(program: &Program, typed: &str) -> Finished {
    let line = format!("printf '{typed}' | script -qefc \"$0\" /dev/null");
    run(&Program::new("sh").args(["-c", &line, &program.shell_line()]))
}

/// The hash that a text of the program says to agree with.
pub(crate) fn hash_in(text: &str) -> String {
    let (_, after) = text.rsplit_once("--allow-commands ").unwrap_or_else(|| panic!("no hash: {text}"));
    after.split_whitespace().next().expect("a hash").to_owned()
}

/// The program with the hash of the commands that it would execute, as a user adds it who has read them: without it
/// the program refuses, and prints the hash.
pub(crate) fn allow_commands(program: &Program) -> Program {
    let hash = hash_in(&run(program).expect_code(3).stderr);
    program.clone().args(["--allow-commands", &hash])
}

/// The report of a run.
pub(crate) struct Report(pub(crate) Value);

impl Report {
    /// The figure of the first case with this phase.
    pub(crate) fn figure(&self, phase: &str) -> &Value {
        let figures = self.0["figures"].as_array().expect("a list");
        figures.iter().find(|figure| figure["phase"] == phase).unwrap_or_else(|| {
            panic!("no {phase} among the figures of {}", self.0["run"]);
        })
    }

    /// Bytes per second of a phase, by wall time.
    pub(crate) fn rate(&self, phase: &str) -> f64 {
        self.figure(phase)["bytes_per_second"]["median"].as_f64().expect("a number")
    }

    /// Transfers per second of a phase.
    pub(crate) fn transfers(&self, phase: &str) -> f64 {
        self.figure(phase)["transfers_per_second"]["median"].as_f64().expect("a number")
    }

    /// Device bytes ÷ application bytes of a phase.
    pub(crate) fn device_share(&self, phase: &str) -> f64 {
        self.figure(phase)["device_share"].as_f64().expect("the devices were observed")
    }

    /// Kinds of the warnings that concern a phase.
    pub(crate) fn warnings(&self, phase: &str) -> Vec<String> {
        let marks = self.figure(phase)["notes"].as_array().expect("a list");
        let notes = self.0["notes"].as_array().expect("a list").iter();
        let concerned = notes.filter(|note| marks.contains(&note["mark"])).map(|note| &note["kind"]);
        let doubts = self.figure(phase)["doubts"].as_array().expect("a list").iter();
        concerned.chain(doubts).map(|word| word.as_str().expect("a word").to_owned()).collect()
    }

    /// `complete`, `interrupted`, `failed`, `killed` or `still running`.
    pub(crate) fn state(&self) -> &str {
        self.0["run"]["state"].as_str().expect("a word")
    }
}

/// Everything below a directory: path, length and inode.
pub(crate) fn tree(directory: &Path) -> BTreeMap<PathBuf, (u64, u64)> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(here) = left.pop() {
        for entry in fs::read_dir(&here).expect("a directory").flatten() {
            let metadata = entry.metadata().expect("it is there");
            if metadata.is_dir() {
                left.push(entry.path());
            }
            found.insert(entry.path(), (metadata.len(), metadata.ino()));
        }
    }
    found
}

/// Names in a directory, in order.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

/// Waits until `ready`, while `running` goes on.
pub(crate) fn wait_for(running: &mut Running, what: &str, ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(!running.has_ended().expect("its state is known"), "it ended before {what}");
        assert!(start.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How often the journal on `desk` has an event.
pub(crate) fn events(desk: &Desk, event: &str) -> usize {
    let journal = fs::read_to_string(desk.record().join("journal.jsonl")).unwrap_or_default();
    journal.matches(&format!("\"event\":\"{event}\"")).count()
}

/// Fails unless `found` is within `share` of `expected`.
#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, expected: f64, share: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off <= share, "{what}: {found} is {:.1} % away from {expected}", off * 100.0);
}

/// Fails unless `text` has all of `words`.
#[track_caller]
pub(crate) fn assert_says(text: &str, words: &[&str]) {
    // Lines are wrapped where they get long.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(flat.contains(word), "nothing says {word:?} in\n{text}");
    }
}

/// A small file system in memory.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it at a place that is made for it.
    pub(crate) fn mount(place: PathBuf) -> Self {
        fs::create_dir(&place).expect("a directory");
        let mount = Program::new("mount").args(["-t", "tmpfs", "-o", "size=16m", "none"]).arg(&place);
        let _ = run(&mount).expect_code(0);
        Self(place)
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Program::new("umount").arg(&self.0).run();
    }
}
