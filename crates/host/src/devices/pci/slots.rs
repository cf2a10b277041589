//! The slot map: which card is in which slot, what the slot provides, and what is wrong with the
//! combination.

use std::path::PathBuf;

use record::{Card, Fact, LinkFacts, Slot, SlotCount, SlotMap, SlotUsage, SlotWarning};

use super::names::{Names, is_storage, kind};
use super::smbios::{self, FirmwareSlot};
use super::{DEVICES, SLOTS, functions_above, link, place};
use crate::Root;
use crate::devices::{block, inventory};

/// The SMBIOS tables, which the kernel shows to root only.
const TABLES: &str = "/sys/firmware/dmi/tables/DMI";
/// Link width of the slots that study A used for its cards; see `ioproof reference show A`.
const ASKED_WIDTH: u32 = 16;
/// PCI Express generation of these slots.
const ASKED_GENERATION: u32 = 3;

/// A card, and the locations of its functions below the bridges.
struct FoundCard {
    card: Card,
    directory: PathBuf,
    /// Whether it is a kind of card that is shown even if no slot is known for it.
    is_kind: bool,
}

/// The slot map of a host.
pub(crate) fn map(root: &Root) -> SlotMap {
    let mut cards = cards(root);
    let kernel = KernelSlot::all(root);
    let (firmware, no_firmware) = match root.table(TABLES) {
        Ok(bytes) => (smbios::slots(&bytes), format!("{TABLES} describes no slots")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Vec::new(), format!("no {TABLES}")),
        Err(error) => (Vec::new(), format!("{TABLES}: {error}")),
    };
    let (source, slots) = match (firmware.as_slice(), kernel.as_slice()) {
        ([], []) => (Fact::Unknown(format!("{no_firmware}, and {SLOTS} lists none")), Vec::new()),
        ([], kernel) => {
            let slots = kernel.iter().map(|one| of_kernel(root, one, &mut cards)).collect();
            (Fact::Known(format!("{SLOTS}; {no_firmware}")), slots)
        }
        (firmware, kernel) => {
            let slots = firmware.iter().map(|one| of_firmware(root, one, kernel, &mut cards)).collect();
            (Fact::Known(format!("SMBIOS, structures of type 9, {SLOTS}")), slots)
        }
    };
    let elsewhere = cards.into_iter().filter(|found| found.is_kind).map(|found| found.card).collect();
    let mut map = SlotMap { source, slots, elsewhere, counts: Vec::new(), warnings: Vec::new() };
    map.counts = counts(&map.slots);
    map.warnings = warnings(&map);
    map
}

/// A slot of `/sys/bus/pci/slots`.
struct KernelSlot {
    name: String,
    /// Domain, bus and device of the slot.
    address: String,
}

impl KernelSlot {
    fn all(root: &Root) -> Vec<Self> {
        let slots = root.names(SLOTS).into_iter().filter_map(|name| {
            let address = root.text(&format!("{SLOTS}/{name}/address")).known()?.clone();
            Some(Self { name, address })
        });
        slots.collect()
    }
}

/// All cards. The functions of one device are combined.
fn cards(root: &Root) -> Vec<FoundCard> {
    let names = Names::read(root);
    // A namespace with several paths is a device of each of their controllers.
    let blocks: Vec<(String, PathBuf)> = inventory::whole_devices(root)
        .filter_map(|device| {
            let directory = block::controller_directory(root, &device.name)?;
            let head = inventory::multipath_of(root, &device.name).filter(|_| device.hidden);
            Some((head.unwrap_or(device.name), directory))
        })
        .collect();
    let mut all: Vec<FoundCard> = Vec::new();
    for address in root.names(DEVICES) {
        let Some(class) = hexadecimal(root, &format!("{DEVICES}/{address}/class")) else { continue };
        // Bridges are not cards themselves.
        if class >> 16 == 0x06 {
            continue;
        }
        let real = root.path(format!("{DEVICES}/{address}")).canonicalize().ok();
        let Some(directory) = real.and_then(|real| root.without_prefix(&real)) else { continue };
        let mut devices: Vec<String> = blocks
            .iter()
            .filter(|(_, at)| at.starts_with(&directory))
            .map(|(name, _)| name.clone())
            .collect();
        devices.sort_unstable();
        devices.dedup();
        for what in ["net", "infiniband"] {
            devices.extend(root.names(&format!("{DEVICES}/{address}/{what}")));
        }
        let device_of =
            |found: &FoundCard| found.card.pcie.address.split_once('.').map(|one| one.0.to_owned());
        let own = address.split_once('.').map(|one| one.0.to_owned());
        if let Some(first) = all.iter_mut().find(|found| device_of(found) == own) {
            first.card.devices.extend(devices);
            continue;
        }
        let kind = kind(class);
        let card = Card {
            kind: kind.unwrap_or("other device").to_owned(),
            name: name(root, &names, &address),
            devices,
            driver: driver(root, &address),
            numa_node: numa_node(root, &address),
            pcie: place(root, &address, &directory),
        };
        all.push(FoundCard { card, directory, is_kind: kind.is_some() });
    }
    all
}

