//! The parts of a host that are tables: devices, file systems, volumes, network, slots.

use plan::Bytes;
use record::{
    BlockDeviceFacts, Card, Fact, FileSystemFacts, NetworkFacts, Slot, SlotCount, SlotMap, SlotUsage,
    VolumeFacts,
};

use super::rows::{UNKNOWN, link};
use crate::format::table::{Cell, Table, Tone};
use crate::format::{decimal_bytes, grouped};

/// A file system with a smaller share of free space is called full, since XFS and ext4 slow down without long free
/// extents.
pub(super) const FREE_LEAST: f64 = 0.05;

fn short<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> String {
    fact.known().map_or_else(|| UNKNOWN.to_owned(), words)
}

fn plain<T: ToString>(fact: &Fact<T>) -> String {
    short(fact, ToString::to_string)
}

fn bytes(fact: &Fact<u64>) -> String {
    short(fact, |bytes| Bytes(*bytes).to_string())
}

/// Identity of block devices.
pub(crate) fn devices(devices: &[BlockDeviceFacts]) -> Table {
    Table::of(devices)
        .left("device", |one| one.name.clone())
        .left("model", |one| plain(&one.model))
        .left("serial", |one| plain(&one.serial))
        .left("firmware", |one| plain(&one.firmware))
        .right("size", |one| decimal_bytes(one.size_bytes))
        .left("turns", |one| short(&one.rotational, |turns| (if *turns { "yes" } else { "no" }).to_owned()))
        .left("write cache", |one| {
            short(&one.volatile_write_cache, |volatile| {
                (if *volatile { "volatile" } else { "safe" }).to_owned()
            })
        })
        .right("wear", |one| short(&one.wear_percent, |percent| format!("{percent} %")))
        .left("world wide name", |one| plain(&one.world_wide_name))
        .done()
        .below("world wide name")
}

/// Settings and location of block devices.
pub(crate) fn queues(devices: &[BlockDeviceFacts]) -> Table {
    Table::of(devices)
        .left("device", |one| one.name.clone())
        .left("scheduler", |one| plain(&one.scheduler))
        .right("queues", |one| plain(&one.hardware_queues))
        .right("requests", |one| plain(&one.queue_requests))
        .right("depth", |one| plain(&one.queue_depth))
        .left("first queue", |one| short(&one.first_queue_cpus, |cpus| format!("CPU {}", cpu_range(cpus))))
        .right("read-ahead", |one| bytes(&one.read_ahead_bytes))
        .left("blocks", |one| {
            format!("{}, {}", plain(&one.logical_block_bytes), plain(&one.physical_block_bytes))
        })
        .right("NUMA", |one| plain(&one.numa_node))
        .left("driver", |one| plain(&one.driver))
        .left("PCIe link", |one| match &one.pcie {
            Fact::Known(place) => format!("{} {}", place.address, link(&place.link)),
            Fact::Unknown(_) => "none".to_owned(),
        })
        .done()
}

/// `0,1,2,3` as `0-3`.
fn cpu_range(list: &str) -> String {
    let numbers: Vec<u32> = list.split(',').filter_map(|one| one.trim().parse().ok()).collect();
    crate::format::node_names::runs(&numbers, 0)
}

/// File systems with their free space.
pub(crate) fn file_systems(all: &[FileSystemFacts]) -> Table {
    let if_known =
        |one: &FileSystemFacts, words: String| if one.size_bytes > 0 { words } else { UNKNOWN.to_owned() };
    Table::of(all)
        .left("mounted at", |one| one.mount_point.clone())
        .left("type", |one| one.kind.clone())
        .left("source", |one| one.source.clone())
        .right("size", |one| if_known(one, decimal_bytes(one.size_bytes)))
        .right("free", |one| match (if_known(one, decimal_bytes(one.free_bytes)), is_full(one)) {
            (free, true) => Cell::toned(format!("{free} (little)"), Tone::Doubtful),
            (free, false) => free.into(),
        })
        .right("inodes free", |one| match one.inodes {
            0 => if_known(one, "no fixed number".to_owned()),
            _ => if_known(one, grouped(one.free_inodes)),
        })
        .left("options", |one| one.options.replace(',', ", "))
        .done()
        .below("options")
}

/// Whether a file system has little free space.
pub(super) fn is_full(one: &FileSystemFacts) -> bool {
    one.size_bytes > 0 && (one.free_bytes as f64) < one.size_bytes as f64 * FREE_LEAST
}

