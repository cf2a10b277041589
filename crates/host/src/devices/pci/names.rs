//! Descriptions of PCI functions, from their class and from the list of names that a distribution
//! provides.

use crate::Root;

/// Where distributions store the list of PCI names.
const LISTS: [&str; 3] = ["/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids"];

/// The kind of a function with this class (24 bits), or `None` if it is not a storage, network or
/// accelerator card. Source: PCI Code and ID Assignment Specification, 1.
pub(super) fn kind(class: u32) -> Option<&'static str> {
    match class >> 8 {
        0x0104 => Some("RAID controller"),
        0x0106 => Some("SATA controller"),
        0x0107 => Some("SAS controller"),
        0x0108 => Some("NVMe"),
        0x0100..=0x01ff => Some("storage controller"),
        0x0207 | 0x0c06 => Some("InfiniBand"),
        0x0208 => Some("fabric adapter"),
        0x0200..=0x02ff => Some("network"),
        0x0300..=0x03ff => Some("graphics or accelerator"),
        0x0c04 => Some("Fibre Channel"),
        0x0b00..=0x0bff | 0x1200..=0x12ff => Some("accelerator"),
        _ => None,
    }
}

/// Whether cards of this kind carry storage.
pub(super) fn is_storage(kind: &str) -> bool {
    matches!(
        kind,
        "NVMe"
            | "RAID controller"
            | "SATA controller"
            | "SAS controller"
            | "storage controller"
            | "Fibre Channel"
    )
}

/// The list of PCI names of a host, if it has one.
#[derive(Debug, Default)]
pub(super) struct Names(String);

impl Names {
    pub(super) fn read(root: &Root) -> Self {
        Self(LISTS.iter().find_map(|path| root.read(path).ok()).unwrap_or_default())
    }

    /// The names of vendor and device, or their numbers if they are not in the list.
    pub(super) fn of(&self, vendor: u32, device: u32) -> String {
        let numbers = format!("{vendor:04x}:{device:04x}");
        let mut lines = self.0.lines().skip_while(|line| !starts(line, "", vendor));
        let Some(maker) = lines.next().and_then(name) else { return numbers };
        let of_maker = lines.take_while(|line| line.starts_with('\t') || line.starts_with('#'));
        let model = of_maker.filter(|line| starts(line, "\t", device)).find_map(name);
        model.map_or_else(|| format!("{maker} {numbers}"), |model| format!("{maker} {model}"))
    }
}

/// Whether `line` is the entry of `number` at the level of `indent`.
fn starts(line: &str, indent: &str, number: u32) -> bool {
    let text = line.strip_prefix(indent).and_then(|rest| rest.get(..4));
    text.is_some_and(|text| u32::from_str_radix(text, 16) == Ok(number))
}

/// The text after the number.
fn name(line: &str) -> Option<&str> {
    line.trim_start().get(4..).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::{Names, kind};

    #[test]
    fn names_are_those_of_the_vendor() {
        let list = "# comment\n8086  Intel Corporation\n\t0953  PCIe Data Center SSD\n\t\t8086 3702  DC P3700\n\
                    10de  NVIDIA\n\t1022  GK110GL [Tesla K20c]\n\t0953  other\n";
        let names = Names(list.to_owned());
        assert_eq!(names.of(0x8086, 0x0953), "Intel Corporation PCIe Data Center SSD");
        assert_eq!(names.of(0x10de, 0x1022), "NVIDIA GK110GL [Tesla K20c]");
        assert_eq!(names.of(0x8086, 0x1022), "Intel Corporation 8086:1022", "not of another vendor");
        assert_eq!(Names::default().of(1, 2), "0001:0002");
    }

    #[test]
    fn bridges_are_no_cards() {
        assert_eq!(kind(0x06_04_00), None);
        assert_eq!(kind(0x01_08_02), Some("NVMe"));
        assert_eq!(kind(0x02_07_00), Some("InfiniBand"));
    }
}
