//! The verdict on a claim of a study.

use plan::Relation;
use record::{Library, PublishedClaim};

use crate::gate::{
    Judgement, Kind, Of, Quantity as Values, Statement, Value,
    table::{Column, any, below, list, subject, word},
};

/// A caveat that applies to every such conclusion.
const CAVEAT: &str = "A synthetic benchmark is a best case: its transfers are regular and the storage has \
                      nothing else to do. Applications reach less, and a statement that holds here holds \
                      under these conditions.";

/// The caveat for figures that come from a model.
const SIMULATED_CAVEAT: &str = "The figures are those of a model: a statement that holds in it is not shown to hold for \
                                any storage, and what the model leaves out cannot refute it.";

/// A claim and the verdict of the own data on it.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct ClaimVerdict {
    pub id: String,
    pub text: String,
    pub source: String,
    pub judgement: Judgement,
    /// Whether the figures come from a model.
    pub simulated: bool,
    pub evidence: Vec<String>,
    /// The relation that its only rule tests. `None` if there are several rules.
    pub relation: Option<Relation>,
    pub(crate) figures: Vec<usize>,
}

impl Statement for ClaimVerdict {
    const KIND: Kind = Kind::Claim;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "";
    const COLUMNS: &'static [Column<Self>] = &[
        any(
            "standing",
            "own data",
            "`holds`, `does not hold`, `cannot be told` or `not tested`; of a simulated run each with `in this model`.",
            Values::Judgement(&Judgement::OF_CLAIMS),
            |one| Value::Judgement(one.judgement, one.word()),
        ),
        subject(word("text", "statement", "The wording of the statement.", |one| &one.text)),
        subject(word("id", "id", "Its id in the library, or the study's own.", |one| &one.id)),
        below(list(
            "evidence",
            "evidence",
            "Each comparison with its figures, the deciding ones first; or why there is none.",
            |one| one.evidence.clone(),
        )),
        below(word("source", "source", "The study that states it.", |one| &one.source)),
    ];

    fn notes(all: &[&Self]) -> Vec<String> {
        let simulated = all.iter().any(|one| one.simulated);
        vec![if simulated { SIMULATED_CAVEAT } else { CAVEAT }.to_owned()]
    }
}

impl ClaimVerdict {
    /// The word for the verdict.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        self.judgement.word(&Judgement::OF_CLAIMS, self.simulated)
    }
}

/// The study that states a claim.
pub(crate) fn source(claim: &PublishedClaim, library: &Library) -> String {
    library.study(&claim.study).map(record::Study::cited).unwrap_or_default()
}
