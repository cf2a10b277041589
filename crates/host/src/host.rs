//! The host as a whole: its facts, and queries about paths.

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::{FileSystemFacts, HostFacts, INVENTORY_SCHEMA, Inventory, Warning};

use crate::activity::cpu;
use crate::activity::memory;
use crate::activity::quiet;
use crate::activity::trace;
use crate::devices::block;
use crate::devices::pci;
use crate::file_systems::file_system;
use crate::file_systems::memory_below;
use crate::{Guard, HostError, QuietWatch, Root, Unobservable, devices, facts, servers};

/// File systems whose `FIEMAP` extents are physical sectors of their device, rather than of a volume that
/// spans several devices.
const NUMBERED_AS_THE_DEVICE: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "f2fs", "vfat"];

/// A host, read under a [`Root`].
#[derive(Debug, Clone, Default)]
pub struct Host {
    root: Root,
    environment: Environment,
}

/// Source of environment variables: the process, or a table in a test.
#[derive(Debug, Clone, Copy)]
struct Environment(fn(&str) -> Option<String>);

impl Default for Environment {
    fn default() -> Self {
        Self(|name| std::env::var(name).ok())
    }
}

impl Host {
    /// The host whose `/proc`, `/sys` and `/etc` are under `root`.
    #[must_use]
    pub fn new(root: Root) -> Self {
        Self { root, environment: Environment::default() }
    }

