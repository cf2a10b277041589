//! Tables of published studies in their published layout, with measured figures next to the published ones.
//!
//! Figures belong to the same table if they have the same section and test. Storage, direction, size and statistic
//! determine the cell of a figure. A mean and its deviation share a cell.

use analysis::{
    audit::Outcome,
    comparisons::PublishedComparison,
    gate::{Kind, Stated},
};
use record::{Metric, Published, PublishedStatistic};

use super::block::{Block, Extent, is_result, only, published_value};
use super::statements::of_kinds;
use crate::format::table::{Align, Cell, Table, Tone};
use crate::format::{NOT_OBSERVED, grouped, megabytes, percent};
use crate::report::Report;

/// A published figure with its deviation and its cell.
struct Entry<'a> {
    row: String,
    column: String,
    one: &'a PublishedComparison,
    deviation: Option<f64>,
    is_doubtful: bool,
}

/// Maximum number of rows of [`brief`].
const BRIEF_MAX: usize = 16;

/// The results in the form in which studies publish them: sums over jobs, published tables, else each published figure
/// with the own one.
pub(crate) fn in_published_form(report: &Report) -> Vec<Block> {
    let mut all = of_kinds(report, &[Kind::JobSums, Kind::JobRatios], Extent::Limited);
    all.extend(blocks(report));
    if all.is_empty() {
        all.extend(brief(report));
    }
    all
}

/// The published figures that a study names beside the own ones, in a few columns.
fn brief(report: &Report) -> Vec<Block> {
    let says = report.found.published.iter().filter_map(|one| Some((one, one.says()?)));
    let own: Vec<_> = says.filter(|(_, one)| is_result(one) && one.own.is_some()).collect();
    let more = own.len().saturating_sub(BRIEF_MAX);
    let own_value = |(stated, one): &(&Stated<PublishedComparison>, &PublishedComparison)| {
        let value = one.own.map(|own| published_value(one, own)).unwrap_or_default();
        let tone = if stated.outcome == Outcome::Stated { Tone::Main } else { Tone::Doubtful };
        Cell::toned(value, tone)
    };
    let table = Table::of(own.into_iter().take(BRIEF_MAX))
        .right("#", |(_, one)| Cell::figure(one.figure.map(|place| place + 1)))
        .left("published figure", |(_, one)| one.published.id.clone())
        .left("printed", |(_, one)| one.published.as_published())
        .right("published", |(_, one)| published_value(one, one.value()))
        .right("own", own_value)
        .right("own ÷ published", |(_, one)| one.ratio().map(percent))
        .done();
    let mut all = only("Published figures and own ones", table);
    if more > 0 {
        all.push(Block::Text(format!("{} more under Published figures.", grouped(more as u64))));
    }
    all
}

/// The published tables with own figures in at least two rows and two columns.
pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let stated = report.found.published.iter().filter_map(|one| Some((one, one.says()?)));
    let tables = analysis::figures::grouped(stated.filter(|(_, one)| is_of_table(one)), |(_, one)| {
        (one.published.study.clone(), one.published.section.clone(), one.published.test.clone())
    });
    tables.iter().filter_map(|same| form(same)).collect()
}

/// Whether the study prints it in a table or with a deviation.
fn is_of_table(one: &PublishedComparison) -> bool {
    let published = &one.published;
    let counted = matches!(published.metric, Metric::Bandwidth | Metric::Iops | Metric::Latency);
    counted && (published.test.starts_with("Table ") || deviation_of(published).is_some())
}

/// The published deviation of a mean.
fn deviation_of(mean: &Published) -> Option<&'static Published> {
    let of = |one: &Published| {
        let parameters = &one.parameters;
        (
            one.study.clone(),
            one.section.clone(),
            one.test.clone(),
            (one.metric, one.operation, one.unit),
            parameters.layer.clone(),
            parameters.transfer_bytes,
        )
    };
    let wanted = |one: &&Published| one.statistic == PublishedStatistic::Deviation && of(one) == of(mean);
    let is_mean = mean.statistic == PublishedStatistic::Mean && mean.metric != Metric::Latency;
    is_mean.then(|| record::published().figures.iter().find(wanted)).flatten()
}

fn storage(one: &PublishedComparison) -> String {
    one.storage().to_owned()
}

fn size(one: &PublishedComparison) -> Option<u64> {
    one.published.parameters.transfer_bytes
}

/// `write`, or `4 KiB random write` if the table has sequential figures too.
fn direction(one: &PublishedComparison, names_order: bool) -> String {
    let published = &one.published;
    match (names_order, published.parameters.random, size(one)) {
        (true, Some(true), Some(bytes)) => format!("{} random {}", plan::Bytes(bytes), published.operation),
        (true, ..) => format!("sequential {}", published.operation),
        (false, ..) => published.operation.to_string(),
    }
}

