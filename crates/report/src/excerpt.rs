//! Parts of a report for commands that answer one question: verdicts and doubts.

use std::collections::HashSet;

use analysis::{
    audit::{AuditIssue, Use},
    comparisons::Verdict,
    gate::{Judgement, Kind, Stated},
};
use record::Library;
use serde_json::json;

use crate::Study;
use crate::format::escape::json_text;
use crate::format::screen::Screen;
use crate::format::table::Table;
use crate::format::{counted, grouped};
use crate::render::text::{heading, section_whole};
use crate::report::DOUBT;
use crate::report::object::objects;
use crate::report::origin;

/// Verdict on a study without commitments.
const NO_COMMITMENT: &str =
    "the study has no [[commitment]], so there is nothing to judge; docs/STUDY.md says how to write one\n";

impl Study<'_> {
    /// The verdicts as a table, with reasons unless passed.
    #[must_use]
    pub fn verdicts(&self, screen: Screen) -> String {
        let Some(table) = self.section("summary", screen) else { return NO_COMMITMENT.to_owned() };
        self.marked(&table, screen)
    }

    /// The verdicts as JSON: `{"schema", "provenance", "model", "kept", "verdicts"}`; for a simulated run
    /// also `"would_be_kept"`.
    #[must_use]
    pub fn verdicts_json(&self) -> String {
        let verdicts = self.report().statements.objects(Kind::Commitment);
        let mut all = json!({ "schema": "ioproof-verdict/2", "kept": self.kept(), "verdicts": verdicts });
        self.mark_json(&mut all);
        if self.is_simulated() {
            all["would_be_kept"] = self.all_hold().into();
        }
        json_text(&all)
    }

    /// Whether the study has commitments.
    #[must_use]
    pub fn promises(&self) -> bool {
        !self.report().found.verdicts.is_empty()
    }

    /// Whether the figures come from a model.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        origin::is_simulated(self.report())
    }

    /// Whether there are commitments and all of them were kept. A model cannot keep any.
    #[must_use]
    pub fn kept(&self) -> bool {
        self.all_hold() && !self.is_simulated()
    }

    /// Whether there are commitments and the figures reach all of them.
    fn all_hold(&self) -> bool {
        let verdicts = &self.report().found.verdicts;
        let holds = |one: &Stated<Verdict>| one.says().is_some_and(|one| one.judgement == Judgement::Holds);
        !verdicts.is_empty() && verdicts.iter().all(holds)
    }

    /// The doubts, by cause, and the number of figures whose statements are withheld.
    #[must_use]
    pub fn check(&self, screen: Screen) -> String {
        let of = counted(self.report().figures.len() as u64, "figure");
        match self.section("audit", screen) {
            None => self.marked(&format!("nothing doubtful in {of}\n"), screen),
            Some(found) => {
                let kept = if self.is_simulated() { "would keep" } else { "can keep" };
                let leaves_open = |one: &AuditIssue| one.withholds(Use::PromiseBroken);
                let last = match self.withheld() as u64 {
                    0 if self.report().found.audit.iter().any(leaves_open) => {
                        "no kept promise is withheld because of these doubts; a broken one may be".to_owned()
                    }
                    0 => "no promise is withheld because of these doubts".to_owned(),
                    count => format!("{} of {of} {kept} no promise", grouped(count)),
                };
                self.marked(&format!("{found}\n{last}\n"), screen)
            }
        }
    }

    /// `text` preceded by the heading of a simulated run.
    pub(crate) fn marked(&self, text: &str, screen: Screen) -> String {
        match &self.report().run.mark {
            Some(_) => format!("{}\n{text}", heading(self.report(), screen)),
            None => text.to_owned(),
        }
    }

    /// Adds the origin of the figures.
    fn mark_json(&self, all: &mut serde_json::Value) {
        let run = &self.report().run;
        all["provenance"] = run.provenance.into();
        all["model"] = serde_json::to_value(&run.model).unwrap_or_default();
    }

    /// The doubts as JSON: `{"schema", "provenance", "model", "withheld", "doubts"}`.
    #[must_use]
    pub fn check_json(&self) -> String {
        let doubts = objects(DOUBT, &self.report().found.audit);
        let mut all = json!({ "schema": "ioproof-check/1", "withheld": self.withheld(), "doubts": doubts });
        self.mark_json(&mut all);
        json_text(&all)
    }

    /// Number of figures that a doubt disqualifies from meeting a commitment.
    #[must_use]
    pub fn withheld(&self) -> usize {
        let doubts = self.report().found.audit.iter().filter(|one| one.disqualifies());
        doubts.filter_map(|one| one.figure).collect::<HashSet<_>>().len()
    }

    /// One section for a terminal, uncut.
    fn section(&self, id: &str, screen: Screen) -> Option<String> {
        let sections = crate::section::sections(self.report(), crate::section::Extent::Full);
        let found = sections.iter().find(|section| section.id == id)?;
        Some(section_whole(found, screen).trim_start().to_owned())
    }
}

/// The doubts about published figures, for a terminal.
#[must_use]
pub fn check_published(library: &Library) -> String {
    let doubts = analysis::audit::audit_published(library);
    let table = Table::of(&doubts)
        .left("check", |one| one.check.name())
        .left("concerns", |one| one.concerns.clone())
        .left("evidence", |one| one.evidence.clone())
        .done()
        .to_text("", Screen::PLAIN);
    let found = counted(doubts.len() as u64, "doubt");
    format!("{table}\n{found} in {} published figures\n", library.figures.len())
}

/// The same as JSON: `{"schema", "doubts"}`.
#[must_use]
pub fn check_published_json(library: &Library) -> String {
    let doubts = objects(DOUBT, &analysis::audit::audit_published(library));
    json_text(&json!({ "schema": "ioproof-check/1", "doubts": doubts }))
}