/// Volumes and their members.
pub(super) fn volumes(all: &[VolumeFacts]) -> Table {
    Table::of(all)
        .left("volume", |one| one.name.clone())
        .left("name", |one| plain(&one.title))
        .left("kind", |one| one.kind.clone())
        .left("level", |one| plain(&one.level))
        .right("chunk", |one| bytes(&one.chunk_bytes))
        .left("members", |one| format!("{}: {}", one.members.len(), one.members.join(" ")))
        .left("state", |one| plain(&one.state))
        .done()
}

/// Network interfaces.
pub(super) fn network(all: &[NetworkFacts]) -> Table {
    Table::of(all)
        .left("interface", |one| one.name.clone())
        .left("kind", |one| one.kind.clone())
        .left("state", |one| plain(&one.state))
        .right("speed", |one| short(&one.bits_per_second, |bits| format!("{} Gbit/s", *bits as f64 / 1e9)))
        .right("MTU", |one| short(&one.mtu_bytes, |bytes| format!("{bytes} B")))
        .left("driver", |one| plain(&one.driver))
        .right("NUMA", |one| plain(&one.numa_node))
        .left("PCI address", |one| plain(&one.pci_address))
        .done()
}

/// The contents of each slot, by unit and position; the width of a free slot.
pub(super) fn places(map: &SlotMap) -> Table {
    let names = |of: fn(&Slot) -> &str| {
        let same = analysis::figures::grouped(map.slots.iter().map(of), |name| *name);
        same.into_iter().map(|same| same[0]).collect::<Vec<_>>()
    };
    let (units, positions) = (names(|slot| &slot.unit), names(|slot| &slot.position));
    let mut table = Table::of(units).left("unit", |unit| if unit.is_empty() { "chassis" } else { unit });
    for position in positions {
        let slot =
            |unit: &&str| map.slots.iter().find(|slot| slot.unit == *unit && slot.position == position);
        table = table.left(position, |unit| {
            let Some(slot) = slot(unit) else { return Cell::default() };
            let width = short(&slot.link.width, |width| format!("x{width}"));
            match (slot.cards.first(), slot.usage) {
                (Some(card), _) if map.warnings.iter().any(|one| one.address == card.pcie.address) => {
                    Cell::toned(format!("{}!", label(card)), Tone::Bad)
                }
                (Some(card), _) => Cell::toned(label(card), Tone::Main),
                (None, SlotUsage::AvoidUsing) => format!("avoid {width}").into(),
                (None, SlotUsage::Used) => format!("used {width}").into(),
                (None, _) => format!("({width})").into(),
            }
        });
    }
    table.done()
}

/// The shortest identification of a card: its device, else its kind, as in slot tables.
fn label(card: &Card) -> &str {
    let kind = match card.kind.as_str() {
        "graphics or accelerator" => "GPU",
        "InfiniBand" => "IB",
        kind => kind.strip_suffix(" controller").unwrap_or(kind),
    };
    card.devices.first().map_or(kind, String::as_str)
}

/// Each card with its slot and its link.
pub(super) fn cards(map: &SlotMap) -> Table {
    let in_slot = map
        .slots
        .iter()
        .flat_map(|slot| slot.cards.iter().map(move |card| (slot.name.as_str(), link(&slot.link), card)));
    let elsewhere = map
        .elsewhere
        .iter()
        .map(|card| (card.pcie.slot.known().map_or("none known", String::as_str), UNKNOWN.to_owned(), card));
    Table::of(in_slot.chain(elsewhere))
        .left("slot", |(slot, ..)| *slot)
        .left("slot is", |(_, is, _)| is.clone())
        .left("card", |(.., card)| card.name.clone())
        .left("kind", |(.., card)| card.kind.clone())
        .left("devices", |(.., card)| card.devices.join(" "))
        .left("PCI address", |(.., card)| card.pcie.address.clone())
        .left("link", |(.., card)| link(&card.pcie.link))
        .left("card can", |(.., card)| link(&card.pcie.card))
        .right("NUMA", |(.., card)| plain(&card.numa_node))
        .done()
}

/// How many slots of each width are used and free.
pub(super) fn counts(all: &[SlotCount]) -> Table {
    Table::of(all)
        .left("width", |one| one.width.map_or_else(|| UNKNOWN.to_owned(), |width| format!("x{width}")))
        .right("used", |one| one.used.to_string())
        .right("unused", |one| one.unused.to_string())
        .right("avoid using", |one| one.avoid_using.to_string())
        .right("unknown", |one| one.unknown.to_string())
        .done()
}
