//! The work of a `[[workload]]` other than transfers.

use super::jobs::JobDefinitions;
use crate::seeds::named_seed;
use crate::study::error::StudyError;
use crate::study::keys::WORKLOAD;
use crate::study::table::definition::{Key, KeyDefault, Setter, WorkKeys, setters};
use crate::study::table::values::{Point, Value, Values};
use crate::{Binding, Jobs, Phase, Rpc, Tree, Work};

/// Context for reading a workload.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkloadContext<'a> {
    /// The seed of the study.
    pub(super) seed: u64,
    /// Nodes of the run.
    pub(super) nodes: u32,
    /// Tables and tests of jobs.
    pub(super) jobs: &'a JobDefinitions<'a>,
}

/// The kind of work of a workload, if not transfers.
pub(super) fn kind(fields: &impl Values) -> Option<&'static WorkKeys> {
    let word = fields.word("work")?;
    WORKLOAD.works.iter().find(|work| work.word.0 == word)
}

/// The phases of a workload: those given, or the defaults of its kind of work.
pub(super) fn phases(fields: &Point<'_>) -> Vec<Phase> {
    let words = match kind(fields) {
        Some(work) if !fields.has("phases") => work.default_phases,
        _ => fields.words("phases"),
    };
    words.iter().filter_map(|word| Phase::named(word)).collect()
}

/// Keys and phases of another kind of work, and missing required keys.
pub(super) fn mistakes(fields: &Point<'_>, phases: &[Phase]) -> Vec<StudyError> {
    let own = kind(fields);
    let mut errors = Vec::new();
    let mut refuse = |key: &str, help: String| {
        let message = format!("`{key}` would do nothing here");
        errors.push(StudyError::new(fields.key_span(key), "without effect", message, help));
    };
    let word = own.map_or("transfers", |work| work.word.0);
    for key in WORKLOAD.keys.iter().filter(|key| fields.has(key.name)) {
        if own.is_some_and(|own| !own.uses(key)) {
            refuse(key.name, format!("leave it out where work = \"{word}\""));
        }
    }
    for work in WORKLOAD.works.iter().filter(|work| work.word.0 != word) {
        for key in work.keys.iter().filter(|key| fields.has(key.name)) {
            refuse(
                key.name,
                format!("it applies to {}: write work = \"{}\", or leave it out", work.what, work.word.0),
            );
        }
    }
    let needed = |key: &&Key| matches!(key.absent, KeyDefault::Needed(_)) && !fields.has(key.name);
    for key in own.map_or(WORKLOAD.keys, |own| own.keys).iter().filter(needed) {
        errors.push(crate::study::table::read::missing(
            &WORKLOAD,
            key.name,
            fields.header(),
            key.kind.allowed(),
        ));
    }
    errors.extend(foreign_phase(fields, own, phases));
    errors.extend(own.and_then(|own| idle(fields, Some(own), phases).next()));
    errors.extend(own.filter(|own| own.word.0 == "jobs").and_then(|_| not_loaded(fields, phases)));
    errors
}

/// The first phase that belongs to another kind of work.
fn foreign_phase(fields: &Point<'_>, own: Option<&WorkKeys>, phases: &[Phase]) -> Option<StudyError> {
    let belongs = |phase: &&Phase| match own {
        Some(own) => own.has(**phase),
        None => phase.is_transfers(),
    };
    let phase = phases.iter().find(|phase| !belongs(phase))?;
    let message = match own {
        Some(own) => format!("work on {} has no phase \"{phase}\"", own.what),
        None => format!("transfers have no phase \"{phase}\""),
    };
    let other = WORKLOAD.works.iter().find(|work| work.has(*phase));
    let names = |own: &WorkKeys| own.phases.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let help = match (own, other) {
        (Some(own), _) => format!("its phases are {}", names(own)),
        (None, Some(other)) => format!("write work = \"{}\", or leave the phase out", other.word.0),
        (None, None) => "leave the phase out".to_owned(),
    };
    Some(StudyError::new(fields.span("phases"), "of another kind of work", message, help))
}

