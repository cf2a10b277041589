//! Comparison of two runs of the same cases.

pub(crate) mod changes;
mod itself;
mod limits;

use analysis::{
    comparisons::{Comparison, LimitResult, Limited, Paired, largest_gap, leading_run},
    figures::Figure,
    gate::{Gate, Reason},
    jobs::JobAccounting,
    statistics::Settled,
};
use plan::{Limit, Operation};
use record::{Provenance, Run, Warning};
use serde_json::{Value, json};

use self::changes::{CANNOT_TELL, Compared, FASTER, HostDifferences, NOT_SHOWN, SLOWER, TOO_FEW, outcome};
pub use self::itself::{Itself, against_itself};
use self::limits::Limits;
use crate::format::escape;
use crate::format::names;
use crate::format::screen::Screen;
use crate::format::table::{Table, wrapped};
use crate::format::{counted, percent};
use crate::render::text;
use crate::report::SHOWN_RATE;
use crate::report::figure::LARGE_TRANSFER_BYTES;
use crate::report::origin;
use crate::report::run_info::tool;
use crate::report::statements::Statements;
use crate::section::statements;
use crate::section::{Block, Section, signed};

/// What is said if nothing can be compared.
const NOTHING_COMMON: &str = "No case is in both runs.";

/// The version of the JSON form.
const SCHEMA: &str = "ioproof-comparison/3";

/// Two sides with the same cases, each with one run or several.
///
/// ```no_run
/// use std::path::Path;
/// let before = [record::Run::open(Path::new("runs/before"))?];
/// let after = [record::Run::open(Path::new("runs/after"))?];
/// println!("{}", report::compare([&before, &after], &[]).text(report::Screen::PLAIN));
/// # Ok::<(), record::RecordError>(())
/// ```
#[derive(Debug)]
pub struct Pair<'a> {
    sides: [&'a [Run]; 2],
    /// The run of each side that names its figures.
    leading: [&'a Run; 2],
    comparisons: Vec<Compared>,
    /// Number of figures of either side that the other lacks.
    alone: [usize; 2],
    /// Number of pairs of differently named cases with the same conditions.
    agreements: usize,
    /// Comparisons of job matrices launch by launch, as JSON and as a block for reading.
    matrices: Vec<(Value, Block)>,
    /// What came of limits, if there are some.
    limits: Option<Limits>,
}

/// Compares what two sides measured under the same conditions. With several runs on a side, a run is one value: the
/// median of its passes. `limits` are those of the changes.
///
/// # Panics
/// Panics if a side has no run.
#[must_use]
pub fn compare<'a>(sides: [&'a [Run]; 2], limits: &[Limit]) -> Pair<'a> {
    let figures = sides
        .map(|runs| runs.iter().map(|run| analysis::figures::figures(run, SHOWN_RATE)).collect::<Vec<_>>());
    let gates = [0, 1].map(|side| {
        let all = sides[side].iter().zip(&figures[side]).map(|(run, figures)| {
            let doubts = analysis::findings::findings(run, figures).audit;
            Gate::new(&run.manifest.plan, figures, &doubts)
        });
        all.collect::<Vec<_>>()
    });
    let places = gates.each_ref().map(|side| leading_run(side));
    let leading = [0, 1].map(|side| &sides[side][places[side]]);
    let figures_of = [0, 1].map(|side| figures[side][places[side]].as_slice());
    let pairs = analysis::comparisons::paired(&gates[0], &gates[1]);
    let comparisons: Vec<Compared> =
        pairs.iter().flat_map(|pair| with_conditions(leading, figures_of, pair)).collect();
    let limits = (!limits.is_empty()).then(|| {
        let results = analysis::comparisons::limited(limits, &gates[0], &gates[1]);
        let of_pair = |one: &Limited| {
            let own = one.comparison.as_ref()?;
            let is_same = |other: &&Compared| {
                (&other.comparison.case, other.comparison.phase) == (&own.case, own.phase)
            };
            let found = comparisons.iter().find(is_same)?;
            Some((found.conditions.clone(), found.differs.clone(), found.small_transfer))
        };
        Limits::of(limits, results, of_pair)
    });
    Pair {
        sides,
        leading,
        alone: figures_of.map(|side| side.len() - pairs.len()),
        comparisons,
        agreements: pairs.iter().filter(|pair| pair.by_conditions).count(),
        matrices: matrices(leading, figures_of, [0, 1].map(|side| &gates[side][places[side]])),
        limits,
    }
}

