//! What the figures say together: promises kept, statements tested, shares of what was expected.

use analysis::{Judgement, Standing};

use super::family::{Family, Labels, labels, with};
use crate::view::findings::Amount;
use crate::view::{BYTES_PER_SECOND, Report};

/// All judgements, in the order in which they stand in the text.
const JUDGEMENTS: [&str; 4] =
    [Judgement::Pass.name(), Judgement::Fail.name(), Judgement::Doubtful.name(), Judgement::NotTested.name()];
/// All standings of a statement.
const STANDINGS: [&str; 4] = [
    Standing::Holds.name(),
    Standing::DoesNotHold.name(),
    Standing::CannotTell.name(),
    Standing::NotTested.name(),
];

/// The families; `of` gives the labels of a figure by its number.
pub(super) fn families(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> Vec<Family> {
    let findings = &report.findings;
    let mut commitment = Family::states("ioproof_commitment", "the judgement of a promised figure");
    let mut margin = Family::measured(
        "ioproof_commitment_margin_ratio",
        "ratio",
        "how far a figure is on the good side of what was promised",
    );
    for one in &findings.verdicts {
        let who = labels(&[("name", &one.name), ("by", &one.by)]);
        let promised = format!("{} {}", one.side, shown(&one.promised));
        let terms = with(&who, &[("promised", &promised), ("judged_by", &one.judged_by)]);
        commitment.put_state(&terms, &JUDGEMENTS, one.judgement);
        if let Some(ratio) = one.margin {
            margin.put(who, ratio);
        }
    }
    let mut claim = Family::states("ioproof_claim", "how a statement stands to the figures of this run");
    for one in &findings.claims {
        claim.put_state(&labels(&[("id", &one.id), ("text", &one.text)]), &STANDINGS, one.standing);
    }
    let mut expected = Family::measured(
        "ioproof_expected_ratio",
        "ratio",
        "figure for each of a data sheet or a limit; latencies likewise",
    );
    for one in &findings.expected {
        if let Some(figure) = of(one.figure) {
            expected.put(with(&figure, &[("expectation", &one.name)]), one.ratio);
        }
    }
    let mut all = vec![commitment, margin, claim, expected];
    all.extend(nodes(report, &of));
    all.extend(super::layers::families(report, &of));
    all.extend(super::timeline::families(report, &of));
    all.push(published(report, &of));
    all
}

/// The nodes of each figure of several.
fn nodes(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> [Family; 4] {
    let mut rate = Family::measured(
        "ioproof_node_bandwidth_bytes_per_second",
        "bytes_per_second",
        "bytes of the tasks of a node over the node's own time, median of the passes that count",
    );
    let mut operations = Family::measured(
        "ioproof_node_operations_per_second",
        "operations_per_second",
        "operations of the tasks of a node over the node's own time, median of the passes that count",
    );
    let mut slow = Family::gauge("ioproof_node_slow", "1 where a node is much slower than the others");
    let mut bound = Family::measured(
        "ioproof_collective_bound_bytes_per_second",
        "bytes_per_second",
        "number of nodes times the rate of the slowest",
    );
    for one in &report.findings.nodes {
        let Some(figure) = of(one.figure) else { continue };
        let bytes = one.unit == BYTES_PER_SECOND;
        for node in &one.nodes {
            let which = with(&figure, &[("node", &node.node)]);
            let of = if bytes { &mut rate } else { &mut operations };
            of.put(which.clone(), node.rate.median_per_second);
            slow.put(which, f64::from(u8::from(node.slow)));
        }
        if let Some(limit) = one.bound.as_ref().filter(|_| bytes) {
            bound.put(with(&figure, &[("slowest", &limit.slowest)]), limit.bound_per_second);
        }
    }
    [rate, operations, slow, bound]
}

fn published(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> Family {
    let mut family = Family::measured(
        "ioproof_published_ratio",
        "ratio",
        "own figure for each of a published one, of another system",
    );
    for one in &report.findings.beside {
        let (Some(figure), Some(ratio)) = (one.figure.and_then(&of), one.ratio) else { continue };
        let which = [("published", one.id.as_str()), ("as_published", &one.as_published)];
        family.put(with(&figure, &which), ratio);
    }
    family
}

/// An amount in base units.
fn shown(amount: &Amount) -> String {
    let (value, unit) = match amount.unit {
        "ns" => (amount.value / 1e9, "s"),
        unit => (amount.value, unit),
    };
    match amount.percentile {
        Some(percent) => format!("{value} {unit} (p{percent})"),
        None => format!("{value} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;
    use crate::view::findings::Amount;

    #[test]
    fn an_amount_is_in_base_units() {
        let amount = |value, unit, percentile| shown(&Amount { value, unit, percentile });
        assert_eq!(amount(1e6, "ops/s", None), "1000000 ops/s");
        assert_eq!(amount(5e5, "ns", Some(99.0)), "0.0005 s (p99)");
    }
}
