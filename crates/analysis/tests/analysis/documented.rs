//! `docs/STATISTICS.md` names only items that exist, and omits nothing that computes results.

use std::fs;
use std::path::{Path, PathBuf};

/// The words in code font that name an item of this crate.
fn named(document: &str) -> Vec<&str> {
    let in_code = document.split('`').skip(1).step_by(2);
    let word = |text: &&str| text.chars().all(|letter| letter.is_alphanumeric() || "_:".contains(letter));
    in_code
        .filter(word)
        .map(|text| text.trim_start_matches("analysis::"))
        .map(|text| text.split("::").next().unwrap_or(text))
        .collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).collect()
}

/// The source code of the library.
fn library(directory: &Path) -> String {
    let entries =
        fs::read_dir(directory).expect("the sources can be read").flatten().map(|entry| entry.path());
    let text = |path: PathBuf| match path.is_dir() {
        true => library(&path),
        false => fs::read_to_string(path).expect("text"),
    };
    entries.map(text).collect()
}

#[test]
fn the_document_names_what_there_is() {
    let library = library(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let items = library.lines().filter_map(|line| line.strip_prefix("pub ").or(line.strip_prefix("mod ")));
    // A list of exported names may span several lines.
    let lists = library.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let exported: Vec<&str> = items.chain(lists).flat_map(words).collect();
    let missing: Vec<&str> = named(include_str!("../../../../docs/STATISTICS.md"))
        .into_iter()
        .filter(|name| !exported.contains(name))
        .collect();
    assert!(missing.is_empty(), "not exported by analysis: {missing:?}");
}

#[test]
fn every_statistic_is_documented() {
    let named = named(include_str!("../../../../docs/STATISTICS.md"));
    let statistics = [
        "Latency",
        "Prediction",
        "RateName",
        "RateUnits",
        "Rates",
        "Regression",
        "Summary",
        "best",
        "coincident",
        "compare_matrices",
        "compare_spread",
        "consistency",
        "coverage",
        "crossover",
        "against_itself",
        "change_point",
        "level_changes",
        "difference",
        "dips",
        "drives",
        "expected",
        "iops_table",
        "Job",
        "largest_gap",
        "layer_crossovers",
        "limits",
        "little",
        "mann_whitney",
        "matrices",
        "mix",
        "node_comparisons",
        "node_rates",
        "onset",
        "overhead",
        "Overlay",
        "robust_z",
        "scalability",
        "settled",
        "shape",
        "shift",
        "slow_nodes",
        "slowest_member",
        "standing_apart",
        "steady",
        "tax",
        "uncertain_clocks",
        "verdicts",
        "weak_scaling",
        "weakest_links",
        "whole_mebibytes",
    ];
    let missing: Vec<&&str> = statistics.iter().filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "not in docs/STATISTICS.md: {missing:?}");
}

/// The examples in the study file reference are valid studies.
#[test]
fn the_ids_of_the_examples_are_in_the_library() {
    let document = include_str!("../../../../docs/STUDY.md");
    let examples = document.split("```toml").skip(1).filter_map(|rest| rest.split("```").next());
    let mut placed = 0;
    for example in examples {
        let plan = plan::study::read("example.toml".as_ref(), example).expect("a study");
        placed += plan.criteria.published.len();
        assert_eq!(analysis::comparisons::unknown_ids(&plan, record::published()), []);
    }
    assert!(placed > 0, "one of them names a published figure");
}

/// Compares the text between the markers in a document of `docs/` with `wanted`, or writes it there.
fn written(document: &str, from: &str, wanted: &str) {
    let path = format!("{}/../../docs/{document}", env!("CARGO_MANIFEST_DIR"));
    let first =
        format!("<!-- Written by `UPDATE_DOCS=1 cargo test -p ioproof-analysis`: change {from}. -->\n");
    let text = std::fs::read_to_string(&path).expect("a document");
    let (before, rest) = text.split_once(&first).expect("the first mark");
    let (_, after) = rest.split_once("<!-- end -->\n").expect("the second mark");
    let wanted = format!("{before}{first}{wanted}<!-- end -->\n{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).expect("written");
        return;
    }
    assert!(text == wanted, "run `UPDATE_DOCS=1 cargo test -p ioproof-analysis`");
}

#[test]
fn the_documentation_has_the_checks_of_the_audit() {
    let rows = analysis::audit::CHECKS.iter().map(|row| {
        let [kept, broken, waiting, compared, other] =
            [row.kept, row.broken, row.waiting, row.compared, row.other].map(analysis::audit::Outcome::name);
        let simulated = if row.check.speaks(true) { "yes" } else { "no" };
        let outcomes = format!("{kept} | {broken} | {waiting} | {compared} | {other}");
        format!("| {} | {} | {outcomes} | {simulated} |\n", row.name, row.means)
    });
    let head = "| check | what is doubted | promise kept | promise broken | waiting for storage | comparison | other | of simulated figures |\n\
                |---|---|---|---|---|---|---|---|\n";
    written("AUDIT.md", "audit/policy.rs", &format!("{head}{}", rows.collect::<String>()));
}

#[test]
fn the_documentation_has_the_rules_of_consistency_with_tool_releases_mode_and_source() {
    let rows = analysis::printed::RULES.iter().map(|rule| {
        let tools = rule.tools.join(", ");
        format!("| {} | {tools} | {} | {} | {} |\n", rule.name, rule.release_range(), rule.mode, rule.learnt)
    });
    let head = "| rule | tool | releases | mode | where it was learnt |\n|---|---|---|---|---|\n";
    written("IMPORT.md", "printed/rules", &format!("{head}{}", rows.collect::<String>()));
}

#[test]
fn the_documentation_has_the_policy_of_each_kind_of_statement() {
    written("STATISTICS.md", "gate/policy.rs", &analysis::gate::policy_table());
}

#[test]
fn the_documentation_has_the_fields_of_latencies_and_of_each_kind_of_statement() {
    // A single test for both, because they are in the same document, which is written as a whole.
    let rows = analysis::figures::LATENCY_STATISTICS
        .iter()
        .map(|one| format!("| `{}_ns` | {} |\n", one.key, one.about));
    let statistics = format!("| field | meaning |\n|---|---|\n{}", rows.collect::<String>());
    written("REPORT.md", "LATENCY_STATISTICS", &statistics);
    let mut text = String::new();
    for table in analysis::findings::Findings::default().tables() {
        text +=
            &format!("`{}`: {}\n\n| field | meaning |\n|---|---|\n", table.kind.policy().id, table.caption);
        for head in &table.columns {
            text += &format!("| `{}` | {} |\n", head.key, head.about);
        }
        text += "\n";
    }
    written("REPORT.md", "the columns of the kind", &text);
}

/// A kind without a row would be reported without being tested.
#[test]
fn every_kind_of_statement_has_a_row_and_a_table() {
    let mut kinds: Vec<_> =
        analysis::findings::Findings::default().tables().iter().map(|table| table.kind).collect();
    // This kind compares two runs, and is therefore not among the findings of one run.
    kinds.push(analysis::gate::Kind::Comparison);
    assert_eq!(kinds, analysis::gate::POLICY.map(|row| row.kind));
}
