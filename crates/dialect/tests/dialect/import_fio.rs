//! fio's results in each form and release: what they say about the job, its errors, and its states.

use dialect::import::{Imported, Text, import};
use plan::{Bytes, Condition, Operation, Phase, SyncRule};
use record::{ReportedError, Warning};

fn try_read(text: &str) -> Result<Imported, String> {
    import(&[Text { name: "fio", bytes: text.as_bytes() }], None, 0).map_err(|error| error.to_string())
}

fn read(text: &str) -> Imported {
    try_read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// What the tool reports about the first figure: the error, how often, and in which words.
fn reported(imported: &Imported) -> Vec<(ReportedError, u64, &str)> {
    let warnings = imported.phases[0].warnings.iter().filter_map(|row| match &row.warning {
        Warning::Reported { error, count, first } => Some((*error, *count, first.as_str())),
        _ => None,
    });
    warnings.collect()
}

/// The results of one job with these options, in which one direction moved `requests` of 4 KiB in `ms`.
fn json(options: &str, direction: &str, requests: u32, ms: u32, job: &str) -> String {
    let (at, elapsed) = (1_700_000_000 + u64::from(ms / 1000), ms / 1000 + 1);
    format!(
        r#"{{ "fio version" : "fio-3.36", "timestamp" : {at}, "jobs" : [
{{ "jobname" : "j", "groupid" : 0, "elapsed" : {elapsed}, "job_runtime" : {ms}, {job}
  "job options" : {{ "name" : "j", {options} }},
  "{direction}" : {{ "io_bytes" : {bytes}, "bw" : 1, "iops" : 1.0, "runtime" : {ms}, "total_ios" : {requests},
    "clat_ns" : {{ "min" : 2100, "max" : 90100, "mean" : 40404.5, "stddev" : 1.0, "N" : {requests},
      "percentile" : {{ "50.000000" : 10100, "99.000000" : 80100 }} }} }} }} ] }}
"#,
        bytes = u64::from(requests) * 4096,
    )
}

