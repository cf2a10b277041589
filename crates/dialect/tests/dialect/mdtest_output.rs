//! What is printed from a record is what mdtest printed of the same figures, letter by letter.
//!
//! The samples are outputs of 4.1 (watched), 3.3 and 1.9.3 (published), with the names of machines taken
//! out and the version that `docs/MDTEST.md` names. The samples of 3.3 and 4.1 are of three iterations: maximum,
//! minimum and mean give the third value.

use dialect::ior::Launcher;
use dialect::{ToolPrinter, tool};
use plan::{Phase, Plan, PlanSource};
use record::{FileSystemFacts, Manifest, PhaseKey, PhaseRecord, PhaseRow, Run, TaskRow};

const GIB: f64 = 1_073_741_824.0;
const MI: f64 = 1_048_576.0;
/// Bytes that are free for the superuser alone: a file system of ext4 has some, and they are not used.
const RESERVED: u64 = 1 << 30;

/// Bytes and inodes of a file system with the shares of them that are used.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "file systems are below 2^60")]
fn space(size: f64, used: f64, inodes: f64, used_inodes: f64) -> FileSystemFacts {
    FileSystemFacts {
        mount_point: "/".into(),
        kind: "xfs".into(),
        source: "/dev/x".into(),
        options: "rw".into(),
        size_bytes: size as u64,
        free_bytes: (size * (1.0 - used)) as u64 - RESERVED,
        reserved_bytes: RESERVED,
        inodes: inodes as u64,
        free_inodes: (inodes * (1.0 - used_inodes)) as u64,
    }
}

fn manifest(plan: Plan, times: [i64; 2], file_system: FileSystemFacts) -> Manifest {
    let mut manifest = crate::common::manifest(plan);
    manifest.started_unix_ns = times[0] * 1_000_000_000;
    manifest.finished_unix_ns = Some(times[1] * 1_000_000_000);
    manifest.host.file_systems = vec![file_system];
    manifest
}

