//! Jobs over time in the words and units of a report.

use plan::Phase;
use record::{LaunchRow, PhaseKey, Run, StepRow};

use super::findings::number;
use crate::view::findings::Findings;
use crate::view::timeline as view;
use crate::view::timeline::BySpace;

/// The outcome of a launch that did all it should.
const COMPLETE: &str = "complete";

/// Fills in what `found` says of jobs over time.
pub(super) fn fill(findings: &mut Findings, found: &analysis::Findings) {
    findings.timelines = found.timelines.iter().map(timeline).collect();
    findings.job_placings = found.job_placings.iter().map(placing).collect();
}

fn timeline(one: &analysis::Timeline) -> view::Timeline {
    let concurrency = &one.concurrency;
    let running = |one: &analysis::Running| view::Running { at_ns: one.at_ns, running: one.running };
    let second = |one: &analysis::ProfileSecond| view::ProfileSecond {
        start_ns: one.start_ns,
        length_ns: one.length_ns,
        read_bytes: BySpace::of(one.read_bytes),
        write_bytes: BySpace::of(one.write_bytes),
    };
    view::Timeline {
        figure: number(one.figure),
        repetition: one.repetition,
        counts: one.counts,
        launches: concurrency.launches,
        complete: concurrency.complete,
        elapsed_ns: concurrency.elapsed_ns,
        real_ns: concurrency.real_ns,
        mean_running: concurrency.mean,
        most_running: concurrency.most,
        running: concurrency.changes.iter().map(running).collect(),
        lengths: one.lengths.as_ref().map(lengths),
        profile: one.profile.seconds.iter().map(second).collect(),
        levels: one.profile.levels.as_ref().map(levels),
        spaces: one.spaces.iter().map(space).collect(),
        actions: one.actions.iter().map(action).collect(),
        moved: moved(&one.moved),
        device_share: one.device_share,
        harness: view::Harness {
            cpu_ns: one.harness.cpu_ns,
            core_share: one.harness.core_share,
            start_median_ns: one.harness.start_median_ns,
            start_longest_ns: one.harness.start_longest_ns,
        },
        published_values: one.published.iter().map(beside).collect(),
        timers: one.launches.iter().map(launch).collect(),
    }
}

fn lengths(one: &analysis::Lengths) -> view::Lengths {
    let bin = |one: &analysis::LengthBin| view::LengthBin {
        from_seconds: one.from_seconds,
        to_seconds: one.to_seconds,
        count: one.count,
    };
    view::Lengths {
        n: one.n,
        shortest_seconds: one.shortest_seconds,
        median_seconds: one.median_seconds,
        mean_seconds: one.mean_seconds,
        longest_seconds: one.longest_seconds,
        bins: one.bins.iter().map(bin).collect(),
    }
}

fn levels(one: &analysis::Levels) -> view::Levels {
    let level = |one: analysis::Level| view::Level {
        from_seconds: one.from_seconds,
        to_seconds: one.to_seconds,
        bytes_per_second: one.bytes_per_second,
    };
    let climb = |one: analysis::Climb| view::Climb {
        from_seconds: one.from_seconds,
        to_seconds: one.to_seconds,
        from_bytes_per_second: one.from_bytes_per_second,
        bytes_per_second: one.bytes_per_second,
        slope_bytes_per_second: one.slope,
        r_squared: one.r_squared,
    };
    view::Levels {
        active: one.active,
        start: level(one.start),
        climb: one.climb.map(climb),
        peak: level(one.peak),
        end: level(one.end),
        highest_bytes_per_second: one.highest_bytes_per_second,
        mean_bytes_per_second: one.mean_bytes_per_second,
    }
}

fn space(one: &analysis::SpaceUse) -> view::SpaceUse {
    view::SpaceUse {
        space: one.space.name(),
        directory: one.directory.clone(),
        read_bytes: one.read_bytes,
        write_bytes: one.write_bytes,
        read_share: one.read_share,
        peak_bytes: one.peak_bytes,
        held_at_most_bytes: one.held_at_most_bytes,
        size_bytes: one.size_bytes,
        free_first_bytes: one.free_first_bytes,
        free_least_bytes: one.free_least_bytes,
        free_last_bytes: one.free_last_bytes,
        free_limit_bytes: one.free_limit_bytes,
        low: one.low,
    }
}

fn action(one: &analysis::ActionUse) -> view::ActionUse {
    view::ActionUse {
        action: one.action.clone(),
        steps: one.steps,
        real_ns: one.real_ns,
        cpu_ns: one.cpu_ns,
        input_bytes: one.input_bytes,
        read_bytes: one.read_bytes,
        write_bytes: one.write_bytes,
        copies: one.copies,
        bytes_per_second: one.bytes_per_second,
    }
}

