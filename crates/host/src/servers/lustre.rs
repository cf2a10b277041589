//! Lustre: `lctl get_param`, the client's files in `/proc` and debugfs, `lfs getstripe`.
//!
//! The formats are those in the Lustre operations manual ("Lustre Parameters", "Managing File Layout").

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use plan::limits::SERVER_TEXT_BYTES;

use super::counter::{Counter, number, size};
use crate::Root;

const SERVER: &str = "lustre-server";
const CLIENT: &str = "lustre-client";
const LAYOUT: &str = "lustre-layout";

/// Directories of the client's counters, by version.
const CLIENT_PLACES: [&str; 2] = ["/sys/kernel/debug/lustre", "/proc/fs/lustre"];

/// The kind of the lines that follow a line `PARAMETER=`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// The lines are ignored.
    Nothing,
    /// Lines such as `read_bytes 27 samples [bytes] 4096 1048576 13000000`.
    Stats(&'static str),
    /// Histograms, one of which is `disk I/O size`.
    Histograms,
    /// The lines of that histogram: `4K: 3 10 10 | 0 0 0`.
    DiskSizes,
    /// The lines below `obdidx objid objid group`.
    Stripes,
}

/// The byte counters of storage targets and clients, the cache settings, and the targets that store files.
pub(super) fn counters(text: &str) -> Vec<Counter> {
    by_host(text).iter().flat_map(|lines| of_lines(lines)).collect()
}

/// Groups the lines by server if `pdsh` has prefixed them, for example with `oss21: `. Otherwise returns
/// all lines as one group.
fn by_host(text: &str) -> Vec<Vec<&str>> {
    let host = |line: &'_ str| -> Option<usize> {
        let (host, rest) = line.split_once(": ")?;
        parameter(rest).filter(|_| parameter(line).is_none() && !host.contains(char::is_whitespace))?;
        Some(host.len())
    };
    let hosts: BTreeSet<&str> = text.lines().filter_map(|line| Some(&line[..host(line)?])).collect();
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let named = line.split_once(':').filter(|(host, _)| hosts.contains(host));
        let (host, rest) =
            named.map_or(("", line), |(host, rest)| (host, rest.strip_prefix(' ').unwrap_or(rest)));
        groups.entry(host).or_default().push(rest);
    }
    groups.into_values().collect()
}

fn of_lines(lines: &[&str]) -> Vec<Counter> {
    let mut found = Vec::new();
    let (mut device, mut below) = ("", Section::Nothing);
    // Upper bounds of the bytes that the disks have read and written, summed up to the end of the
    // histogram.
    let mut most = [0_u64; 2];
    for line in lines {
        if let Some((parameter, value)) = parameter(line) {
            close(&mut found, &mut most, device, below);
            let (group, of, name) = parameter;
            device = of;
            below = match (group, name) {
                ("obdfilter", "stats") => Section::Stats(SERVER),
                // On a metadata server these are its own connections to the storage targets.
                ("osc", "stats") if !of.contains("-osc-MDT") => Section::Stats(CLIENT),
                (_, "brw_stats") if is_server(group) => Section::Histograms,
                _ => Section::Nothing,
            };
            if let Section::Stats(system) = below {
                // If the line is missing, nothing has been moved yet.
                found.extend(BYTES.map(|name| Counter::new(system, of, name, 0)));
            }
            let setting = SETTINGS.into_iter().find(|setting| is_server(group) && *setting == name);
            let value = setting.and_then(|setting| Some((setting, number(value)?)));
            found.extend(value.map(|(setting, value)| Counter::new(SERVER, of, setting, value)));
            continue;
        }
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        match below {
            _ if first == "obdidx" => {
                close(&mut found, &mut most, device, below);
                below = Section::Stripes;
            }
            Section::Stripes => match (first.parse::<u16>(), words.next().and_then(number)) {
                (Ok(index), Some(_)) => found.push(stripe(index)),
                _ => below = Section::Nothing,
            },
            Section::Stats(_) => {
                let told = found.iter_mut().rev().take(BYTES.len()).find(|one| one.counter == first);
                // The fields are: number of samples, the word, the unit, minimum, maximum, sum.
                let sum = words.nth(5).and_then(number);
                let sum = sum.filter(|_| line.contains(" samples [bytes]"));
                if let (Some(told), Some(sum)) = (told, sum) {
                    told.value = sum;
                }
            }
            Section::Histograms if line.starts_with("disk I/O size") => {
                // If the histogram has no lines, nothing has been read or written.
                (below, most) = (Section::DiskSizes, [0; 2]);
            }
            Section::DiskSizes => match disk_size(line) {
                Some([read, written]) => {
                    most = [most[0].saturating_add(read), most[1].saturating_add(written)];
                }
                None => {
                    close(&mut found, &mut most, device, below);
                    below = Section::Histograms;
                }
            },
            Section::Nothing | Section::Histograms => {
                let listed = line.split_once("l_ost_idx:").and_then(|(_, rest)| rest.split(',').next());
                found.extend(listed.and_then(|index| index.trim().parse().ok()).map(stripe));
            }
        }
    }
    close(&mut found, &mut most, device, below);
    found
}

