//! What a tracer sees: the expected system calls, and no others.

use std::collections::BTreeSet;
use std::fs;

use crate::bed::{Bed, child, has, output, skip, text};
use crate::drive;

/// Not a test by itself: [`child`] runs it in another process.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn act() {
    if let Err(error) = drive::main() {
        println!("failed to run: {error}");
    }
}

/// The system calls on the file for the arguments `words`, and the output of the program.
fn traced(bed: &Bed, words: &str, extra: &[&str]) -> Option<(Vec<String>, String)> {
    let (file, log) = (bed.path("file"), bed.path("log"));
    let (file, log) = (file.to_str().expect("a plain path"), log.to_str().expect("a plain path"));
    let mut before = vec!["strace", "-f", "-qq", "-s", "0", "-o", log, "-P", file];
    before.extend(extra);
    let output = output(&mut child(&before, &words.replace("FILE", file)));
    let printed = text(&output);
    let calls = fs::read_to_string(log).ok()?;
    // The first word is the thread ID.
    let calls = calls.lines().filter_map(|line| line.split_once(' ')).map(|(_, call)| call.trim().to_owned());
    Some((calls.collect(), printed))
}

fn fill(bed: &Bed, count: u32) {
    let words = format!("write psync {} count={count}", bed.path("file").display());
    let printed = text(&output(&mut child(&[], &words)));
    assert!(printed.contains("wrong cells 0"), "{printed}");
}

fn named<'c>(calls: &'c [String], name: &str) -> Vec<&'c str> {
    calls.iter().map(String::as_str).filter(|call| call.starts_with(&format!("{name}("))).collect()
}

#[test]
fn only_the_asked_transfers_reach_the_kernel() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    fill(&bed, 64);
    for (phase, call) in [("read", "pread64"), ("write", "pwrite64")] {
        let Some((calls, printed)) = traced(&bed, &format!("{phase} psync FILE count=64 random"), &[]) else {
            return skip("strace may not trace here");
        };
        assert!(printed.contains("64 transfers"), "{printed}");
        let transfers = named(&calls, call);
        let offsets: BTreeSet<u64> = transfers
            .iter()
            .map(|call| {
                let (arguments, result) = call.rsplit_once(')').expect("it returned");
                let result = result.trim_start_matches([' ', '=']);
                let mut arguments = arguments.rsplit(", ");
                let offset = arguments.next().and_then(|word| word.parse().ok()).expect("an offset");
                assert_eq!((arguments.next(), result), (Some("4096"), "4096"), "{call}");
                offset
            })
            .collect();
        assert_eq!((transfers.len(), offsets.len()), (64, 64), "each offset once");
        assert!(offsets.iter().all(|offset| offset % 4096 == 0));
        let others: Vec<_> = calls.iter().filter(|line| !line.starts_with(call)).collect();
        assert_eq!(others.len(), 2, "an open and a close beside them: {others:?}");
        let (flags, mode) = if phase == "read" { ("O_RDONLY|", "") } else { ("O_RDWR|O_CREAT|", ", 0664)") };
        assert!(others[0].starts_with("open") && !others[0].contains("O_TRUNC"), "{others:?}");
        assert!(others[0].contains(flags) && others[0].contains(mode), "{others:?}");
        assert!(others[1].starts_with("close("), "{others:?}");
    }
}

/// The last argument of a call, which is the offset.
fn offset(call: &str) -> u64 {
    let arguments = call.rsplit_once(')').expect("it returned").0;
    arguments.rsplit(", ").next().and_then(|word| word.parse().ok()).expect("an offset")
}

#[test]
fn every_order_reaches_the_kernel_as_it_is_named() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    fill(&bed, 10);
    let orders: [(&str, [u64; 10]); 4] = [
        ("", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("backward", [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ("stride=4", [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]),
        ("same", [0; 10]),
    ];
    let calls = [
        ("psync", "read", "pread64"),
        ("psync", "write", "pwrite64"),
        ("vectored", "read", "preadv"),
        ("vectored", "write", "pwritev"),
    ];
    for (order, places) in orders {
        for (backend, phase, call) in calls {
            let words = format!("{phase} {backend} FILE count=10 {order}");
            let Some((seen, printed)) = traced(&bed, &words, &[]) else {
                return skip("strace may not trace here");
            };
            assert!(printed.contains("10 transfers"), "{printed}");
            let found: Vec<u64> = named(&seen, call).iter().map(|call| offset(call) / 4096).collect();
            assert_eq!(found, places, "{words}");
            if backend == "vectored" {
                let four = |call: &&str| call.contains(", 4, ") && call.ends_with("= 4096");
                assert!(named(&seen, call).iter().all(four), "{seen:?}");
            }
        }
    }
}

#[test]
fn a_stream_seeks_only_where_a_transfer_does_not_follow_the_one_before() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    fill(&bed, 10);
    let seeks = |words: &str| {
        let (calls, printed) = traced(&bed, words, &[])?;
        assert!(printed.contains("10 transfers"), "{printed}");
        Some((named(&calls, "lseek").len(), named(&calls, "read").len() + named(&calls, "write").len()))
    };
    let Some(forward) = seeks("read stdio FILE count=10") else { return skip("strace may not trace here") };
    assert!(forward.0 <= 1 && forward.1 == 10, "{forward:?}");
    let write = seeks("write stdio FILE count=10").expect("strace traced before");
    assert!(write.0 <= 1 && write.1 == 10, "{write:?}");
    let backward = seeks("read stdio FILE count=10 backward").expect("strace traced before");
    assert!(backward.0 >= 9, "{backward:?}");
}

#[test]
fn advice_is_given_as_published_and_as_meant() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    fill(&bed, 4);
    let published = ["POSIX_FADV_NOREUSE"];
    let meant = ["POSIX_FADV_RANDOM", "POSIX_FADV_NOREUSE", "POSIX_FADV_DONTNEED"];
    for (word, advice) in [("published", &published[..]), ("meant", &meant[..])] {
        let Some((calls, _)) = traced(&bed, &format!("read psync FILE count=4 {word}"), &[]) else {
            return skip("strace may not trace here");
        };
        assert!(calls[0].contains("O_RDWR|O_CREAT|") && calls[0].contains(", 0600)"), "{calls:?}");
        let given = named(&calls, "fadvise64");
        assert_eq!(given.len(), advice.len(), "{given:?}");
        assert!(given.iter().zip(advice).all(|(call, name)| call.contains(name)), "{given:?}");
    }
}

