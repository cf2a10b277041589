//! The footnotes of a report: each warning of the record once, with the figures that it concerns.

use record::{Run, Warning, WarningRow};

use crate::format::{counted, mark};
use crate::view::{Figure, Note};

/// Warnings of one kind about one figure that are told in full before the rest is counted.
const TOLD_MAX: usize = 3;

/// One footnote in the making.
struct Draft {
    kind: String,
    text: String,
    advice: String,
    /// Numbers of the figures, or where else it belongs.
    figures: Vec<usize>,
    elsewhere: Vec<String>,
}

/// The notes of `run`, in the order of the figures; the figures are given their marks.
pub(crate) fn notes(run: &Run, figures: &mut [Figure]) -> Vec<Note> {
    let mut drafts: Vec<Draft> = Vec::new();
    for row in run.warnings.iter().filter(|row| number_of(row, figures).is_none()) {
        put(&mut drafts, &row.warning, row.warning.to_string(), Err(place(row)));
    }
    for figure in figures.iter() {
        let of_figure: Vec<&WarningRow> =
            run.warnings.iter().filter(|row| number_of(row, figures) == Some(figure.number)).collect();
        for (index, row) in of_figure.iter().enumerate() {
            let before =
                of_figure[..index].iter().filter(|other| kind(&other.warning) == kind(&row.warning)).count();
            let of_kind = of_figure.iter().filter(|other| kind(&other.warning) == kind(&row.warning)).count();
            if before < TOLD_MAX {
                let mut text = row.warning.to_string();
                if before + 1 == TOLD_MAX && of_kind > TOLD_MAX {
                    let rest = counted((of_kind - TOLD_MAX) as u64, "more warning");
                    text = format!("{text}; {rest} of this kind in the record");
                }
                put(&mut drafts, &row.warning, text, Ok(figure.number));
            }
        }
    }
    drafts.into_iter().enumerate().map(|(index, draft)| note(index, draft, figures)).collect()
}

/// The figure that a warning concerns.
fn number_of(row: &WarningRow, figures: &[Figure]) -> Option<usize> {
    let key = row.key.as_ref()?;
    let is_it = |figure: &&Figure| figure.case == key.case && figure.phase == key.phase.name();
    figures.iter().find(is_it).map(|figure| figure.number)
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
    let same = drafts.iter().position(|draft| draft.kind == kind && draft.text == text);
    let index = same.unwrap_or_else(|| {
        let advice = warning.advice().to_owned();
        drafts.push(Draft { kind, text, advice, figures: Vec::new(), elsewhere: Vec::new() });
        drafts.len() - 1
    });
    let draft = &mut drafts[index];
    match concerns {
        Ok(number) if !draft.figures.contains(&number) => draft.figures.push(number),
        Err(place) if !draft.elsewhere.contains(&place) => draft.elsewhere.push(place),
        Ok(_) | Err(_) => {}
    }
}

fn note(index: usize, draft: Draft, figures: &mut [Figure]) -> Note {
    let mark = mark(index);
    for figure in figures.iter_mut().filter(|figure| draft.figures.contains(&figure.number)) {
        figure.notes.push(mark.clone());
    }
    let mut concerns = draft.elsewhere;
    let numbers: Vec<String> = draft.figures.iter().map(ToString::to_string).collect();
    match numbers.len() {
        0 => {}
        1 => concerns.push(format!("figure {}", numbers[0])),
        _ => concerns.push(format!("figures {}", numbers.join(", "))),
    }
    Note { mark, kind: draft.kind, text: draft.text, advice: draft.advice, concerns: concerns.join("; ") }
}

/// The kind as it stands in the record, such as `cached-reads`.
fn kind(warning: &Warning) -> String {
    let value = serde_json::to_value(warning).unwrap_or_default();
    value.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned()
}
