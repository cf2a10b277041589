//! The slots that the firmware describes: structures of type 9 in the tables of SMBIOS.
//!
//! Source: DMTF DSP0134, System Management BIOS Reference Specification, 7.10 System Slots. The tables
//! are read from `/sys/firmware/dmi/tables/DMI`. They come from firmware of any age: values that are
//! truncated or out of range count as unknown and never cause an error.

use record::SlotUsage;

/// Type number of a structure that describes a slot.
const SYSTEM_SLOT: u8 = 9;
/// Type number of the structure that ends the tables.
const END_OF_TABLE: u8 = 127;
/// Size of a structure's header in bytes: type, length, handle.
const HEAD_BYTES: usize = 4;

/// A slot as the firmware describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FirmwareSlot {
    /// The name printed next to the slot.
    pub(crate) designation: String,
    /// What the slot accepts, or `None` if the firmware does not specify it or the number is too new.
    pub(crate) kind: Option<String>,
    /// PCI Express generation of the slot.
    pub(crate) generation: Option<u32>,
    /// Number of lanes, from the width of the slot's bus or otherwise from its type.
    pub(crate) width: Option<u32>,
    /// Whether the slot is in use.
    pub(crate) usage: SlotUsage,
    /// Domain, bus, device and function (since SMBIOS 2.6).
    pub(crate) address: Option<Address>,
}

/// A location on the PCI bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) domain: u16,
    pub(crate) bus: u8,
    /// Device in the upper five bits, function in the lower three.
    pub(crate) device_function: u8,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (device, function) = (self.device_function >> 3, self.device_function & 7);
        write!(f, "{:04x}:{:02x}:{device:02x}.{function}", self.domain, self.bus)
    }
}

/// All slots in the tables, in their order.
pub(crate) fn slots(tables: &[u8]) -> Vec<FirmwareSlot> {
    let mut slots = Vec::new();
    let mut rest = tables;
    while let Some(structure) = next(&mut rest) {
        match structure.kind {
            END_OF_TABLE => break,
            SYSTEM_SLOT => slots.push(slot(&structure)),
            _ => {}
        }
    }
    slots
}

/// A structure: its fixed part, including the header, and its strings.
struct Structure<'a> {
    kind: u8,
    fixed: &'a [u8],
    strings: &'a [u8],
}

