//! A record from an untrusted source: whatever its texts contain, they are harmless and readable in every output
//! format.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use record::{Manifest, Run};
use report::{Screen, Study};
use serde_json::Value;

use crate::common;

/// Contains something harmful for each format.
const NASTY: &str = "=cmd|' /C calc'!A0\",\"\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\r\n\u{202e}\u{2028}\u{200b}# x <script>alert(1)</script>\
                     <img src=x onerror=\"window.harmed=1\"><a href=\"javascript:window.harmed=1\">y</a><!--\\ ``` %{x} ";

/// All texts in `value`.
fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            found.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replace(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) if text == old => new.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, old, new)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, old, new)),
        _ => {}
    }
}

/// Prefixes each text in `free` in `manifest` with [`NASTY`], if the result is still valid according to `sound`.
/// Names that tables refer to and words with a fixed meaning must not change. Returns the number of changes.
fn doctor(manifest: &mut Value, free: &[String], sound: &dyn Fn(&Value) -> bool) -> usize {
    let before = manifest.clone();
    free.iter().for_each(|text| replace(manifest, text, &format!("{NASTY}{text}")));
    if free.is_empty() || sound(manifest) {
        return free.len();
    }
    *manifest = before;
    let (one, other) = free.split_at(free.len() / 2);
    if one.is_empty() { 0 } else { doctor(manifest, one, sound) + doctor(manifest, other, sound) }
}

/// The manifest of the sample study, with [`NASTY`] in every free-form text.
static DOCTORED: LazyLock<Manifest> = LazyLock::new(|| {
    let run = common::study::study();
    let cases = |manifest: &Manifest| -> Vec<_> {
        let key = |case: &plan::Case| (case.id.clone(), case.phases.clone());
        manifest.plan.cases.iter().map(key).collect()
    };
    let mut manifest = serde_json::to_value(&run.manifest).expect("JSON");
    let mut free = BTreeSet::new();
    texts(&manifest, &mut free);
    let sound = |changed: &Value| {
        let changed: Result<Manifest, _> = serde_json::from_value(changed.clone());
        changed.is_ok_and(|changed| cases(&changed) == cases(&run.manifest))
    };
    let changed = doctor(&mut manifest, &Vec::from_iter(free), &sound);
    assert!(changed >= 25, "only {changed} texts could be changed");
    serde_json::from_value(manifest).expect("sound")
});

/// The sample study with that manifest.
pub(crate) fn doctored() -> Run {
    let mut run = common::study::study();
    run.manifest = DOCTORED.clone();
    run
}

/// Asserts that nothing in `text` except `own` can control a terminal or is invisible to a reader.
fn assert_plain(form: &str, text: &str, own: &[&str]) {
    let text = own.iter().fold(text.to_owned(), |text, own| text.replace(own, "\n"));
    let found = text.char_indices().find(|(_, one)| *one != '\n' && plan::is_hidden(*one));
    if let Some((at, one)) = found {
        let around: String =
            text[..at].chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{form}: {} after {around}", one.escape_unicode());
    }
    assert!(text.contains("\\u{1b}]0;x") || text.contains("\\u001b]0;x"), "{form} lost the text");
}

#[test]
fn nothing_of_a_stranger_acts_in_any_form() {
    let run = doctored();
    let study = Study::of(&run);
    assert_plain("text", &study.text_in_full(Screen::PLAIN), &[]);
    let coloured = study.text_in_full(Screen::PLAIN.coloured());
    assert_plain(
        "coloured text",
        &Screen::PLAIN.coloured().safe(&coloured),
        &["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"],
    );
    assert_eq!(Screen::PLAIN.coloured().safe(&coloured), coloured, "something was left to the last filter");
    let markdown = study.markdown();
    assert_plain("markdown", &markdown, &[]);
    // No processor takes a backslash before `<`, or a fence that it does not know, for the end of HTML.
    let (code, prose): (Vec<&str>, Vec<&str>) = markdown.lines().partition(|line| line.starts_with("    "));
    let raw = prose.into_iter().find(|line| line.contains('<'));
    assert_eq!(raw, None, "raw HTML in Markdown");
    assert!(matches!(code[..], [line] if line.contains("<script>")), "the command line as code: {code:?}");
    assert!(markdown.contains(&format!("\n\n{}\n", code[0])), "between empty lines: {markdown}");
    let json = study.json();
    assert_plain("json", &json, &[]);
    let value: Value = serde_json::from_str(&json).expect("JSON");
    let mut found = BTreeSet::new();
    texts(&value, &mut found);
    assert!(found.iter().any(|text| text.starts_with(NASTY)), "JSON has the very text");
}

#[test]
fn no_field_of_a_stranger_is_a_formula() {
    let run = doctored();
    let csv = report::Study::of(&run).csv();
    assert_plain("csv", &csv, &["\r\n"]);
    let rows = common::rows(&csv);
    assert_eq!(rows.len(), csv.split_terminator("\r\n").count(), "a row is a line");
    let mut marked = 0;
    for field in rows.into_iter().flatten() {
        let formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
        assert!(!formula, "{field}");
        marked += usize::from(field.starts_with("'="));
    }
    assert!(marked > 0, "no field began as a formula");
}

#[test]
fn no_label_of_a_stranger_ends_early() {
    let run = doctored();
    let text = report::Study::of(&run).openmetrics();
    assert_plain("openmetrics", &text, &[]);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (mut open, mut escaped, mut rest) = (false, false, String::new());
        for one in line.chars() {
            match one {
                '"' if !escaped => open = !open,
                _ if !open => rest.push(one),
                _ => {}
            }
            escaped = one == '\\' && !escaped;
        }
        assert!(!open, "{line}");
        // Without the label values, only names, punctuation and a number remain.
        let sound = |one: char| one.is_ascii_alphanumeric() || "_{}=, .-+".contains(one);
        assert!(rest.chars().all(sound), "{rest}");
    }
}

#[test]
fn the_page_of_a_stranger_has_no_element_of_the_record() {
    let run = doctored();
    let mut page = Vec::new();
    report::Study::of(&run).html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    let end = page.find("<script>").expect("the scripts of the page");
    let own = &page[..end];
    for raw in ["<script>alert", "<img", "<a href=\"javascript", "<!--"] {
        assert!(!own.contains(raw), "{raw} in the page");
    }
    assert_plain("html", own, &[]);
}
