//! Workloads that run at the same time.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::study::error::StudyError;
use crate::study::names::{unique, unknown};
use crate::study::table::values::{Fields, Values};
use crate::{Case, Concurrent, Keep, Nanos, Phase, Placement, Stopping, WorkloadSpec};

/// The cases of each of `tables`. `alone` has those that run alone.
pub(super) fn cases(tables: &[Fields], alone: &[Case], errors: &mut Vec<StudyError>) -> Vec<Case> {
    let mut names = Vec::new();
    let mut cases = Vec::new();
    for fields in tables {
        let Some(name) = fields.text("name") else { continue };
        unique(&mut names, name, fields.span("name"), "[[concurrent]] table", errors);
        if alone.iter().any(|case| case.group == name) {
            let message = format!("`{name}` is the name of a workload, too");
            let help = "give the two different names";
            errors.push(StudyError::new(fields.span("name"), "again here", message, help));
            continue;
        }
        match of_table(fields, name, alone) {
            Ok(own) => cases.extend(own),
            Err(error) => errors.extend(error),
        }
    }
    cases
}

/// The cases of one table. An error that has been reported already is `None`.
fn of_table(fields: &Fields, name: &str, alone: &[Case]) -> Result<Vec<Case>, Option<StudyError>> {
    let wanted = fields.texts("workloads").ok_or(None)?;
    let wrong = |key: &str, label: &str, message: String, help: &str| {
        Err(Some(StudyError::new(fields.span(key), label, message, help)))
    };
    if wanted.len() < 2 {
        let help = "name two workloads or more; one runs alone anyway";
        return wrong("workloads", "too few", format!("`{name}` has {} workloads", wanted.len()), help);
    }
    let starts = starts(fields, wanted.len())?;
    let mut all: Vec<Case> = Vec::new();
    let labels = labels(wanted);
    for ((workload, label), start) in wanted.iter().zip(&labels).zip(starts) {
        let mut own = alone.iter().filter(|case| case.group == *workload);
        let (Some(case), None) = (own.next(), own.next()) else {
            let groups = alone.iter().map(|case| case.group.as_str());
            if !alone.iter().any(|case| case.group == *workload) {
                return Err(Some(unknown("workload", workload, fields.span("workloads"), groups)));
            }
            let message = format!("`{workload}` is swept, so `{name}` would run many of its cases");
            let help = "write a [[workload]] with one value of each key for this";
            return wrong("workloads", "swept", message, help);
        };
        if let Some((message, help)) = unfit(case).map(|(what, help)| (format!("`{workload}` {what}"), help))
        {
            return wrong("workloads", "cannot run beside others", message, help);
        }
        let together = Concurrent { name: name.to_owned(), alone: case.id.clone(), start };
        let beside = |has_own_files| {
            beside(case, fields, (together.clone(), label), has_own_files).map_err(|error| {
                Some(StudyError::new(fields.span("workloads"), "in this workload", error.message, error.help))
            })
        };
        let mut own = beside(false)?;
        if all.iter().any(|other| common_file(&own, other).is_some()) && can_have_own_files(case) {
            own = beside(true)?;
        }
        for other in &all {
            if let Some((message, help)) = conflict(&own, other) {
                return wrong("workloads", "cannot run at the same time", message, help);
            }
        }
        all.push(own);
    }
    apart(fields, &all)?;
    Ok(all)
}

/// Whether the files of a case may have other names: none of their data is read that it does not write itself, and the
/// study names none of them.
fn can_have_own_files(case: &Case) -> bool {
    let files = &case.workload.files;
    let needs_data = case.phases.iter().any(|phase| phase.needs_data()) && !files.fill;
    case.workload.work.is_transfers() && !needs_data && !files.exact_names && files.keep != Keep::Always
}

/// A name for each of `workloads`: those that come again are numbered.
fn labels(workloads: &[String]) -> Vec<String> {
    let label = |(place, name): (usize, &String)| match workloads[..place]
        .iter()
        .filter(|one| *one == name)
        .count()
    {
        0 => name.clone(),
        before => format!("{name}-{}", before + 1),
    };
    workloads.iter().enumerate().map(label).collect()
}

/// The case `alone` as one of several that run at the same time, perhaps with files of its own.
fn beside(
    alone: &Case,
    fields: &Fields,
    (together, label): (Concurrent, &str),
    has_own_files: bool,
) -> Result<Case, crate::PlanError> {
    let id = format!("{}:{label}", together.name);
    let mut spec = WorkloadSpec::from(alone.workload.clone());
    for target in spec.files.targets.iter_mut().filter(|_| has_own_files) {
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (stem, end) =
            name.rsplit_once('.').map_or((name.as_str(), ""), |(stem, _)| (stem, &name[stem.len()..]));
        target.set_file_name(format!("{stem}-{label}{end}"));
    }
    spec.name.clone_from(&id);
    let title = fields.text("title").unwrap_or(&together.name);
    let own = if alone.title.is_empty() || label != alone.group { label } else { &alone.title };
    Ok(Case {
        title: format!("{title}: {own}"),
        group: id.clone(),
        id,
        workload: spec.validate()?,
        in_turn: false,
        concurrent: Some(together),
        ..alone.clone()
    })
}

