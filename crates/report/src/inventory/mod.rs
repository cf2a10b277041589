//! A host as shown by `ioproof host facts`.

pub(crate) mod beside;
pub(crate) mod rows;
pub(crate) mod tables;

use std::fmt::Write as _;

use plan::visible;
use record::{Fact, Inventory};

use crate::Screen;
use crate::format::escape;
use crate::format::screen::COLUMNS;
use crate::format::table::{Table, wrapped};
use crate::report::schema::schema_of;

/// All of `inventory` for a terminal.
#[must_use]
pub fn inventory(inventory: &Inventory, screen: Screen) -> String {
    let Inventory { host, slots, .. } = inventory;
    let mut out = String::new();
    let rows = rows::rows(host);
    let names = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for group in rows.chunk_by(|one, next| one.group == next.group) {
        let first = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{first}{}", screen.strong(group[0].group));
        for row in group {
            out.push_str(&wrapped(&format!("  {:names$}  ", row.name), &row.text(), COLUMNS));
        }
    }
    let warning = |text: &str| screen.warning(&wrapped("! ", text, COLUMNS));
    let part = |heading: &str, table: Table, none: &str| {
        let text = match table.is_empty() {
            true => format!("  {none}\n"),
            false => table.without_empty_columns().to_text("  ", screen),
        };
        format!("\n{}\n{text}", screen.strong(heading))
    };
    let unknown = |heading: &str, reason: &str| {
        format!("\n{}\n  unknown: {}\n", screen.strong(heading), visible(reason))
    };
    out += &part("Block devices", tables::devices(&host.devices), "no block device holds anything");
    if !host.devices.is_empty() {
        out += &part("Queues and links of block devices", tables::queues(&host.devices), "");
    }
    out += &part("File systems", tables::file_systems(&host.file_systems), "no real file system is mounted");
    for one in host.file_systems.iter().filter(|one| tables::is_full(one)) {
        let share = tables::FREE_LEAST * 100.0;
        out += &warning(&format!("less than {share:.0} % of {} is free", one.mount_point));
    }
    out += &match &host.volumes {
        Fact::Known(all) => part("Volumes", tables::volumes(all), "none"),
        Fact::Unknown(reason) => unknown("Volumes", reason),
    };
    out += &match &host.network {
        Fact::Known(all) => part("Network", tables::network(all), "none"),
        Fact::Unknown(reason) => unknown("Network", reason),
    };
    let source = wrapped("  ", &format!("source: {}", rows::words(&slots.source)), COLUMNS);
    let _ = write!(out, "\n{}\n{source}", screen.strong("Slots"));
    if !slots.slots.is_empty() {
        let heading = "Slots by unit and position; in brackets the width of a free one";
        out += &part(heading, tables::places(slots), "");
        out += &part("Slots by width", tables::counts(&slots.counts), "");
    }
    out += &part("Cards", tables::cards(slots), "no storage or network card is on a PCI bus");
    if !slots.warnings.is_empty() {
        out.push('\n');
    }
    out.extend(slots.warnings.iter().map(|one| warning(&format!("{}: {}", one.card, one.message))));
    out
}

/// `inventory` as JSON, in the schema `ioproof-host/1`.
#[must_use]
pub fn inventory_json(inventory: &Inventory) -> String {
    escape::json_text(inventory)
}

/// The schema (draft 2020-12) of the output of [`inventory_json`], as in `docs/host.schema.json`.
#[must_use]
pub fn inventory_schema() -> String {
    schema_of::<Inventory>("A host, as ioproof host facts shows it")
}
