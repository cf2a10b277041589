//! The facts about the host that are stored in the record of a run.
//!
//! They are gathered in two parts. [`gather`] reads the facts needed at the start of a run, from kernel files
//! that answer at once. [`complete`] reads slower facts, which do not change, after the run. [`whole`] does
//! both, for all devices and file systems.

mod cpuinfo;
pub(crate) mod io_uring;
mod job;
mod machine;
mod network;
mod processors;
mod software;
mod volumes;

use std::path::{Path, PathBuf};

use record::{BlockDeviceFacts, Fact, FileSystemFacts, HostFacts, TargetDevices};

use self::processors::FactScope;
use crate::activity::cpu;
use crate::activity::memory;
use crate::devices::block;
use crate::devices::block_facts::block_facts;
use crate::devices::inventory::{self, BlockDevice};
use crate::devices::wear::wear_percent;
use crate::file_systems::file_system;
use crate::file_systems::mounts::Mount;
use crate::system::cpu_list;
use crate::{Root, devices, tuning};

/// Maximum number of sockets; a larger number means that the topology is invalid.
const SOCKETS_MAX: u32 = 1024;

/// Batch systems, identified by the environment variable with the job number.
const BATCH_SYSTEMS: [(&str, &str); 4] =
    [("SLURM_JOB_ID", "slurm"), ("PBS_JOBID", "pbs"), ("LSB_JOBID", "lsf"), ("FLUX_JOB_ID", "flux")];

pub(crate) fn gather(
    root: &Root,
    environment: fn(&str) -> Option<String>,
    targets: &[PathBuf],
    clock: &str,
) -> HostFacts {
    let table = file_system::mount_table(root).unwrap_or_default();
    let memory_bytes = memory::total_bytes(root);
    let logical_cpus = logical_cpus(root);
    HostFacts {
        node: crate::system::node_name(root),
        operating_system: operating_system(root),
        kernel: kernel(root),
        cpu_model: cpuinfo::model(root),
        sockets: sockets(root),
        logical_cpus,
        usable_cpus: cpu::usable(root, &table, logical_cpus),
        numa_nodes: listed(root, "/sys/devices/system/node/online"),
        governor: root.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        memory_bytes,
        memory_limit_bytes: memory::limit_bytes(root, &table, memory_bytes),
        transparent_hugepages: memory::huge_pages(root),
        clock: clock.to_owned(),
        batch_job: batch_job(environment),
        file_systems: file_systems(root, &table, targets),
        devices: block_devices(root, &table, targets),
        target_devices: targets.iter().map(|target| target_devices(root, &table, target)).collect(),
        machine: machine::gather(root),
        processors: processors::gather(root, FactScope::Start),
        job: job::gather(root, environment),
        tuning: tuning::in_force(root, &tuning::state_directory(root, environment)),
        ..HostFacts::default()
    }
}

/// Adds the slower facts that [`gather`] leaves out.
pub(crate) fn complete(root: &Root, facts: &mut HostFacts) {
    processors::complete(root, &mut facts.processors);
    facts.network = network::gather(root);
    facts.volumes = volumes::gather(root);
    facts.software = software::gather(root);
    for device in &mut facts.devices {
        device.wear_percent = wear_percent(root, &device.name);
    }
}

/// All facts, including all block devices with content and all mounts of real file systems.
pub(crate) fn whole(root: &Root, environment: fn(&str) -> Option<String>, clock: &str) -> HostFacts {
    let table = file_system::mount_table(root).unwrap_or_default();
    let mut facts = gather(root, environment, &[], clock);
    facts.processors = processors::gather(root, FactScope::Whole);
    facts.file_systems = file_system::all(root, &table);
    let devices = inventory::whole_devices(root).filter(BlockDevice::is_usable);
    facts.devices = devices.map(|device| block_facts(root, &device.name)).collect();
    complete(root, &mut facts);
    facts
}

fn target_devices(root: &Root, table: &[Mount], target: &Path) -> TargetDevices {
    let (top, bottom) = devices::top_and_bottom(root, table, target);
    TargetDevices { path: target.display().to_string(), top, bottom }
}