fn plan(line: &str, launcher: Launcher<'_>) -> Plan {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    (tool("mdtest").expect("a tool").parse)(&words, launcher).expect("accepted").plan
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the times are positive")]
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// A phase of `items` items in `seconds`, half of them by each of two tasks.
fn record(plan: &Plan, phase: Phase, repetition: u32, items: u64, seconds: f64) -> PhaseRecord {
    let key = PhaseKey { case: plan.cases[0].id.as_str().into(), repetition, phase };
    let task = |task: u32, transfers: u64, end: u64| TaskRow {
        node: "node".into(),
        io_end_ns: end,
        close_start_ns: end,
        close_end_ns: end,
        transfers,
        ..TaskRow::new(key.clone(), task)
    };
    let wall = ns(seconds);
    let tasks = vec![task(1, items - items / 2, wall), task(0, items / 2, wall / 2)];
    let row = PhaseRow { wall_ns: wall, io_ns: wall, first_done_ns: wall, items, ..PhaseRow::new(key) };
    PhaseRecord { tasks, ..PhaseRecord::new(row) }
}

fn printer(plan: &Plan) -> Box<dyn ToolPrinter> {
    (tool("mdtest").expect("a tool").printer)(plan).expect("asked by mdtest")
}

/// Everything that is printed of the phases whose maximum, minimum and mean of rates are known.
fn render(manifest: &Manifest, items: impl Fn(Phase) -> u64, rates: &[(Phase, [f64; 3])]) -> String {
    let plan = &manifest.plan;
    let mut printer = printer(plan);
    let mut out = printer.header(manifest);
    let mut records = Vec::new();
    for repetition in 0..plan.cases[0].repetitions {
        for &phase in &plan.cases[0].phases {
            let Some((_, [max, min, mean])) = rates.iter().find(|(of, _)| *of == phase) else { continue };
            let rate = [*max, *min, 3.0 * mean - max - min][repetition as usize];
            // So many items that a nanosecond more or less is not seen in the third digit.
            let items = items(phase);
            records.push(record(plan, phase, repetition, items, items as f64 / rate));
        }
    }
    for record in &records {
        out.push_str(&printer.phase(record));
    }
    let run = Run::in_memory(manifest.clone(), records);
    out + &printer.finish(&run)
}

/// The lines of both, with the digits behind the comma that the sums of rounded values cannot give.
fn same(printed: &str, sample: &str) {
    let (printed, sample): (Vec<&str>, Vec<&str>) = (printed.lines().collect(), sample.lines().collect());
    assert_eq!(printed.len(), sample.len(), "{}", printed.join("\n"));
    for (printed, sample) in printed.iter().zip(&sample) {
        let row = sample.starts_with("   ") && sample.ends_with(|end: char| end.is_ascii_digit());
        if !row {
            assert_eq!(printed, sample);
            continue;
        }
        assert_eq!(printed.len(), sample.len(), "{printed}\n{sample}");
        assert_eq!(printed[..29], sample[..29]);
        let values = |line: &str| -> Vec<f64> {
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
        };
        for (column, (ours, theirs)) in values(printed).iter().zip(values(sample)).enumerate() {
            // The deviation of 3.3 is that of the tasks, whose times differ a little.
            let share = if column == 3 { 1e-2 } else { 2e-5 };
            assert!((ours - theirs).abs() <= share * theirs.abs() + 0.0015, "{printed}\n{sample}");
        }
    }
}

#[test]
fn the_tables_of_4_1() {
    let plan = plan(
        "mdtest -n 5000 -i 3 -F -C -T -E -r -d /shm/md",
        Launcher { node_of: &[0, 0], ..Launcher::default() },
    );
    // 10:19:19 of 2026-11-21, wherever this is run.
    let manifest = manifest(
        plan,
        [moment(2026, 11, 21, 10, 19, 19), moment(2026, 11, 21, 10, 19, 20)],
        space(4.0 * GIB, 0.344, 2.9 * MI, 0.003),
    );
    let printed = render(
        &manifest,
        |_| 1_000_000_000_000,
        &[
            (Phase::FileCreate, [441_477.801, 377_243.284, 400_468.691]),
            (Phase::FileStat, [1_810_621.196, 1_273_896.431, 1_485_412.080]),
            (Phase::FileRead, [1_600_268.600, 857_555.510, 1_153_109.788]),
            (Phase::FileRemove, [802_507.223, 507_355.026, 614_893.154]),
            (Phase::TreeCreate, [349_525.333, 66_576.254, 220_941.784]),
            (Phase::TreeRemove, [167_772.160, 76_260.073, 111_090.914]),
        ],
    );
    same(&printed, include_str!("mdtest/sample_4_1.txt"));
}

#[test]
fn the_tables_of_3_3() {
    let node_of: Vec<u32> = (0..64).map(|rank| rank / 16).collect();
    let plan = plan(
        "mdtest -n 2048 -i 3 -d /mnt/scratch/5a7b7a42728be0b5 --compat=3.3",
        Launcher { node_of: &node_of, ..Launcher::default() },
    );
    let times = [moment(2022, 7, 11, 12, 11, 32), moment(2022, 7, 11, 12, 17, 26)];
    let mut manifest = manifest(plan, times, space(11.8 * 1024.0 * GIB, 0.0, 96.0 * MI, 0.0));
    without_own_options(&mut manifest);
    let printed = render(
        &manifest,
        |_| 1_000_000_000,
        &[
            (Phase::DirectoryCreate, [7345.338, 3211.453, 5963.545]),
            (Phase::DirectoryStat, [9250.393, 8797.425, 9009.705]),
            (Phase::DirectoryRemove, [7433.034, 6735.603, 7102.357]),
            (Phase::FileCreate, [6342.026, 3364.939, 5258.577]),
            (Phase::FileStat, [14300.892, 13962.028, 14165.403]),
            (Phase::FileRead, [26741.557, 26155.602, 26512.201]),
            (Phase::FileRemove, [7363.456, 7059.209, 7252.565]),
            (Phase::TreeCreate, [985.125, 695.314, 819.873]),
            (Phase::TreeRemove, [353.945, 328.764, 340.779]),
        ],
    );
    same(&printed, include_str!("mdtest/sample_3_3.txt"));
}

#[test]
fn the_tables_of_1_9_3() {
    let node_of: Vec<u32> = (0..14).collect();
    let line = "/ghome/oehmes/mpi/bin/mdtest-pcmpi9131-existingdir -d /gpfs/fs2-1m-mel/shared/mdtest-ec -i 1 -n 35000 -F \
                -w 0 -Z -p 8 --compat=1.9";
    let plan = plan(line, Launcher { node_of: &node_of, ..Launcher::default() });
    let times = [moment(2017, 2, 28, 12, 13, 13), moment(2017, 2, 28, 12, 13, 39)];
    let mut manifest = manifest(plan, times, space(17.1 * 1024.0 * GIB, 0.001, 476.8 * MI, 0.001));
    without_own_options(&mut manifest);
    let printed = render(
        &manifest,
        |phase| if phase == Phase::TreeRemove { 1_000_000 } else { 1_000_000_000_000 },
        &[
            (Phase::FileCreate, [50_032.690; 3]),
            (Phase::FileStat, [3_937_604.341; 3]),
            (Phase::FileRead, [941_193.073; 3]),
            (Phase::FileRemove, [143_095.519; 3]),
            (Phase::TreeCreate, [77_672.296; 3]),
            (Phase::TreeRemove, [0.239; 3]),
        ],
    );
    same(&printed, include_str!("mdtest/sample_1_9.txt"));
}

#[test]
fn more_is_said_where_it_is_asked_for() {
    let plan = plan(
        "mdtest -n 10 -D -v -P --showRankStatistics -W 5 -d /t",
        Launcher { node_of: &[0, 0], ..Launcher::default() },
    );
    let manifest = manifest(plan, [0, 1], space(GIB, 0.0, MI, 0.0));
    let rates: Vec<(Phase, [f64; 3])> =
        manifest.plan.cases[0].phases.iter().map(|&phase| (phase, [1000.0; 3])).collect();
    let printed = render(&manifest, |_| 20, &rates);
    for line in [
        "V-1: Rank   0 Line  2063 main: * iteration 1 *",
        "V-1: Rank   0 Line  2139 V-1: main:   Tree creation     :          0.020 sec,       1000.000 ops/sec",
        "V-1: Rank   0 Line  1125   Directory creation:          0.020 sec,       1000.000 ops/sec",
        "V-1: Rank   0 Line  1127   Directory rename :          0.020 sec,       1000.000 ops/sec",
        "V-1: Rank   0 Line  2249 main   Tree removal      :          0.020 sec,       1000.000 ops/sec",
        "SUMMARY rate (in ops/sec): (of 1 iterations)",
        "SUMMARY time (in ms/op): (of 1 iterations)",
        "   Operation     per Rank: Max            Min           Mean      per Iteration: Max            Min           Mean        Std Dev",
        "   Directory stat           1000.000        500.000        750.000               1000.000       1000.000       1000.000          0.000",
        "   Tree creation                1000.000       1000.000       1000.000           1000.000       1000.000       1000.000          0.000",
        "   Directory stat              0.020          0.010          0.015                  0.020          0.020          0.020          0.000",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}\n\n{printed}");
    }
    assert!(!printed.contains("File creation"), "{printed}");
}

