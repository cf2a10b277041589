//! What is printed from a record is what IOR printed of the same figures, letter by letter.
//!
//! The samples are outputs of IOR 4.1, 3.3 and 3.0 as they were published or watched, with the
//! paths of the machines taken out and the lines left out that `docs/IOR.md` names. The rows below
//! are the times that gave their figures.

use dialect::ior::{Launcher, Printer, parse, rank_csv, stonewall_status};
use plan::{Phase, Plan};
use record::{Fact, FileSystemFacts, HostFacts, Manifest, PhaseKey, PhaseRow, TaskRow};

const TIB: f64 = 1_099_511_627_776.0;
const MI: f64 = 1_048_576.0;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of file systems are below 2^60"
)]
fn file_system(mount_point: &str, size: f64, used: f64, inodes: f64, used_inodes: f64) -> FileSystemFacts {
    FileSystemFacts {
        mount_point: mount_point.into(),
        kind: "xfs".into(),
        source: "/dev/x".into(),
        options: "rw".into(),
        size_bytes: size as u64,
        free_bytes: (size * (1.0 - used)) as u64,
        reserved_bytes: 0,
        inodes: inodes as u64,
        free_inodes: (inodes * (1.0 - used_inodes)) as u64,
    }
}

fn manifest(plan: Plan, node: &str, file_systems: Vec<FileSystemFacts>) -> Manifest {
    let mut manifest = crate::common::manifest(plan);
    // The samples know nothing of ioproof's own options.
    manifest.command_line.retain(|word| !word.starts_with("--compat"));
    let kernel = "3.10.0-957.1.3.el7.x86_64 #1 SMP Thu Nov 29 14:49:43 UTC 2018 x86_64";
    manifest.host =
        HostFacts { node: node.into(), kernel: Fact::Known(kernel.into()), file_systems, ..manifest.host };
    manifest
}

fn plan(line: &str, launcher: Launcher) -> Plan {
    parse(&line.split_whitespace().collect::<Vec<_>>(), launcher).expect("accepted").plan
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the times are a few seconds")]
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// A row from the seconds of open, I/O, close and all together.
fn row(phase: Phase, repetition: u32, bytes: u64, transfer: u64, seconds: [f64; 4]) -> PhaseRow {
    let [open, io, close, total] = seconds.map(ns);
    let (read, write) = if phase == Phase::Write { (0, bytes) } else { (bytes, 0) };
    PhaseRow {
        started_unix_ns: 1_795_256_357_000_000_000,
        wall_ns: total,
        open_ns: open,
        io_ns: io,
        close_ns: close,
        read_bytes: read,
        write_bytes: write,
        reads: read / transfer,
        writes: write / transfer,
        first_done_ns: io,
        first_done_bytes: bytes,
        ..PhaseRow::new(PhaseKey { case: "test0".into(), repetition, phase })
    }
}

/// Without the moments, which depend on the zone of the machine, and ioproof's own lines.
fn comparable(text: &str) -> Vec<String> {
    let moments = ["Began", "StartTime", "Finished", "Test 0 started", "Commencing"];
    let known = |line: &str| moments.iter().find(|name| line.starts_with(**name)).copied();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| known(line).unwrap_or(line).to_owned())
        .collect()
}

fn assert_same(printed: &str, sample: &str) {
    let (printed, sample) = (comparable(printed), comparable(sample));
    for (number, (ours, theirs)) in printed.iter().zip(&sample).enumerate() {
        assert_eq!(ours, theirs, "line {}", number + 1);
    }
    assert_eq!(printed.len(), sample.len());
}

const BYTES_64M: u64 = 64 << 20;

/// The rows behind `sample_4_1.txt`.
fn rows_4_1() -> Vec<PhaseRow> {
    let one = |phase, repetition, ops: f64, open: f64, iops: f64, close: f64| {
        row(phase, repetition, BYTES_64M, 1 << 16, [open, 1024.0 / iops, close, 1024.0 / ops])
    };
    vec![
        one(Phase::Write, 0, 44_480.70, 0.000_011, 44_514.0, 0.000_006),
        one(Phase::Read, 0, 78_811.08, 0.000_005, 78_860.0, 0.000_003),
        one(Phase::Write, 1, 58_244.73, 0.000_011, 58_291.0, 0.000_003),
        one(Phase::Read, 1, 90_508.01, 0.000_003, 90_548.0, 0.000_002),
        one(Phase::Write, 2, 61_993.44, 0.000_007, 62_030.0, 0.000_002),
        one(Phase::Read, 2, 94_465.48, 0.000_002, 94_501.0, 0.000_002),
    ]
}