fn hexadecimal(root: &Root, path: &str) -> Option<u32> {
    let text = root.text(path);
    u32::from_str_radix(text.known()?.trim_start_matches("0x"), 16).ok()
}

/// The model of an NVMe device, otherwise the name in the list of PCI names.
fn name(root: &Root, names: &Names, address: &str) -> String {
    let base = format!("{DEVICES}/{address}");
    let controllers = root.names(&format!("{base}/nvme"));
    let model = controllers.first().map(|one| root.text(&format!("{base}/nvme/{one}/model")));
    if let Some(Fact::Known(model)) = model {
        return model;
    }
    let number = |file: &str| hexadecimal(root, &format!("{base}/{file}"));
    match (number("vendor"), number("device")) {
        (Some(vendor), Some(device)) => names.of(vendor, device),
        _ => format!("device at {address}"),
    }
}

/// The driver that a function is bound to.
fn driver(root: &Root, address: &str) -> Fact<String> {
    let path = format!("{DEVICES}/{address}/driver");
    let target = std::fs::read_link(root.path(&path)).ok();
    let name = target.and_then(|target| Some(target.file_name()?.to_str()?.to_owned()));
    Fact::of(name, || format!("no {path}: no driver is bound to it"))
}

fn numa_node(root: &Root, address: &str) -> Fact<i32> {
    let path = format!("{DEVICES}/{address}/numa_node");
    match root.number::<i32>(&path) {
        Fact::Known(node) if node < 0 => {
            Fact::Unknown(format!("{path} reports that it belongs to no NUMA node"))
        }
        fact => fact,
    }
}

/// Removes from `cards` those that are at `place` (domain, bus and device) or below a bridge there, and
/// returns them.
fn taken(cards: &mut Vec<FoundCard>, place: &str) -> Vec<FoundCard> {
    let is_at = |found: &mut FoundCard| {
        let mut way = functions_above(&found.directory).into_iter();
        way.any(|(address, _)| address.split_once('.').is_some_and(|(device, _)| device == place))
    };
    cards.extract_if(.., is_at).collect()
}

fn of_firmware(
    root: &Root,
    firmware: &FirmwareSlot,
    kernel: &[KernelSlot],
    cards: &mut Vec<FoundCard>,
) -> Slot {
    let told = firmware.address.map(|address| address.to_string());
    let by_name = kernel.iter().find(|one| one.name == firmware.designation);
    let mut inside = Vec::new();
    for place in told.iter().filter_map(|told| told.split_once('.')).map(|(place, _)| place) {
        inside.extend(taken(cards, place));
    }
    if let Some(one) = by_name {
        inside.extend(taken(cards, &one.address));
    }
    let address = told.or_else(|| by_name.map(|one| one.address.clone()));
    let known = |value: Option<u32>, what: &str| {
        Fact::of(value, || format!("the firmware does not report its {what}"))
    };
    let own = LinkFacts {
        width: known(firmware.width, "width"),
        generation: known(firmware.generation, "generation"),
    };
    let kind = firmware.kind.clone();
    let kind =
        kind.map_or_else(|| Fact::Unknown("the firmware does not report its type".to_owned()), Fact::Known);
    let address =
        address.map_or_else(|| Fact::Unknown("the firmware does not report it".to_owned()), Fact::Known);
    slot(root, &firmware.designation, kind, own, firmware.usage, address, inside)
}

