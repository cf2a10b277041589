//! The values of the page's template.

use crate::report::figure::role;
use crate::report::object::object;
use crate::report::{DOUBT, Definition};
use analysis::{
    RateName,
    audit::AuditIssue,
    figures::{DeviceMean, RepetitionFigure},
    nodes::device_spread,
};
use std::collections::HashSet;

use analysis::figures::ShownIn;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};
use plan::Bytes;
use record::Run;
use serde_json::{Value, json};

use super::charts::{self, Chart};
use super::section;
use crate::format::BYTES_PER_SECOND;
use crate::format::escape;
use crate::format::table::Table;
use crate::format::{column_unit, compact_rate, counted, decimal_bytes, grouped, megabytes, number, percent};
use crate::inventory::beside;
use crate::inventory::tables::{devices as block_devices, file_systems, queues};
use crate::report::Report;
use crate::report::causes::Cause;
use crate::report::figure::Figure;
use crate::report::latencies;
use crate::report::origin;
use crate::report::run_info::CaseInfo;
use crate::section::Second;
use crate::section::chosen::Chosen;
use crate::section::{
    Block, Extent, Section, all_caveats, conditions, headline, in_published_form, only, rates, sections,
    signed,
};
use crate::summary::card::Card;
use crate::summary::{cross_check, sheet};

/// Maximum number of causes of doubt on the first screen; the full list is collapsed.
const CAUSES_SHOWN: usize = 6;
/// Maximum number of rows of a card that is placed before the chart; a longer card follows it.
const ROWS_BEFORE: usize = 12;
/// Maximum number of targets named in a table.
const TARGETS_NAMED: usize = 3;

/// The page up to the scripts.
///
/// # Errors
/// The template is invalid, which a test would have found.
pub(crate) fn page(run: &Run, report: &Report, second: Option<&Second>) -> Result<String, minijinja::Error> {
    let chosen = Chosen::of(report);
    let shown = chosen.figures(report);
    let mut overview = charts::overview(report);
    let mut of_figures: Vec<Option<Chart>> =
        shown.iter().map(|figure| charts::of_figure(run, figure)).collect();
    let mut of_sections = charts::of_study(report, second.map(|second| &second.report));
    let compared = second.map(|second| (&second.report, second.comparisons.as_slice()));
    let mut pictures = charts::pictures(report, compared, &mut of_sections, &mut overview);
    let each = of_figures.iter_mut().flatten();
    let mut each: Vec<&mut Chart> =
        of_sections.iter_mut().chain(&mut pictures).chain(&mut overview).chain(each).collect();
    let marks = [("before", Some(report)), ("after", second.map(|second| &second.report))];
    let marks = marks.into_iter().filter_map(|(side, one)| Some((side, one?.run.mark.as_ref()?)));
    let marks: Vec<String> = match second {
        None => marks.map(|(_, mark)| mark.clone()).collect(),
        Some(_) => marks.map(|(side, mark)| format!("{side}: {mark}")).collect(),
    };
    let mark = (!marks.is_empty()).then(|| marks.join(", "));
    if let Some(mark) = &mark {
        each.iter_mut().for_each(|chart| chart.mark(mark));
    }
    Chart::number(each);
    let all = of_sections.iter().chain(&pictures).chain(&overview);
    let all: Vec<&Chart> = all.chain(of_figures.iter().flatten()).collect();
    let linked = chosen.numbers.iter().copied().collect();
    let card = Card::of(report);
    let mut sections = sections(report, Extent::Limited);
    let others = card.others(report);
    if !others.is_empty() {
        sections.push(Section {
            id: "all-figures",
            title: "All figures",
            before_figures: true,
            blocks: others,
        });
    }
    sections.extend(rates(report, false));
    sections.extend(sheet::section(run, report));
    sections.extend(second.map(|second| second.changed.clone()));
    let value = |one: &Section| section::value(one, &of_sections, &linked);
    let (first, results): (Vec<Block>, Vec<Block>) = match second {
        Some(second) => (second.answer.clone(), Vec::new()),
        None if card.has_all_figures || !report.found.target_contrasts.is_empty() => {
            let rivals = cross_check::table(run, report).map(|table| only("", table)).unwrap_or_default();
            (rivals.into_iter().chain(card.blocks().cloned()).collect(), Vec::new())
        }
        None => {
            (card.judged.clone(), card.results.iter().cloned().chain(in_published_form(report)).collect())
        }
    };
    let long = first.iter().any(|block| block.rows() > ROWS_BEFORE);
    let card_block = |block: &Block| ranged(report, section::block_value(block, &[], &linked));
    let figures: Vec<Value> = shown
        .iter()
        .zip(&of_figures)
        .map(|(figure, charts)| figure_value(report, figure, charts.as_slice()))
        .collect();
    // In a comparison, the rows themselves contain the doubts about either run.
    let causes = if second.is_some() { &[] } else { card.causes.as_slice() };
    let (observed, causes): (Vec<&Cause>, Vec<&Cause>) = causes.iter().partition(|one| one.is_observation());
    let observed: Vec<String> = observed.iter().map(|one| one.named(report.figures.len())).collect();
    let mut context = json!({
        "css": include_str!("page.css"),
        "run": report.run,
        "title": title(report, second),
        "mark": mark.map(|mark| match second {
            None => format!("{mark}, not measured"),
            Some(_) => mark,
        }),
        "facts": facts(report, &card, second),
        "doubtful": doubtful(report).filter(|_| second.is_none()),
        "first": first.iter().map(card_block).collect::<Value>(),
        "results": results.iter().map(card_block).collect::<Value>(),
        "causes": causes.iter().take(CAUSES_SHOWN).map(|one| cause(report, one)).collect::<Value>(),
        "more_causes": causes.len().saturating_sub(CAUSES_SHOWN),
        "observed": observed.join("; "),
        "undoubted": second.is_none() && causes.is_empty() && !report.figures.is_empty(),
        "chart_first": long && !pictures.is_empty(),
        "pictures": captions(&pictures),
        "parts": parts(&sections, second.is_some(), value),
        "nodes": origin::nodes_line(report),
        "simulated": origin::is_simulated(report),
        "missing": report.missing,
        "figures": figures,
        "notes": report.notes,
        "overview": captions(&overview),
        "plan": plan(report),
        "storage": storage(report),
        "charts": escape::chart_json(raw(&all)),
        "hovers": hovers(report, &all),
    });
    // Only words that occur on the page are explained.
    let text = context.to_string();
    let occurs = |one: &&Definition| one.name.split(", ").any(|word| text.contains(word));
    context["definitions"] = raw(&report.definitions.iter().filter(occurs).collect::<Vec<_>>());
    render(include_str!("page.html"), context)
}

