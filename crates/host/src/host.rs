//! The host as a whole: facts about it, and queries about paths.

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{FileSystemFacts, HostFacts, INVENTORY_SCHEMA, Inventory, Warning};

use crate::activity::cpu;
use crate::activity::memory;
use crate::activity::quiet;
use crate::activity::trace;
use crate::devices::block;
use crate::devices::pci;
use crate::file_systems::below;
use crate::file_systems::{file_system, relation};
use crate::{Guard, HostError, QuietWatch, Relation, Root, Unobservable, devices, facts, servers};

/// File systems whose `FIEMAP` extents are physical sectors of their device, and not of a volume that
/// spans several devices.
const NUMBERED_AS_THE_DEVICE: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "f2fs", "vfat"];

/// A host whose files are read under a [`Root`].
#[derive(Debug, Clone, Default)]
pub struct Host {
    root: Root,
    environment: Environment,
}

/// The source of environment variables: those of the process, or a table in a test.
#[derive(Debug, Clone, Copy)]
struct Environment(fn(&str) -> Option<String>);

impl Default for Environment {
    fn default() -> Self {
        Self(|name| std::env::var(name).ok())
    }
}

impl Host {
    /// Creates a host whose `/proc`, `/sys` and `/etc` are under `root`. The environment of this process does not
    /// describe another host.
    #[must_use]
    pub fn new(root: Root) -> Self {
        let environment = if root.is_system() { Environment::default() } else { Environment(|_| None) };
        Self { root, environment }
    }

    /// Returns the same host with other environment variables.
    #[must_use]
    pub fn with_environment(self, environment: fn(&str) -> Option<String>) -> Self {
        Self { environment: Environment(environment), ..self }
    }

    /// The tree that facts are read from.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The name of this node.
    #[must_use]
    pub fn node(&self) -> String {
        crate::system::node_name(&self.root)
    }

    /// The facts about the host, the file systems of `targets` (which need not exist yet), and the block
    /// devices under them. `clock` names the clock used for latencies.
    #[must_use]
    pub fn facts(&self, targets: &[PathBuf], clock: &str) -> HostFacts {
        facts::gather(&self.root, self.environment.0, targets, clock)
    }

    /// Adds to `facts` the slower facts that [`Host::facts`] leaves out at the start of a run: cores,
    /// caches, NUMA nodes, network, volumes, software versions, wear of devices. Some of them come from
    /// other programs.
    pub fn complete(&self, facts: &mut HostFacts) {
        facts::complete(&self.root, facts);
    }

    /// All facts about the host, including every block device, every mount of a real file system, and
    /// every slot.
    #[must_use]
    pub fn inventory(&self, clock: &str) -> Inventory {
        Inventory {
            schema: INVENTORY_SCHEMA.to_owned(),
            host: facts::whole(&self.root, self.environment.0, clock),
            slots: pci::map(&self.root),
        }
    }

    /// The file system of `path`, which exists or will be created.
    ///
    /// # Errors
    /// Errors if the path cannot be resolved or its file system does not respond.
    pub fn file_system_of(&self, path: &Path) -> Result<FileSystemFacts, HostError> {
        file_system::facts(&self.root, &file_system::mount_table(&self.root)?, path)
    }

    /// The file system that contains `path`, or will contain it, as people name it: `ext4 on /dev/sda1`.
    ///
    /// # Errors
    /// Errors if the mount table cannot be read, or if no mount contains the path.
    pub fn file_system_name(&self, path: &Path) -> Result<String, HostError> {
        let existing = file_system::nearest_existing(&self.root, path)?;
        let table = file_system::mount_table(&self.root)?;
        file_system::mount_of(&self.root, &table, &existing).map(|mount| relation::name_of(&mount))
    }

    /// What two paths have in common.
    ///
    /// # Errors
    /// Errors if a path cannot be resolved or the mount table cannot be read.
    pub fn relation(&self, one: &Path, other: &Path) -> Result<Relation, HostError> {
        Relation::of(&self.root, one, other)
    }

    /// The block devices whose counters add up to the bytes of `path`. For a partition this is only the
    /// partition; for md and device mapper the top device; for btrfs every member (so a mirror shows each
    /// byte twice); for a block device the device itself.
    ///
    /// # Errors
    /// Returns the reason if no block device of this host shows the bytes.
    pub fn devices_under(&self, path: &Path) -> Result<Vec<String>, Unobservable> {
        let table = file_system::mount_table(&self.root)
            .map_err(|error| Unobservable { reason: error.to_string() })?;
        devices::observable(&self.root, &table, path)
    }

    /// The kernel's statistics of the network file systems that contain `targets`. Each text comes with
    /// its source.
    #[must_use]
    pub fn clients(&self, targets: &[PathBuf]) -> Vec<(String, String)> {
        let table = file_system::mount_table(&self.root).unwrap_or_default();
        servers::clients(&self.root, &table, targets)
    }