fn of_kernel(root: &Root, kernel: &KernelSlot, cards: &mut Vec<FoundCard>) -> Slot {
    let inside = taken(cards, &kernel.address);
    let usage = if inside.is_empty() { SlotUsage::Unused } else { SlotUsage::Used };
    let unsaid = || Fact::Unknown(format!("{SLOTS} does not report it"));
    let own = LinkFacts { width: unsaid(), generation: unsaid() };
    let address = Fact::Known(kernel.address.clone());
    let kind = Fact::Unknown(format!("{SLOTS} does not report it"));
    slot(root, &kernel.name, kind, own, usage, address, inside)
}

fn slot(
    root: &Root,
    name: &str,
    kind: Fact<String>,
    own: LinkFacts,
    told: SlotUsage,
    address: Fact<String>,
    inside: Vec<FoundCard>,
) -> Slot {
    let (unit, position) = unit_and_position(name);
    // If the slot does not describe itself, the port behind it does.
    let port = address.known().and_then(|address| port_of(root, address));
    let or_port = |own: Fact<u32>, of_port: fn(&LinkFacts) -> Fact<u32>| match (own, &port) {
        (Fact::Unknown(reason), Some(port)) => match of_port(port) {
            Fact::Known(value) => Fact::Known(value),
            Fact::Unknown(_) => Fact::Unknown(reason),
        },
        (own, _) => own,
    };
    let cards: Vec<Card> = inside.into_iter().map(|found| found.card).collect();
    Slot {
        name: name.to_owned(),
        unit,
        position,
        kind,
        link: LinkFacts {
            width: or_port(own.width, |port| port.width.clone()),
            generation: or_port(own.generation, |port| port.generation.clone()),
        },
        usage: match told {
            SlotUsage::AvoidUsing => told,
            _ if !cards.is_empty() => SlotUsage::Used,
            _ => told,
        },
        numa_node: cards.first().map_or_else(
            || Fact::Unknown("no card in it reports a NUMA node".to_owned()),
            |card| card.numa_node.clone(),
        ),
        address,
        cards,
    }
}

/// The capabilities of the bridge whose secondary bus `address` is on.
fn port_of(root: &Root, address: &str) -> Option<LinkFacts> {
    let (bus, _) = address.rsplit_once(':')?;
    let is_port = |name: &String| root.exists(&format!("{DEVICES}/{name}/pci_bus/{bus}"));
    let port = root.names(DEVICES).into_iter().find(is_port)?;
    Some(link(root, format!("{DEVICES}/{port}").as_ref(), "max"))
}

/// The chassis unit or riser, and the position in it, which is the last word after words that only
/// describe the kind of slot have been removed. Example: `CPU1 SLOT3 PCI-E 3.0 X16`.
fn unit_and_position(name: &str) -> (String, String) {
    let is_kind = |word: &&str| {
        let word = word.to_ascii_uppercase();
        let of_lanes = word.strip_prefix('X');
        matches!(word.as_str(), "PCI-E" | "PCIE" | "PCI" | "3.0" | "4.0" | "5.0" | "GEN3" | "GEN4" | "GEN5")
            || of_lanes.is_some_and(|lanes| !lanes.is_empty() && lanes.bytes().all(|c| c.is_ascii_digit()))
    };
    // `X8(IN X16)`: the part in parentheses is also about the width.
    let outside = name.split_once('(').map_or(name, |(outside, _)| outside);
    let mut words: Vec<&str> = outside.split_whitespace().filter(|word| !is_kind(word)).collect();
    match words.pop() {
        Some(position) => (words.join(" "), position.to_owned()),
        None => (String::new(), name.to_owned()),
    }
}