#[test]
fn text_is_that_of_4_1() {
    let plan = plan("ior -a POSIX -w -r -i 3 -t 64k -b 64m -o shm/iorf", Launcher::default());
    let manifest = manifest(plan, "vm", vec![file_system("/shm", TIB / 256.0, 0.344, 2.9 * MI, 0.003)]);
    let printed = Printer::render(&manifest, &rows_4_1(), &[]).expect("an ior plan");
    assert_same(&printed, include_str!("ior/sample_4_1.txt"));
    assert!(printed.lines().last().is_some_and(|line| line.starts_with("Finished")), "{printed}");
}

#[test]
fn pieces_in_order_are_the_whole_output() {
    let plan = plan("ior -a POSIX -w -r -i 3 -t 64k -b 64m -o shm/iorf", Launcher::default());
    let manifest = manifest(plan, "vm", Vec::new());
    let mut printer = Printer::new(&manifest.plan).expect("an ior plan");
    let mut pieces = printer.header(&manifest);
    assert!(pieces.ends_with("----\n"), "the table is open before the first row");
    for row in rows_4_1() {
        let piece = printer.phase(&row, &[], None);
        assert_eq!(piece.lines().count(), 1, "{piece}");
        pieces.push_str(&piece);
    }
    pieces.push_str(&printer.finish(manifest.finished_unix_ns));
    assert_eq!(Some(pieces), Printer::render(&manifest, &rows_4_1(), &[]));
}

#[test]
fn json_has_the_keys_and_the_layout_of_4_1_and_is_valid() {
    let line = "ior -a POSIX -w -r -i 2 -t 64k -b 64m -O summaryFormat=JSON -o shm/iorf";
    let plan = plan(line, Launcher::default());
    let manifest = manifest(plan, "vm", vec![file_system("/shm", TIB / 256.0, 0.344, 2.9 * MI, 0.003)]);
    let printed = Printer::render(&manifest, &rows_4_1()[..4], &[]).expect("an ior plan");
    let shape = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| match line.split_once(": ") {
                Some((name, value)) if value.starts_with(|c: char| c.is_ascii_digit()) => {
                    let digits = value
                        .split_once('.')
                        .map_or(0, |(_, fraction)| fraction.chars().take_while(char::is_ascii_digit).count());
                    let end = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                    format!("{name}: number with {digits} digits{end}")
                }
                Some((name, value)) if ["Began", "Finished"].iter().any(|moment| name.contains(moment)) => {
                    format!("{name}: moment{}", value.trim_start_matches(|c| c != ','))
                }
                Some((name, _)) if name.contains("StartTime") => format!("{name}: moment and space"),
                _ => line.to_owned(),
            })
            .collect()
    };
    assert_eq!(shape(&printed), shape(include_str!("ior/sample_4_1.json")));

    let value: serde_json::Value = serde_json::from_str(&printed).expect("valid JSON");
    let near = |path: &str, expected: f64| {
        let found =
            value.pointer(path).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{path}"));
        assert!((found - expected).abs() < expected * 1e-4, "{path}: {found}");
    };
    near("/tests/0/Results/0/bwMiB", 2780.04);
    near("/tests/0/Results/1/iops", 78_860.0);
    near("/summary/0/bwMaxMIB", 3640.29);
    near("/summary/0/bwStdMIB", (3640.29 - 2780.04) / 2.0);
    near("/summary/1/OPsMin", 78_811.08);
    assert_eq!(value["tests"][0]["Used Inodes"], "0.3%");
    assert_eq!(value["summary"][1]["operation"], "read");
}

#[test]
fn json_stays_valid_with_names_that_need_quoting_warnings_and_no_results() {
    let words = ["ior", "-v", "-w", "-o", "a \"b\"\\c", "-O", "summaryFormat=JSON", "-t", "64k", "-D", "1"];
    let plan = parse(&words, Launcher::default()).expect("accepted").plan;
    let manifest = manifest(plan, "vm", Vec::new());
    let short = row(Phase::Write, 0, 1 << 16, 1 << 16, [0.1; 4]);
    for rows in [&[][..], &[short][..]] {
        let printed = Printer::render(&manifest, rows, &[]).expect("an ior plan");
        let value: serde_json::Value = serde_json::from_str(&printed).expect("valid JSON");
        assert_eq!(value["tests"][0]["Path"], "a \"b\"\\c");
        assert_eq!(value["tests"][0]["Results"].as_array().map(Vec::len), Some(rows.len()));
        assert_eq!(value["tests"][0]["max"].is_object(), !rows.is_empty());
    }
}

