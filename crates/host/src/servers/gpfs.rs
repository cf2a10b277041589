//! IBM Storage Scale: the response of `mmpmon` to `fs_io_s`, and the output of `mmlsconfig`.
//!
//! The formats are those in IBM's administration guide. The bytes of `fs_io_s` are those that the file system passed
//! to programs, "from both disk and cache", so they do not reveal the effect of a cache.

use super::counter::{Counter, number, size};

const CLIENT: &str = "gpfs-client";

pub(super) fn counters(text: &str) -> Vec<Counter> {
    let mut found = Vec::new();
    // In the human-readable format the node and then the file system come first, and are valid until the
    // next response.
    let (mut node, mut device) = (None, String::new());
    // `mmlsconfig` first names the cluster that the settings belong to.
    let mut cluster = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["_fs_io_s_", ref pairs @ ..] => found.extend(of_pairs(pairs)),
            ["mmpmon", "node", _, "name", name, what, "OK"] => {
                node = (what == "fs_io_s").then_some(name);
            }
            ["filesystem:", name] => device = format!("{} {name}", node.unwrap_or_default()),
            ["bytes", what @ ("read:" | "written:"), bytes] if node.is_some() => {
                let counter = if what == "read:" { "read_bytes" } else { "write_bytes" };
                found.extend(number(bytes).map(|bytes| Counter::new(CLIENT, &device, counter, bytes)));
            }
            ["Configuration", "data", "for", "cluster", name] => cluster = Some(name.trim_end_matches(':')),
            ["pagepool", bytes] => {
                let set = cluster.zip(size(bytes));
                found.extend(set.map(|(name, bytes)| Counter::new(CLIENT, name, "pagepool_bytes", bytes)));
            }
            _ => {}
        }
    }
    found
}

/// Parses the format `_n_ 10.0.0.1 _nn_ node1 … _fs_ gpfs0 _d_ 2 _br_ 6291456 _bw_ 314572800 …`.
fn of_pairs(pairs: &[&str]) -> Vec<Counter> {
    let value = |key: &str| pairs.chunks_exact(2).find(|pair| pair[0] == key).map(|pair| pair[1]);
    let Some((node, name)) = value("_nn_").zip(value("_fs_")) else { return Vec::new() };
    let device = format!("{node} {name}");
    let counter = |key: &str, name| Some(Counter::new(CLIENT, &device, name, number(value(key)?)?));
    [counter("_br_", "read_bytes"), counter("_bw_", "write_bytes")].into_iter().flatten().collect()
}
