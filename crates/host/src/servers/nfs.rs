//! NFS: `/proc/self/mountstats` of the client.
//!
//! The eight numbers of `bytes:` are defined by `enum nfs_stat_bytecounters` (`include/linux/nfs_iostat.h` of Linux):
//! bytes that programs read and wrote through the page cache, bytes that bypassed it, bytes that the client read from
//! and wrote to the server, and pages.

use std::path::Path;

use plan::limits::SERVER_TEXT_BYTES;

use super::counter::{Counter, number};
use crate::Root;
use crate::file_systems::mounts::unescape_path;

const CLIENT: &str = "nfs-client";
const FILE: &str = "/proc/self/mountstats";
const BYTES: [&str; 6] = [
    "cached_read_bytes",
    "cached_write_bytes",
    "direct_read_bytes",
    "direct_write_bytes",
    "server_read_bytes",
    "server_write_bytes",
];

pub(super) fn counters(text: &str) -> Vec<Counter> {
    let mut found = Vec::new();
    let mut device: Option<String> = None;
    for line in text.lines() {
        if line.starts_with("device ") {
            device = mount(line).map(|(source, place)| format!("{source} on {place}"));
            continue;
        }
        let Some((device, numbers)) = device.as_deref().zip(line.trim_start().strip_prefix("bytes:")) else {
            continue;
        };
        let named = BYTES.into_iter().zip(numbers.split_whitespace());
        found.extend(
            named.filter_map(|(name, value)| Some(Counter::new(CLIENT, device, name, number(value)?))),
        );
    }
    found
}

/// Parses the source and mount point of an NFS mount: `device server:/export mounted on /mnt with fstype
/// nfs4 statvers=1.1`.
fn mount(line: &str) -> Option<(&str, &str)> {
    let (source, rest) = line.strip_prefix("device ")?.split_once(" mounted on ")?;
    let (place, kind) = rest.split_once(" with fstype ")?;
    kind.starts_with("nfs").then_some((source, place))
}

/// The parts of the file that describe the mounts at `places`.
pub(super) fn of_mounts(root: &Root, places: &[&Path]) -> Option<(String, String)> {
    let bytes = root.bytes(FILE).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut kept = String::new();
    let mut wanted = false;
    for line in text.lines() {
        if line.starts_with("device ") {
            let place = mount(line).map(|(_, place)| unescape_path(place));
            wanted = place.is_some_and(|place| places.contains(&place.as_path()));
        }
        if wanted && kept.len() + line.len() < SERVER_TEXT_BYTES {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    Some((FILE.to_owned(), kept))
}
