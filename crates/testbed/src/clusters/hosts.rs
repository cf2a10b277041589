//! Several hosts on one machine.
//!
//! A host is a network, a mount and a UTS namespace. It has a name, an address, a link that can be cut, and its own
//! directories. All hosts share the kernel, its devices and its clock. They also share one PID namespace, so that no
//! process started in a host can outlive the hosts.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::programs::command;
use crate::programs::process::{self, Process};
use crate::{Error, FileSystem, Limits, LoopDevice, LoopDeviceBuilder, Program, Scratch};

/// The number of hosts that fit in the network `10.77.0.0/24` next to the head.
const HOSTS_MAX: usize = 200;
/// Name of the head: the namespace from which the hosts are reached, like a login node.
pub(crate) const HEAD: &str = "head";
/// Address of the head, above those of the hosts.
const HEAD_ADDRESS: &str = "10.77.0.254";
/// How long the hosts may take to shut down before they are killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Builder for [`Hosts`].
#[derive(Debug, Clone)]
pub struct HostsBuilder {
    count: usize,
    devices: usize,
    device: LoopDeviceBuilder,
}

impl HostsBuilder {
    /// Gives every host `count` devices of its own with XFS, at the same paths on every host.
    #[must_use]
    pub fn devices(mut self, count: usize, limits: Limits) -> Self {
        self.devices = count;
        self.device = self.device.limits(limits);
        self
    }

    /// Sets the hosts up.
    ///
    /// # Errors
    /// A step failed. Everything set up before it is torn down.
    pub fn build(self) -> Result<Hosts, Error> {
        Hosts::set_up(&self)
    }
}

/// Several hosts on a private network. Dropping the value tears down the hosts and everything that runs in them.
///
/// ```
/// use testbed::{Hosts, Program, skipped};
/// if skipped(Hosts::available()) {
///     return;
/// }
/// let hosts = Hosts::of(2).unwrap();
/// let named = hosts.inside(1, &Program::new("hostname")).run().unwrap().expect_code(0);
/// assert_eq!(named.stdout.trim(), hosts.name(1));
/// ```
#[derive(Debug)]
pub struct Hosts {
    // Fields drop in this order: users of a device end before the device.
    hosts: Vec<Host>,
    head: Namespaces,
    devices: Vec<Vec<LoopDevice>>,
    scratch: Scratch,
}

#[derive(Debug)]
struct Host {
    network: PathBuf,
    /// PID of the process that keeps the namespaces alive, as seen inside the hosts.
    keeper: u32,
    /// PID of the same process, as seen outside.
    process: u32,
}

impl Hosts {
    /// `count` hosts without devices.
    ///
    /// # Errors
    /// A step failed. Everything set up before it is torn down.
    pub fn of(count: usize) -> Result<Self, Error> {
        Self::builder(count).build()
    }

    /// Builder for `count` hosts, initially without devices.
    #[must_use]
    pub fn builder(count: usize) -> HostsBuilder {
        HostsBuilder { count, devices: 0, device: LoopDevice::builder().file_system(FileSystem::Xfs) }
    }

