//! The host of a run compared with the machines of the published studies in its terms.

use plan::Criteria;
use record::{Fact, HostFacts};
use schemars::JsonSchema;
use serde::Serialize;

use super::rows::{self, FactRow};
use crate::format::table::Table;

/// Shown for values that a publication does not state.
const NOT_STATED: &str = "not stated";

/// The machine that a published study was made on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PublishedMachine {
    /// The letter of the study.
    pub(crate) study: String,
    /// Title and year of the study.
    pub(crate) source: String,
    /// What it prints of its machine, in its own words; what it does not state is not there.
    pub(crate) facts: Vec<PrintedFact>,
}

/// A fact of a published machine.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PrintedFact {
    /// About what, as in `memory`.
    pub(crate) fact: String,
    /// In the words of the study.
    pub(crate) printed: String,
}

/// The machines of the studies whose figures or statements are named by `criteria` or compared with own figures
/// in `beside`.
pub(crate) fn machines<'a>(
    criteria: &'a Criteria,
    beside: impl Iterator<Item = &'a str>,
) -> Vec<PublishedMachine> {
    let library = record::published();
    let figures = criteria.published.iter().map(|one| one.id.as_str()).chain(beside);
    let of_figures = figures.filter_map(|id| library.figure(id)).map(|one| &one.study);
    let of_claims = criteria.claims.iter().filter_map(|one| library.claim(&one.id)).map(|one| &one.study);
    let studies = analysis::figures::grouped(of_figures.chain(of_claims), |study| study.as_str());
    studies.iter().filter_map(|same| library.study(same[0])).map(machine).collect()
}

fn machine(study: &record::Study) -> PublishedMachine {
    let facts = study.machine.iter();
    let facts = facts.map(|(fact, words)| PrintedFact { fact: fact.clone(), printed: words.clone() });
    PublishedMachine { study: study.letter.clone(), source: study.cited(), facts: facts.collect() }
}

/// The owner of the host facts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The host on which it ran.
    Host,
    /// The machine of its model, which only has facts that are known.
    Model,
}

impl Whose {
    /// The start of a heading.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Host => "The host",
            Self::Model => "The model's machine",
        }
    }

    const fn column(self) -> &'static str {
        match self {
            Self::Host => "this host",
            Self::Model => "the model's machine",
        }
    }
}

/// All rows of the host of a run.
fn all_rows(host: &HostFacts, whose: Whose) -> Vec<FactRow> {
    let mut rows: Vec<FactRow> = rows::rows(host).into_iter().chain(rows::storage(host)).collect();
    let is_known = |row: &FactRow| matches!(&row.value, Fact::Known(Some(text)) if !text.is_empty());
    rows.retain(|row| whose == Whose::Host || is_known(row));
    rows
}

/// The host with a column for each machine; with `stated` only facts that a machine has.
pub(crate) fn table(host: &HostFacts, machines: &[PublishedMachine], whose: Whose, stated: bool) -> Table {
    let is_told = |row: &FactRow| !stated || machines.iter().any(|one| stated_by(one, row).is_some());
    of_rows(all_rows(host, whose).iter().filter(|row| is_told(row)), machines, whose, stated)
}

/// The same, with a table for each group of facts.
pub(crate) fn groups(
    host: &HostFacts,
    machines: &[PublishedMachine],
    whose: Whose,
) -> Vec<(&'static str, Table)> {
    let rows = all_rows(host, whose);
    let groups = rows.chunk_by(|one, next| one.group == next.group);
    groups.map(|rows| (rows[0].group, of_rows(rows.iter(), machines, whose, false))).collect()
}

fn of_rows<'r>(
    rows: impl Iterator<Item = &'r FactRow>,
    machines: &[PublishedMachine],
    whose: Whose,
    letters: bool,
) -> Table {
    let mut table = Table::of(rows).left("fact", |row| row.name).left(whose.column(), |row| row.text());
    for one in machines {
        // A terminal has no room for titles; the sections of published figures have them.
        let heading = format!("study {}{}", one.study, if letters { "" } else { ": " });
        let heading = if letters { heading } else { heading + &one.source };
        table = table.left(&heading, |row| stated_by(one, row).unwrap_or(NOT_STATED));
    }
    table.done()
}

fn stated_by<'a>(machine: &'a PublishedMachine, row: &FactRow) -> Option<&'a str> {
    machine.facts.iter().find(|one| one.fact == row.key).map(|one| one.printed.as_str())
}

#[cfg(test)]
mod tests {
    use record::{Fact, HostFacts, SoftwareFacts};

    use super::{Whose, all_rows, machine, table};

    /// A host for which all facts were collected.
    fn host() -> HostFacts {
        let names = [
            "NVMe driver",
            "mdadm",
            "Intel RSTe (IMSM)",
            "LVM",
            "device mapper",
            "XVM",
            "GPFS (Spectrum Scale)",
            "Lustre",
            "BeeGFS",
            "Slurm",
            "PBS",
            "Flux",
        ];
        let software = names.map(|name| SoftwareFacts { name: name.to_owned(), version: Fact::Known(None) });
        HostFacts { software: Fact::Known(software.to_vec()), ..HostFacts::default() }
    }

    #[test]
    fn every_fact_of_a_published_machine_has_a_row() {
        let rows = all_rows(&host(), Whose::Host);
        for study in &record::published().studies {
            assert!(!study.machine.is_empty(), "{}", study.id);
            for key in study.machine.keys() {
                assert!(rows.iter().any(|row| row.key == key), "{}: no row is called {key}", study.id);
            }
        }
    }

    #[test]
    fn what_is_not_there_and_what_a_study_does_not_state_are_said() {
        let study = record::published().study("A").expect("study A");
        let table = table(&host(), &[machine(study)], Whose::Host, false);
        let row = |name: &str| -> Vec<String> {
            let row = table.rows().iter().find(|row| row[0].text == name).expect("a row");
            row.iter().skip(1).map(|cell| cell.text.clone()).collect()
        };
        assert_eq!(row("XVM"), ["not present", "3.4"]);
        assert_eq!(row("turbo"), ["unknown: not looked for", "not stated"]);
    }
}
