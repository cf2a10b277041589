//! Users of a device, or of devices that share its bytes, according to kernel tables.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::device_relations::{LoopUse, overlapping, partitions, whole_devices};
use super::{Reason, openers};
use crate::Root;
use crate::devices::{block, inventory};
use crate::file_systems::mounts::{self, Mount, unescape_path};

pub(super) fn reasons(root: &Root, name: &str) -> Vec<Reason> {
    let tables = Tables::read(root);
    let mut reasons = Vec::new();
    reasons.extend(tables.missing.clone().map(|error| Reason::UnknownUse { error }));
    let flag = |file: &str| root.number::<u8>(&format!("/sys/class/block/{name}/{file}")).known().copied();
    if flag("ro") == Some(1) {
        reasons.push(Reason::ReadOnly);
    }
    if block::size_bytes(root, name).unwrap_or(0) == 0 {
        reasons.push(Reason::Empty);
    }
    let whole = block::whole_of(root, name).unwrap_or_else(|| name.to_owned());
    reasons.extend(inventory::multipath_of(root, &whole).map(|device| Reason::PathOf { device }));
    let partitions = partitions(root, name);
    if !partitions.is_empty() {
        reasons.push(Reason::Partitioned { partitions });
    }
    let own = overlapping(root, name);
    for device in &own {
        reasons.extend(tables.uses(root, device, None));
    }
    tables.uses_below(root, name, 0, &mut reasons);
    tables.uses_of_file(root, name, &mut reasons);
    tables.uses_of_aliases(root, name, &mut reasons);
    let file = tables.loops.iter().find(|by| by.name == whole).and_then(|by| by.file_identity(root));
    reasons.extend(openers::reasons(root, &own, file));
    let mut unique = Vec::new();
    for reason in reasons {
        if !unique.contains(&reason) {
            unique.push(reason);
        }
    }
    unique
}

/// The kernel tables of the host, read once.
struct Tables {
    /// The mounts of every visible namespace. If the namespace is not ours, with a process in it.
    mounts: Vec<ProcessMount>,
    /// Swap spaces, as named in the table.
    swaps: Vec<Swap>,
    loops: Vec<LoopUse>,
    /// Devices exported to other hosts, with their configfs path. Not all target drivers claim the
    /// devices exclusively.
    exports: Vec<(String, String)>,
    /// Why the mounts are unknown, if they are.
    missing: Option<String>,
}

struct ProcessMount {
    mount: Mount,
    process: Option<u32>,
    /// The block device that is mounted, determined from the path in the table.
    source_device: Option<String>,
}

struct Swap {
    path: PathBuf,
    device: Option<String>,
}

impl Tables {
    fn read(root: &Root) -> Self {
        Self {
            mounts: all_mounts(root),
            swaps: swaps(root),
            loops: LoopUse::all(root),
            exports: exports(root),
            missing: root.read("/proc/self/mountinfo").err(),
        }
    }