    /// The same host with other variables in the environment.
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
        facts::node(&self.root)
    }

    /// The facts of the host, of the file systems of `targets`, which need not exist yet, and of the block
    /// devices under them. `clock` names the clock used for latencies.
    #[must_use]
    pub fn facts(&self, targets: &[PathBuf], clock: &str) -> HostFacts {
        facts::gather(&self.root, self.environment.0, targets, clock)
    }

    /// Adds to `facts` the slower ones that [`Host::facts`] leaves out at the start of a run: cores, caches,
    /// NUMA nodes, network, volumes, versions of software, wear of devices. Some come from programs.
    pub fn complete(&self, facts: &mut HostFacts) {
        facts::complete(&self.root, facts);
    }

    /// All facts of the host: every block device, every mount of a real file system, every slot.
    #[must_use]
    pub fn inventory(&self, clock: &str) -> Inventory {
        Inventory {
            schema: INVENTORY_SCHEMA.to_owned(),
            host: facts::whole(&self.root, self.environment.0, clock),
            slots: pci::map(&self.root),
        }
    }

    /// The file system that `path` is on, or will be on once created.
    ///
    /// # Errors
    /// If the path cannot be resolved or its file system does not answer.
    pub fn file_system_of(&self, path: &Path) -> Result<FileSystemFacts, HostError> {
        file_system::facts(&self.root, &file_system::mount_table(&self.root)?, path)
    }

    /// The block devices whose counters, summed, show the bytes of `path`. For a partition that
    /// is the partition alone, for md and device mapper the top device, for btrfs every member
    /// (so that a mirror shows each byte twice), for a block device itself that device.
    ///
    /// # Errors
    /// With the reason, where no block device of this host shows them.
    pub fn devices_under(&self, path: &Path) -> Result<Vec<String>, Unobservable> {
        let table = file_system::mount_table(&self.root)
            .map_err(|error| Unobservable { reason: error.to_string() })?;
        devices::observable(&self.root, &table, path)
    }

    /// The kernel's statistics of the network file systems that `targets` are on; each text with its source.
    #[must_use]
    pub fn clients(&self, targets: &[PathBuf]) -> Vec<(String, String)> {
        let table = file_system::mount_table(&self.root).unwrap_or_default();
        servers::clients(&self.root, &table, targets)
    }

    /// A [`Warning::MemoryBelow`] for each memory below these devices that may answer in their place, such as
    /// the page cache under a buffered loop device.
    #[must_use]
    pub fn memory_below(&self, path: &Path) -> Vec<Warning> {
        let table = file_system::mount_table(&self.root).unwrap_or_default();
        memory_below::memory_below(&self.root, &table, path)
    }

    /// The whole device with the sectors of the file system of `path`, or of the device at `path`, and the
    /// sector at which it begins there. None if the sectors are not those of one device: for stacked and
    /// several devices, and for file systems with their own numbering.
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

    /// The name of a block device among all devices: its world wide name, else its serial number. Of a partition
    /// that of its disk.
    #[must_use]
    pub fn device_uid(&self, device: &str) -> Option<String> {
        let disk = block::whole_of(&self.root, device);
        let disk = disk.as_deref().unwrap_or(device);
        block::world_wide_name(&self.root, disk).or_else(|| block::serial(&self.root, disk).known().cloned())
    }

    /// Bytes of memory of the host, used or not.
    #[must_use]
    pub fn memory_total(&self) -> u64 {
        memory::total_bytes(&self.root)
    }

    /// Memory available without swapping, within the limits of the control groups.
    ///
    /// # Errors
    /// If `/proc/meminfo` cannot be read.
    pub fn memory_available(&self) -> Result<u64, HostError> {
        memory::available_bytes(&self.root, &file_system::mount_table(&self.root).unwrap_or_default())
    }

    /// Bytes that this user may still write at `path`, which need not exist yet.
    ///
    /// # Errors
    /// If the path cannot be resolved or its file system does not answer.
    pub fn free_space(&self, path: &Path) -> Result<u64, HostError> {
        file_system::free_bytes(&self.root, path)
    }

    /// Processors that this process may use: its affinity, and the quota of its control groups
    /// rounded up. At least 1.
    #[must_use]
    pub fn usable_cpus(&self) -> u32 {
        cpu::usable(&self.root, &file_system::mount_table(&self.root).unwrap_or_default())
    }

    /// All processors of the host that are online.
    #[must_use]
    pub fn logical_cpus(&self) -> u32 {
        facts::logical_cpus(&self.root)
    }

    /// The numbers of the processors in this process's CPU affinity; empty if unknown. Processes of one run
    /// may be bound to different ones.
    #[must_use]
    pub fn allowed_cpus(&self) -> Vec<u32> {
        cpu::allowed_numbers(&self.root)
    }

    /// `/proc/sys/kernel/random/boot_id`: identifies the boot of this kernel; empty if unknown.
    #[must_use]
    pub fn boot_id(&self) -> String {
        let text = self.root.read("/proc/sys/kernel/random/boot_id");
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    }

    /// Bytes that this process has read from block devices since its start; none if the kernel does not
    /// account for them.
    #[must_use]
    pub fn fetched_bytes(&self) -> Option<u64> {
        let text = self.root.read("/proc/self/io").ok()?;
        text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
    }

    /// Bytes of a file that the page cache holds, and bytes of all of it, both in whole pages.
    ///
    /// # Errors
    /// If the file cannot be opened for reading, or is too large to be asked for page by page on this kernel.
    pub fn page_cache_bytes(&self, path: &Path) -> Result<(u64, u64), HostError> {
        memory::resident_bytes(path)
    }

    /// Whether anything else uses the host or `devices`. With an `interval` it observes for that long and
    /// names the busiest other process; without, it only checks the load and the requests in flight, which
    /// takes microseconds. `None` means quiet.
    #[must_use]
    pub fn quiet(&self, devices: &[String], interval: Duration) -> Option<Warning> {
        quiet::check(&self.root, devices, interval)
    }

    /// A watch for other activity on the host or `devices` while phases run.
    #[must_use]
    pub fn quiet_watch(&self, devices: Vec<String>) -> QuietWatch {
        QuietWatch::new(&self.root, devices)
    }

    /// The guard of this host's raw block devices.
    #[must_use]
    pub fn guard(&self) -> Guard {
        Guard::new(self.root.clone())
    }
}