/// The parts of the page in reading order: id, title and the ids of sections. Other sections are in the last part.
const PARTS: [(&str, &str, &[&str]); 10] = [
    ("changed", "What changed, figure by figure", &["comparison"]),
    (
        "promises",
        "Commitments and statements",
        &["summary", "scores", "claims", "expected", "cost", "sheets"],
    ),
    (
        "figures",
        "Figures",
        &["all-figures", "single", "metadata", "exchanges", "rates", "latencies", "iops", "repetitions"],
    ),
    ("curves", "Curves", &["together", "best", "sweeps", "weak-scaling", "targets"]),
    ("jobs", "Jobs", &["matrix", "jobs", "job-times", "job-spaces", "full-timer"]),
    (
        "machines",
        "Nodes and devices",
        &[
            "nodes-compared",
            "devices",
            "utilisation",
            "layers",
            "disk-view",
            "servers",
            "limits",
            "coverage",
            "nodes",
        ],
    ),
    ("published", "Published figures and other tools", &["beside", "cross-check", "printed"]),
    ("doubts", "Doubts, one by one", &["audit"]),
    ("conditions", "Conditions", &["scaled", "layouts", "time"]),
    ("more", "Everything else", &[]),
];

/// The non-empty parts with their sections. The template adds contents to some of them. In a comparison all parts but
/// the changes are of the first run.
fn parts(sections: &[Section], compared: bool, value: impl Fn(&Section) -> Value) -> Value {
    let is_named = |one: &&Section| PARTS.iter().any(|(.., ids)| ids.contains(&one.id));
    let part = |&(id, title, ids): &(&str, &str, &[&str])| {
        let mut own: Vec<&Section> =
            ids.iter().filter_map(|id| sections.iter().find(|one| one.id == *id)).collect();
        if id == "more" {
            own.extend(sections.iter().filter(|one| !is_named(one)));
        }
        let more: &[&str] = match id {
            "figures" => &["each figure"],
            "conditions" => &["host", "plan", "command"],
            "more" => &["what the words mean"],
            _ => &[],
        };
        let holds = own.iter().map(|one| one.title).chain(more.iter().copied()).collect::<Vec<_>>();
        let sections = own.iter().map(|one| value(one)).collect::<Vec<_>>();
        let title = match compared && id != "changed" {
            true => format!("{title}, of the run before"),
            false => title.to_owned(),
        };
        (!holds.is_empty()).then(|| json!({ "id": id, "title": title, "holds": holds, "sections": sections }))
    };
    PARTS.iter().filter_map(part).collect()
}

