//! The last operations of a run, one by one, with the share of the device in their time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use testbed::{FileSystem, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, assert_says, run};

/// The machine-readable output of `ioproof history` for the record on the desk.
fn history(desk: &Desk, words: &str) -> Vec<Value> {
    let program = desk.ioproof("history --json").args(words.split_whitespace()).arg(desk.record());
    serde_json::from_str(&run(&program).expect_code(0).stdout).expect("valid JSON")
}

#[test]
fn the_last_operations_of_each_phase_are_shown() {
    let desk = Desk::new();
    let file = desk.path("f");
    let words = format!("-w -r -k -b 64k -t 4k --history 6 -o {}", file.display());
    let _ = run(&desk.ior(&words)).expect_code(0);
    let text = run(&desk.ioproof("history").arg(desk.record())).expect_code(0).stdout;
    assert_says(
        &text,
        &["write · repetition 0 · 6 operations", "read · repetition 0 · 6 operations", "nSec", "time ms"],
    );
    let parts = history(&desk, "--phase read");
    let offsets: Vec<u64> = parts[0]["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["offset_bytes"].as_u64().expect("a number"))
        .collect();
    assert_eq!(offsets, (10..16).map(|place| place * 4096).collect::<Vec<_>>(), "the last six");
    let last =
        run(&desk.ioproof("history --last 2 --csv --phase write").arg(desk.record())).expect_code(0).stdout;
    assert_eq!(last.lines().count(), 3, "{last}");

    // The columns are those of IBM Storage Scale, in its order, and the text can be imported again.
    let read: Vec<&str> = text.split("read · repetition").nth(1).expect("a part").lines().collect();
    let head = read.iter().find(|line| line.contains("I/O start time")).expect("a head");
    let heads: Vec<&str> = head.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    let of_scale = [
        "RW",
        "Buf type",
        "disk:sectorNum",
        "nSec",
        "time ms",
        "tag1",
        "tag2",
        "Disk UID",
        "typ",
        "NSD node",
    ];
    assert_eq!(heads[1..13], [&of_scale[..], &["context", "thread"]].concat(), "{head}");
    let part = &parts[0]["rows"][0];
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&file).expect("the file"));
    assert_eq!((part["kind"].as_str(), part["tag1"].as_u64()), (Some("data"), Some(inode)));
    assert_eq!((part["tag2"].as_u64(), part["context"].as_str()), (Some(10), Some("read")));
    let dump = desk.path("dump.txt");
    std::fs::write(&dump, &text).expect("the dump");
    let again = desk.path("again");
    let _ = run(&desk.ioproof("import").arg(&dump).arg("--out").arg(&again)).expect_code(0);
    let shown = run(&desk.ioproof("history --json").arg(&again)).expect_code(0).stdout;
    let shown: Vec<Value> = serde_json::from_str(&shown).expect("JSON");
    let rows: Vec<&Value> = shown.iter().flat_map(|part| part["rows"].as_array().expect("rows")).collect();
    assert_eq!(rows.len(), 12, "both phases");
    assert!(rows.iter().all(|row| row["tag1"].as_u64() == Some(inode)), "{rows:?}");

    let wrong = run(&desk.ioproof("history").arg(desk.record()).arg("nope")).expect_code(2);
    assert_says(&wrong.stderr, &["has no case `nope`", "test0"]);
    std::fs::remove_dir_all(desk.record()).expect("a record");
    let _ = run(&desk.ior(&format!("-w -b 64k -t 4k -o {} --yes", file.display()))).expect_code(0);
    let none = run(&desk.ioproof("history").arg(desk.record())).expect_code(2);
    assert_says(&none.stderr, &["--history N"]);
}

