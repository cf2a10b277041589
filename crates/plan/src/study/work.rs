//! The work of a `[[workload]]` other than transfers.

use super::error::StudyError;
use super::fields::Values;
use super::jobs::JobDefinitions;
use super::keys::{OF_TRANSFERS, WORKLOAD};
use super::kind::WorkKeys;
use super::sweep::Point;
use crate::seeds::named_seed;
use crate::{Binding, Bytes, Jobs, Objects, Pattern, Phase, Rpc, Tree, Work};

/// Context for reading a workload.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkloadContext<'a> {
    /// The seed of the study.
    pub(super) seed: u64,
    /// Nodes of the run.
    pub(super) nodes: u32,
    /// Tables and tests of jobs.
    pub(super) matter: &'a JobDefinitions<'a>,
}

/// The kind of work of a workload, if not transfers.
pub(super) fn kind(fields: &impl Values) -> Option<&'static WorkKeys> {
    let word = fields.word("work")?;
    WORKLOAD.works.iter().find(|work| work.word == word)
}

/// The phases of a workload: those given, or the defaults of its kind of work.
pub(super) fn phases(fields: &Point<'_>) -> Vec<Phase> {
    let words = match kind(fields) {
        Some(work) if !fields.has("phases") => work.default_phases,
        _ => fields.words("phases"),
    };
    words.iter().filter_map(|word| super::workload::phase(word)).collect()
}

/// Keys and phases of another kind of work, and missing required keys.
pub(super) fn mistakes(fields: &Point<'_>, phases: &[Phase]) -> Vec<StudyError> {
    let own = kind(fields);
    let mut errors = Vec::new();
    let mut refuse = |key: &str, help: String| {
        let message = format!("`{key}` would do nothing here");
        errors.push(StudyError::new(fields.key_span(key), "without effect", message, help));
    };
    let word = own.map_or("transfers", |work| work.word);
    for (key, others) in OF_TRANSFERS {
        if fields.has(key) && own.is_some_and(|own| !others.contains(&own.word)) {
            refuse(key, format!("leave it out where work = \"{word}\""));
        }
    }
    for work in WORKLOAD.works.iter().filter(|work| work.word != word) {
        for key in work.keys.iter().filter(|key| fields.has(key.name)) {
            refuse(
                key.name,
                format!("it is about {}: write work = \"{}\"; or leave it out", work.what, work.word),
            );
        }
    }
    let needed: &[&str] = match word {
        "tree" => &["items_per_directory"],
        "objects" => &["precreated", "steps"],
        "transfers" => &["transfer"],
        _ => &[],
    };
    for key in needed.iter().filter(|key| !fields.has(key)) {
        let allowed = WORKLOAD.find(key).map_or_else(String::new, |key| key.kind.allowed());
        errors.push(super::fields::missing(&WORKLOAD, key, fields.header(), allowed));
    }
    errors.extend(foreign_phase(fields, own, phases));
    errors.extend(own.and_then(|own| idle(fields, own, phases)));
    errors.extend(own.filter(|own| own.word == "jobs").and_then(|_| not_loaded(fields, phases)));
    errors
}

/// The first phase that another kind of work has.
fn foreign_phase(fields: &Point<'_>, own: Option<&WorkKeys>, phases: &[Phase]) -> Option<StudyError> {
    let belongs = |phase: &&Phase| match own {
        Some(own) => own.phases.contains(&phase.name()),
        None => phase.is_transfers(),
    };
    let phase = phases.iter().find(|phase| !belongs(phase))?;
    let message = match own {
        Some(own) => format!("work on {} has no phase \"{phase}\"", own.what),
        None => format!("transfers have no phase \"{phase}\""),
    };
    let other = WORKLOAD.works.iter().find(|work| work.phases.contains(&phase.name()));
    let help = match (own, other) {
        (Some(own), _) => format!("its phases are {}", own.phases.join(", ")),
        (None, Some(other)) => format!("write work = \"{}\", or leave the phase out", other.word),
        (None, None) => "leave the phase out".to_owned(),
    };
    Some(StudyError::new(fields.span("phases"), "of other work", message, help))
}

/// Jobs without loaded tables.
fn not_loaded(fields: &Point<'_>, phases: &[Phase]) -> Option<StudyError> {
    let at = |wanted: Phase| phases.iter().position(|&phase| phase == wanted);
    let jobs = at(Phase::Jobs)?;
    match at(Phase::Load) {
        Some(load) if load < jobs => None,
        None if fields.word("existing") == Some("reuse") => None,
        Some(_) => {
            let message = "jobs would be launched before their tables are there";
            Some(StudyError::new(fields.span("phases"), "out of order", message, "put \"load\" first"))
        }
        None => {
            let message = "nothing makes the tables that these jobs read";
            let help = "put \"load\" first, or say existing = \"reuse\" where they are there already";
            Some(StudyError::new(fields.span("phases"), "without \"load\"", message, help))
        }
    }
}

