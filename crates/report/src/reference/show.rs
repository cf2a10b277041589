//! One entry of the library in full.

use std::fmt::Write;

use plan::Bytes;
use record::{Library, Misprint, Published, PublishedChart, PublishedClaim, PublishedCommand, Study};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Screen;
use crate::format::table::{width, wrapped};

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

/// The figure, statement, command line, chart or study called `id`, in full; none where the
/// library has none of this name.
#[must_use]
pub fn show(library: &Library, id: &str, screen: Screen) -> Option<String> {
    let entry = Entry::of(library, id)?;
    let (heading, fields) = match &entry {
        Entry::Figure(found) => (found.id.clone(), of_figure(found)),
        Entry::Claim(found) => return Some(claim(found, screen)),
        Entry::Command(found) => (found.id.clone(), json!(found)),
        Entry::Chart(found) => (found.id.clone(), json!(found)),
        Entry::Study(found) => return Some(study(library, found, screen)),
    };
    let misprint = |one: &Misprint| {
        let text = format!("printed {}; read as {}; {}", one.printed, one.reading, one.because);
        (one.sort.name().to_owned(), text)
    };
    let doubts = match &entry {
        Entry::Figure(_) => analysis::audit::audit_published(library),
        _ => Vec::new(),
    };
    let doubts = doubts.iter().filter(|doubt| doubt.concerns == id);
    let doubts =
        doubts.map(|doubt| ("audit".to_owned(), format!("{}: {}", doubt.check.name(), doubt.evidence)));
    let beside = library.misprints_of(id).map(misprint).chain(doubts).collect();
    Some(lines(&heading, &fields, beside, screen))
}

/// As [`show`], as JSON; with what is known to be wrong with it.
#[must_use]
pub fn show_json(library: &Library, id: &str) -> Option<Value> {
    let misprints: Vec<_> = library.misprints_of(id).collect();
    let entry = Entry::of(library, id)?;
    Some(json!({ "schema": "ioproof-reference/1", "entry": entry, "misprints": misprints }))
}

/// What stands first, in this order; all else follows by its name.
const ORDER: &str = "id subtitle study cited authors organisation venue date url caption text purpose section test \
                     summary operation metric printed value as_printed if_binary damaged verbatim assembled_from \
                     intended statistic kind software methodology data_points x_axis y_axis series parameters note";
/// A list that is longer in one line has a line for each of its items.
const ONE_LINE: usize = 90;

/// An entry under `heading`, whose words are not repeated: a line for each field that says something, and for each of
/// `beside`.
fn lines(heading: &str, fields: &Value, beside: Vec<(String, String)>, screen: Screen) -> String {
    let is_new = |text: &str| !text.is_empty() && heading.split("  ").all(|part| part != text);
    let mut all: Vec<(String, String)> = Vec::new();
    let mut verbatim = String::new();
    for (key, value) in in_order(fields) {
        let text = words(key, value);
        match value {
            // Command lines stay whole, to be copied.
            Value::String(text) if matches!(key.as_str(), "verbatim" | "intended") => {
                let _ = writeln!(verbatim, "  {}:\n    {}", label(key), text.replace('\n', "\n    "));
            }
            Value::Array(items) if text.len() > ONE_LINE => {
                let name = |place| if place == 0 { label(key) } else { String::new() };
                all.extend(items.iter().enumerate().map(|(place, one)| (name(place), words(key, one))));
            }
            _ if is_new(&text) => all.push((label(key), text)),
            _ => {}
        }
    }
    all.extend(beside);
    let names = all.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let line =
        |(name, text): &(String, String)| wrapped(&format!("  {name:<names$}  "), text, screen.columns());
    let all: String = all.iter().map(line).collect();
    format!("{heading}\n{all}{verbatim}")
}

/// The fields of an object, those of [`ORDER`] first.
fn in_order(fields: &Value) -> Vec<(&String, &Value)> {
    let place = |key: &str| ORDER.split_whitespace().position(|one| one == key).unwrap_or(usize::MAX);
    let mut all: Vec<_> = fields.as_object().into_iter().flatten().collect();
    all.sort_by_key(|(key, _)| place(key));
    all
}

/// The name of a field, in words.
fn label(key: &str) -> String {
    match key {
        "text" => "says".to_owned(),
        "check" => "test".to_owned(),
        "on_published" => "own figures".to_owned(),
        "verbatim" => "as printed".to_owned(),
        "intended" => "as meant".to_owned(),
        "parameters" => "conditions".to_owned(),
        "cited" => "published in".to_owned(),
        _ => key.trim_end_matches("_bytes").replace('_', " "),
    }
}

/// A value in words; empty where nothing is said.
fn words(key: &str, value: &Value) -> String {
    let join = |texts: Vec<String>, between| {
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(between)
    };
    match value {
        Value::Null => String::new(),
        Value::Bool(holds) => if *holds { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => match number.as_u64().filter(|_| key.ends_with("_bytes")) {
            Some(bytes) => Bytes(bytes).to_string(),
            None => number.to_string(),
        },
        Value::String(text) => text.clone(),
        Value::Array(all) => join(all.iter().map(|one| words(key, one)).collect(), ", "),
        Value::Object(_) => {
            let field = |(key, value): (&String, &Value)| match (words(key, value), value) {
                (text, _) if text.is_empty() => text,
                (text, _) if key == "more" => text,
                (text, Value::Object(_)) => format!("{} ({text})", label(key)),
                (text, _) => format!("{}: {text}", label(key)),
            };
            join(in_order(value).into_iter().map(field).collect(), "; ")
        }
    }
}

/// The fields of `figure`, with units, sign and precision in its values.
fn of_figure(figure: &Published) -> Value {
    let mut fields = json!(figure);
    let qualifier = figure.qualifier.map(|one| format!(", {}", one.name().replace('_', " ")));
    let in_unit = |value: f64| format!("{} ({value} {})", figure.unit.text(value), figure.unit);
    fields["printed"] = figure.as_published().into();
    fields["value"] =
        format!("{} ({} {}{})", figure.text(), figure.value, figure.unit, qualifier.unwrap_or_default())
            .into();
    fields["as_printed"] = figure.misprint.and_then(|slip| slip.printed_value).map(in_unit).into();
    fields["if_binary"] =
        figure.value_if_binary.map(|binary| in_unit(binary) + ", if its MB or GB is a MiB or GiB").into();
    fields["damaged"] = figure.damaged.then_some("by text recognition").into();
    for shown in ["unit", "printed_unit", "qualifier", "misprint", "value_if_binary"] {
        fields[shown] = Value::Null;
    }
    fields
}

/// The conditions that most tables have a column for, in short: `132 tasks, 16 MiB, NVMe`.
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

/// A statement.
pub(super) fn claim(claim: &PublishedClaim, screen: Screen) -> String {
    lines(&claim.id, &json!(claim), Vec::new(), screen)
}

/// A study.
pub(super) fn study(library: &Library, study: &Study, screen: Screen) -> String {
    let figures = library.figures.iter().filter(|one| one.study == study.id).count();
    let claims = library.claims.iter().filter(|one| one.study == study.id).count();
    let count = format!("{figures} figures, {claims} statements");
    let heading = format!("{}  {}", study.letter, study.title);
    lines(&heading, &json!(study), vec![("library".to_owned(), count)], screen)
}
