//! The files under `integrations/`, run in the frameworks that they are written for.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testbed::{Finished, Program, Python};

use crate::desk::{Desk, assert_says, run};

/// A file under `integrations/`.
fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations").join(name);
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// `program` with `ioproof` on its path, run in the desk's directory.
fn at(desk: &Desk, program: Program) -> Program {
    let built = Path::new(env!("CARGO_BIN_EXE_ioproof")).parent().expect("a directory");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = [built.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(all).expect("a path");
    program.env("PATH", path).env("HOME", desk.path("")).current_dir(desk.path(""))
}

/// The study of `integrations/` with values reduced, as a framework overrides them.
fn small(desk: &Desk) -> Vec<String> {
    let directory = desk.path("").display().to_string();
    let pairs = [
        ("target.disk.directory", directory.as_str()),
        ("workload.stream.size", "2MiB"),
        ("protocol.repetitions", "2"),
    ];
    pairs.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// Runs ReFrame with the check, and returns its report of the run.
fn reframe(desk: &Desk, python: &Python, references: &str, baseline: &str) -> (Finished, Value) {
    fs::write(desk.path("references.json"), references).expect("it is written");
    let set = |name: &str, value: &str| format!("IoproofStudy.{name}={value}");
    let program = python
        .program("reframe")
        .arg("-c")
        .arg(file("reframe/ioproof_check.py"))
        .args(["-r", "--performance-report", "--prefix", "stage", "--report-file", "told.json"])
        .args(["-S", &set("study", &file("stream.toml").display().to_string())])
        .args(["-S", &set("overrides", &small(desk).join(","))])
        .args(["-S", &set("references", &desk.path("references.json").display().to_string())])
        .args(["-S", &set("accept_page_cache", "yes"), "-S", &set("baseline", baseline)]);
    let finished = run(&at(desk, program));
    let told = fs::read_to_string(desk.path("told.json")).unwrap_or_else(|error| {
        panic!("no report: {error}\n{}\n{}", finished.stdout, finished.stderr);
    });
    (finished, serde_json::from_str(&told).expect("JSON"))
}

#[test]
fn reframe_takes_every_figure_with_its_unit_and_holds_it_against_references() {
    let python = Python::with(&["reframe-hpc"]);
    if testbed::skipped(python.as_ref().map(|_| ()).map_err(Clone::clone)) {
        return;
    }
    let (python, desk) = (python.expect("just looked at"), Desk::new());
    let met = r#"{"*": {"stream_write_bandwidth": [0.001, -0.1, null, "MB/s"]}}"#;
    let (finished, told) = reframe(&desk, &python, met, "");
    let finished = finished.expect_code(0);
    assert_says(&finished.stdout, &["stream_write_bandwidth", "MB/s", "stream_read_p99", "ms", "PASSED"]);
    let check = &told["runs"][0]["testcases"][0];
    assert_eq!(check["result"], "pass", "{check}");
    let values = check["perfvalues"].as_object().expect("figures");
    assert_eq!(values.len(), 6, "two phases with three figures each: {values:?}");
    let missed = r#"{"*": {"stream_write_bandwidth": [1e9, -0.1, null, "MB/s"]}}"#;
    let (finished, told) = reframe(&desk, &python, missed, "");
    assert_says(&finished.expect_code(1).stdout, &["failed to meet reference", "stream_write_bandwidth"]);
    assert_eq!(told["runs"][0]["testcases"][0]["fail_phase"], "performance");
    // Two passes of a few milliseconds tell nothing: the exit status is 10.
    let mut words = vec!["run".to_owned(), file("stream.toml").display().to_string()];
    words.extend(small(&desk).into_iter().flat_map(|pair| ["--set".to_owned(), pair]));
    let base = desk.path("base").display().to_string();
    let _ = run(&at(&desk, desk.program().args(words).args(["--yes", "--out", &base]))).expect_code(0);
    let (finished, told) = reframe(&desk, &python, met, &base);
    let finished = finished.expect_code(1);
    assert_says(&finished.stdout, &["exit status 10"]);
    assert_eq!(told["runs"][0]["testcases"][0]["fail_phase"], "sanity");
}

/// JUBE as a command. It is not on PyPI; Debian has a package that works from the directory into which it is
/// unpacked.
fn jube() -> Result<Box<dyn Fn() -> Program>, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(found) = std::env::split_paths(&path).map(|dir| dir.join("jube")).find(|file| file.is_file())
    {
        return Ok(Box::new(move || Program::new(found.clone())));
    }
    let python = Python::with(&["pyyaml"])?;
    let fetch = "apt-get download jube && dpkg-deb -x jube_*.deb unpacked";
    let fetched = Program::new("sh").args(["-c", fetch]).current_dir(python.scratch()).run();
    let fetched = fetched.map_err(|error| format!("apt-get cannot fetch jube: {error}"))?;
    if fetched.code != Some(0) {
        let told = fetched.stderr.lines().last().unwrap_or("no message").to_owned();
        return Err(format!("apt-get cannot fetch jube: {told}"));
    }
    let unpacked = python.scratch().join("unpacked/usr");
    Ok(Box::new(move || {
        let modules = unpacked.join("lib/python3/dist-packages");
        python.program("python").env("PYTHONPATH", modules).arg(unpacked.join("bin/jube"))
    }))
}

#[test]
fn jube_varies_the_tasks_and_makes_a_table_of_the_figures() {
    let desk = Desk::new();
    let jube = jube();
    if testbed::skipped(jube.as_ref().map(|_| ()).map_err(Clone::clone)) {
        return;
    }
    let jube = jube.expect("just looked at");
    // The parameters are what a user changes; everything else is used unchanged.
    let mut text = fs::read_to_string(file("jube/ioproof.xml")).expect("a file");
    let study = file("stream.toml").display().to_string();
    let here = desk.path("").display().to_string();
    let changes = [
        ("$jube_benchmark_home/../stream.toml", study.as_str()),
        (">$jube_benchmark_home<", &format!(">{here}<")),
        (">8GiB<", ">2MiB<"),
        (">3<", ">1<"),
        (">1,2,4<", ">1,2<"),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    fs::write(desk.path("ioproof.xml"), text).expect("it is written");
    let _ = run(&at(&desk, jube().args(["run", "ioproof.xml", "--hide-animation"]))).expect_code(0);
    let result = run(&at(&desk, jube().args(["result", "-a", "ioproof-jube"]))).expect_code(0);
    let table = result.stdout.lines().skip_while(|line| !line.starts_with("tasks,"));
    let rows: Vec<Vec<f64>> = table
        .skip(1)
        .take_while(|line| line.contains(','))
        .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [1.0, 2.0], "{}", result.stdout);
    assert!(rows.iter().all(|row| row.len() == 6 && row[1..5].iter().all(|value| *value > 0.0)), "{rows:?}");
}

#[test]
fn ramble_shows_every_figure_in_a_context_of_its_own() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join("ramble").is_file());
    if testbed::skipped(found.then_some(()).ok_or_else(|| "needs the program ramble".to_owned())) {
        return;
    }
    let desk = Desk::new();
    let mut text = fs::read_to_string(file("ramble/ramble.yaml")).expect("a file");
    let study = format!("study: {}", file("stream.toml").display());
    let directory = format!("directory: {} --set workload.stream.size=2MiB", desk.path("").display());
    let changes = [
        ("study: stream.toml", study.as_str()),
        ("directory: /mnt/scratch", &directory),
        ("[1, 2, 4]", "[1, 2]"),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    fs::write(desk.path("ramble.yaml"), text).expect("it is written");
    let repository = file("ramble/repo.yaml");
    let repository = repository.parent().expect("a directory").display().to_string();
    for words in [
        &["repo", "add", "-t", "applications", &repository] as &[&str],
        &["workspace", "create", "-d", "space", "-c", "ramble.yaml"],
        &["-D", "space", "workspace", "setup"],
        &["-D", "space", "on"],
        &["-D", "space", "workspace", "analyze"],
    ] {
        let _ = run(&at(&desk, Program::new("ramble").args(words))).expect_code(0);
    }
    let told = fs::read_to_string(desk.path("space/results.latest.txt")).expect("results");
    assert_eq!(told.matches("Status = SUCCESS").count(), 2, "{told}");
    assert_says(&told, &["stream write context", "stream read context", "latency p99 = ", "B/s"]);
}