impl Structure<'_> {
    fn byte(&self, offset: usize) -> Option<u8> {
        self.fixed.get(offset).copied()
    }

    fn word(&self, offset: usize) -> Option<u16> {
        let bytes = self.fixed.get(offset..offset + 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// The string whose number is stored at `offset`. Numbers start at 1; 0 means that there is no
    /// string.
    fn text(&self, offset: usize) -> Option<String> {
        let number = usize::from(self.byte(offset)?).checked_sub(1)?;
        let bytes = self.strings.split(|byte| *byte == 0).nth(number)?;
        let text = String::from_utf8_lossy(bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

/// The next structure, or `None` at the end or if the tables are truncated.
fn next<'a>(rest: &mut &'a [u8]) -> Option<Structure<'a>> {
    let (&kind, &length) = (rest.first()?, rest.get(1)?);
    let length = usize::from(length);
    if length < HEAD_BYTES || length > rest.len() {
        return None;
    }
    let (fixed, behind) = rest.split_at(length);
    // The list of strings ends with an empty string. A structure without strings ends with two zeros.
    let end = behind.windows(2).position(|pair| pair == [0, 0])?;
    *rest = &behind[end + 2..];
    Some(Structure { kind, fixed, strings: &behind[..end] })
}

fn slot(structure: &Structure<'_>) -> FirmwareSlot {
    let (kind, generation, width_of_kind) = structure.byte(0x05).map_or((None, None, None), kind);
    FirmwareSlot {
        designation: structure.text(0x04).unwrap_or_else(|| "without a name".to_owned()),
        kind,
        generation,
        width: structure.byte(0x06).and_then(lanes).or(width_of_kind),
        usage: match structure.byte(0x07) {
            Some(0x03) => SlotUsage::Unused,
            Some(0x04) => SlotUsage::Used,
            Some(0x05) => SlotUsage::AvoidUsing,
            _ => SlotUsage::Unknown,
        },
        address: address(structure),
    }
}

/// The slot's address. If all bits are set, the slot is not on such a bus.
fn address(structure: &Structure<'_>) -> Option<Address> {
    let domain = structure.word(0x0D).filter(|domain| *domain != u16::MAX)?;
    let bus = structure.byte(0x0F).filter(|bus| *bus != u8::MAX)?;
    let device_function = structure.byte(0x10).filter(|place| *place != u8::MAX)?;
    // Firmware that fills in nothing leaves zeros, the address of the root complex, which is not a slot.
    (bus != 0 || device_function != 0).then_some(Address { domain, bus, device_function })
}

/// Decodes the DSP0134 table "System Slots: Slot Width field".
fn lanes(width: u8) -> Option<u32> {
    match width {
        0x08 => Some(1),
        0x09 => Some(2),
        0x0A => Some(4),
        0x0B => Some(8),
        0x0C => Some(12),
        0x0D => Some(16),
        0x0E => Some(32),
        _ => None,
    }
}

/// Decodes the part of the DSP0134 table "System Slots: Slot Type field" that is about storage and
/// network cards: description, generation, lanes.
fn kind(number: u8) -> (Option<String>, Option<u32>, Option<u32>) {
    /// Consecutive types: any width, then 1, 2, 4, 8 and 16 lanes.
    const WIDTHS: [Option<u32>; 6] = [None, Some(1), Some(2), Some(4), Some(8), Some(16)];
    let express = |generation: u32, first: u8| {
        let width = WIDTHS.get(usize::from(number - first)).copied().flatten();
        let lanes = width.map_or(String::new(), |width| format!(" x{width}"));
        (Some(format!("PCI Express Gen {generation}{lanes}")), Some(generation), width)
    };
    let named = |name: &str, generation: Option<u32>| (Some(name.to_owned()), generation, None);
    match number {
        0x06 => named("PCI", None),
        0x12 => named("PCI-X", None),
        0x14 => named("M.2 socket 1-DP", None),
        0x15 => named("M.2 socket 1-SD", None),
        0x16 => named("M.2 socket 2", None),
        0x17 => named("M.2 socket 3", None),
        0x1F => named("PCI Express Gen 2 U.2", Some(2)),
        0x20 => named("PCI Express Gen 3 U.2", Some(3)),
        0x24 => named("PCI Express Gen 4 U.2", Some(4)),
        0x25 => named("PCI Express Gen 5 U.2", Some(5)),
        0x26..=0x28 => named("OCP NIC", None),
        0xA5..=0xAA => express(1, 0xA5),
        0xAB..=0xB0 => express(2, 0xAB),
        0xB1..=0xB6 => express(3, 0xB1),
        0xB8..=0xBD => express(4, 0xB8),
        0xBE..=0xC3 => express(5, 0xBE),
        0xC4 => named("PCI Express Gen 6", Some(6)),
        0xC5 => named("EDSFF E1", None),
        0xC6 => named("EDSFF E3", None),
        _ => (None, None, None),
    }
}

/// A slot as a test asks for it: its designation, type, width, usage and bus address.
#[cfg(test)]
pub(crate) type MadeSlot<'a> = (&'a str, u8, u8, u8, Option<(u16, u8, u8)>);

/// Tables with the structures that a test asks for.
#[cfg(test)]
pub(crate) fn tables(slots: &[MadeSlot<'_>]) -> Vec<u8> {
    // A structure of another type comes first, as on every machine.
    let mut bytes = vec![0, 5, 0, 0, 1];
    bytes.extend(b"Vendor\0\0");
    for (designation, kind, width, usage, address) in slots {
        let (domain, bus, place) = address.unwrap_or((u16::MAX, u8::MAX, u8::MAX));
        bytes.extend([9, 17, 1, 9, 1, *kind, *width, *usage, 4, 0, 0, 4, 1]);
        bytes.extend(domain.to_le_bytes());
        bytes.extend([bus, place]);
        bytes.extend(designation.as_bytes());
        bytes.extend([0, 0]);
    }
    bytes.extend([127, 4, 0, 0, 0, 0]);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use record::SlotUsage;

    use super::{Address, FirmwareSlot, slots, tables};

    #[test]
    fn slots_are_read_with_name_type_width_use_and_place() {
        let bytes = tables(&[
            ("r001i38b 1A/B", 0xB6, 0x0D, 4, Some((0x000a, 0x3b, 0))),
            ("r001i38b 2", 0xB5, 0x02, 3, None),
            ("r001i38b 3", 0xB5, 0x0B, 5, Some((0, 0x17, 0x1a))),
            ("odd", 0xFE, 0x01, 9, Some((0, 0, 0))),
        ]);
        let found = slots(&bytes);
        assert_eq!(found.len(), 4);
        assert_eq!(
            found[0],
            FirmwareSlot {
                designation: "r001i38b 1A/B".to_owned(),
                kind: Some("PCI Express Gen 3 x16".to_owned()),
                generation: Some(3),
                width: Some(16),
                usage: SlotUsage::Used,
                address: Some(Address { domain: 10, bus: 0x3b, device_function: 0 }),
            }
        );
        assert_eq!((found[1].width, found[1].usage, found[1].address), (Some(8), SlotUsage::Unused, None));
        assert_eq!(found[2].usage, SlotUsage::AvoidUsing);
        assert_eq!(found[2].address.map(|one| one.to_string()).as_deref(), Some("0000:17:03.2"));
        assert_eq!((found[3].kind.as_deref(), found[3].width, found[3].address), (None, None, None));
    }

    #[test]
    fn a_structure_of_old_firmware_is_shorter_and_has_no_place() {
        let mut bytes = vec![9, 13, 1, 9, 2, 0xAA, 0x0D, 4, 4, 0, 0, 4, 1];
        bytes.extend(b"first\0Slot 5\0\0");
        let found = slots(&bytes);
        assert_eq!((found[0].designation.as_str(), found[0].generation), ("Slot 5", Some(1)));
        assert_eq!(found[0].address, None);
    }

    proptest! {
        #[test]
        fn no_table_stops_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            slots(&bytes);
        }

        #[test]
        fn a_table_that_is_cut_short_gives_the_slots_before_the_cut(cut in 0_usize..200) {
            let whole = tables(&[
                ("CPU1 SLOT1", 0xB6, 0x0D, 4, Some((0, 1, 0))),
                ("CPU1 SLOT2", 0xB5, 0x0B, 3, Some((0, 2, 0))),
                ("CPU2 SLOT3", 0xBD, 0x0D, 3, None),
            ]);
            let all = slots(&whole);
            let some = slots(&whole[..cut.min(whole.len())]);
            prop_assert_eq!(&all[..some.len()], &some[..]);
        }

        #[test]
        fn every_name_comes_back(names in prop::collection::vec("[A-Za-z0-9][A-Za-z0-9 /_-]{0,20}[a-z]", 0..20)) {
            let given: Vec<_> = names.iter().map(|name| (name.as_str(), 0xB6, 0x0D, 3, None)).collect();
            let found = slots(&tables(&given));
            let found: Vec<&str> = found.iter().map(|slot| slot.designation.as_str()).collect();
            prop_assert_eq!(found, names.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
