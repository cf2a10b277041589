//! Every point of each sweep: one row per point, with a column for each phase.

use analysis::{figures::ShownIn, gate::Kind, sweeps::CurvePoint};
use std::collections::{HashMap, HashSet};

use super::block::{Block, Extent, title, workload_place};
use crate::format::iops;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{NOT_OBSERVED, megabytes, percent};
use crate::report::Report;
use crate::report::figure::{Figure, in_order};
use crate::report::latencies;
use plan::Setting;

pub(super) fn blocks(report: &Report, extent: Extent) -> Vec<Block> {
    let swept = in_order(report.figures.iter().filter(|figure| !figure.settings.is_empty()));
    let facts = Facts::of(report);
    let mut blocks = report.statements.blocks(report, "sweeps", extent);
    for these in analysis::figures::grouped(swept, |figure| figure.group.as_str()) {
        let group = &these[0].group;
        let place = workload_place(group);
        let text = format!("{group}: {}", crate::format::counted(these.len() as u64, "figure"));
        blocks.push(Block::Heading { place, text });
        let table = table(report, &these, &facts).without_empty_columns();
        blocks.push(Block::Table { caption: caption(&these), table });
    }
    blocks
}

/// Properties common to all points.
fn caption(figures: &[&Figure]) -> String {
    let Some((first, others)) = figures.split_first() else { return String::new() };
    let all = |same: &dyn Fn(&Figure) -> bool| others.iter().all(|other| same(other));
    let mut shared = Vec::new();
    let transfers = !first.is_operations();
    if transfers && all(&|other| other.transfer_bytes == first.transfer_bytes) {
        shared.extend(first.transfer_bytes.map(|bytes| plan::Bytes(bytes).to_string()));
    }
    let order = first.order().filter(|_| transfers);
    if all(&|other| other.order() == order) {
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

/// Findings about single figures.
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

    /// Remarks on the figures of a row: first those that concern all of its phases, then those of each phase.
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
                .and_then(|point| point.balance_bound.filter(|&bound| bound < 1.0))
                .map(|bound| format!("bound {}", percent(bound))),
        );
        words.extend(figure.notes.iter().cloned());
        words.extend(figure.doubts.iter().map(|&check| check.to_owned()));
        words
    }
}

fn table(report: &Report, figures: &[&Figure], facts: &Facts<'_>) -> Table {
    let keys = figures.iter().flat_map(|figure| &figure.settings).map(|one| one.key.as_str());
    let keys: Vec<&str> = analysis::figures::grouped(keys, |key| *key).iter().map(|same| same[0]).collect();
    let small = figures.iter().any(|figure| !figure.is_large());
    let large = figures.iter().any(|figure| figure.is_large());
    let moves = figures.iter().any(|figure| figure.is_operations() && figure.bytes_per_second.max > 0.0);
    let numbers = |row: &Vec<&Figure>| row.iter().map(|figure| figure.number.to_string()).collect::<Vec<_>>();
    let mut table = Table::of(rows(figures, &keys))
        .right("#", |row| Cell { text: numbers(row).join(", "), ..Cell::figure(Some(row[0].number)) });
    for key in keys {
        let value = |row: &Vec<&Figure>| setting(row[0], key).map(|one| one.value.to_string());
        table = match key {
            "target" => table.left(key, |row| value(row).map(|target| title(report, &target).to_owned())),
            _ => table.right(key, value),
        };
    }
    for of_phase in analysis::figures::grouped(figures, |figure| figure.phase.name()) {
        let phase = of_phase[0].phase;
        let cell = |row: &Vec<&Figure>, value: &dyn Fn(&Figure) -> Option<String>| {
            let figure = row.iter().find(|figure| figure.phase == phase);
            let tone = match figure {
                Some(figure) if !figure.doubts.is_empty() => Tone::Doubtful,
                Some(figure) if facts.best.contains(&figure.number) => Tone::Main,
                _ => Tone::Plain,
            };
            let text = figure.and_then(|figure| value(figure));
            Cell::toned(text.unwrap_or_else(|| NOT_OBSERVED.to_owned()), tone)
        };
        if large || moves {
            let value = |figure: &Figure| Some(megabytes(figure.bytes_per_second.median));
            table = table.right(&format!("{phase} MB/s"), |row| cell(row, &value));
        }
        if small {
            let value = |figure: &Figure| Some(iops(figure.transfers_per_second.median));
            let unit = of_phase[0].operations_unit();
            table = table.right(&format!("{phase} {unit}"), |row| cell(row, &value));
        }
        if small && !large {
            for (index, heading) in latencies::headings(ShownIn::Always).into_iter().enumerate() {
                let value = |figure: &Figure| {
                    let (_, nanos) = figure.latency.first()?.shown(ShownIn::Always).nth(index)?;
                    Some(latencies::words(nanos))
                };
                table = table.right(&format!("{phase} {heading}"), |row| cell(row, &value));
            }
            let value = |figure: &Figure| facts.points.get(&figure.number)?.little.map(percent);
            table = table.right(&format!("{phase} Little"), |row| cell(row, &value));
        }
    }
    let counted = |row: &Vec<&Figure>| row.iter().map(|figure| figure.repeated()).max().unwrap_or(0);
    table.right("n", |row| counted(row).to_string()).left("notes", |row| facts.words(row)).done()
}

fn setting<'a>(figure: &'a Figure, key: &str) -> Option<&'a Setting> {
    figure.settings.iter().find(|one| one.key == key)
}

/// The figures of each point, in the order of the swept values.
fn rows<'a>(figures: &[&'a Figure], keys: &[&str]) -> Vec<Vec<&'a Figure>> {
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
        let Some(setting) = setting(figure, key) else { return (0.0, 0) };
        let order = seen.get(&setting.value.to_string()).copied().unwrap_or_default();
        setting.value.on_axis().map_or((0.0, order), |value| (value, 0))
    };
    let mut rows: Vec<Vec<&Figure>> = points.into_values().collect();
    rows.sort_by(|one, other| {
        let keys = ["target"].iter().chain(keys);
        let orders = keys.map(|key| {
            let (a, b) = (value(one[0], key), value(other[0], key));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    rows
}
