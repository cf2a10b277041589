//! The host of a run, beside the machines that the published studies of its terms were made on.

use plan::Terms;
use record::HostFacts;
use serde_json::{Value, json};

use super::rows::{self, FactRow, Shown};
use crate::table::{Align, Table};
use crate::view::{PrintedFact, PublishedMachine};

/// Shown where a publication says nothing.
const NOT_STATED: &str = "not stated";

/// The machines of the studies that the terms name figures or statements of, or that have figures `beside`
/// own ones.
pub(crate) fn machines<'a>(terms: &'a Terms, beside: impl Iterator<Item = &'a str>) -> Vec<PublishedMachine> {
    let library = record::published();
    let figures = terms.published.iter().map(|one| one.id.as_str()).chain(beside);
    let of_figures = figures.filter_map(|id| library.figure(id)).map(|one| &one.study);
    let of_claims = terms.claims.iter().filter_map(|one| library.claim(&one.id)).map(|one| &one.study);
    let mut studies: Vec<&str> = Vec::new();
    for study in of_figures.chain(of_claims) {
        if !studies.contains(&study.as_str()) {
            studies.push(study);
        }
    }
    let machine = |id: &&str| {
        let study = library.study(id)?;
        Some(PublishedMachine { study: study.letter.clone(), source: study.cited(), facts: facts(study) })
    };
    studies.iter().filter_map(machine).collect()
}

fn facts(study: &record::Study) -> Vec<PrintedFact> {
    let printed =
        |(fact, words): (&String, &String)| PrintedFact { fact: fact.clone(), printed: words.clone() };
    study.machine.iter().map(printed).collect()
}

/// All rows of the host of a run.
fn all_rows(host: &HostFacts) -> Vec<FactRow> {
    let mut all = rows::rows(host);
    all.extend(rows::storage(host));
    all
}

/// The host with a column for each machine. With `stated` only what one of the machines is known by.
pub(crate) fn table(host: &HostFacts, machines: &[PublishedMachine], stated: bool) -> Table {
    // A terminal has no place for titles; they stand with the figures of the studies.
    let short = |one: &PublishedMachine| format!("study {}", one.study);
    let titles: Vec<String> = machines.iter().map(if stated { short } else { title }).collect();
    let mut headings = vec![("fact", Align::Left), ("this host", Align::Left)];
    headings.extend(titles.iter().map(|title| (title.as_str(), Align::Left)));
    let mut table = Table::new(&headings);
    for row in all_rows(host) {
        if stated && !machines.iter().any(|one| stated_by(one, &row).is_some()) {
            continue;
        }
        let mut cells = vec![row.name.to_owned(), row.value.text()];
        cells.extend(machines.iter().map(|one| printed(one, &row)));
        table.row(cells);
    }
    table
}

/// The same for a page, by groups.
pub(crate) fn page(host: &HostFacts, machines: &[PublishedMachine]) -> Value {
    let rows = all_rows(host);
    let groups = rows.chunk_by(|one, next| one.group == next.group).map(|rows| {
        let each = rows.iter().map(|row| {
            json!({
                "name": row.name,
                "text": row.value.text(),
                "is_known": matches!(row.value, Shown::Known(_)),
                "printed": machines.iter().map(|one| printed(one, row)).collect::<Vec<_>>(),
            })
        });
        json!({ "name": rows[0].group, "rows": each.collect::<Vec<_>>() })
    });
    json!({
        "machines": machines.iter().map(title).collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
    })
}

fn title(machine: &PublishedMachine) -> String {
    format!("study {}: {}", machine.study, machine.source)
}

fn printed(machine: &PublishedMachine, row: &FactRow) -> String {
    stated_by(machine, row).unwrap_or(NOT_STATED).to_owned()
}

fn stated_by<'a>(machine: &'a PublishedMachine, row: &FactRow) -> Option<&'a str> {
    machine.facts.iter().find(|one| one.fact == row.key).map(|one| one.printed.as_str())
}

#[cfg(test)]
mod tests {
    use record::{Fact, HostFacts, SoftwareFacts};

    use super::{all_rows, facts, table};
    use crate::view::PublishedMachine;

    /// A host of which everything was looked for.
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
        let rows = all_rows(&host());
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
        let machine = PublishedMachine { study: "A".to_owned(), source: study.cited(), facts: facts(study) };
        let table = table(&host(), &[machine], false);
        let row = |name: &str| -> Vec<String> {
            let row = table.rows().iter().find(|row| row[0].text == name).expect("a row");
            row.iter().skip(1).map(|cell| cell.text.clone()).collect()
        };
        assert_eq!(row("XVM"), ["not present", "3.4"]);
        assert_eq!(row("turbo"), ["unknown: not looked for", "not stated"]);
    }
}
