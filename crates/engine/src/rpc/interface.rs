//! The network interfaces of this host, their addresses, and the adapters behind them.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, getsockname, socket_with};

use super::error::NetworkError;
use super::sys::{self, Interface};

/// What an endpoint knows about its host.
#[derive(Debug, Clone)]
pub(super) struct Host {
    /// Its name.
    pub(super) name: String,
    /// Equal for two processes if and only if they can reach each other over loopback.
    pub(super) identity: String,
    interfaces: Vec<Interface>,
}

impl Host {
    /// Queries this host.
    pub(super) fn look() -> Self {
        let system = rustix::system::uname();
        let name = system.nodename().to_string_lossy().into_owned();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
        let identity = format!("{} {}", boot.trim(), network.display());
        Self { name, identity, interfaces: sys::interfaces() }
    }

    /// The address of the interface `name`.
    pub(super) fn address_of(&self, name: &str) -> Result<IpAddr, NetworkError> {
        let (name, host) = (name.to_owned(), self.name.clone());
        let mut own = self.interfaces.iter().filter(|one| one.name == name).peekable();
        let Some(first) = own.peek() else {
            let mut known: Vec<String> = Vec::new();
            for one in &self.interfaces {
                if !known.contains(&one.name) {
                    known.push(one.name.clone());
                }
            }
            return Err(NetworkError::NoInterface { name, host, known });
        };
        if !first.up {
            return Err(NetworkError::Down { name, host });
        }
        // To use a link-local address, the peer would also have to know the link.
        let usable = own.filter_map(|one| one.address).filter(|(address, _)| !is_link_local(*address));
        let best = usable.min_by_key(|(address, _)| address.is_ipv6());
        best.map(|(address, _)| address).ok_or(NetworkError::NoAddress { name, host })
    }

    /// All addresses at which others may reach this host, with the prefix lengths of their networks. IPv4
    /// addresses come first.
    pub(super) fn addresses(&self) -> Vec<(IpAddr, u32)> {
        let up = self.interfaces.iter().filter(|one| one.up);
        let all = up.filter_map(|one| one.address);
        let mut all: Vec<_> =
            all.filter(|(address, _)| !address.is_loopback() && !is_link_local(*address)).collect();
        all.sort_by_key(|(address, _)| address.is_ipv6());
        all
    }

    /// The local address that leads to a peer with these addresses: one on a common network, or otherwise
    /// the one the kernel would send from.
    pub(super) fn address_to(&self, peer: &[IpAddr]) -> Option<IpAddr> {
        let own = self.addresses();
        let shares = |(address, prefix): &&(IpAddr, u32)| {
            // Container bridges have the same address on every host.
            peer.iter().any(|other| other != address && same_network(*address, *other, *prefix))
        };
        if let Some((address, _)) = own.iter().find(shares) {
            return Some(*address);
        }
        let from = |other: &IpAddr| {
            let family = if other.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
            // Connecting a datagram socket sends nothing, but selects a route. After that, the socket only
            // receives what comes from that address.
            connect(&socket, &SocketAddr::new(*other, 9)).ok()?;
            SocketAddr::try_from(getsockname(&socket).ok()?).ok().map(|address| address.ip())
        };
        let foreign = peer.iter().filter(|other| own.iter().all(|(address, _)| address != *other));
        foreign.filter_map(from).find(|address| own.iter().any(|(known, _)| known == address))
    }

