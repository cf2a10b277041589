//! Every point of each sweep: one row for each, with a column for each phase.

use analysis::{CurvePoint, Kind, ShownIn};
use plan::Phase;
use std::collections::{HashMap, HashSet};

use super::block::{Block, title};
use crate::figure::Figure;
use crate::format::iops;
use crate::format::{NOT_OBSERVED, megabytes, percent};
use crate::latencies;
use crate::report::Report;
use crate::table::{Align, Cell, Table, Tone};
use plan::Setting;

/// What the table of one workload has columns for.
struct Shown {
    keys: Vec<String>,
    phases: Vec<Phase>,
    megabytes: bool,
    iops: bool,
    latency: bool,
}

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut groups: Vec<&str> = Vec::new();
    let mut members: HashMap<&str, Vec<&Figure>> = HashMap::new();
    for figure in report.figures.iter().filter(|figure| !figure.settings.is_empty()) {
        let these = members.entry(&figure.group).or_default();
        if these.is_empty() {
            groups.push(&figure.group);
        }
        these.push(figure);
    }
    let facts = Facts::of(report);
    let mut blocks = report.statements.blocks(report, "sweeps");
    for group in groups {
        let these = members.remove(group).unwrap_or_default();
        let count = these.len();
        blocks.push(Block::Heading {
            place: group.to_owned(),
            text: format!("{group}: {}", crate::format::counted(count as u64, "figure")),
        });
        let caption = caption(&these);
        let table = table(report, &these, &facts).without_empty_columns();
        blocks.push(Block::Table { caption, table });
    }
    blocks
}

/// What all points share.
fn caption(figures: &[&Figure]) -> String {
    let Some((first, others)) = figures.split_first() else { return String::new() };
    let all = |same: &dyn Fn(&Figure) -> bool| others.iter().all(|other| same(other));
    let mut shared = Vec::new();
    let transfers = !first.is_operations();
    if transfers && all(&|other| other.transfer_bytes == first.transfer_bytes) {
        shared.push(plan::Bytes(first.transfer_bytes).to_string());
    }
    let order = order(first).filter(|_| transfers);
    if all(&|other| self::order(other) == order) {
        shared.extend(order.map(str::to_owned));
    }
    if all(&|other| other.phase == first.phase) {
        shared.push(first.phase.name().to_owned());
    }
    let shared = shared.join(" ");
    let others_have =
        |part: &&str| all(&|other| other.conditions.split(", ").skip(1).any(|one| one == *part));
    let rest = first.conditions.split(", ").skip(1).filter(others_have);
    let words: Vec<&str> =
        std::iter::once(shared.as_str()).chain(rest).filter(|part| !part.is_empty()).collect();
    let mut text = format!("{}; median of the repetitions that count", first.rate.name());
    if !words.is_empty() {
        text.push_str(&format!("; all points: {}", words.join(", ")));
    }
    text
}

/// None where the words of an import do not tell.
fn order(figure: &Figure) -> Option<&'static str> {
    let word = |one: &&&str| figure.what.split(' ').any(|part| part == **one);
    ["sequential", "random", "backward", "strided", "same"].iter().find(word).copied()
}

/// What findings say of single figures.
struct Facts<'a> {
    points: HashMap<usize, &'a CurvePoint>,
    best: HashSet<usize>,
}

impl<'a> Facts<'a> {
    fn of(report: &'a Report) -> Self {
        let points = report.found.curves.iter().flat_map(|curve| &curve.points);
        Self {
            points: points.map(|point| (point.figure + 1, point)).collect(),
            best: report.statements.stated(Kind::Best).map(|row| row.figures[0] + 1).collect(),
        }
    }

    /// Best, the bound of unbalanced tasks, footnotes and doubts. Of several phases in one row, what
    /// is said of all of them stands first, then what is said of one.
    fn words(&self, figures: &[&Figure]) -> String {
        let each: Vec<Vec<String>> = figures.iter().map(|figure| self.of_figure(figure)).collect();
        let in_all = |word: &&String| each.iter().all(|words| words.contains(word));
        let shared: Vec<String> = each.first().into_iter().flatten().filter(in_all).cloned().collect();
        let mut parts: Vec<String> = Vec::new();
        if !shared.is_empty() {
            parts.push(shared.join(", "));
        }
        for (figure, words) in figures.iter().zip(&each) {
            let own: Vec<&str> =
                words.iter().filter(|word| !shared.contains(word)).map(String::as_str).collect();
            if !own.is_empty() {
                parts.push(format!("{}: {}", figure.phase, own.join(", ")));
            }
        }
        parts.join("; ")
    }

    fn of_figure(&self, figure: &Figure) -> Vec<String> {
        let number = &figure.number;
        let mut words = Vec::new();
        if self.best.contains(number) {
            words.push("best".to_owned());
        }
        words.extend(
            self.points
                .get(number)
                .filter(|point| point.balance_bound < 1.0)
                .map(|point| format!("bound {}", percent(point.balance_bound))),
        );
        words.extend(figure.notes.iter().cloned());
        words.extend(figure.doubts.iter().map(|&check| check.to_owned()));
        words
    }
}

