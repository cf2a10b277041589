//! Golden records: the JSON of some thirty runs and the contents of all output formats of four of them, so that no value is
//! lost unnoticed when the report changes. All formats are made from the same tables; that each of them has the rows and
//! values of each table is tested for all runs.
//!
//! The comparison is not byte by byte, but by content: the values of each key in each row for JSON, CSV and
//! OpenMetrics, and the words and numbers below each heading for text, Markdown and the page. `UPDATE_GOLDEN=1`
//! rewrites `tests/golden/RECORD.FORM`, and the test prints the removed and the new content of each format.
//! `FORMS_TO=DIRECTORY` writes the complete output files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use analysis::gate::{Head, Kind as Stated, Row, Table, Value as Cell};
use report::{Screen, Study};
use serde_json::{Value, json};

use crate::common;
use crate::validation::said::{Kind, what_is_said};

/// The values of each key.
type Said = BTreeMap<String, BTreeSet<String>>;

/// The number of statements of each kind that the analysis makes about a run.
fn statements(run: &record::Run) -> Said {
    let figures = analysis::figures::figures(run, plan::RateName::ByWall);
    let stated = what_is_said(&analysis::findings::findings(run, &figures), &figures);
    let mut said = Said::new();
    for kind in Kind::ALL {
        let subjects = stated.iter().filter(|one| one.kind == kind);
        let subjects: BTreeSet<String> =
            subjects.map(|one| format!("{} {:?}", one.subject, one.way)).collect();
        if !subjects.is_empty() {
            said.insert(kind.name().to_owned(), subjects);
        }
    }
    said
}

/// Up to this number, each figure has its own keys. Beyond it, the values of all figures are combined.
const FIGURES_APART: usize = 10;

/// Up to this number, the values of a key are written individually.
const VALUES_APART: usize = 40;

/// The runs whose golden records have every form; of the others it is JSON, which has every value.
const IN_ALL_FORMS: [&str; 4] = ["whole", "study", "nodes", "matrix"];

/// Output of other tools, as parsed by `dialect` in its own tests.
const IMPORTED: [&str; 9] = [
    "elbencho-full.csv",
    "fio-3.33.json",
    "ior-4.1.json",
    "iozone-3.508.txt",
    "ioping-1.3.txt",
    "iostat-x.txt",
    "md-workbench-4.1.txt",
    "mdtest-4.1.txt",
    "nsdperf.txt",
];

fn below(room: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(room)
}

/// All runs with their names.
pub(crate) fn runs() -> Vec<(String, record::Run)> {
    let mut runs: Vec<(String, record::Run)> = [
        ("whole", common::run()),
        ("killed", common::killed()),
        ("empty", common::empty()),
        ("study", common::study::study()),
        ("simulated", common::simulated::simulated(common::study::study())),
        ("layers", common::layers::layers()),
        ("layouts", crate::layouts::with_layouts()),
        ("nodes", common::cluster::compared(4)),
        ("weak-scaling", common::cluster::weak(16)),
        ("job-table", common::cluster::operations(8)),
        ("files", common::operations::files()),
        ("exchanges", common::operations::exchanges()),
        ("published-page", common::operations::imported()),
        ("interrupted-jobs", common::timeline::interrupted()),
        ("matrix", common::matrix::matrix()),
        ("concurrent", common::concurrent::concurrent()),
    ]
    .map(|(name, run)| (name.to_owned(), run))
    .into();
    for version in 1..=record::FORMAT_VERSION {
        let place = below(&format!("../record/tests/fixtures/version-{version}"));
        let mut run = record::Run::open(&place).expect("every version is read");
        run.directory = format!("runs/version-{version}").into();
        runs.push((format!("version-{version}"), run));
    }
    for name in IMPORTED {
        let text = fs::read(below("../dialect/tests/dialect/fixtures/import").join(name)).expect("a fixture");
        runs.push((
            format!("imported-{}", name.split(['-', '.']).next().expect("a tool")),
            common::imports::run(name, &text),
        ));
    }
    runs
}

