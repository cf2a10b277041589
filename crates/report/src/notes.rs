//! The footnotes of a report: one for each kind of warning, with the figures that it concerns.

use std::collections::{HashMap, HashSet};

use record::{Run, Warning, WarningRow};

use crate::format::{counted, mark};
use crate::view::{Figure, Note, NoteEntry};

/// Warnings of one kind about one figure that are told in full before the rest is counted.
const TOLD_MAX: usize = 3;

/// One kind of warning, with all that is said of it.
struct Draft {
    kind: String,
    advice: String,
    said: Vec<Said>,
    /// Where in `said` each text stands: a long study says thousands.
    places: HashMap<String, usize>,
}

/// One text, with the figures and other places that it is said of.
struct Said {
    text: String,
    figures: Vec<usize>,
    elsewhere: Vec<String>,
}

/// The notes of `run`: those of the whole run first, then in the order of the figures, which are
/// given their marks.
pub(crate) fn notes(run: &Run, figures: &mut [Figure]) -> Vec<Note> {
    let mut drafts: Vec<Draft> = Vec::new();
    let numbers: HashMap<(&str, &str), usize> =
        figures.iter().map(|figure| ((figure.case.as_str(), figure.phase), figure.number)).collect();
    let mut by_figure: HashMap<usize, Vec<&Warning>> = HashMap::new();
    for row in &run.warnings {
        let key = row.key.as_ref().map(|key| (&*key.case, key.phase.name()));
        match key.and_then(|key| numbers.get(&key)) {
            Some(number) => by_figure.entry(*number).or_default().push(&row.warning),
            None => put(&mut drafts, &row.warning, row.warning.to_string(), Err(place(row))),
        }
    }
    for figure in figures.iter() {
        let mine = by_figure.remove(&figure.number).unwrap_or_default();
        for (index, warning) in mine.iter().enumerate() {
            let alike =
                |others: &[&Warning]| others.iter().filter(|other| kind(other) == kind(warning)).count();
            let (before, all) = (alike(&mine[..index]), alike(&mine));
            let text = if before + 1 == TOLD_MAX && all > TOLD_MAX {
                let rest = counted((all - TOLD_MAX) as u64, "more warning");
                format!("{warning}; {rest} of this kind in the record")
            } else {
                warning.to_string()
            };
            if before < TOLD_MAX {
                put(&mut drafts, warning, text, Ok(figure.number));
            }
        }
    }
    drafts.into_iter().enumerate().map(|(index, draft)| note(index, draft, figures)).collect()
}

/// Where a warning belongs that concerns no figure.
fn place(row: &WarningRow) -> String {
    match &row.key {
        None => "the whole run".to_owned(),
        Some(key) => format!("{} of {}, repetition {}", key.phase, key.case, key.repetition + 1),
    }
}

fn put(drafts: &mut Vec<Draft>, warning: &Warning, text: String, concerns: Result<usize, String>) {
    let kind = kind(warning);
    let index = drafts.iter().position(|draft| draft.kind == kind).unwrap_or_else(|| {
        drafts.push(Draft {
            kind,
            advice: warning.advice().to_owned(),
            said: Vec::new(),
            places: HashMap::new(),
        });
        drafts.len() - 1
    });
    let Draft { said, places, .. } = &mut drafts[index];
    let index = *places.entry(text).or_insert_with_key(|text| {
        said.push(Said { text: text.clone(), figures: Vec::new(), elsewhere: Vec::new() });
        said.len() - 1
    });
    let said = &mut said[index];
    match concerns {
        // Figures are gone through in their order, so that one that is known stands last.
        Ok(number) if said.figures.last() != Some(&number) => said.figures.push(number),
        Err(place) if !said.elsewhere.contains(&place) => said.elsewhere.push(place),
        Ok(_) | Err(_) => {}
    }
}

fn note(index: usize, draft: Draft, figures: &mut [Figure]) -> Note {
    let mark = mark(index);
    let concerned: HashSet<usize> = draft.said.iter().flat_map(|said| said.figures.iter().copied()).collect();
    for figure in figures.iter_mut().filter(|figure| concerned.contains(&figure.number)) {
        figure.notes.push(mark.clone());
    }
    Note {
        mark,
        kind: draft.kind,
        advice: draft.advice,
        entries: draft.said.into_iter().map(entry).collect(),
    }
}

fn entry(said: Said) -> NoteEntry {
    let mut concerns = said.elsewhere;
    let numbers: Vec<String> = said.figures.iter().map(ToString::to_string).collect();
    match numbers.len() {
        0 => {}
        1 => concerns.push(format!("figure {}", numbers[0])),
        _ => concerns.push(format!("figures {}", numbers.join(", "))),
    }
    NoteEntry { text: said.text, concerns: concerns.join("; "), figures: said.figures }
}

/// The kind as it stands in the record, such as `cached-reads`.
fn kind(warning: &Warning) -> String {
    let value = serde_json::to_value(warning).unwrap_or_default();
    value.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned()
}
