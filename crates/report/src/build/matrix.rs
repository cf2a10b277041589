//! Jobs as a whole in the words and units of a report.

use analysis::{Contrast, RatioStanding, Steadier, SumColumn, Summary};

use super::findings::{number, setting};
use crate::view::matrix as view;

/// What `found` says of the jobs of a run.
pub(crate) fn matrices(found: &analysis::Matrices) -> view::Matrices {
    view::Matrices {
        systems: found.all.iter().map(matrix).collect(),
        comparisons: found.comparisons.iter().map(comparison).collect(),
        published: found.published.as_ref().map(published),
    }
}

pub(crate) fn matrix(one: &analysis::Matrix) -> view::Matrix {
    let histogram = &one.histogram;
    let bin = |(bin, &launches): (usize, &usize)| {
        let (from, to) = histogram.edges(bin);
        view::RatioBin { from, to, launches }
    };
    view::Matrix {
        figure: number(one.figure),
        group: one.group.clone(),
        target: one.target.clone(),
        settings: one.settings.iter().map(setting).collect(),
        launches_asked: one.asked,
        complete: one.is_complete(),
        partial: one.partial,
        sums: one.sums.as_ref().map(sums),
        ratios: one.ratios.as_ref().map(ratios),
        passes: one.passes.iter().map(pass).collect(),
        tests: one.tests.iter().map(test).collect(),
        launches: one.launches.iter().map(launch).collect(),
        histogram: histogram.counts.iter().enumerate().map(bin).collect(),
    }
}

fn sums(all: &[Summary; 4]) -> view::MatrixSums {
    let over = |one: &Summary| view::OverPasses {
        n: one.n,
        mean: one.mean,
        deviation: (one.n > 1).then_some(one.deviation_sample),
        minimum: one.min,
        maximum: one.max,
    };
    let [real, memory, user, system] = all.each_ref().map(over);
    view::MatrixSums {
        real_seconds: real,
        memory_bytes: memory,
        user_cpu_seconds: user,
        system_cpu_seconds: system,
    }
}

fn ratios(one: &analysis::RatioStatistics) -> view::RatioStatistics {
    view::RatioStatistics {
        n: one.n,
        mean: one.mean,
        deviation: one.deviation,
        range: one.range(),
        minimum: one.min,
        maximum: one.max,
        of_sums: one.of_sums,
        waiting: one.waiting,
        threaded: one.threaded,
    }
}

const fn amounts(one: &analysis::Amounts) -> view::Amounts {
    view::Amounts {
        real_seconds: one.real_seconds,
        memory_bytes: one.memory_bytes,
        user_cpu_seconds: one.user_cpu_seconds,
        system_cpu_seconds: one.system_cpu_seconds,
    }
}

fn pass(one: &analysis::MatrixPass) -> view::MatrixPass {
    let other = |one: &analysis::NotCompleted| view::NotCompleted {
        test: one.test.clone(),
        stream: one.stream,
        round: one.round,
        outcome: one.outcome.clone(),
        message: one.message.clone(),
    };
    view::MatrixPass {
        repetition: one.repetition,
        completed: one.completed,
        not_completed: one.not_completed.iter().map(other).collect(),
        sums: amounts(&one.sums),
        ratios: one.ratios.as_ref().map(ratios),
    }
}

fn test(one: &analysis::TestRatio) -> view::MatrixTest {
    view::MatrixTest {
        test: one.test.clone(),
        kind: one.kind.clone(),
        launches: one.launches,
        means: amounts(&one.amounts),
        ratios: one.ratios.as_ref().map(ratios),
        standing: one.standing().map(RatioStanding::name),
    }
}

fn launch(one: &analysis::LaunchMean) -> view::MatrixLaunch {
    view::MatrixLaunch {
        launch: one.launch,
        test: one.test.clone(),
        kind: one.kind.clone(),
        stream: one.stream,
        round: one.round,
        passes: one.passes,
        means: amounts(&one.amounts),
        ratio: one.ratio,
        standing: one.ratio.map(|ratio| RatioStanding::of(ratio).name()),
    }
}

/// Of two systems of one run, or of two runs.
pub(crate) fn comparison(one: &analysis::MatrixComparison) -> view::MatrixComparison {
    let columns = SumColumn::ALL.iter().zip(&one.columns);
    view::MatrixComparison {
        first: one.first,
        second: one.second,
        pairs: one.pairs,
        unpaired_first: one.unpaired[0],
        unpaired_second: one.unpaired[1],
        complete: one.complete,
        columns: columns.map(|(column, change)| column_change(*column, change)).collect(),
        real: one.real.as_ref().map(time),
        ratio_spread: one.ratio_spread.as_ref().map(spread),
        time_spread: one.time_spread.as_ref().map(spread),
    }
}

fn column_change(column: SumColumn, one: &analysis::ColumnChange) -> view::ColumnChange {
    view::ColumnChange {
        name: column.name(),
        unit: if column == SumColumn::Memory { "bytes" } else { "s" },
        first: one.first,
        second: one.second,
        delta: one.delta,
        share: one.share,
        // Less of it is what a comparison calls faster.
        outcome: match one.over_passes.map(|test| test.outcome) {
            Some(Contrast::Lower) => "less",
            Some(Contrast::Higher) => "more",
            Some(Contrast::NotShown) => "not shown",
            Some(Contrast::TooFew) | None => "too few passes",
        },
        p_value: one.over_passes.and_then(|test| test.p_value),
    }
}

fn time(one: &analysis::TimeChange) -> view::TimeChange {
    view::TimeChange {
        pairs: one.n,
        median: one.median,
        low: one.interval.map(|held| held.low),
        high: one.interval.map(|held| held.high),
        confidence: one.interval.map(|held| held.confidence),
        outcome: match one.outcome {
            Contrast::Lower => "faster",
            Contrast::Higher => "slower",
            Contrast::NotShown => "not shown",
            Contrast::TooFew => "too few values",
        },
    }
}

fn spread(one: &analysis::SpreadChange) -> view::SpreadChange {
    view::SpreadChange {
        first: one.first,
        second: one.second,
        n: one.n,
        ratio: one.ratio,
        low: one.interval.map(|(low, _)| low),
        high: one.interval.map(|(_, high)| high),
        confidence: one.confidence,
        samples: one.samples,
        seed: one.seed,
        more_consistent: match one.steadier {
            Steadier::First => "first",
            Steadier::Second => "second",
            Steadier::NoDifference => "no difference",
            Steadier::TooFew => "too few values",
        },
    }
}

fn published(one: &analysis::PublishedMatrix) -> view::PublishedMatrix {
    let system = |one: &analysis::PublishedSystem| view::PublishedSystem {
        title: one.title.clone(),
        sums: one.sums.iter().map(cell).collect(),
        ratios: one.ratios.iter().map(cell).collect(),
        ratio_of_sums: one.ratio_of_sums,
    };
    let change = |one: &analysis::PublishedChange| view::PublishedChange {
        cell: cell(&one.cell),
        recomputed: one.recomputed,
        share: one.share,
        agrees: one.agrees(),
    };
    view::PublishedMatrix {
        cited: one.cited.clone(),
        systems: one.systems.iter().map(system).collect(),
        changes: one.changes.iter().map(change).collect(),
    }
}

fn cell(one: &analysis::PublishedCell) -> view::PublishedCell {
    view::PublishedCell {
        id: one.id.clone(),
        value: one.value,
        printed: one.printed.clone(),
        doubts: one
            .doubts
            .iter()
            .map(|doubt| format!("{}: {}", doubt.check.name(), doubt.evidence))
            .collect(),
    }
}