/// The comparisons of a pair, with the conditions of both figures.
fn with_conditions([before, after]: [&Run; 2], figures: [&[Figure]; 2], pair: &Paired) -> Vec<Compared> {
    let [one, other] = [&figures[0][pair.before], &figures[1][pair.after]];
    let mut words = one.conditions.clone();
    if one.conditions != other.conditions {
        words.push_str(&format!("; then {}", other.conditions));
    }
    for (run, figure, side) in [(before, one, "before"), (after, other, "after")] {
        if let Some(iterations) = printed_mean(run, figure) {
            words.push_str(&format!("; {side} is the printed mean of {iterations} iterations"));
        }
    }
    if !pair.differs.is_empty() {
        words.push_str(&format!("; differs in {}", pair.differs.join("; ")));
    }
    if !pair.not_printed.is_empty() {
        words.push_str(&format!("; not printed: {}", pair.not_printed.join(", ")));
    }
    let [bytes, others] =
        [one, other].map(|of| (of.bytes_per_second.median / of.transfers_per_second.median).round());
    let is_small = bytes == others && bytes < LARGE_TRANSFER_BYTES as f64 && one.phase.counts_bytes();
    let compared = |comparison: &Comparison| Compared {
        comparison: comparison.clone(),
        conditions: words.clone(),
        differs: pair.differs.join("; "),
        small_transfer: is_small.then_some(bytes),
        limit: None,
    };
    pair.comparisons.iter().map(compared).collect()
}

