//! The OpenMetrics text, checked against its grammar, its content, and a third-party parser.

use std::collections::{BTreeMap, BTreeSet};

use report::Study;

use crate::common;

const DOCUMENTATION: &str = include_str!("../../../../docs/INTEGRATIONS.md");

/// Parses the text with the reference client library and prints the result.
const READ: &str = r#"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for sample in family.samples:
        print(family.type, family.unit or "-", sample.name, sample.labels.get("case", ""), sample.value)
"#;

/// The text for a study of six layouts, with every kind of finding.
fn study() -> String {
    let run = common::study::study();
    Study::of(&run).openmetrics()
}

/// The texts for all sample runs.
fn texts() -> Vec<String> {
    let files = common::operations::files();
    let runs = [
        common::run(),
        common::killed(),
        common::empty(),
        common::cluster::compared(4),
        files,
        common::layers::layers(),
        common::timeline::jobs(),
        common::simulated::simulated(common::study::study()),
    ];
    runs.iter().map(|run| report::Study::of(run).openmetrics()).chain([study()]).collect()
}

/// A sample: its name, labels and value.
#[derive(Debug, PartialEq)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Type and unit of each family.
type Families = BTreeMap<String, (String, String)>;

/// Parses families with their type and unit, and all samples, by the grammar of OpenMetrics 1.0.
fn parse(text: &str) -> Result<(Families, Vec<Sample>), String> {
    let body = text.strip_suffix("# EOF\n").ok_or("no EOF")?;
    let (mut families, mut samples) = (Families::new(), Vec::new());
    let mut current = String::new();
    for line in body.lines() {
        let fault = |what: &str| format!("{what}: {line}");
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (kind, name, value) = (words.next(), words.next().unwrap_or(""), words.next().unwrap_or(""));
            match kind {
                Some("TYPE") => {
                    current = name.to_owned();
                    let known =
                        ["gauge", "info", "summary", "stateset", "counter", "unknown"].contains(&value);
                    let new = families.insert(current.clone(), (value.to_owned(), String::new())).is_none();
                    (known && new).then_some(()).ok_or_else(|| fault("type"))?;
                }
                Some("UNIT") => {
                    let ends = name == current && name.ends_with(&format!("_{value}"));
                    ends.then_some(()).ok_or_else(|| fault("unit"))?;
                    families.get_mut(name).ok_or_else(|| fault("unit before type"))?.1 = value.to_owned();
                }
                Some("HELP") if name == current && !value.is_empty() => {}
                _ => return Err(fault("comment")),
            }
            continue;
        }
        let sample = sample(line).ok_or_else(|| fault("sample"))?;
        let ending = sample.name.strip_prefix(&current).ok_or_else(|| fault("of another family"))?;
        let allowed: &[&str] = match families[&current].0.as_str() {
            "info" => &["_info"],
            "summary" => &["", "_count", "_sum"],
            _ => &[""],
        };
        allowed.contains(&ending).then_some(()).ok_or_else(|| fault("ending"))?;
        samples.push(sample);
    }
    Ok((families, samples))
}

fn is_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(word) && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (key, after) = rest.split_once("=\"")?;
            let mut value = String::new();
            let mut characters = after.char_indices();
            let closed = loop {
                match characters.next()? {
                    (_, '\\') => value.push(match characters.next()?.1 {
                        'n' => '\n',
                        c @ ('"' | '\\') => c,
                        _ => return None,
                    }),
                    (at, '"') => break at,
                    (_, c) => value.push(c),
                }
            };
            let unique = is_name(key) && labels.insert(key.to_owned(), value).is_none();
            unique.then_some(())?;
            rest = &after[closed + 1..];
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ')?.parse().ok()?;
    is_name(name).then(|| Sample { name: name.to_owned(), labels, value })
}

#[test]
fn every_run_keeps_to_the_grammar() {
    for text in texts() {
        let (families, samples) = parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        assert!(families.keys().all(|name| name.starts_with("ioproof_")));
        let keys: BTreeSet<String> =
            samples.iter().map(|sample| format!("{}{:?}", sample.name, sample.labels)).collect();
        assert_eq!(keys.len(), samples.len(), "a sample stands there twice");
    }
}