/// Number of slots of each width, the widest first and unknown widths last.
fn counts(slots: &[Slot]) -> Vec<SlotCount> {
    let mut counts: Vec<SlotCount> = Vec::new();
    for slot in slots {
        let width = slot.link.width.known().copied();
        let place = counts.iter().position(|count| count.width == width).unwrap_or_else(|| {
            counts.push(SlotCount { width, used: 0, unused: 0, avoid_using: 0, unknown: 0 });
            counts.len() - 1
        });
        let count = &mut counts[place];
        match slot.usage {
            SlotUsage::Used => count.used += 1,
            SlotUsage::Unused => count.unused += 1,
            SlotUsage::AvoidUsing => count.avoid_using += 1,
            SlotUsage::Unknown => count.unknown += 1,
        }
    }
    counts.sort_by_key(|count| std::cmp::Reverse(count.width));
    counts
}

fn warnings(map: &SlotMap) -> Vec<SlotWarning> {
    let in_slots = map.slots.iter().flat_map(|slot| slot.cards.iter().map(move |card| (card, Some(slot))));
    let all = in_slots.chain(map.elsewhere.iter().map(|card| (card, None)));
    let mut warnings = Vec::new();
    for (card, slot) in all.filter(|(card, _)| is_storage(&card.kind)) {
        let place = slot.map_or_else(|| card.pcie.address.clone(), |slot| format!("slot {}", slot.name));
        let what = if card.devices.is_empty() { card.kind.clone() } else { card.devices.join(", ") };
        for message in slot.and_then(not_asked_for).into_iter().chain(slower(card, slot)) {
            warnings.push(SlotWarning {
                address: card.pcie.address.clone(),
                card: format!("{what} ({}) in {place}", card.name),
                message,
            });
        }
        if slot.is_some_and(|slot| slot.usage == SlotUsage::AvoidUsing) {
            warnings.push(SlotWarning {
                address: card.pcie.address.clone(),
                card: format!("{what} ({}) in {place}", card.name),
                message: "the firmware marks this slot as one that should not be used".to_owned(),
            });
        }
    }
    warnings
}

/// Reports a slot for cards that is not x16 of generation 3. Drive bays are excluded, since they have
/// four lanes by design.
fn not_asked_for(slot: &Slot) -> Option<String> {
    let kind = slot.kind.known().map_or("", String::as_str);
    if ["U.2", "M.2", "EDSFF"].iter().any(|bay| kind.contains(bay)) {
        return None;
    }
    let (width, generation) = (slot.link.width.known(), slot.link.generation.known());
    let is_narrow = width.is_some_and(|width| *width < ASKED_WIDTH);
    let is_old = generation.is_some_and(|generation| *generation < ASKED_GENERATION);
    let shown = [generation.map(|one| format!("Gen {one}")), width.map(|one| format!("x{one}"))];
    let shown: Vec<String> = shown.into_iter().flatten().collect();
    (is_narrow || is_old).then(|| {
        format!(
            "its slot is {}, not x{ASKED_WIDTH} and Gen {ASKED_GENERATION} as for every card in study A",
            shown.join(" ")
        )
    })
}

/// Reports a link that runs below the capabilities of both of its ends.
fn slower(card: &Card, slot: Option<&Slot>) -> Vec<String> {
    let least = |of: fn(&LinkFacts) -> &Fact<u32>| {
        let slot = slot.and_then(|slot| of(&slot.link).known());
        let port = of(&card.pcie.port).known();
        let able = *of(&card.pcie.card).known()?;
        let offered = [slot, port].into_iter().flatten().min()?;
        Some(able.min(*offered))
    };
    let mut found = Vec::new();
    if let (Some(runs), Some(could)) = (card.pcie.link.width.known(), least(|link| &link.width))
        && *runs < could
    {
        found.push(format!(
            "its link uses {runs} of the {could} lanes that card and slot support: reseat the card"
        ));
    }
    if let (Some(runs), Some(could)) = (card.pcie.link.generation.known(), least(|link| &link.generation))
        && *runs < could
    {
        found.push(format!("its link runs at Gen {runs}, but card and slot support Gen {could}"));
    }
    found
}

#[cfg(test)]
mod tests;
