//! Layouts: the commands as executed, what was read back, and the devices.

use plan::Bytes;
use record::{BlockDeviceFacts, CommandRun, Fact, LayoutFinding};

use super::block::Block;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{counted, decimal_bytes, duration, grouped};
use crate::report::Report;
use crate::report::layouts::LayoutInfo;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    report.layouts.iter().flat_map(of_one).collect()
}

fn of_one(one: &LayoutInfo) -> Vec<Block> {
    let mut head = one.title.clone();
    if !one.stands_for.is_empty() {
        head.push_str(&format!(" (stands for {})", one.stands_for));
    }
    let place = format!("layout-{}", one.name);
    let mut blocks = vec![Block::Heading { place, text: head }, Block::Text(summary(one))];
    blocks.push(table("Commands as they were run", commands(&one.created)));
    let differing: Vec<String> =
        one.findings.iter().filter(|one| one.differs()).map(ToString::to_string).collect();
    if !differing.is_empty() {
        blocks.push(Block::Text("Not as requested:".to_owned()));
        blocks.push(Block::List(differing));
    }
    if !one.findings.is_empty() {
        blocks.push(table("Read back while it existed", findings(&one.findings)));
    }
    if !one.devices.is_empty() {
        blocks.push(table("Devices under it", devices(&one.devices)));
    }
    blocks
}

fn table(caption: &str, table: Table) -> Block {
    Block::Table { caption: caption.to_owned(), table: table.without_empty_columns() }
}

/// `md over 12 devices: /dev/nvme0n1, …; dismantled by 15 commands in 1.2 s.`
fn summary(one: &LayoutInfo) -> String {
    let mut text = format!("Layout {}, recipe {}", one.name, one.recipe);
    if !one.members.is_empty() {
        let count = counted(one.members.len() as u64, "device");
        text.push_str(&format!(" over {count}: {}", one.members.join(", ")));
    }
    text.push_str(&format!(
        "; {} in {}",
        counted(one.created.len() as u64, "command"),
        seconds(&one.created)
    ));
    text.push_str(&match one.state {
        "dismantled" => {
            let count = counted(one.destroyed.len() as u64, "command");
            format!("; dismantled by {count} in {}.", seconds(&one.destroyed))
        }
        "not made" => format!("; it could not be made: {}", one.error),
        "left" => format!("; it could not be dismantled: {} `ioproof layout clean` tries again.", one.error),
        _ => "; the run was killed while it stood: `ioproof layout clean` dismantles it.".to_owned(),
    });
    text
}

/// The commands; of consecutive calls of one program with the same result only the first and the last.
fn commands(all: &[CommandRun]) -> Table {
    let program = |run: &CommandRun| run.command.split_whitespace().next().unwrap_or_default().to_owned();
    let alike = |one: &CommandRun, next: &CommandRun| {
        (program(one), &one.printed, &one.status) == (program(next), &next.printed, &next.status)
    };
    let rows = all.chunk_by(alike).flat_map(|group| match group {
        [first, middle @ .., last] if middle.len() > 1 => {
            let more = format!("… {} more like these", middle.len());
            vec![command(first), (more, None, Cell::default(), seconds(middle)), command(last)]
        }
        some => some.iter().map(command).collect(),
    });
    Table::of(rows)
        .left("command", |(command, ..)| command.clone())
        .left("where it is from", |(_, printed, ..)| printed.clone())
        .left("ended", |(_, _, ended, _)| ended.clone())
        .right("took", |(.., took)| took.clone())
        .done()
}

/// A command, its source, how it ended, and how long it took.
fn command(run: &CommandRun) -> (String, Option<String>, Cell, String) {
    let ended = match run.succeeded() {
        true => Cell::from("well"),
        false => Cell::toned(run.status.to_string(), Tone::Doubtful),
    };
    (run.command.clone(), run.printed.clone(), ended, seconds(std::slice::from_ref(run)))
}

fn seconds(runs: &[CommandRun]) -> String {
    duration(runs.iter().map(|run| run.took_ns as f64 / 1e9).sum())
}

fn findings(all: &[LayoutFinding]) -> Table {
    // Allows a line break between mount options.
    let parted = |text: &String| text.replace(',', ", ");
    let tone = |one: &LayoutFinding| if one.differs() { Tone::Doubtful } else { Tone::Plain };
    Table::of(all)
        .left("of", |one| one.subject.clone())
        .left("what", |one| one.property.clone())
        .left("wanted", |one| one.wanted.as_ref().map(parted))
        .left("found", |one| Cell::toned(known(&one.found, parted), tone(one)))
        .left("read from", |one| one.source.clone())
        .done()
}

fn devices(all: &[BlockDeviceFacts]) -> Table {
    // Empty if unknown, so that the column is dropped for virtual devices.
    let or_empty = |fact: &Fact<String>| fact.known().map(|text| text.trim().to_owned());
    let count = |fact: &Fact<u32>| known(fact, |&count| grouped(count.into()));
    Table::of(all)
        .left("device", |one| one.name.clone())
        .left("model", |one| or_empty(&one.model))
        .left("serial number", |one| or_empty(&one.serial))
        .right("size", |one| decimal_bytes(one.size_bytes))
        .left("scheduler", |one| known(&one.scheduler, Clone::clone))
        .right("hardware queues", |one| count(&one.hardware_queues))
        .right("requests in a queue", |one| count(&one.queue_requests))
        .right("read-ahead", |one| known(&one.read_ahead_bytes, |&bytes| Bytes(bytes).to_string()))
        .done()
}

fn known<T>(fact: &Fact<T>, text: impl Fn(&T) -> String) -> String {
    match fact {
        Fact::Known(value) => text(value),
        Fact::Unknown(_) => "unknown".to_owned(),
    }
}
