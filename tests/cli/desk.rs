//! A working directory in which tests call the program, and helpers that inspect what it left behind.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use testbed::{Finished, HighPriority, Program, Running, Scratch, attempts};

/// No run of these tests takes longer than this, unless it hangs.
const LIMIT: Duration = Duration::from_secs(90);
/// How long a test waits for something that a running program is about to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// A directory in which the program is called. Runs are recorded in `record` inside it.
pub(crate) struct Desk {
    scratch: Scratch,
}

impl Desk {
    /// An empty desk on a disk.
    pub(crate) fn new() -> Self {
        Self { scratch: Scratch::on_disk().expect("a directory") }
    }

    /// A desk with a directory that holds a file owned by the user.
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

    /// Where records are written.
    pub(crate) fn record(&self) -> PathBuf {
        self.path("record")
    }

    /// The program, called from the desk.
    pub(crate) fn program(&self) -> Program {
        // The user's own defaults are not those of the tests.
        Program::new(env!("CARGO_BIN_EXE_ioproof"))
            .current_dir(self.scratch.path())
            .limit(LIMIT)
            .env("IOPROOF_CONFIG", "")
    }

    /// The program as it starts for users, who have files of defaults.
    pub(crate) fn with_files_of_defaults(&self, words: &str) -> Program {
        let program = Program::new(env!("CARGO_BIN_EXE_ioproof")).current_dir(self.scratch.path());
        program.limit(LIMIT).args(words.split_whitespace())
    }

    /// The program with arguments separated by spaces.
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

    /// The program, started by a shell that first lowers limits, such as with `ulimit -n 20`.
    pub(crate) fn after(&self, shell: &str, program: &str) -> Program {
        let script = format!("{shell}\nexec {} {program}", env!("CARGO_BIN_EXE_ioproof"));
        Program::new("sh").args(["-c", &script]).current_dir(self.scratch.path()).limit(LIMIT)
    }

    /// The record as printed by `ioproof report --format json`.
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

/// Measures a known quantity in several [`attempts`], with priority over everything else on the host. Several of these
/// tests may run at a time, since they wait for their devices and use hardly any processor time.
#[track_caller]
pub(crate) fn measured(measure: impl Fn(u32)) {
    let _beside_others = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let _priority = HighPriority::raise();
    attempts(measure);
}

/// Like [`measured`], for a test that keeps processors busy itself: no other one measures at the same time.
#[track_caller]
pub(crate) fn measured_alone(measure: impl Fn(u32)) {
    let _alone = PROCESSORS.write().unwrap_or_else(PoisonError::into_inner);
    let _priority = HighPriority::raise();
    attempts(measure);
}

/// Emptying the page cache affects the whole host.
static PAGE_CACHE: RwLock<()> = RwLock::new(());

/// Lock held by a test that relies on the page cache to keep what it has written or read.
pub(crate) fn cached() -> RwLockReadGuard<'static, ()> {
    PAGE_CACHE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Lock held by a test that empties the page cache.
pub(crate) fn emptied() -> RwLockWriteGuard<'static, ()> {
    PAGE_CACHE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program to its end.
pub(crate) fn run(program: &Program) -> Finished {
    program.run().expect("the program ends in time")
}

/// Runs a program at a terminal with this text as typed input, in the notation of `printf`. All output is in
/// `stdout`.
pub(crate) fn at_terminal(program: &Program, typed: &str) -> Finished {
    let line = format!("printf '{typed}' | script -qefc \"$0\" /dev/null");
    run(&Program::new("sh").args(["-c", &line, &program.shell_line()]))
}

/// The consent hash that the program's output asks the user to pass.
pub(crate) fn hash_in(text: &str) -> String {
    let (_, after) = text.rsplit_once("--allow-commands ").unwrap_or_else(|| panic!("no hash: {text}"));
    after.split_whitespace().next().expect("a hash").to_owned()
}

/// The program with the hash of the commands that it would execute, added as by a user who has read them. Without the
/// hash, the program refuses and prints it.
pub(crate) fn allow_commands(program: &Program) -> Program {
    let hash = hash_in(&run(program).expect_code(3).stderr);
    program.clone().args(["--allow-commands", &hash])
}

/// The report of a run.
pub(crate) struct Report(pub(crate) Value);

impl Report {
    /// The figure of the first case that has this phase.
    pub(crate) fn figure(&self, phase: &str) -> &Value {
        let figures = self.0["figures"].as_array().expect("a list");
        figures.iter().find(|figure| figure["phase"] == phase).unwrap_or_else(|| {
            panic!("no {phase} among the figures of {}", self.0["run"]);
        })
    }

    /// Bytes per second of a phase, over wall time.
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

    /// Kinds of the warnings about a phase.
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

/// Everything below a directory: path, length and inode. Nothing is below one that does not exist.
pub(crate) fn tree(directory: &Path) -> BTreeMap<PathBuf, (u64, u64)> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(here) = left.pop() {
        let entries = match fs::read_dir(&here) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && here == directory => break,
            entries => entries.expect("a directory"),
        };
        for entry in entries.flatten() {
            let metadata = entry.metadata().expect("it is there");
            if metadata.is_dir() {
                left.push(entry.path());
            }
            found.insert(entry.path(), (metadata.len(), metadata.ino()));
        }
    }
    found
}

/// Names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

/// Waits until `ready` is true, while `running` continues.
pub(crate) fn wait_for(running: &mut Running, what: &str, ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(!running.has_ended().expect("its state is known"), "it ended before {what}");
        assert!(start.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many times the journal on `desk` contains an event.
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

/// Fails unless `text` contains all of `words`.
#[track_caller]
pub(crate) fn assert_says(text: &str, words: &[&str]) {
    // Long lines are wrapped in the output.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(flat.contains(word), "nothing says {word:?} in\n{text}");
    }
}

/// A small in-memory file system.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it on a directory created for it.
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
