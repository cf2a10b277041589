//! The program called as ioping: single requests on storage with known behaviour, compared with the tool itself.

use std::collections::HashSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use testbed::{Call, Finished, Program, Programme, ProgrammedFs, Strace, Trace, skipped};

use crate::desk::{Desk, assert_says, measured, names, run, wait_for};

/// `ioproof ioping` with these options, recorded anew on the desk.
fn ioping(desk: &Desk, words: &str) -> Program {
    let _ = fs::remove_dir_all(desk.record());
    desk.tool("ioping", words)
}

/// The raw line of `-B`, with its ten numbers.
fn raw(finished: &Finished) -> Vec<f64> {
    let numbers: Vec<f64> = finished.stdout.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers.len(), 10, "{}", finished.stdout);
    numbers
}

/// The positions of the minimum, average and maximum request time in that line.
const MIN: usize = 4;
const AVERAGE: usize = 5;
const MAX: usize = 6;

/// Fails unless the requests took this many nanoseconds: the fastest almost exactly, the others longer by the noise
/// of a busy machine.
#[track_caller]
fn assert_took(numbers: &[f64], nanos: f64) {
    assert!((1.0..1.05).contains(&(numbers[MIN] / nanos)), "{numbers:?}");
    let average = numbers[1] / numbers[0];
    assert!(
        (numbers[AVERAGE] / average - 1.0).abs() < 1e-3,
        "the average is that of the counted: {numbers:?}"
    );
    assert!(numbers[MIN] <= numbers[AVERAGE] && numbers[AVERAGE] <= numbers[MAX], "{numbers:?}");
    // The last number is the time of all requests; the first request is not counted.
    assert!(numbers[1] + nanos <= numbers[9], "the warm-up is among the counted: {numbers:?}");
}

#[test]
fn measured_the_latency_of_known_storage_is_found() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|times| {
        let latency = Duration::from_millis(4 * u64::from(times));
        let programme = Programme { read_latency: latency, write_latency: latency, ..Programme::default() };
        let disk = ProgrammedFs::builder().mount().expect("a file system");
        let desk = Desk::new();
        let file = disk.path().join("f");
        fs::write(&file, vec![7; 1 << 20]).expect("a file");
        disk.set_programme(programme);
        let target = file.display();
        let nanos = latency.as_nanos() as f64;
        for words in ["-D -i 0 -c 20", "-D -i 10ms -c 20"] {
            let numbers = raw(&run(&ioping(&desk, &format!("-B {words} {target}"))).expect_code(0));
            assert_eq!((numbers[0], numbers[8]), (19.0, 20.0), "the first one is warm-up");
            assert_took(&numbers, nanos);
        }
        let numbers =
            raw(&run(&ioping(&desk, &format!("--yes -B -D -C -WWW -i 0 -c 20 {target}"))).expect_code(0));
        assert_took(&numbers, nanos);
    });
}

/// Whether the tool is installed.
fn has_ioping() -> Result<(), String> {
    Command::new("ioping").arg("-v").output().map(|_| ()).map_err(|error| format!("ioping: {error}"))
}

#[test]
fn measured_the_tool_itself_finds_the_same_on_the_same_target() {
    if skipped(ProgrammedFs::available()) || skipped(has_ioping()) {
        return;
    }
    measured(|times| {
        let latency = Duration::from_millis(3 * u64::from(times));
        let disk = ProgrammedFs::builder().mount().expect("a file system");
        let desk = Desk::new();
        let file = disk.path().join("f");
        fs::write(&file, vec![7; 1 << 20]).expect("a file");
        disk.set_programme(Programme { read_latency: latency, ..Programme::default() });
        let words = format!("-B -D -i 0 -c 10 {}", file.display());
        // A single request that waits for a processor changes the average of its call. The calls therefore alternate,
        // and the least disturbed call of each tool counts.
        let mut least = [f64::INFINITY; 2];
        for _ in 0..6 {
            let theirs = raw(&run(&Program::new("ioping").args(words.split_whitespace())).expect_code(0));
            let ours = raw(&run(&ioping(&desk, &words)).expect_code(0));
            assert_eq!((ours[0], ours[8]), (theirs[0], theirs[8]));
            least = [least[0].min(theirs[AVERAGE]), least[1].min(ours[AVERAGE])];
        }
        let [theirs, ours] = least;
        assert!((0.95..1.05).contains(&(ours / theirs)), "ours {ours} ns, theirs {theirs} ns");
    });
}

