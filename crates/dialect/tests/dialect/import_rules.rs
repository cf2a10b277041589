//! What the rules of consistency say about printed values: nothing against true ones, and which changed digit they find.

use analysis::gate::Judgement;
use analysis::printed::imported_checks;
use dialect::import::{Imported, Text, import};
use plan::Phase;
use record::Run;

use crate::common::manifest;

fn read(text: &str) -> Imported {
    import(&[Text { name: "text", bytes: text.as_bytes() }], None, 0).expect("the output of a tool")
}

/// The rules that `text` contradicts, each once.
fn broken(text: &str) -> Vec<&'static str> {
    let Imported { plan, phases, .. } = read(text);
    let checks = imported_checks(&Run::in_memory(manifest(plan), phases));
    let differs = checks.into_iter().filter(|one| one.check.outcome == Judgement::DoesNotHold);
    let mut rules: Vec<&'static str> = differs.map(|one| one.check.rule).collect();
    rules.dedup();
    rules
}

/// The rules that `text` contradicts after `changed`, which replaces one value by another.
fn broken_by(text: &str, (value, other): (&str, &str)) -> Vec<&'static str> {
    assert!(text.contains(value), "{value}");
    broken(&text.replacen(value, other, 1))
}

const DEADLINE_4_1: &str = include_str!("fixtures/import/mdtest-4.1-deadline.txt");
const DEADLINE_3_3: &str = include_str!("fixtures/import/mdtest-3.3-deadline.txt");