/// The title of the study, or of both runs.
fn title(report: &Report, second: Option<&Second>) -> String {
    let own = &report.run.title;
    match second.map(|second| &second.report.run.title) {
        None => own.clone(),
        Some(other) if other == own => format!("{own}, before and after"),
        Some(other) => format!("{own}, then {other}"),
    }
}

/// Where, when and by which program the run was made; in a comparison id, node and time of each run.
fn facts(report: &Report, card: &Card, second: Option<&Second>) -> Vec<String> {
    match second {
        None => {
            let program = format!("ioproof {}", report.run.program_version);
            let nodes = origin::nodes_line(report);
            card.circumstances.iter().cloned().chain(nodes).chain([program]).collect()
        }
        Some(second) => {
            let side = |word: &str, one: &Report| {
                let release = one.study.release.as_ref().map(|release| format!(", {release}"));
                let (id, node) = (&one.run.id, &one.host.node);
                let mark = one.run.mark.as_ref().map(|mark| format!("{mark}, ")).unwrap_or_default();
                format!("{word} {mark}{id} on {node}{}, {}", release.unwrap_or_default(), origin::when(one))
            };
            vec![side("before", report), side("after", &second.report)]
        }
    }
}

/// A reason to doubt figures, in a sentence.
fn cause(report: &Report, one: &Cause) -> Value {
    json!({
        "mark": one.mark, "disqualifies": one.disqualifies, "text": one.sentence(report.figures.len()),
    })
}

/// Number of figures with doubts.
fn doubtful(report: &Report) -> Option<String> {
    let doubts = report.found.audit.iter().filter(|one| one.check.is_doubt());
    let doubted: HashSet<usize> = doubts.filter_map(|one| one.figure).collect();
    let all = report.figures.len() as u64;
    (!doubted.is_empty()).then(|| format!("{} of {} doubtful", doubted.len(), counted(all, "figure")))
}

/// Adds a bar to each cell of the column `range`. Bars of one unit have one scale, from 0 to the highest value.
fn ranged(report: &Report, mut block: Value) -> Value {
    let place = block["columns"].as_array().and_then(|all| all.iter().position(|one| one["name"] == "range"));
    let Some(place) = place else { return block };
    let figure = |row: &Value| {
        let number = row[place]["figure"].as_u64()?;
        report.figures.iter().find(|one| one.number as u64 == number)
    };
    let spread = |figure: &Figure| *figure.spread_in(figure.shown_unit());
    let rows = block["rows"].as_array().into_iter().flatten();
    let figures: Vec<Option<&Figure>> = rows.map(figure).collect();
    let bar = |figure: &Figure| {
        let alike = figures.iter().flatten().filter(|one| one.shown_unit() == figure.shown_unit());
        let top = alike.map(|one| spread(one).max).fold(0.0, f64::max);
        let share = |value: f64| format!("{:.1}", value / top.max(f64::MIN_POSITIVE) * 100.0);
        let all = spread(figure);
        json!({
            "median": share(all.median), "low": share(all.min), "wide": share(all.max - all.min),
            "colour": charts::work(figure.phase).1[0],
        })
    };
    let units = analysis::figures::grouped(figures.iter().flatten(), |one| one.shown_unit());
    let scales = units.iter().map(|alike| {
        let top = alike.iter().map(|one| spread(one).max).fold(0.0, f64::max);
        format!("0 – {}", compact_rate(top, alike[0].shown_unit()))
    });
    let scales = scales.collect::<Vec<_>>().join("; ");
    for (figure, row) in figures.iter().zip(block["rows"].as_array_mut().into_iter().flatten()) {
        row[place]["bar"] = figure.map(bar).into();
    }
    block["columns"][place]["scale"] = scales.into();
    block
}

