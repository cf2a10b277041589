//! The parts of a host that are tables: devices, file systems, volumes, network, slots.

use plan::Bytes;
use record::{
    BlockDeviceFacts, Card, Fact, FileSystemFacts, NetworkFacts, PcieFacts, SlotCount, SlotMap, SlotUsage,
    VolumeFacts,
};

use super::rows::{UNKNOWN, link, shown};
use crate::format::decimal_bytes;
use crate::table::{Align, Cell, Table, Tone};

fn short<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> String {
    fact.known().map_or_else(|| UNKNOWN.to_owned(), words)
}

fn plain<T: ToString>(fact: &Fact<T>) -> String {
    short(fact, ToString::to_string)
}

/// What block devices are.
pub(crate) fn devices(devices: &[BlockDeviceFacts]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("device", Left),
        ("model", Left),
        ("serial", Left),
        ("firmware", Left),
        ("size", Right),
        ("turns", Left),
        ("wear", Right),
        ("world wide name", Left),
    ])
    .below("world wide name");
    for one in devices {
        table.row(vec![
            one.name.clone(),
            plain(&one.model),
            plain(&one.serial),
            plain(&one.firmware),
            decimal_bytes(one.size_bytes),
            short(&one.rotational, |turns| (if *turns { "yes" } else { "no" }).to_owned()),
            short(&one.wear_percent, |percent| format!("{percent} %")),
            plain(&one.world_wide_name),
        ]);
    }
    table
}

/// How block devices are set, and where they are.
pub(crate) fn queues(devices: &[BlockDeviceFacts]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("device", Left),
        ("scheduler", Left),
        ("queues", Right),
        ("requests", Right),
        ("depth", Right),
        ("first queue", Left),
        ("read-ahead", Right),
        ("blocks", Left),
        ("NUMA", Right),
        ("driver", Left),
        ("PCIe link", Left),
    ]);
    for one in devices {
        let link = match &one.pcie {
            Fact::Known(place) => format!("{} {}", place.address, link(&place.link)),
            Fact::Unknown(_) => "none".to_owned(),
        };
        table.row(vec![
            one.name.clone(),
            plain(&one.scheduler),
            short(&one.hardware_queues, ToString::to_string),
            plain(&one.queue_requests),
            plain(&one.queue_depth),
            short(&one.first_queue_cpus, |cpus| format!("CPU {}", cpu_range(cpus))),
            short(&one.read_ahead_bytes, |bytes| Bytes(*bytes).to_string()),
            format!("{}, {}", plain(&one.logical_block_bytes), plain(&one.physical_block_bytes)),
            plain(&one.numa_node),
            plain(&one.driver),
            link,
        ]);
    }
    table
}

/// `0,1,2,3` as `0-3`; the kernel names each.
fn cpu_range(list: &str) -> String {
    let numbers: Vec<u32> = list.split(',').filter_map(|one| one.trim().parse().ok()).collect();
    let runs = numbers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        [one] => one.to_string(),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// File systems with what is free; `limit` is the share below which that stands out.
pub(crate) fn file_systems(all: &[FileSystemFacts], limit: f64) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("mounted at", Left),
        ("type", Left),
        ("source", Left),
        ("size", Right),
        ("free", Right),
        ("inodes free", Right),
        ("options", Left),
    ])
    .below("options");
    for one in all {
        let is_told = one.size_bytes > 0;
        let bytes = |bytes: u64| if is_told { decimal_bytes(bytes) } else { UNKNOWN.to_owned() };
        let free = match is_full(one, limit) {
            true => Cell::toned(format!("{} (little)", bytes(one.free_bytes)), Tone::Doubtful),
            false => bytes(one.free_bytes).into(),
        };
        table.row(vec![
            one.mount_point.clone().into(),
            one.kind.clone().into(),
            one.source.clone().into(),
            bytes(one.size_bytes).into(),
            free,
            match (is_told, one.inodes) {
                (false, _) => UNKNOWN.into(),
                (true, 0) => "no fixed number".into(),
                (true, _) => Cell::from(crate::format::grouped(one.free_inodes)),
            },
            one.options.replace(',', ", ").into(),
        ]);
    }
    table
}

/// Whether less than `limit` of a file system is free.
pub(crate) fn is_full(one: &FileSystemFacts, limit: f64) -> bool {
    one.size_bytes > 0 && (one.free_bytes as f64) < one.size_bytes as f64 * limit
}

