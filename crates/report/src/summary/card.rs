//! The summary card of a run: commitments, claims and best points, or the figures themselves, with ranges and
//! marks of doubts.

use std::collections::{BTreeSet, HashMap, HashSet};

use analysis::{
    audit::{Outcome, Use},
    comparisons::ClaimVerdict,
    gate::{Because, Judgement, Kind, Stated, Value},
    jobs::Timeline,
    printed::BenchmarkScore,
    statistics::Summary,
    sweeps::Best,
    targets::MemberSet,
};
use plan::Bytes;

use crate::format::node_names::shortened as shortened_names;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{BYTES_PER_SECOND, compact, compact_rate, counted, duration, latency, number, percent};
use crate::report::Report;
use crate::report::causes::{Cause, causes, marks};
use crate::report::figure::{Figure, in_order};
use crate::report::origin;
use crate::report::statements::reasons;
use crate::section::statements::{tone, without_figures};
use crate::section::{Block, only, point, response, signed, title, which_target};
use crate::summary::commitments::{self, urgency};
use crate::summary::members::{Members, members};
use crate::summary::{split, targets, together};

/// Maximum number of figures listed on a card.
const FIGURES_MAX: usize = 8;
/// The same if all are figures of operations: all phases of a tree.
const OPERATIONS_MAX: usize = 10;
/// The same next to the score of a benchmark: all of its phases.
const OF_SCORE_MAX: usize = 32;
/// Maximum number of figures listed below the card; of more, each sweep has one row.
const LISTED_MAX: usize = 64;
/// Maximum number of job matrices on a card.
const MATRICES_MAX: usize = 4;
/// Maximum number of undecided claims on a card, since they usually have the same reason.
const UNDECIDED_CLAIMS_MAX: usize = 2;
/// Maximum number of comparisons of jobs on a card.
const CONTRASTS_MAX: usize = 3;
/// Maximum length of a claim's text, in characters.
const CLAIM_LENGTH: usize = 90;
/// Maximum length of its evidence.
const EVIDENCE_LENGTH: usize = 72;
/// Number of rows of scores, commitments and claims up to which best points fill the card.
const ROWS_MAX: usize = 6;
/// Maximum number of best points below a table of targets.
const BEST_BESIDE_MAX: usize = 3;
/// Maximum number of best points that are named with their caution.
const PEAKS_NAMED_MAX: usize = 6;
/// Maximum number of swept keys with a column each.
const KEYS_MAX: usize = 3;

/// Heading of short names with transfers in flight, as in `×32`.
const IN_FLIGHT: &str = "figure (× in flight)";

/// A card.
#[derive(Debug)]
pub(crate) struct Card {
    /// Storage and host, then repetitions, time and what was overridden, a line each.
    pub(crate) circumstances: [String; 2],
    /// Scores, commitments and claims.
    pub(crate) judged: Vec<Block>,
    /// The targets beside each other, jobs, best points, or the figures themselves.
    pub(crate) results: Vec<Block>,
    /// Whether every figure is on the card.
    pub(crate) has_all_figures: bool,
    pub(crate) causes: Vec<Cause>,
}

