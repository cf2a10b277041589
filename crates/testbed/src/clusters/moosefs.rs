//! A distributed file system on hosts of the testbed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::programs::command;
use crate::{Error, Finished, Hosts, Program, Running};

/// How long the file system may take to become ready. It usually takes a second.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit of the daemons: they run until their value is dropped.
const FOR_EVER: Duration = Duration::from_secs(86_400);

/// MooseFS on hosts. The master runs on the first host, chunk servers run on the first host or on all, and every host
/// has a client. A chunk server keeps its data on the first device of its host, or in memory. Each chunk is stored
/// once, so the file system has the capacity and speed of all servers together.
///
/// ```no_run
/// use testbed::{Hosts, MooseFs, Program};
/// let shared = MooseFs::over(Hosts::of(2)?)?;
/// let file = shared.mount_point().join("file");
/// shared.hosts().inside(0, &Program::new("touch").arg(&file)).run()?.expect_code(0);
/// shared.hosts().inside(1, &Program::new("rm").arg(&file)).run()?.expect_code(0);
/// # Ok::<(), testbed::Error>(())
/// ```
#[derive(Debug)]
pub struct MooseFs {
    // Fields drop in this order: clients before servers, both before their hosts.
    _daemons: Vec<Running>,
    hosts: Hosts,
}

impl MooseFs {
    /// Whether MooseFS is available.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        Hosts::available()?;
        command::needs_file("/dev/fuse")?;
        command::needs_tools(&[
            "mfsmaster",
            "mfschunkserver",
            "mfsmount",
            "mfssetgoal",
            "mfssettrashtime",
            "stat",
        ])
    }

    /// Sets up MooseFS on `hosts`, and waits until all of them serve data.
    ///
    /// # Errors
    /// A daemon could not be started, or did not become ready.
    pub fn over(hosts: Hosts) -> Result<Self, Error> {
        let servers = hosts.count();
        Self::served_by(servers, hosts)
    }

    /// Sets up MooseFS on `hosts`, with chunk servers on the first `servers` of them only. The others reach all data
    /// over their link.
    ///
    /// # Errors
    /// A daemon could not be started, or did not become ready.
    pub fn served_by(servers: usize, hosts: Hosts) -> Result<Self, Error> {
        let count = servers.min(hosts.count());
        let master = hosts.shared().join("moosefs-master");
        let directory = |path: &Path| fs::create_dir(path).map_err(Error::file(path));
        let write = |path: PathBuf, text: &str| fs::write(&path, text).map_err(Error::file(&path));
        directory(&master)?;
        directory(&mount_point(&hosts))?;
        // This is all that a master needs for an empty file system.
        write(master.join("metadata.mfs"), "MFSM NEW")?;
        write(master.join("exports"), "* / rw,alldirs,maproot=0\n")?;
        write(master.join("topology"), "")?;
        let own = |data: &Path| {
            format!("WORKING_USER = root\nWORKING_GROUP = root\nDATA_PATH = {}\n", data.display())
        };
        let place = master.display();
        let settings = format!("EXPORTS_FILENAME = {place}/exports\nTOPOLOGY_FILENAME = {place}/topology\n");
        write(master.join("settings"), &(own(&master) + &settings))?;
        let address = hosts.address(0);
        let mut servers = vec![hosts.inside(0, &daemon("mfsmaster", &master)).spawn()?];
        for index in 0..count {
            let server = hosts.shared().join(format!("moosefs-server{index}"));
            directory(&server)?;
            // Each host has its own directory at this path.
            let data = storage(&hosts).join("moosefs");
            let _ = run(&hosts, index, Program::new("mkdir").arg(&data))?;
            write(server.join("disks"), &format!("{}\n", data.display()))?;
            let settings = format!(
                "HDD_CONF_FILENAME = {}/disks\nMASTER_HOST = {address}\nMASTER_RECONNECTION_DELAY = 1\n\
                 HDD_LEAVE_SPACE_DEFAULT = 0\n",
                server.display()
            );
            write(server.join("settings"), &(own(&server) + &settings))?;
            servers.push(hosts.inside(index, &daemon("mfschunkserver", &server)).spawn()?);
        }
        let place = mount_point(&hosts);
        let mut daemons = Vec::new();
        for index in 0..hosts.count() {
            let client = Program::new("mfsmount").args(["-f", "-H", &address]).arg(&place).limit(FOR_EVER);
            wait("a mount of MooseFS", || {
                let mut client = hosts.inside(index, &client).spawn()?;
                // A client that finds no master exits, which happens if it starts before the master listens.
                while !client.has_ended()? {
                    if answers(&hosts, index, Program::new("mountpoint").arg("-q").arg(&place))? {
                        daemons.push(client);
                        return Ok(true);
                    }
                }
                Ok(false)
            })?;
        }
        daemons.append(&mut servers);
        let _ = run(&hosts, 0, Program::new("mfssetgoal").args(["-r", "1"]).arg(&place))?;
        // Makes removed files free their space at once.
        let _ = run(&hosts, 0, Program::new("mfssettrashtime").args(["-r", "0"]).arg(&place))?;
        let one = capacity(&hosts, &storage(&hosts))?;
        wait("servers of MooseFS", || {
            // The space that the file system reserves for itself is less than half of one server.
            Ok(2 * capacity(&hosts, &place)? > one * (2 * count as u64 - 1))
        })?;
        Ok(Self { _daemons: daemons, hosts })
    }

    /// The mount point, the same on every host.
    #[must_use]
    pub fn mount_point(&self) -> PathBuf {
        mount_point(&self.hosts)
    }

    /// The directory in which every host stores its share of the data.
    #[must_use]
    pub fn storage(&self) -> PathBuf {
        storage(&self.hosts)
    }

    /// The hosts.
    #[must_use]
    pub const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// The hosts, for cutting their links or slowing their devices.
    pub const fn hosts_mut(&mut self) -> &mut Hosts {
        &mut self.hosts
    }
}

fn mount_point(hosts: &Hosts) -> PathBuf {
    hosts.shared().join("moosefs")
}

fn storage(hosts: &Hosts) -> PathBuf {
    if hosts.has_devices() { hosts.device_path(0) } else { hosts.local() }
}

fn daemon(name: &str, place: &Path) -> Program {
    Program::new(name).arg("-d").arg("-c").arg(place.join("settings")).limit(FOR_EVER)
}

fn answers(hosts: &Hosts, index: usize, program: Program) -> Result<bool, Error> {
    Ok(hosts.inside(index, &program).run()?.code == Some(0))
}

fn run(hosts: &Hosts, index: usize, program: Program) -> Result<Finished, Error> {
    let finished = hosts.inside(index, &program).run()?;
    if finished.code == Some(0) {
        return Ok(finished);
    }
    let status = format!("code {:?}", finished.code);
    Err(Error::Command { command: finished.command, status, message: finished.stderr })
}

/// Capacity in bytes of the file system at `place`, seen from the first host.
fn capacity(hosts: &Hosts, place: &Path) -> Result<u64, Error> {
    let asked = run(hosts, 0, Program::new("stat").args(["-f", "-c", "%b %S"]).arg(place))?;
    let words = asked.stdout.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    Ok(words.product())
}

/// Waits until `ready` returns true.
fn wait(what: &str, mut ready: impl FnMut() -> Result<bool, Error>) -> Result<(), Error> {
    let start = Instant::now();
    while !ready()? {
        if start.elapsed() > PATIENCE {
            return Err(Error::Missing(format!("{what}, for which {} s were too short", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