/// Study E: pasted output keeps its own times, with one line for each I/O.
#[test]
fn a_pasted_history_is_shown_as_it_was_printed() {
    let desk = Desk::new();
    let dump = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/dialect/tests/dialect/fixtures/import/published-iohist.txt"
    );
    let _ = run(&desk.ioproof("import").arg(dump).arg("--out").arg(desk.record())).expect_code(0);
    let shown = run(&desk.ioproof("history").arg(desk.record())).expect_code(0).stdout;
    let printed = std::fs::read_to_string(dump).expect("the dump");
    let rows: Vec<Vec<&str>> = printed
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() > 10 && words[0].starts_with("11:37:"))
        .collect();
    assert_eq!(rows.len(), 8, "{printed}");
    for words in rows {
        let same = |line: &&str| line.split_whitespace().eq(words.iter().copied());
        assert_eq!(shown.lines().filter(same).count(), 1, "{words:?} in\n{shown}");
    }
    assert_says(&shown, &["mean 54.9 µs an operation; 71.9 µs from start to start"]);
}

#[test]
fn items_of_trees_are_kept_too() {
    let (desk, data) = Desk::with_data();
    let words = format!("mdtest -n 5 -F -C -T -r --history 100 -d {}", data.display());
    let _ = run(&desk.ioproof(&words).arg("--out").arg(desk.record())).expect_code(0);
    let parts = history(&desk, "--phase file-create");
    let rows = parts[0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 5);
    let named = |row: &Value| row["file"].as_str().expect("a path").contains("file.mdtest.0.");
    assert!(rows.iter().all(|row| row["operation"] == "create" && named(row)), "{rows:?}");
}

/// Programs use any mounted tracing file system, so a test may not unmount one that another test relies on.
static TRACER: Mutex<()> = Mutex::new(());

/// The mount point of the kernel's tracing file system; mounted for the test if it is not mounted yet. Only one test at
/// a time has one.
struct Tracer {
    path: PathBuf,
    mounted: bool,
    _only: MutexGuard<'static, ()>,
}

impl Tracer {
    /// `place` is created as the mount point if needed.
    fn find(place: PathBuf) -> Option<Self> {
        let only = TRACER.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = Path::new("/sys/kernel/tracing");
        if usual.join("instances").is_dir() {
            return Some(Self { path: usual.to_owned(), mounted: false, _only: only });
        }
        std::fs::create_dir(&place).expect("a directory");
        let mounted = Command::new("mount").args(["-t", "tracefs", "tracefs"]).arg(&place).output();
        let is_mounted = mounted.is_ok_and(|output| output.status.success());
        is_mounted.then_some(Self { path: place, mounted: true, _only: only })
    }

    /// Trace instances of runs that are over.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path.join("instances")).expect("readable").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_left = |name: &String| {
            let process = name.strip_prefix("ioproof-").and_then(|rest| rest.split('-').next());
            process.is_some_and(|process| !Path::new("/proc").join(process).exists())
        };
        names.filter(is_left).collect()
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        if self.mounted {
            // Programs of other tests may have files open there. Nothing more can be done if unmounting fails.
            let _ = Command::new("umount").arg("--lazy").arg(&self.path).output();
        }
    }
}