/// The complete output of a run in each format.
fn written_forms(run: &record::Run) -> [(&'static str, String); 6] {
    let study = Study::of(run);
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    [
        ("text", study.text_in_full(Screen::PLAIN.coloured())),
        ("markdown", study.markdown()),
        ("html", String::from_utf8(page).expect("UTF-8")),
        ("csv", study.csv()),
        ("json", study.json()),
        ("openmetrics", study.openmetrics()),
    ]
}

/// The content of each format for a run, and all statements in any of them.
fn forms(run: &record::Run) -> [(&'static str, Said); 7] {
    let [text, markdown, page, table, json, metrics] = written_forms(run).map(|(_, form)| form);
    [
        ("statements", statements(run)),
        ("text", words(text.lines().map(heading_of_text))),
        ("markdown", words(markdown.lines().map(heading_of_markdown))),
        ("html", html(&page)),
        ("csv", document(&csv(&table))),
        ("json", document(&serde_json::from_str(&json).expect("JSON"))),
        ("openmetrics", open_metrics(&metrics)),
    ]
}

/// Writes all formats of all records to `FORMS_TO`, for a byte-by-byte comparison with those of another commit.
#[test]
fn forms_are_written_where_asked() {
    let Some(place) = env::var_os("FORMS_TO").map(PathBuf::from) else { return };
    fs::create_dir_all(&place).expect("made");
    for (name, run) in runs() {
        for (form, text) in written_forms(&run) {
            fs::write(place.join(format!("{name}.{form}")), text).expect("written");
        }
    }
}

/// A line of a text: a new heading, or words below the previous one.
enum Line<'a> {
    Heading(&'a str),
    Words(&'a str),
}

fn heading_of_text(line: &str) -> Line<'_> {
    match line.strip_prefix("\u{1b}[1m").and_then(|rest| rest.strip_suffix("\u{1b}[0m")) {
        Some(heading) => Line::Heading(heading),
        None => Line::Words(line),
    }
}

fn heading_of_markdown(line: &str) -> Line<'_> {
    line.strip_prefix('#')
        .map_or(Line::Words(line), |rest| Line::Heading(rest.trim_start_matches('#').trim()))
}

/// The words below each heading. Table borders, marks and colours do not count as words.
fn words<'a>(lines: impl Iterator<Item = Line<'a>>) -> Said {
    let (mut said, mut heading) = (Said::new(), String::new());
    for line in lines {
        match line {
            Line::Heading(text) => text.clone_into(&mut heading),
            Line::Words(text) => {
                let mut plain = text.to_owned();
                for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"] {
                    plain = plain.replace(code, " ");
                }
                let is_word = |c: char| c.is_alphanumeric() || "%-+µ/".contains(c);
                let found = plain.split(|c: char| c.is_whitespace() || "|*`\\".contains(c));
                let found = found.map(|word| word.trim_matches(|c| !is_word(c)));
                let found = found.filter(|word| word.contains(char::is_alphanumeric)).map(str::to_owned);
                said.entry(heading.clone()).or_default().extend(found);
            }
        }
    }
    said.retain(|_, words| !words.is_empty());
    said
}

/// The words below each heading of the page. For each chart, its texts and the count and sum of its numbers.
fn html(page: &str) -> Said {
    let mut text = String::new();
    let mut rest = page;
    let mut charts = Said::new();
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, inside) = after.split_once('>').expect("a tag ends");
        rest = inside;
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name {
            "script" | "style" => {
                let end = format!("</{name}>");
                let (body, behind) = inside.split_once(&end).expect("it ends");
                if tag.contains("id=\"charts\"") {
                    chart("", &serde_json::from_str(body).expect("charts are JSON"), &mut charts);
                }
                rest = behind;
            }
            "h1" | "h2" | "h3" => text.push_str("\n# "),
            "summary" => text.push_str("\n# detail "),
            "/h1" | "/h2" | "/h3" | "/summary" | "/tr" | "/p" | "/div" => text.push('\n'),
            // Inline markup does not split a word.
            "b" | "/b" | "i" | "/i" | "sup" | "/sup" | "code" | "/code" => {}
            _ => text.push(' '),
        }
    }
    for (entity, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")] {
        text = text.replace(entity, sign);
    }
    let mut said = words(text.lines().map(heading_of_markdown));
    said.append(&mut charts);
    said
}

