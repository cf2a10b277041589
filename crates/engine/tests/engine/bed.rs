//! Helpers for the tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use engine::{Controls, EngineError, PhaseJob, PhaseOutcome, SingleProcess};
use plan::{Backend, Bytes, Geometry, Phase, Workload, WorkloadSpec};

/// All backends that move data, `uring` and `libaio` with a queue depth of one and with more.
pub(crate) const BACKENDS: [Backend; 8] = [
    Backend::Psync,
    Backend::Vectored { pieces: 2 },
    Backend::Stdio,
    Backend::Uring { depth: 1, required: true },
    Backend::Uring { depth: 8, required: true },
    Backend::Libaio { depth: 1 },
    Backend::Libaio { depth: 8 },
    Backend::Mmap,
];

/// A directory that is removed when the value is dropped.
pub(crate) struct Bed {
    directory: tempfile::TempDir,
}

impl Bed {
    /// Uses a disk: `io_uring` hands reads on tmpfs to kernel threads.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory for the test");
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A workload with one task on the file `name`.
    pub(crate) fn spec(&self, name: &str, transfer: u64, per_block: u64) -> WorkloadSpec {
        spec(self.path(name), transfer, per_block)
    }
}

/// A workload with one task on `path`.
pub(crate) fn spec(path: PathBuf, transfer: u64, per_block: u64) -> WorkloadSpec {
    let geometry = Geometry { transfer: Bytes(transfer), block: Bytes(transfer * per_block), segments: 1 };
    WorkloadSpec::new("test", path, geometry)
}

/// Applies `change` to the spec and validates it.
pub(crate) fn with(spec: &WorkloadSpec, change: impl FnOnce(&mut WorkloadSpec)) -> Workload {
    let mut spec = spec.clone();
    change(&mut spec);
    spec.validate().expect("a valid workload")
}

/// Runs `phase` in this process.
pub(crate) fn run(workload: &Workload, phase: Phase) -> Result<PhaseOutcome, EngineError> {
    run_with(workload, phase, |_| {})
}

/// Runs `phase` in this process with a modified job.
pub(crate) fn run_with<'w>(
    workload: &'w Workload,
    phase: Phase,
    change: impl FnOnce(&mut PhaseJob<'w>),
) -> Result<PhaseOutcome, EngineError> {
    let mut job = PhaseJob::new(workload, phase, 0);
    change(&mut job);
    engine::run(&job, &SingleProcess, &Controls::new())
}

/// Whether this process may mount.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether `program` is installed.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let extra = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(extra).any(|directory| directory.join(program).is_file())
}

/// Prints why a test is skipped.
pub(crate) fn skip(reason: &str) {
    println!("skipped: {reason}");
}

/// A command that runs the example `drive` with the arguments `words` in another process, prefixed by `before`.
pub(crate) fn child(before: &[&str], words: &str) -> Command {
    let own = std::env::current_exe().expect("the test program has a path");
    let mut command = match before {
        [] => Command::new(own),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(own);
            command
        }
    };
    command
        .args(["--exact", "trace::act", "--ignored", "--nocapture", "--test-threads=1"])
        .env("DRIVE", words);
    command
}

/// Runs a command that must be installed.
pub(crate) fn output(command: &mut Command) -> Output {
    command.output().expect("the program was found before")
}

/// The standard output and error output of a process.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs `program` and returns whether it succeeded. Its output goes to the output of the test.
pub(crate) fn sh(program: &str, arguments: &[&str]) -> bool {
    let output = output(Command::new(program).args(arguments));
    if !output.status.success() {
        println!("{program} {arguments:?}: {}", text(&output));
    }
    output.status.success()
}

/// A mounted file system. It is unmounted when the value is dropped, together with its loop device.
pub(crate) struct Mounted {
    at: PathBuf,
    device: Option<String>,
}

impl Mounted {
    /// Mounts a tmpfs of `bytes` at `at`, or returns `None` without the permission to mount.
    pub(crate) fn tmpfs(at: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(&at).expect("a directory to mount on");
        let options = format!("size={bytes}");
        sh("mount", &["-t", "tmpfs", "-o", &options, "tmpfs", at.to_str()?])
            .then_some(Self { at, device: None })
    }

    /// Mounts an ext4 on a loop device over `image` of `bytes`, with sectors of `sector` bytes.
    pub(crate) fn ext4(at: PathBuf, image: &Path, bytes: u64, sector: u32) -> Option<Self> {
        std::fs::create_dir_all(&at).expect("a directory to mount on");
        std::fs::File::create(image).and_then(|file| file.set_len(bytes)).expect("an image");
        let sector = sector.to_string();
        let image = image.to_str()?;
        let attached =
            output(Command::new("losetup").args(["--sector-size", &sector, "--show", "-f", image]));
        if !attached.status.success() {
            println!("losetup: {}", text(&attached));
            return None;
        }
        let device = String::from_utf8_lossy(&attached.stdout).trim().to_owned();
        let mounted = sh("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", &device])
            && sh("mount", &[&device, at.to_str()?]);
        let this = Self { at, device: Some(device) };
        mounted.then_some(this)
    }

    pub(crate) fn at(&self) -> &Path {
        &self.at
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(at) = self.at.to_str() {
            sh("umount", &[at]);
        }
        if let Some(device) = &self.device {
            sh("losetup", &["-d", device]);
        }
    }
}
