//! What workloads on the same files have in common: the files and the data in them.

use std::fmt;

use super::error::{StudyError, count};
use super::fields::Value;
use super::workload::Draft;
use crate::{Bytes, Case, Existing, Keep, Phase, Placement};

/// Keys about files. All workloads on the same files share what any of them says.
const FILE_KEYS: [&str; 4] = ["existing", "keep", "preallocate", "fill"];

/// Whether two workloads have the same files.
fn same_files(one: &Draft<'_>, other: &Draft<'_>) -> bool {
    let names = |draft: &Draft<'_>| {
        let files = &draft.spec.files;
        (files.sharing, files.unique_dir, files.file_per_repetition)
    };
    names(one) == names(other) && one.spec.files.targets == other.spec.files.targets
}

/// Gives each workload what is said about its files, here or in a workload that shares them.
pub(super) fn settle(drafts: &mut [Draft<'_>], errors: &mut Vec<StudyError>) {
    for index in 0..drafts.len() {
        for key in FILE_KEYS {
            let own = &drafts[index];
            let first = drafts.iter().find(|other| other.fields.has(key) && same_files(own, other));
            let Some(first) = first else { continue };
            let Some(value) = first.fields.given(key).cloned() else { continue };
            if own.fields.given(key).is_some_and(|own| *own != value) {
                let message = format!("two workloads on the same files differ in `{key}`");
                let help = format!("give both the same `{key}`, say it once, or name another target");
                let error = StudyError::new(own.fields.span(key), "differs here", message, help);
                errors.push(error.and(first.fields.span(key), "first said here"));
            }
            apply(&mut drafts[index], key, &value);
        }
        errors.extend(not_for_a_device(&drafts[index]));
    }
}

fn apply(draft: &mut Draft<'_>, key: &str, value: &Value) {
    let files = &mut draft.spec.files;
    match (key, value) {
        ("existing", Value::Word("replace")) => files.existing = Existing::Replace,
        ("existing", Value::Word("reuse")) => files.existing = Existing::Reuse,
        ("keep", Value::Word("never")) => files.keep = Keep::Never,
        ("keep", Value::Word("on-error")) => files.keep = Keep::OnError,
        ("keep", Value::Word("always")) => files.keep = Keep::Always,
        ("preallocate", Value::Flag(flag)) => files.preallocate = *flag,
        ("fill", Value::Flag(flag)) => {
            files.fill = *flag;
            draft.fill_said = true;
        }
        _ => {}
    }
}

/// A device is neither made nor removed.
fn not_for_a_device(draft: &Draft<'_>) -> Option<StudyError> {
    let files = &draft.spec.files;
    let key = match () {
        () if !draft.device => return None,
        () if files.existing == Existing::Replace => "existing",
        () if files.keep != Keep::Always => "keep",
        () if files.preallocate => "preallocate",
        () if files.file_per_repetition => "file_per_repetition",
        () => return None,
    };
    let message = format!("a device can be neither made nor removed, as this `{key}` asks");
    let help = format!("leave `{key}` out where the target is a device");
    Some(StudyError::new(draft.fields.span(key), "only for files", message, help))
}

/// Reports each workload that reads data that nobody has written, as far as the study can tell.
/// `cases` are those of `drafts`, in the same order.
pub(super) fn check(drafts: &[Draft<'_>], cases: &[Case], errors: &mut Vec<StudyError>) {
    for (index, (draft, case)) in drafts.iter().zip(cases).enumerate() {
        let needs = case.phases.first().is_some_and(|phase| phase.needs_data());
        if !needs || draft.fill_said {
            continue;
        }
        let writers: Vec<&Case> = drafts[..index]
            .iter()
            .zip(cases)
            .filter(|(other, _)| same_files(draft, other))
            .map(|(_, case)| case)
            .filter(|case| case.phases.iter().any(|phase| matches!(phase, Phase::Write | Phase::Fill)))
            .collect();
        let needed = Volume::of(case);
        if !writers.iter().any(|writer| Volume::of(writer).covers(&needed)) {
            errors.push(no_data(draft, &needed, writers.last().copied()));
        }
    }
}

/// The files that a case leaves behind or needs.
struct Volume {
    sets: u32,
    files: u32,
    file_bytes: Bytes,
}

impl Volume {
    fn of(case: &Case) -> Self {
        let placement = Placement::new(&case.workload);
        let sets = if case.workload.files.file_per_repetition { case.repetitions } else { 1 };
        Self { sets, files: placement.file_count(), file_bytes: placement.file_bytes() }
    }

    fn covers(&self, needed: &Self) -> bool {
        self.sets >= needed.sets && self.files >= needed.files && self.file_bytes >= needed.file_bytes
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = u64::from(self.files) * u64::from(self.sets);
        let each = if files == 1 { "" } else { " each" };
        write!(f, "{} of {}{each}", count(files, "file"), self.file_bytes)
    }
}

fn no_data(draft: &Draft<'_>, needed: &Volume, writer: Option<&Case>) -> StudyError {
    let message = match writer {
        None => "this reads data that nothing in the study has written".to_owned(),
        Some(writer) => {
            format!("this reads {needed}, and `{}` has written {}", writer.id, Volume::of(writer))
        }
    };
    let help = "put \"write\" first, or add fill = true (missing data is written before, untimed), or \
                fill = false (the data is there already)";
    StudyError::new(draft.fields.span("phases"), "reads first", message, help)
}