/// The names and titles of a chart, and the count and sum of each list of numbers.
fn chart(key: &str, value: &Value, said: &mut Said) {
    let word = match value {
        Value::Object(map) if key == "title" => return chart(key, &map["text"], said),
        Value::Object(map) => return map.iter().for_each(|(name, one)| chart(name, one, said)),
        Value::Array(list) if !list.is_empty() && list.iter().all(|one| one.is_number() || one.is_null()) => {
            let sum: f64 = list.iter().filter_map(Value::as_f64).sum();
            format!("{} of sum {}", list.len(), number(sum))
        }
        Value::Array(list) => return list.iter().for_each(|one| chart(key, one, said)),
        Value::String(text) if matches!(key, "name" | "title") => text.clone(),
        _ => return,
    };
    if matches!(key, "name" | "title" | "x" | "y" | "z") {
        said.entry(format!("chart {key}")).or_default().insert(word);
    }
}

/// Six significant digits are the same on any machine.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().expect("a number");
    rounded.to_string()
}

/// The rows of a table as a JSON document.
fn csv(table: &str) -> Value {
    let mut rows = common::rows(table).into_iter();
    let names = rows.next().expect("a heading");
    let cell = |cell: String| match cell.parse::<f64>() {
        _ if cell.is_empty() => Value::Null,
        Ok(number) => number.into(),
        // The golden texts have no quotation marks.
        Err(_) => cell.replace('"', "").into(),
    };
    let row = |row: Vec<String>| names.iter().cloned().zip(row.into_iter().map(cell)).collect::<Value>();
    let (figures, statements): (Vec<Value>, Vec<Value>) =
        rows.map(row).partition(|row| row["row"] == "figure");
    let mut kinds = serde_json::Map::new();
    for row in statements {
        let kind = row["statement"].as_str().expect("a kind").to_owned();
        let name = row["value_name"].as_str().unwrap_or("withheld").to_owned();
        let values = kinds.entry(kind).or_insert_with(|| json!({}));
        let values = &mut values[name];
        if values.is_null() {
            *values = json!([]);
        }
        let shown = ["outcome", "because", "value", "value_text", "value_unit"];
        values
            .as_array_mut()
            .expect("a list")
            .push(shown.map(|key| (key, row[key].clone())).into_iter().collect());
    }
    json!({ "figures": figures, "statements": kinds })
}

fn document(whole: &Value) -> Said {
    let apart = whole["figures"].as_array().is_some_and(|figures| figures.len() <= FIGURES_APART);
    let mut said = Said::new();
    leaves(String::new(), whole, apart, &mut said);
    said
}

fn leaves(path: String, value: &Value, apart: bool, said: &mut Said) {
    let word = match value {
        Value::Null => return,
        Value::Object(map) => {
            // The definitions in the report are the same in every record.
            let map = map.iter().filter(|(key, _)| *key != "definitions");
            return map.for_each(|(key, one)| leaves(format!("{path}.{key}"), one, apart, said));
        }
        Value::Array(list) => {
            return list.iter().for_each(|one| {
                let row = match (one["case"].as_str(), one["phase"].as_str()) {
                    (Some(case), Some(phase)) if apart => format!("[{case} {phase}]"),
                    _ => String::new(),
                };
                leaves(format!("{path}{row}"), one, apart, said);
            });
        }
        Value::String(text) => text.clone(),
        Value::Number(value) => number(value.as_f64().expect("a number")),
        Value::Bool(is) => is.to_string(),
    };
    said.entry(path).or_default().insert(word);
}