impl Card {
    pub(crate) fn of(report: &Report) -> Self {
        let causes = causes(&report.found.audit, &report.notes);
        let rows = Rows::of(report, &causes);
        let scores = rows.scores();
        let has_score = !scores.is_empty() && report.figures.len() <= OF_SCORE_MAX;
        let mut judged = lines(scores);
        judged.extend(commitments::blocks(report, &rows.marks));
        let used: usize = judged.iter().map(Block::rows).sum();
        // A table of their own, since their long texts would narrow the columns of the others.
        let claims = claims(report, ROWS_MAX.saturating_sub(used).max(1));
        let used = used + claims.len();
        judged.extend(lines(claims));
        let members: Vec<(Members<'_>, Vec<Block>)> = members(report)
            .into_iter()
            .map(|one| {
                let blocks = one.blocks();
                (one, blocks)
            })
            .collect();
        let shown = members.iter().filter(|(_, blocks)| !blocks.is_empty());
        let in_members: HashSet<&str> =
            shown.flat_map(|(these, _)| &these.all).map(|one| one.figure.group.as_str()).collect();
        let mut results: Vec<Block> = members.iter().flat_map(|(_, blocks)| blocks.clone()).collect();
        results.extend(rows.jobs());
        results.extend(contrasts(report));
        results.extend(targets::blocks(report, &rows.marks));
        let few = are_few(report) && !report.figures.is_empty();
        let has_all_figures = has_score || few && judged.is_empty() && results.is_empty();
        if has_all_figures {
            results.extend(rows.figures());
        } else {
            let room = ROWS_MAX.saturating_sub(used);
            let room = if in_members.is_empty() { room } else { room.min(BEST_BESIDE_MAX) };
            let each = rows.each_device();
            let told: HashSet<&str> =
                each.iter().map(|(group, _)| *group).chain(in_members.iter().copied()).collect();
            results
                .extend(lines(first(each.into_iter().map(|(_, line)| line).collect(), room.max(ROWS_MAX))));
            results.extend(lines(rows.best(room, &told)));
        }
        let numbered = report.figures.len() <= LISTED_MAX && !(has_all_figures && rows.marks.is_empty());
        results.extend(if in_members.is_empty() {
            caution(report, numbered)
        } else {
            peaks_hold(report, "")
        });
        results.extend(withheld_best(report));
        results.extend(split::blocks(report, &rows.marks));
        // A study of workloads at the same time asks for nothing else first.
        results.splice(0..0, together::blocks(report, &rows.marks));
        if let Some(scaled) = &report.run.scaled {
            let first = if has_all_figures { &mut results } else { &mut judged };
            first.insert(0, Block::Text(scaled.line.clone()));
        }
        let circumstances = [origin::measured_on(report), circumstances(report)];
        Self { circumstances, judged, results, has_all_figures, causes }
    }

    /// Everything on the card.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.judged.iter().chain(&self.results)
    }

    /// All figures that are not on the card.
    pub(crate) fn others(&self, report: &Report) -> Vec<Block> {
        let rows = Rows::of(report, &self.causes);
        match report.figures.len() {
            0 => Vec::new(),
            _ if self.has_all_figures => Vec::new(),
            1..=LISTED_MAX => rows.figures(),
            _ => rows.sweeps(),
        }
    }
}

/// Whether the figures are few enough to be listed on the card.
fn are_few(report: &Report) -> bool {
    let operations = report.figures.iter().all(Figure::is_operations);
    report.figures.len() <= if operations { OPERATIONS_MAX } else { FIGURES_MAX }
}

/// A line of a card: the outcome, its subject, and the figures.
type Line = (Cell, String, String);

fn lines(all: Vec<Line>) -> Vec<Block> {
    let table = Table::of(all)
        .left("", |(word, ..)| word.clone())
        .left("", |(_, name, _)| name.clone())
        .left("", |(.., figures)| figures.clone())
        .done();
    only("", table)
}

/// Repetitions, time, state, and what was overridden.
fn circumstances(report: &Report) -> String {
    let mut parts = Vec::new();
    let mut counts = report.figures.iter().map(Figure::repeated);
    let same = counts.next().filter(|&first| counts.all(|count| count == first));
    let passes = same.map(|count| counted(count as u64, "repetition"));
    parts.extend(match extent(report) {
        Some(extent) => Some(format!("{} {extent}", passes.as_deref().unwrap_or("repetitions"))),
        None => passes,
    });
    if let Some(model) = &report.run.model {
        // The name of the model is in the heading.
        parts.extend([format!("model {}", model.path), model.seed_words(), origin::when(report)]);
    } else if origin::is_imported(report) {
        parts.extend([origin::origin(report), origin::when(report)]);
    } else {
        parts.push(origin::when(report));
    }
    if let Some(cluster) = report.cluster.as_ref().filter(|cluster| cluster.nodes.len() > 1) {
        parts.push(counted(cluster.nodes.len() as u64, "node"));
    }
    if report.run.state != "complete" {
        parts.push(report.run.state.to_owned());
    }
    let defaults = &report.run.defaults;
    if !defaults.is_empty() {
        let all = defaults.iter().map(|one| format!("{} = {} ({})", one.key, one.value, one.from));
        parts.push(format!("defaults: {}", all.collect::<Vec<_>>().join(", ")));
    }
    let overrides = report.figures.iter().flat_map(|figure| &figure.caveats.overrides);
    let overrides = analysis::figures::grouped(overrides, |one| one.as_str());
    if !overrides.is_empty() {
        let all: Vec<&str> = overrides.iter().map(|same| same[0].as_str()).collect();
        parts.push(format!("overridden: {}", all.join(", ")));
    }
    parts.join(" · ")
}