#[test]
fn csv_is_that_of_4_1() {
    let line = "ior -a POSIX -w -i 3 -t 64k -b 64m -O summaryFormat=CSV -o shm/iorf";
    let manifest = manifest(plan(line, Launcher::default()), "vm", Vec::new());
    let rows = [row(Phase::Write, 2, BYTES_64M, 1 << 16, [0.000_3, 0.02, 0.000_01, 0.025])];
    let printed = Printer::render(&manifest, &rows, &[]).expect("an ior plan");
    assert_eq!(
        printed,
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\n\
         write,2560.0000,51200.0000,0.0000,65536.0000,64.0000,0.0003,0.0200,0.0000,0.0250,1,2\n"
    );
}

#[test]
fn text_is_that_of_3_3() {
    let line = "ior -i 1 -t 4k -b 1024k -s 4096 -C -F -e -o /data/testdata/testFile --compat=3.3";
    let plan = plan(line, Launcher { tasks: Some(4), ..Launcher::default() });
    let manifest = manifest(plan, "gpfs01", vec![file_system("/data", 87.3 * TIB, 0.01, 87.3 * MI, 0.005)]);
    let mut printer = Printer::new(&manifest.plan).expect("an ior plan");
    let mut printed = printer.header(&manifest);
    let transfers = 4_194_304.0;
    let times = [0.001_463, transfers / 519_844.0, 1.13, transfers / 519_818.29];
    printed.push_str(&printer.phase(&row(Phase::Write, 0, 16 << 30, 4096, times), &[], None));
    let times = [0.000_037, transfers / 504_065.0, 0.055_648, transfers / 504_060.67];
    printed.push_str(&printer.phase(&row(Phase::Read, 0, 16 << 30, 4096, times), &[], None));
    printed.push_str(&printer.removed(0, 0.001_426));
    printed.push_str(&printer.finish(manifest.finished_unix_ns));
    assert_same(&printed, include_str!("ior/sample_3_3.txt"));
}

#[test]
fn text_is_that_of_3_0() {
    let line =
        "ior -vv -Z -b 200m -t 20m -a POSIX -F -r -o /projects/tmp/ior_test_file__a_POSIX__F --compat=3.0";
    let plan = plan(line, Launcher { tasks: Some(16), nodes: Some(2), ..Launcher::default() });
    let space = file_system("/projects", 1704.7 * TIB, 0.483, 2_635_486.5 * MI, 0.352);
    let manifest = manifest(plan, "node", vec![space]);
    let mut printer = Printer::new(&manifest.plan).expect("an ior plan");
    let mut printed = printer.header(&manifest);
    let times = [0.002_584, 6.828, 6.74, 6.828_94];
    printed.push_str(&printer.phase(&row(Phase::Read, 0, 3_355_443_200, 20 << 20, times), &[], None));
    printed.push_str(&printer.removed(0, 0.484_296));
    printed.push_str(&printer.finish(manifest.finished_unix_ns));
    assert_same(&printed, include_str!("ior/sample_3_0.txt"));
}

#[test]
fn nodes_and_clients_are_those_that_have_tasks() {
    // Four nodes of six processes: one node after the other, and one on each in turn.
    let (by_slot, by_node): (Vec<u32>, Vec<u32>) = (0..24).map(|rank| (rank / 6, rank % 4)).unzip();
    let printed = |line: &str, node_of: &[u32]| {
        let manifest = manifest(plan(line, Launcher { node_of, ..Launcher::default() }), "n1", Vec::new());
        Printer::new(&manifest.plan).expect("an ior plan").header(&manifest)
    };
    for (line, node_of, rows) in [
        (
            "ior -F",
            &by_slot,
            ["nodes               : 4", "tasks               : 24", "clients per node    : 6"],
        ),
        (
            "ior -F -N 8",
            &by_slot,
            ["nodes               : 2", "tasks               : 8", "clients per node    : 6"],
        ),
        (
            "ior -F -N 7 --tasks-per-rank 2",
            &by_node,
            ["nodes               : 4", "tasks               : 7", "clients per node    : 2"],
        ),
    ] {
        let text = printed(line, node_of);
        assert!(rows.iter().all(|row| text.contains(row)), "{line}: {text}");
    }
    let json = printed("ior -F -O summaryFormat=JSON", &by_slot);
    assert!(json.contains("\"nodes\": 4") && json.contains("\"tasksPerNode\": 6"), "{json}");
}