/// Labels that are repeated in every sample of a figure.
const OF_FIGURE: [&str; 7] = ["group", "target", "what", "path", "tasks", "transfer_bytes", "rate"];

fn open_metrics(text: &str) -> Said {
    let mut said = Said::new();
    let apart = text.matches("\nioproof_figure_info{").count() <= FIGURES_APART;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (sample, value) = line.rsplit_once(' ').expect("a sample has a value");
        let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
        let info = name.ends_with("_info");
        let mut key = name.to_owned();
        let mut words = BTreeSet::new();
        for (label, word) in
            labels.trim_end_matches("\"}").split("\",").filter_map(|label| label.split_once("=\""))
        {
            if apart && matches!(label, "case" | "phase")
                || !info && label != "case" && !OF_FIGURE.contains(&label)
            {
                key.push_str(&format!(" {label}={word}"));
            } else if info {
                words.insert(word.to_owned());
            }
        }
        if !info {
            words.insert(number(value.parse().expect("a number")));
        }
        said.entry(key).or_default().extend(words);
    }
    said
}

/// One line per key, followed by its values, or by their count and sum if there are very many.
fn written(said: &Said) -> String {
    let line = |(key, values): (&String, &BTreeSet<String>)| {
        let numbers: Vec<f64> = values.iter().filter_map(|one| one.parse().ok()).collect();
        let many = numbers.len() == values.len() && numbers.len() > VALUES_APART;
        let sum = [format!("{} of sum {}", numbers.len(), number(numbers.iter().sum()))].into();
        let fields = std::iter::once(key).chain(if many { &sum } else { values }).map(|field| {
            let field: String = field.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            field.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        fields.collect::<Vec<_>>().join("\t") + "\n"
    };
    said.iter().map(line).collect::<String>().replace(env!("CARGO_PKG_VERSION"), "[version]")
}

fn read(text: &str) -> Said {
    let line = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        (fields.next().unwrap_or_default(), fields.collect())
    };
    text.lines().map(line).collect()
}

/// What `from` has and `to` lacks. A value that no key has any more is reported as gone, any other as moved.
fn missing(from: &Said, to: &Said, word: &str, report: &mut String) {
    let anywhere: BTreeSet<&String> = to.values().flatten().collect();
    let nothing = BTreeSet::new();
    for (key, values) in from {
        let here = to.get(key).unwrap_or(&nothing);
        let (elsewhere, gone): (Vec<&String>, Vec<&String>) =
            values.iter().filter(|one| !here.contains(*one)).partition(|one| anywhere.contains(one));
        if !gone.is_empty() {
            report.push_str(&format!("  {word} {key}: {gone:?}\n"));
        }
        if !elsewhere.is_empty() {
            report.push_str(&format!("  {word} under this key, but elsewhere: {key}: {elsewhere:?}\n"));
        }
    }
}

/// The kind of statement that a key of the JSON report belongs to.
fn kind_of_statement(key: &str) -> Option<&str> {
    key.strip_prefix(".statements.")?.split('.').next()
}

fn kinds_of_statements(said: &Said) -> Vec<String> {
    said.keys().filter_map(|key| kind_of_statement(key)).map(str::to_owned).collect()
}

/// Beyond the records in all forms, each kind of statement is in the first record that has it, so a new one changes few
/// of them.
#[test]
fn no_form_loses_a_value_of_a_golden_record_unnoticed() {
    let place = below("tests/golden");
    let update = env::var_os("UPDATE_GOLDEN").is_some();
    let (mut changes, mut known) = (String::new(), BTreeSet::new());
    let mut runs = runs();
    runs.sort_by_key(|(name, _)| !IN_ALL_FORMS.contains(&name.as_str()));
    let mut shown = BTreeSet::new();
    for (name, run) in runs {
        let in_all_forms = IN_ALL_FORMS.contains(&name.as_str());
        for (form, mut said) in forms(&run).into_iter().filter(|(form, _)| in_all_forms || *form == "json") {
            if form == "json" {
                let of_run = kinds_of_statements(&said);
                if !in_all_forms {
                    said.retain(|key, _| kind_of_statement(key).is_none_or(|kind| !shown.contains(kind)));
                }
                shown.extend(of_run);
            }
            let path = place.join(format!("{name}.{form}"));
            let (before, now) = (fs::read_to_string(&path).unwrap_or_default(), written(&said));
            known.insert(path.clone());
            if before != now {
                changes.push_str(&format!("{name} as {form}:\n"));
                missing(&read(&before), &read(&now), "gone", &mut changes);
                missing(&read(&now), &read(&before), "new", &mut changes);
                if update {
                    fs::write(&path, now).expect("written");
                }
            }
        }
    }
    let old = fs::read_dir(&place).expect("golden records").map(|entry| entry.expect("an entry").path());
    assert_eq!(
        old.filter(|path| !known.contains(path)).collect::<Vec<_>>(),
        Vec::<PathBuf>::new(),
        "of no record"
    );
    assert!(update || changes.is_empty(), "if this is meant, UPDATE_GOLDEN=1 writes it:\n{changes}");
}

/// Kinds of which human-readable forms make sentences.
const IN_SENTENCES: [Stated; 2] = [Stated::NodeSet, Stated::Consistency];

/// How many values of each column a table has to show: `(id, key)`. The ends of an interval count apart.
fn values_of(table: &Table) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut all = BTreeMap::new();
    for row in table.stated() {
        for (head, value) in table.columns.iter().zip(&row.cells) {
            let count = match value {
                Cell::None => continue,
                Cell::Changes(..) | Cell::Shares(..) => 2,
                _ => 1,
            };
            *all.entry((table.kind.policy().id, head.key)).or_default() += count;
        }
    }
    all
}

