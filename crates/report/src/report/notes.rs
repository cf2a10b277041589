//! The footnotes of a report: one for each kind of warning, with its figures.

use std::collections::{BTreeMap, HashMap, HashSet};

use analysis::audit::Check;
use record::{Provenance, Run, Warning, WarningRow};
use schemars::JsonSchema;
use serde::Serialize;

use crate::format::{counted, mark};
use crate::report::figure::Figure;

/// Maximum number of warnings of one kind about one figure shown in full; the rest is counted.
const TOLD_MAX: usize = 3;

/// One kind of warning of the record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Note {
    /// Empty if it concerns no figure.
    pub(crate) mark: String,
    pub(crate) kind: String,
    pub(crate) advice: String,
    #[serde(skip)]
    of_figures: bool,
    pub(crate) entries: Vec<NoteEntry>,
}

/// A text of a note, and what it concerns.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NoteEntry {
    pub(crate) text: String,
    /// Which figures or phases, in words.
    pub(crate) concerns: String,
    pub(crate) figures: Vec<usize>,
}

/// The texts of a kind of warning, with the figures and other places concerned.
struct WarningGroup<'a> {
    kind: String,
    text: String,
    warning: &'a Warning,
    figures: Vec<usize>,
    elsewhere: Vec<String>,
}

/// The notes of `run`: those of the whole run first, then in the order of the figures, whose `notes` are set. `doubts`
/// are the names and marks of the checks that the audit reports; a note about the same fact has the same mark.
pub(crate) fn notes(run: &Run, figures: &mut [Figure], doubts: &[(String, String)]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let mut marked = doubts.iter().filter(|(_, mark)| !mark.is_empty()).count();
    for said in said(run, figures) {
        // Figures that the audit does not name have a note of their own.
        let of_figures = !said.figures.is_empty();
        let covered = Check::covering(said.warning).map(Check::name).filter(|_| !of_figures);
        let doubt = doubts.iter().find(|(name, _)| covered == Some(name));
        // What the evidence of the audit already says of the whole run.
        if doubt.is_some() && Check::of(said.warning).is_none() {
            continue;
        }
        let same = |note: &Note| note.kind == said.kind && note.of_figures == of_figures;
        let at = notes.iter().position(same).unwrap_or_else(|| {
            let mark = match doubt {
                Some((_, mark)) => mark.clone(),
                // Nothing is marked with the letter of what concerns no figure.
                None if !of_figures => String::new(),
                None => {
                    marked += 1;
                    mark(marked - 1)
                }
            };
            let advice = said.warning.advice().to_owned();
            notes.push(Note { mark, kind: said.kind.clone(), advice, of_figures, entries: Vec::new() });
            notes.len() - 1
        });
        notes[at].entries.push(entry(said));
    }
    for note in &notes {
        let concerned: HashSet<usize> = note.entries.iter().flat_map(|entry| entry.figures.clone()).collect();
        for figure in figures.iter_mut().filter(|figure| concerned.contains(&figure.number)) {
            figure.notes.push(note.mark.clone());
        }
    }
    notes
}

fn said<'a>(run: &'a Run, figures: &[Figure]) -> Vec<WarningGroup<'a>> {
    let mut all: Vec<WarningGroup<'a>> = Vec::new();
    // Index in `all` of each text of each kind: a long study has thousands.
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut say = |kind: &str, text: String, warning: &'a Warning, of: Result<usize, String>| {
        let at = *places.entry((kind.to_owned(), text)).or_insert_with_key(|(kind, text)| {
            let (kind, text) = (kind.clone(), text.clone());
            all.push(WarningGroup { kind, text, warning, figures: Vec::new(), elsewhere: Vec::new() });
            all.len() - 1
        });
        let said = &mut all[at];
        match of {
            // Figures are visited in order, so a duplicate can only be the last one.
            Ok(number) if said.figures.last() != Some(&number) => said.figures.push(number),
            Err(place) if !said.elsewhere.contains(&place) => said.elsewhere.push(place),
            Ok(_) | Err(_) => {}
        }
    };
    let numbers: HashMap<(&str, &str), usize> =
        figures.iter().map(|figure| ((figure.case.as_str(), figure.phase.name()), figure.number)).collect();
    let mut by_figure: BTreeMap<usize, Vec<(String, &Warning)>> = BTreeMap::new();
    let simulated = run.manifest.provenance == Provenance::Simulated;
    // How much of a run was computed is said once, beside its time.
    let is_note = |row: &&WarningRow| !matches!(row.warning, Warning::Extrapolated { .. });
    let speaks = |row: &&WarningRow| Check::of(&row.warning).is_none_or(|check| check.speaks(simulated));
    for row in run.warnings.iter().filter(is_note).filter(speaks) {
        let (kind, warning) = (kind(&row.warning), &row.warning);
        let key = row.key.as_ref();
        if let Some(number) = key.and_then(|key| numbers.get(&(&*key.case, key.phase.name()))) {
            let doubts = &figures[number - 1].doubts;
            // Warnings that the audit has turned into doubts about the figure are not repeated.
            if !Check::covering(warning).is_some_and(|check| doubts.contains(&check.name())) {
                by_figure.entry(*number).or_default().push((kind, warning));
            }
            continue;
        }
        let place = key.map_or_else(
            || "the whole run".to_owned(),
            |key| format!("{} of {}, repetition {}", key.phase, key.case, key.repetition + 1),
        );
        say(&kind, warning.to_string(), warning, Err(place));
    }
    for (number, mine) in by_figure {
        for (index, (kind, warning)) in mine.iter().enumerate() {
            let alike = |others: &[(String, _)]| others.iter().filter(|(other, _)| other == kind).count();
            let (before, all) = (alike(&mine[..index]), alike(&mine));
            let mut text = warning.to_string();
            if before + 1 == TOLD_MAX && all > TOLD_MAX {
                let rest = counted((all - TOLD_MAX) as u64, "more warning");
                text.push_str(&format!("; {rest} of this kind in the record"));
            }
            if before < TOLD_MAX {
                say(kind, text, warning, Ok(number));
            }
        }
    }
    all
}

fn entry(said: WarningGroup<'_>) -> NoteEntry {
    let mut concerns = said.elsewhere;
    let numbers: Vec<String> = said.figures.iter().map(ToString::to_string).collect();
    match numbers.len() {
        0 => {}
        1 => concerns.push(format!("figure {}", numbers[0])),
        _ => concerns.push(format!("figures {}", numbers.join(", "))),
    }
    NoteEntry { text: said.text, concerns: concerns.join("; "), figures: said.figures }
}

/// The kind as stored in the record, such as `cached-reads`.
fn kind(warning: &Warning) -> String {
    let value = serde_json::to_value(warning).unwrap_or_default();
    value["kind"].as_str().unwrap_or_default().to_owned()
}