/// What scripts do: split a row at white space and look a column up by its name.
#[test]
fn rows_can_be_read_by_the_names_of_their_columns() {
    let plan = plan("ior -a POSIX -w -r -i 3 -t 64k -b 64m -o shm/iorf", Launcher::default());
    let manifest = manifest(plan, "vm", Vec::new());
    let printed = Printer::render(&manifest, &rows_4_1(), &[]).expect("an ior plan");
    let names: Vec<&str> = printed
        .lines()
        .find(|line| line.starts_with("access    bw"))
        .expect("a header")
        .split_whitespace()
        .collect();
    let results = printed.split("Summary of all tests").next().expect("a table");
    let writes: Vec<Vec<&str>> = results
        .lines()
        .filter(|line| line.starts_with("write "))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(writes.len(), 3);
    for write in &writes {
        assert_eq!(write.len(), names.len());
    }
    let column = |name| names.iter().position(|known| *known == name).expect("a column");
    assert_eq!(writes[0][column("bw(MiB/s)")], "2780.04");
    assert_eq!(writes[2][column("iter")], "2");
    let summary: Vec<&str> = printed
        .lines()
        .find(|line| line.starts_with("Operation "))
        .expect("a summary")
        .split_whitespace()
        .collect();
    let last: Vec<&str> = printed
        .lines()
        .rfind(|line| line.starts_with("write "))
        .expect("a line")
        .split_whitespace()
        .collect();
    assert_eq!((summary.len(), last.len()), (27, 27));
}

fn task(phase: Phase, task: u32, seconds: f64, transfers: u64) -> TaskRow {
    TaskRow {
        node: "vm".into(),
        open_end_ns: 1000,
        io_start_ns: 1000,
        io_end_ns: 1000 + ns(seconds),
        close_start_ns: 1000 + ns(seconds),
        close_end_ns: 2000 + ns(seconds),
        bytes: transfers << 16,
        transfers,
        ..TaskRow::new(PhaseKey { case: "test0".into(), repetition: 0, phase }, task)
    }
}

#[test]
fn a_stonewall_shows_what_each_task_had_moved_and_the_volume_that_was_not() {
    let line = "ior -w -v -F -t 64k -b 100m -s 100 -D 1 -O stoneWallingWearOut=1 -o q";
    let plan = plan(line, Launcher { tasks: Some(2), ..Launcher::default() });
    let manifest = manifest(plan, "vm", Vec::new());
    let tasks = [task(Phase::Write, 0, 1.147, 24_317), task(Phase::Write, 1, 1.027, 24_317)];
    let mut phase = row(Phase::Write, 0, (2 * 24_317) << 16, 1 << 16, [0.000_131, 1.147_8, 0.12, 1.147_91]);
    phase.stonewall_ns = Some(1_026_000_000);
    phase.stonewall_bytes = Some((24_317 + 21_124) << 16);
    let printed = Printer::render(&manifest, &[phase], &tasks).expect("an ior plan");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines.contains(&"WARNING: Expected aggregate file size       = 20971520000"), "{printed}");
    assert!(lines.contains(&"WARNING: Using actual aggregate bytes moved = 3187277824"), "{printed}");
    assert!(lines.contains(&"Pairs deadlineForStonewallingaccessed: 24317"), "{printed}");
    assert!(lines.contains(&"Max Write: 2647.96 MiB/sec (2776.59 MB/sec)"), "{printed}");
    let summary = lines.iter().rfind(|line| line.starts_with("write ")).expect("a line");
    assert!(
        summary.contains("    1.14791       1.03       1384.05     0      2   2    1   1     0"),
        "{summary}"
    );
    assert!(summary.ends_with("   100 104857600    65536    3039.6 POSIX      0"), "{summary}");
    // The faster task's mean: 1.027 s / 24317 = 42 µs.
    assert!(printed.contains("0.000042"), "{printed}");
    assert_eq!(stonewall_status(&tasks), "24317");
}

