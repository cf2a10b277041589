//! The targets of a study beside each other: the best figure of each, what was published, and what it loses.

use analysis::{
    audit::{Outcome, Use},
    comparisons::PublishedComparison,
    figures::Utilisation,
    gate::{Because, Reason, Stated},
    scaling::LayerOverhead,
};
use plan::Phase;

use crate::format::table::{Cell, Table, Tone};
use crate::format::{BYTES_PER_SECOND, compact_rate, names, percent};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::section::{Block, is_result, point, published_value, signed, title};

/// With at least this many targets, the best of each is compared; the lines of fewer fit one chart.
const MEMBERS_MIN: usize = 4;

/// Maximum number of rows of a table of targets; more are bars of the chart only.
const ROWS_MAX: usize = 16;

/// What the gate lets a comparison say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Share(f64),
    /// A difference is within the scatter.
    NotShown,
    /// Why it is withheld.
    Withheld(String),
}

impl Told {
    fn of<T>(stated: &Stated<T>, share: impl Fn(&T) -> f64) -> Self {
        let is_scatter = |one: &Reason| one.because == Because::WithinScatter;
        match stated.says() {
            Some(value) => Self::Share(share(value)),
            None if stated.reasons.iter().all(is_scatter) => Self::NotShown,
            None => Self::Withheld(because(&stated.reasons)),
        }
    }

    /// Why it is withheld, if it is.
    fn withheld(&self) -> Option<&str> {
        match self {
            Self::Withheld(why) => Some(why),
            Self::Share(_) | Self::NotShown => None,
        }
    }

    fn cell(&self, words: fn(f64) -> String) -> String {
        match self {
            Self::Share(share) => words(*share),
            Self::NotShown => "none shown".to_owned(),
            Self::Withheld(_) => "cannot be told".to_owned(),
        }
    }
}

/// The best figure of a target in one phase.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    pub(crate) target: &'a str,
    pub(crate) phase: Phase,
    /// The best figure, whose rate is not shown if it is withheld.
    pub(crate) figure: &'a Figure,
    /// Why its rate is not stated.
    pub(crate) withheld: Option<String>,
    pub(crate) published: Option<&'a PublishedComparison>,
    /// Rate ÷ (devices × the best of one device).
    pub(crate) scaling: Option<Told>,
    /// The target that it is compared with, and (reference − rate) ÷ reference.
    pub(crate) tax: Option<(&'a str, Told)>,
    /// The mean `%util` of its devices as a share.
    pub(crate) busy: Option<f64>,
}

/// The targets that one workload measured, beside each other.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    pub(crate) group: &'a str,
    /// The unit of all rates.
    pub(crate) unit: &'static str,
    /// In the order of the study's targets, each in the order of its phases.
    pub(crate) all: Vec<Member<'a>>,
}

/// The targets beside each other, for each workload that measured at least [`MEMBERS_MIN`] of them.
pub(crate) fn members(report: &Report) -> Vec<Members<'_>> {
    // Targets that were measured in turns have a table of their own.
    if !report.found.target_contrasts.is_empty() {
        return Vec::new();
    }
    let groups = analysis::figures::grouped(&report.figures, |figure| figure.group.as_str());
    groups.into_iter().filter_map(|figures| of_group(report, &figures)).collect()
}

fn of_group<'a>(report: &'a Report, figures: &[&'a Figure]) -> Option<Members<'a>> {
    let measured = |target: &str| figures.iter().any(|figure| figure.target == target);
    let targets = report.study.targets.iter().filter(|one| measured(&one.name)).count();
    if targets < MEMBERS_MIN {
        return None;
    }
    let group = figures[0].group.as_str();
    let unit = unit_of(figures);
    // The device whose sum is compared with belongs to another workload.
    let baselines = report.found.scaling.iter().filter(|one| report.figures[one.figure()].group == group);
    let mut baselines: Vec<usize> = baselines.filter_map(|one| one.inputs.get(1).copied()).collect();
    baselines.sort_unstable();
    baselines.dedup();
    let baselines = baselines.into_iter().filter_map(|place| report.figures.get(place));
    let candidates: Vec<&Figure> =
        baselines.filter(|figure| figure.group != group).chain(figures.iter().copied()).collect();
    let of_target = |target: &'a str| {
        let own = candidates.iter().copied().filter(move |figure| figure.target == target);
        let phases = analysis::figures::grouped(own, |figure| figure.phase);
        phases.into_iter().filter_map(|same| member(report, target, &same, unit)).collect::<Vec<_>>()
    };
    let all: Vec<Member<'_>> = report.study.targets.iter().flat_map(|one| of_target(&one.name)).collect();
    (!all.is_empty()).then_some(Members { group, unit, all })
}

/// The unit of the rates of `figures`: transfers are counted if all have one small size.
fn unit_of(figures: &[&Figure]) -> &'static str {
    let small =
        |figure: &&Figure| (!figure.is_large() && !figure.is_operations()).then_some(figure.transfer_bytes);
    match figures {
        [first, others @ ..]
            if others.iter().all(|other| small(other) == small(first)) && small(first).is_some() =>
        {
            first.operations_unit()
        }
        _ if figures.iter().any(|figure| figure.is_operations()) => {
            names::common_operations_unit(figures.iter().map(|figure| figure.phase))
        }
        _ => BYTES_PER_SECOND,
    }
}