/// Volumes and their members.
pub(crate) fn volumes(all: &[VolumeFacts]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("volume", Left),
        ("name", Left),
        ("kind", Left),
        ("level", Left),
        ("chunk", Right),
        ("members", Left),
        ("state", Left),
    ]);
    for one in all {
        table.row(vec![
            one.name.clone(),
            plain(&one.title),
            one.kind.clone(),
            plain(&one.level),
            short(&one.chunk_bytes, |bytes| Bytes(*bytes).to_string()),
            format!("{}: {}", one.members.len(), one.members.join(" ")),
            plain(&one.state),
        ]);
    }
    table
}

/// Network interfaces.
pub(crate) fn network(all: &[NetworkFacts]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("interface", Left),
        ("kind", Left),
        ("state", Left),
        ("speed", Right),
        ("MTU", Right),
        ("driver", Left),
        ("NUMA", Right),
        ("PCI address", Left),
    ]);
    for one in all {
        table.row(vec![
            one.name.clone(),
            one.kind.clone(),
            plain(&one.state),
            short(&one.bits_per_second, |bits| format!("{} Gbit/s", *bits as f64 / 1e9)),
            short(&one.mtu_bytes, |bytes| format!("{bytes} B")),
            plain(&one.driver),
            plain(&one.numa_node),
            plain(&one.pci_address),
        ]);
    }
    table
}

/// Units by positions: what sits where. The width of a free slot stands in it.
pub(crate) fn places(map: &SlotMap) -> Table {
    let mut units: Vec<&str> = Vec::new();
    let mut positions: Vec<&str> = Vec::new();
    for slot in &map.slots {
        if !units.contains(&slot.unit.as_str()) {
            units.push(&slot.unit);
        }
        if !positions.contains(&slot.position.as_str()) {
            positions.push(&slot.position);
        }
    }
    let mut headings = vec![("unit", Align::Left)];
    headings.extend(positions.iter().map(|position| (*position, Align::Left)));
    let mut table = Table::new(&headings);
    for unit in units {
        let mut row = vec![Cell::from(if unit.is_empty() { "chassis" } else { unit })];
        row.extend(positions.iter().map(|position| {
            let mut here = map.slots.iter().filter(|slot| slot.unit == unit && slot.position == **position);
            here.next().map_or_else(Cell::default, |slot| {
                let width = short(&slot.link.width, |width| format!("x{width}"));
                match (slot.usage, slot.cards.first()) {
                    (SlotUsage::AvoidUsing, None) => Cell::from(format!("avoid {width}")),
                    (_, Some(card)) => {
                        let warned = map.warnings.iter().any(|warning| warning.address == card.pcie.address);
                        let tone = if warned { Tone::Bad } else { Tone::Main };
                        let mark = if warned { "!" } else { "" };
                        Cell::toned(format!("{}{mark}", label(card)), tone)
                    }
                    (SlotUsage::Used, None) => Cell::from(format!("used {width}")),
                    _ => Cell::from(format!("({width})")),
                }
            })
        }));
        table.row(row);
    }
    table
}

/// The shortest name that tells a card: its device, else its kind, as slot tables write it.
fn label(card: &Card) -> String {
    let kind = match card.kind.as_str() {
        "graphics or accelerator" => "GPU",
        "InfiniBand" => "IB",
        kind => kind.strip_suffix(" controller").unwrap_or(kind),
    };
    card.devices.first().map_or(kind, String::as_str).to_owned()
}

/// Each card with its slot and its link.
pub(crate) fn cards(map: &SlotMap) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("slot", Left),
        ("slot is", Left),
        ("card", Left),
        ("kind", Left),
        ("devices", Left),
        ("PCI address", Left),
        ("link", Left),
        ("card can", Left),
        ("NUMA", Right),
    ]);
    let mut row = |name: &str, is: String, card: &Card| {
        let PcieFacts { address, link: runs, card: can, .. } = &card.pcie;
        table.row(vec![
            name.to_owned(),
            is,
            card.name.clone(),
            card.kind.clone(),
            card.devices.join(" "),
            address.clone(),
            link(runs),
            link(can),
            plain(&card.numa_node),
        ]);
    };
    for slot in &map.slots {
        slot.cards.iter().for_each(|card| row(&slot.name, link(&slot.link), card));
    }
    for card in &map.elsewhere {
        row(&shown(&card.pcie.slot, Clone::clone).known_or("none known"), UNKNOWN.to_owned(), card);
    }
    table
}

/// How many slots of each width are used and free.
pub(crate) fn counts(all: &[SlotCount]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("width", Left),
        ("used", Right),
        ("unused", Right),
        ("avoid using", Right),
        ("unknown", Right),
    ]);
    for one in all {
        table.row(vec![
            one.width.map_or_else(|| UNKNOWN.to_owned(), |width| format!("x{width}")),
            one.used.to_string(),
            one.unused.to_string(),
            one.avoid_using.to_string(),
            one.unknown.to_string(),
        ]);
    }
    table
}