/// When each of so many workloads begins.
fn starts(fields: &Fields, workloads: usize) -> Result<Vec<Nanos>, Option<StudyError>> {
    let Some(texts) = fields.texts("starts") else { return Ok(vec![Nanos(0); workloads]) };
    let wrong = |label: &str, message: String, help: &str| {
        Some(StudyError::new(fields.span("starts"), label, message, help))
    };
    if texts.len() != workloads {
        let message = format!("{} starts for {workloads} workloads", texts.len());
        return Err(wrong("not as many", message, "give a time for each workload, in the same order"));
    }
    let time = |text: &String| {
        Nanos::parse_study(text).map_err(|error| wrong("not a time", error.message, "write it as \"5s\""))
    };
    let starts: Vec<Nanos> = texts.iter().map(time).collect::<Result<_, _>>()?;
    if starts.iter().all(|start| *start > Nanos(0)) {
        return Err(wrong("none at 0", "no workload begins at the start".to_owned(), "begin with \"0s\""));
    }
    Ok(starts)
}

/// Why a workload cannot run at the same time as others, and what to do.
fn unfit(case: &Case) -> Option<(String, &'static str)> {
    let work = &case.workload.work;
    match case.concurrent_phase() {
        _ if work.jobs().is_some() => {
            Some(("consists of jobs, which have processes of their own".to_owned(), "leave it out"))
        }
        Some(_) => match () {
            () if case.protocol.stopping != Stopping::Count => Some((
                "ends by `until`, on which those beside it have no influence".to_owned(),
                "give it a number of `repetitions` instead",
            )),
            () if case.workload.memory_hog.get() > 0 => {
                Some(("has `memory_hog`, which all of them would feel".to_owned(), "leave that out"))
            }
            () => None,
        },
        None => {
            let phases: Vec<&str> = case.phases.iter().map(|phase| phase.name()).collect();
            Some((
                format!("has the phases {}, but at the same time each has one", phases.join(", ")),
                "give it one, as in `phases = [\"read\"]`; with `fill = true` it reads data of its own",
            ))
        }
    }
}

/// What two cases cannot have in common, or must have, and what to do.
fn conflict(one: &Case, other: &Case) -> Option<(String, &'static str)> {
    let names = format!("`{}` and `{}`", other.id, one.id);
    if one.layout != other.layout {
        let help = "only one layout exists at a time: name targets of the same one";
        return Some((format!("{names} are on different layouts"), help));
    }
    if one.passes_max() != other.passes_max() || one.protocol.warm_up != other.protocol.warm_up {
        let help = "give both the same `repetitions`, `rounds` and `warm_up`";
        return Some((format!("{names} have different numbers of passes"), help));
    }
    common_file(one, other).map(|path| {
        let help = "give each a target of its own; one that reads has files of its own with `fill = true`";
        (format!("{names} use the same `{}`, and one of them writes", path.display()), help)
    })
}

/// A file or directory of both cases, if one of them writes.
fn common_file(one: &Case, other: &Case) -> Option<PathBuf> {
    let writes = |case: &Case| {
        let writes = |phase: &Phase| phase.writes() || phase.creates_items();
        case.workload.files.fill || case.phases.iter().any(writes)
    };
    let [own, others] = [one, other].map(paths);
    own.intersection(&others).next().filter(|_| writes(one) || writes(other)).cloned()
}

/// All files and directories of a case.
fn paths(case: &Case) -> HashSet<PathBuf> {
    let workload = &case.workload;
    let own = |pass: u32| {
        let files = match workload.work.is_transfers() {
            true => Placement::new(workload).files(pass).into_iter().map(|slot| slot.path).collect(),
            false => Vec::new(),
        };
        files.into_iter().chain(workload.roots(pass))
    };
    (0..if workload.files.file_per_repetition { case.passes_max() } else { 1 }).flat_map(own).collect()
}

/// Whether all run at the same time for a while.
fn apart(fields: &Fields, all: &[Case]) -> Result<(), Option<StudyError>> {
    let start = |case: &Case| case.concurrent.as_ref().map_or(Nanos(0), |together| together.start);
    let last = all.iter().max_by_key(|case| start(case));
    for case in all {
        let ends = case.workload.duration.map(|duration| Nanos(start(case).0.saturating_add(duration.0)));
        if let (Some(ends), Some(last)) = (ends, last)
            && ends <= start(last)
        {
            let message = format!("`{}` ends after {ends}, when `{}` has not begun", case.group, last.group);
            let help = "give the first a longer `duration`, or the second an earlier start";
            return Err(Some(StudyError::new(fields.span("starts"), "too late", message, help)));
        }
    }
    Ok(())
}
