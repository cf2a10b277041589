//! gpfsperf's and tsqosperf's command line and report, against what is published.

use std::path::Path;

use dialect::ior::Launcher;
use dialect::{ParsedCommand, ToolError};
use plan::{Backend, Case, Existing, Geometry, Keep, Order, Phase, Placement, Spread};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use record::{PhaseKey, PhaseRecord, PhaseRow, Run, TaskRow};

fn ask_under(line: &str, launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    (dialect::tool("tsqosperf").expect("known by both names").parse)(&words, launcher)
}

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    ask_under(line, Launcher::default())
}

fn case(line: &str) -> Case {
    ask(line).unwrap_or_else(|error| panic!("{line}: {error}")).plan.cases.remove(0)
}

/// A directory with a sparse file of `bytes`.
fn file_of(bytes: u64) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("test");
    std::fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("made");
    let path = path.display().to_string();
    (directory, path)
}

#[test]
fn published_lines_are_taken() {
    let (_kept, file) = file_of(128 << 20);
    let write = case(&format!("tsqosperf write seq -n 200g -r 16m -th 16 {file} -fsync"));
    let workload = &write.workload;
    assert_eq!((workload.tasks, workload.bytes().0, workload.direct), (16, 200 << 30, false));
    assert!(workload.sync.at_close);
    assert_eq!((workload.files.existing, workload.files.keep), (Existing::Reuse, Keep::Always));
    // Sixteen threads take the records in turn.
    let second = Placement::new(workload).region(1, Phase::Write, 0);
    assert_eq!((second.at(0), second.at(1)), (16 << 20, 17 * (16 << 20)));

    let read = case(&format!("tsqosperf read seq -r 4k {file} -dio"));
    let workload = &read.workload;
    assert_eq!((workload.tasks, workload.bytes().0, workload.direct), (1, 128 << 20, true));
    assert!(!read.protocol.evict_files, "direct reads pass the cache by");

    let create = case(&format!("gpfsperf create seq {file} -n 128G -r 16M -th 4"));
    assert_eq!(create.workload.files.existing, Existing::Replace);
    assert_eq!(create.workload.transfers(), 8192);
    let asked = ask(&format!("/usr/lpp/mmfs/samples/perf/gpfsperf create seq {file} -r 8m -n 15056m -th 4"));
    let asked = asked.expect("taken");
    assert!(
        asked.warnings[0].contains("bytes are skipped"),
        "1882 records for 4 threads: {:?}",
        asked.warnings
    );
    let plain = case(&format!("/usr/lpp/mmfs/samples/perf/gpfsperf read seq {file}"));
    assert!(plain.protocol.evict_files && !plain.protocol.drop_caches, "caches of others stay");
    assert_eq!(plain.workload.bytes().0, 128 << 20, "size and record are the file's");
}

#[test]
fn patterns_are_orders_of_the_plan() {
    let (_kept, file) = file_of(1 << 20);
    let random = case(&format!("gpfsperf read rand {file} -r 4k -n 256k"));
    assert!(matches!(random.workload.order, Order::Random { .. }));
    assert_eq!(random.workload.operations, Some(64), "a part of the file's 256 records, anywhere in it");
    let again = case(&format!("gpfsperf read seq {file} -r 64k -n 4m"));
    assert_eq!(again.workload.operations, Some(64), "the file four times");
    let strided = case(&format!("gpfsperf read strided {file} -r 4k -s 64k"));
    assert_eq!(strided.workload.order, Order::Strided { stride: 16 });
    let in_turn = case(&format!("gpfsperf read strided {file} -r 4k -th 4"));
    assert_eq!(in_turn.workload.order, Order::Strided { stride: 1 });
    assert_eq!(in_turn.workload.geometry.segments, 64);
    let queued = case(&format!("gpfsperf read rand {file} -r 4k -aio 8"));
    assert_eq!(queued.workload.backend, Backend::Uring { depth: 8, required: true });
}

