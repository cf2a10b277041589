//! Machines with cards in their slots, as trees of files.

use record::{Fact, SlotMap, SlotUsage};

use super::{map, unit_and_position};
use crate::devices::pci::smbios::tables;
use crate::fake::Tree;

/// SMBIOS: PCI Express Gen 3 x8 and x16.
const GEN3_X8: u8 = 0xB5;
const GEN3_X16: u8 = 0xB6;
/// SMBIOS: widths of 8 and 16 lanes.
const X8: u8 = 0x0B;
const X16: u8 = 0x0D;
/// SMBIOS: available, in use, unavailable.
const FREE: u8 = 3;
const IN_USE: u8 = 4;
const UNAVAILABLE: u8 = 5;

/// Classes of the bus.
const NVME: &str = "0x010802";
const ACCELERATOR: &str = "0x030200";
const INFINIBAND: &str = "0x020700";
const SAS: &str = "0x010700";

/// A card behind its own port: domain, class, number of active lanes, and the maximum of card and port.
fn card(
    tree: Tree,
    domain: u16,
    class: &str,
    runs: (&str, &str),
    card: (&str, &str),
    port: (&str, &str),
) -> Tree {
    let up = format!("/sys/devices/pci{domain:04x}:00/{domain:04x}:00:03.0");
    let at = format!("{up}/{domain:04x}:01:00.0");
    tree.files(&[
        (&format!("{up}/class"), "0x060400\n"),
        (&format!("{up}/max_link_width"), port.0),
        (&format!("{up}/max_link_speed"), port.1),
        (&format!("{at}/class"), class),
        (&format!("{at}/vendor"), "0x8086\n"),
        (&format!("{at}/device"), "0x0953\n"),
        (&format!("{at}/numa_node"), &format!("{domain}\n")),
        (&format!("{at}/current_link_width"), runs.0),
        (&format!("{at}/current_link_speed"), runs.1),
        (&format!("{at}/max_link_width"), card.0),
        (&format!("{at}/max_link_speed"), card.1),
    ])
    .directories(&[&format!("{up}/pci_bus/{domain:04x}:01")])
    .link(&format!("/sys/bus/pci/devices/{domain:04x}:00:03.0"), &up)
    .link(&format!("/sys/bus/pci/devices/{domain:04x}:01:00.0"), &at)
}

/// A card without any problem.
fn sound(tree: Tree, domain: u16, class: &str) -> Tree {
    let gen3 = "8.0 GT/s PCIe\n";
    let lanes = if class == NVME { "4\n" } else { "8\n" };
    card(tree, domain, class, (lanes, gen3), (lanes, gen3), ("16\n", gen3))
}

/// The machine of study A according to its printed slot table: eight units of twelve positions. The
/// number of slots to avoid is not printed; it is what remains of the 96 slots without the 87 others,
/// that is, nine.
fn published() -> Tree {
    const UNITS: [&str; 8] =
        ["r001i38b", "r001i33b", "r001i28b", "r001i23b", "r001i16b", "r001i11b", "r001i06b", "r001i01b"];
    const POSITIONS: [&str; 12] = ["1A/B", "2", "3", "4A/B", "5", "6", "7", "8", "9A/B", "10", "11", "12A/B"];
    let mut tree = Tree::new(&[]);
    let mut slots = Vec::new();
    let mut domain: u16 = 0;
    for unit in UNITS {
        for position in POSITIONS {
            let is_wide = position.ends_with("A/B");
            let class = match (unit, position) {
                ("r001i06b", "2" | "6" | "10") => Some(INFINIBAND),
                ("r001i06b", _) => None,
                ("r001i01b", "1A/B") => Some(INFINIBAND),
                ("r001i01b", "4A/B" | "9A/B") => Some(SAS),
                ("r001i01b", _) => None,
                (_, "1A/B" | "12A/B") => Some(NVME),
                (_, "4A/B" | "9A/B") => Some(ACCELERATOR),
                _ => None,
            };
            let is_avoided = unit == "r001i01b" && (!is_wide || position == "12A/B");
            let usage = match (class, is_avoided) {
                (Some(_), _) => IN_USE,
                (None, true) => UNAVAILABLE,
                (None, false) => FREE,
            };
            if let Some(class) = class {
                tree = sound(tree, domain, class);
            }
            let (kind, width) = if is_wide { (GEN3_X16, X16) } else { (GEN3_X8, X8) };
            slots.push((format!("{unit} {position}"), kind, width, usage, class.map(|_| (domain, 1, 0))));
            domain += u16::from(class.is_some());
        }
    }
    let slots: Vec<_> = slots
        .iter()
        .map(|(name, kind, width, usage, at)| (name.as_str(), *kind, *width, *usage, *at))
        .collect();
    tree.bytes("/sys/firmware/dmi/tables/DMI", &tables(&slots))
}

fn slot_map(tree: &Tree) -> SlotMap {
    map(tree.root())
}