    /// Whether hosts can be set up on this machine.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        command::needs_root()?;
        command::needs_tools(&["ip", "tc", "unshare", "nsenter", "mount", "umount", "hostname"])?;
        // A container may forbid these even if the tools are installed.
        let tried = ["--net", "--mount", "--uts", "--pid", "--fork", "ip", "link", "add", "type", "veth"];
        command::run("unshare", tried).map(|_| ()).map_err(|_| "needs namespaces and veth".to_owned())
    }

    fn set_up(wanted: &HostsBuilder) -> Result<Self, Error> {
        if wanted.count == 0 || wanted.count > HOSTS_MAX {
            return Err(Error::Missing(format!("{} hosts; 1 to {HOSTS_MAX} can be set up", wanted.count)));
        }
        let scratch = Scratch::on_disk()?;
        for (name, mode) in [("shared", 0o777), ("local", 0o755)] {
            let path = scratch.path().join(name);
            fs::create_dir(&path).map_err(Error::file(&path))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(Error::file(&path))?;
        }
        for device in 0..wanted.devices {
            let path = scratch.path().join(format!("device{device}"));
            fs::create_dir(&path).map_err(Error::file(&path))?;
        }
        write(&scratch.path().join("names"), &table_of_names(wanted.count), 0o644)?;
        let one =
            || (0..wanted.devices).map(|_| wanted.device.clone().build()).collect::<Result<Vec<_>, _>>();
        let devices = (0..wanted.count).map(|_| one()).collect::<Result<Vec<_>, _>>()?;
        let head = Namespaces::of_head(&scratch)?;
        let mut all = Self { hosts: Vec::new(), head, devices, scratch };
        for index in 0..wanted.count {
            let host = all.host(index)?;
            all.hosts.push(host);
        }
        write(&all.scratch.path().join("enter"), &all.entrance(), 0o755)?;
        Ok(all)
    }

    /// Sets up one host: the process that keeps its namespaces, its mounts, and its link to the bridge.
    fn host(&self, index: usize) -> Result<Host, Error> {
        let root = self.scratch.path();
        let mut script = format!(
            "set -eu\nhostname {name}\nmount -t tmpfs none /dev/shm\n\
             mount -t tmpfs none \"$1/local\"\nip link set lo up\n\
             ip link add eth0 type veth peer name p{index} netns 1\n\
             ip addr add {address}/24 dev eth0\nip link set eth0 up\n",
            name = self.name(index),
            address = address(index),
        );
        for (number, device) in self.devices.get(index).into_iter().flatten().enumerate() {
            let device = device.device().display();
            let _ = writeln!(script, "mount -t xfs -o noatime {device} \"$1/device{number}\"");
        }
        // The PID of the keeper in the PID namespace of the hosts, then its network.
        script += "sleep infinity >/dev/null 2>&1 </dev/null &\n\
                   echo $! \"$(readlink /proc/$$/ns/net)\"\n";
        let outer = ["unshare", "--net", "--mount", "--uts", "--propagation", "private", "sh", "-c"];
        let made = self.in_head(outer.map(OsStr::new).into_iter().chain([
            OsStr::new(&script),
            OsStr::new("sh"),
            root.as_os_str(),
        ]))?;
        let parsed = made.split_once(' ').and_then(|(keeper, net)| Some((keeper.parse().ok()?, net.into())));
        let (keeper, network) =
            parsed.ok_or_else(|| Error::Missing(format!("a host; its set-up said {made:?}")))?;
        self.in_head(["ip", "link", "set", &format!("p{index}"), "master", "eth0", "up"])?;
        let outer =
            process::all().into_iter().find(|process| process.namespace("net").as_ref() == Some(&network));
        let process = outer.map_or(0, |process| process.id());
        Ok(Host { network, keeper, process })
    }

    /// The script `enter HOST COMMAND…`, which runs a command in a host and stands in for ssh. Launchers call it in
    /// the head, with options that only ssh needs.
    fn entrance(&self) -> String {
        let mut script = "#!/bin/sh\nwhile :; do case $1 in -*) shift;; *) break;; esac; done\n\
                          host=$1\nshift\ncase $host in\n"
            .to_owned();
        for (index, host) in self.hosts.iter().enumerate() {
            let (name, address, keeper) = (self.name(index), address(index), host.keeper);
            let _ = writeln!(script, "{name}|{address}) keeper={keeper};;");
        }
        script += "*) echo \"no host $host\" >&2; exit 255;;\nesac\n\
                   exec nsenter --target \"$keeper\" --net --mount --uts /bin/sh -c \"$*\"\n";
        script
    }

    /// The number of hosts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.hosts.len()
    }

    /// The name of a host. Hosts are numbered from 0, their names from 1.
    #[must_use]
    pub fn name(&self, index: usize) -> String {
        format!("node{}", index + 1)
    }

    /// The names of all hosts.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        (0..self.count()).map(|index| self.name(index)).collect()
    }

    /// The address of a host on the private network.
    #[must_use]
    pub fn address(&self, index: usize) -> String {
        address(index)
    }

    /// Whether the hosts have devices.
    pub(crate) fn has_devices(&self) -> bool {
        self.devices.first().is_some_and(|devices| !devices.is_empty())
    }

    /// A directory shared by all hosts and the outside.
    #[must_use]
    pub fn shared(&self) -> PathBuf {
        self.scratch.path().join("shared")
    }

    /// A path at which every host has its own in-memory directory.
    #[must_use]
    pub fn local(&self) -> PathBuf {
        self.scratch.path().join("local")
    }

    /// The path at which every host has its device with this number.
    #[must_use]
    pub fn device_path(&self, number: usize) -> PathBuf {
        self.scratch.path().join(format!("device{number}"))
    }

    /// A device of a host, so that it can get its own limits, for example to simulate a slow node.
    pub fn device_mut(&mut self, index: usize, number: usize) -> Option<&mut LoopDevice> {
        self.devices.get_mut(index)?.get_mut(number)
    }

    /// The script `enter HOST COMMAND…`, with which a launcher reaches the hosts from the head.
    pub(crate) fn entrance_path(&self) -> PathBuf {
        self.scratch.path().join("enter")
    }

    /// Makes `program` run in a host. It starts in its configured directory, or in that of the test.
    ///
    /// # Panics
    /// There is no such host.
    #[must_use]
    pub fn inside(&self, index: usize, program: &Program) -> Program {
        let keeper = self.hosts[index].keeper.to_string();
        let enter = ["nsenter", "--target", &keeper, "--net", "--mount", "--uts"].map(OsString::from);
        self.outside(program, enter.into())
    }

    /// Makes `program` run in the head: on the network of the hosts, but in none of them.
    #[must_use]
    pub fn at_head(&self, program: &Program) -> Program {
        self.outside(program, Vec::new())
    }

    /// Wraps `program` in `enter`, from the head. Entering a mount namespace changes to its root directory, so the
    /// command changes back to the working directory.
    fn outside(&self, program: &Program, enter: Vec<OsString>) -> Program {
        let here = || std::env::current_dir().unwrap_or_else(|_| "/".into());
        let directory = program.directory().map_or_else(here, Path::to_path_buf);
        let start = ["sh", "-c", "cd \"$0\" && exec \"$@\""].map(OsString::from);
        let mut arguments = self.head.entered();
        arguments.extend(enter);
        arguments.extend(start);
        arguments.push(directory.into());
        program.under("nsenter", arguments)
    }

    /// Runs a helper program in the head.
    fn in_head<I, S>(&self, words: I) -> Result<String, Error>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let words = words.into_iter().map(|word| word.as_ref().to_owned());
        command::run("nsenter", self.head.entered().into_iter().chain(words))
    }

    /// Cuts the link of a host, as if its cable were pulled.
    ///
    /// # Errors
    /// The link is gone.
    pub fn cut(&self, index: usize) -> Result<(), Error> {
        self.in_head(["ip", "link", "set", &format!("p{index}"), "down"]).map(|_| ())
    }

    /// Restores the link of a host.
    ///
    /// # Errors
    /// The link is gone.
    pub fn mend(&self, index: usize) -> Result<(), Error> {
        self.in_head(["ip", "link", "set", &format!("p{index}"), "up"]).map(|_| ())
    }

    /// Limits the link of a host to `bits` per second in each direction.
    ///
    /// # Errors
    /// The kernel has no token bucket filter.
    pub fn limit_link(&self, index: usize, bits: u64) -> Result<(), Error> {
        let tbf = |device: &str| {
            format!("qdisc replace dev {device} root tbf rate {bits} burst 256kb latency 50ms")
        };
        let keeper = self.hosts.get(index).map_or(0, |host| host.keeper).to_string();
        let inside = ["nsenter", "--target", &keeper, "--net", "tc"].map(str::to_owned);
        self.in_head(inside.into_iter().chain(tbf("eth0").split(' ').map(str::to_owned)))?;
        let outside = format!("tc {}", tbf(&format!("p{index}")));
        self.in_head(outside.split(' ')).map(|_| ())
    }

    /// The processes that run in a host.
    #[must_use]
    pub fn processes(&self, index: usize) -> Vec<Process> {
        let Some(host) = self.hosts.get(index) else { return Vec::new() };
        let within = |process: &Process| {
            process.namespace("net").as_ref() == Some(&host.network)
                && process.namespace("pid").as_ref() == Some(&self.head.processes)
        };
        let others = process::all().into_iter().filter(|process| process.id() != host.process);
        others.filter(within).collect()
    }

    /// Stops all processes in a host, as if its kernel hung.
    pub fn stop(&self, index: usize) {
        self.signal(index, Signal::STOP);
    }

    /// Resumes all stopped processes in a host.
    pub fn go_on(&self, index: usize) {
        self.signal(index, Signal::CONT);
    }

    fn signal(&self, index: usize, signal: Signal) {
        for process in self.processes(index) {
            process.signal(signal);
        }
    }
}