/// The caution of the figures that are the best of their sweeps, with their numbers if figures are listed with them.
fn caution(report: &Report, numbered: bool) -> Option<Block> {
    if !numbered {
        return peaks_hold(report, "");
    }
    let peaks = report.figures.iter().filter(|figure| !figure.caveats.caution.is_empty());
    let mut numbers: Vec<String> = peaks.map(|figure| format!("#{}", figure.number)).collect();
    let more = numbers.len().saturating_sub(PEAKS_NAMED_MAX);
    numbers.truncate(PEAKS_NAMED_MAX);
    numbers.extend((more > 0).then(|| format!("{more} more")));
    peaks_hold(report, &format!("Best of their sweeps: {}. ", numbers.join(", ")))
}

/// What must be known of best points, after `which`.
fn peaks_hold(report: &Report, which: &str) -> Option<Block> {
    let has_peaks = report.figures.iter().any(|figure| !figure.caveats.caution.is_empty());
    has_peaks.then(|| {
        Block::Text(format!(
            "{which}A peak holds under its conditions and no others; applications are unlikely to reach it."
        ))
    })
}

/// Which best points are withheld, and why.
fn withheld_best(report: &Report) -> Option<Block> {
    let withheld: Vec<_> = report.found.best.iter().filter(|one| one.outcome == Outcome::Withheld).collect();
    let of = match withheld[..] {
        [] => return None,
        [only] => sweep_name(report, &report.figures[only.figure()]),
        _ => counted(withheld.len() as u64, "sweep"),
    };
    let mut why: Vec<&str> =
        withheld.iter().flat_map(|one| &one.reasons).map(|one| one.because.name()).collect();
    why.sort_unstable();
    why.dedup();
    Some(Block::Text(format!("The best of {of} is withheld: {}.", why.join(", "))))
}

/// Duration of a pass and data size, if all figures are of transfers: `of 2.01 s over 256 MiB`.
fn extent(report: &Report) -> Option<String> {
    let transfers = || report.figures.iter().filter(|figure| figure.data_bytes > Some(0));
    if origin::is_imported(report) || transfers().count() < report.figures.len() {
        return None;
    }
    let passes = transfers().flat_map(|figure| figure.counted().map(|pass| pass.phase.wall_ns));
    let times = ends(passes, latency)?;
    let data = ends(transfers().filter_map(|figure| figure.data_bytes), |bytes| Bytes(bytes).to_string())?;
    Some(format!("of {times} over {data}"))
}