#[test]
fn a_directory_gets_a_file_that_goes_again_and_lines_come_in_the_form_of_ioping() {
    let (desk, data) = Desk::with_data();
    let text = run(&ioping(&desk, &format!("-c 3 -i 20ms {}", data.display()))).expect_code(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8, "{text}");
    let name = format!("4 KiB <<< {} (", data.display());
    assert!(lines[..3].iter().all(|line| line.starts_with(&name)), "{text}");
    assert!(lines[0].ends_with("(warmup)") && lines[2].contains("): request=3 time="), "{text}");
    assert!(lines[4].starts_with("--- ") && lines[4].ends_with(" ioping statistics ---"), "{text}");
    assert!(
        lines[5].starts_with("2 requests completed in ") && lines[5].contains(", 8 KiB read, "),
        "{text}"
    );
    assert!(
        lines[6].starts_with("generated 3 requests in ") && lines[7].starts_with("min/avg/max/mdev = "),
        "{text}"
    );
    assert_eq!(names(&data), ["mine"]);

    let _ = run(&ioping(&desk, &format!("-k -q -W -c 2 -i 0 {}", data.display()))).expect_code(0);
    assert_eq!(names(&data), ["ioping.tmp", "mine"], "-k keeps it");
    assert_eq!(fs::metadata(data.join("ioping.tmp")).expect("kept").len(), 1 << 20);
    // As for any record, the report shows what was measured, request by request.
    let kept = run(&desk.ioproof("history").arg(desk.record())).expect_code(0).stdout;
    assert_says(&kept, &["2 operations", "ioping.tmp", "mean "]);
}

#[test]
fn lines_come_while_it_goes_on_and_an_interruption_is_its_end() {
    let (desk, data) = Desk::with_data();
    let output = desk.path("output");
    let script = format!(
        "exec {} ioping -i 50ms {} --out {} > {}",
        env!("CARGO_BIN_EXE_ioproof"),
        data.display(),
        desk.record().display(),
        output.display()
    );
    let mut running = Program::new("sh").args(["-c", &script]).spawn().expect("it starts");
    let said = || fs::read_to_string(&output).unwrap_or_default();
    wait_for(&mut running, "three requests", || said().contains("request=3 "));
    assert!(!said().contains("statistics"), "it goes on");
    running.signal(Signal::INT).expect("it lives");
    let _ = running.wait().expect("it ends").expect_code(0);
    let text = said();
    assert_says(&text, &["ioping statistics ---", "min/avg/max/mdev"]);
    let shown = text.lines().filter(|line| line.contains(": request=")).count();
    assert!(text.contains(&format!("generated {shown} requests")), "each request once:\n{text}");
    assert_eq!(names(&data), ["mine"]);
}

/// Like `ioping DIR | head`: when its reader is gone, the program ends and removes its file.
#[test]
fn a_reader_that_went_away_is_its_end() {
    let (desk, data) = Desk::with_data();
    let script = format!(
        "{} ioping -c 300 -i 50ms {} --out {} 2>&1 | head -1",
        env!("CARGO_BIN_EXE_ioproof"),
        data.display(),
        desk.record().display(),
    );
    let _ = run(&Program::new("sh").args(["-c", &script])).expect_code(0);
    assert_eq!(names(&data), ["mine"]);
    let kept = run(&desk.ioproof("history --json").arg(desk.record())).expect_code(0).stdout;
    let parts: serde_json::Value = serde_json::from_str(&kept).expect("valid JSON");
    let operations = parts[0]["operations"].as_u64().expect("a number");
    assert!((1..300).contains(&operations), "{operations} requests");
}