fn moved(one: &analysis::Moved) -> view::Moved {
    let kind = |one: &analysis::KindMoved| view::KindMoved {
        kind: one.kind.name(),
        tests: one.tests,
        launches: one.launches,
        instance_input_bytes: one.instance_input_bytes,
        full_scale_input_bytes: one.full_scale_input_bytes,
        read_bytes: one.read_bytes,
        write_bytes: one.write_bytes,
    };
    view::Moved {
        read_bytes: one.read_bytes,
        write_bytes: one.write_bytes,
        input_bytes: one.input_bytes,
        read_multiple: one.read_multiple,
        write_multiple: one.write_multiple,
        kinds: one.kinds.iter().map(kind).collect(),
    }
}

fn beside(one: &analysis::JobsBeside) -> view::JobsBeside {
    view::JobsBeside {
        what: one.what,
        id: one.id.clone(),
        unit: one.unit,
        own: one.own,
        value: one.published,
        as_published: one.as_published.clone(),
        ratio: one.ratio,
    }
}

fn timer(one: &analysis::Timer) -> view::Timer {
    view::Timer {
        start_ns: one.start_ns,
        real_ns: one.real_ns,
        user_cpu_ns: one.user_ns,
        system_cpu_ns: one.system_ns,
        memory_bytes: one.memory_bytes,
        block_input_bytes: one.block_input_bytes,
        block_output_bytes: one.block_output_bytes,
        voluntary_switches: one.voluntary_switches,
        involuntary_switches: one.involuntary_switches,
        read_bytes: BySpace::of(one.read_bytes),
        write_bytes: BySpace::of(one.write_bytes),
    }
}

fn launch(one: &analysis::LaunchTimer) -> view::LaunchTimer {
    let step = |one: &analysis::StepTimer| view::StepTimer {
        step: one.step,
        action: one.action.clone(),
        threads: one.threads,
        rows_in: one.rows_in,
        rows_out: one.rows_out,
        timer: timer(&one.timer),
    };
    view::LaunchTimer {
        launch: one.launch,
        test: one.test.clone(),
        kind: one.kind.clone(),
        stream: one.stream,
        round: one.round,
        outcome: one.outcome.clone(),
        message: one.message.clone(),
        start_cost_ns: one.start_cost_ns,
        timer: timer(&one.timer),
        peak_bytes: BySpace::of(one.peak_bytes),
        steps: one.steps.iter().map(step).collect(),
        steps_cpu_ns: one.cpu.steps_ns,
        group_cpu_ns: one.cpu.group_ns,
        cpu_agrees: one.cpu.agrees,
    }
}

/// The launches of passes that count for nothing.
pub(super) fn interrupted(run: &Run) -> Vec<view::InterruptedPass> {
    let pass = |one: &record::InterruptedPass| {
        let mut launches: Vec<&LaunchRow> = one.launches.iter().collect();
        launches.sort_by_key(|row| row.launch);
        let steps: Vec<&StepRow> = one.steps.iter().collect();
        view::InterruptedPass {
            case: one.key.case.to_string(),
            phase: one.key.phase.name(),
            repetition: one.key.repetition,
            attempt: one.attempt,
            planned: planned(run, &one.key).unwrap_or(launches.len() as u64),
            complete: launches.iter().filter(|row| row.outcome == COMPLETE).count(),
            launches: analysis::launch_timers(&launches, &steps).iter().map(launch).collect(),
        }
    };
    run.interrupted.iter().map(pass).collect()
}

/// How many launches a pass has by the plan.
fn planned(run: &Run, key: &PhaseKey) -> Option<u64> {
    let case = run.manifest.plan.cases.iter().find(|case| *case.id == *key.case)?;
    let jobs = case.workload.work.jobs()?;
    Some(match key.phase {
        Phase::Load => jobs.tables.iter().map(|table| u64::from(jobs.replicas(&table.name))).sum(),
        _ => jobs.launch_count(),
    })
}

fn placing(one: &analysis::JobPlacing) -> view::JobPlacing {
    let share = |one: &analysis::SpaceShare| view::SpaceShare {
        space: one.space.name(),
        read_share: one.read_share,
        bytes: one.bytes,
        scan_bytes_per_second: one.rates.0,
        generate_bytes_per_second: one.rates.1,
    };
    let rates_of = |of: &analysis::RatesOf| match of {
        analysis::RatesOf::Transfers(read, write) => {
            format!("figures {} and {}, large transfers", number(*read), number(*write))
        }
        analysis::RatesOf::Steps(scans, generates) => {
            format!("medians of {scans} scan and {generates} generate steps, beside other jobs")
        }
    };
    let rates = one.says();
    let withheld = one.rates.as_ref().filter(|_| rates.is_none());
    view::JobPlacing {
        figure: number(one.figure),
        target: one.target.clone(),
        read_bytes_per_second: rates.map(|rates| rates.read),
        write_bytes_per_second: rates.map(|rates| rates.write),
        rates_of: rates.map(|rates| rates_of(&rates.of)).unwrap_or_default(),
        ratio: rates.map(analysis::ReadWriteRates::ratio),
        for_reads: rates.is_some_and(analysis::ReadWriteRates::for_reads),
        withheld: withheld.map(|rates| crate::statements::reasons(&rates.reasons)),
        shares: one.spaces.iter().map(share).collect(),
    }
}