/// Unmounts what other tests have mounted: its copy in a new mount namespace would keep their devices busy after they
/// finish. Names of the testbed contain no characters that need quoting.
const FOREIGN: &str = "sed -n 's|^[^ ]* \\([^ ]*/ioproof-testbed-[^ ]*\\) .*|\\1|p' /proc/self/mounts |\n\
                       while read -r mount; do umount --lazy \"$mount\" 2>/dev/null || :; done";

/// The namespaces of the head, and the PID namespace of all hosts. They exist as long as the other end of a pipe is
/// open, so they end with the test even if it is killed.
#[derive(Debug)]
struct Namespaces {
    keeper: Child,
    processes: PathBuf,
}

impl Namespaces {
    fn of_head(scratch: &Scratch) -> Result<Self, Error> {
        // The first process of a PID namespace must reap orphans. This one does so by ignoring SIGCHLD.
        let script = format!(
            "set -eu\nhostname {HEAD}\n{FOREIGN}\nmount -t tmpfs none /dev/shm\n\
             mount --bind \"$1/names\" /etc/hosts\nip link set lo up\n\
             ip link add eth0 type bridge\nip addr add {HEAD_ADDRESS}/24 dev eth0\nip link set eth0 up\n\
             trap '' CHLD\necho ready\nexec cat >/dev/null\n"
        );
        let mut command = Command::new("unshare");
        command
            .args(["--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"])
            .args(["--propagation", "private", "sh", "-c", &script, "sh"])
            .arg(scratch.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut keeper = command.spawn().map_err(Error::file("unshare"))?;
        let mut line = String::new();
        if let Some(output) = keeper.stdout.take() {
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let link = format!("/proc/{}/ns/pid_for_children", keeper.id());
        let head = fs::read_link(&link).map_err(Error::file(&link));
        if line != "ready\n" {
            drop(keeper.stdin.take());
            let output = keeper.wait_with_output().map_err(Error::file("unshare"))?;
            return Err(Error::Command {
                command: command::words(&command),
                status: output.status.to_string(),
                message: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
            });
        }
        Ok(Self { processes: head?, keeper })
    }

    /// The arguments that make nsenter enter the head.
    fn entered(&self) -> Vec<OsString> {
        let keeper = self.keeper.id();
        let kinds = [("net", "net"), ("mount", "mnt"), ("uts", "uts"), ("pid", "pid_for_children")];
        kinds.map(|(option, file)| format!("--{option}=/proc/{keeper}/ns/{file}").into()).into()
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        // The first process of the PID namespace sees the end of its input and exits. The kernel kills all the others
        // before that exit is reported.
        drop(self.keeper.stdin.take());
        let start = Instant::now();
        while matches!(self.keeper.try_wait(), Ok(None)) {
            if start.elapsed() > PATIENCE {
                let _ = self.keeper.kill();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn address(index: usize) -> String {
    format!("10.77.0.{}", index + 1)
}

/// The `/etc/hosts` of all hosts.
fn table_of_names(count: usize) -> String {
    let mut table = format!("127.0.0.1 localhost\n{} {HEAD}\n", HEAD_ADDRESS);
    for index in 0..count {
        let _ = writeln!(table, "{} node{}", address(index), index + 1);
    }
    table
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::file(path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::file(path))
}
