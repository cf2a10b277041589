//! Trees: the number of system calls per item, and memory usage that does not grow with the number of items.

use std::collections::BTreeMap;
use std::fs;

use crate::bed::{Bed, child, has, output, skip, text};

/// The number of times that each system call was made by a run on this many files.
fn calls(bed: &Bed, words: &str, count: u32) -> Option<BTreeMap<String, u32>> {
    let (target, log) = (bed.path("t"), bed.path("log"));
    fs::create_dir_all(&target).expect("a target");
    let log = log.to_str().expect("a plain path");
    let words = format!("tree psync {} count={count} {words}", target.display());
    let printed = text(&output(&mut child(&["strace", "-f", "-qq", "-s", "0", "-o", log], &words)));
    assert!(!printed.contains("failed to run"), "{printed}");
    let mut calls = BTreeMap::new();
    for line in fs::read_to_string(log).ok()?.lines() {
        // The thread ID comes before the call.
        let call = line.split_once(' ').map_or("", |(_, call)| call.trim());
        if let Some((name, _)) = call.split_once('(') {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
    }
    (!calls.is_empty()).then_some(calls)
}

#[test]
fn each_item_takes_the_calls_that_it_must_and_no_other() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    let cases = [
        ("phases=file-create,file-remove", &[("openat", 1), ("close", 1), ("unlinkat", 1)][..]),
        ("phases=directory-create,directory-remove", &[("mkdirat", 1), ("unlinkat", 1)]),
        (
            "phases=file-create,file-stat,file-read,file-remove bytes=100",
            &[
                ("openat", 2),
                ("lseek", 2),
                ("write", 1),
                ("read", 1),
                ("close", 2),
                ("newfstatat", 1),
                ("unlinkat", 1),
            ],
        ),
        (
            "phases=file-create,file-stat,file-remove random levels=1 branching=2",
            &[("openat", 3), ("close", 3), ("newfstatat", 3), ("unlinkat", 3)],
        ),
        (
            "phases=file-create,file-remove fsync",
            &[("openat", 1), ("fsync", 1), ("close", 1), ("unlinkat", 1)],
        ),
        ("phases=file-create,file-remove node", &[("mknodat", 1), ("unlinkat", 1)]),
    ];
    for (words, expected) in cases {
        let (Some(few), Some(many)) = (calls(&bed, words, 100), calls(&bed, words, 300)) else {
            return skip("strace may not trace here");
        };
        let expected: BTreeMap<&str, u32> = expected.iter().copied().collect();
        for (name, count) in &many {
            let more = count - few.get(name).copied().unwrap_or(0).min(*count);
            let each = expected.get(name.as_str()).copied().unwrap_or(0);
            // The number of some calls varies between runs: waits at gates, memory.
            assert!(more.abs_diff(200 * each) < 50, "{words}: {more} more {name} for 200 more files");
        }
        assert!(expected.keys().all(|name| many.contains_key(*name)), "{words}: {many:?}");
    }
}

#[test]
fn items_need_no_memory() {
    let bed = Bed::new();
    fs::create_dir_all(bed.path("t")).expect("a target");
    let peak = |backend: &str, count: u32| {
        let words = format!("tree {backend} {} count={count} random memory", bed.path("t").display());
        let printed = text(&output(&mut child(&[], &words)));
        let line = printed.lines().find_map(|line| line.strip_prefix("peak memory: "));
        let line = line.unwrap_or_else(|| panic!("{printed}"));
        line.split(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("a number")
    };
    // A phase of the null backend processes a million names almost instantly.
    for (backend, few, many) in [("psync", 100, 20_000), ("uring", 100, 5_000), ("null", 100, 1_000_000)] {
        let (small, large) = (peak(backend, few), peak(backend, many));
        assert!(large < 64 << 20, "{large} bytes for {many} items");
        assert!(large.saturating_sub(small) < 1 << 20, "{backend}: {small} bytes, then {large}");
    }
}