/// Compares the job matrices with the same workload, target and settings, or the only one of each run.
fn matrices(runs: [&Run; 2], figures: [&[Figure]; 2], gates: [&Gate<'_>; 2]) -> Vec<(Value, Block)> {
    let [before, after] = [0, 1].map(|run| analysis::jobs::matrices(runs[run], figures[run]).all);
    let only_ones = before.len() == 1 && after.len() == 1;
    let point = |one: &JobAccounting| (one.case.group.clone(), one.case.target.clone(), one.settings.clone());
    let name = |one: &JobAccounting, side: &str| {
        let what = if one.case.target.is_empty() { &one.case.group } else { &one.case.target };
        format!("{what} {side}")
    };
    let pair = |one: &JobAccounting| {
        let other = after.iter().find(|other| only_ones || point(one) == point(other))?;
        let same_work = analysis::jobs::same_jobs(&one.case.workload.work, &other.case.workload.work);
        let (before, after) = (name(one, "before"), name(other, "after"));
        let systems = [after.clone(), before.clone()];
        let rows = analysis::jobs::contrasts_of_runs(systems, (gates[0], one), (gates[1], other));
        let table = rows.filter(|_| same_work).map(|rows| analysis::gate::Table::of(&rows));
        let block = match &table {
            Some(table) => Block::Table {
                caption: "Jobs as a whole, over all launches that both runs completed".to_owned(),
                table: statements::without_figures(table, |text| text),
            },
            None if same_work => Block::Text(format!(
                "{before} and {after}: no verdict, because not all launches of both completed and have a \
                 counterpart."
            )),
            None => Block::Text(
                "The jobs of both runs are not the same (scale, seed, tables or tests): no verdict, because \
                 their sums are of different work."
                    .to_owned(),
            ),
        };
        let statements = Statements { tables: table.into_iter().collect(), ..Statements::default() };
        let contrasts = statements.objects(analysis::gate::Kind::JobContrast);
        // `same_work` is about tables, tests, scale and seed; page size and direct I/O may differ.
        let value =
            json!({ "before": before, "after": after, "same_work": same_work, "contrasts": contrasts });
        Some((value, block))
    };
    before.iter().filter_map(pair).collect()
}

/// If an imported figure is a printed mean, the number of iterations that were averaged.
fn printed_mean(run: &Run, figure: &Figure) -> Option<u64> {
    let of_figure = |row: &&record::WarningRow| {
        row.key.as_ref().is_some_and(|key| *key.case == *figure.case && key.phase == figure.phase)
    };
    run.warnings.iter().filter(of_figure).find_map(|row| match row.warning {
        Warning::PrintedMean { iterations } => Some(iterations),
        _ => None,
    })
}

impl Pair<'_> {
    /// What came of the limits of changes; `None` without limits.
    #[must_use]
    pub fn result(&self) -> Option<LimitResult> {
        self.limits.as_ref().map(Limits::result)
    }

    /// The limits that are about no figure of either side, as they are written.
    #[must_use]
    pub fn limits_without_figure(&self) -> Vec<String> {
        self.limits.as_ref().map(Limits::without_figure).unwrap_or_default()
    }

    /// The values that limits can be about, as they are written there.
    #[must_use]
    pub fn figures(&self) -> Vec<String> {
        let rates = self.comparisons.iter().filter(|one| one.is_rate()).map(|one| &one.comparison);
        rates.map(|one| plan::figure_name(&one.case, one.phase, one.quantity, None)).collect()
    }

    /// JUnit XML; `None` without limits. What cannot be told is an error, or is skipped if it `allows_untold`.
    #[must_use]
    pub fn junit(&self, allows_untold: bool) -> Option<String> {
        Some(self.limits.as_ref()?.junit(allows_untold))
    }

    /// Whether both sides are imported and all of their values are equal: one text was imported twice.
    #[must_use]
    pub fn is_of_one_text(&self) -> bool {
        let is_imported = |run: &Run| run.manifest.provenance == Provenance::Imported;
        let mut differences = self.comparisons.iter().map(|one| one.comparison.difference);
        self.sides.iter().all(|runs| runs.iter().all(is_imported))
            && !self.comparisons.is_empty()
            && differences.all(|one| one.before.total_cmp(&one.after).is_eq() && one.n.0 == one.n.1)
    }

    /// Which sides are simulated.
    fn simulated(&self) -> [bool; 2] {
        self.sides.map(|runs| runs.iter().any(|run| run.manifest.provenance == Provenance::Simulated))
    }

    /// The first line without limits: what the two runs are, and what a difference between them means.
    fn heading(&self) -> String {
        let word = |provenance| names::provenance(provenance);
        let simulated = word(Provenance::Simulated).to_uppercase();
        match (self.simulated(), self.leading.map(|run| word(run.manifest.provenance))) {
            ([false, false], _) if self.is_of_runs() => "Comparison of the runs of two sides".to_owned(),
            ([false, false], _) => "Comparison of two runs".to_owned(),
            ([true, true], _) => format!("Comparison of two {simulated} runs: nothing was measured"),
            ([true, false], [_, other]) => {
                format!(
                    "Comparison of a {simulated} run with one that was {other}: a difference is the error of the model"
                )
            }
            ([false, true], [other, _]) => {
                format!(
                    "Comparison of a run that was {other} with a {simulated} one: a difference is the error of the model"
                )
            }
        }
    }

    /// The same line, if it says more than the request.
    fn marked(&self) -> Option<Block> {
        self.simulated().contains(&true).then(|| Block::Text(format!("{}.", self.heading())))
    }

    /// Changes for a terminal: changes first, then undecided comparisons and those without a shown change.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let paragraph = |text: &str| wrapped("", text, screen.prose());
        let mut out = match &self.limits {
            Some(limits) => {
                let mark = self.simulated().contains(&true).then(|| paragraph(&self.heading()));
                let heading = screen.strong(&limits.heading());
                format!("{heading}\n{}{}", mark.unwrap_or_default(), paragraph(&self.sides()))
            }
            None => {
                let heading = screen.strong(&self.heading());
                format!("{heading}\n{}{}", paragraph(&self.sides()), paragraph(&self.counts()))
            }
        };
        out.push('\n');
        text::blocks_text(&mut out, &self.answer(false), screen);
        out
    }

    /// Whether a run is one value.
    fn is_of_runs(&self) -> bool {
        self.sides.iter().any(|runs| runs.len() > 1)
    }

    /// The changes, the differences of the hosts, and the figures that only one run has, preceded by the mark of
    /// simulated runs.
    pub(crate) fn changes(&self) -> Vec<Block> {
        let result = self.limits.as_ref().map(|limits| Block::Text(format!("{}.", limits.heading())));
        self.marked().into_iter().chain(result).chain(self.answer(false)).collect()
    }

    /// `is_full` has every limit.
    fn answer(&self, is_full: bool) -> Vec<Block> {
        let mut blocks = match &self.limits {
            Some(limits) => limits.blocks(is_full),
            None if self.comparisons.is_empty() => vec![Block::Text(NOTHING_COMMON.to_owned())],
            None => changes::blocks(&self.comparisons),
        };
        blocks.extend(self.matrices.iter().map(|(_, block)| block.clone()));
        let HostDifferences { differs, one_sided } = changes::differences(self.leading);
        let mut text = match differs.is_empty() {
            true => format!("No difference between {} is recorded.", self.machines().to_lowercase()),
            false => format!("{} differ: {}.", self.machines(), differs.join("; ")),
        };
        if !one_sided.is_empty() {
            text += &format!(" Known of one alone: {}.", one_sided.join(", "));
        }
        blocks.push(Block::Text(text));
        blocks
    }

    /// The hardware that both ran on, as the start of a sentence.
    fn machines(&self) -> &'static str {
        match self.simulated() {
            [false, false] => "The hosts",
            [true, true] => "The models' machines",
            _ => "The model's machine and the host",
        }
    }

    /// Every comparison with its conditions, for a terminal.
    #[must_use]
    pub fn text_in_full(&self, screen: Screen) -> String {
        let mut out = format!("{}\n", screen.strong(&self.heading()));
        out.push_str(&text::section_whole(&self.section(), screen));
        out
    }

    /// As Markdown, with pipe tables.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.heading());
        let section = match &self.limits {
            Some(limits) => Section {
                id: "limits",
                title: "Limits",
                before_figures: true,
                blocks: [Block::Text(limits.heading()), Block::Text(self.sides())]
                    .into_iter()
                    .chain(self.answer(true))
                    .collect(),
            },
            None => self.section(),
        };
        crate::render::markdown::section_markdown(&mut out, &section);
        out
    }

    /// As JSON in the schema `ioproof-comparison/3`.
    #[must_use]
    pub fn json(&self) -> String {
        let reason = |one: &Reason| json!({ "because": one.because.name(), "evidence": one.evidence });
        let row = |compared: &Compared| {
            let Compared { comparison: one, conditions, .. } = compared;
            let found = &one.difference;
            json!({
                "case": one.case,
                "phase": one.phase.name(),
                "latency_of": one.operation.map(Operation::name),
                "transferring": one.transferring,
                "values": [found.n.0, found.n.1],
                "scatter_between_runs": one.scatter.map(|both| both.map(|of| of.between)),
                "scatter_within_runs": one.scatter.map(|both| both.map(|of| of.within)),
                "conditions": conditions,
                "before": found.before,
                "after": found.after,
                "unit": if one.operation.is_some() { "ns" } else { names::unit(one.phase) },
                "change": compared.change(),
                "change_low": found.interval.map(|(low, _)| low),
                "change_high": found.interval.map(|(_, high)| high),
                "p_value": found.p_value,
                "outcome": outcome(one).0,
                "standing": one.outcome.name(),
                "reasons": one.reasons.iter().map(reason).collect::<Vec<_>>(),
            })
        };
        let side = |run: &Run| {
            let manifest = &run.manifest;
            json!({
                "id": manifest.run_id,
                "title": manifest.plan.title,
                "directory": run.directory.display().to_string(),
                "release": manifest.plan.criteria.release,
                "node": manifest.host.node,
                "program_version": manifest.program_version,
                "provenance": manifest.provenance,
                "model": manifest.model,
                "tool": tool(run),
            })
        };
        escape::json_text(&json!({
            "schema": SCHEMA,
            "about": self.heading(),
            "before": side(self.leading[0]),
            "after": side(self.leading[1]),
            "runs_before": self.sides[0].iter().map(side).collect::<Vec<_>>(),
            "runs_after": self.sides[1].iter().map(side).collect::<Vec<_>>(),
            "limits": self.limits.as_ref().map(Limits::json),
            "only_before": self.alone[0],
            "only_after": self.alone[1],
            "paired_by_conditions": self.agreements,
            "comparisons": self.comparisons.iter().map(row).collect::<Vec<_>>(),
            "matrices": self.matrices.iter().map(|(value, _)| value).collect::<Vec<_>>(),
        }))
    }

    /// All comparisons.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        self.comparisons.iter().map(|one| one.comparison.clone()).collect()
    }

    /// All comparisons as a section.
    pub(crate) fn section(&self) -> Section {
        let mut blocks = Vec::new();
        if let Some(limits) = &self.limits {
            blocks.push(Block::Text(limits.heading()));
            blocks.extend(limits.blocks(true));
        }
        blocks.extend([Block::Text(self.sides()), Block::Text(self.counts())]);
        blocks.extend(largest_gap(&self.comparisons()).map(|one| {
            let (change, said) = (signed(one.difference.change), outcome(one).0);
            Block::Text(format!(
                "The largest gap between both is {change}: {} of {} ({said}).",
                one.phase, one.case
            ))
        }));
        if self.agreements > 0 {
            blocks.push(Block::Text(format!(
                "{} of figures with different names but the same phase, size, order, tasks and nodes. Other \
                 differences are shown with each. A rate while transferring leaves out opening, syncing and \
                 closing, which tools count in different ways.",
                counted(self.agreements as u64, "pair")
            )));
        }
        blocks.push(match self.comparisons.is_empty() {
            true => Block::Text(NOTHING_COMMON.to_owned()),
            false => Block::Table {
                caption: "Medians of the repetitions that count; a difference has p ≤ 0.01, corrected for all comparisons"
                    .to_owned(),
                table: self.table(),
            },
        });
        blocks.extend(self.matrices.iter().map(|(_, block)| block.clone()));
        Section { id: "comparison", title: "What changed", before_figures: true, blocks }
    }

    fn sides(&self) -> String {
        let words = |run: &Run| {
            let manifest = &run.manifest;
            let release = manifest.plan.criteria.release.as_ref().map(|release| format!(", {release}"));
            let from = match (names::mark(manifest), manifest.provenance) {
                (Some(mark), _) => format!("{mark}, "),
                (None, Provenance::Measured) => String::new(),
                (None, other) => format!("{}, ", names::provenance(other)),
            };
            let tool = Some(tool(run)).filter(|tool| !tool.is_empty());
            let tool = tool.map(|tool| format!(", by {tool}")).unwrap_or_default();
            let node = match (manifest.provenance, manifest.host.node.as_str()) {
                (Provenance::Imported, origin::UNKNOWN_NODE) => String::new(),
                (_, node) => format!(" on {node}"),
            };
            let (title, id, release) = (&manifest.plan.title, &manifest.run_id, release.unwrap_or_default());
            format!("{title} ({from}{id}{release}{tool}{node})")
        };
        let [before, after] = self.leading;
        if before.manifest.run_id == after.manifest.run_id {
            return format!("Both are the same run: {}.", words(before));
        }
        let side = |place: usize| match self.sides[place].len() {
            1 => words(self.leading[place]),
            count => format!("{count} runs, as {}", words(self.leading[place])),
        };
        format!("Before: {}. After: {}.", side(0), side(1))
    }

    /// Counts of the outcomes, as in `12 figures in both runs: 2 faster, 10 no change shown.` Latencies are not
    /// counted.
    fn counts(&self) -> String {
        let rates: Vec<&str> = self
            .comparisons
            .iter()
            .filter(|one| one.is_rate())
            .map(|one| outcome(&one.comparison).0)
            .collect();
        let kinds = [FASTER, SLOWER, NOT_SHOWN, TOO_FEW, CANNOT_TELL];
        let kinds = kinds.map(|(kind, _)| (kind, rates.iter().filter(|one| **one == kind).count()));
        let kinds = kinds.iter().filter(|(_, count)| *count > 0);
        let kinds: Vec<String> = kinds.map(|(word, count)| format!("{count} {word}")).collect();
        let colon = if kinds.is_empty() { "" } else { ": " };
        let mut text =
            format!("{} in both runs{colon}{}.", counted(rates.len() as u64, "figure"), kinds.join(", "));
        for (side, alone) in ["before", "after"].into_iter().zip(self.alone) {
            if alone > 0 {
                text.push_str(&format!(" {} only {side}.", counted(alone as u64, "figure")));
            }
        }
        text + &self.settled_by()
    }

    /// What would tell the largest change that is not told; empty if nothing is open.
    fn settled_by(&self) -> String {
        let open = self.comparisons.iter().filter(|one| one.is_rate()).map(|one| &one.comparison);
        let open = open.filter_map(|one| Some((one, one.settled_by?)));
        let largest = open.max_by(|(_, one), (_, other)| one.change.total_cmp(&other.change));
        largest.map_or_else(String::new, |(one, Settled { change, repetitions })| {
            let (case, phase, change) = (&one.case, one.phase, percent(change));
            let what = if self.is_of_runs() { "runs" } else { "repetitions" };
            format!(" {repetitions} {what} a side would tell a change of {change} in {case} {phase}.")
        })
    }

    /// Changes first, the largest of them at the top; otherwise in the order of the plan.
    fn table(&self) -> Table {
        let (mut rows, others): (Vec<&Compared>, Vec<&Compared>) =
            self.comparisons.iter().partition(|one| one.comparison.difference.is_stated());
        rows.sort_by(|one, other| changes::by_size(one, other));
        rows.extend(others);
        changes::table(&rows, None)
    }
}
