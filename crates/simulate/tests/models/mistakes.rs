//! What is said of mistakes: each with its line and what is allowed.

const MODEL: &str = r#"model = { name = "disks" }
node = { processors = 4 }

[[link]]
name = "network"
bandwidth = "10Gbit/s"

[[server]]
name = "server"
slots = 8

[[device]]
name = "disk"
count = 4
read = { time = "8ms", rate = "200MB/s" }
write = { time = "8ms", rate = "200MB/s" }

[[layout]]
name = "ext4"
devices = "disk"
through = ["network", "server"]
"#;

/// What is said of the model with `from` replaced by `to`, which must be of one line.
fn said(from: &str, to: &str) -> String {
    assert!(MODEL.contains(from), "{from}");
    let text = MODEL.replacen(from, to, 1);
    simulate::read("m.toml".as_ref(), &text).expect_err("a mistake").to_string()
}

#[test]
fn the_model_without_a_mistake_can_be_used() {
    simulate::read("m.toml".as_ref(), MODEL).expect("a model");
}

#[test]
fn each_mistake_is_told_with_its_line_and_what_is_allowed() {
    let many = format!("[{}]", vec!["\"network\""; 65].join(", "));
    let long_tail = format!(
        "distribution = \"empirical\", quantiles = [\"1ms\", \"9ms\"], tail = [{}]",
        vec!["\"5ms\""; 13].join(", ")
    );
    let node = format!("processors = 4, through = {many}");
    for (from, to, line, words) in [
        (
            "devices = \"disk\"",
            "devices = \"disc\"",
            20,
            "`disc` is not a device of this model; known: `disk`",
        ),
        ("\"server\"]", "\"severs\"]", 21, "`severs` is not a link or server of this model"),
        (
            "[\"network\", \"server\"]",
            "[\"network\", \"network\"]",
            21,
            "requests would pass `network` twice",
        ),
        ("name = \"server\"", "name = \"disk\"", 13, "another part is also named `disk`"),
        ("time = \"8ms\", rate = \"200MB/s\"", "time = \"0s\"", 15, "it takes no time"),
        ("processors = 4", "processors = 4, request_time = \"2min\"", 2, "use at most one minute"),
        (
            "write = { time = \"8ms\", rate = \"200MB/s\" }",
            "write = { time = \"8ms\" }\nwrite_cache = { size = \"1GB\", drain = \"1GB/s\" }",
            17,
            "writes that fit in it take no time",
        ),
        (
            "time = \"8ms\", rate = \"200MB/s\"",
            "time = \"8ms\", tail = [\"9ms\"]",
            15,
            "`tail` refines the last step of `quantiles`",
        ),
        (
            "time = \"8ms\", rate = \"200MB/s\"",
            "distribution = \"empirical\", quantiles = [\"1ms\", \"2ms\", \"9ms\"], tail = [\"1ms\"]",
            15,
            "`tail` is not in ascending order",
        ),
        ("time = \"8ms\", rate = \"200MB/s\"", &long_tail, 15, "`tail` has at most 12 values"),
        ("name = \"disks\"", "name = \"disks\", percentile = 101", 1, "use a number from 0 to 100"),
        ("count = 4", "count = 0", 14, "count is 0"),
        ("slots = 8", "slots = 0", 10, "slots is 0"),
        (
            "devices = \"disk\"",
            "devices = \"disk\"\nstripe = 5",
            21,
            "a stripe over 5 devices does not fit `disk`, which has 4",
        ),
        ("devices = \"disk\"", "devices = \"disk\"\nstripe = 2\nparity = 2", 22, "leave no space for data"),
        ("devices = \"disk\"", "devices = \"disk\"\ncopies = 9", 21, "9 copies need as many devices"),
        (
            "devices = \"disk\"",
            "devices = \"disk\"\nmetadata = \"mds\"",
            21,
            "`mds` is not a metadata service of this model; known: none",
        ),
        ("processors = 4", "processors = 4, procesors = 4", 2, "unknown field `procesors`"),
        (
            "processors = 4",
            "processors = 4, through = [\"disk\"]",
            2,
            "`disk` is not a link of this model; known: `network`",
        ),
        ("[\"network\", \"server\"]", many.as_str(), 21, "65 parts: name at most 64"),
        ("processors = 4", node.as_str(), 2, "65 parts: name at most 64"),
        ("\"10Gbit/s\"", "\"10\"", 6, "is not a bandwidth"),
        (
            "rate = \"200MB/s\"",
            "rate = \"200MB/s\", distribution = \"normal\"",
            15,
            "unknown variant `normal`",
        ),
        ("rate = \"200MB/s\"", "rate = \"200MB/s\", deviation = 0.5", 15, "require each other"),
    ] {
        let said = said(from, to);
        assert!(said.contains(&format!("m.toml, line {line}: ")), "{to}: {said}");
        assert!(said.contains(words), "{to}: {said}");
    }
}

#[test]
fn a_rate_of_zero_is_a_mistake() {
    for (from, to, line) in [
        ("rate = \"200MB/s\"", "rate = \"0MB/s\"", 15),
        ("bandwidth = \"10Gbit/s\"", "bandwidth = \"0GB/s\"", 6),
        ("count = 4", "count = 4\nlimits = { read_iops = 0 }", 15),
        ("count = 4", "count = 4\nlimits = { write_bandwidth = \"0B/s\" }", 15),
    ] {
        let said = said(from, to);
        assert!(said.contains(&format!("m.toml, line {line}: ")), "{to}: {said}");
    }
}

#[test]
fn a_model_without_devices_or_layouts_is_none() {
    let text = "model = { name = \"nothing\" }\nnode = { processors = 1 }\n";
    let errors = simulate::read("m.toml".as_ref(), text).expect_err("no devices");
    assert!(
        errors.mistakes.iter().any(|one| one.message.contains("no device: add a [[device]]")),
        "{errors}"
    );
    assert!(
        errors.mistakes.iter().any(|one| one.message.contains("no layout: add a [[layout]]")),
        "{errors}"
    );
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_file() {
    let text = MODEL.replace("slots = 8", "slots = 0").replace("count = 4", "count = 0");
    let errors = simulate::read("m.toml".as_ref(), &text).expect_err("mistakes");
    let lines: Vec<usize> = errors.mistakes.iter().map(|one| one.line).collect();
    assert!(lines.len() >= 2 && lines.is_sorted() && lines.starts_with(&[10, 14]), "{errors}");
}