/// The smallest and the largest value, or their common value.
fn ends(all: impl Iterator<Item = u64>, words: fn(u64) -> String) -> Option<String> {
    let (least, most) = all.fold(None, |ends: Option<(u64, u64)>, one| {
        Some(ends.map_or((one, one), |(least, most)| (least.min(one), most.max(one))))
    })?;
    let [least, most] = [least, most].map(words);
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// The first `most` of `all`, and a line that counts the others.
fn first(mut all: Vec<Line>, most: usize) -> Vec<Line> {
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    all.extend(
        (more > 0).then(|| (Cell::default(), format!("{more} more"), "in the full report".to_owned())),
    );
    all
}

/// The first `most` of `all`, and a line that counts the others; one line more if there is only one other.
fn cut(mut all: Vec<(Judgement, Line)>, words: &[&str], most: usize) -> Vec<Line> {
    let rest = if all.len() > most + 1 { all.split_off(most) } else { Vec::new() };
    let mut lines: Vec<Line> = all.into_iter().map(|(_, line)| line).collect();
    if !rest.is_empty() {
        let count = |word: &&str| {
            let count = rest.iter().filter(|(_, (said, ..))| said.text == *word).count();
            (count > 0).then(|| format!("{count} {word}"))
        };
        let counts: Vec<String> = words.iter().filter_map(count).collect();
        lines.push((Cell::default(), format!("{} more", rest.len()), counts.join(", ")));
    }
    lines
}

/// The verdicts of tested claims, undecided ones last, in at most `most` lines and one that counts the rest.
fn claims(report: &Report, most: usize) -> Vec<Line> {
    let all = report.found.claims.iter().filter_map(Stated::says);
    let mut tested: Vec<&ClaimVerdict> = all.filter(|one| one.judgement != Judgement::NotTested).collect();
    let is_open = |one: &&ClaimVerdict| one.judgement == Judgement::CannotTell;
    tested.sort_by_key(|one| (is_open(one), urgency(one.judgement)));
    let open = tested.iter().filter(|one| is_open(one)).count();
    let most = most.min(tested.len() - open + UNDECIDED_CLAIMS_MAX);
    let line = |one: &&ClaimVerdict| {
        let word = Cell::toned(one.word(), tone(one.judgement));
        (one.judgement, (word, shortened(&one.text, CLAIM_LENGTH), brief_evidence(one)))
    };
    cut(tested.iter().map(line).collect(), &Judgement::OF_CLAIMS, most)
}

/// The evidence of a claim without the conditions of its figures, which are in parentheses.
fn brief_evidence(one: &ClaimVerdict) -> String {
    let Some(evidence) = one.evidence.first() else { return String::new() };
    let without = |(depth, text): (usize, String), letter: char| match letter {
        '(' => (depth + 1, text.trim_end().to_owned()),
        ')' => (depth.saturating_sub(1), text),
        _ if depth > 0 => (depth, text),
        _ => (depth, text + letter.encode_utf8(&mut [0; 4])),
    };
    let brief = evidence.chars().fold((0, String::new()), without).1;
    shortened(brief.split("; ").next().unwrap_or_default(), EVIDENCE_LENGTH)
}

/// `text` cut at a word end, to at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} …", text[..end].rsplit_once(' ').map_or(&text[..end], |(all, _)| all)),
    }
}

/// Comparisons of systems that ran the same jobs.
fn contrasts(report: &Report) -> Vec<Block> {
    let found = report.statements.tables.iter().find(|table| table.kind == Kind::JobContrast);
    let Some(table) = found else { return Vec::new() };
    // Rows without figures are of published systems.
    let own = table.rows.iter().filter(|row| !row.figures.is_empty()).cloned();
    let (withheld, mut rows): (Vec<_>, Vec<_>) = own.partition(|row| row.outcome == Outcome::Withheld);
    // Differences come first: the other rows have no change.
    let change = table.columns.iter().position(|column| column.key == "change");
    rows.sort_by_key(|row| change.is_some_and(|change| row.cells[change] == Value::None));
    // The explanation of the numbers is in the full table.
    let how = table.columns.iter().position(|column| column.below);
    how.into_iter().for_each(|how| rows.iter_mut().for_each(|row| row.cells[how] = Value::None));
    let own = analysis::gate::Table { rows, ..table.clone() };
    let (shown, more) = without_figures(&own, |target| title(report, target)).first(CONTRASTS_MAX);
    let mut blocks = constant(shown, &["system", "against"], " against ");
    if more > 0 {
        blocks.push(Block::Text(format!("and {}", counted(more as u64, "more comparison"))));
    }
    blocks.extend(withheld.first().and_then(|row| row.reasons.first()).map(|why| {
        let count = counted(withheld.len() as u64, "comparison");
        Block::Text(format!(
            "cannot be told: {count}; first reason: {}: {}",
            why.because.name(),
            why.evidence
        ))
    }));
    blocks
}