#[test]
fn the_kernel_is_asked_for_what_was_asked_for() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let file = desk.path("f");
    fs::write(&file, vec![7; 64 << 10]).expect("a file");
    let traced = |words: &str| {
        let program = ioping(&desk, &format!("--yes -q -i 0 -c 4 {words} {}", file.display()));
        let trace = Strace::new().calls("open,openat,pread64,pwrite64,fdatasync,fsync,fadvise64");
        let trace = trace.run(&program).expect("traced");
        assert_eq!(trace.finished.code, Some(0), "{}", trace.finished.stderr);
        trace
    };
    // Longer reads beforehand determine whose file it is.
    let is_request = |name: &str, call: &Call| name != "pread64" || call.has("4096");
    let count =
        |trace: &Trace, name: &str| trace.on(name, &file).filter(|call| is_request(name, call)).count();
    let reads = traced("");
    assert_eq!(count(&reads, "pread64"), 4);
    let forgotten = reads.on("fadvise64", &file).filter(|call| call.has("POSIX_FADV_DONTNEED")).count();
    assert_eq!(forgotten, 5, "once at the start, and before each read");
    assert_eq!(count(&traced("-C"), "fadvise64"), 0);
    let direct = traced("-D");
    assert!(["open", "openat"].iter().any(|name| direct.of(name).any(|call| call.has("O_DIRECT"))));
    assert_eq!(count(&direct, "fadvise64"), 0);
    let writes = traced("-WWW");
    assert_eq!((count(&writes, "pwrite64"), count(&writes, "fdatasync")), (4, 4));
    let cached = traced("-WWW -C");
    assert_eq!((count(&cached, "pwrite64"), count(&cached, "fdatasync")), (4, 0));
    assert_eq!(count(&traced("-WWW -Y"), "fsync"), 4);
    for (option, flag) in [("-Y", "O_SYNC"), ("-y", "O_DSYNC")] {
        let stable = traced(&format!("-WWW -C {option}"));
        assert!(["open", "openat"].iter().any(|name| stable.of(name).any(|call| call.has(flag))), "{option}");
        assert_eq!((count(&stable, "fsync"), count(&stable, "fdatasync")), (0, 0), "{option}");
    }
    let both = traced("-WWW -G");
    assert_eq!((count(&both, "pread64"), count(&both, "pwrite64")), (2, 2));
}

#[test]
fn places_come_again_as_with_the_tool_itself() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let file = desk.path("f");
    fs::write(&file, vec![7; 256 << 12]).expect("a file");
    let traced = |program: &Program| -> Vec<u64> {
        let trace = Strace::new().calls("pread64").run(program).expect("traced");
        assert_eq!(trace.finished.code, Some(0), "{}", trace.finished.stderr);
        trace.on("pread64", &file).filter(|call| call.has("4096")).filter_map(Call::offset).collect()
    };
    let words = format!("-q -C -i 0 -c 512 {}", file.display());
    let mut programs = vec![ioping(&desk, &words)];
    if !skipped(has_ioping()) {
        programs.push(Program::new("ioping").args(words.split(' ')));
    }
    for program in programs {
        let offsets = traced(&program);
        assert!(offsets.len() >= 512, "{} reads", offsets.len());
        // With 256 positions, 256 draws reach 162 distinct ones on average, with a standard deviation of 5; 512 draws
        // reach 222, with 5.
        let places = |of: &[u64]| of.iter().collect::<HashSet<_>>().len();
        assert!((137..187).contains(&places(&offsets[offsets.len() - 256..])), "{offsets:?}");
        assert!((197..244).contains(&places(&offsets[offsets.len() - 512..])), "{offsets:?}");
    }
}

#[test]
fn what_would_destroy_data_is_refused() {
    let desk = Desk::new();
    let file = desk.path("f");
    fs::write(&file, "my thesis").expect("a file");
    let refused = run(&ioping(&desk, &format!("-W -s 1 {}", file.display()))).expect_code(2);
    assert_says(&refused.stderr, &["-WWW"]);
    assert_eq!(fs::read_to_string(&file).expect("there"), "my thesis");
}