#[test]
fn processes_of_a_launcher_have_parts_of_the_file() {
    let (_kept, file) = file_of(1 << 20);
    let node_of = [0, 0, 1, 1];
    let launcher = Launcher { node_of: &node_of, ..Launcher::default() };
    let asked = ask_under(&format!("gpfsperf-mpi read seq {file} -r 64k"), launcher).expect("taken");
    let workload = &asked.plan.cases[0].workload;
    assert_eq!((workload.tasks, workload.nodes), (4, 2));
    assert_eq!(workload.spread, Spread::Ranks { tasks_per_rank: 1 });
    let Geometry { block, segments, .. } = workload.geometry;
    assert_eq!((block.0, segments), (256 << 10, 1));
}

#[test]
fn what_cannot_be_is_refused_with_the_next_step() {
    let (_kept, file) = file_of(1 << 20);
    for (line, word) in [
        (format!("gpfsperf uncache seq {file}"), "nocache"),
        (format!("gpfsperf append seq {file}"), "create, read or write"),
        (format!("gpfsperf read zigzag {file}"), "strided"),
        ("gpfsperf read seq".to_owned(), "the file is missing"),
        (format!("gpfsperf read seq {file} more"), "one word too many"),
        ("gpfsperf read seq /does/not/exist -n 1g".to_owned(), "`create` creates it"),
        ("gpfsperf create seq /tmp/new".to_owned(), "-n 1g"),
        (format!("gpfsperf read seq {file} -shm"), "GPFS"),
        (format!("gpfsperf read seq {file} -nolabels"), "csv"),
        (format!("gpfsperf read seq {file} -q"), "not an option of gpfsperf"),
        (format!("gpfsperf read seq {file} -r 1.5k"), "fraction"),
        (format!("gpfsperf read seq {file} -r"), "needs a value"),
        (format!("gpfsperf read seq {file} -r 2m"), "smaller record"),
        (format!("gpfsperf read strided {file} -r 4k -s 6k"), "4096 bytes"),
        (format!("gpfsperf read seq {file} --compat 7"), "3, 4.2 or 5"),
    ] {
        let told = ask(&line).expect_err(&line).to_string();
        assert!(told.contains(word), "{line}: {told}");
    }
}

/// The report of `line` where each thread was busy for `busy` of `seconds`.
fn printed(line: &str, seconds: f64, busy: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few seconds")]
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    let asked = ask(line).expect("taken");
    let case = &asked.plan.cases[0];
    let key = PhaseKey { case: case.id.as_str().into(), repetition: 0, phase: case.phases[0] };
    let workload = &case.workload;
    let transfers = workload.transfers_per_task();
    let bytes = transfers * workload.geometry.transfer.0;
    let task = |task| TaskRow {
        node: "node".into(),
        file: 0,
        io_end_ns: ns(seconds * busy),
        close_start_ns: ns(seconds * busy),
        close_end_ns: ns(seconds),
        bytes,
        transfers,
        ..TaskRow::new(key.clone(), task)
    };
    let all = u64::from(workload.tasks);
    let row = PhaseRow {
        wall_ns: ns(seconds),
        io_ns: ns(seconds * busy),
        read_bytes: if workload.sync.at_close { 0 } else { bytes * all },
        write_bytes: if workload.sync.at_close { bytes * all } else { 0 },
        reads: if workload.sync.at_close { 0 } else { transfers * all },
        writes: if workload.sync.at_close { transfers * all } else { 0 },
        ..PhaseRow::new(key.clone())
    };
    let mut printer = (dialect::tool("gpfsperf").expect("known").printer)(&asked.plan).expect("of this plan");
    let tasks = (0..workload.tasks).map(task).collect();
    let record = PhaseRecord { tasks, ..PhaseRecord::new(row) };
    let run = Run::in_memory(crate::common::manifest(asked.plan.clone()), Vec::new());
    let mut out = printer.header(&run.manifest);
    out.push_str(&printer.phase(&record));
    out + &printer.finish(&run)
}