const BYTES: [&str; 2] = ["read_bytes", "write_bytes"];
/// The settings of caches that keep data, once read or written, for later reads.
const SETTINGS: [&str; 2] = ["read_cache_enable", "writethrough_cache_enable"];

fn is_server(group: &str) -> bool {
    group == "obdfilter" || group.starts_with("osd-")
}

/// Splits `obdfilter.scratch-OST0001.stats=…` into its three parts and the text after the equals sign.
fn parameter(line: &str) -> Option<((&str, &str, &str), &str)> {
    let (name, value) = line.split_once('=')?;
    let (group, rest) = name.split_once('.')?;
    let (device, leaf) = rest.rsplit_once('.')?;
    let is_name = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    (is_name(group) && is_name(device) && is_name(leaf)).then_some(((group, device, leaf), value))
}

/// The bytes read and written by disks according to a line such as `1M: 12 60 100 | 3 20 100`, whose
/// requests are at most that large.
fn disk_size(line: &str) -> Option<[u64; 2]> {
    let (bucket, rest) = line.split_once(':')?;
    let (read, written) = rest.split_once('|')?;
    let bytes = size(bucket)?;
    let of = |side: &str| Some(number(side.split_whitespace().next()?)?.saturating_mul(bytes));
    Some([of(read)?, of(written)?])
}

/// Ends a histogram of sizes.
fn close(found: &mut Vec<Counter>, most: &mut [u64; 2], device: &str, below: Section) {
    let [read, written] = std::mem::take(most);
    if below == Section::DiskSizes {
        found.push(Counter::new(SERVER, device, "disk_read_bytes_max", read));
        found.push(Counter::new(SERVER, device, "disk_write_bytes_max", written));
    }
}

fn stripe(index: u16) -> Counter {
    Counter::new(LAYOUT, &format!("OST{index:04x}"), "asked", 1)
}

/// The byte counters of this node's Lustre client, in the format of `lctl get_param`.
pub(super) fn client(root: &Root) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for place in CLIENT_PLACES {
        let mut text = String::new();
        for group in ["llite", "osc"] {
            let Ok(entries) = fs::read_dir(root.path(format!("{place}/{group}"))) else { continue };
            let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let file = format!("{place}/{group}/{}/stats", entry.file_name().to_string_lossy());
                let Ok(stats) = root.read(&file) else { continue };
                if text.len() + stats.len() > SERVER_TEXT_BYTES {
                    break;
                }
                text.push_str(&format!("{group}.{}.stats=\n", entry.file_name().to_string_lossy()));
                // Other lines are not needed, and there may be hundreds of storage targets.
                let bytes = stats.lines().filter(|line| line.contains(" samples [bytes]"));
                bytes.for_each(|line| text.push_str(&format!("{line}\n")));
            }
        }
        if !text.is_empty() {
            found.push((place.to_owned(), text));
        }
    }
    found.truncate(1);
    found
}
