//! A host as `ioproof host facts` shows it.

pub(crate) mod beside;
pub(crate) mod rows;
pub(crate) mod tables;

use std::fmt::Write as _;

use plan::visible;
use record::{Fact, Inventory};
use schemars::generate::SchemaSettings;

use self::rows::{FactRow, Shown};
use crate::Colour;
use crate::escape;
use crate::table::{COLUMNS, Table, wrapped};

/// The share of a file system below which what is free is called little. XFS and ext4 slow down when
/// they have no long stretches left; study C left nothing free.
pub(crate) const FREE_LEAST: f64 = 0.05;

impl Shown {
    /// The value, or `other` for what is not there or not known.
    pub(crate) fn known_or(&self, other: &str) -> String {
        match self {
            Self::Known(text) => text.clone(),
            Self::NotPresent | Self::Unknown(_) => other.to_owned(),
        }
    }
}

/// All of `inventory` for a terminal of 120 columns.
#[must_use]
pub fn inventory(inventory: &Inventory, colour: Colour) -> String {
    let Inventory { host, slots, .. } = inventory;
    let mut out = String::new();
    groups(&mut out, &rows::rows(host), colour);
    part(
        &mut out,
        "Block devices",
        &tables::devices(&host.devices),
        "no block device holds anything",
        colour,
    );
    if !host.devices.is_empty() {
        part(&mut out, "Queues and links of block devices", &tables::queues(&host.devices), "", colour);
    }
    let file_systems = tables::file_systems(&host.file_systems, FREE_LEAST);
    part(&mut out, "File systems", &file_systems, "no real file system is mounted", colour);
    for one in host.file_systems.iter().filter(|one| tables::is_full(one, FREE_LEAST)) {
        let line = format!("less than {:.0} % of {} is free", FREE_LEAST * 100.0, one.mount_point);
        out.push_str(&colour.warning(&wrapped("! ", &line, COLUMNS)));
    }
    of_fact(&mut out, "Volumes", &host.volumes, tables::volumes, colour);
    of_fact(&mut out, "Network", &host.network, tables::network, colour);
    slot_map(&mut out, inventory, colour);
    if slots.warnings.is_empty() {
        return out;
    }
    out.push('\n');
    for warning in &slots.warnings {
        let line = format!("{}: {}", warning.card, warning.message);
        out.push_str(&colour.warning(&wrapped("! ", &line, COLUMNS)));
    }
    out
}

/// Rows under the headings of their groups, names in one column.
fn groups(out: &mut String, rows: &[FactRow], colour: Colour) {
    let names = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut group = "";
    for row in rows {
        if row.group != group {
            group = row.group;
            let first = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{first}{}", colour.strong(group));
        }
        out.push_str(&wrapped(&format!("  {:names$}  ", row.name), &row.value.text(), COLUMNS));
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
}

fn part(out: &mut String, heading: &str, table: &Table, none: &str, colour: Colour) {
    let _ = writeln!(out, "\n{}", colour.strong(heading));
    match table.is_empty() {
        true => {
            let _ = writeln!(out, "  {none}");
        }
        false => out.push_str(&table.clone().without_empty_columns().to_text("  ", colour)),
    }
}

fn of_fact<T>(
    out: &mut String,
    heading: &str,
    fact: &Fact<Vec<T>>,
    table: impl Fn(&[T]) -> Table,
    colour: Colour,
) {
    match fact {
        Fact::Known(all) => part(out, heading, &table(all), "none", colour),
        Fact::Unknown(reason) => {
            let _ = writeln!(out, "\n{}\n  unknown: {}", colour.strong(heading), visible(reason));
        }
    }
}

fn slot_map(out: &mut String, inventory: &Inventory, colour: Colour) {
    let slots = &inventory.slots;
    let source = rows::shown(&slots.source, Clone::clone);
    let _ = writeln!(out, "\n{}", colour.strong("Slots"));
    out.push_str(&wrapped("  ", &format!("source: {}", source.text()), COLUMNS));
    if !out.ends_with('\n') {
        out.push('\n');
    }
    if !slots.slots.is_empty() {
        part(
            out,
            "Slots by unit and position; in brackets the width of a free one",
            &tables::places(slots),
            "",
            colour,
        );
        part(out, "Slots by width", &tables::counts(&slots.counts), "", colour);
    }
    let cards = tables::cards(slots);
    part(out, "Cards", &cards, "no storage or network card is on a PCI bus", colour);
}

/// `inventory` as JSON, in the schema `ioproof-host/1`.
#[must_use]
pub fn inventory_json(inventory: &Inventory) -> String {
    escape::json_text(inventory)
}

/// The schema (draft 2020-12) of what [`inventory_json`] gives, as it stands in
/// `docs/host.schema.json`.
#[must_use]
pub fn inventory_schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Inventory>();
    schema.insert("title".to_owned(), "A host, as ioproof host facts shows it".into());
    let mut out = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    out.push('\n');
    out
}