/// `table`, with constant values of the columns `headings` as its caption.
fn constant(table: Table, headings: &[&str], between: &str) -> Vec<Block> {
    let mut table = table.without_empty_columns();
    let caption = table.take_constant(headings).join(between);
    if table.is_empty() { Vec::new() } else { vec![Block::Table { caption, table }] }
}

/// Makes rows of figures.
struct Rows<'a> {
    report: &'a Report,
    marks: HashMap<usize, String>,
    limits: HashMap<usize, String>,
}

impl<'a> Rows<'a> {
    fn of(report: &'a Report, causes: &[Cause]) -> Self {
        let limit = |row: &analysis::gate::Row| match row.cells.first() {
            Some(Value::Text(word)) => Some((row.figures.first()? + 1, word.clone())),
            _ => None,
        };
        let limits = report.statements.stated(Kind::LimitedBy).filter_map(limit).collect();
        Self { report, marks: marks(causes), limits }
    }

    /// Every figure: those outside sweeps in one table, then each swept workload in its own, sorted by phase.
    fn figures(&self) -> Vec<Block> {
        let (swept, alone): (Vec<&Figure>, Vec<&Figure>) =
            in_order(&self.report.figures).into_iter().partition(|figure| !figure.settings.is_empty());
        let mut blocks = self.table(&alone);
        for of_workload in analysis::figures::grouped(swept, |figure| figure.group.as_str()) {
            let by_phase = analysis::figures::grouped(of_workload, |figure| self.sweep(figure));
            blocks.extend(self.table(&by_phase.into_iter().flatten().collect::<Vec<_>>()));
        }
        blocks
    }

    /// A row for each of `figures`; values common to all are in the caption.
    fn table(&self, figures: &[&'a Figure]) -> Vec<Block> {
        let swept = figures.iter().any(|figure| !figure.settings.is_empty());
        let names: HashSet<(String, &str)> =
            figures.iter().map(|figure| (figure.short_name(), figure.target.as_str())).collect();
        let with_workload = swept || names.len() < figures.len();
        let settings = figures.iter().flat_map(|figure| &figure.settings).map(|one| one.key.as_str());
        let keys = analysis::figures::grouped(settings, |key| *key).into_iter().map(|same| same[0]);
        let keys: Vec<&str> = keys.filter(|key| *key != "target").collect();
        let few = are_few(self.report);
        let has_depths = figures.iter().any(|one| one.short_name().contains(" ×"));
        let figure = if !swept && has_depths { IN_FLIGHT } else { "figure" };
        let number = |one: &&Figure| Cell::figure((!few || !self.marks.is_empty()).then_some(one.number));
        let table = Table::of(figures.iter().copied())
            .right("#", number)
            .left("workload", |one| if with_workload { one.group.as_str() } else { "" })
            .left("target", |one| which_target(self.report, one))
            .left(figure, |one| if swept { one.phase.name().to_owned() } else { one.short_name() })
            .with(|table| match keys.len() <= KEYS_MAX {
                true => keys.iter().fold(table, |table, key| table.right(key, |one| value(one, key))),
                false => table.left("at", |one| point(&one.settings)),
            })
            .right("rate", |one| self.rate(one, one.shown_unit()))
            .right("range", |one| Cell { figure: Some(one.number), ..range(one, one.shown_unit()).into() })
            .right("lat p50", |one| response(one).map(|latency| latency.words("p50")))
            .right("lat p99", |one| response(one).map(|latency| latency.words("p99")))
            .right("caches ÷ data", |one| one.caveats.cache_share.map(percent))
            .left("limited by", |one| self.limits.get(&one.number).filter(|_| few).cloned())
            .left("!", |one| self.mark(one))
            .done();
        let mut table = table.without_empty_columns();
        let mut said = table.take_constant(&["workload", "target", figure]);
        let depths = if has_depths { " at these depths" } else { "" };
        let limits = table.take_constant(&["limited by"]);
        said.extend(limits.iter().map(|limit| match limit.as_str() {
            "storage" => format!("limited by {limit}{depths}"),
            _ => format!("limited by {limit}"),
        }));
        let mut blocks = only(&said.join(", "), table);
        let shared = shared_conditions(figures);
        if let Some(Block::Table { caption, .. }) = blocks.first_mut().filter(|_| swept && !shared.is_empty())
        {
            *caption = if caption.is_empty() { shared } else { format!("{caption}: {shared}") };
        }
        blocks
    }

    /// What identifies a sweep.
    fn sweep<'f>(&self, figure: &'f Figure) -> (&'f str, &'f str, plan::Phase) {
        (&figure.group, &figure.target, figure.phase)
    }

