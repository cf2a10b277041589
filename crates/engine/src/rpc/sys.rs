//! Thin wrappers of system calls for interfaces and threads.

#![expect(unsafe_code, reason = "a linked list of the C library")]

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// One address of a network interface. An interface without an address has an entry as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interface {
    /// Its name.
    pub(super) name: String,
    /// Whether it is up.
    pub(super) up: bool,
    /// The address, with the prefix length of its network.
    pub(super) address: Option<(IpAddr, u32)>,
}

/// Lists the interfaces of this host's network namespace (`getifaddrs(3)`); empty if they cannot be
/// listed.
pub(super) fn interfaces() -> Vec<Interface> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the pointer is valid for a write; on success it is a list that `freeifaddrs` ends.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut next = first;
    // SAFETY: each pointer of the list is null or points to an entry that lives until the list is freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: names are C strings of the same list.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        let flags = entry.ifa_flags.cast_signed();
        all.push(Interface {
            name,
            up: flags & libc::IFF_UP != 0,
            // SAFETY: addresses and masks are null or lie in the same list.
            address: unsafe { address(entry.ifa_addr) }.map(|address| {
                // SAFETY: as above.
                let mask = unsafe { self::address(entry.ifa_netmask) };
                (address, mask.map_or(0, ones))
            }),
        });
        next = entry.ifa_next;
    }
    // SAFETY: the list was made by `getifaddrs` and nothing of it is kept.
    unsafe { libc::freeifaddrs(first) };
    all
}

/// Converts an address, if its family is one that exchanges use.
///
/// # Safety
/// `place` must be null or point to a socket address with the length of its family.
unsafe fn address(place: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: promised by the caller.
    let family = unsafe { place.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says what the address is; it may lie unaligned.
            let address = unsafe { place.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from_bits(u32::from_be(address.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { place.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

fn ones(mask: IpAddr) -> u32 {
    match mask {
        IpAddr::V4(mask) => mask.to_bits().count_ones(),
        IpAddr::V6(mask) => mask.to_bits().count_ones(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn loopback_has_its_address() {
        let all = super::interfaces();
        let known = |text: &str| text.parse().expect("an address");
        let found =
            all.iter().any(|one| one.name == "lo" && one.up && one.address == Some((known("127.0.0.1"), 8)));
        assert!(found || all.iter().all(|one| one.name != "lo" || !one.up), "{all:?}");
    }
}