    /// Returns a [`Warning::MemoryBelow`] for each memory below `path` that may serve reads in place of the devices,
    /// such as the page cache under a buffered loop device, and a [`Warning::NotDurable`] for each layer that loses
    /// written data without power although fsync has succeeded.
    #[must_use]
    pub fn below(&self, path: &Path) -> Vec<Warning> {
        let table = file_system::mount_table(&self.root).unwrap_or_default();
        below::below(&self.root, &table, path)
    }

    /// The whole device that contains the sectors of the file system of `path`, or of the device at
    /// `path`, and the sector at which they begin there. Returns `None` if the sectors are not those of
    /// one device: for stacked and several devices, and for file systems with their own numbering.
    #[must_use]
    pub fn sectors_of(&self, path: &Path) -> Option<(String, u64)> {
        let table = file_system::mount_table(&self.root).ok()?;
        let [device] = devices::observable(&self.root, &table, path).ok()?.try_into().ok()?;
        if block::number_at(&self.root, path).is_none() {
            let existing = file_system::nearest_existing(&self.root, path).ok()?;
            let mount = file_system::mount_of(&self.root, &table, &existing).ok()?;
            if !NUMBERED_AS_THE_DEVICE.contains(&mount.kind.as_str()) {
                return None;
            }
        }
        trace::base_of(&self.root, &device)
    }

    /// A name that distinguishes a block device among all devices: its world wide name, otherwise its serial
    /// number. For a partition, that of its disk.
    #[must_use]
    pub fn device_uid(&self, device: &str) -> Option<String> {
        let disk = block::whole_of(&self.root, device);
        let disk = disk.as_deref().unwrap_or(device);
        block::world_wide_name(&self.root, disk).or_else(|| block::serial(&self.root, disk).known().cloned())
    }

    /// Total memory of the host in bytes.
    #[must_use]
    pub fn memory_total(&self) -> u64 {
        memory::total_bytes(&self.root)
    }

    /// Memory available without swapping, within the limits of the control groups.
    ///
    /// # Errors
    /// Errors if `/proc/meminfo` cannot be read.
    pub fn memory_available(&self) -> Result<u64, HostError> {
        memory::available_bytes(&self.root, &file_system::mount_table(&self.root).unwrap_or_default())
    }

    /// Number of bytes that this user may still write at `path`, which need not exist yet.
    ///
    /// # Errors
    /// Errors if the path cannot be resolved or its file system does not respond.
    pub fn free_space(&self, path: &Path) -> Result<u64, HostError> {
        file_system::free_bytes(&self.root, path)
    }

    /// Number of processors that this process may use: its CPU affinity, limited by the quota of its
    /// control groups (rounded up). At least 1.
    #[must_use]
    pub fn usable_cpus(&self) -> u32 {
        let table = file_system::mount_table(&self.root).unwrap_or_default();
        cpu::usable(&self.root, &table, self.logical_cpus()).max(1)
    }

    /// Number of online processors of the host.
    #[must_use]
    pub fn logical_cpus(&self) -> u32 {
        facts::logical_cpus(&self.root)
    }

    /// The numbers of the processors in this process's CPU affinity; empty if unknown. The processes of a
    /// run may be bound to different processors.
    #[must_use]
    pub fn allowed_cpus(&self) -> Vec<u32> {
        cpu::allowed_numbers(&self.root)
    }

    /// The content of `/proc/sys/kernel/random/boot_id`, which identifies the present boot; empty if
    /// unknown.
    #[must_use]
    pub fn boot_id(&self) -> String {
        let text = self.root.read("/proc/sys/kernel/random/boot_id");
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    }

    /// Number of bytes that this process has read from block devices since its start, or `None` if the
    /// kernel does not account for them.
    #[must_use]
    pub fn fetched_bytes(&self) -> Option<u64> {
        let text = self.root.read("/proc/self/io").ok()?;
        text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
    }

    /// Number of bytes of a file that are in the page cache, and the size of the file, both in whole
    /// pages.
    ///
    /// # Errors
    /// Errors if the file cannot be opened for reading, or if it is too large to be examined page by page
    /// on this kernel.
    pub fn page_cache_bytes(&self, path: &Path) -> Result<(u64, u64), HostError> {
        memory::resident_bytes(path)
    }

    /// Checks whether anything else uses the host or `devices`; `None` means that it is quiet. If there is
    /// an `interval`, it observes for that long and names the busiest other process. If it is zero, it
    /// only checks the load and the requests in flight, which takes microseconds.
    #[must_use]
    pub fn quiet(&self, devices: &[String], interval: Duration) -> Option<Warning> {
        quiet::check(&self.root, devices, interval)
    }

    /// Creates a watch for other activity on the host or `devices` while phases run.
    #[must_use]
    pub fn quiet_watch(&self, devices: Vec<String>) -> QuietWatch {
        QuietWatch::new(&self.root, devices)
    }

    /// Creates the guard of this host's raw block devices.
    #[must_use]
    pub fn guard(&self) -> Guard {
        Guard::new(self.root.clone())
    }
}