/// A published table; none if it would have a single row or column.
fn form(same: &[(&Stated<PublishedComparison>, &PublishedComparison)]) -> Option<Block> {
    let all = || same.iter().map(|(_, one)| *one);
    let is_random = |one: &PublishedComparison| one.published.parameters.random == Some(true);
    let names_order = all().any(is_random) && !all().all(is_random);
    let sizes = analysis::figures::grouped(all().filter_map(size), |bytes| *bytes).len() > 1;
    let of_cell = |one: &&PublishedComparison| (storage(one), size(one), direction(one, names_order));
    let statistics = analysis::figures::grouped(all(), of_cell).iter().any(|same| same.len() > 1);
    let sized =
        |one: &PublishedComparison| size(one).map(|bytes| plan::Bytes(bytes).to_string()).unwrap_or_default();
    let joined =
        |parts: [String; 2]| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    let place = |one: &PublishedComparison| match (statistics, sizes) {
        (true, true) => (joined([storage(one), sized(one)]), one.published.statistic.name().to_owned()),
        (true, false) => {
            (joined([storage(one), direction(one, names_order)]), one.published.statistic.name().to_owned())
        }
        (false, true) => (sized(one), joined([storage(one), direction(one, names_order)])),
        (false, false) => (storage(one), direction(one, names_order)),
    };
    let entries = same.iter().map(|&(stated, one)| {
        let (row, column) = place(one);
        let deviation = deviation_of(&one.published).map(|one| one.value);
        Entry { row, column, one, deviation, is_doubtful: stated.outcome != Outcome::Stated }
    });
    let entries: Vec<Entry<'_>> = entries.collect();
    let rows = analysis::figures::grouped(&entries, |one| one.row.as_str());
    let columns = analysis::figures::grouped(&entries, |one| one.column.as_str());
    if rows.len() < 2 || columns.len() < 2 {
        return None;
    }
    let are_bytes = all().all(|one| one.unit() == "bytes/s");
    let heads = columns.iter().map(|column| (column[0].column.as_str(), Align::Right));
    let mut table =
        Table::new(&[("", Align::Left), ("", Align::Left)].into_iter().chain(heads).collect::<Vec<_>>());
    for row in &rows {
        let of_row = |name: &str, which: &str, cell: &dyn Fn(&Entry<'_>) -> String| -> Vec<Cell> {
            let cells = columns.iter().map(|column| {
                let found = row.iter().find(|one| one.column == column[0].column);
                Cell::from(found.map_or_else(String::new, |one| cell(one)))
            });
            [Cell::from(name), Cell::from(which)].into_iter().chain(cells).collect()
        };
        table.row(of_row(&row[0].row, "published", &|one| published(one, are_bytes)));
        table.row(of_row("", "own", &|one| own(one, are_bytes)));
        table.row(of_row("", "own ÷ published", &|one| one.one.ratio().map(percent).unwrap_or_default()));
    }
    let (first, unit) = (same[0].1, if are_bytes { ", MB/s" } else { "" });
    let has_own_spread = entries.iter().any(|one| spread_of(one.one).is_some());
    let spread = if has_own_spread { "; ± is the standard deviation of n values" } else { "" };
    let doubt = if entries.iter().any(|one| one.is_doubtful) { "; ! is doubtful, see below" } else { "" };
    Some(Block::Table { caption: format!("{}{unit}{spread}{doubt}", first.source()), table })
}

fn value(one: &PublishedComparison, amount: f64, are_bytes: bool) -> String {
    if are_bytes { megabytes(amount) } else { published_value(one, amount) }
}

fn published(entry: &Entry<'_>, are_bytes: bool) -> String {
    let one = entry.one;
    let deviation = entry.deviation.map(|deviation| format!(" ± {}", value(one, deviation, are_bytes)));
    format!("{}{}", value(one, one.value(), are_bytes), deviation.unwrap_or_default())
}

/// The standard deviation of measured values and their number, if the published figure is a mean.
fn spread_of(one: &PublishedComparison) -> Option<(f64, usize)> {
    one.spread.filter(|_| one.published.statistic == PublishedStatistic::Mean)
}

fn own(entry: &Entry<'_>, are_bytes: bool) -> String {
    let one = entry.one;
    let Some(own) = one.own else { return NOT_OBSERVED.to_owned() };
    let spread =
        spread_of(one).map(|(deviation, n)| format!(" ± {} (n = {n})", value(one, deviation, are_bytes)));
    let mark = if entry.is_doubtful { " !" } else { "" };
    format!("{}{}{mark}", value(one, own, are_bytes), spread.unwrap_or_default())
}