#[test]
fn every_form_has_the_rows_and_columns_of_every_table() {
    for (name, run) in runs() {
        let figures = analysis::figures::figures(&run, plan::RateName::ByWall);
        let tables = analysis::findings::findings(&run, &figures).tables();
        let [text, markdown, page, table_of_all, json, metrics] = written_forms(&run).map(|(_, form)| form);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        let in_csv = csv(&table_of_all);
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for table in &tables {
            let policy = table.kind.policy();
            *rows.entry(policy.id).or_default() += table.rows.len();
            if !policy.wide {
                for ((id, key), count) in values_of(table) {
                    let there = in_csv["statements"][id][key].as_array().map_or(0, Vec::len);
                    assert_eq!(there, count, "{name}: {id} {key} in CSV");
                }
            }
            let is_number = |row: &Row| row.cells.iter().any(|cell| matches!(cell, Cell::Number(_)));
            if policy.metrics && table.stated().any(is_number) {
                assert!(
                    metrics.contains(&format!("ioproof_{}", policy.id)),
                    "{name}: {} as metrics",
                    policy.id
                );
            }
            if table.stated().count() == 0 {
                continue;
            }
            if IN_SENTENCES.contains(&table.kind) {
                continue;
            }
            // What stands below a row has no heading.
            let is_shown = |head: &Head, place: usize| {
                !head.detail && !head.below && table.stated().any(|row| row.cells[place] != Cell::None)
            };
            for (place, head) in table.columns.iter().enumerate() {
                for (form, content) in [("text", &text), ("Markdown", &markdown), ("the page", &page)] {
                    let is_there = !is_shown(head, place) || content.contains(head.heading);
                    assert!(is_there, "{name}: {} of {} in {form}", head.heading, policy.id);
                }
            }
        }
        for (id, count) in rows {
            let there = json["statements"][id].as_array().map_or(0, Vec::len);
            assert_eq!(there, count, "{name}: {id} in JSON");
        }
    }
}
