//! The tables of a study set against each other, as a plan.

use std::path::Path;

use super::data;
use super::document::Document;
use super::error::StudyError;
use super::fields::Fields;
use super::target::{Targets, unique};
use super::workload::Draft;
use crate::{Case, Nanos, Plan, PlanError, Question};

/// The plan that `document` asks for; `None` or an addition to `errors` where it makes none.
pub(super) fn plan(
    path: &Path,
    text: &str,
    document: &Document,
    errors: &mut Vec<StudyError>,
) -> Option<Plan> {
    let seed = document.study.count("seed")?;
    let targets = Targets::read(&document.targets, document.partial, errors);
    let mut names = Vec::new();
    let mut drafts = Vec::new();
    for fields in &document.workloads {
        if let Some(name) = fields.text("name") {
            unique(&mut names, &name, fields.span("name"), "workload", errors);
        }
        let target = targets.of(fields, errors);
        if let (Some(target), true) = (target, fields.sound()) {
            drafts.extend(Draft::read(fields, target, seed, errors));
        }
    }
    data::settle(&mut drafts, errors);
    let mut cases = Vec::new();
    for draft in &drafts {
        cases.extend(case(draft, &document.protocol, errors));
    }
    // With a workload missing, others would seem to read what nobody has written.
    if errors.is_empty() {
        data::check(&drafts, &cases, errors);
    }
    let title = document
        .study
        .text("title")
        .unwrap_or_else(|| path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned());
    let question = Question::Study { path: path.to_owned(), text: text.to_owned() };
    Some(Plan::new(title, question, seed, cases))
}

fn case(draft: &Draft<'_>, protocol: &Fields, errors: &mut Vec<StudyError>) -> Option<Case> {
    let fields = draft.fields;
    let workload = match draft.spec.clone().validate() {
        Ok(workload) => workload,
        Err(error) => {
            errors.push(located(fields, &error));
            return None;
        }
    };
    Some(Case {
        title: fields.text("title").unwrap_or_default(),
        repetitions: fields.count_u32("repetitions").or_else(|| protocol.count_u32("repetitions"))?,
        delay: fields.nanos("delay").or_else(|| protocol.nanos("delay")).unwrap_or(Nanos(0)),
        time_limit: fields.nanos("time_limit").or_else(|| protocol.nanos("time_limit")),
        ..Case::new(draft.spec.name.clone(), workload, draft.phases.clone())
    })
}

/// A value that cannot be measured, at the place where it was written. A [`PlanError`] names a
/// field of [`crate::WorkloadSpec`]; keys have the same names but for those that stand in for
/// another one.
fn located(fields: &Fields, error: &PlanError) -> StudyError {
    let stand_in = match error.field {
        "block" | "segments" => "size",
        "duration" => "stonewall",
        other => other,
    };
    let key = if fields.has(error.field) || !fields.has(stand_in) { error.field } else { stand_in };
    let label = if fields.has(key) { format!("this `{key}`") } else { "in this workload".to_owned() };
    let located = StudyError::new(fields.span(key), label, &error.message, &error.help);
    let against = match error.field {
        "block" => "transfer",
        "duration" => "stonewall",
        "direct" | "single_attempt" => "backend",
        _ => return located,
    };
    match fields.has(against) && against != key {
        true => located.and(fields.span(against), format!("against this `{against}`")),
        false => located,
    }
}
