//! Another kernel: a virtual machine with NVMe devices on PCI.
//!
//! The virtual machine has what the kernel of the test machine lacks: md, device-mapper, PCI slots, memory nodes and
//! interrupts of NVMe. It sees all files of the host at their usual paths and runs the programs of the host, so the
//! program under test needs no image. Its writes stay in its memory. Everything is emulated, which makes it slower by
//! a factor of ten or more: it shows what works, not how fast.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::programs::command;
use crate::{Error, Finished, Program, Scratch};

/// Environment variable with the directory of the kernel and its tools, if that is not below the build directory.
const PLACE: &str = "IOPROOF_VIRTUAL_MACHINE";
/// Message if they are not there.
const HOW: &str = "a kernel for the virtual machine: run scripts/virtual-machine.sh";
/// How long the machine may take to boot. It takes ten seconds on an idle host.
const PATIENCE: Duration = Duration::from_secs(240);
/// The machine is killed after this many seconds, even if the test is still running.
const LIFE: &str = "1800";
/// Memory of the machine, half of it on each of its two memory nodes.
const MEMORY_MIB: u32 = 2048;
/// Devices per PCI host bridge, of which there are two: port numbers have five bits.
const DEVICES_MAX: usize = 24;

/// Only one machine at a time, since an emulated processor uses a whole real one.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Builder for [`VirtualMachine`].
#[derive(Debug, Clone)]
pub struct VirtualMachineBuilder {
    devices: usize,
    bytes: u64,
    bytes_per_second: Vec<(usize, u64)>,
    shared: Option<PathBuf>,
}

impl VirtualMachineBuilder {
    /// The number of NVMe devices. The first half is attached to memory node 0, the rest to node 1.
    #[must_use]
    pub const fn devices(mut self, count: usize) -> Self {
        self.devices = count;
        self
    }

    /// The size of each device.
    #[must_use]
    pub const fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Limits the total bandwidth of a device. The limit is enforced outside the machine.
    #[must_use]
    pub fn limit(mut self, device: usize, bytes_per_second: u64) -> Self {
        self.bytes_per_second.push((device, bytes_per_second));
        self
    }

    /// A host directory that the machine may write to.
    #[must_use]
    pub fn shared(mut self, directory: impl Into<PathBuf>) -> Self {
        self.shared = Some(directory.into());
        self
    }

    /// Boots the machine, and waits until it can run programs.
    ///
    /// # Errors
    /// It does not boot. The message contains its console output.
    pub fn boot(self) -> Result<VirtualMachine, Error> {
        VirtualMachine::boot(&self)
    }
}

/// A running machine. It ends when the value is dropped, or when the thread that started it ends.
///
/// ```no_run
/// use testbed::{Program, VirtualMachine};
/// let machine = VirtualMachine::builder().devices(2).boot()?;
/// let listed = machine.run(&Program::new("lsblk").args(["-dno", "SERIAL"]))?.expect_code(0);
/// assert!(listed.stdout.contains(&VirtualMachine::serial(1)));
/// # Ok::<(), testbed::Error>(())
/// ```
#[derive(Debug)]
pub struct VirtualMachine {
    qemu: Child,
    asked: Mutex<Conversation>,
    control: Scratch,
    _images: Scratch,
    _alone: MutexGuard<'static, ()>,
}

/// The connection between the test and the agent in the machine.
#[derive(Debug)]
struct Conversation {
    number: u32,
    ask: ChildStdin,
    answers: Receiver<String>,
}

impl VirtualMachine {
    /// A builder for a machine, initially without devices.
    #[must_use]
    pub const fn builder() -> VirtualMachineBuilder {
        VirtualMachineBuilder { devices: 0, bytes: 512 << 20, bytes_per_second: Vec::new(), shared: None }
    }