#[test]
fn mdtest_is_not_accused_of_items_that_a_deadline_cut_short_or_of_statistics_over_processes() {
    let texts = [
        DEADLINE_4_1,
        DEADLINE_3_3,
        include_str!("fixtures/import/mdtest-3.3-deviation.txt"),
        include_str!("fixtures/import/mdtest-3.4-per-rank.txt"),
        include_str!("fixtures/import/mdtest-4.1-creation-only.txt"),
        include_str!("fixtures/import/mdtest-3.2.1.txt"),
        include_str!("fixtures/import/mdtest-3.3.0-1.txt"),
        include_str!("fixtures/import/mdtest-4.0.0.txt"),
        include_str!("fixtures/import/mdtest-4.1.txt"),
        include_str!("fixtures/import/published-mdtest-1.9.3.txt"),
    ];
    for text in texts {
        assert_eq!(broken(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_wrong_digit_of_mdtest_is_found_by_the_rule_that_binds_it() {
    let operations = "rate × time = operations";
    let found = [
        (DEADLINE_4_1, ("max: 50000", "max: 51000"), operations),
        (DEADLINE_3_3, ("1000.000        999.706", "1001.000        999.706"), operations),
        (DEADLINE_3_3, ("340.100        340.000", "341.100        340.000"), operations),
        (DEADLINE_3_3, ("999.800", "998.800"), "statistics of the same values"),
        (DEADLINE_3_3, ("avg: 16000.5", "avg: 16100.5"), "rate × time = tasks × items at the deadline"),
        (DEADLINE_3_3, ("0.100          0.100", "0.100          0.170"), "rate × time = whole directories"),
        (DEADLINE_3_3, ("09:18:40", "09:18:30"), "phases + delays ≤ finish − start"),
    ];
    for (text, change, rule) in found {
        assert!(broken_by(text, change).contains(&rule), "{change:?}: {:?}", broken_by(text, change));
    }
    let one =
        DEADLINE_4_1.replacen("10000.000      10000.000      10000.000", "10000.000 10000.000 10001.000", 1);
    assert!(broken(&one).contains(&"one iteration has one value"), "{:?}", broken(&one));
}

#[test]
fn phases_of_mdtest_that_never_ran_are_no_figures() {
    let phases = |text: &str| -> Vec<Phase> {
        read(text).phases.iter().map(|record| record.phase.key.phase).collect()
    };
    assert_eq!(phases(DEADLINE_4_1), [Phase::FileCreate, Phase::TreeCreate]);
    assert_eq!(phases(include_str!("fixtures/import/mdtest-4.1-creation-only.txt")).len(), 2);
    let none =
        DEADLINE_4_1.replace("10000.000", "0.000").replace("320.000", "0.000").replace("0.200", "0.000");
    let error = import(&[Text { name: "text", bytes: none.as_bytes() }], None, 0).expect_err("no phase");
    assert!(error.to_string().contains("no phase ran"), "{error}");
}

#[test]
fn a_deadline_of_mdtest_gives_the_items_that_were_made() {
    let made = read(DEADLINE_4_1);
    let creation = &made.phases[0].phase;
    assert_eq!((creation.items, creation.wall_ns), (3_200_000, 320_000_000_000));
}

#[test]
fn statistics_of_mdtest_over_iterations_are_those_of_the_figure_where_both_are_printed() {
    let both = read(include_str!("fixtures/import/mdtest-3.4-per-rank.txt"));
    let creation =
        both.phases.iter().find(|one| one.phase.key.phase == Phase::FileCreate).expect("creations");
    let mean = |label: &str| {
        let row = creation.printed.iter().find(|row| row.label == label && row.statistic == "mean");
        row.map(|row| row.value.to_string()).expect("a mean")
    };
    assert_eq!(mean("File creation"), "84000.000");
    assert_eq!(mean("File creation per rank"), "125000.000");
}

const FIO: &str = r#"{ "fio version" : "fio-3.36", "timestamp" : 1700000000, "jobs" : [ { "jobname" : "j",
  "job options" : { "rw" : "randread", "bs" : "4k", "ioengine" : "libaio" },
  "read" : { "io_bytes" : 4096000, "bw_bytes" : 1637744, "bw" : 1599, "iops" : 399.840064, "runtime" : 2501,
    "total_ios" : 1000, "bw_min" : 10, "bw_max" : 90, "bw_mean" : 5.0, "bw_dev" : 500.0,
    "slat_ns" : { "min" : 100, "max" : 300, "mean" : 200.25, "stddev" : 1.0, "N" : 1000 },
    "clat_ns" : { "min" : 2000, "max" : 9000, "mean" : 4000.5, "stddev" : 10.0, "N" : 1000 },
    "lat_ns" : { "min" : 2100, "max" : 9300, "mean" : 4200.75, "stddev" : 10.0, "N" : 1000 } } } ] }
"#;

/// Bandwidths of samples are not those of iterations.
#[test]
fn fio_is_not_accused_of_the_scatter_of_its_samples() {
    assert_eq!(broken(FIO), Vec::<&str>::new());
    for text in [
        include_str!("fixtures/import/fio-3.33.json"),
        include_str!("fixtures/import/fio-3.33-plus.json"),
        include_str!("fixtures/import/fio-3.33-terse.txt"),
        include_str!("fixtures/import/fio-normal.txt"),
    ] {
        assert_eq!(broken(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_wrong_digit_of_fio_is_found_by_the_rule_that_binds_it() {
    let (bytes, requests) = ("bandwidth = bytes ÷ time", "requests per second = requests ÷ time");
    let (size, parts) = ("bytes = requests × size", "mean latency = submission + completion");
    for (change, rules) in [
        (("4096000", "4096100"), vec![bytes, size]),
        (("1637744", "1637754"), vec![bytes]),
        (("\"bw\" : 1599", "\"bw\" : 1589"), vec![bytes]),
        (("399.840064", "399.840164"), vec![requests]),
        (("\"total_ios\" : 1000", "\"total_ios\" : 1001"), vec![requests, size]),
        (("2501", "2502"), vec![bytes, requests]),
        (("4200.75", "4201.75"), vec![parts]),
        (("200.25", "210.25"), vec![parts]),
    ] {
        assert_eq!(broken_by(FIO, change), rules, "{change:?}");
    }
    // Without timed submissions a latency begins before its completion is waited for.
    let submitted = r#""min" : 100, "max" : 300, "mean" : 200.25, "stddev" : 1.0, "N" : 1000"#;
    let none = r#""min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0"#;
    let synchronous = FIO.replace(submitted, none).replace("4200.75", "4230.0");
    assert_eq!(broken(&synchronous), Vec::<&str>::new());
}

#[test]
fn fio_before_3_33_is_not_accused_of_a_latency_that_is_longer_than_its_parts() {
    let rule = "mean latency ≥ submission + completion";
    let longer = FIO.replace("fio-3.36", "fio-3.16").replace("4200.75", "4230.0");
    assert_eq!(broken(&longer), Vec::<&str>::new());
    assert_eq!(broken_by(&longer, ("4230.0", "4130.0")), [rule]);
    let release_2 = longer.replace("_ns", "").replace("fio-3.16", "fio-2.18").replace("4096000", "4000");
    let release_2 = release_2.replace(r#""bw_bytes" : 1637744,"#, "");
    assert_eq!(broken(&release_2), Vec::<&str>::new());
    assert_eq!(broken_by(&release_2, ("1599", "1589")), ["bandwidth = bytes ÷ time"]);
    assert_eq!(broken_by(&release_2, ("4230.0", "4130.0")), [rule]);
}

/// 25,570 requests of 1 MiB are 24.97 GiB.
const FIO_TEXT: &str =
    "j: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, ioengine=libaio, iodepth=4
fio-3.1
j: (groupid=0, jobs=1): err= 0: pid=100: Fri Oct  6 05:21:27 2017
   read: IOPS=426, BW=426MiB/s (447MB/s)(24.0GiB/60000msec)
    issued rwt: total=25570,0,0, short=0,0,0, dropped=0,0,0
";

/// Release 2 prints 1464.18 MiB as 1464.9MB.
const FIO_TEXT_2: &str = "j: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=4
fio-2.16
j: (groupid=0, jobs=1): err= 0: pid=100: Fri Oct  6 05:21:27 2017
  read : io=1464.9MB, bw=24402KB/s, iops=6100, runt= 61440msec
    issued    : total=r=374830/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
";

#[test]
fn the_text_of_fio_is_bound_by_its_requests_and_not_accused_of_its_decimals() {
    let (bytes, requests) = ("bandwidth = bytes ÷ time", "requests per second = requests ÷ time");
    let size = "bytes = requests × size";
    assert_eq!(broken(FIO_TEXT), Vec::<&str>::new());
    assert_eq!(broken(FIO_TEXT_2), Vec::<&str>::new());
    assert_eq!(broken_by(FIO_TEXT, ("fio-3.1\n", "fio-3.36\n")), [bytes, size], "later releases round it up");
    for (text, change, rules) in [
        (FIO_TEXT, ("IOPS=426", "IOPS=436"), vec![requests]),
        (FIO_TEXT, ("BW=426", "BW=466"), vec![bytes]),
        (FIO_TEXT, ("447MB", "487MB"), vec![bytes]),
        (FIO_TEXT, ("24.0GiB", "28.0GiB"), vec![bytes, size]),
        (FIO_TEXT, ("=25570", "=20570"), vec![requests, size]),
        (FIO_TEXT_2, ("24402", "24502"), vec![bytes]),
        (FIO_TEXT_2, ("1464.9", "1465.9"), vec![bytes, size]),
        (FIO_TEXT_2, ("iops=6100", "iops=6110"), vec![requests]),
        (FIO_TEXT_2, ("r=374830", "r=374130"), vec![requests, size]),
    ] {
        assert_eq!(broken_by(text, change), rules, "{change:?}");
    }
}

/// fio's percentiles end at 17.1 s, its largest latency does not.
#[test]
fn the_largest_latency_of_fio_is_the_printed_one_where_its_percentiles_end_before_it() {
    let text = FIO.replace(
        r#""mean" : 4000.5, "stddev" : 10.0, "N" : 1000"#,
        r#""mean" : 4000.5, "stddev" : 10.0, "percentile" : { "50.000000" : 3000, "99.990000" : 3500 }"#,
    );
    let latency = &read(&text).phases[0].latency;
    assert_eq!(latency.iter().map(|row| row.high_ns).max(), Some(9000));
    assert_eq!(latency.iter().filter(|row| row.count > 0).map(|row| row.low_ns).min(), Some(2000));
}

/// 99 % of 160 requests are 158.4: the 159th is the slowest of them.
#[test]
fn a_percentile_of_fio_is_the_printed_one() {
    let text = FIO.replace("\"total_ios\" : 1000", "\"total_ios\" : 160").replace(
        r#""mean" : 4000.5, "stddev" : 10.0, "N" : 1000"#,
        r#""mean" : 4000.5, "stddev" : 10.0, "percentile" : { "50.000000" : 3000, "99.000000" : 5000 }"#,
    );
    let latency = &read(&text).phases[0].latency;
    let counts: Vec<(u64, u64)> =
        latency.iter().filter(|row| row.count > 0).map(|row| (row.high_ns, row.count)).collect();
    assert_eq!(counts, [(3000, 80), (5000, 79), (9000, 1)]);
}

#[test]
fn the_text_of_fio_has_the_latencies_of_its_percentiles() {
    let text = FIO_TEXT.replace(
        "    issued rwt",
        "    clat (usec): min=2, max=9000, avg=40.50, stdev=1.00
    clat percentiles (usec):
     |  1.00th=[    3], 50.00th=[   30], 99.00th=[  400]
    issued rwt",
    );
    let latency = &read(&text).phases[0].latency;
    let buckets: Vec<_> = latency.iter().map(|row| (row.low_ns, row.high_ns, row.count)).collect();
    let by_percentiles = [(2000, 3000, 256), (3000, 30_000, 12_529), (30_000, 400_000, 12_530)];
    assert_eq!(buckets[..3], by_percentiles);
    assert_eq!(
        buckets[3..],
        [(400_000, 9_000_000, 255), (40_500, 40_500, 0)],
        "the slowest, and the printed mean"
    );
    assert_eq!(broken(&text), Vec::<&str>::new());
}

/// A write that a deadline of 5 s ended.
const IOR_DEADLINE: &str = "IOR-4.1.0: MPI Coordinated Test of Parallel I/O
Began               : Thu Jun  1 10:00:00 2023
Command line        : ior -w -D 5 -F -t 1m -b 16m -s 100 -o f
Options:
segments            : 100
tasks               : 4
repetitions         : 1
xfersize            : 1 MiB
blocksize           : 16 MiB
aggregate filesize  : 6.25 GiB
stonewallingTime    : 5

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
WARNING: Expected aggregate file size       = 6710886400
WARNING: Using actual aggregate bytes moved = 421527552
write     80.00      80.40      0.049751    16384      1024.00    0.010000   5.00       0.010000   5.02       0
Max Write: 80.08 MiB/sec (83.97 MB/sec)

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) \
Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize \
aggs(MiB)   API RefNum
write          80.08      80.08      80.08       0.00      80.08      80.08      80.08       0.00    5.02000 \
5.00       400.00     0      4   4    1   1     0        1         0    0    100 16777216  1048576     402.0 POSIX      0
Finished            : Thu Jun  1 10:00:05 2023
";

#[test]
fn the_bytes_that_ior_says_it_moved_are_those_of_the_figure() {
    let text = IOR_DEADLINE.replace("\\\n", "");
    let write = &read(&text).phases[0];
    assert_eq!(write.phase.write_bytes, 421_527_552);
    assert!(write.warnings.is_empty(), "{:?}", write.warnings);
    let stated = write.printed.iter().filter(|row| row.statistic == "stated");
    let stated: Vec<_> = stated.map(|row| (&*row.label, row.number.unwrap_or(0.0))).collect();
    assert_eq!(stated[0], ("segments", 100.0));
    assert_eq!(stated[4], ("aggregate filesize", 6.25 * 1_073_741_824.0));
}

/// 28,800 MiB are printed as 28.12 GiB, and 2,293.76 KiB as 2.24 MiB.
#[test]
fn the_sizes_of_the_command_line_of_ior_count_where_the_printed_ones_are_rounded() {
    let text = IOR_DEADLINE
        .replace("\\\n", "")
        .replace("-t 1m -b 16m -s 100", "-t 96m -b 28800m -s 1")
        .replace("xfersize            : 1 MiB", "xfersize            : 96 MiB")
        .replace("blocksize           : 16 MiB", "blocksize           : 28.12 GiB");
    let case = &read(&text).plan.cases[0];
    let geometry = case.workload.geometry;
    assert_eq!((geometry.transfer.0, geometry.block.0), (96 << 20, 28_800 << 20));
    let other = read(&text.replace("28.12 GiB", "29.12 GiB"));
    assert_ne!(other.plan.cases[0].workload.geometry.block.0, 28_800 << 20, "another command line");
}

#[test]
fn ior_is_bound_by_its_time_bytes_operations_and_options() {
    let text = IOR_DEADLINE.replace("\\\n", "").replace("write     80.00 ", "write     80.08 ");
    let (amount, operations) =
        ("bandwidth × time = bytes moved", "IOPS × transfer × wr/rd = bandwidth × time");
    let (aggregate, summary) = ("aggregate = tasks × segments × block size", "bandwidth = OPs × transfer");
    assert_eq!(broken(&text), Vec::<&str>::new());
    for (change, rule) in [
        (("421527552", "431527552"), amount),
        (("5.02       0", "5.92       0"), amount),
        (("    402.0", "    412.0"), amount),
        (("5.02000", "5.32000"), amount),
        (("80.40 ", "83.40 "), operations),
        ((" 5.00       0.010000", " 6.00       0.010000"), operations),
        (("83.97 MB", "83.77 MB"), "MB/s = MiB/s × 1.048576"),
        (("tasks               : 4", "tasks               : 5"), aggregate),
        (("6.25 GiB", "6.35 GiB"), aggregate),
        (("80.08       0.00    5.02000", "89.08       0.00    5.02000"), summary),
        (("Max Write: 80.08", "Max Write: 81.08"), "maximum of the iterations"),
        (("       0.00      80.08", "       0.90      80.08"), "deviation of the iterations"),
    ] {
        assert!(broken_by(&text, change).contains(&rule), "{change:?}: {:?}", broken_by(&text, change));
    }
    // An excerpt of a pass with a deadline, which does not say what was moved.
    let excerpt = text.replace("WARNING: Using actual aggregate bytes moved = 421527552\n", "");
    assert_eq!(broken(&excerpt), Vec::<&str>::new());
    for text in [
        include_str!("fixtures/import/ior-2.10.3.txt"),
        include_str!("fixtures/import/ior-2.10.3-v.txt"),
        include_str!("fixtures/import/ior-3.0.1.txt"),
        include_str!("fixtures/import/ior-3.2.1.txt"),
        include_str!("fixtures/import/ior-3.3.0.json"),
        include_str!("fixtures/import/ior-3.3.0.txt"),
        include_str!("fixtures/import/ior-4.0.0.csv"),
        include_str!("fixtures/import/ior-4.0.0.txt"),
        include_str!("fixtures/import/ior-4.0.0-v.txt"),
        include_str!("fixtures/import/ior-4.1.json"),
        include_str!("fixtures/import/ior-4.1.txt"),
    ] {
        assert_eq!(broken(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn an_aggregate_of_more_than_64_bits_is_cut_off_as_ior_cuts_it_off() {
    let text = IOR_DEADLINE
        .replace("\\\n", "")
        .replace("segments            : 100", "segments            : 491520000000")
        .replace("6.25 GiB", "13222784 TiB")
        .replace("write     80.00 ", "write     80.08 ");
    assert_eq!(broken(&text), Vec::<&str>::new());
    assert_eq!(
        broken_by(&text, ("13222784 TiB", "13222884 TiB")),
        ["aggregate = tasks × segments × block size"]
    );
}

#[test]
fn elbencho_is_bound_by_its_time_amounts_and_block() {
    let text = include_str!("fixtures/import/elbencho-3.1-1.txt");
    let (csv, json) = (
        include_str!("fixtures/import/elbencho-full.csv"),
        include_str!("fixtures/import/elbencho-full.json"),
    );
    let (rate, block) = ("rate × time = amount", "bandwidth = IOPS × block");
    for text in [text, csv, json] {
        assert_eq!(broken(text), Vec::<&str>::new());
    }
    for (text, change, rule) in [
        (text, ("830", "880"), rate),
        (text, ("822", "922"), rate),
        (text, ("308ms", "318ms"), rate),
        (text, ("250 ", "270 "), rate),
        (text, ("744195", "744295"), "total = reads + writes"),
        (text, ("2018", "2118"), "total = reads + writes"),
        (text, ("avg=148us", "avg=18us"), "statistics of the same values"),
        (csv, (",82,82,", ",82,92,"), rate),
        (csv, ("49379", "49479"), block),
        (csv, ("3086", "3186"), block),
        (json, ("3236150598", "3236250598"), block),
        (json, ("\"bytes\":\"267124736\"", "\"bytes\":\"277124736\""), rate),
    ] {
        assert!(broken_by(text, change).contains(&rule), "{change:?}: {:?}", broken_by(text, change));
    }
}

#[test]
fn ioping_is_bound_by_its_requests_and_totals() {
    let text = include_str!("fixtures/import/ioping-1.3.txt");
    let (batch, json) =
        (include_str!("fixtures/import/ioping-batch.txt"), include_str!("fixtures/import/ioping.json"));
    for text in [text, batch, json] {
        assert_eq!(broken(text), Vec::<&str>::new());
    }
    let all = "statistics of all requests";
    for (text, change, rule) in [
        (text, ("5.25 k", "5.35 k"), "iops = requests ÷ time"),
        (text, ("20.5 MiB", "21.5 MiB"), "speed = size ÷ time"),
        (text, ("571.1 us", "591.1 us"), "time = requests × mean"),
        (text, ("131 iops", "138 iops"), "iops = requests ÷ time"),
        (text, ("527.0 KiB", "557.0 KiB"), "speed = size ÷ time"),
        (text, ("189.8 us", "180.8 us"), all),
        (text, ("182.5 us / 190.4", "181.5 us / 190.4"), all),
        (text, ("198.7 us / 6.61", "198.7 us / 9.61"), all),
        (json, ("550578.1", "550678.1"), "iops = requests ÷ time"),
        (json, ("405504", "405514"), "speed = size ÷ time"),
        (json, ("1816", "1916"), "time = requests × mean"),
    ] {
        assert!(broken_by(text, change).contains(&rule), "{change:?}: {:?}", broken_by(text, change));
    }
}

const SUMMARY_2018: &str = include_str!("fixtures/import/io500-2018-summary.txt");
const EXTENDED_2021: &str = include_str!("fixtures/import/io500-sc21-extended.txt");

#[test]
fn io500_of_every_release_is_read_and_its_scores_follow_from_its_results() {
    let old = read(SUMMARY_2018);
    assert_eq!(old.phases.len(), 12);
    let gib = 12.5 * 1_073_741_824.0 * 310.0;
    assert!((old.phases[0].phase.write_bytes as f64 / gib - 1.0).abs() < 1e-6, "GB/s means GiB/s");
    assert_eq!(old.plan.cases[0].tasks(), None, "a summary has no processes");
    let extended = read(EXTENDED_2021);
    let names: Vec<&str> = extended.plan.cases.iter().map(|case| case.id.as_str()).collect();
    for name in ["ior-rnd4K-write", "ior-rnd1MB-write", "ior-rnd4K-read", "ior-rnd1MB-read"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let result = read(include_str!("fixtures/import/io500-isc24-result.txt"));
    assert!(result.started_unix_ns.is_some() && result.finished_unix_ns.is_some());
    assert_eq!(result.plan.cases[0].tasks(), Some(64));
    let without_run = read(include_str!("fixtures/import/io500-isc21-result.txt"));
    assert_eq!((without_run.phases.len(), without_run.plan.cases[0].tasks()), (1, None));
    for text in [SUMMARY_2018, EXTENDED_2021] {
        assert_eq!(broken(text), Vec::<&str>::new());
    }
    let rules = ["geometric mean of the results", "total = √(bandwidth × metadata)"];
    assert_eq!(broken_by(SUMMARY_2018, ("12.500", "13.500")), [rules[0]]);
    assert_eq!(broken_by(EXTENDED_2021, ("0.250000", "0.350000")), [rules[0]]);
    assert_eq!(broken_by(SUMMARY_2018, ("14.5906", "14.6906")), [rules[1]]);
}

#[test]
fn a_total_of_the_first_scripts_of_io500_may_be_the_product_and_that_of_a_release_may_not() {
    let product = SUMMARY_2018.replace("14.5906", "212.8878");
    assert_eq!(broken(&product), Vec::<&str>::new());
    assert_eq!(broken(&format!("IO500 version io500-isc21\n{product}")), ["total = √(bandwidth × metadata)"]);
}

#[test]
fn a_job_log_with_results_of_io500_between_other_lines_has_each_once() {
    let marked = SUMMARY_2018.replace('\n', "\nStarting the next phase\n");
    let (results, score) = marked.split_once("[SCORE]").expect("the score");
    let log = format!("System: node7\n{results}{results}[SCORE-invalid]{score}");
    let found = read(&log);
    assert_eq!(found.phases.len(), 12);
    let last = found.phases.last().expect("a phase");
    assert!(last.printed.iter().any(|row| row.value.ends_with("[INVALID]")), "{:?}", last.printed);
    assert_eq!(broken(&log), Vec::<&str>::new());
}
