//! Jobs as a whole, in the tables of the study of SAS on P3700 cards (2014): sums over all launches, the ratios of
//! CPU time to real time, and how systems compare; the printed tables beside the own ones.

mod published;
mod verdict;

use super::{Block, only, title};
use crate::format::{NOT_OBSERVED, number};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::matrix::{Amounts, Matrix, MatrixComparison, MatrixSums, OverPasses, RatioStatistics};

pub(crate) use verdict::of_runs;
use verdict::sentences;

/// The longest bar of a histogram of letters.
const BAR_COLUMNS: usize = 24;
/// Sums of real time from this on are told in minutes, as the study does.
const MINUTES_FROM_SECONDS: f64 = 600.0;
/// Sums of memory from this on are told in GB.
const GIGABYTES_FROM_BYTES: f64 = 1e9;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let matrices = &report.findings.matrices;
    let mut groups: Vec<&str> = matrices.systems.iter().map(|one| one.group.as_str()).collect();
    groups.dedup();
    let mut blocks = Vec::new();
    for group in &groups {
        let systems: Vec<&Matrix> = matrices.systems.iter().filter(|one| one.group == *group).collect();
        if groups.len() > 1 {
            blocks.push(Block::Heading { place: place(group), text: (*group).to_owned() });
        }
        blocks.extend(of_group(report, &systems));
    }
    blocks
}

/// Where the charts of a workload stand.
pub(crate) fn place(group: &str) -> String {
    format!("matrix-{group}")
}

/// One workload on its systems.
fn of_group(report: &Report, systems: &[&Matrix]) -> Vec<Block> {
    let matrices = &report.findings.matrices;
    let comparisons: Vec<&MatrixComparison> = matrices
        .comparisons
        .iter()
        .filter(|one| matrices.systems.get(one.second).is_some_and(|second| second.group == systems[0].group))
        .collect();
    let named = |place: usize| matrices.systems.get(place).map_or_else(String::new, |one| name(report, one));
    let mut lines: Vec<String> = systems.iter().filter_map(|one| incomplete(report, one)).collect();
    for one in &comparisons {
        lines.extend(sentences(&[named(one.first), named(one.second)], one));
    }
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    let scale = Scale::of(systems);
    blocks.extend(only(
        "Table 1, own: real time, memory and CPU time, summed over all launches; of several passes mean ± standard \
         deviation",
        sums(report, systems, &comparisons, scale),
    ));
    blocks.extend(published::sums(report));
    blocks.extend(only(
        "Table 2, own: (user + system CPU time) ÷ real time of each launch; below 1 it waits, usually for I/O, above 1 \
         it is threaded",
        ratios(report, systems),
    ));
    blocks.extend(published::ratios(report));
    blocks.extend(published::doubts(report));
    blocks.extend(only(
        "How many launches have which ratio of CPU time to real time",
        histogram(report, systems),
    ));
    blocks.extend(only("Tests: means over their launches", tests(report, systems)));
    blocks.extend(only("Pass by pass", passes(report, systems, scale)));
    blocks
}

/// What people call a system.
pub(crate) fn name(report: &Report, one: &Matrix) -> String {
    let mut words = match one.target.as_str() {
        "" => one.group.clone(),
        target => title(report, target).to_owned(),
    };
    for setting in &one.settings {
        words.push_str(&format!(", {} {}", setting.key, setting.text));
    }
    words
}

/// That launches are missing; none where all are there.
fn incomplete(report: &Report, one: &Matrix) -> Option<String> {
    let broken = one.passes.iter().filter(|pass| pass.completed < one.launches_asked);
    let words: Vec<String> = broken
        .map(|pass| {
            let missing = one.launches_asked - pass.completed;
            format!("{missing} of {} launches in pass {}", one.launches_asked, pass.repetition)
        })
        .collect();
    let rest = match one.partial {
        true => "Its sums and ratios are of those that completed, and are compared with nothing",
        false => "Its sums and ratios are of the passes in which all completed",
    };
    (!one.complete).then(|| {
        format!("{}: NOT COMPLETE, {} did not complete. {rest}.", name(report, one), words.join(", "))
    })
}

