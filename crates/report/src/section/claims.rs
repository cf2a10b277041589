//! What studies and the user stated, and what own data say of it.

use super::{Block, Statement};
use crate::table::Tone;
use crate::view::Report;
use crate::view::findings::Claim;

/// What must be known of any such conclusion.
const CAVEAT: &str = "A synthetic benchmark is a best case: its transfers are regular and nothing else is asked of \
                      the storage meanwhile. Applications reach less, and a statement that holds here holds for \
                      these conditions.";

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    if report.findings.claims.is_empty() {
        return Vec::new();
    }
    let statements = report.findings.claims.iter().map(statement).collect();
    vec![Block::Statements(statements), Block::Text(CAVEAT.to_owned())]
}

fn statement(one: &Claim) -> Statement {
    let tone = match one.standing {
        "holds" => Tone::Good,
        "does not hold" => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let source = if one.source.is_empty() { "this study" } else { &one.source };
    let mut evidence = comparisons(&one.evidence);
    if one.standing == "does not hold" {
        // Where one comparison fails the statement does, so these decided.
        evidence.sort_by_key(|comparison| !fails(comparison));
    }
    Statement {
        standing: one.standing,
        tone,
        text: one.text.clone(),
        source: format!("{source}, {}", one.id),
        evidence,
    }
}

/// The comparisons of a statement, of which each may end in what it should have been.
fn comparisons(evidence: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for part in evidence.split("; ") {
        match all.last_mut() {
            // Only a comparison has two sides; what follows it says what they should have been.
            Some(last) if ![" < ", " > ", " = ", " against "].iter().any(|sign| part.contains(sign)) => {
                last.push_str("; ");
                last.push_str(part);
            }
            _ => all.push(part.to_owned()),
        }
    }
    all
}

/// Whether a comparison is one that the statement fails by.
fn fails(comparison: &str) -> bool {
    comparison.contains("; to be ") || comparison.ends_with(": no")
}

#[cfg(test)]
mod tests {
    use super::{comparisons, fails};

    #[test]
    fn a_comparison_keeps_what_it_should_have_been() {
        let evidence = "1.7 GB/s (a) > 1.6 GB/s (b), from single runs; 920 MB/s (a) < 1.2 GB/s (b); to be greater; \
                        2 GB/s (c) > 1 GB/s (d) × 0.909, equal within 2 %: no";
        let all = comparisons(evidence);
        assert_eq!(all.len(), 3);
        assert_eq!(all[1], "920 MB/s (a) < 1.2 GB/s (b); to be greater");
        assert_eq!(all.iter().map(|one| fails(one)).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(comparisons("no rule in this study tests it; it would need: a thing").len(), 1);
    }
}