/// A section as a page of its own.
pub(super) fn alone(title: &str, section: &Section) -> Result<String, minijinja::Error> {
    let blocks = section::value(section, &[], &HashSet::new());
    let context = json!({ "css": include_str!("page.css"), "title": title, "section": blocks });
    render(include_str!("alone.html"), context)
}

/// A page with charts that is not the report of a run.
pub(super) fn charted(
    title: &str,
    blocks: &[Block],
    mut charts: Vec<Chart>,
) -> Result<String, minijinja::Error> {
    Chart::number(&mut charts);
    let blocks: Vec<Value> =
        blocks.iter().map(|block| section::block_value(block, &charts, &HashSet::new())).collect();
    let context = json!({
        "css": include_str!("page.css"), "title": title, "blocks": blocks,
        "charts": escape::chart_json(raw(&charts)),
    });
    render(include_str!("charted.html"), context)
}

fn render(template: &str, context: Value) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => out.write_str(&escape::html(text)).map_err(minijinja::Error::from),
        _ => escape_formatter(out, state, value),
    });
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, minijinja::value::Serde(context))
}

/// Hover text of each figure named by a chart, once for all charts.
fn hovers(report: &Report, charts: &[&Chart]) -> String {
    let numbers: HashSet<u64> = charts.iter().flat_map(|chart| chart.figures()).collect();
    let named = report.figures.iter().filter(|figure| numbers.contains(&(figure.number as u64)));
    let map: serde_json::Map<String, Value> =
        named.map(|figure| (figure.number.to_string(), charts::hover(figure).into())).collect();
    escape::chart_json(map.into())
}

fn captions(charts: &[Chart]) -> Value {
    charts.iter().map(Chart::caption).collect()
}

fn raw(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Details of one figure: its doubts, tables and `charts`.
fn figure_value(report: &Report, figure: &Figure, charts: &[Chart]) -> Value {
    let doubts = report.found.audit.iter().filter(|one| one.figure == Some(figure.number - 1));
    let unit = column_unit(figure.unit());
    let (repetitions, same) = repetitions(figure);
    let same = if same.is_empty() { same } else { format!("; the same {same}") };
    let many = device_spread(&figure.devices);
    let over =
        many.as_ref().map(|_| format!("; over {} devices, each value by itself", figure.devices.len()));
    let counted = format!("What the devices counted, mean over all repetitions{}", over.unwrap_or_default());
    let repeated = format!("Every repetition, rates in {unit}; {}{same}", figure.statistic());
    json!({
        "number": figure.number,
        "title": if figure.title.is_empty() { &figure.case } else { &figure.title },
        "conditions": conditions(report, figure),
        "headline": headline(figure),
        "provenance": figure.provenance,
        "page_cache": figure.page_cache,
        "notes": figure.notes,
        "caveats": all_caveats(figure),
        "doubts": doubts.map(issue).collect::<Value>(),
        "tables": tables([
            (repeated.as_str(), repetitions),
            ("Latency, all repetitions together", latencies(figure)),
            (counted.as_str(), device_table(many.as_ref().unwrap_or(&figure.devices))),
        ]),
        "charts": captions(charts),
    })
}

/// An issue of the audit, with whether it is a doubt.
fn issue(one: &AuditIssue) -> Value {
    let mut fields = object(DOUBT, one);
    fields.insert("is_doubt".to_owned(), one.check.is_doubt().into());
    fields.into()
}

/// The non-empty tables with their captions.
fn tables<'t>(all: impl IntoIterator<Item = (&'t str, Table)>) -> Value {
    let filled = all.into_iter().filter(|(_, table)| !table.is_empty());
    filled.map(|(caption, table)| section::table_value(caption, &table, &HashSet::new())).collect()
}