#[test]
fn the_device_s_part_is_known_where_its_requests_can_be_traced() {
    if skipped(Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let Some(tracer) = Tracer::find(desk.path("tracing")) else {
        skipped(Err("the kernel's tracer cannot be mounted here".to_owned()));
        return;
    };
    for file_system in [Some(FileSystem::Xfs), None] {
        let builder = LoopDevice::builder().bytes(FileSystem::Xfs.smallest_bytes());
        let builder = match file_system {
            Some(kind) => builder.file_system(kind),
            None => builder,
        };
        let device = builder.build().expect("a device");
        let (target, consent) = match device.mount_point() {
            Some(place) => (place.join("f"), String::new()),
            None => {
                (device.device().to_owned(), format!("--destroy-data-on {} --yes", device.device().display()))
            }
        };
        let _ = std::fs::remove_dir_all(desk.record());
        let words =
            format!("-w -r -b 256k -t 16k --posix.odirect --history 100 {consent} -o {}", target.display());
        let _ = run(&desk.ior(&words)).expect_code(0);
        for phase in ["write", "read"] {
            let parts = history(&desk, &format!("--phase {phase}"));
            let rows = parts[0]["rows"].as_array().expect("rows");
            assert_eq!(rows.len(), 16);
            for row in rows {
                let (device_ns, latency_ns) = (row["device_ns"].as_u64(), row["latency_ns"].as_u64());
                assert_eq!(
                    (&row["matched"], &row["device"]),
                    (&"sector".into(), &device.name().into()),
                    "{row}"
                );
                assert!(device_ns.is_some_and(|nanos| nanos > 0) && device_ns <= latency_ns, "{row}");
                assert!(row["sector"].as_u64().is_some(), "{row}");
            }
            let part = &parts[0]["device"];
            assert_eq!((&part["operations"], &part["by_sector"]), (&16.into(), &16.into()));
        }
        assert_eq!(tracer.left(), [""; 0]);
    }
    let text = run(&desk.ioproof("history").arg(desk.record())).expect_code(0).stdout;
    assert_says(&text, &["device ms", "rest ms", "found: by sector"]);
}

/// E7: one sequential stream is sequential for the disk too; sixteen streams in turn are not.
#[test]
fn many_sequential_streams_are_no_sequential_stream_for_the_disk() {
    if skipped(Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let Some(tracer) = Tracer::find(desk.path("tracing")) else {
        skipped(Err("the kernel's tracer cannot be mounted here".to_owned()));
        return;
    };
    let device = LoopDevice::builder().bytes(64 << 20).build().expect("a device");
    let study = format!(
        "[protocol]\nrepetitions = 1\nphase_min = \"1ms\"\n\n[[target]]\nname = \"disk\"\ndevice = \"{}\"\n\n\
         [[workload]]\nname = \"streams\"\nphases = [\"read\"]\nfill = false\ntasks = [1, 16]\ntransfer = \"64KiB\"\n\
         size = \"2MiB\"\ndirect = true\nbarriers = true\nhistory = 1000\n",
        device.device().display()
    );
    let _ = run(&desk.study(&study)).expect_code(0);
    let report = desk.report().0;
    let views = report["statements"]["disk_view"].as_array().expect("a list");
    let share =
        |place: usize, key: &str| views[place][key].as_f64().unwrap_or_else(|| panic!("no {key}: {views:?}"));
    assert_eq!(views.len(), 2, "{views:?}");
    for (place, tasks) in [(0, 1), (1, 16)] {
        assert_eq!(views[place]["streams"], tasks);
        assert!(share(place, "in_a_row") > 0.99, "each stream is sequential: {views:?}");
    }
    assert!(share(0, "in_a_row_there") > 0.9, "{views:?}");
    assert!(share(1, "in_a_row_there") < 0.7, "{views:?}");
    assert!(share(1, "jumps_there") >= 65_536.0, "{views:?}");
    let operations = report["statements"]["io_history"].as_array().expect("a list");
    assert_eq!(operations.len(), 2, "{operations:?}");
    for one in operations {
        let nanos = |key: &str| one[key].as_f64().unwrap_or_else(|| panic!("no {key}: {one}"));
        assert!((nanos("device") + nanos("rest") - nanos("latency")).abs() < 1.0, "{one}");
        assert_eq!((&one["without_request"], &one["found_by"]), (&0.0.into(), &"sector".into()));
    }
    let text = desk.tables();
    assert_says(&text, &["what the disks see", "in a row there", "start to start"]);
    let first = run(&desk.ioproof("report").arg(desk.record())).expect_code(0).stdout;
    assert_says(&first, &["Single operations: the time of each, and its part in the device", "no request"]);
    assert_eq!(tracer.left(), [""; 0], "an instance of the tracer is left");
}