/// A text in UTF-16 is read as a whole, one in UTF-8 a job at a time.
#[test]
fn many_jobs_are_read_as_they_are_in_one_text() {
    let one = json(r#""rw" : "randread", "bs" : "4k""#, "read", 300, 3000, "");
    let (head, job) = one.split_once("\n{").expect("a job");
    let job = job.trim_end().strip_suffix("] }").expect("its end");
    let text =
        |jobs: &[String]| format!("fio: a message\n{head}\n{{{}] }}\nand its end\n", jobs.join(",\n{"));
    let wide = |text: &str| {
        let bytes = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        import(&[Text { name: "fio", bytes: &bytes }], None, 0).map_err(|error| error.to_string())
    };
    let jobs: Vec<String> = (0..300).map(|number| job.replace("\"j\"", &format!("\"j{number}\""))).collect();
    let many = text(&jobs);
    assert!(many.len() > 100_000, "it does not fit into one block");
    let imported = read(&many);
    assert_eq!((imported.plan.cases.len(), imported.plan.cases[299].id.as_str()), (300, "j299"));
    let line = |number: u32| imported.phases[number as usize].printed[0].line;
    assert_eq!((line(0), line(299)), (5, 5 + 299 * 5));
    assert!(wide(&many).is_ok_and(|wide| wide == imported));
    for (from, to, line, words) in [
        (r#""total_ios" : 300"#, r#""total_ios" : "x""#, 3 + 250 * 5 + 2, "expected a number"),
        (r#", "total_ios" : 300"#, "", 3 + 250 * 5, "expected `total_ios` in each direction"),
        (r#""clat_ns" : {"#, r#""clat_ns" : [] , "x" : {"#, 3 + 250 * 5 + 3, "expected an object"),
        (r#""groupid""#, r#"groupid"#, 3 + 250 * 5, "expected JSON (key must be a string)"),
    ] {
        let mut jobs = jobs.clone();
        jobs[250] = jobs[250].replace(from, to);
        let error = try_read(&text(&jobs)).map(drop).expect_err(from);
        assert!(error.starts_with(&format!("fio:{line}:")) && error.contains(words), "{error}");
        assert_eq!(wide(&text(&jobs)).map(drop), Err(error));
    }
    let error = try_read(&text(&[jobs[0].clone(), " } , 5".to_owned()])).map(drop).expect_err("a number");
    assert!(error.contains("expected a JSON object"), "{error}");
}

#[test]
fn the_last_state_of_a_job_counts() {
    let options = r#""rw" : "randread", "bs" : "4k", "ioengine" : "psync""#;
    let states: String =
        [(100, 1000), (200, 2000), (330, 3000)].map(|(n, ms)| json(options, "read", n, ms, "")).concat();
    let last = read(&states);
    assert_eq!((last.plan.cases.len(), last.phases[0].phase.reads), (1, 330));
    // Two runs of the same job: the second has not gone on where the first was.
    let again = json(options, "read", 330, 3000, "").replace("1700000003", "1700000100");
    assert_eq!(read(&(states + &again)).plan.cases.len(), 2);
    let cut = json(options, "read", 330, 3000, "");
    let error = try_read(&format!("{cut}{}", &cut[..200])).expect_err("cut off");
    assert!(error.contains("ends before the end of its JSON"), "{error}");
}

#[test]
fn the_last_state_of_a_job_in_the_text_counts() {
    let state = |requests: u32| {
        format!(
            "j: (groupid=0, jobs=1): err= 0: pid=77: Sat Nov 28 16:12:25 2026
  read: IOPS={requests}, BW=1KiB/s (1kB/s)(1KiB/1000msec)
     issued rwts: total={requests},0,0,0 short=0,0,0,0 dropped=0,0,0,0
"
        )
    };
    let head =
        "j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=32
fio-3.33
";
    let imported = read(&format!("{head}{}{}", state(10), state(25)));
    assert_eq!((imported.plan.cases.len(), imported.phases[0].phase.reads), (1, 25));
    // The engine does one request at a time, whatever `iodepth` is.
    assert_eq!(imported.plan.cases[0].depth(), Some(1));
    assert!(imported.finished_unix_ns.is_some(), "the text has the time of its end");
    let other = state(25).replace("pid=77", "pid=78");
    assert_eq!(read(&format!("{head}{}{other}", state(10))).plan.cases.len(), 2);
}

#[test]
fn release_2_has_its_rates_by_1024() {
    let text = "t: (g=0): rw=randwrite, bs=4K-4K/8K-8K/4K-4K, ioengine=libaio, iodepth=16
fio-2.1.10
t: (groupid=0, jobs=2): err= 0: pid=2000: Mon Apr  6 10:00:00 2015
  write: io=81920KB, bw=40960KB/s, iops=5120, runt=  2000msec
    clat (usec): min=100, max=5000, avg=620.00, stdev=100.00
     issued    : total=r=0/w=10240/d=0, short=r=0/w=0/d=0
";
    let imported = read(text);
    let (case, phase) = (&imported.plan.cases[0], &imported.phases[0].phase);
    assert_eq!((phase.writes, phase.write_bytes, phase.wall_ns), (10_240, 81_920 << 10, 2_000_000_000));
    assert_eq!((case.transfer(), case.depth(), case.tasks()), (Some(Bytes(8192)), Some(16), Some(2)));
}

#[test]
fn options_that_limit_the_rate_or_make_data_durable_are_stated() {
    let of = |options: &str, direction: &str| {
        read(&json(&format!(r#""bs" : "4k", {options}"#), direction, 300, 3000, "")).plan.cases.remove(0)
    };
    let paced = of(r#""rw" : "randread", "rate_iops" : "100""#, "read");
    assert_eq!(paced.workload.pace.map(|pace| pace.transfers_per_second), Some(100.0));
    assert!(paced.stated.as_deref().is_some_and(|text| text.contains("rate_iops=100")));
    let by_bytes = of(r#""rw" : "write", "rate" : "1m,2m", "numjobs" : "3""#, "write");
    assert_eq!(by_bytes.workload.pace.map(|pace| pace.transfers_per_second), Some(1536.0));
    let write = r#""rw" : "write""#;
    assert_eq!(of(write, "write").sync(), Some(SyncRule { at_close: false, per_write: false }));
    for (option, rule) in [
        (r#""fsync" : "1""#, Some(SyncRule { at_close: false, per_write: true })),
        (r#""sync" : "dsync""#, Some(SyncRule { at_close: false, per_write: true })),
        (r#""end_fsync" : "1""#, Some(SyncRule { at_close: true, per_write: false })),
        (r#""fsync" : "16""#, None),
        (r#""fdatasync" : "32""#, None),
    ] {
        let case = of(&format!("{write}, {option}"), "write");
        assert_eq!(case.sync(), rule, "{option}");
        let words = option.replace("\" : \"", "=").replace('"', "");
        assert!(case.stated.as_deref().is_some_and(|text| text.contains(&words)), "{words}");
    }
    let split = of(r#""rw" : "read", "bssplit" : "4k/50:16k/50""#, "read");
    assert_eq!(split.transfer(), None);
    let other = of(r#""rw" : "randread", "ioengine" : "rbd", "iodepth" : "32""#, "read");
    assert_eq!((other.depth(), other.knows(Condition::Engine)), (Some(32), false));
}

#[test]
fn printed_extremes_and_means_stay_as_they_are() {
    let imported = read(&json(r#""rw" : "randread", "bs" : "4k""#, "read", 300, 3000, ""));
    let rows = &imported.phases[0].latency;
    let mean = rows.iter().find(|row| row.count == 0).expect("the mean");
    assert_eq!((mean.operation, mean.low_ns), (Operation::Read, 40_405));
    let counted = || rows.iter().filter(|row| row.count > 0);
    assert_eq!(counted().map(|row| row.low_ns).min(), Some(2100));
    assert_eq!(counted().map(|row| row.high_ns).max(), Some(90_100));
    // The bins of JSON+ have values in their middles.
    let plus = json(r#""rw" : "randread", "bs" : "4k""#, "read", 300, 3000, "")
        .replace(r#""percentile""#, r#""bins" : { "2160" : 10, "9000" : 280, "91000" : 10 }, "percentile""#);
    let imported = read(&plus);
    let counted = || imported.phases[0].latency.iter().filter(|row| row.count > 0);
    assert_eq!(counted().map(|row| row.low_ns).min(), Some(2100));
    assert_eq!(counted().map(|row| row.high_ns).max(), Some(90_100));
}

#[test]
fn errors_of_a_job_stay_with_its_figure() {
    let options = r#""rw" : "write", "bs" : "4k""#;
    let of = |lines: &str, job: &str| read(&format!("{lines}{}", json(options, "write", 300, 3000, job)));
    let sync = "fio: io_u error on file /f: I/O error: sync offset=4096, buflen=4096\n";
    assert_eq!(reported(&of(sync, r#""error" : 5,"#)), [(ReportedError::NotDurable, 1, sync.trim())]);
    let wrong = of("", r#""error" : 84,"#);
    assert_eq!(reported(&wrong), [(ReportedError::WrongData, 1, "error 84 of the job j")]);
    let counted = of("", r#""error" : 0, "total_err" : 7, "first_error" : 5,"#);
    assert_eq!(reported(&counted), [(ReportedError::Failed, 7, "error 5 of the job j")]);
    let verify =
        "md5: verify failed at file /mnt/f offset 0, length 4096 (requested block: offset=0, length=4096)\n";
    assert_eq!(reported(&of(verify, r#""error" : 84,"#))[0].0, ReportedError::WrongData);
    let caches = "fio: only root may flush block devices. Cache flush bypassed!\n";
    assert_eq!(reported(&of(caches, "")), [(ReportedError::Caches, 1, caches.trim())]);
    assert_eq!(reported(&of("note: both iodepth >= 1 and synchronous I/O engine are selected\n", "")), []);

    let text = "j: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
j: (groupid=0, jobs=1): err= 5 (file:backend.c:1, func=xfer, error=Input/output error): pid=7: Sat Nov 28 16:12:25 2026
  read: IOPS=10, BW=1KiB/s (1kB/s)(1KiB/1000msec)
     issued rwts: total=10,0,0,0 short=0,0,0,0 dropped=0,0,0,0
";
    let whole = "err= 5 (file:backend.c:1, func=xfer, error=Input/output error)";
    assert_eq!(reported(&read(text)), [(ReportedError::Failed, 1, whole)]);
    let went_on = text.replace("err= 5 (file:backend.c:1, func=xfer, error=Input/output error)", "err= 0")
        + "     errors    : total=3, first_error=84/<Invalid or incomplete multibyte or wide character>\n";
    assert_eq!(reported(&read(&went_on))[0].0, ReportedError::WrongData);
    assert_eq!(reported(&read(&went_on))[0].1, 3);
}

#[test]
fn a_sum_of_reads_and_writes_is_refused_with_this_reason() {
    let error =
        try_read(&json(r#""rw" : "randrw", "bs" : "4k""#, "mixed", 300, 3000, "")).expect_err("mixed");
    assert!(
        error.contains("the sum of reads and writes") && error.contains("unified_rw_reporting"),
        "{error}"
    );
    let text = "j: (groupid=0, jobs=1): err= 0: pid=7: Sat Nov 28 16:12:25 2026
  mixed: IOPS=10, BW=1KiB/s (1kB/s)(1KiB/1000msec)
     issued rwts: total=10,10,0,0 short=0,0,0,0 dropped=0,0,0,0
";
    let error = try_read(text).expect_err("mixed");
    assert!(error.starts_with("fio:2:") && error.contains("the sum of reads and writes"), "{error}");
    // Beside reads and writes, it only repeats them.
    let both = text.replace("  mixed", "  read: IOPS=10, BW=1KiB/s (1kB/s)(1KiB/1000msec)\n  mixed");
    assert_eq!(read(&both).phases[0].phase.key.phase, Phase::Read);
}
