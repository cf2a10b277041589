//! The facts of a block device that go into the record.

use std::fs;
use std::path::Path;

use record::{BlockDeviceFacts, Fact};

use super::{block, pci};
use crate::Root;

/// Why a volume has no hardware queues: md and most device-mapper targets process each request in the
/// submitting thread and pass it on.
const OF_ITS_MEMBERS: &str = "it has no queues of its own and passes requests on to its members";

/// The facts of a whole device.
pub(crate) fn block_facts(root: &Root, name: &str) -> BlockDeviceFacts {
    let base = format!("/sys/block/{name}");
    let text = |file: &str| root.text(&format!("{base}/{file}"));
    BlockDeviceFacts {
        name: name.to_owned(),
        model: model(root, &base),
        serial: block::serial(root, name),
        firmware: text("device/firmware_rev").or(text("device/rev")),
        size_bytes: block::size_bytes(root, name).unwrap_or(0),
        rotational: root.number::<u8>(&format!("{base}/queue/rotational")).map(|flag| flag != 0),
        scheduler: text("queue/scheduler").map(|list| block::chosen(&list).to_owned()),
        hardware_queues: match u32::try_from(root.names(&format!("{base}/mq")).len()) {
            Ok(queues @ 1..) => Fact::Known(queues),
            _ if !block::slaves(root, name).is_empty() => Fact::Unknown(OF_ITS_MEMBERS.to_owned()),
            _ => Fact::Unknown(format!("no {base}/mq")),
        },
        queue_requests: root.number(&format!("{base}/queue/nr_requests")),
        read_ahead_bytes: root
            .number::<u64>(&format!("{base}/queue/read_ahead_kb"))
            .map(|kib| kib.saturating_mul(1024)),
        logical_block_bytes: root.number(&format!("{base}/queue/logical_block_size")),
        physical_block_bytes: root.number(&format!("{base}/queue/physical_block_size")),
        numa_node: numa_node(root, name),
        world_wide_name: Fact::of(block::world_wide_name(root, name), || format!("no {base}/wwid")),
        queue_depth: root.number(&format!("{base}/device/queue_depth")),
        first_queue_cpus: text("mq/0/cpu_list").map(|list| list.replace(", ", ",")),
        driver: driver(root, name),
        wear_percent: Fact::default(),
        volatile_write_cache: text("queue/write_cache").map(|kind| kind != "write through"),
        pcie: pci::place_of(root, name),
    }
}

/// The driver of the nearest ancestor that has one, with its version if available.
fn driver(root: &Root, name: &str) -> Fact<String> {
    let Some(directory) = block::controller_directory(root, name) else {
        return Fact::Unknown(format!("no /sys/block/{name}"));
    };
    for above in devices_above(&directory) {
        let target = fs::read_link(root.path(above.join("driver"))).ok();
        let found = target.as_ref().and_then(|target| target.file_name()?.to_str());
        if let Some(driver) = found {
            return Fact::Known(match root.text(&format!("/sys/module/{driver}/version")) {
                Fact::Known(version) => format!("{driver} {version}"),
                Fact::Unknown(_) => driver.to_owned(),
            });
        }
    }
    Fact::Unknown(format!("no driver above /sys/block/{name}"))
}

/// The directories of a device and all devices above it, the nearest first.
fn devices_above(directory: &Path) -> impl Iterator<Item = &Path> {
    directory.ancestors().take_while(|above| *above != Path::new("/sys/devices"))
}

/// The model. For SCSI it is preceded by the vendor, unless that is the placeholder of SATA.
fn model(root: &Root, base: &str) -> Fact<String> {
    let model = root.text(&format!("{base}/device/model"));
    let Fact::Known(model) = model else { return model };
    match root.text(&format!("{base}/device/vendor")) {
        Fact::Known(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => {
            Fact::Known(format!("{vendor} {model}"))
        }
        _ => Fact::Known(model),
    }
}

/// The NUMA node of the nearest ancestor that has one: not the disk itself, but its controller or bus.
fn numa_node(root: &Root, name: &str) -> Fact<i32> {
    let Some(directory) = block::controller_directory(root, name) else {
        return Fact::Unknown(format!("no /sys/block/{name}"));
    };
    for above in devices_above(&directory) {
        let file = above.join("numa_node");
        let Some(file) = file.to_str() else { continue };
        match root.number::<i32>(file) {
            Fact::Known(node @ 0..) => return Fact::Known(node),
            Fact::Known(_) => {
                return Fact::Unknown(format!("{file} reports that it belongs to no NUMA node"));
            }
            Fact::Unknown(_) => {}
        }
    }
    Fact::Unknown(format!("no numa_node above /sys/block/{name}"))
}
