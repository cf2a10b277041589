//! Use of the page cache: proof that it was bypassed, a warning if it was not, and the effect of fadvise.

use std::fs;
use std::path::Path;

use testbed::{FileSystem, LoopDevice, Strace, Testbed, skipped};

use crate::desk::{Desk, assert_near, assert_says, cached, run};

fn device() -> LoopDevice {
    let built = LoopDevice::builder().bytes(128 << 20).file_system(FileSystem::Ext4).build();
    built.expect("a device")
}

fn file_on(device: &LoopDevice) -> String {
    device.mount_point().expect("mounted").join("file").display().to_string()
}

#[test]
fn direct_transfers_move_one_device_byte_for_each_byte_asked_for() {
    if skipped(Testbed::available()) {
        return;
    }
    let (desk, device) = (Desk::new(), device());
    let line = format!("-w -r -B -e -t 1m -b 64m -o {}", file_on(&device));
    let _ = run(&desk.ior(&line)).expect_code(0);
    let report = desk.report();
    assert_near("device ÷ application, write", report.device_share("write"), 1.0, 0.02);
    assert_near("device ÷ application, read", report.device_share("read"), 1.0, 0.02);
    assert!(!report.warnings("read").iter().any(|kind| kind == "cached"));
    let text = desk.tables();
    assert_says(&text, &["device", "1.00"]);
}

#[test]
fn reads_that_the_page_cache_answered_are_marked() {
    if skipped(Testbed::available()) {
        return;
    }
    let _cached = cached();
    let (desk, device) = (Desk::new(), device());
    let line = format!("-w -r -t 1m -b 32m -o {}", file_on(&device));
    let output = run(&desk.ior(&line)).expect_code(0);
    assert!(!output.stdout.contains("ioproof: ") && !output.stdout.contains("\n# "), "{}", output.stdout);
    assert_says(&output.stderr, &["ioproof: ", "cached", "see `ioproof report"]);
    let report = desk.report();
    assert!(report.device_share("read") < 0.05);
    assert!(report.warnings("read").iter().any(|kind| kind == "cached"));
    assert_eq!(report.figure("read")["page_cache"], true);
}

/// The effect of `--fadvise HOW` on a fully cached file of 16 MiB, of which 1 MiB was read.
struct Advised {
    /// The advice passed in each call.
    calls: Vec<String>,
    /// KiB that are in the page cache afterwards.
    cached_kib: u64,
    /// Bytes read from the device ÷ bytes read by the application.
    device_share: f64,
}

/// Most of the file, and far more than a read of 1 MiB loads. The kernel may reclaim some clean pages at any time if
/// other tests need memory.
const MOSTLY_KIB: u64 = 12 << 10;

fn advised(how: &str) -> Advised {
    let (desk, device) = (Desk::new(), device());
    let file = file_on(&device);
    // The file is synced first, since only clean pages can be dropped.
    let _ = run(&desk.ior(&format!("-w -e -k -t 64k -b 16m -o {file}"))).expect_code(0);
    fs::remove_dir_all(desk.record()).expect("of the write");
    let before = cached_kib(Path::new(&file));
    assert!(before >= MOSTLY_KIB, "the file is cached after it was written, not {before} KiB");
    let read = desk.ior(&format!("-r -k -t 64k -b 1m -o {file} --fadvise {how}"));
    let trace = Strace::new().run(&read).expect("a trace");
    let _ = trace.finished.clone().expect_code(0);
    let calls = trace.on("fadvise64", Path::new(&file)).filter_map(|call| call.arguments.last().cloned());
    Advised {
        calls: calls.collect(),
        cached_kib: cached_kib(Path::new(&file)),
        device_share: desk.report().device_share("read"),
    }
}

/// KiB of a file that are in the page cache, as reported by fincore(1).
fn cached_kib(file: &Path) -> u64 {
    let counted = testbed::Program::new("fincore").args(["--bytes", "--noheadings", "--output", "RES"]);
    let counted = run(&counted.arg(file)).expect_code(0).stdout;
    counted.trim().parse::<u64>().expect("a number") >> 10
}

/// Study D prints one call with the or-ed value 5, which is just NOREUSE and drops nothing. Three calls were
/// intended, of which DONTNEED empties the cache.
#[test]
fn advice_as_published_leaves_the_cache_alone_and_as_meant_drops_it() {
    if skipped(Testbed::available()) || skipped(Strace::available()) || skipped(fincore()) {
        return;
    }
    let _cached = cached();
    let published = advised("as-published");
    assert_eq!(published.calls, ["POSIX_FADV_NOREUSE"]);
    assert!(published.cached_kib >= MOSTLY_KIB, "still cached, not {} KiB", published.cached_kib);
    assert!(published.device_share < 0.05, "the cache answered {}", published.device_share);
    let meant = advised("as-meant");
    assert_eq!(meant.calls, ["POSIX_FADV_RANDOM", "POSIX_FADV_NOREUSE", "POSIX_FADV_DONTNEED"]);
    assert!(meant.cached_kib <= 2 << 10, "only what was read afterwards, not {} KiB", meant.cached_kib);
    assert_near("device ÷ application", meant.device_share, 1.0, 0.05);
    let none = advised("none");
    assert_eq!(none.calls, [""; 0]);
    assert!(none.cached_kib >= MOSTLY_KIB, "still cached, not {} KiB", none.cached_kib);
}

fn fincore() -> Result<(), String> {
    let there = testbed::Program::new("fincore").arg("--version").run();
    there.map(|_| ()).map_err(|error| error.to_string())
}