    /// Direct uses of one device. `above` is the stacked device through which it was reached; the fact that
    /// this device holds it does not count.
    fn uses(&self, root: &Root, device: &str, above: Option<&str>) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let number = block::number_of(root, device);
        for seen in &self.mounts {
            let is_this = Some(seen.mount.number) == number || seen.source_device.as_deref() == Some(device);
            if is_this {
                reasons.push(Reason::Mounted {
                    device: device.to_owned(),
                    mount_point: seen.mount.mount_point.clone(),
                    process: seen.process,
                });
            }
        }
        for swap in self.swaps.iter().filter(|swap| swap.device.as_deref() == Some(device)) {
            reasons.push(Reason::Swap { device: swap.path.display().to_string() });
        }
        let mut holders = root.names(&format!("/sys/class/block/{device}/holders"));
        holders.retain(|holder| Some(holder.as_str()) != above);
        if !holders.is_empty() {
            reasons.push(Reason::Held { device: device.to_owned(), holders });
        }
        for uuid in root.names("/sys/fs/btrfs") {
            if root.names(&format!("/sys/fs/btrfs/{uuid}/devices")).iter().any(|member| member == device) {
                reasons.push(Reason::BtrfsMember { device: device.to_owned(), uuid });
            }
        }
        for by in &self.loops {
            if by.block_device.as_deref() == Some(device) && Some(by.name.as_str()) != above {
                reasons.push(Reason::UnderLoop { device: device.to_owned(), by: by.name.clone() });
            }
        }
        for (_, by) in self.exports.iter().filter(|(exported, _)| exported == device) {
            reasons.push(Reason::Exported { device: device.to_owned(), by: by.clone() });
        }
        reasons
    }

    /// Uses of the device's members. Another mapping over the same member may cover the same bytes. Its
    /// table is not examined, so it always counts as a use.
    fn uses_below(&self, root: &Root, name: &str, layer: usize, reasons: &mut Vec<Reason>) {
        if layer >= block::LAYERS_MAX {
            return;
        }
        let whole = block::whole_of(root, name).unwrap_or_else(|| name.to_owned());
        let mut below = block::slaves(root, &whole);
        below.extend(self.loops.iter().find(|by| by.name == whole).and_then(|by| by.block_device.clone()));
        for member in below {
            for device in overlapping(root, &member) {
                reasons.extend(self.uses(root, &device, Some(&whole)));
            }
            self.uses_below(root, &member, layer + 1, reasons);
        }
    }

    /// Other uses of the file behind a loop device: by another loop device, as swap, or by a mount.
    fn uses_of_file(&self, root: &Root, name: &str, reasons: &mut Vec<Reason>) {
        let whole = block::whole_of(root, name).unwrap_or_else(|| name.to_owned());
        let Some(own) = self.loops.iter().find(|by| by.name == whole) else { return };
        if own.block_device.is_some() {
            return;
        }
        for other in self.loops.iter().filter(|other| other.name != whole && other.shares_file_with(own)) {
            reasons
                .push(Reason::UnderLoop { device: own.file.display().to_string(), by: other.name.clone() });
            for device in overlapping(root, &other.name) {
                reasons.extend(self.uses(root, &device, None));
            }
        }
        for swap in self.swaps.iter().filter(|swap| swap.device.is_none() && own.is_on(root, &swap.path)) {
            reasons.push(Reason::Swap { device: swap.path.display().to_string() });
        }
        for seen in self.mounts.iter().filter(|seen| seen.source_device.is_none()) {
            let source = Path::new(&seen.mount.source);
            if source.is_absolute() && own.is_on(root, source) {
                reasons.push(Reason::FileMounted {
                    file: own.file.clone(),
                    mount_point: seen.mount.mount_point.clone(),
                });
            }
        }
    }

    /// Uses of other devices that are the same medium: paths to one disk without multipath.
    fn uses_of_aliases(&self, root: &Root, name: &str, reasons: &mut Vec<Reason>) {
        let whole = block::whole_of(root, name).unwrap_or_else(|| name.to_owned());
        let Some(wwn) = block::world_wide_name(root, &whole) else { return };
        for alias in whole_devices(root) {
            if alias == whole || block::world_wide_name(root, &alias).as_ref() != Some(&wwn) {
                continue;
            }
            for device in overlapping(root, &alias) {
                for usage in self.uses(root, &device, None) {
                    reasons.push(Reason::AliasInUse { alias: alias.clone(), usage: usage.to_string() });
                }
            }
        }
    }
}

/// The mounts of this process, and those of one process in each other mount namespace.
fn all_mounts(root: &Root) -> Vec<ProcessMount> {
    let mut devices: HashMap<String, Option<String>> = HashMap::new();
    let mut all = Vec::new();
    let mut take = |process: Option<u32>, text: &str| {
        for mount in mounts::parse(text) {
            let source_device = if mount.source.starts_with('/') {
                let lookup = || block::name_of_source(root, &mount.source);
                devices.entry(mount.source.clone()).or_insert_with(lookup).clone()
            } else {
                None
            };
            all.push(ProcessMount { mount, process, source_device });
        }
    };
    let namespace = |process: &str| fs::read_link(root.path(format!("/proc/{process}/ns/mnt"))).ok();
    let mut seen: HashSet<PathBuf> = namespace("self").into_iter().collect();
    take(None, &root.read("/proc/self/mountinfo").unwrap_or_default());
    for name in root.names("/proc") {
        let Ok(process) = name.parse::<u32>() else { continue };
        let Some(other) = namespace(&name) else { continue };
        if seen.contains(&other) {
            continue;
        }
        if let Ok(text) = root.read(&format!("/proc/{name}/mountinfo")) {
            take(Some(process), &text);
            seen.insert(other);
        }
    }
    all
}

/// Parses `/proc/swaps` (`proc_swaps(5)`): a header line, then lines that begin with the path.
fn swaps(root: &Root) -> Vec<Swap> {
    let text = root.read("/proc/swaps").unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let path = unescape_path(line.split_ascii_whitespace().next()?);
            let device = block::name_of_source(root, path.to_str()?);
            Some(Swap { path, device })
        })
        .collect()
}

/// Block devices behind NVMe targets (`nvmet`) and SCSI targets (`target_core_mod`).
fn exports(root: &Root) -> Vec<(String, String)> {
    let below = |places: &[String], middle: &str| -> Vec<String> {
        let children = |place: &String| {
            let directory = format!("{place}{middle}");
            let names = root.names(&directory);
            names.into_iter().map(move |name| format!("{directory}/{name}"))
        };
        places.iter().flat_map(children).collect()
    };
    let config = "/sys/kernel/config";
    let subsystems = below(&[format!("{config}/nvmet/subsystems")], "");
    let namespaces = below(&subsystems, "/namespaces").into_iter().map(|place| (place, "device_path"));
    let backends = below(&below(&[format!("{config}/target/core")], ""), "");
    let backends = backends.into_iter().map(|place| (place, "udev_path"));
    namespaces
        .chain(backends)
        .filter_map(|(place, file)| {
            let path = root.read(&format!("{place}/{file}")).ok()?;
            Some((block::name_of_source(root, path.trim())?, place))
        })
        .collect()
}