    /// Whether a machine can be started on this host.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        // Files that only root may read would be missing in the machine.
        command::needs_root()?;
        command::needs_tools(&["qemu-system-x86_64", "timeout", "setpriv"])?;
        let here = ["kernel", "initrd"].iter().all(|file| place().join(file).is_file());
        if here { Ok(()) } else { Err(format!("needs {HOW}")) }
    }

    /// The serial number of a device, counted from 0 in the order of PCI addresses.
    #[must_use]
    pub fn serial(device: usize) -> String {
        format!("TESTBED{device:02}")
    }

    fn boot(wanted: &VirtualMachineBuilder) -> Result<Self, Error> {
        if wanted.devices > DEVICES_MAX {
            return Err(Error::Missing(format!("{} devices; at most {DEVICES_MAX}", wanted.devices)));
        }
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (control, images) = (Scratch::on_disk()?, Scratch::in_memory()?);
        let agent = control.path().join("agent");
        fs::write(&agent, include_str!("../../guest/agent")).map_err(Error::file(&agent))?;
        let errors = control.path().join("qemu.err");
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "timeout", "--kill-after=5", LIFE, "qemu-system-x86_64"])
            .args(machine(control.path(), wanted.shared.as_deref()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&errors).map_err(Error::file(&errors))?)
            // Use a separate process group, so that the emulator is killed together with `timeout`.
            .process_group(0);
        for device in 0..wanted.devices {
            let image = images.path().join(Self::serial(device));
            let file = fs::File::create(&image).map_err(Error::file(&image))?;
            file.set_len(wanted.bytes).map_err(Error::file(&image))?;
            let mut limits = wanted.bytes_per_second.iter().rev();
            let limit =
                limits.find(|(limited, _)| *limited == device).map(|(_, bytes_per_second)| *bytes_per_second);
            command.args(nvme(device, wanted.devices, &image, limit));
        }
        let mut qemu = command.spawn().map_err(Error::file("setpriv"))?;
        let (send, answers) = channel();
        let pipes = (qemu.stdin.take(), qemu.stdout.take());
        let (Some(ask), Some(said)) = pipes else {
            return Err(Error::Missing("pipes to the virtual machine".to_owned()));
        };
        std::thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let asked = Mutex::new(Conversation { number: 0, ask, answers });
        let machine = Self { qemu, asked, control, _images: images, _alone: alone };
        {
            let conversation = machine.asked.lock().unwrap_or_else(PoisonError::into_inner);
            machine.expect(&conversation.answers, "ready", PATIENCE, "the start of the virtual machine")?;
        }
        Ok(machine)
    }

    /// Runs a program in the machine until it ends. It starts in its configured directory, or in that of the test.
    ///
    /// # Errors
    /// It takes too long, or the machine ended.
    pub fn run(&self, program: &Program) -> Result<Finished, Error> {
        let here = || std::env::current_dir().unwrap_or_else(|_| "/".into());
        let directory = program.directory().map_or_else(here, Path::to_path_buf);
        let line = program.clone().current_dir(directory).shell_line();
        self.script(&line, program.time_limit())
    }

    /// Runs lines of `sh` in the machine, stopping at the first that fails.
    ///
    /// # Errors
    /// They take too long, or the machine ended.
    pub fn shell(&self, lines: &str) -> Result<Finished, Error> {
        self.script(&format!("set -e\n{lines}\n"), Duration::from_secs(120))
    }

    fn script(&self, lines: &str, limit: Duration) -> Result<Finished, Error> {
        let mut conversation = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        conversation.number += 1;
        let number = conversation.number.to_string();
        let file = |suffix: &str| self.control.path().join(format!("{number}{suffix}"));
        fs::write(file(""), lines).map_err(Error::file(file("")))?;
        let start = Instant::now();
        writeln!(conversation.ask, "{number}").map_err(Error::file("the virtual machine"))?;
        self.expect(&conversation.answers, &number, limit, lines)?;
        let took = start.elapsed();
        let read = |suffix: &str| {
            let bytes = fs::read(file(suffix)).map_err(Error::file(file(suffix)))?;
            Ok::<String, Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let code: Option<i32> = read(".code")?.trim().parse().ok();
        // A shell reports signals as exit codes above 128.
        let signal = code.and_then(|code| code.checked_sub(128)).filter(|signal| *signal > 0);
        let code = if signal.is_some() { None } else { code };
        let command = lines.trim_end().to_owned();
        Ok(Finished { command, code, signal, stdout: read(".out")?, stderr: read(".err")?, took })
    }

    /// Waits for an answer from the agent.
    fn expect(
        &self,
        answers: &Receiver<String>,
        answer: &str,
        limit: Duration,
        what: &str,
    ) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            match answers.recv_timeout(limit.saturating_sub(start.elapsed())) {
                Ok(line) if line == answer => return Ok(()),
                Ok(_) => {}
                Err(why) => {
                    let output = self.heard();
                    let command = what.to_owned();
                    return Err(match why {
                        RecvTimeoutError::Timeout => {
                            Error::TimedOut { command, seconds: limit.as_secs(), output }
                        }
                        RecvTimeoutError::Disconnected => {
                            let status = "the virtual machine ended".to_owned();
                            Error::Command { command, status, message: output }
                        }
                    });
                }
            }
        }
    }

    /// The console output of the kernel, followed by the error output of the emulator.
    #[must_use]
    pub fn heard(&self) -> String {
        let mut heard = String::new();
        for name in ["console", "qemu.err"] {
            let bytes = fs::read(self.control.path().join(name)).unwrap_or_default();
            let _ = write!(heard, "{}", String::from_utf8_lossy(&bytes));
        }
        heard
    }
}