/// The repetitions with their rates by name; and the names of rates without a column because they always equal the
/// first one.
fn repetitions(figure: &Figure) -> (Table, String) {
    let rate = |one: &RepetitionFigure, name: RateName| {
        let found = one.rates.get(name)?;
        Some(match figure.unit() {
            BYTES_PER_SECOND => megabytes(found.bytes_per_second),
            _ => crate::format::iops(found.transfers_per_second),
        })
    };
    let known = |name: &&RateName| figure.repetitions.iter().any(|one| one.rates.get(**name).is_some());
    let names: Vec<RateName> = RateName::ALL.iter().filter(known).copied().collect();
    let first = |name: RateName| figure.repetitions.iter().all(|one| rate(one, name) == rate(one, names[0]));
    let (same, others): (Vec<RateName>, Vec<RateName>) = names.iter().skip(1).partition(|&&name| first(name));
    let same: Vec<&str> = same.iter().map(|name| name.name()).collect();
    let words = |one: &RepetitionFigure| match one.drift {
        Some(drift) => format!("{}, drift {}", role(one), signed(drift)),
        None => role(one).to_owned(),
    };
    let seconds = |nanos: u64| format!("{} s", number(nanos as f64 / 1e9));
    let operations = if figure.is_operations() { "operations" } else { "IOPS" };
    let table = Table::of(&figure.repetitions)
        .right("repetition", |one| (one.repetition + 1).to_string())
        .left("role", |one| words(one))
        .right("moved", |one| decimal_bytes(one.phase.bytes()))
        .right("I/O time", |one| seconds(one.phase.io_ns))
        .with(|table| {
            let names = names.iter().take(1).chain(&others);
            names.fold(table, |table, &name| table.right(name.name(), move |one| rate(one, name)))
        })
        .right(operations, |one| match figure.is_operations() {
            true => grouped(one.phase.transfers()),
            false => crate::format::iops(figure.rate_in(one, "IOPS")),
        })
        .right("device ÷ tasks", |one| crate::format::share(one.moved_by_devices()))
        .right("CPU", |one| seconds(one.phase.user_cpu_ns + one.phase.system_cpu_ns))
        .done();
    (table, same.join(", "))
}

fn latencies(figure: &Figure) -> Table {
    Table::of(&figure.latency)
        .left("operation", |one| one.operation.name())
        .left("counted from", |one| one.counted_from)
        .right("operations", |one| grouped(one.count))
        .with(|table| latencies::columns(table, ShownIn::Figure, |one| Some(*one)))
        .done()
}

fn device_table(devices: &[(String, DeviceMean)]) -> Table {
    Table::of(devices)
        .left("device", |one| one.0.clone())
        .right("read MB/s", |one| megabytes(one.1.read_bytes_per_second))
        .right("write MB/s", |one| megabytes(one.1.write_bytes_per_second))
        .right("busy", |one| one.1.busy_share.map(percent))
        .right("queue", |one| one.1.queue_requests.map(number))
        .right("wait", |one| one.1.wait_ns.map(latencies::words))
        .done()
}

/// The plan, in the order in which it ran.
fn plan(report: &Report) -> Value {
    let targets = |case: &CaseInfo| match case.targets.len().saturating_sub(TARGETS_NAMED) {
        0 => case.targets.join(", "),
        more => format!("{} and {more} more", case.targets[..TARGETS_NAMED].join(", ")),
    };
    let options = Table::of(&report.run.options)
        .left("option", |one| one.written.clone())
        .left("name", |one| one.name.clone())
        .left("meaning", |one| one.meaning.clone())
        .done();
    let cases = Table::of(&report.cases)
        .left("case", |one| one.id.clone())
        .left("title", |one| one.title.clone())
        .left("phases and conditions", |one| one.conditions.join("; "))
        .right("block", |one| one.block_bytes.map(|bytes| Bytes(bytes).to_string()))
        .right("segments", |one| one.segments.map(grouped))
        .right("volume", |one| one.pass_bytes.map(|bytes| Bytes(bytes).both_units()))
        .right("files", |one| one.files.map(grouped))
        .left("targets", |one| targets(one))
        .right("repetitions", |one| one.repetitions.to_string())
        .left("state", |one| one.state.clone())
        .done()
        .without_empty_columns();
    tables([
        ("Each option with its meaning", options),
        ("The cases, in the order in which they ran", cases.below("phases and conditions")),
    ])
}

/// The host, compared with published machines if there are any; file systems and devices of the targets.
fn storage(report: &Report) -> Value {
    let host = &report.host;
    let under_targets = [
        ("File systems of the targets, at the start", file_systems(&host.file_systems)),
        ("Block devices under the targets", block_devices(&host.devices)),
        ("Their settings and locations", queues(&host.devices)),
    ];
    tables(beside::groups(host, &report.machines, origin::whose(report)).into_iter().chain(under_targets))
}
