//! `docs/STATISTICS.md` names only what there is, and leaves out nothing that computes.

/// The words in code font that name something of this room.
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

#[test]
fn the_document_names_what_there_is() {
    let exported = words(include_str!("../../src/lib.rs"));
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
        "Bootstrap",
        "Latency",
        "Prediction",
        "RateName",
        "RateUnits",
        "Rates",
        "Regression",
        "Summary",
        "best",
        "bytes_behind_creates",
        "coincident",
        "compare_matrices",
        "compare_spread",
        "consistency",
        "coverage",
        "crossover",
        "difference",
        "dips",
        "drives",
        "expected",
        "heat_map",
        "iops_table",
        "jobs",
        "largest_gap",
        "layer_crossovers",
        "limits",
        "little",
        "mann_whitney",
        "matrices",
        "mix",
        "node_comparisons",
        "node_grids",
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

/// The examples of the study file's reference are studies that can be run.
#[test]
fn the_ids_of_the_examples_are_in_the_library() {
    let document = include_str!("../../../../docs/STUDY.md");
    let examples = document.split("```toml").skip(1).filter_map(|rest| rest.split("```").next());
    let mut placed = 0;
    for example in examples {
        let plan = plan::study::read("example.toml".as_ref(), example).expect("a study");
        placed += plan.terms.published.len();
        assert_eq!(analysis::unknown_ids(&plan, record::published()), []);
    }
    assert!(placed > 0, "one of them names a published figure");
}