impl Drop for VirtualMachine {
    fn drop(&mut self) {
        // Nothing in the machine needs a clean shutdown. The process that limits its time leads its process group.
        let _ = kill_process_group(Pid::from_child(&self.qemu), Signal::KILL);
        let _ = self.qemu.wait();
    }
}

/// The directory in which `scripts/virtual-machine.sh` puts the kernel, the initramfs and the tools.
fn place() -> PathBuf {
    if let Some(named) = std::env::var_os(PLACE) {
        return named.into();
    }
    // A test binary is three levels below the build directory.
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().nth(3).unwrap_or(Path::new("target")).join("virtual-machine")
}

/// The QEMU arguments except those for devices: two processors, each with its own memory and PCI host bridge, the
/// shared directories, a console, and the connection to the agent on standard input and output.
fn machine(control: &Path, shared: Option<&Path>) -> Vec<OsString> {
    let place = place();
    let mut words = words(
        "-accel tcg,thread=multi -machine q35 -cpu max,la57=off -smp 2 -display none -nodefaults -no-reboot \
         -nic none -monitor none -numa node,nodeid=0,cpus=0,memdev=memory0 \
         -numa node,nodeid=1,cpus=1,memdev=memory1 -device pxb-pcie,id=pci0,bus_nr=32,numa_node=0,bus=pcie.0 \
         -device pxb-pcie,id=pci1,bus_nr=64,numa_node=1,bus=pcie.0 -device virtio-serial-pci,bus=pcie.0 \
         -chardev stdio,id=agent,signal=off -device virtserialport,chardev=agent,name=agent",
    );
    let mut push = |option: &str, value: String| words.extend([OsString::from(option), value.into()]);
    push("-m", MEMORY_MIB.to_string());
    for node in 0..2 {
        push("-object", format!("memory-backend-ram,id=memory{node},size={}M", MEMORY_MIB / 2));
    }
    push("-kernel", place.join("kernel").display().to_string());
    push("-initrd", place.join("initrd").display().to_string());
    push("-serial", format!("file:{}", control.join("console").display()));
    let mut kernel =
        format!("console=ttyS0 quiet panic=-1 mitigations=off testbed.control={}", control.display());
    let tools = place.join("tree");
    let mut directories =
        vec![("host", Path::new("/"), true), ("tools", tools.as_path(), true), ("control", control, false)];
    if let Some(shared) = shared {
        let _ = write!(kernel, " testbed.shared={}", shared.display());
        directories.push(("shared", shared, false));
    }
    push("-append", kernel);
    for (name, path, read_only) in directories {
        let read_only = if read_only { "on" } else { "off" };
        push(
            "-fsdev",
            format!(
                "local,id={name},path={},security_model=none,readonly={read_only},multidevs=remap",
                path.display()
            ),
        );
        push("-device", format!("virtio-9p-pci,fsdev={name},mount_tag={name},bus=pcie.0"));
    }
    words
}

/// The QEMU arguments for one device in its own slot.
fn nvme(device: usize, of: usize, image: &Path, limit: Option<u64>) -> Vec<OsString> {
    let node = usize::from(device >= of.div_ceil(2));
    let slot = device + 1;
    let mut drive = format!("file={},if=none,id=drive{device},format=raw,discard=unmap", image.display());
    if let Some(bytes_per_second) = limit {
        let _ = write!(drive, ",throttling.bps-total={bytes_per_second}");
    }
    let port = format!("pcie-root-port,id=port{device},bus=pci{node},chassis={slot},slot={slot}");
    let serial = VirtualMachine::serial(device);
    let nvme = format!("nvme,serial={serial},drive=drive{device},bus=port{device}");
    vec!["-drive".into(), drive.into(), "-device".into(), port.into(), "-device".into(), nvme.into()]
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}