/// The best of `figures`, all of one target and phase.
fn member<'a>(report: &'a Report, target: &'a str, figures: &[&'a Figure], unit: &str) -> Option<Member<'a>> {
    let of_these = |place: usize| figures.iter().copied().find(|figure| figure.number == place + 1);
    let best = report.found.best.iter().find_map(|one| Some((one, of_these(one.figure())?)));
    let (figure, withheld) = match (best, figures) {
        (Some((stated, figure)), _) => {
            (figure, (stated.outcome == Outcome::Withheld).then(|| because(&stated.reasons)))
        }
        (None, [only]) => (*only, withheld(report, only)),
        _ => return None,
    };
    let place = figure.number - 1;
    let scaling = report.found.scaling.iter().find(|one| one.figure() == place);
    let reference = report.study.targets.iter().find(|one| one.name == target)?.above.as_deref();
    // Only the tax between the two figures that are shown: others are of points that both targets have.
    let is_shown = |place: usize| {
        let own = &report.figures[place];
        let best = report.found.best.iter().find(|one| {
            let other = &report.figures[one.figure()];
            (&other.group, &other.target, other.phase) == (&own.group, &own.target, own.phase)
        });
        best.is_none_or(|best| best.figure() == place)
    };
    let tax = reference.and_then(|reference| {
        let is_against = |one: &&Stated<LayerOverhead>| {
            let other = one.inputs.get(1).copied();
            one.figure() == place
                && other.is_some_and(|other| report.figures[other].target == reference && is_shown(other))
        };
        let tax = report.found.taxes.iter().find(is_against)?;
        Some((title(report, reference), Told::of(tax, |one| one.share)))
    });
    Some(Member {
        target: title(report, target),
        phase: figure.phase,
        figure,
        withheld,
        published: published(report, figure, unit),
        scaling: scaling.map(|one| Told::of(one, |one| one.share)),
        tax,
        busy: Utilisation::of(&figure.devices).and_then(|one| one.busy).map(|(mean, _)| mean),
    })
}

/// Why the audit allows no statement about `figure`.
fn withheld(report: &Report, figure: &Figure) -> Option<String> {
    let issues = report.found.audit.iter().filter(|one| one.figure == Some(figure.number - 1));
    let names: Vec<&str> =
        issues.filter(|one| one.withholds(Use::Other)).map(|one| one.check.name()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn because(reasons: &[Reason]) -> String {
    reasons.iter().map(|one| one.because.name()).collect::<Vec<_>>().join(", ")
}

/// What was published beside `figure` in this unit.
fn published<'a>(report: &'a Report, figure: &Figure, unit: &str) -> Option<&'a PublishedComparison> {
    let wanted = if unit == BYTES_PER_SECOND { "bytes/s" } else { "ops/s" };
    let mut all = report.found.published.iter().filter_map(Stated::says).filter(|one| is_result(one));
    all.find(|one| one.figure == Some(figure.number - 1) && one.unit() == wanted)
}

impl Member<'_> {
    /// Its rate as a number, unless it is withheld.
    pub(crate) fn rate(&self, unit: &str) -> Option<f64> {
        self.withheld.is_none().then(|| self.figure.spread_in(unit).median)
    }
}

impl Members<'_> {
    /// A row for each target and phase, unless there are too many.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let why = |one: &Member<'_>| -> String {
            let scaling = one.scaling.as_ref().and_then(Told::withheld);
            let tax = one.tax.as_ref().and_then(|(_, told)| told.withheld());
            let parts = [("rate", one.withheld.as_deref()), ("scaling", scaling), ("tax", tax)];
            let parts = parts.into_iter().filter_map(|(name, why)| Some(format!("{name}: {}", why?)));
            parts.collect::<Vec<_>>().join("; ")
        };
        let references = self.all.iter().filter_map(|one| Some(one.tax.as_ref()?.0));
        let references = analysis::figures::grouped(references, |one| *one);
        let tax = match &references[..] {
            [only] => format!("tax against {}", only[0]),
            _ => "tax".to_owned(),
        };
        let table = Table::of(&self.all)
            .right("#", |one| Cell::figure(Some(one.figure.number)))
            .left("target", |one| one.target)
            .left("phase", |one| one.phase.name())
            .right("best", |one| match one.rate(self.unit) {
                Some(rate) if one.figure.doubts.is_empty() => {
                    Cell::toned(compact_rate(rate, self.unit), Tone::Main)
                }
                Some(rate) => Cell::toned(compact_rate(rate, self.unit), Tone::Doubtful),
                None => Cell::toned("withheld", Tone::Doubtful),
            })
            .right("published", |one| one.published.map(|other| published_value(other, other.value())))
            .right("scaling", |one| one.scaling.as_ref().map(|told| told.cell(percent)))
            .right("tax", |one| one.tax.as_ref().map(|(_, told)| told.cell(signed)))
            .right("%util", |one| one.busy.map(percent))
            .left("at", |one| {
                let parts = [point(&one.figure.settings), why(one)];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
            })
            .done()
            .below("at")
            .without_empty_columns();
        if table.is_empty() || self.all.len() > ROWS_MAX {
            return Vec::new();
        }
        let caption = match references.len() {
            0 => format!("Best of each target, {}", self.group),
            _ => format!("Best of each target, {}; {tax}", self.group),
        };
        vec![Block::Table { caption, table }]
    }
}