/// Study E prints the first block, and the second one.
#[test]
fn the_report_is_the_published_one() {
    let (kept, file) = file_of(128 << 20);
    let path = |text: &str| text.replace("FILE", &file);
    let write = printed(
        &path("tsqosperf write seq -n 200g -r 16m -th 16 FILE -fsync --compat 4.2"),
        13.317_829,
        0.938,
    );
    let expected = "tsqosperf write seq FILE\n  recSize 16M nBytes 200G fileSize 200G\n  nProcesses 1 \
                    nThreadsPerProcess 16\n  file cache flushed before test\n  not using direct I/O\n  offsets \
                    accessed will cycle through the same file segment\n  not using shared memory buffer\n  not \
                    releasing byte-range token after open\n  fsync at end of test\n    Data rate was 16124";
    assert!(write.starts_with(&path(expected)), "{write}");
    assert!(
        write.ends_with(" Kbytes/sec, thread utilization 0.938, bytesTransferred 214748364800\n"),
        "{write}"
    );

    // 32768 operations at 13454.96 per second.
    let read = printed(&path("tsqosperf read seq -r 4k FILE -dio"), 2.435_384, 1.0);
    let expected = "tsqosperf read seq FILE\n  recSize 4K nBytes 128M fileSize 128M\n  nProcesses 1 \
                    nThreadsPerProcess 1\n  file cache flushed before test\n  using direct I/O\n  offsets accessed \
                    will cycle through the same file segment\n  not using shared memory buffer\n  not releasing \
                    byte-range token after open\n    Data rate was 55111.5";
    assert!(read.starts_with(&path(expected)), "{read}");
    let end =
        "Ops/sec, Avg Latency was 0.074 milliseconds, thread utilization 1.000, bytesTransferred 134217728\n";
    assert!(read.contains("Op Rate was 13454.9") && read.ends_with(end), "{read}");

    // Before GPFS 4 a Kbyte is 1024 bytes: 8 MiB are 8192 of them.
    let old = printed(&path("gpfsperf write seq FILE -n 1g -r 8m -fsync --compat 3"), 1.0, 1.0);
    assert!(
        old.ends_with("Data rate was 1048576.00 Kbytes/sec, iops was 128.00, thread utilization 1.000\n"),
        "{old}"
    );
    assert!(Path::new(kept.path()).is_dir());
}

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_page_on_gpfsperf_has_every_option() {
    crate::page::has("GPFSPERF.md", &(dialect::tool("gpfsperf").expect("known").reference)());
}

const PIECES: [&str; 20] = [
    "create", "read", "write", "seq", "rand", "strided", "/tmp/x", "-n", "1g", "-r", "4k", "-th", "4",
    "-dio", "-fsync", "-s", "64k", "-aio", "-v", "-",
];

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(words in proptest::collection::vec(select(&PIECES[..]), 0..9), other in ".{0,8}") {
        match ask(&format!("gpfsperf {} {other}", words.join(" "))) {
            Ok(asked) => prop_assert!(asked.show.is_some() || asked.plan.cases.len() == 1),
            Err(error) => prop_assert!(!error.reason.is_empty()),
        }
    }

    #[test]
    fn every_thread_moves_as_much_and_all_of_them_what_was_asked(
        records in 1_u64..400, threads in 1_u32..9, pattern in select(&["seq", "rand", "strided"][..]),
    ) {
        let (_kept, file) = file_of(0);
        let line = format!("gpfsperf create {pattern} {file} -r 4k -n {} -th {threads}", records * 4096);
        match ask(&line) {
            Ok(asked) => {
                let workload = &asked.plan.cases[0].workload;
                let whole = records / u64::from(threads) * u64::from(threads);
                prop_assert_eq!(workload.bytes().0, whole * 4096);
                prop_assert_eq!(asked.warnings.is_empty(), whole == records);
            }
            Err(_) => prop_assert!(records < u64::from(threads)),
        }
    }
}
