//! Network interfaces that are backed by hardware, and ports of InfiniBand and Omni-Path.

use std::fs;

use record::{Fact, NetworkFacts};

use crate::Root;

/// Directory of the network interfaces.
const INTERFACES: &str = "/sys/class/net";
/// Directory of the adapters of InfiniBand and similar fabrics.
const ADAPTERS: &str = "/sys/class/infiniband";
/// Value of an interface's `type` for Ethernet (`linux/if_arp.h`).
const ETHERNET: &str = "1";
/// Value for InfiniBand.
const INFINIBAND: &str = "32";

pub(super) fn gather(root: &Root) -> Fact<Vec<NetworkFacts>> {
    if !root.exists(INTERFACES) {
        return Fact::Unknown(format!("no {INTERFACES}"));
    }
    // Interfaces without a device, for example the loopback or a bridge, are virtual.
    let interfaces =
        root.names(INTERFACES).into_iter().filter(|name| root.exists(&format!("{INTERFACES}/{name}/device")));
    let mut all: Vec<NetworkFacts> = interfaces.map(|name| interface(root, &name)).collect();
    for adapter in root.names(ADAPTERS) {
        let ports = root.names(&format!("{ADAPTERS}/{adapter}/ports"));
        all.extend(ports.iter().map(|number| port(root, &adapter, number)));
    }
    Fact::Known(all)
}

fn interface(root: &Root, name: &str) -> NetworkFacts {
    let base = format!("{INTERFACES}/{name}");
    let speed = root.number::<i64>(&format!("{base}/speed")).and_then(|megabits| match megabits {
        1.. => Fact::Known(megabits.unsigned_abs().saturating_mul(1_000_000)),
        _ => Fact::Unknown(format!("{base}/speed contains {megabits}")),
    });
    NetworkFacts {
        name: name.to_owned(),
        kind: match root.text(&format!("{base}/type")).known().map(String::as_str) {
            Some(ETHERNET) => "ethernet".to_owned(),
            Some(INFINIBAND) => "infiniband".to_owned(),
            Some(number) => format!("type {number}"),
            None => "unknown".to_owned(),
        },
        state: root.text(&format!("{base}/operstate")),
        bits_per_second: speed,
        mtu_bytes: root.number(&format!("{base}/mtu")),
        ..below(root, &format!("{base}/device"))
    }
}

fn port(root: &Root, adapter: &str, number: &str) -> NetworkFacts {
    let base = format!("{ADAPTERS}/{adapter}/ports/{number}");
    let rate = root.text(&format!("{base}/rate"));
    let rate = rate.and_then(|rate| Fact::of(bits(&rate), || format!("{base}/rate contains {rate}")));
    // `4: ACTIVE`
    let name = |state: String| state.split_once(": ").map_or(state.as_str(), |(_, name)| name).to_lowercase();
    let state = root.text(&format!("{base}/state")).map(name);
    let layer = root.text(&format!("{base}/link_layer"));
    let kind = match layer.known().map(String::as_str) {
        _ if adapter.starts_with("hfi") => "omni-path".to_owned(),
        Some("InfiniBand") | None => "infiniband".to_owned(),
        Some(layer) => format!("rdma over {}", layer.to_lowercase()),
    };
    NetworkFacts {
        name: format!("{adapter} port {number}"),
        kind,
        state,
        bits_per_second: rate,
        mtu_bytes: Fact::Unknown(format!("{ADAPTERS} does not report it")),
        ..below(root, &format!("{ADAPTERS}/{adapter}/device"))
    }
}

/// Parses a rate such as `100 Gb/sec (4X EDR)`.
fn bits(rate: &str) -> Option<u64> {
    let mut words = rate.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let is_sound = words.next()? == "Gb/sec" && (0.0..1e6).contains(&number);
    // Rates have at most one decimal digit, in gigabits.
    is_sound.then(|| format!("{:.0}", number * 1e9).parse().ok()).flatten()
}

/// Driver, NUMA node and PCI address of the card behind `device`. Other fields are left empty.
fn below(root: &Root, device: &str) -> NetworkFacts {
    let target = |path: &str| {
        let target = fs::read_link(root.path(path)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    };
    let driver = target(&format!("{device}/driver"));
    let real = fs::canonicalize(root.path(device)).ok().and_then(|real| root.without_prefix(&real));
    // A virtual card is below the PCI function; a real one is the function itself.
    let function = real.as_ref().and_then(|real| crate::devices::pci::nearest_function(real));
    let numa_node = match &function {
        Some((_, directory)) => match root.number::<i32>(&format!("{}/numa_node", directory.display())) {
            Fact::Known(node) if node < 0 => {
                Fact::Unknown("its card reports that it belongs to no NUMA node".to_owned())
            }
            fact => fact,
        },
        None => Fact::Unknown("it is not on a PCI bus".to_owned()),
    };
    NetworkFacts {
        name: String::new(),
        kind: String::new(),
        state: Fact::default(),
        bits_per_second: Fact::default(),
        mtu_bytes: Fact::default(),
        driver: Fact::of(driver, || format!("no {device}/driver")),
        numa_node,
        pci_address: function.map_or_else(
            || Fact::Unknown("it is not on a PCI bus".to_owned()),
            |(address, _)| Fact::Known(address),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn rates_of_ports_are_read() {
        assert_eq!(bits("100 Gb/sec (4X EDR)"), Some(100_000_000_000));
        assert_eq!(bits("2.5 Gb/sec (1X SDR)"), Some(2_500_000_000));
        assert_eq!(bits("fast"), None);
    }
}