    fn mark(&self, figure: &Figure) -> Cell {
        Cell::toned(self.marks.get(&figure.number).cloned().unwrap_or_default(), Tone::Doubtful)
    }

    /// The mark of the figure at `place`, appended to a line.
    fn mark_at(&self, place: Option<usize>) -> String {
        let mark = place.and_then(|place| self.marks.get(&(place + 1)));
        mark.map(|mark| format!("  ! {mark}")).unwrap_or_default()
    }

    /// The scores of a benchmark.
    fn scores(&self) -> Vec<Line> {
        let line = |stated: &Stated<BenchmarkScore>| {
            let score = stated.says()?;
            let why = match (score.is_valid, score.invalid_phases) {
                (true, _) => String::new(),
                (false, 0) => "; invalid by its rules".to_owned(),
                (false, count) => format!("; invalid by its rules in {}", counted(count, "phase")),
            };
            let marks = stated.inputs.iter().filter_map(|place| self.marks.get(&(place + 1)));
            let marks: BTreeSet<&str> = marks.flat_map(|marks| marks.split(' ')).collect();
            let marks = match marks.is_empty() {
                true => String::new(),
                false => format!("  ! {}", marks.into_iter().collect::<Vec<_>>().join(" ")),
            };
            let words = format!(
                "bandwidth {}, metadata {}{why}{marks}",
                compact_rate(score.bytes_per_second, BYTES_PER_SECOND),
                compact_rate(score.per_second, "ops/s"),
            );
            let word = if score.is_valid { Cell::from("score") } else { Cell::toned("invalid", Tone::Bad) };
            Some((word, format!("IO500 {} {}", score.name, number(score.total)), words))
        };
        self.report.found.scores.iter().filter_map(line).collect()
    }

    /// Duration, outcome and concurrency of the jobs of each matrix.
    fn jobs(&self) -> Vec<Block> {
        let passes = self.report.found.timelines.iter().filter_map(Stated::says).filter(|pass| pass.counts);
        let figures = analysis::figures::grouped(passes, |pass| pass.figure);
        let of = |passes: &Vec<&Timeline>, value: fn(&Timeline) -> f64| {
            Summary::of(&passes.iter().map(|pass| value(pass)).collect::<Vec<_>>())
        };
        let elapsed = |pass: &Timeline| pass.concurrency.elapsed_ns as f64 / 1e9;
        let of_all = |passes: &Vec<&Timeline>, outcome: Option<&str>| {
            let launches = passes.iter().flat_map(|pass| &pass.launches);
            launches.filter(|one| outcome.is_none_or(|outcome| one.row.outcome == outcome)).count()
        };
        let ended = |passes: &Vec<&Timeline>| {
            let (all, complete) = (of_all(passes, None), of_all(passes, Some("complete")));
            let skipped = of_all(passes, Some("skipped"));
            let others = [(all - complete - skipped, "failed"), (skipped, "skipped")];
            let others = others.into_iter().filter(|(count, _)| *count > 0);
            let others: String = others.map(|(count, word)| format!(", {count} {word}")).collect();
            Cell::toned(
                format!("{complete} of {all} complete{others}"),
                if complete < all { Tone::Bad } else { Tone::Good },
            )
        };
        let figure = |passes: &Vec<&Timeline>| self.report.figures.get(passes[0].figure);
        let table = Table::of(figures.into_iter().take(MATRICES_MAX))
            .right("#", |passes| Cell::figure(Some(passes[0].figure + 1)))
            .left("target", |passes| figure(passes).map_or("", |figure| which_target(self.report, figure)))
            .left("at", |passes| figure(passes).map(|figure| point(&figure.settings)))
            .right("elapsed", |passes| of(passes, elapsed).map(|all| duration(all.median)))
            .left("launches", ended)
            .right("mean at a time", |passes| {
                of(passes, |pass| pass.concurrency.mean).map(|all| number(all.median))
            })
            .left("!", |passes| figure(passes).map_or_else(Cell::default, |figure| self.mark(figure)))
            .done();
        only("", table)
    }