#[test]
fn a_deadline_is_told_and_left_in_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let (status, ranks) = (directory.path().join("status"), directory.path().join("ranks.csv"));
    let line = format!(
        "mdtest -n 100 -F -C -W 1 -d /t -x {} --saveRankPerformanceDetails={}",
        status.display(),
        ranks.display()
    );
    let plan = plan(&line, Launcher { node_of: &[0, 0], ..Launcher::default() });
    let manifest = manifest(plan.clone(), [0, 1], space(GIB, 0.0, MI, 0.0));
    let mut printer = printer(&plan);
    let _ = printer.header(&manifest);
    let mut record = record(&plan, Phase::FileCreate, 0, 21, 1.0);
    record
        .tasks
        .iter_mut()
        .for_each(|task| task.stonewall_transfers = Some(if task.task == 0 { 8 } else { 11 }));
    let said = printer.phase(&record);
    assert_eq!(said, "Continue stonewall hit min: 8 max: 11 avg: 9.5 \n\n");
    let run = Run::in_memory(manifest, vec![record]);
    let files = printer.side_files(&run);
    assert_eq!(files[0], (status, "11".to_owned()));
    let lines: Vec<&str> = files[1].1.lines().collect();
    assert_eq!(files[1].0, ranks);
    assert!(
        lines[0]
            .starts_with("rank,items,rate-Directory creation,time-Directory creation,rate-Directory stat")
    );
    assert_eq!(lines[1], "all,100,,,,,,,,,,,2.1000000000e+01,1.0000000000e+00,,,,,,,,,,");
    assert_eq!(lines[2], "0,,,,,,,,,,,,2.0000000000e+01,5.0000000000e-01,,,,,,");
    assert_eq!(lines[3], "1,,,,,,,,,,,,1.1000000000e+01,1.0000000000e+00,,,,,,");
    let whole = printer.phase(&self::record(&plan, Phase::FileCreate, 1, 200, 0.5));
    assert_eq!(whole, "", "all files were made before the deadline");
}

/// The samples know nothing of ioproof's own options.
fn without_own_options(manifest: &mut Manifest) {
    if let PlanSource::Dialect { arguments, .. } = &mut manifest.plan.source {
        arguments.retain(|word| !word.starts_with("--compat"));
    }
}

/// A moment of the local clock, in seconds since 1970.
fn moment(year: i16, month: i8, day: i8, hour: i8, minute: i8, second: i8) -> i64 {
    jiff::civil::datetime(year, month, day, hour, minute, second, 0)
        .to_zoned(jiff::tz::TimeZone::system())
        .expect("a moment")
        .timestamp()
        .as_second()
}