    /// The name of the interface that has `address`.
    pub(super) fn interface_with(&self, address: IpAddr) -> Option<&str> {
        let has = |one: &&Interface| one.address.is_some_and(|(known, _)| known == address);
        self.interfaces.iter().find(has).map(|one| one.name.as_str())
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Whether two addresses share their first `prefix` bits.
fn same_network(one: IpAddr, two: IpAddr, prefix: u32) -> bool {
    let differs = match (one, two) {
        (IpAddr::V4(one), IpAddr::V4(two)) => (one.to_bits() ^ two.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(two)) => (one.to_bits() ^ two.to_bits()).leading_zeros(),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    differs >= prefix
}

/// The NUMA node of the adapter behind an interface, or `None` if it reports none. Source:
/// `Documentation/ABI/testing/sysfs-bus-pci` of Linux; -1 means no node.
pub(super) fn numa_node(interface: &str) -> Option<u32> {
    let path = format!("/sys/class/net/{interface}/device/numa_node");
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Why no remote direct memory access was used.
pub(super) fn rdma() -> String {
    rdma_at(Path::new("/sys/class/infiniband"))
}

fn rdma_at(class: &Path) -> String {
    let names = std::fs::read_dir(class).into_iter().flatten().flatten();
    let mut devices: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    devices.sort();
    match devices.as_slice() {
        [] => format!("RDMA not available: no device in {}", class.display()),
        devices => format!(
            "RDMA not available: {} exists, but this program has no verbs or libfabric transport",
            devices.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::{Host, rdma_at, same_network};
    use crate::rpc::error::NetworkError;
    use crate::rpc::sys::Interface;

    /// Name, whether it is up, and its address with prefix length.
    type Shown<'a> = (&'a str, bool, Option<(&'a str, u32)>);

    fn host(interfaces: &[Shown<'_>]) -> Host {
        let one = |(name, up, address): &Shown<'_>| Interface {
            name: (*name).to_owned(),
            up: *up,
            address: address.map(|(text, prefix)| (text.parse().expect("an address"), prefix)),
        };
        let interfaces = interfaces.iter().map(one).collect();
        Host { name: "here".into(), identity: String::new(), interfaces }
    }

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    #[test]
    fn a_named_interface_gives_its_address_or_says_why_not() {
        let host = host(&[
            ("lo", true, Some(("127.0.0.1", 8))),
            ("eth0", true, Some(("fd00::1", 64))),
            ("eth0", true, Some(("10.0.0.1", 24))),
            ("eth1", true, None),
            ("eth1", true, Some(("fe80::1", 64))),
            ("eth2", false, Some(("10.0.2.1", 24))),
            // The kernel lists them once for each family of addresses.
            ("lo", true, Some(("::1", 128))),
        ]);
        assert_eq!(host.address_of("eth0"), Ok(addresses(&["10.0.0.1"])[0]), "IPv4 before IPv6");
        assert!(matches!(host.address_of("eth1"), Err(NetworkError::NoAddress { .. })));
        assert!(matches!(host.address_of("eth2"), Err(NetworkError::Down { .. })));
        let error = host.address_of("eth9").expect_err("it is not there");
        assert_eq!(
            error.to_string(),
            "there is no network interface eth9 on here; it has lo, eth0, eth1, eth2"
        );
    }

    #[test]
    fn the_way_to_a_peer_is_the_network_that_both_are_on() {
        let host = host(&[
            ("lo", true, Some(("127.0.0.1", 8))),
            ("docker0", true, Some(("172.17.0.1", 16))),
            ("eth0", true, Some(("10.0.0.1", 24))),
            ("ib0", true, Some(("10.9.0.1", 16))),
        ]);
        let to = |peer: &[&str]| host.address_to(&addresses(peer)).map(|address| address.to_string());
        assert_eq!(to(&["172.17.0.1", "10.9.3.3"]).as_deref(), Some("10.9.0.1"));
        assert_eq!(to(&["10.0.0.7"]).as_deref(), Some("10.0.0.1"));
        assert!(same_network(addresses(&["fd00::1"])[0], addresses(&["fd00::ffff"])[0], 64));
        assert!(!same_network(addresses(&["10.0.0.1"])[0], addresses(&["10.0.1.1"])[0], 24));
    }

    #[test]
    fn without_devices_and_with_them_it_says_why_there_is_no_rdma() {
        let class = tempfile::tempdir().expect("a directory");
        assert!(rdma_at(class.path()).starts_with("RDMA not available: no device in "));
        std::fs::create_dir(class.path().join("mlx5_0")).expect("made");
        assert!(rdma_at(class.path()).contains("mlx5_0 exists"));
    }
}
