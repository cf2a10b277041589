//! Consistency of workloads that use the same files: the files and their data.

use std::collections::HashMap;
use std::fmt;

use super::protocol::wipes_its_data;
use super::workload::Draft;
use crate::placement::spread::same_nodes;
use crate::study::error::{StudyError, count};
use crate::study::keys::WORKLOAD;
use crate::study::table::definition::Setter;
use crate::study::table::values::{Fields, Span, Value, Values};
use crate::{Bytes, Case, Existing, Keep, Layer, Phase, Placement, Sharing};

/// Keys of `[protocol]` that change the order of cases.
const REORDERING: [&str; 2] = ["shuffle", "interleaved"];

/// Key by which workloads use the same files: place, sharing, names, and whether they are transfers.
type FileSetKey = (usize, bool, bool, bool, bool);

fn files(draft: &Draft<'_>) -> FileSetKey {
    let files = &draft.spec.files;
    let shared = files.sharing == Sharing::Shared;
    // Each workload creates its own trees and objects.
    let is_transfers = draft.spec.work.is_transfers();
    (draft.target.place, shared, files.unique_dir, files.file_per_repetition, is_transfers)
}

/// Gives each workload the file settings that it, or a workload that shares its files, contains.
pub(super) fn settle(drafts: &mut [Draft<'_>], errors: &mut Vec<StudyError>) {
    for key in WORKLOAD.keys {
        let Setter::Files(set) = key.set else { continue };
        let key = key.name;
        let mut said: HashMap<FileSetKey, (Value, Span)> = HashMap::new();
        for draft in drafts.iter() {
            if let Some(field) = draft.fields.field(key) {
                said.entry(files(draft)).or_insert_with(|| (field.value.clone(), field.span.clone()));
            }
        }
        for draft in drafts.iter_mut() {
            let Some((value, first)) = said.get(&files(draft)) else { continue };
            if draft.fields.given(key).is_some_and(|own| own != value) {
                let message = format!("two workloads on the same files differ in `{key}`");
                let help = format!("give both the same `{key}`, give it only once, or name another target");
                let error = StudyError::new(draft.fields.span(key), "differs here", message, help);
                errors.push(error.and(first.clone(), "first given here"));
            }
            set(&mut draft.spec.files, value);
            draft.fill_said |= key == "fill";
        }
    }
    errors.extend(drafts.iter().filter_map(not_for_a_device));
    // Points of one sweep have the same mistakes.
    errors.dedup();
}

/// The error for a setting that does not apply to a device, because a device is neither created nor
/// removed.
fn not_for_a_device(draft: &Draft<'_>) -> Option<StudyError> {
    let files = &draft.spec.files;
    let key = match () {
        () if !draft.target.device => return None,
        () if files.existing == Existing::Replace => "existing",
        () if files.keep != Keep::Always => "keep",
        () if files.preallocate => "preallocate",
        () if files.file_per_repetition => "file_per_repetition",
        () => return None,
    };
    let message =
        format!("this `{key}` creates or removes files, but a device can be neither created nor removed");
    let help = format!("leave `{key}` out where the target is a device");
    Some(StudyError::new(draft.fields.span(key), "only for files", message, help))
}

/// Reports each workload that reads unwritten data, as far as the study can tell, and each that depends on
/// data of another one while the cases are reordered. `cases` are those of `drafts`, in the same order.
pub(super) fn check(drafts: &[Draft<'_>], cases: &[Case], protocol: &Fields, errors: &mut Vec<StudyError>) {
    let reordered = REORDERING.into_iter().find(|key| protocol.flag(key));
    let mut written: HashMap<FileSetKey, WrittenData<'_>> = HashMap::new();
    let mut reported = None;
    for (draft, case) in drafts.iter().zip(cases).filter(|(draft, _)| draft.spec.work.is_transfers()) {
        let written = written.entry(files(draft)).or_default();
        if case.protocol.wipe {
            written.volumes.clear();
        }
        let local = draft.target.description.layer == Layer::NodeLocal;
        let needed = Volume::of(case);
        if case.protocol.precondition > 0 {
            written.add(case, &needed, local);
        }
        let needs = case.phases.first().is_some_and(|phase| phase.needs_data());
        let workload = draft.fields.fields();
        let said_before = reported.is_some_and(|reported| std::ptr::eq(reported, workload));
        if needs
            && !said_before
            && case.protocol.precondition > 0
            && draft.fill_said
            && !draft.spec.files.fill
        {
            errors.push(overwritten(draft, protocol));
            reported = Some(workload);
            continue;
        }
        if needs && !said_before && (wipes_its_data(case) || !draft.fill_said) {
            let covering = || written.volumes.iter().filter(|(_, volume)| volume.covers(&needed));
            let writer = covering().find(|(writer, _)| !local || reaches(writer, case));
            let error = match writer {
                None if case.protocol.wipe => Some(wiped(draft)),
                None if covering().next().is_some() => Some(elsewhere(draft, case, covering())),
                None => Some(no_data(draft, &needed, written.last)),
                Some((writer, _)) => reordered
                    .filter(|_| writer.id != case.id)
                    .map(|key| out_of_order(key, protocol, draft, case, writer)),
            };
            if let Some(error) = error {
                errors.push(error);
                reported = Some(workload);
            }
        }
        if case.phases.iter().any(|phase| phase.only_writes()) {
            written.add(case, &Volume { whole: writes_all(case), ..needed }, local);
        }
    }
}

/// Whether a phase writes its files completely, as far as its operation count allows.
fn writes_all(case: &Case) -> bool {
    let workload = &case.workload;
    case.phases.contains(&Phase::Fill) || workload.transfers_per_task() >= workload.transfers_per_pass()
}

/// Whether `reader` finds the data of `writer` on its own nodes.
fn reaches(writer: &Case, reader: &Case) -> bool {
    let shared = reader.workload.files.sharing == Sharing::Shared;
    shared || same_nodes(&writer.workload, &reader.workload)
}

/// Data written by cases into the same files.
#[derive(Default)]
struct WrittenData<'c> {
    /// No volume covers another one.
    volumes: Vec<(&'c Case, Volume)>,
    last: Option<&'c Case>,
}

impl<'c> WrittenData<'c> {
    /// On node-local storage, files with the same name are different files on different nodes.
    fn add(&mut self, case: &'c Case, volume: &Volume, local: bool) {
        self.last = Some(case);
        let covers = |one: (&Case, &Volume), other: (&Case, &Volume)| {
            one.1.covers(other.1) && (!local || reaches(one.0, other.0))
        };
        if !self.volumes.iter().any(|(writer, other)| covers((writer, other), (case, volume))) {
            self.volumes.retain(|(writer, other)| !covers((case, volume), (writer, other)));
            self.volumes.push((case, *volume));
        }
    }
}

fn wiped(draft: &Draft<'_>) -> StudyError {
    let message = "this reads data that `wipe` has removed";
    let help = "put \"write\" first, add fill = true or `precondition`, or leave `wipe` out";
    StudyError::new(draft.fields.span("phases"), "reads first", message, help)
}

fn overwritten(draft: &Draft<'_>, protocol: &Fields) -> StudyError {
    let message = "`precondition` would overwrite the data that this reads";
    let help = "fill = false says that the data already exists; leave one of the two out";
    let own = draft.fields.has("precondition");
    let span = if own { draft.fields.key_span("precondition") } else { protocol.key_span("precondition") };
    StudyError::new(draft.fields.span("fill"), "must be kept", message, help).and(span, "overwritten here")
}

fn out_of_order(key: &str, protocol: &Fields, draft: &Draft<'_>, case: &Case, writer: &Case) -> StudyError {
    let (how, label) =
        if key == "shuffle" { ("shuffled", "in any order") } else { (key, "also in reverse order") };
    let message = format!("if {how}, `{}` could run before `{}`, whose data it reads", case.id, writer.id);
    let help =
        format!("add fill = true to it (missing data is written first, untimed), or leave `{key}` out");
    let error = StudyError::new(protocol.span(key), label, message, help);
    error.and(draft.fields.span("phases"), "reads first")
}

fn elsewhere<'c>(
    draft: &Draft<'_>,
    case: &Case,
    writers: impl Iterator<Item = &'c (&'c Case, Volume)>,
) -> StudyError {
    let writer = writers.last().map_or("another workload", |(writer, _)| writer.id.as_str());
    let target = &draft.target.description.name;
    let message = format!(
        "`{}` reads what `{writer}` has written on other nodes, but `{target}` is node-local",
        case.id
    );
    let help = "give both the same `nodes` and `tasks`, put \"write\" first, or add fill = true (missing data is \
         written first, untimed)";
    let key = if draft.fields.has("nodes") { "nodes" } else { "phases" };
    StudyError::new(draft.fields.span(key), "other nodes", message, help)
}

/// The files that a case leaves behind or needs.
#[derive(Clone, Copy)]
struct Volume {
    /// Whether all of its transfers are done; a partial write is of no use to other cases.
    whole: bool,
    sets: u32,
    files: u32,
    file_bytes: Bytes,
}

impl Volume {
    fn of(case: &Case) -> Self {
        let placement = Placement::new(&case.workload);
        let sets = if case.workload.files.file_per_repetition { case.passes_max() } else { 1 };
        Self { whole: true, sets, files: placement.file_count(), file_bytes: placement.file_bytes() }
    }

    fn covers(&self, needed: &Self) -> bool {
        self.whole
            && self.sets >= needed.sets
            && self.files >= needed.files
            && self.file_bytes >= needed.file_bytes
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
            let part = if writes_all(writer) { "" } else { "only parts of " };
            format!("this reads {needed}, but `{}` has written {part}{}", writer.id, Volume::of(writer))
        }
    };
    let help = "put \"write\" first, or add fill = true (missing data is written first, untimed), or fill = false \
         (the data already exists)";
    StudyError::new(draft.fields.span("phases"), "reads first", message, help)
}