    fn rate(&self, figure: &Figure, unit: &str) -> Cell {
        let tone = if figure.doubts.is_empty() { Tone::Main } else { Tone::Doubtful };
        Cell::toned(compact_rate(figure.spread_in(unit).median, unit), tone)
    }

    /// The devices of each workload that measured them one by one, with the name of the workload.
    fn each_device(&self) -> Vec<(&'a str, Line)> {
        let line = |stated: &'a Stated<MemberSet>| {
            let figure = self.report.figures.get(stated.figure())?;
            let name = sweep_name(self.report, figure);
            let (name, words) = match stated.says() {
                Some(set) if set.together || set.target.is_empty() || set.members.len() < 2 => return None,
                Some(set) => {
                    let fixed: String = set.fixed.iter().map(|one| format!(", {one}")).collect();
                    (name + &fixed, self.devices(set)?)
                }
                // What is withheld tells nothing of its devices.
                None if figure.settings.iter().all(|one| one.key != "member") => return None,
                None => (name, format!("withheld: {}", reasons(&stated.reasons))),
            };
            Some((figure.group.as_str(), (Cell::from("devices"), name, words)))
        };
        self.report.found.members.iter().filter_map(line).collect()
    }

    /// The rates of devices that were measured one by one, and which are slow.
    fn devices(&self, set: &MemberSet) -> Option<String> {
        let unit = self.report.figures[set.members[0].figure].shown_unit();
        let rates = set.members.iter().map(|one| self.report.figures[one.figure].spread_in(unit).median);
        let all = Summary::of(&rates.collect::<Vec<_>>())?;
        let slow = set.members.iter().filter(|one| one.slow == Some(true)).map(|one| one.name.as_str());
        let slow: Vec<&str> = slow.collect();
        let marks = set.members.iter().filter_map(|one| self.marks.get(&(one.figure + 1)));
        let marks: BTreeSet<&str> = marks.flat_map(|marks| marks.split(' ')).collect();
        let marks = match marks.is_empty() {
            true => String::new(),
            false => format!("  ! {}", marks.into_iter().collect::<Vec<_>>().join(" ")),
        };
        Some(format!(
            "{} of {} devices, one by one; variation {}{}{marks}",
            [all.min, all.max].map(|rate| compact_rate(rate, unit)).join(" to "),
            set.members.len(),
            percent(set.variation),
            if slow.is_empty() { String::new() } else { format!("; slow: {}", shortened_names(&slow)) },
        ))
    }

    /// The best point of each sweep of other workloads than `shown`, in at most `most` lines and one that counts the
    /// rest; none if `most` is 0.
    fn best(&self, most: usize, shown: &HashSet<&str>) -> Vec<Line> {
        if most == 0 {
            return Vec::new();
        }
        let is_shown = |place: usize| shown.contains(self.report.figures[place].group.as_str());
        let all = self.report.found.best.iter().filter(|one| !is_shown(one.figure()));
        let all: Vec<_> = all.filter_map(|one| Some((one, one.says()?))).collect();
        let line = |(stated, best): &(&Stated<Best>, &Best)| {
            let figure = &self.report.figures[stated.figure()];
            // With several transfer sizes, the best is the one with the highest byte rate.
            let is_of_sizes = self.report.figures.iter().any(|one| {
                (&one.group, one.phase) == (&figure.group, figure.phase)
                    && one.transfer_bytes != figure.transfer_bytes
            });
            let unit = if is_of_sizes { figure.unit() } else { figure.shown_unit() };
            let range = range(figure, unit).map(|range| format!(" ({range})")).unwrap_or_default();
            let ahead = best.gain.map(|gain| format!(", {} ahead", signed(gain))).unwrap_or_default();
            let mark = self.mark_at(Some(stated.figure()));
            // Doubts about the figure are marked by letters instead.
            let why = stated.reasons.iter().map(|one| one.because);
            let why = why.filter(|because| !matches!(because, Because::Doubted(check) if check.is_doubt()));
            let why: String = why.map(|because| format!("; {}", because.name())).collect();
            let measured = match best.elapsed {
                Some(seconds) => duration(seconds),
                None => format!("{}{range}", self.rate(figure, unit).text),
            };
            let at = point(&figure.settings);
            let order = figure.order().unwrap_or(&figure.what);
            let path = if figure.is_operations() { String::new() } else { format!(", {}", figure.path) };
            let words = format!("{measured} at {at}{ahead}; {order}{path}{why}{mark}");
            (Cell::from("best"), sweep_name(self.report, figure), words)
        };
        let shown = if all.len() > most + 1 { most } else { all.len() };
        let mut lines: Vec<Line> = all.iter().take(shown).map(line).collect();
        let more = all.len() - shown;
        lines.extend(
            (more > 0).then(|| (Cell::default(), format!("{more} more"), "in the full report".to_owned())),
        );
        lines
    }

    /// A row for each sweep with the range of its figures, without withheld ones.
    fn sweeps(&self) -> Vec<Block> {
        let withheld = self.report.found.audit.iter().filter(|one| one.withholds(Use::Other));
        let withheld: HashSet<usize> = withheld.filter_map(|one| one.figure).collect();
        let all = analysis::figures::grouped(&self.report.figures, |figure| {
            (self.sweep(figure), figure.shown_unit())
        });
        let is_usable = |figure: &&&Figure| !withheld.contains(&(figure.number - 1));
        let rates = |same: &Vec<&Figure>, end: fn(&Summary) -> f64| {
            let unit = same[0].shown_unit();
            let medians = same.iter().filter(is_usable).map(|figure| figure.spread_in(unit).median);
            Summary::of(&medians.collect::<Vec<_>>()).map(|all| compact_rate(end(&all), unit))
        };
        let doubtful = |same: &Vec<&Figure>| same.iter().filter(|one| !one.doubts.is_empty()).count();
        let table = Table::of(all)
            .left("workload", |same| same[0].group.clone())
            .left("target", |same| which_target(self.report, same[0]))
            .left("phase", |same| same[0].phase.name())
            .right("figures", |same| same.len().to_string())
            .right("lowest", |same| rates(same, |all| all.min))
            .right("highest", |same| rates(same, |all| all.max))
            .right("doubtful", |same| match doubtful(same) {
                0 => Cell::default(),
                count => Cell::toned(count.to_string(), Tone::Doubtful),
            })
            .done();
        constant(table, &["workload", "target", "phase"], ", ")
    }
}

