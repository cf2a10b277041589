//! Commands on a simulated record: how they label it, and what they refuse to combine it with.

use ::record::{Manifest, ModelSource, Run, RunState, write_merged};
use testbed::Program;

use crate::desk::{Desk, assert_says, run};

const STUDY: &str = r#"
[protocol]
repetitions = 2
phase_min = "1us"

[[target]]
name = "disk"
directory = "."

[[workload]]
name = "stream"
transfer = "64KiB"
size = "1MiB"
duration = "2100ms"
direct = true
phases = ["write"]
fsync = "close"

[[commitment]]
name = "writing"
phase = "write"
statistic = "median"
bandwidth_at_least = "1kB/s"
"#;

const MARK: &str = "SIMULATED by model cards";

/// A desk with a measured record, and simulated versions `a` and `b` of it from a model with the seeds 1 and 2.
fn desk() -> Desk {
    let desk = Desk::new();
    let _ = run(&desk.study(STUDY)).expect_code(0);
    for (seed, name) in [(1, "a"), (2, "b")] {
        simulate(&desk, name, seed, &RunState::Complete);
    }
    desk
}

fn simulate(desk: &Desk, name: &str, seed: u64, state: &RunState) {
    let mut run = Run::open(&desk.record()).expect("a record");
    let model = ModelSource {
        name: "cards".to_owned(),
        path: "cards.toml".into(),
        sha256: ::record::sha256(b"a model"),
        seed,
        simulates_all: false,
        percentile: None,
    };
    run.manifest = Manifest { run_id: name.to_owned(), ..run.manifest.simulated(model) };
    run.state = state.clone();
    write_merged(&run, &[], &desk.path(name)).expect("written");
}

#[test]
fn a_simulated_run_keeps_no_commitment_by_its_exit_code() {
    let desk = desk();
    let _ = run(&desk.ioproof("verdict record")).expect_code(0);
    let said = run(&desk.ioproof("verdict a")).expect_code(8);
    assert_says(&said.stdout, &[MARK, "would be kept in this model"]);
    assert_says(&said.stderr, &["simulated, so it keeps no commitment", "without --model"]);
    let json = run(&desk.ioproof("verdict --json a")).expect_code(8).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["kept"], &json["would_be_kept"]), (&false.into(), &true.into()));
    let said = run(&desk.ioproof("check a")).expect_code(0).stdout;
    assert!(said.starts_with(MARK), "{said}");
}

#[test]
fn measured_and_simulated_runs_are_compared_and_never_put_together() {
    let desk = desk();
    for words in ["compare record a", "compare a record"] {
        let said = run(&desk.ioproof(words)).expect_code(0).stdout;
        let first = said.lines().next().expect("a line");
        assert_says(first, &["SIMULATED", "a difference is the error of the model"]);
        let refused = run(&desk.ioproof(words).arg("--verdict")).expect_code(2).stderr;
        assert_says(&refused, &["--verdict", "is simulated", "omit --verdict"]);
    }
    let _ = run(&desk.ioproof("compare a b --verdict --allow-untold")).expect_code(0);
    for words in ["merge both record a", "report a record"] {
        let refused = run(&desk.ioproof(words)).expect_code(2).stderr;
        assert_says(&refused, &["run a is simulated", "`ioproof compare`"]);
    }
    assert!(!desk.path("both").exists());
    let _ = run(&desk.ioproof("merge models a b")).expect_code(0);
    let said = run(&desk.ioproof("report models --format text")).expect_code(0).stdout;
    assert!(said.starts_with(MARK), "{said}");
    assert_says(&said, &["seeds 1, 2", "of virtual time in all"]);
    let virtual_ns = |name: &str| {
        let report = run(&desk.ioproof(&format!("report {name} --format json"))).expect_code(0).stdout;
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        report["run"]["virtual_ns"].as_u64().expect("a virtual time")
    };
    assert_eq!(virtual_ns("models"), virtual_ns("a") + virtual_ns("b"));
}

#[test]
fn a_simulated_run_does_not_go_on_as_a_measured_one() {
    let desk = desk();
    simulate(&desk, "cut", 3, &RunState::Interrupted);
    let refused = run(&desk.ioproof("run --resume cut --yes")).expect_code(2).stderr;
    assert_says(&refused, &["cut", "it is simulated with model cards", "--model cards.toml --seed 3"]);
}

#[test]
fn a_signature_of_a_simulated_run_is_not_taken_for_one_of_a_measurement() {
    let found = Program::new("sh").args(["-c", "command -v ssh-keygen"]).run();
    if testbed::skipped(match found.is_ok_and(|found| found.stdout.contains("ssh-keygen")) {
        true => Ok(()),
        false => Err("ssh-keygen is not installed".to_owned()),
    }) {
        return;
    }
    let desk = desk();
    let script = "ssh-keygen -q -t ed25519 -N '' -f key && echo \"me $(cat key.pub)\" >signers && cd a && \
                  find . -type f | sed 's|^\\./||' | LC_ALL=C sort | xargs sha256sum >../sums && mv ../sums SHA256SUMS && \
                  ssh-keygen -q -Y sign -n ioproof -f ../key SHA256SUMS";
    let place = desk.path("a");
    let _ = run(&Program::new("sh").args(["-c", script]).current_dir(place.parent().expect("a desk")))
        .expect_code(0);
    let said = run(&desk.ioproof("verify a --signers signers")).expect_code(0).stdout;
    assert_says(&said, &[MARK, "what was signed is not a measurement"]);
}