/// What 4.1 printed for `-r -s 10 -b 256k -t 64k -z -z` on a file of 1,000,000 bytes, and on one as large as the
/// volume, which it does not mention.
#[test]
fn files_of_another_size_than_the_volume_are_told() {
    let plan = plan("ior -r -s 4 -b 256k -t 64k -o q", Launcher::default());
    let manifest = manifest(plan, "vm", Vec::new());
    let mut printer = Printer::new(&manifest.plan).expect("an ior plan");
    printer.header(&manifest);
    let read = row(Phase::Read, 0, 1 << 20, 1 << 16, [0.1; 4]);
    let warnings = printer.phase(&read, &[], Some(1_000_000));
    assert!(
        warnings.starts_with(
            "WARNING: Expected aggregate file size       = 1048576\n\
             WARNING: Stat() of aggregate file size      = 1000000\n\
             WARNING: Using actual aggregate bytes moved = 1048576\nread "
        ),
        "{warnings}"
    );
    for size in [Some(1 << 20), None] {
        assert!(printer.phase(&read, &[], size).starts_with("read "), "{size:?}");
    }
    let short = row(Phase::Read, 0, 1 << 16, 1 << 16, [0.1; 4]);
    assert!(
        printer.phase(&short, &[], Some(1 << 20)).contains("Stat() of aggregate file size      = 1048576")
    );
}

/// `-D 0` is no deadline, in IOR 4.1 as well: the whole volume is moved and no time is printed.
#[test]
fn a_deadline_of_zero_is_none() {
    let plan = plan("ior -w -b 16m -t 64k -D 1 -D 0 -o q", Launcher::default());
    assert_eq!(plan.cases[0].workload.stonewall, None);
    let printed = Printer::new(&plan).expect("an ior plan").header(&manifest(plan, "vm", Vec::new()));
    assert!(!printed.contains("stonewallingTime"), "{printed}");
}

#[test]
fn wrong_data_is_told_as_ior_tells_it() {
    let plan = plan("ior -w -W -G 5 -b 64k -t 32k -o q", Launcher::default());
    let manifest = manifest(plan, "vm", Vec::new());
    let mut check = row(Phase::CheckWrite, 0, 1 << 16, 1 << 15, [0.1; 4]);
    check.wrong_cells = 3;
    let rows = [row(Phase::Write, 0, 1 << 16, 1 << 15, [0.1; 4]), check];
    let printed = Printer::render(&manifest, &rows, &[]).expect("an ior plan");
    assert!(printed.contains("WARNING: Incorrect data on write (3 errors found).\n"), "{printed}");
    assert!(printed.contains("Used Time Stamp 5 (0x5) for Data Signature\n"), "{printed}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("write ")).count(), 2);
}

#[test]
fn ranks_have_a_row_for_each_phase() {
    let tasks =
        [task(Phase::Write, 0, 1.0, 16), task(Phase::CheckWrite, 0, 1.0, 16), task(Phase::Read, 1, 0.5, 16)];
    assert_eq!(
        rank_csv(&tasks),
        "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n\
         write,0,1.0000020000e+00,1.0000000000e+00,1.0485739029e+06,1.0485760000e+06\n\
         read,1,5.0000200000e-01,5.0000000000e-01,2.0971436114e+06,2.0971520000e+06\n"
    );
}

#[test]
fn each_test_of_a_script_has_its_own_table_and_all_share_one_summary() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("two.ior");
    let text =
        "IOR START\ntestFile=q\ntransferSize=64k\nwriteFile=1\nRUN\nblockSize=2m\nrefNum=7\nRUN\nIOR STOP\n";
    std::fs::write(&script, text).expect("written");
    let path = script.to_str().expect("a path");
    for (format, tables) in [("default", "access    bw"), ("CSV", "access,bw"), ("JSON", "\"Results\"")] {
        let option = format!("summaryFormat={format}");
        let plan = parse(&["ior", "-f", path, "-O", &option], Launcher::default()).expect("accepted").plan;
        let manifest = manifest(plan, "vm", Vec::new());
        let first = row(Phase::Write, 0, 1 << 20, 1 << 16, [0.1; 4]);
        let mut second = row(Phase::Write, 0, 2 << 20, 1 << 16, [0.1; 4]);
        second.key.case = "test1".into();
        let printed = Printer::render(&manifest, &[first, second], &[]).expect("an ior plan");
        assert_eq!(printed.matches(tables).count(), 2, "{printed}");
        match format {
            "JSON" => {
                let value: serde_json::Value = serde_json::from_str(&printed).expect("valid JSON");
                assert_eq!(value["summary"][1]["ReferenceNumber"], 7);
                assert_eq!(value["tests"][1]["TestID"], 1);
            }
            "CSV" => assert_eq!(printed.matches("\nwrite,").count(), 2),
            _ => {
                assert_eq!(printed.matches("Summary of all tests").count(), 1);
                assert!(printed.contains("   0   \nTestID              : 1\n"), "{printed}");
            }
        }
    }
}