/// A key of the kind `own` that would have no effect.
fn idle(fields: &Point<'_>, own: &WorkKeys, phases: &[Phase]) -> Option<StudyError> {
    let has = |phase: Phase| phases.contains(&phase);
    let writes = has(Phase::FileCreate) || has(Phase::FileWrite);
    let idle = match own.word {
        "tree" => [
            ("branching", fields.count("levels") == Some(0), "it needs `levels`"),
            ("leaf_only", fields.flag("leaf_only") && fields.count("levels") == Some(0), "it needs `levels`"),
            ("read_bytes", !has(Phase::FileRead), "it needs the phase \"file-read\""),
            (
                "random",
                fields.flag("random") && !has(Phase::FileStat) && !has(Phase::DirectoryStat),
                "it needs a phase that looks at items, as \"file-stat\"",
            ),
            ("fsync", fields.word("fsync") != Some("none") && !writes, "it needs a phase that writes"),
            ("verify", fields.flag("verify") && !has(Phase::FileRead), "it needs the phase \"file-read\""),
            ("wear_out", fields.flag("wear_out") && !fields.has("stonewall"), "it needs a `stonewall`"),
        ]
        .into_iter()
        .find(|(key, idle, _)| *idle && fields.has(key)),
        "objects" => [
            ("offset", fields.count_u32("tasks") == Some(1), "with one task nobody else makes objects"),
            ("wear_out", fields.flag("wear_out") && !fields.has("stonewall"), "it needs a `stonewall`"),
        ]
        .into_iter()
        .find(|(key, idle, _)| *idle && fields.has(key) && fields.count(key) != Some(0)),
        _ => None,
    };
    let (key, _, needs) = idle?;
    let message = format!("`{key}` would do nothing here");
    let help = format!("{needs}; or leave it out");
    Some(StudyError::new(fields.key_span(key), "without effect", message, help))
}

/// The work of a workload, which is `own`.
pub(super) fn work(
    fields: &Point<'_>,
    own: &WorkKeys,
    around: WorkloadContext<'_>,
    nodes: u32,
    errors: &mut Vec<StudyError>,
) -> Option<Work> {
    match own.word {
        "tree" => tree(fields, around.seed, errors).map(Work::Tree),
        "objects" => objects(fields).map(Work::Objects),
        "jobs" => jobs(fields, around, errors).map(Work::Jobs),
        _ => rpc(fields, nodes, errors).map(Work::Rpc),
    }
}

fn tree(fields: &Point<'_>, seed: u64, errors: &mut Vec<StudyError>) -> Option<Tree> {
    let write_bytes = fields.bytes("file_bytes")?;
    let read_bytes = fields.bytes("read_bytes").unwrap_or(write_bytes);
    let makes = phases(fields).contains(&Phase::FileCreate);
    if makes && read_bytes > write_bytes {
        let message = format!("files of {} bytes are not {} bytes long", write_bytes.0, read_bytes.0);
        let help = "read at most as many bytes as are written";
        let error = StudyError::new(fields.span("read_bytes"), "more than there is", message, help);
        errors.push(error.and(fields.span("file_bytes"), "written here"));
        return None;
    }
    if fields.word("fsync") == Some("each") {
        let message = "each file is written once: it is on stable storage when it is closed, or not";
        let help = "write fsync = \"close\"";
        errors.push(StudyError::new(fields.span("fsync"), "after each write", message, help));
        return None;
    }
    let name = fields.text("name")?;
    Some(Tree {
        depth: fields.count_u32("levels")?,
        branching: fields.count_u32("branching")?,
        leaf_only: fields.flag("leaf_only"),
        items_per_directory: fields.count("items_per_directory")?,
        own_trees: fields.flag("own_trees"),
        write_bytes,
        read_bytes,
        sync: fields.word("fsync") == Some("close"),
        shift: fields.count_u32("shift")?,
        random: fields.flag("random").then(|| named_seed(seed, name)),
        collective: fields.flag("collective"),
        make_node: fields.flag("make_node"),
        in_target: fields.flag("in_target"),
        shared: false,
        sync_all: false,
    })
}

fn jobs(fields: &Point<'_>, around: WorkloadContext<'_>, errors: &mut Vec<StudyError>) -> Option<Jobs> {
    if fields.word("fsync") == Some("each") {
        let message = "a table is on stable storage when it is closed, or when the kernel likes";
        let help = "write fsync = \"close\", or leave it out";
        errors.push(StudyError::new(fields.span("fsync"), "after each page", message, help));
        return None;
    }
    around.matter.jobs(fields, fields.count("signature").unwrap_or(around.seed), errors)
}

fn objects(fields: &Point<'_>) -> Option<Objects> {
    Some(Objects {
        sets: fields.count_u32("sets")?,
        precreated: fields.count("precreated")?,
        steps: fields.count("steps")?,
        object_bytes: fields.bytes("object_bytes")?,
        offset: fields.count_u32("offset")?,
        waiting_percent: fields.count_u32("waiting_percent")?,
        read_only: fields.flag("read_only"),
        no_stat: fields.flag("no_stat"),
    })
}

fn rpc(fields: &Point<'_>, nodes: u32, errors: &mut Vec<StudyError>) -> Option<Rpc> {
    let mut binding = |key: &str| match fields.text(key)?.parse::<Binding>() {
        Ok(binding) => Some(binding),
        Err(error) => {
            errors.push(StudyError::new(fields.span(key), "no processors", &error.message, &error.help));
            None
        }
    };
    let (client_binding, server_binding) = (binding("client_processors"), binding("server_processors"));
    let pattern = fields.word("pattern")?;
    Some(Rpc {
        pattern: Pattern::ALL.into_iter().find(|one| one.name() == pattern)?,
        ends: fields.count_u32("processes").unwrap_or(nodes),
        connections: fields.count_u32("connections")?,
        threads: fields.count_u32("threads")?,
        interface: fields.text("interface").map(str::to_owned),
        port: fields.count("port").and_then(|port| u16::try_from(port).ok()),
        client_binding: client_binding?,
        server_binding: server_binding?,
        warm_up: fields.nanos("uncounted")?,
        deadline: fields.nanos("deadline")?,
        ..Rpc::new(Bytes(fields.count("request_bytes")?), Bytes(fields.count("response_bytes")?))
    })
}