/// The units of a table of sums.
#[derive(Debug, Clone, Copy)]
struct Scale {
    time: (&'static str, f64),
    memory: (&'static str, f64),
}

impl Scale {
    const PUBLISHED: Self = Self { time: ("min", 60.0), memory: ("GB", 1e9) };

    fn of(systems: &[&Matrix]) -> Self {
        let sums = || systems.iter().filter_map(|one| one.sums.as_ref());
        let most = |of: fn(&MatrixSums) -> f64| sums().map(of).fold(0.0, f64::max);
        Self::of_largest(most(|sums| sums.real_seconds.mean), most(|sums| sums.memory_bytes.mean))
    }

    /// By the largest sums that are told.
    fn of_largest(real_seconds: f64, memory_bytes: f64) -> Self {
        let minutes = real_seconds >= MINUTES_FROM_SECONDS;
        let gigabytes = memory_bytes >= GIGABYTES_FROM_BYTES;
        Self {
            time: if minutes { Self::PUBLISHED.time } else { ("s", 1.0) },
            memory: if gigabytes { Self::PUBLISHED.memory } else { ("MB", 1e6) },
        }
    }

    /// Headings of the four columns.
    fn headings(self) -> [String; 4] {
        let (time, memory) = (self.time.0, self.memory.0);
        [
            format!("real time, {time}"),
            format!("memory, {memory}"),
            format!("user CPU, {time}"),
            format!("system CPU, {time}"),
        ]
    }

    /// Divisors of the four columns.
    const fn divisors(self) -> [f64; 4] {
        [self.time.1, self.memory.1, self.time.1, self.time.1]
    }
}

/// A number with its sign.
fn signed_number(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", number(value.abs()))
}

/// `+5.05 %`.
fn signed_percent(share: f64) -> String {
    format!("{:+.2} %", share * 100.0)
}

fn sums(report: &Report, systems: &[&Matrix], comparisons: &[&MatrixComparison], scale: Scale) -> Table {
    let headings = scale.headings();
    let mut columns =
        vec![("storage system", Align::Left), ("launches", Align::Right), ("passes", Align::Right)];
    columns.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for one in systems {
        let Some(sums) = &one.sums else { continue };
        let all = [sums.real_seconds, sums.memory_bytes, sums.user_cpu_seconds, sums.system_cpu_seconds];
        let launches = match one.partial {
            true => Cell::toned(format!("{} of {}", one.launches.len(), one.launches_asked), Tone::Bad),
            false => one.launches_asked.to_string().into(),
        };
        let mut cells = vec![name(report, one).into(), launches, sums.real_seconds.n.to_string().into()];
        cells.extend(all.iter().zip(scale.divisors()).map(|(sum, divisor)| over_passes(sum, divisor).into()));
        table.row(cells);
    }
    let matrices = &report.findings.matrices;
    let named = |place: usize| matrices.systems.get(place).map_or_else(String::new, |one| name(report, one));
    for one in comparisons {
        let tone = if one.complete { Tone::Main } else { Tone::Doubtful };
        let divisors = scale.divisors();
        let mut row = |heading: String, cells: Vec<String>| {
            let mut all = vec![Cell::from(heading), one.pairs.to_string().into(), Cell::from("")];
            all.extend(cells.into_iter().map(|text| Cell::toned(text, tone)));
            table.row(all);
        };
        let deltas =
            one.columns.iter().zip(divisors).map(|(change, divisor)| signed_number(change.delta / divisor));
        row(format!("Δ {} − {}", named(one.second), named(one.first)), deltas.collect());
        let shares = one.columns.iter().map(|change| change.share.map(signed_percent).unwrap_or_default());
        row("Δ in percent".to_owned(), shares.collect());
        let outcomes = one.columns.iter().map(|change| change.outcome.to_owned());
        row("over passes (Mann–Whitney)".to_owned(), outcomes.collect());
    }
    table
}

fn over_passes(sum: &OverPasses, divisor: f64) -> String {
    let mean = number(sum.mean / divisor);
    sum.deviation
        .map_or_else(|| mean.clone(), |deviation| format!("{mean} ± {}", number(deviation / divisor)))
}

/// Three digits behind the point, as the study prints.
fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

fn ratios(report: &Report, systems: &[&Matrix]) -> Table {
    let mut table = Table::new(&RATIO_COLUMNS);
    for one in systems {
        if let Some(ratios) = &one.ratios {
            table.row(ratio_row(name(report, one), ratios));
        }
    }
    table
}

/// The columns of Table 2, the printed ones first.
const RATIO_COLUMNS: [(&str, Align); 10] = [
    ("storage system", Align::Left),
    ("launches", Align::Right),
    ("mean ratio", Align::Right),
    ("standard deviation", Align::Right),
    ("range", Align::Right),
    ("min", Align::Right),
    ("max", Align::Right),
    ("ratio of sums", Align::Right),
    ("below 1", Align::Right),
    ("above 1", Align::Right),
];

fn ratio_row(name: String, one: &RatioStatistics) -> Vec<Cell> {
    vec![
        name.into(),
        one.n.to_string().into(),
        Cell::toned(ratio(one.mean), Tone::Main),
        ratio(one.deviation).into(),
        ratio(one.range).into(),
        ratio(one.minimum).into(),
        ratio(one.maximum).into(),
        ratio(one.of_sums).into(),
        one.waiting.to_string().into(),
        one.threaded.to_string().into(),
    ]
}

/// The bins of all systems, whose edges are the same.
fn histogram(report: &Report, systems: &[&Matrix]) -> Table {
    let names: Vec<String> = systems.iter().map(|one| name(report, one)).collect();
    let mut columns = vec![("ratio from", Align::Right), ("to below", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Left)));
    let mut table = Table::new(&columns);
    let bins = || systems.iter().flat_map(|one| &one.histogram);
    let mut edges: Vec<(f64, f64)> = bins().map(|bin| (bin.from, bin.to)).collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    edges.dedup_by(|a, b| (a.0 - b.0).abs() < (b.1 - b.0) / 2.0);
    let most = bins().map(|bin| bin.launches).max().unwrap_or(0).max(1);
    for (from, to) in edges {
        let of = |one: &Matrix| {
            let bin = one.histogram.iter().find(|bin| (bin.from - from).abs() < (to - from) / 2.0);
            bin.map_or(0, |bin| bin.launches)
        };
        let digits = if to - from < 0.01 { 3 } else { 2 };
        let mut cells: Vec<Cell> = vec![format!("{from:.digits$}").into(), format!("{to:.digits$}").into()];
        cells.extend(systems.iter().map(|one| bar(of(one), most).into()));
        table.row(cells);
    }
    table
}

/// `▇▇▇▇ 12`.
fn bar(count: usize, most: usize) -> String {
    let columns = (count * BAR_COLUMNS).div_ceil(most);
    if count == 0 { "0".to_owned() } else { format!("{} {count}", "▇".repeat(columns)) }
}

fn tests(report: &Report, systems: &[&Matrix]) -> Table {
    let mut table = Table::new(&[
        ("test", Align::Left),
        ("kind", Align::Left),
        ("storage system", Align::Left),
        ("n", Align::Right),
        ("real, s", Align::Right),
        ("user, s", Align::Right),
        ("sys, s", Align::Right),
        ("peak MB", Align::Right),
        ("ratio", Align::Right),
        ("± sdev", Align::Right),
        ("of sums", Align::Right),
        ("", Align::Left),
    ]);
    let mut names: Vec<&str> = Vec::new();
    for test in systems.iter().flat_map(|one| &one.tests) {
        if !names.contains(&test.test.as_str()) {
            names.push(&test.test);
        }
    }
    for wanted in names {
        for one in systems {
            let Some(test) = one.tests.iter().find(|test| test.test == wanted) else { continue };
            let [real, memory, user, system] = in_columns(&test.means, [1.0, 1e6, 1.0, 1.0]);
            let of = |get: fn(&RatioStatistics) -> f64| {
                test.ratios.as_ref().map_or_else(|| NOT_OBSERVED.to_owned(), |ratios| ratio(get(ratios)))
            };
            let tone = if test.standing == Some("waiting") { Tone::Doubtful } else { Tone::Plain };
            let deviation = if test.launches > 1 { of(|ratios| ratios.deviation) } else { String::new() };
            table.row(vec![
                Cell::from(test.test.as_str()),
                test.kind.as_str().into(),
                if systems.len() > 1 { name(report, one) } else { String::new() }.into(),
                test.launches.to_string().into(),
                real.into(),
                user.into(),
                system.into(),
                memory.into(),
                Cell::toned(of(|ratios| ratios.mean), tone),
                deviation.into(),
                of(|ratios| ratios.of_sums).into(),
                Cell::toned(test.standing.unwrap_or_default(), tone),
            ]);
        }
    }
    table
}

/// Real time, memory, user and system CPU time.
fn in_columns(one: &Amounts, divisors: [f64; 4]) -> [String; 4] {
    let [real, memory, user, system] = divisors;
    [
        number(one.real_seconds / real),
        number(one.memory_bytes / memory),
        number(one.user_cpu_seconds / user),
        number(one.system_cpu_seconds / system),
    ]
}

/// Only where there are several, or where one is not complete.
fn passes(report: &Report, systems: &[&Matrix], scale: Scale) -> Table {
    let headings = scale.headings();
    let mut columns =
        vec![("storage system", Align::Left), ("pass", Align::Right), ("completed", Align::Right)];
    columns.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    columns.extend([("mean ratio", Align::Right), ("± sdev", Align::Right), ("range", Align::Right)]);
    let mut table = Table::new(&columns);
    for one in systems.iter().filter(|one| one.passes.len() > 1 || !one.complete) {
        for pass in &one.passes {
            let all = pass.completed == one.launches_asked;
            let completed = format!("{} of {}", pass.completed, one.launches_asked);
            let of = |get: fn(&RatioStatistics) -> f64| {
                pass.ratios.as_ref().map(|ratios| ratio(get(ratios))).unwrap_or_default()
            };
            let mut cells = vec![
                Cell::from(name(report, one)),
                pass.repetition.to_string().into(),
                Cell::toned(completed, if all { Tone::Plain } else { Tone::Bad }),
            ];
            cells.extend(in_columns(&pass.sums, scale.divisors()).map(Cell::from));
            cells.extend([of(|all| all.mean), of(|all| all.deviation), of(|all| all.range)].map(Cell::from));
            table.row(cells);
        }
    }
    table
}