/// The error for jobs without loaded tables.
fn not_loaded(fields: &Point<'_>, phases: &[Phase]) -> Option<StudyError> {
    let at = |wanted: Phase| phases.iter().position(|&phase| phase == wanted);
    let jobs = at(Phase::Jobs)?;
    match at(Phase::Load) {
        Some(load) if load < jobs => None,
        None if fields.word("existing") == Some("reuse") => None,
        Some(_) => {
            let message = "jobs would be launched before their tables exist";
            Some(StudyError::new(fields.span("phases"), "out of order", message, "put \"load\" first"))
        }
        None => {
            let message = "nothing creates the tables that these jobs read";
            let help = "put \"load\" first, or write existing = \"reuse\" if they already exist";
            Some(StudyError::new(fields.span("phases"), "without \"load\"", message, help))
        }
    }
}

/// Keys without effect: they are rejected, because nothing is silently ignored.
pub(super) fn idle(
    fields: &Point<'_>,
    own: Option<&'static WorkKeys>,
    phases: &[Phase],
) -> impl Iterator<Item = StudyError> {
    let keys = WORKLOAD.keys.iter().chain(own.map_or(&[][..], |own| own.keys));
    let said = |key: &&Key| fields.given(key.name).is_some_and(|value| *value != Value::Flag(false));
    keys.filter(said).filter_map(|key| {
        let (needs, _) = key.needs.iter().flatten().find(|(_, met)| !met(fields, phases))?;
        let message = format!("`{}` would do nothing here", key.name);
        let help = format!("{needs}; otherwise leave it out");
        Some(StudyError::new(fields.key_span(key.name), "without effect", message, help))
    })
}

/// The work of a workload of the kind `own`.
pub(super) fn work(
    fields: &Point<'_>,
    own: &WorkKeys,
    context: WorkloadContext<'_>,
    nodes: u32,
    errors: &mut Vec<StudyError>,
) -> Option<Work> {
    let mut work = (own.make)(nodes);
    for (set, value) in setters(own.keys, fields) {
        if let Setter::Work(set) = set {
            set(&mut work, value);
        }
    }
    if let Some(tree) = work.tree_mut() {
        tree.random = tree.random.and_then(|_| Some(named_seed(context.seed, fields.text("name")?)));
        if let Some(error) = tree_mistake(fields, tree) {
            errors.push(error);
            return None;
        }
    }
    if let Some(rpc) = work.rpc_mut() {
        bind(rpc, fields, errors)?;
    }
    if let Some(scaled) = work.jobs_mut() {
        *scaled = jobs(fields, scaled, context, errors)?;
    }
    Some(work)
}

fn tree_mistake(fields: &Point<'_>, tree: &Tree) -> Option<StudyError> {
    let (read, written) = (tree.read_bytes, tree.write_bytes);
    if phases(fields).contains(&Phase::FileCreate) && read > written {
        let message = format!("files of {} bytes are too short for reads of {} bytes", written.0, read.0);
        let help = "read at most as many bytes as are written";
        let error = StudyError::new(fields.span("read_bytes"), "more than there is", message, help);
        return Some(error.and(fields.span("file_bytes"), "written here"));
    }
    let message = "each file is written once, so it can be synced only when it is closed";
    let help = "write fsync = \"close\"";
    (fields.word("fsync") == Some("each"))
        .then(|| StudyError::new(fields.span("fsync"), "after each write", message, help))
}

fn jobs(
    fields: &Point<'_>,
    scaled: &Jobs,
    context: WorkloadContext<'_>,
    errors: &mut Vec<StudyError>,
) -> Option<Jobs> {
    if fields.word("fsync") == Some("each") {
        let message = "a table is synced when it is closed, or whenever the kernel writes it back";
        let help = "write fsync = \"close\", or leave it out";
        errors.push(StudyError::new(fields.span("fsync"), "after each page", message, help));
        return None;
    }
    let seed = fields.count("signature").unwrap_or(context.seed);
    context.jobs.jobs(fields, Jobs { seed, ..scaled.clone() }, errors)
}

/// The bindings of the processes that exchange requests and responses.
fn bind(rpc: &mut Rpc, fields: &Point<'_>, errors: &mut Vec<StudyError>) -> Option<()> {
    let mut binding = |key: &str| match fields.text(key)?.parse::<Binding>() {
        Ok(binding) => Some(binding),
        Err(error) => {
            errors.push(StudyError::new(fields.span(key), "not processors", &error.message, &error.help));
            None
        }
    };
    let (client_binding, server_binding) = (binding("client_processors"), binding("server_processors"));
    (rpc.client_binding, rpc.server_binding) = (client_binding?, server_binding?);
    Some(())
}
