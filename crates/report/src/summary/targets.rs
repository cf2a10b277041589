//! The figures of targets that were measured in turns, beside each other.

use std::collections::{BTreeSet, HashMap};

use analysis::gate::Stated;
use analysis::statistics::Contrast;
use analysis::targets::TargetContrast;

use crate::compare::changes::{CANNOT_TELL, FASTER, NOT_SHOWN, SLOWER, TOO_FEW};
use crate::format::compact_rate;
use crate::format::table::{Cell, Table, Tone};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::section::{Block, only, signed, title};

/// A table for each target but the first, whose figures stand beside those of the first; empty if no targets were
/// measured in turns. `marks` are those of the doubts about each figure, by its number.
pub(crate) fn blocks(report: &Report, marks: &HashMap<usize, String>) -> Vec<Block> {
    let all = report.found.target_contrasts.iter().filter_map(|one| Line::of(report, one));
    let mut all: Vec<Line<'_>> = all.collect();
    all.sort_by_key(|one| one.other.number);
    let by_target = analysis::figures::grouped(all, |one| one.other.target.clone());
    by_target.into_iter().flat_map(|same| table(report, marks, &same)).collect()
}

/// A figure of a target, and that of the first target.
struct Line<'a> {
    stated: &'a Stated<TargetContrast>,
    other: &'a Figure,
    first: &'a Figure,
}

fn table(report: &Report, marks: &HashMap<usize, String>, lines: &[Line<'_>]) -> Vec<Block> {
    let Some(Line { first, other, .. }) = lines.first() else { return Vec::new() };
    let table = Table::of(lines)
        .left("figure (× in flight)", |one| one.other.short_name())
        .right(title(report, &first.target), |one| rate(one.first))
        .right(title(report, &other.target), |one| rate(one.other))
        .right("change", |one| one.change())
        // The confidence is for all comparisons together.
        .right("99 % interval", |one| {
            let interval = one.stated.says().and_then(|one| one.difference.interval);
            interval.map(|(low, high)| format!("{} … {}", signed(low).trim_end_matches(" %"), signed(high)))
        })
        .left("!", |one| Cell::toned(one.marks(marks), Tone::Doubtful))
        .done();
    let names = [other, first].map(|one| title(report, &one.target));
    let caption = format!("{} beside {}: change is {} ÷ {} − 1", names[0], names[1], names[0], names[1]);
    only(&caption, table.without_empty_columns())
}

fn rate(figure: &Figure) -> Cell {
    let (unit, tone) =
        (figure.shown_unit(), if figure.doubts.is_empty() { Tone::Main } else { Tone::Doubtful });
    Cell::toned(compact_rate(figure.spread_in(unit).median, unit), tone)
}

impl<'a> Line<'a> {
    fn of(report: &'a Report, stated: &'a Stated<TargetContrast>) -> Option<Self> {
        let figure = |place: usize| report.figures.get(*stated.inputs.get(place)?);
        Some(Self { stated, other: figure(0)?, first: figure(1)? })
    }

    /// The change of the rate, or why there is none.
    fn change(&self) -> Cell {
        let Some(said) = self.stated.says() else { return Cell::toned("withheld", CANNOT_TELL.1) };
        let change = signed(said.difference.change);
        match said.difference.outcome {
            Contrast::Higher => Cell::toned(change, FASTER.1),
            Contrast::Lower => Cell::toned(change, SLOWER.1),
            Contrast::NotShown => Cell::toned("not shown", NOT_SHOWN.1),
            Contrast::TooFew => Cell::toned("too few", TOO_FEW.1),
        }
    }

    /// The marks of both figures, each once.
    fn marks(&self, marks: &HashMap<usize, String>) -> String {
        let all = [self.other, self.first].into_iter().filter_map(|one| marks.get(&one.number));
        let all: BTreeSet<(usize, &str)> =
            all.flat_map(|marks| marks.split(' ')).map(|mark| (mark.len(), mark)).collect();
        all.into_iter().map(|(_, mark)| mark).collect::<Vec<_>>().join(" ")
    }
}
