//! Layer by layer: what each costs, in rate and in processor time, and whether a queue is why.

use std::collections::HashSet;

use super::{Block, conditions, figure, headline, only, point, signed, title};
use crate::format::{counted, latency, percent, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::layers::{DeviceQueues, LayerStack, LayerStep};

/// Sentences that are read.
const SENTENCES_MAX: usize = 24;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let stacks = &report.findings.layers;
    let mut sentences: Vec<String> =
        stacks.iter().filter(|one| one.best).filter_map(|one| sentence(report, one)).collect();
    sentences.extend(report.findings.queues.iter().filter_map(|one| {
        let stack = stacks.get(one.stack).filter(|stack| stack.best)?;
        let volume = stack.steps.get(one.step)?;
        Some(format!(
            "{}, {}: that a single submission and completion queue is the limit is {}; {}.",
            title(report, &volume.target),
            stack.phase,
            one.verdict,
            one.because
        ))
    }));
    sentences.truncate(SENTENCES_MAX);
    let mut blocks = Vec::new();
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    blocks.extend(only(
        "The same workload on each layer, at the point at which the lowest is fastest. Loss: (layer below − this one) \
         ÷ layer below; negative where it is faster",
        steps(report),
    ));
    blocks.extend(only(
        "What each layer costs the processors, what caches answered or held back, and the hardware queues under it. \
         Processor time is that of this program with its system calls; threads of the kernel are not in it",
        costs(report),
    ));
    blocks.extend(only(
        "Overhead of the highest layer against the lowest, at each point of the sweep",
        overheads(report),
    ));
    blocks
}

/// `read, depth 8`.
pub(crate) fn stack_name(one: &LayerStack) -> String {
    let at = point(&one.settings);
    if at.is_empty() { one.phase.to_owned() } else { format!("{}, {at}", one.phase) }
}

fn sentence(report: &Report, one: &LayerStack) -> Option<String> {
    let (first, last) = (one.steps.first()?, one.steps.last()?);
    let worst = one.steps.iter().skip(1).filter(|step| !step.within_noise);
    let worst = worst.max_by(|a, b| a.loss.unwrap_or(0.0).total_cmp(&b.loss.unwrap_or(0.0)));
    let mut text = format!(
        "{} ({}): {} on {}, {} of it on {}",
        stack_name(one),
        one.group,
        figure(report, first.figure).map(headline)?,
        title(report, &first.target),
        percent(last.share),
        title(report, &last.target),
    );
    match worst.filter(|step| step.loss.is_some_and(|loss| loss > 0.0)) {
        Some(step) => text.push_str(&format!(
            "; {} costs most, {}.",
            title(report, &step.target),
            percent(step.loss.unwrap_or(0.0))
        )),
        None => text.push_str("; no layer is slower than the one below it, beyond the scatter."),
    }
    Some(text)
}

fn lossy(step: &LayerStep) -> Cell {
    match step.loss {
        None => Cell::default(),
        Some(loss) if step.within_noise => Cell::from(format!("{} (scatter)", signed(loss))),
        Some(loss) => Cell::toned(signed(loss), if loss > 0.0 { Tone::Bad } else { Tone::Good }),
    }
}

fn steps(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("workload", Align::Left),
        ("phase", Align::Left),
        ("layer", Align::Left),
        ("rate", Align::Right),
        ("loss", Align::Right),
        ("of the lowest", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for stack in report.findings.layers.iter().filter(|one| one.best) {
        for step in &stack.steps {
            let Some(own) = figure(report, step.figure) else { continue };
            table.row(vec![
                Cell::figure(Some(step.figure)),
                stack.group.as_str().into(),
                stack.phase.into(),
                title(report, &step.target).into(),
                headline(own).into(),
                lossy(step),
                Cell::toned(percent(step.share), Tone::Main),
                conditions(report, own).into(),
            ]);
        }
    }
    table
}

/// `12 devices, 4 queues each`.
fn queues(all: &[DeviceQueues]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let of = |queues: Option<u32>| match queues {
        Some(count) => counted(count.into(), "queue"),
        None => "no queue of its own".to_owned(),
    };
    match all {
        [one] => format!("{}: {}", one.device, of(one.queues)),
        _ if all.iter().all(|one| one.queues == first.queues) => match first.queues {
            Some(_) => format!("{}, {} each", counted(all.len() as u64, "device"), of(first.queues)),
            None => format!("{} without queues of their own", counted(all.len() as u64, "device")),
        },
        _ => {
            let sum: u32 = all.iter().filter_map(|one| one.queues).sum();
            format!("{}, {} in all", counted(all.len() as u64, "device"), counted(sum.into(), "queue"))
        }
    }
}

fn costs(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("phase", Align::Left),
        ("layer", Align::Left),
        ("CPU s/GB", Align::Right),
        ("CPU per I/O", Align::Right),
        ("devices moved", Align::Right),
        ("caches", Align::Right),
        ("carried by", Align::Left),
        ("at the bottom", Align::Left),
    ]);
    let mut shown = HashSet::new();
    for stack in report.findings.layers.iter().filter(|one| one.best) {
        // A layer that carries several stands once.
        for step in stack.steps.iter().filter(|step| shown.insert(step.figure)) {
            let bottom = queues(&step.bottom);
            let top = queues(&step.top);
            table.row(vec![
                Cell::figure(Some(step.figure)),
                stack.phase.into(),
                title(report, &step.target).into(),
                step.cpu_seconds_per_gb.map(|seconds| format!("{seconds:.3}")).unwrap_or_default().into(),
                step.cpu_ns_per_operation.map(|nanos| latency(whole(nanos))).unwrap_or_default().into(),
                step.device_share.map(percent).unwrap_or_default().into(),
                step.cache_share.map(percent).unwrap_or_default().into(),
                top.as_str().into(),
                if bottom == top { Cell::default() } else { bottom.into() },
            ]);
        }
    }
    table
}

fn overheads(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("workload", Align::Left),
        ("at", Align::Left),
        ("lowest", Align::Left),
        ("rate", Align::Right),
        ("highest", Align::Left),
        ("rate", Align::Right),
        ("overhead", Align::Right),
    ]);
    let stacks = &report.findings.layers;
    // A single point stands in the first table.
    let several = |one: &LayerStack| {
        let layers =
            |stack: &LayerStack| stack.steps.iter().map(|step| step.target.clone()).collect::<Vec<_>>();
        let same = |other: &&LayerStack| other.group == one.group && other.phase == one.phase;
        stacks.iter().filter(same).filter(|other| layers(other) == layers(one)).count() > 1
    };
    for stack in stacks.iter().filter(|one| several(one)) {
        let (Some(first), Some(last)) = (stack.steps.first(), stack.steps.last()) else { continue };
        let rate = |step: &LayerStep| figure(report, step.figure).map(headline).unwrap_or_default();
        table.row(vec![
            Cell::from(stack.group.as_str()),
            stack_name(stack).into(),
            title(report, &first.target).into(),
            rate(first).into(),
            title(report, &last.target).into(),
            rate(last).into(),
            Cell::toned(signed(1.0 - last.share), Tone::Main),
        ]);
    }
    table
}