/// Returns one entry per file system of the targets.
fn file_systems(root: &Root, table: &[Mount], targets: &[PathBuf]) -> Vec<FileSystemFacts> {
    let mut all: Vec<FileSystemFacts> = Vec::new();
    for target in targets.iter().filter(|target| block::number_at(root, target).is_none()) {
        if let Ok(facts) = file_system::facts(root, table, target)
            && !all.iter().any(|other| other.mount_point == facts.mount_point)
        {
            all.push(facts);
        }
    }
    all
}

fn block_devices(root: &Root, table: &[Mount], targets: &[PathBuf]) -> Vec<BlockDeviceFacts> {
    let mut names: Vec<String> = Vec::new();
    for target in targets {
        for name in devices::stack(root, table, target) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.iter().map(|name| block_facts(root, name)).collect()
}

fn kernel(root: &Root) -> Fact<String> {
    match (root.text("/proc/sys/kernel/osrelease"), root.text("/proc/sys/kernel/version")) {
        (Fact::Known(release), Fact::Known(build)) => Fact::Known(format!("{release} {build}")),
        (Fact::Known(release), Fact::Unknown(_)) => Fact::Known(release),
        (unknown, _) => unknown,
    }
}

/// `PRETTY_NAME` of `os-release(5)`.
fn operating_system(root: &Root) -> Fact<String> {
    let text = match root.read("/etc/os-release").or_else(|_| root.read("/usr/lib/os-release")) {
        Ok(text) => text,
        Err(_) => return Fact::Unknown("no /etc/os-release".to_owned()),
    };
    match text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")) {
        Some(name) => Fact::Known(name.trim().trim_matches(['"', '\'']).to_owned()),
        None => Fact::Unknown("/etc/os-release has no PRETTY_NAME".to_owned()),
    }
}

/// The number of sockets. Repeatedly takes the first processor outside the known sockets and reads its
/// siblings, which needs one file per socket instead of one per processor.
fn sockets(root: &Root) -> Fact<u32> {
    let online = match root.text("/sys/devices/system/cpu/online") {
        Fact::Known(list) => cpu_list::parse(&list).unwrap_or_default(),
        Fact::Unknown(reason) => return Fact::Unknown(reason),
    };
    let mut seen = Vec::new();
    let mut sockets = 0;
    while let Some(cpu) = cpu_list::first_outside(&online, &seen) {
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        let list = root
            .read(&format!("{topology}/package_cpus_list"))
            .or_else(|_| root.read(&format!("{topology}/core_siblings_list")));
        let Some(package) = list.ok().and_then(|list| cpu_list::parse(&list)) else {
            return Fact::Unknown(format!("no {topology}/package_cpus_list"));
        };
        if !package.iter().any(|range| range.contains(&cpu)) || sockets >= SOCKETS_MAX {
            return Fact::Unknown(format!("{topology}/package_cpus_list does not contain its own processor"));
        }
        seen.extend(package);
        sockets += 1;
    }
    if sockets == 0 {
        Fact::Unknown("no processor is listed as online".to_owned())
    } else {
        Fact::Known(sockets)
    }
}

/// The number of entries in a list such as `0-1`.
fn listed(root: &Root, path: &str) -> Fact<u32> {
    root.text(path).and_then(|list| {
        let count = cpu_list::parse(&list).map(|ranges| cpu_list::count(&ranges));
        Fact::of(count, || format!("{path} contains {list:?}, not a list"))
    })
}

/// The number of online processors. Returns 0 if the tree of another host does not contain it.
pub(crate) fn logical_cpus(root: &Root) -> u32 {
    match listed(root, "/sys/devices/system/cpu/online") {
        Fact::Known(count @ 1..) => count,
        _ if root.is_system() => std::thread::available_parallelism()
            .map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
        _ => 0,
    }
}

fn batch_job(environment: fn(&str) -> Option<String>) -> Option<String> {
    BATCH_SYSTEMS.iter().find_map(|(variable, system)| {
        let number = environment(variable).filter(|number| !number.is_empty())?;
        Some(format!("{system} {number}"))
    })
}

#[cfg(test)]
mod tests;
