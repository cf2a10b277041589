//! `ioproof host facts` and `host topology`: what a host consists of, as text and as JSON.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::desk::{Desk, assert_says, run};

/// The command lines in comments of the examples, run as they stand from where the project is.
#[test]
fn the_commands_of_the_examples_are_those_of_the_program() {
    let desk = Desk::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(root.join("docs/examples")).expect("examples").flatten();
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file.path()).expect("text")).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let commands: Vec<&str> =
        lines.filter_map(|line| line.trim_start_matches('#').trim_start().strip_prefix("ioproof ")).collect();
    assert!(commands.len() >= texts.len(), "each example has its command: {commands:?}");
    for command in commands {
        let words: Vec<String> = command
            .split_whitespace()
            .map(|word| match word.starts_with("docs/") {
                true => root.join(word).display().to_string(),
                false => word.to_owned(),
            })
            .collect();
        let _ = run(&desk.ioproof("").args(&words)).expect_code(0);
    }
}

/// The example from the documentation.
fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/zih-io-cells.toml");
    fs::read_to_string(path).expect("the example")
}

#[test]
fn this_host_is_shown_and_what_is_not_known_has_its_reason() {
    let told = run(&Desk::new().ioproof("host facts")).expect_code(0).stdout;
    assert_says(
        &told,
        &["operating system", "C-states left at default", "XVM", "not present", "Block devices"],
    );
    for line in told.lines().filter(|line| line.contains("unknown:")) {
        assert!(line.split("unknown:").nth(1).is_some_and(|reason| !reason.trim().is_empty()), "{line}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 120), "{told}");
}

#[test]
fn the_json_of_a_host_keeps_to_its_schema() {
    let desk = Desk::new();
    let text = run(&desk.ioproof("host facts --json")).expect_code(0).stdout;
    let schema = run(&desk.ioproof("schema host")).expect_code(0).stdout;
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let facts: Value = serde_json::from_str(&text).expect("JSON");
    let wrong: Vec<String> = validator.iter_errors(&facts).map(|error| error.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(facts["schema"], "ioproof-host/1");
}

#[test]
fn a_copied_tree_is_another_host_with_a_card_in_a_narrow_slot() {
    let desk = Desk::new();
    let root = desk.path("bundle");
    let file = |path: &str, text: &str| {
        let place = root.join(path);
        fs::create_dir_all(place.parent().expect("a parent")).expect("made");
        fs::write(place, text).expect("written");
    };
    let port = "sys/devices/pci0000:00/0000:00:03.0";
    file("proc/sys/kernel/hostname", "appel\n");
    file("proc/version", "Linux version 3.0.76 (geeko@buildhost) (gcc version 4.3.4 (SUSE Linux) ) #1 SMP\n");
    file(&format!("{port}/class"), "0x060400\n");
    file(&format!("{port}/max_link_width"), "8\n");
    file(&format!("{port}/max_link_speed"), "8.0 GT/s\n");
    file(&format!("{port}/pci_bus/0000:01/x"), "");
    let card = format!("{port}/0000:01:00.0");
    for (name, text) in [
        ("class", "0x010802"),
        ("current_link_width", "2"),
        ("current_link_speed", "8.0 GT/s"),
        ("max_link_width", "4"),
        ("max_link_speed", "8.0 GT/s"),
        ("nvme/nvme0/model", "INTEL SSDPEDMD020T4"),
    ] {
        file(&format!("{card}/{name}"), &format!("{text}\n"));
    }
    file("sys/bus/pci/slots/7/address", "0000:01:00\n");
    fs::create_dir_all(root.join("sys/bus/pci/devices")).expect("made");
    for (name, target) in [("0000:00:03.0", port), ("0000:01:00.0", &*card)] {
        let target = Path::new("../../../..").join(target);
        symlink(target, root.join("sys/bus/pci/devices").join(name)).expect("linked");
    }
    let told = run(&desk.ioproof("host facts --root").arg(&root)).expect_code(0).stdout;
    assert_says(
        &told,
        &[
            "appel",
            "gcc version 4.3.4 (SUSE Linux)",
            "INTEL SSDPEDMD020T4",
            "not x16 and Gen 3",
            "2 of the 4 lanes",
        ],
    );
    let wrong = run(&desk.ioproof("host facts --root").arg(desk.path("nothing"))).expect_code(2).stderr;
    assert_says(&wrong, &["nothing", "proc and sys"]);
}

#[test]
fn a_described_site_is_drawn_with_the_links_of_each_socket() {
    let desk = Desk::new();
    let file = desk.path("site.toml");
    fs::write(&file, example()).expect("written");
    let command = |file: &Path| desk.ioproof("host topology").arg(file);
    let told = run(&command(&file)).expect_code(0).stdout;
    assert_says(
        &told,
        &["3 × OSS IO cell", "1 × IB FDR ══ network", "2 × SAS3 ══ storage", "8 links to 8 ports"],
    );
    assert_says(&told, &["In all: 4 cells, 8 servers, 80 drives"]);
    assert!(told.lines().count() > 5 && !told.contains("\\u{a}"), "{told}");
    fs::write(&file, example().replace("server = \"r423e3\"", "server = \"r423\"")).expect("written");
    let wrong = run(&command(&file)).expect_code(2).stderr;
    assert_says(&wrong, &["site.toml", "did you mean `r423e3`?", "r423\""]);
}