fn shown(figures: &[&Figure]) -> Shown {
    let mut keys: Vec<String> = Vec::new();
    let mut phases: Vec<Phase> = Vec::new();
    for figure in figures {
        for setting in &figure.settings {
            if !keys.contains(&setting.key) {
                keys.push(setting.key.clone());
            }
        }
        if !phases.contains(&figure.phase) {
            phases.push(figure.phase);
        }
    }
    let small = figures.iter().any(|figure| !figure.is_large());
    let large = figures.iter().any(|figure| figure.is_large());
    let moves = figures.iter().any(|figure| figure.is_operations() && figure.bytes_per_second.max > 0.0);
    Shown { keys, phases, megabytes: large || moves, iops: small, latency: small && !large }
}

fn table(report: &Report, figures: &[&Figure], facts: &Facts<'_>) -> Table {
    let shown = shown(figures);
    let mut columns: Vec<(String, Align)> = vec![("#".to_owned(), Align::Right)];
    columns.extend(
        shown.keys.iter().map(|key| (key.clone(), if key == "target" { Align::Left } else { Align::Right })),
    );
    for phase in &shown.phases {
        let mut column = |wanted: bool, what: &str| {
            if wanted {
                columns.push((format!("{phase} {what}"), Align::Right));
            }
        };
        column(shown.megabytes, "MB/s");
        let unit = figures.iter().find(|figure| figure.phase == *phase).map(|one| one.operations_unit());
        column(shown.iops, unit.unwrap_or("IOPS"));
        latencies::headings(ShownIn::Always).into_iter().for_each(|heading| column(shown.latency, heading));
        column(shown.latency, "Little");
    }
    columns.push(("n".to_owned(), Align::Right));
    columns.push(("notes".to_owned(), Align::Left));
    let columns: Vec<(&str, Align)> = columns.iter().map(|(name, align)| (name.as_str(), *align)).collect();
    let mut table = Table::new(&columns);
    for row in rows(figures, &shown) {
        table.row(cells(report, &row, &shown, facts));
    }
    table
}

/// The figures of each point, in the order of the swept values.
fn rows<'a>(figures: &[&'a Figure], shown: &Shown) -> Vec<Vec<&'a Figure>> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut points: HashMap<Vec<String>, Vec<&Figure>> = HashMap::new();
    for figure in figures {
        for setting in &figure.settings {
            let order = seen.len();
            seen.entry(setting.value.to_string()).or_insert(order);
        }
        let point = figure.settings.iter().map(|one| one.value.to_string()).collect();
        points.entry(point).or_default().push(figure);
    }
    let value = |figure: &Figure, key: &str| -> (f64, usize) {
        let Some(setting) = figure.settings.iter().find(|one| one.key == key) else { return (0.0, 0) };
        let order = seen.get(&setting.value.to_string()).copied().unwrap_or_default();
        setting.value.on_axis().map_or((0.0, order), |value| (value, 0))
    };
    let mut rows: Vec<Vec<&Figure>> = points.into_values().collect();
    rows.sort_by(|one, other| {
        let keys = std::iter::once("target").chain(shown.keys.iter().map(String::as_str));
        let orders = keys.map(|key| {
            let (a, b) = (value(one[0], key), value(other[0], key));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    rows
}

fn cells(report: &Report, row: &[&Figure], shown: &Shown, facts: &Facts<'_>) -> Vec<Cell> {
    let setting = |key: &String| row[0].settings.iter().find(|one| one.key == *key);
    let text = |one: &Setting| {
        let text = one.value.to_string();
        if one.key == "target" { title(report, &text).to_owned() } else { text }
    };
    let numbers: Vec<String> = row.iter().map(|figure| figure.number.to_string()).collect();
    let mut cells = vec![Cell { text: numbers.join(", "), ..Cell::figure(Some(row[0].number)) }];
    cells.extend(shown.keys.iter().map(|key| Cell::from(setting(key).map(text).unwrap_or_default())));
    for phase in &shown.phases {
        let figure = row.iter().find(|figure| figure.phase == *phase);
        let tone = match figure {
            Some(figure) if !figure.doubts.is_empty() => Tone::Doubtful,
            Some(figure) if facts.best.contains(&figure.number) => Tone::Main,
            _ => Tone::Plain,
        };
        let mut cell = |wanted: bool, value: &dyn Fn(&Figure) -> Option<String>| {
            if wanted {
                let text = figure.and_then(|figure| value(figure));
                cells.push(Cell::toned(text.unwrap_or_else(|| NOT_OBSERVED.to_owned()), tone));
            }
        };
        cell(shown.megabytes, &|figure| Some(megabytes(figure.bytes_per_second.median)));
        cell(shown.iops, &|figure| Some(iops(figure.transfers_per_second.median)));
        for index in 0..latencies::headings(ShownIn::Always).len() {
            cell(shown.latency, &|figure| {
                figure
                    .latency
                    .first()?
                    .shown(ShownIn::Always)
                    .nth(index)
                    .map(|(_, nanos)| latencies::words(nanos))
            });
        }
        cell(shown.latency, &|figure| {
            facts.points.get(&figure.number).and_then(|point| point.little).map(percent)
        });
    }
    let counted = row.iter().map(|figure| figure.repeated()).max().unwrap_or(0);
    cells.push(counted.to_string().into());
    cells.push(facts.words(row).into());
    cells
}
