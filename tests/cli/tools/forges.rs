//! The examples for forges under `integrations/`: their shell steps, run as a forge runs them.

use std::fs;
use std::path::Path;

use testbed::{Finished, Program};

use crate::desk::{Desk, assert_says, run};

/// The blocks of shell in a file: the lines below one that ends with `|`, as far as they are indented more.
fn steps(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations").join(name);
    let text = fs::read_to_string(path).expect("an example");
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let is_shell = |line: &str| matches!(line.trim(), "run: |" | "- |");
    let block = |at: usize| {
        let body = lines[at + 1..].iter().take_while(|line| indent(line) > indent(lines[at]));
        body.map(|line| line.trim_start_matches("  ").to_owned() + "\n").collect::<String>()
    };
    (0..lines.len()).filter(|&at| is_shell(lines[at])).map(block).collect()
}

/// Runs a step as `sh -e` with the program on the path, for the storage below the desk.
fn step(desk: &Desk, shell: &str, more: &[(&str, &str)]) -> Finished {
    let built = Path::new(env!("CARGO_BIN_EXE_ioproof")).parent().expect("a directory");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap_or_default());
    let program = Program::new("sh").args(["-e", "-c", shell]).current_dir(desk.path(""));
    let program = program
        .env("PATH", path)
        .env("STORAGE", desk.path("storage"))
        .env("BASELINE", desk.path("kept/baseline"))
        .env("GITHUB_STEP_SUMMARY", desk.path("summary"));
    run(&more.iter().fold(program, |program, (name, value)| program.env(name, value)))
}

/// A smaller quick run: it shows that the command is right, and no more.
fn small(shell: &str) -> String {
    let command = "ioproof run --quick \"$STORAGE\"";
    assert!(shell.contains(command), "{shell}");
    let less = "--set size=32MiB --set duration=20ms --set repetitions=2";
    shell.replace(command, &format!("{command} {less}"))
}

/// Puts a simulated run of a device of this latency where a step expects its record.
fn simulate(desk: &Desk, micros: u32) {
    let study = "[protocol]\nrepetitions = 6\nphase_min = \"1ms\"\n[[target]]\nname = \"disk\"\ndirectory = \"unused\"\n\
                 [[workload]]\nname = \"small\"\ntransfer = \"4KiB\"\nsize = \"4MiB\"\norder = \"random\"\ndirect = true\n\
                 fill = true\nphases = [\"read\"]\n";
    let model = format!(
        "model = {{ name = \"a disk\", noise = 0.005 }}\nnode = {{ processors = 4, request_time = \"1us\" }}\n\
         [[device]]\nname = \"disk\"\nread = {{ time = \"{micros}us\" }}\nwrite = {{ time = \"{micros}us\" }}\n\
         [[layout]]\nname = \"l\"\ndevices = \"disk\"\n"
    );
    fs::write(desk.path("study.toml"), study).expect("a study");
    fs::write(desk.path("model.toml"), model).expect("a model");
    let _ = fs::remove_dir_all(desk.record());
    let words = format!("run study.toml --model model.toml --seed {micros} --out record");
    let _ = run(&desk.ioproof(&words)).expect_code(0);
}

fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.path("storage")).expect("a directory");
    desk
}

#[test]
fn a_pull_request_is_gated_by_the_first_forge_example() {
    let steps = steps("github/storage.yml");
    let [measure, compare, keep] = steps.as_slice() else { panic!("{steps:?}") };
    let desk = desk();
    let _ = step(&desk, &small(measure), &[]).expect_code(0);
    let _ = step(&desk, keep, &[]).expect_code(0);
    fs::remove_dir_all(desk.record()).expect("another checkout");
    let _ = step(&desk, &small(measure), &[]).expect_code(0);
    // Two passes of 20 ms tell nothing: a warning, and the job goes on.
    let untold = step(&desk, compare, &[]).expect_code(0);
    assert_says(&untold.stdout, &["::warning title=storage::"]);
    simulate(&desk, 100);
    let _ = step(&desk, keep, &[]).expect_code(0);
    simulate(&desk, 101);
    let _ = step(&desk, compare, &[]).expect_code(0);
    simulate(&desk, 130);
    let _ = step(&desk, compare, &[]).expect_code(8);
    let summary = fs::read_to_string(desk.path("summary")).expect("a summary");
    assert_says(&summary, &["All 2 values are within the limit", "2 of 2 values are worse than the limit"]);
    assert!(desk.path("storage.xml").is_file());
}

#[test]
fn a_merge_request_is_gated_by_the_second_forge_example() {
    let steps = steps("gitlab/storage.gitlab-ci.yml");
    let [measure, compare] = steps.as_slice() else { panic!("{steps:?}") };
    let (desk, merge) = (desk(), [("CI_MERGE_REQUEST_IID", "7")]);
    let _ = step(&desk, &small(measure), &[]).expect_code(0);
    let _ = step(&desk, compare, &[]).expect_code(0);
    fs::remove_dir_all(desk.record()).expect("another checkout");
    let _ = step(&desk, &small(measure), &[]).expect_code(0);
    // The example allows 10.
    let _ = step(&desk, compare, &merge).expect_code(10);
    simulate(&desk, 100);
    let _ = step(&desk, compare, &[]).expect_code(0);
    simulate(&desk, 101);
    let _ = step(&desk, compare, &merge).expect_code(0);
    simulate(&desk, 130);
    let worse = step(&desk, compare, &merge).expect_code(8);
    assert_says(&worse.stdout, &["2 of 2 values are worse than the limit"]);
    assert_says(&fs::read_to_string(desk.path("storage.xml")).expect("JUnit"), &["failures=\"2\""]);
}
