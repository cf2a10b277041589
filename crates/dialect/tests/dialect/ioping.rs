//! ioping's command line and output: what its users and the scripts that read it rely on.

use dialect::ior::Launcher;
use dialect::{LiveOperation, ParsedCommand, ToolError, ToolPrinter, tool};
use plan::{Backend, Keep, Operation, Order, Phase, Plan, PlanSource};
use record::{FileSystemFacts, HistoryRow, Manifest, PhaseKey, PhaseRecord, PhaseRow};

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    (tool("ioping").expect("a tool").parse)(&words, Launcher::default())
}

fn workload(line: &str) -> plan::Workload {
    ask(line).unwrap_or_else(|error| panic!("{line}: {error}")).plan.cases[0].workload.clone()
}

fn refused(line: &str) -> String {
    match ask(line) {
        Ok(_) => panic!("{line} was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_published_line_is_read() {
    let asked = ask("ioping -c 10 -s 1M /tmp").expect("accepted");
    let case = &asked.plan.cases[0];
    let workload = &case.workload;
    assert_eq!((workload.geometry.transfer.0, workload.geometry.block.0), (1 << 20, 1 << 20));
    assert_eq!((workload.operations, workload.tasks), (Some(10), 1));
    assert_eq!(workload.pace.map(|pace| pace.transfers_per_second), Some(1.0));
    assert_eq!((case.phases.as_slice(), workload.files.keep), (&[Phase::Read][..], Keep::Never));
    assert!(workload.files.targets[0].starts_with("/tmp"), "a file of the run's own");
    assert_eq!(workload.history, Some(10));
}

#[test]
fn what_passes_by_the_page_cache_and_what_does_not_is_told_apart() {
    let way = |line: &str| {
        let workload = workload(line);
        (workload.direct, workload.forget, workload.sync.per_write, workload.data_sync)
    };
    assert_eq!(way("ioping ."), (false, true, false, false));
    assert_eq!(way("ioping -C ."), (false, false, false, false));
    assert_eq!(way("ioping -D ."), (true, false, false, false));
    assert_eq!(way("ioping -W ."), (false, false, true, true));
    assert_eq!(way("ioping -WC ."), (false, false, false, false));
    assert_eq!(way("ioping -WCy ."), (false, false, true, true));
    assert_eq!(way("ioping -WCY ."), (false, false, true, false));
    assert_eq!(way("ioping -G ."), (false, true, true, true));
    assert!(matches!(workload("ioping -AD .").backend, Backend::Uring { depth: 1, .. }));
    assert!(refused("ioping -A .").contains("-D"));
}

#[test]
fn words_may_be_cut_short_and_letters_bundled() {
    let one = workload("ioping -count=5 -inter 100ms -work-s 2m .");
    assert_eq!((one.operations, one.geometry.bytes_per_task().0), (Some(5), 2 << 20));
    assert_eq!(one.pace.map(|pace| pace.transfers_per_second), Some(10.0));
    let rapid = workload("ioping -RDL -s64k .");
    assert!(rapid.direct && rapid.pace.is_none() && rapid.order == Order::Sequential);
    assert_eq!(
        (rapid.duration.map(|time| time.0), rapid.geometry.bytes_per_task().0),
        (Some(3_000_000_000), 64 << 20)
    );
    assert_eq!(workload("ioping --count 3 --interval=0 .").operations, Some(3));
    assert_eq!(workload("ioping . -c 3 -i0").operations, Some(3), "options may follow the target");
    assert!(refused("ioping -work 3 .").contains("-work-size, -work-offset, -work-time"));
    assert!(refused("ioping -z .").contains("-z") && refused("ioping --nope .").contains("--nope"));
}

#[test]
fn rates_and_times_end_a_run() {
    let pace = |line: &str| workload(line).pace.map(|pace| pace.transfers_per_second);
    assert_eq!(pace("ioping -i 0 -r 50 ."), Some(50.0));
    assert_eq!(
        (pace("ioping -r 50 ."), pace("ioping -l 40k .")),
        (Some(50.0), Some(10.0)),
        "it sets the interval"
    );
    assert_eq!(pace("ioping -i 0 -l 40k ."), Some(10.0));
    assert_eq!(pace("ioping -i 0.5 -r 50 ."), Some(2.0), "the longest interval counts");
    assert_eq!(workload("ioping -c 100 -w 2 -i 0.1 .").operations, Some(20), "whichever ends first");
    assert!(workload("ioping .").duration.is_some_and(|time| time.0 > 1 << 57), "no end but an interruption");
}

#[test]
fn files_and_devices_are_written_only_when_that_is_said_three_times() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("f");
    std::fs::write(&file, vec![7; 10_000]).expect("written");
    let file = file.display();
    for line in ["ioping -W", "ioping -WW", "ioping -G"] {
        assert!(refused(&format!("{line} {file}")).contains("-WWW"), "{line}");
    }
    let written = workload(&format!("ioping -WWW -c 2 {file}"));
    assert_eq!((written.files.keep, written.files.fill), (Keep::Always, false));
    assert_eq!(written.geometry.bytes_per_task().0, 8192, "whole requests within the file");
    assert!(refused(&format!("ioping -s 1m {file}")).contains("10000 bytes"));
    assert!(refused("ioping /nowhere/at/all").contains("/nowhere/at/all"));
    assert!(refused("ioping /dev/null").contains("block device"));
    assert!(
        refused("ioping").contains("names no directory") && refused("ioping a b").contains("second target")
    );
}

#[test]
fn what_cannot_be_measured_is_refused_with_its_reason() {
    for (line, reason) in [
        ("ioping -N .", "page cache"),
        ("ioping -H .", "polled"),
        ("ioping -b 8 .", "bursts"),
        ("ioping -o 1m .", "offset 0"),
        ("ioping -c x .", "give a number"),
        ("ioping -i 1y .", "seconds"),
        ("ioping -I%! .", "strftime"),
        ("ioping --history 0 .", "--history"),
    ] {
        let error = refused(line);
        assert!(error.contains(reason), "{line}: {error}");
    }
}

#[test]
fn help_and_version_end_before_anything_else_can_be_wrong() {
    let help = ask("ioping -h -c 1").expect("accepted").show.expect("a text");
    assert!(help.contains("-w 3") && help.contains("docs/IOPING.md"), "{help}");
    assert!(ask("ioping -v").expect("accepted").show.expect("a text").starts_with("ioping 1.3"));
}

/// Four requests of 4 KiB, an interval of 0.2 s apart.
const TIMES_NS: [u64; 4] = [146_000, 220_800, 959_300, 2_200_000];

fn manifest(plan: Plan) -> Manifest {
    let file_system = FileSystemFacts {
        mount_point: "/".to_owned(),
        kind: "ext4".to_owned(),
        source: "/dev/vda".to_owned(),
        options: "rw".to_owned(),
        size_bytes: 270_553_174_016,
        free_bytes: 1 << 30,
        reserved_bytes: 0,
        inodes: 0,
        free_inodes: 0,
    };
    let mut manifest = crate::common::manifest(plan);
    manifest.host.file_systems = vec![file_system];
    manifest
}

/// A phase in which requests took `times_ns`, one each 0.2 s.
fn record(plan: &Plan, times_ns: &[u64]) -> PhaseRecord {
    let case = &plan.cases[0];
    let key = PhaseKey { case: case.id.as_str().into(), repetition: 0, phase: case.phases[0] };
    let bytes = case.workload.geometry.transfer.0;
    let row = |(number, latency_ns): (u64, &u64)| {
        let operation = match (key.phase, number % 2) {
            (Phase::Read, _) | (Phase::Mixed, 1) => Operation::Read,
            _ => Operation::Write,
        };
        HistoryRow {
            start_ns: 1_000 + number * 200_000_000,
            latency_ns: *latency_ns,
            offset_bytes: number * bytes,
            bytes,
            ..HistoryRow::new(key.clone(), operation)
        }
    };
    let history: Vec<HistoryRow> = (0..).zip(times_ns).map(row).collect();
    let made = times_ns.len() as u64;
    let count = |operation| history.iter().filter(|row| row.operation == operation).count() as u64;
    let (reads, writes) = (count(Operation::Read), count(Operation::Write));
    let io_ns = history.last().map_or(0, |row| row.start_ns - 1_000 + row.latency_ns);
    let phase = PhaseRow {
        started_unix_ns: 1_795_299_192_880_000_000,
        wall_ns: io_ns + 2_000,
        open_ns: 1_000,
        io_ns,
        close_ns: 1_000,
        read_bytes: reads * bytes,
        write_bytes: writes * bytes,
        reads,
        writes,
        first_done_ns: io_ns,
        first_done_bytes: made * bytes,
        ..PhaseRow::new(key)
    };
    PhaseRecord { history, ..PhaseRecord::new(phase) }
}

fn printer(plan: &Plan) -> Box<dyn ToolPrinter> {
    let mut printer = (tool("ioping").expect("a tool").printer)(plan).expect("its own plan");
    assert_eq!(printer.header(&manifest(plan.clone())), "");
    printer
}

fn printed(line: &str, times_ns: &[u64]) -> String {
    let plan = ask(line).expect("accepted").plan;
    printer(&plan).phase(&record(&plan, times_ns))
}

/// What release 1.3 printed for these times, but for the deviation of times that it knows to the
/// nanosecond.
#[test]
fn requests_and_statistics_have_the_form_of_ioping() {
    let expected = "\
4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=1 time=146 us (warmup)
4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=220.8 us
4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=3 time=959.3 us
4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=4 time=2.20 ms

--- . (ext4 /dev/vda 252.0 GiB) ioping statistics ---
3 requests completed in 3.38 ms, 12 KiB read, 887 iops, 3.47 MiB/s
generated 4 requests in 602.2 ms, 16 KiB, 6 iops, 26.6 KiB/s
min/avg/max/mdev = 220.8 us / 1.13 ms / 2.20 ms / 816.6 us
";
    assert_eq!(printed("ioping -c 4 -i 0.2 .", &TIMES_NS), expected);
}

#[test]
fn the_raw_line_has_its_ten_numbers() {
    let line = printed("ioping -B -c 4 -i 0.2 .", &TIMES_NS);
    assert_eq!(line, "3 3380100 887 3635395 220800 1126700 2200000 816629 4 602200000\n");
    let sample = "999 1762769 566722 2321293374 385 1765 77798 3309 1000 1798285";
    assert_eq!(sample.split(' ').count(), line.split_whitespace().count());
}

#[test]
fn writes_and_times_that_do_not_count_are_marked() {
    let text = printed("ioping -W -a 0 -t 150us -T 2ms -c 4 .", &TIMES_NS);
    assert!(text.contains("4 KiB >>> .") && text.contains("request=1 time=146 us (too fast)\n"), "{text}");
    assert!(
        text.contains("request=4 time=2.20 ms (too slow)\n") && text.contains("8 KiB written,"),
        "{text}"
    );
    assert!(text.contains("\n1 too fast, 1 too slow, generated 4 requests in"), "{text}");
    let text = printed("ioping -G -q -c 4 .", &TIMES_NS);
    assert!(text.starts_with("\n--- ") && text.contains("completed in 3.38 ms, 12 KiB, 887 iops"), "{text}");
    // From the sixth on, those far from the mean so far.
    let text = printed("ioping -a 0 -c 8 .", &[100, 100, 100, 100, 300, 100, 20, 900]);
    assert!(text.contains("request=5 time=300 ns\n") && text.contains("request=6 time=100 ns\n"), "{text}");
    assert!(
        text.contains("request=7 time=20 ns (fast)\n") && text.contains("time=900 ns (slow)\n"),
        "{text}"
    );
}

#[test]
fn raw_numbers_come_for_every_so_many_requests_or_so_much_time() {
    let text = printed("ioping -q -p 2 -c 5 .", &[100, 200, 300, 400, 600]);
    assert_eq!(text.lines().count(), 2, "and nothing else: {text}");
    let raw: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(
        raw,
        [
            "2 500 4000000 16384000000 200 250 300 50 3 400001300",
            "2 1000 2000000 8192000000 400 500 600 100 2 400000300"
        ]
    );
    let text = printed("ioping -q -P 0.4 -a 0 -c 5 .", &[100, 200, 300, 400, 600]);
    assert_eq!(text.lines().filter(|line| line.split(' ').count() == 10).count(), 2, "{text}");
}

/// The keys of the objects, in the order of ioping after release 1.3 (`1.3.17.g09f474b`).
#[test]
fn json_has_the_keys_of_ioping() {
    let text = printed("ioping -J -c 2 -i 0.2 .", &TIMES_NS[..2]);
    let keys: Vec<&str> =
        text.lines().filter_map(|line| line.trim().split_once("\": ").map(|(key, _)| &key[1..])).collect();
    let head = ["timestamp", "localtime", "target", "path", "fstype", "device", "device_size"];
    let io = ["io", "request", "operation", "offset", "size", "time", "ignored", "notice"];
    let stat = ["stat", "count", "size", "time", "iops", "bps", "min", "avg", "max", "mdev"];
    let load = ["load", "count", "failed", "size", "time", "iops", "bps"];
    let expected: Vec<&str> = [&head[..], &io, &head, &io, &head, &stat, &load].concat();
    assert_eq!(keys, expected);
    let parsed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(parsed[0]["io"]["ignored"], true);
    assert_eq!(parsed[1]["io"]["time"], 220_800);
    assert_eq!((&parsed[1]["io"]["offset"], &parsed[1]["io"]["notice"]), (&4096.into(), &"".into()));
    assert_eq!(parsed[0]["io"]["notice"], "warmup");
    assert_eq!((&parsed[2]["stat"]["count"], &parsed[2]["load"]["count"]), (&1.into(), &2.into()));
    assert!(
        text.contains("\"timestamp\": 1795299192.880147,"),
        "six digits, also where they end in 0:\n{text}"
    );
    assert_eq!(printed("ioping -J -q -c 2 .", &TIMES_NS[..2]).matches("\"io\"").count(), 0);
}

#[test]
fn requests_that_were_shown_as_they_came_are_not_shown_again() {
    let plan = ask("ioping -c 4 -i 0.2 .").expect("accepted").plan;
    let whole = record(&plan, &TIMES_NS);
    let mut printer = printer(&plan);
    assert!(printer.is_live());
    let live = |row: &HistoryRow| LiveOperation {
        operation: row.operation,
        start_ns: row.start_ns,
        latency_ns: row.latency_ns,
        offset_bytes: row.offset_bytes,
        bytes: row.bytes,
        ended_unix_ns: 0,
    };
    let mut text = String::new();
    for row in &whole.history[..3] {
        text += &printer.operations(&[live(row)]);
    }
    assert_eq!(text.lines().count(), 3);
    text += &printer.phase(&whole);
    assert_eq!(text, printed("ioping -c 4 -i 0.2 .", &TIMES_NS));
}

/// The notes say what is done with every option that is taken.
#[test]
fn every_option_has_a_meaning() {
    let asked = ask(
        "ioping -RDLGkyq -a 2 -c 5 -e 7 -i 1 -s 4k -S 1m -w 3 -l 1g -r 10 -t 1 -T 2 -B -I%T -J -p 1 -P 1 .",
    )
    .expect("accepted");
    let PlanSource::Dialect { notes, .. } = &asked.plan.source else { panic!("no dialect") };
    assert_eq!(notes.len(), 23);
    assert!(notes.iter().all(|note| !note.meaning.is_empty()), "{notes:?}");
}

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_page_on_ioping_has_every_option() {
    crate::page::has("IOPING.md", &(tool("ioping").expect("a tool").reference)());
}
