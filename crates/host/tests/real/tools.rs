//! Helpers that both groups of tests need in addition to the testbed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use host::{Host, Root};
use testbed::{FileSystem, LoopDevice, LoopDeviceBuilder, Testbed};

/// The host that the tests run on.
pub(crate) fn host() -> Host {
    Host::new(Root::default())
}

/// Whether loop devices are unavailable. Prints a message if so.
pub(crate) fn skipped() -> bool {
    testbed::skipped(Testbed::available())
}

/// A blank device of the smallest size that all file systems support.
pub(crate) fn blank() -> LoopDeviceBuilder {
    LoopDevice::builder().bytes(FileSystem::Xfs.smallest_bytes())
}

/// Runs a program that must succeed. It is retried while its device is busy: when another test starts a program, the
/// child holds a copy of every open descriptor until it calls exec.
pub(crate) fn run(program: &str, arguments: &[&str]) {
    const TRIES: usize = 100;
    for tried in 1..=TRIES {
        let output = Command::new(program).args(arguments).env("LC_ALL", "C").output();
        let output = output.expect("the program starts");
        let told = String::from_utf8_lossy(&output.stderr);
        let is_busy = told.contains("busy") || told.contains("already mounted") || told.contains("in use");
        if output.status.success() {
            return;
        }
        assert!(is_busy && tried < TRIES, "{program} {arguments:?}: {told}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a program succeeds.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// A command that runs when the value is dropped, even if a test panics.
pub(crate) struct Finally(&'static str, Vec<String>);

impl Finally {
    pub(crate) fn new(program: &'static str, arguments: &[&str]) -> Self {
        Self(program, arguments.iter().map(|argument| (*argument).to_owned()).collect())
    }
}

impl Drop for Finally {
    fn drop(&mut self) {
        let _ = Command::new(self.0).args(&self.1).output();
    }
}

/// A shell that has run a script up to the line `ready`. It is stopped when the value is dropped.
pub(crate) struct Shell(Child);

impl Shell {
    /// `script` must print `ready` and then wait for the end of its input.
    pub(crate) fn run(program: &str, arguments: &[&str], script: &str) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .args(["sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it answers");
        assert_eq!(line.trim(), "ready");
        Self(child)
    }

    pub(crate) fn process(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A path as an argument for a program.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().expect("the testbed names its files in ASCII")
}

/// A loop device with two partitions. It is detached when the value is dropped.
pub(crate) struct Partitioned {
    pub(crate) device: PathBuf,
    _detach: Finally,
}

impl Partitioned {
    /// Creates two partitions of 8 MiB each on `image`, which has 32 MiB. Returns `None` if the kernel shows no
    /// partitions.
    pub(crate) fn new(image: &Path) -> Option<Self> {
        let mut bytes = vec![0_u8; 32 << 20];
        let entry = |start: u32, sectors: u32| {
            let mut entry = [0_u8; 16];
            entry[4] = 0x83;
            entry[8..12].copy_from_slice(&start.to_le_bytes());
            entry[12..].copy_from_slice(&sectors.to_le_bytes());
            entry
        };
        bytes[446..462].copy_from_slice(&entry(2048, 16384));
        bytes[462..478].copy_from_slice(&entry(18432, 16384));
        bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
        std::fs::write(image, bytes).expect("the image is written");
        let output = Command::new("losetup")
            .args(["--find", "--show", "--partscan"])
            .arg(image)
            .output()
            .expect("losetup starts");
        let device = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let detach = Finally::new("losetup", &["--detach", word(&device)]);
        let this = Self { device, _detach: detach };
        for (number, start) in [(1, "2048"), (2, "18432")] {
            if !this.partition(number).exists() {
                // This kernel does not read the partition table, so the partitions are added explicitly.
                succeeds("addpart", &[word(&this.device), &number.to_string(), start, "16384"]);
            }
        }
        this.partition(2).exists().then_some(this)
    }

    pub(crate) fn partition(&self, number: u32) -> PathBuf {
        PathBuf::from(format!("{}p{number}", self.device.display()))
    }
}