#[test]
fn the_grammar_of_this_test_refuses_what_is_wrong() {
    let head = "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n# HELP a_seconds help\n";
    assert!(parse(&format!("{head}a_seconds{{b=\"c\"}} 1\n# EOF\n")).is_ok());
    for wrong in [
        "a_seconds{b=\"c\"} 1\n",
        "a_seconds{b=\"c} 1\n# EOF\n",
        "a_seconds{b=\"\\q\"} 1\n# EOF\n",
        "a_seconds{b=\"c\",b=\"d\"} 1\n# EOF\n",
        "a_seconds{b=\"c\"} one\n# EOF\n",
        "a_seconds_total 1\n# EOF\n",
        "other 1\n# EOF\n",
    ] {
        assert!(parse(&format!("{head}{wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn the_values_are_those_of_the_report_in_base_units() {
    let run = common::run();
    let json: serde_json::Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    let (_, samples) = parse(&report::Study::of(&run).openmetrics()).expect("OpenMetrics");
    let value = |name: &str, case: &str, more: &[(&str, &str)]| {
        let of = |sample: &&Sample| {
            sample.name == name
                && sample.labels.get("case").is_some_and(|found| found == case)
                && more.iter().all(|(key, value)| sample.labels.get(*key).is_some_and(|found| found == value))
        };
        samples.iter().find(of).map(|sample| sample.value)
    };
    for figure in json["figures"].as_array().expect("figures") {
        let (case, phase) =
            (figure["case"].as_str().expect("a name"), figure["phase"].as_str().expect("a name"));
        let median = value(
            "ioproof_bandwidth_bytes_per_second",
            case,
            &[("phase", phase), ("statistic", "median"), ("rate", "by wall time")],
        );
        assert_eq!(median, figure["bytes_per_second"]["median"].as_f64(), "{case} {phase}");
        let latency = &figure["latency"][0];
        let of = [
            ("phase", phase),
            ("operation", latency["operation"].as_str().expect("a word")),
            ("measure", "response"),
        ];
        let with_quantile = [of[0], of[1], of[2], ("quantile", "0.99")];
        let p99 = value("ioproof_latency_seconds", case, &with_quantile).expect("a quantile");
        assert!((p99 * 1e9 / latency["p99_ns"].as_f64().expect("a number") - 1.0).abs() < 1e-9);
        let count = value("ioproof_latency_seconds_count", case, &of);
        assert_eq!(count, latency["transfers"].as_f64());
        let warnings = value("ioproof_warnings", case, &[("phase", phase)]);
        assert_eq!(warnings, figure["notes"].as_array().map(|notes| notes.len() as f64));
    }
    let cached: f64 =
        samples.iter().filter(|sample| sample.name == "ioproof_page_cache").map(|sample| sample.value).sum();
    assert_eq!(cached, 2.0);
}

#[test]
fn every_figure_has_its_conditions_in_full() {
    let run = common::run();
    let (_, samples) = parse(&report::Study::of(&run).openmetrics()).expect("OpenMetrics");
    for case in &run.manifest.plan.cases {
        for phase in case.phases.iter().filter(|phase| phase.is_result()) {
            let conditions = case.workload.conditions(*phase);
            let stands = |sample: &Sample| {
                sample.name == "ioproof_figure_info" && sample.labels.get("conditions") == Some(&conditions)
            };
            assert!(samples.iter().any(stands), "{conditions}");
        }
    }
}

#[test]
fn promises_statements_and_expectations_of_a_study_are_told() {
    let (_, samples) = parse(&study()).expect("OpenMetrics");
    let named = |name: &'static str| samples.iter().filter(move |sample| sample.name == name);
    for (family, states) in [("ioproof_commitment", 4), ("ioproof_claim", 4)] {
        let (all, hold) = (named(family).count(), named(family).filter(|sample| sample.value == 1.0).count());
        assert!(hold > 0 && all == hold * states, "{family}: one of {states} states holds, {hold} of {all}");
    }
    for ratio in ["ioproof_expected_ratio", "ioproof_published_ratio"] {
        let of_figures = |sample: &Sample| sample.labels.contains_key("case") && sample.value > 0.0;
        assert!(named(ratio).count() > 0 && named(ratio).all(of_figures), "{ratio}");
    }
    assert!(named("ioproof_doubts").all(|sample| sample.value >= 1.0 && sample.labels.contains_key("check")));
}

#[test]
fn names_from_outside_stay_within_their_label() {
    let mut run = common::run();
    run.manifest.plan.title = "a \"title\" with \\ and\n# EOF".into();
    let (_, samples) = parse(&report::Study::of(&run).openmetrics()).expect("OpenMetrics");
    assert_eq!(samples[0].labels["title"], run.manifest.plan.title);
}

#[test]
fn the_documentation_names_every_metric() {
    let mut names = BTreeSet::new();
    for text in texts() {
        names.extend(parse(&text).expect("OpenMetrics").0.into_keys());
    }
    // Numbers in statements are identified by kind and field.
    let of_statement = |name: &&String| {
        analysis::gate::POLICY.iter().any(|row| name.starts_with(&format!("ioproof_{}_", row.id)))
    };
    for name in names.iter().filter(|name| !of_statement(name)) {
        assert!(DOCUMENTATION.contains(&format!("`{name}`")), "docs/INTEGRATIONS.md lacks `{name}`");
    }
    let rows = DOCUMENTATION.lines().filter_map(|line| line.strip_prefix("| `ioproof_")?.split('`').next());
    for name in rows.map(|rest| format!("ioproof_{rest}")) {
        assert!(names.contains(&name), "docs/INTEGRATIONS.md describes `{name}`, which is nowhere");
    }
}

#[test]
fn the_parser_of_the_reference_library_reads_it() {
    let python = testbed::Python::with(&["prometheus_client"]);
    if testbed::skipped(python.as_ref().map(|_| ()).map_err(Clone::clone)) {
        return;
    }
    let python = python.expect("just looked at");
    for text in texts() {
        let path = python.scratch().join("run.om");
        std::fs::write(&path, &text).expect("it is written");
        let read = python.script(READ).arg(&path).run().expect("it ends").expect_code(0);
        let (_, samples) = parse(&text).expect("OpenMetrics");
        assert_eq!(read.stdout.lines().count(), samples.len(), "both parsers find the same samples");
        if text.contains("ioproof_bandwidth") {
            assert!(read.stdout.contains("gauge bytes_per_second ioproof_bandwidth_bytes_per_second"));
        }
        if text.contains("ioproof_latency_seconds_count") {
            assert!(read.stdout.contains("summary seconds ioproof_latency_seconds_count"));
        }
    }
    let broken = python.scratch().join("broken.om");
    std::fs::write(&broken, "# TYPE a info\na 1\n# EOF\n").expect("it is written");
    let refused = python.script(READ).arg(&broken).run().expect("it ends");
    assert_ne!(refused.code, Some(0), "the parser refuses what is wrong");
}
