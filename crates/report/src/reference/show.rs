//! One entry of the library in full.

use std::fmt::Write;

use plan::Bytes;
use record::{Details, Library, Published, PublishedChart, PublishedClaim, PublishedCommand, Study};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Screen;
use crate::format::percent;

/// Width of the names before the texts.
const NAMES: usize = 12;

/// An entry of the library.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Entry<'l> {
    Figure(&'l Published),
    Claim(&'l PublishedClaim),
    Command(&'l PublishedCommand),
    Chart(&'l PublishedChart),
    Study(&'l Study),
}

impl<'l> Entry<'l> {
    fn of(library: &'l Library, id: &str) -> Option<Self> {
        let figure = || library.figure(id).map(Self::Figure);
        let claim = || library.claim(id).map(Self::Claim);
        let command = || library.command(id).map(Self::Command);
        let chart = || library.chart(id).map(Self::Chart);
        figure().or_else(claim).or_else(command).or_else(chart).or_else(|| library.study(id).map(Self::Study))
    }
}

/// The figure, statement, command line, chart or study named `id`, in full. Returns `None` if the
/// library has no such entry.
#[must_use]
pub fn show(library: &Library, id: &str, screen: Screen) -> Option<String> {
    let text = match Entry::of(library, id)? {
        Entry::Figure(found) => of_figure(library, found),
        Entry::Claim(found) => claim(found),
        Entry::Command(found) => command(library, found),
        Entry::Chart(found) => chart(library, found),
        Entry::Study(found) => study(library, found),
    };
    // Command lines are not folded, so that they can be copied.
    let fold = |line: &str| if line.starts_with("    ") { line.to_owned() } else { screen.folded(line) };
    Some(text.split_inclusive('\n').map(fold).collect())
}

/// The same as [`show`], as JSON, with the known errors of the entry.
#[must_use]
pub fn show_json(library: &Library, id: &str) -> Option<Value> {
    let misprints: Vec<_> = library.misprints_of(id).collect();
    let entry = Entry::of(library, id)?;
    Some(json!({ "schema": "ioproof-reference/1", "entry": entry, "misprints": misprints }))
}

fn line(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "  {name:<NAMES$}  {}", text.replace('\n', " "));
    }
}

fn optional(out: &mut String, name: &str, text: Option<&str>) {
    line(out, name, text.unwrap_or_default());
}

fn of_figure(library: &Library, figure: &Published) -> String {
    let mut out = format!("{}\n", figure.id);
    let qualifier = figure.qualifier.map(|one| format!(", {}", one.name().replace('_', " ")));
    line(&mut out, "study", &figure.cited);
    line(&mut out, "section", &figure.section);
    line(&mut out, "test", &figure.test);
    line(&mut out, "what", &format!("{} {}", figure.operation, figure.metric));
    line(&mut out, "printed", &figure.as_published());
    line(
        &mut out,
        "value",
        &format!("{} ({} {}{})", figure.text(), figure.value, figure.unit, qualifier.unwrap_or_default()),
    );
    if let Some(printed) = figure.misprint.and_then(|slip| slip.printed_value) {
        line(&mut out, "as printed", &format!("{} ({printed} {})", figure.unit.text(printed), figure.unit));
    }
    let binary = figure.value_if_binary.map(|binary| {
        format!("{} ({binary} {}), if its MB or GB is a MiB or GiB", figure.unit.text(binary), figure.unit)
    });
    optional(&mut out, "if binary", binary.as_deref());
    line(&mut out, "statistic", &format!("{}, {}", figure.statistic, figure.kind));
    if figure.damaged {
        line(&mut out, "damaged", "by text recognition");
    }
    line(&mut out, "conditions", &all_conditions(figure));
    optional(
        &mut out,
        "caches",
        figure.cache_share().map(|share| format!("{} of the working set", percent(share))).as_deref(),
    );
    line(&mut out, "caution", &figure.caution);
    optional(&mut out, "note", figure.note.as_deref());
    wrong(&mut out, library, &figure.id);
    for doubt in analysis::audit::audit_published(library).iter().filter(|doubt| doubt.concerns == figure.id)
    {
        line(&mut out, "audit", &format!("{}: {}", doubt.check.name(), doubt.evidence));
    }
    out
}

fn wrong(out: &mut String, library: &Library, id: &str) {
    for one in library.misprints_of(id) {
        let text = format!("printed {}; read as {}; {}", one.printed, one.reading, one.because);
        line(out, one.sort.name(), &text);
    }
}

/// A short form of the conditions that have a column in most tables: `132 tasks, 16 MiB, NVMe`.
pub(super) fn conditions(figure: &Published) -> String {
    let parameters = &figure.parameters;
    let parts = [
        parameters.layer.clone(),
        parameters.tasks.map(|tasks| format!("{tasks} tasks")),
        parameters.transfer_bytes.map(|bytes| Bytes(bytes).to_string()),
        parameters.queue_depth.map(|depth| format!("depth {depth}")),
        parameters.read_percent.map(|percent| format!("{percent} % reads")),
        parameters.nodes.filter(|&nodes| nodes > 1).map(|nodes| format!("{nodes} nodes")),
        parameters.layout.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn all_conditions(figure: &Published) -> String {
    let parameters = &figure.parameters;
    let flag = |value: Option<bool>, yes: &str, no: &str| {
        value.map(|value| if value { yes.to_owned() } else { no.to_owned() })
    };
    let number = |value: Option<u32>, name: &str| value.map(|value| format!("{value} {name}"));
    let size = |value: Option<u64>, name: &str| value.map(|value| format!("{} {name}", Bytes(value)));
    let parts = [
        parameters.tool.clone(),
        parameters.api.clone(),
        flag(parameters.direct, "direct", "buffered"),
        flag(parameters.fsync, "fsync at the end", "no fsync"),
        flag(parameters.file_per_process, "a file for each task", "one shared file"),
        flag(parameters.reorder_tasks, "another task's data read", "own data read"),
        flag(parameters.random, "random", "sequential"),
        parameters.access.clone(),
        size(parameters.transfer_bytes, "transfers"),
        size(parameters.block_bytes, "blocks"),
        parameters.segments.map(|segments| format!("{segments} segments")),
        size(parameters.file_bytes, "files"),
        number(parameters.tasks, parameters.tasks_called.as_deref().unwrap_or("tasks")),
        number(parameters.tasks_per_node, "per node"),
        number(parameters.nodes, "nodes"),
        number(parameters.devices, "devices"),
        number(parameters.queue_depth, "queue depth"),
        parameters.read_percent.map(|percent| format!("{percent} % reads")),
        parameters.layer.clone(),
        parameters.layout.clone(),
        parameters.file_system.clone(),
    ];
    let inferred = parameters.inferred.iter().map(|name| format!("{name} implied, not printed"));
    let more = parameters.more.iter().map(|(name, value)| format!("{}: {value}", name.replace('_', " ")));
    parts.into_iter().flatten().chain(inferred).chain(more).collect::<Vec<_>>().join("; ")
}

/// A statement.
pub(super) fn claim(claim: &PublishedClaim) -> String {
    let mut out = format!("{}\n", claim.id);
    line(&mut out, "says", &claim.text);
    line(&mut out, "test", &claim.check);
    line(&mut out, "own figures", &claim.on_published);
    out
}

fn command(library: &Library, command: &PublishedCommand) -> String {
    let mut out = format!("{}\n", command.id);
    line(&mut out, "for", &command.purpose);
    let verbatim = |out: &mut String, name: &str, text: &str| {
        let _ = writeln!(out, "  {name}:");
        for one in text.lines() {
            let _ = writeln!(out, "    {one}");
        }
    };
    if let Some(text) = &command.verbatim {
        verbatim(&mut out, "as printed", text);
    }
    optional(&mut out, "made from", command.assembled_from.as_deref());
    verbatim(&mut out, "as meant", &command.intended);
    optional(&mut out, "note", command.note.as_deref());
    wrong(&mut out, library, &command.id);
    out
}

fn chart(library: &Library, chart: &PublishedChart) -> String {
    let mut out = format!("{}\n", chart.id);
    line(&mut out, "caption", &chart.caption);
    optional(&mut out, "kind", chart.kind.as_deref());
    optional(&mut out, "test", chart.test.as_deref());
    optional(&mut out, "layout", chart.layout.as_deref());
    line(&mut out, "points", &chart.data_points);
    optional(&mut out, "x axis", chart.x_axis.as_deref());
    optional(&mut out, "y axis", chart.y_axis.as_deref());
    line(&mut out, "series", &chart.series.join("; "));
    line(&mut out, "panels", &chart.panels.join("; "));
    optional(&mut out, "not said", chart.panels_not_stated.as_deref());
    optional(&mut out, "readable", chart.readable.as_deref());
    wrong(&mut out, library, &chart.id);
    out
}

/// A study.
pub(super) fn study(library: &Library, study: &Study) -> String {
    let mut out = format!("{}  {}\n", study.letter, study.title);
    let figures = library.figures.iter().filter(|one| one.study == study.id).count();
    let claims = library.claims.iter().filter(|one| one.study == study.id).count();
    line(&mut out, "id", &study.id);
    optional(&mut out, "subtitle", study.subtitle.as_deref());
    line(&mut out, "authors", &study.authors.join(", "));
    line(&mut out, "published by", &study.organisation);
    optional(&mut out, "venue", study.venue.as_deref());
    line(&mut out, "date", &study.date);
    optional(&mut out, "url", study.url.as_deref());
    line(&mut out, "measured", &study.summary);
    line(&mut out, "software", &study.software.join("; "));
    for (index, point) in study.methodology.iter().enumerate() {
        line(&mut out, if index == 0 { "method" } else { "" }, point);
    }
    line(&mut out, "machines", &details(&study.hardware));
    line(&mut out, "protocol", &details(&study.protocol));
    optional(&mut out, "units", study.unit_remark.as_deref());
    line(&mut out, "library", &format!("{figures} figures, {claims} statements"));
    out
}

fn details(details: &Details) -> String {
    let parts = details.iter().map(|(name, value)| format!("{}: {value}", name.replace('_', " ")));
    parts.collect::<Vec<_>>().join("; ")
}