/// The sweep of a figure: `search write on card`.
fn sweep_name(report: &Report, figure: &Figure) -> String {
    let on = Some(which_target(report, figure)).filter(|target| !target.is_empty());
    let on = on.map(|target| format!(" on {target}")).unwrap_or_default();
    format!("{} {}{on}", figure.group, figure.phase)
}

/// The conditions that all of `figures` have.
fn shared_conditions(figures: &[&Figure]) -> String {
    let Some((first, others)) = figures.split_first() else { return String::new() };
    let has = |figure: &Figure, part: &str| figure.conditions.split(", ").any(|one| one == part);
    let parts = first.conditions.split(", ").filter(|part| others.iter().all(|other| has(other, part)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The value of a swept key.
fn value(figure: &Figure, key: &str) -> Option<String> {
    let setting = figure.settings.iter().find(|one| one.key == key)?;
    Some(setting.value.to_string())
}

/// The range of the repetitions, in `unit`.
fn range(figure: &Figure, unit: &str) -> Option<String> {
    let spread = figure.spread_in(unit);
    (spread.n > 1).then(|| {
        let ends =
            [spread.min, spread.max].map(|value| compact(value, spread.median, unit == BYTES_PER_SECOND));
        format!("{}–{}", ends[0], ends[1])
    })
}