#[test]
fn the_slots_of_the_published_machine_are_counted_as_printed() {
    let tree = published();
    let map = slot_map(&tree);
    let counts: Vec<_> =
        map.counts.iter().map(|one| (one.width, one.used, one.unused, one.avoid_using)).collect();
    assert_eq!(counts, [(Some(16), 27, 4, 1), (Some(8), 3, 53, 8)]);
    let cards = map.slots.iter().filter(|slot| slot.cards.iter().any(|card| card.kind == "NVMe"));
    let places: Vec<_> = cards.map(|slot| (slot.unit.as_str(), slot.position.as_str())).collect();
    assert_eq!(places.len(), 12);
    assert_eq!(places[0], ("r001i38b", "1A/B"));
    assert_eq!(places[11], ("r001i11b", "12A/B"));
    assert_eq!(map.warnings, [], "each card is in a slot of x16 and Gen 3");
    assert_eq!(map.elsewhere, []);
    assert_eq!(map.slots[0].numa_node, Fact::Known(0));
}

#[test]
fn a_card_in_a_narrow_slot_and_one_that_lost_lanes_are_told() {
    let gen3 = "8.0 GT/s PCIe\n";
    let tree = card(Tree::new(&[]), 0, NVME, ("4\n", gen3), ("4\n", gen3), ("8\n", gen3));
    let tree = card(tree, 1, NVME, ("2\n", "5.0 GT/s\n"), ("4\n", gen3), ("16\n", gen3));
    let tree = card(tree, 2, NVME, ("4\n", gen3), ("8\n", gen3), ("4\n", gen3));
    let tree = tree.bytes(
        "/sys/firmware/dmi/tables/DMI",
        &tables(&[
            ("CPU1 SLOT1 PCI-E 3.0 X8", GEN3_X8, X8, IN_USE, Some((0, 1, 0))),
            ("CPU2 SLOT2 PCI-E 3.0 X16", GEN3_X16, X16, UNAVAILABLE, Some((1, 1, 0))),
        ]),
    );
    let map = slot_map(&tree);
    let told: Vec<(&str, &str)> =
        map.warnings.iter().map(|one| (one.address.as_str(), one.message.as_str())).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[0].0, "0000:01:00.0");
    assert!(told[0].1.contains("slot is Gen 3 x8, not x16"), "{told:?}");
    assert!(told[1].1.contains("2 of the 4 lanes"), "{told:?}");
    assert!(told[2].1.contains("Gen 2, but card and slot support Gen 3"), "{told:?}");
    assert!(told[3].1.contains("should not be used"), "{told:?}");
    assert_eq!((map.slots[0].unit.as_str(), map.slots[0].position.as_str()), ("CPU1", "SLOT1"));
    // The third card supports eight lanes but its port only four, so nothing is lost.
    assert_eq!(map.elsewhere.len(), 1);
}

#[test]
fn without_firmware_the_slots_of_the_kernel_tell_and_the_port_gives_the_width() {
    let tree = sound(Tree::new(&[]), 0, NVME).files(&[
        ("/sys/bus/pci/slots/5/address", "0000:01:00\n"),
        ("/sys/bus/pci/slots/6/address", "0000:07:00\n"),
    ]);
    let map = slot_map(&tree);
    assert_eq!(map.slots[0].cards[0].name, "8086:0953");
    assert_eq!(map.slots[0].link.width, Fact::Known(16));
    assert_eq!(map.slots[0].cards[0].pcie.slot, Fact::Known("5".to_owned()));
    assert_eq!(map.slots[1].usage, SlotUsage::Unused);
    assert!(matches!(&map.slots[1].link.width, Fact::Unknown(_)));
    assert_eq!(map.counts.len(), 2);
}

#[test]
fn a_machine_that_names_no_slot_says_so() {
    let map = slot_map(&sound(Tree::new(&[]), 0, NVME));
    assert!(
        matches!(&map.source, Fact::Unknown(reason) if reason.contains("no /sys/firmware/dmi/tables/DMI"))
    );
    assert_eq!((map.slots.len(), map.elsewhere.len()), (0, 1));
}

#[test]
fn functions_of_one_card_are_one_card() {
    let at = "/sys/devices/pci0000:00/0000:00:01.0/0000:02:00";
    let mut tree = Tree::new(&[]);
    for function in 0..2 {
        tree = tree
            .files(&[
                (&format!("{at}.{function}/class"), "0x020000"),
                (&format!("{at}.{function}/net/e{function}/mtu"), "1500"),
            ])
            .link(&format!("/sys/bus/pci/devices/0000:02:00.{function}"), &format!("{at}.{function}"));
    }
    let map = slot_map(&tree);
    assert_eq!(map.elsewhere.len(), 1);
    assert_eq!(map.elsewhere[0].devices, ["e0", "e1"]);
}

#[test]
fn names_of_slots_have_a_unit_and_a_position() {
    let parts = |name: &str| {
        let (unit, position) = unit_and_position(name);
        format!("{unit}|{position}")
    };
    assert_eq!(parts("r001i38b 1A/B"), "r001i38b|1A/B");
    assert_eq!(parts("CPU1 SLOT3 PCI-E 3.0 X16"), "CPU1|SLOT3");
    assert_eq!(parts("CPU SLOT6 PCI-E 3.0 X8(IN X16)"), "CPU|SLOT6");
    assert_eq!(parts("PCIe Slot 5"), "Slot|5");
    assert_eq!(parts("5"), "|5");
    assert_eq!(parts("PCI-E"), "|PCI-E");
}