#[test]
fn fsync_follows_each_write_or_the_last() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    for (word, fsyncs) in [("fsync", 1), ("fsync-each", 5), ("", 0)] {
        let Some((calls, _)) = traced(&bed, &format!("write psync FILE count=5 {word}"), &[]) else {
            return skip("strace may not trace here");
        };
        assert_eq!(named(&calls, "fsync").len(), fsyncs, "{calls:?}");
        if word == "fsync-each" {
            let pairs = calls[1..].chunks(2).take(5);
            assert!(
                pairs.into_iter().all(|p| p[0].starts_with("pwrite64") && p[1].starts_with("fsync")),
                "{calls:?}"
            );
        }
    }
}

#[test]
fn a_transfer_that_fails_is_named_with_its_place() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    fill(&bed, 8);
    let Some((_, printed)) =
        traced(&bed, "read psync FILE count=8", &["-e", "inject=pread64:error=EIO:when=3"])
    else {
        return skip("strace may not trace here");
    };
    let expected =
        "read of 4096 bytes at offset 8192 failed after 0 bytes: input/output error (EIO); the device";
    assert!(printed.contains(expected), "{printed}");
    let (_, printed) =
        traced(&bed, "write psync FILE count=8", &["-e", "inject=pwrite64:error=EDQUOT:when=2"])
            .expect("strace traced before");
    let expected =
        "write of 4096 bytes at offset 4096 failed after 0 bytes: disk quota exceeded (EDQUOT); raise";
    assert!(printed.contains(expected), "{printed}");
    let (_, printed) = traced(&bed, "write psync FILE count=8 fsync", &["-e", "inject=fsync:error=EIO"])
        .expect("strace traced before");
    assert!(printed.contains("fsync failed: input/output error (EIO)"), "{printed}");
}

#[test]
fn short_and_interrupted_transfers_are_continued_unless_one_attempt_is_allowed() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    fill(&bed, 8);
    let short = ["-e", "inject=pread64:retval=1000:when=2"];
    let Some((calls, printed)) = traced(&bed, "read psync FILE count=8", &short) else {
        return skip("strace may not trace here");
    };
    assert!(printed.contains("8 transfers"), "{printed}");
    let reads = named(&calls, "pread64");
    assert_eq!(reads.len(), 9, "{reads:?}");
    assert!(reads[2].contains("3096, 5096)"), "{reads:?}");
    let (_, printed) = traced(&bed, "read psync FILE count=8 single", &short).expect("strace traced before");
    assert!(printed.contains("moved 1000 of 4096 bytes, but only a single attempt is allowed"), "{printed}");
    let interrupted = ["-e", "inject=pread64:error=EINTR:when=2..4"];
    let (calls, printed) =
        traced(&bed, "read psync FILE count=8", &interrupted).expect("strace traced before");
    assert!(printed.contains("8 transfers"), "{printed}");
    assert_eq!(named(&calls, "pread64").len(), 11);
}

#[test]
fn hundreds_of_tasks_need_little_memory_beyond_their_buffers() {
    let bed = Bed::new();
    let peak = |tasks: u32| {
        let words = format!(
            "write psync {} count=64 tasks={tasks} pertask random memory",
            bed.path("file").display()
        );
        let printed = text(&output(&mut child(&[], &words)));
        let line = printed.lines().find_map(|line| line.strip_prefix("peak memory: ")).expect("printed");
        line.split(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("a number")
    };
    let (few, many) = (peak(1), peak(513));
    let each = (many - few) / 512;
    println!("{each} bytes per task, its buffer of 4096 included");
    // Stack usage is higher without optimization.
    let most = if cfg!(debug_assertions) { 60 << 10 } else { 30 << 10 };
    assert!(each - 4096 < most, "{each} bytes per task, its buffer of 4096 included");
}
