//! A report: all data of a run that the forms show, in plain numbers with the unit at the end of each name.
//!
//! [`Report`] is also the JSON form, verbatim; `docs/REPORT.md` describes every field, which a test checks. Other
//! formats only select, order and format this data.

pub(crate) mod causes;
pub(crate) mod circumstances;
pub(crate) mod cluster;
pub(crate) mod figure;
pub(crate) mod latencies;
pub(crate) mod layouts;
pub(crate) mod notes;
pub(crate) mod object;
pub(crate) mod origin;
pub(crate) mod printed;
pub(crate) mod run_info;
pub(crate) mod schema;
pub(crate) mod statements;

use std::collections::{HashMap, HashSet};

use analysis::gate::{
    table::Column, table::figure as place, table::flag, table::number, table::text, table::word,
};
use analysis::{
    RateName,
    audit::{AuditIssue, Check},
    gate::Stated,
    printed::Reconciled,
    statistics::CONFIDENCE,
};
use plan::{Case, Stopping};
use record::{HostFacts, Provenance, Run, RunState};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;

use self::notes::Note;
use self::statements::Statements;
use crate::format::{counted, grouped};
use crate::inventory::beside::{PublishedMachine, machines};
use crate::report::circumstances::StudyInfo;
use crate::report::cluster::{ClusterInfo, RankMap, cluster, rank_maps};
use crate::report::figure::Figure;
use crate::report::layouts::{LayoutInfo, layouts};
use crate::report::object::{object, objects, schema, schema_of_list};
use crate::report::printed::Printed;
use crate::report::run_info::{CaseInfo, RunInfo, case_info, case_state, run_info};

/// The version of the JSON form. It changes if a field changes its meaning or is removed; new fields may be added
/// within a version.
pub(crate) const SCHEMA: &str = "ioproof-report/3";
/// The rate that summaries show. It includes fsync and close, because a user waits for these.
pub(crate) const SHOWN_RATE: RateName = RateName::ByWall;
/// Maximum number of figures with missing repetitions that are named; the rest is counted.
const SHORT_NAMED: usize = 8;

/// A whole report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub(crate) schema: &'static str,
    /// Which run.
    pub(crate) run: RunInfo,
    /// What is not there and why, in sentences; empty for a whole run.
    pub(crate) missing: Vec<String>,
    /// One for each result phase of each case.
    pub(crate) figures: Vec<Figure>,
    /// What the figures say together, after the gate: a list for each kind of statement.
    pub(crate) statements: Statements,
    /// What is doubtful of figures and circumstances, and what else they say, which is in the statements and charts.
    #[serde(rename = "audit", serialize_with = "doubts")]
    #[schemars(rename = "audit", schema_with = "schema_of_doubts")]
    pub(crate) found: analysis::findings::Findings,
    /// What a reader must know beside the figures.
    pub(crate) notes: Vec<Note>,
    /// What the study says of its circumstances.
    pub(crate) study: StudyInfo,
    /// What the words mean.
    pub(crate) definitions: Vec<Definition>,
    /// What was asked.
    pub(crate) cases: Vec<CaseInfo>,
    /// Each time that a layout was made for cases, in order.
    pub(crate) layouts: Vec<LayoutInfo>,
    /// Where it ran; of several nodes the first.
    pub(crate) host: HostFacts,
    /// The machines of the published studies that it stands beside.
    pub(crate) machines: Vec<PublishedMachine>,
    /// Its nodes; absent where one process made the run on one node.
    pub(crate) cluster: Option<ClusterInfo>,
    /// Who read whose data, of the reads of several nodes.
    pub(crate) rank_maps: Vec<RankMap>,
    /// What other tools printed; absent where nothing is imported.
    pub(crate) printed: Option<Printed>,
    /// The phases and rests of the run against its wall time; absent where it has not ended, or is not one
    /// run of this program.
    #[serde(serialize_with = "time")]
    #[schemars(schema_with = "schema_of_time")]
    pub(crate) time: Option<Reconciled>,
}

/// A word of the report and its meaning.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) meaning: String,
}

impl Report {
    /// The report of `run`, from its figures `sources` and the findings `found`.
    pub(crate) fn of(
        run: &Run,
        sources: Vec<analysis::figures::Figure>,
        found: analysis::findings::Findings,
    ) -> Self {
        let plan = &run.manifest.plan;
        let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let mut doubts: HashMap<usize, Vec<Check>> = HashMap::new();
        for one in found.audit.iter().filter(|one| one.check.is_doubt()) {
            let of_figure = one.figure.map(|place| doubts.entry(place).or_default());
            if let Some(of_figure) = of_figure.filter(|known| !known.contains(&one.check)) {
                of_figure.push(one.check);
            }
        }
        let figure = |(index, source): (usize, analysis::figures::Figure)| {
            let case = cases.get(source.case.as_str()).copied();
            let doubts = doubts.get(&index).map_or(&[][..], Vec::as_slice);
            let caveats = found.caveats.get(index).cloned().unwrap_or_default();
            Figure::of(run, index + 1, source, case, doubts, caveats)
        };
        let mut figures: Vec<Figure> = sources.into_iter().enumerate().map(figure).collect();
        let doubts = causes::of_audit(&found.audit).into_iter().filter(|cause| !cause.is_observation());
        let doubts: Vec<(String, String)> = doubts.map(|cause| (cause.name, cause.mark)).collect();
        let notes = notes::notes(run, &mut figures, &doubts);
        let begun = run.cases().iter().chain(run.interrupted.iter().map(|pass| &pass.key.case));
        let begun: HashSet<&str> = begun.map(|case| &**case).collect();
        let finished: HashSet<&str> = run.finished_cases.iter().map(String::as_str).collect();
        let case = |case: &Case| case_info(case, case_state(run, case, &begun, &finished));
        let beside = found.published.iter().filter_map(Stated::says).filter(|one| !one.elsewhere);
        let beside = beside.map(|one| one.published.id.as_str());
        Self {
            schema: SCHEMA,
            run: run_info(run),
            missing: missing(run, &figures, &cases, &finished),
            statements: Statements {
                tables: found.tables(),
                conditions: figures.iter().map(|figure| figure.conditions.clone()).collect(),
            },
            machines: machines(&plan.criteria, beside),
            rank_maps: rank_maps(run, &figures),
            figures,
            notes,
            study: StudyInfo::of(plan, &run.manifest),
            definitions: definitions(),
            cases: plan.cases.iter().map(case).collect(),
            host: run.manifest.host.clone(),
            cluster: cluster(run),
            layouts: layouts(run),
            printed: Printed::of(run),
            time: analysis::printed::run_time(run),
            found,
        }
    }
}

pub(crate) const DOUBT: &[Column<AuditIssue>] = &[
    word("check", "", "The check, as docs/AUDIT.md names it.", |one| one.check.name()),
    place("figure", "", "The figure; null where it concerns none.", |one| one.figure),
    word("concerns", "", "What it concerns, in words.", |one| &one.concerns),
    word("evidence", "", "The numbers that show it.", |one| &one.evidence),
    word("advice", "", "What to do about it.", |one| &one.advice),
    flag("disqualifies", "", "A commitment cannot pass with it.", |one| Some(one.disqualifies())),
];

fn doubts<S: Serializer>(found: &analysis::findings::Findings, serializer: S) -> Result<S::Ok, S::Error> {
    objects(DOUBT, &found.audit).serialize(serializer)
}

fn schema_of_doubts(_: &mut SchemaGenerator) -> Schema {
    schema_of_list(DOUBT)
}

const TIME: &[Column<Reconciled>] = &[
    number("explained_seconds", "", "All parts together.", |one| Some(one.explained_seconds())),
    number("wall_seconds", "", "From start to finish.", |one| Some(one.wall_seconds)),
    number("unexplained_seconds", "", "Checks, preparation, observation, cleaning.", |one| {
        Some(one.unexplained_seconds())
    }),
    text("words", "", "As a sum: `13.86 + 4.18 + 8 = 26.05 s of 26 s`.", ToString::to_string),
];
const PART: &[Column<(&str, f64)>] = &[
    word("name", "", "A phase over all of its passes, or all rests.", |(name, _)| name),
    number("seconds", "", "Its seconds.", |(_, seconds)| Some(*seconds)),
];

fn time<S: Serializer>(time: &Option<Reconciled>, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = |time: &Reconciled| {
        let mut fields = object(TIME, time);
        fields.insert("parts".to_owned(), objects(PART, &time.parts));
        fields
    };
    time.as_ref().map(fields).serialize(serializer)
}

fn schema_of_time(_: &mut SchemaGenerator) -> Schema {
    let of_run = schema(TIME, [("parts", json!({ "type": "array", "items": schema(PART, []) }))]);
    json_schema!({ "anyOf": [of_run, { "type": "null" }] })
}

/// What is missing from the report and why, one sentence each.
fn missing(
    run: &Run,
    figures: &[Figure],
    cases: &HashMap<&str, &Case>,
    finished: &HashSet<&str>,
) -> Vec<String> {
    let planned = &run.manifest.plan.cases;
    let whole = planned.iter().filter(|case| finished.contains(case.id.as_str())).count();
    let came =
        format!("{whole} of {} finished; complete parts are shown", counted(planned.len() as u64, "case"));
    let mut lines = Vec::new();
    match &run.state {
        RunState::Complete => {}
        RunState::Interrupted => lines.push(format!("{came}.")),
        RunState::Failed { message } => lines.push(format!("The run failed: {message}. {came}.")),
        RunState::Killed => lines.push(format!("The run was killed, or its host went down: {came}.")),
        RunState::Running => lines.push(format!("The run is still in progress: {came}.")),
    }
    let ended: usize = run.interrupted.iter().map(|pass| pass.launches.len()).sum();
    if ended > 0 && run.state != RunState::Complete {
        lines.push(format!(
            "Launches of jobs that had ended in passes that do not count: {}. They are kept, but no figure \
             includes them.",
            grouped(ended as u64)
        ));
    }
    lines.extend(
        run.failed_cases.iter().map(|failed| format!("Case {} failed: {}.", failed.case, failed.message)),
    );
    let mut short = figures.iter().filter_map(|figure| {
        let case = cases.get(figure.case.as_str())?;
        // A case that may end early is complete as soon as it is finished.
        let by_count = case.protocol.stopping == Stopping::Count;
        let done = !by_count && finished.contains(figure.case.as_str());
        let (has, planned) = (figure.repetitions.len(), case.passes_max() as usize);
        // Imported runs have only what was printed.
        let imported = figure.provenance == Provenance::Imported;
        (!done && !imported && has < planned)
            .then(|| format!("Figure {} has {has} of {planned} repetitions.", figure.number))
    });
    lines.extend(short.by_ref().take(SHORT_NAMED));
    let more = short.count();
    if more > 0 {
        lines.push(format!("Repetitions are also missing from {}.", counted(more as u64, "more figure")));
    }
    let late = run.late_damage();
    lines.extend(run.damage.iter().chain(&late).map(|damage| format!("Not readable: {damage}.")));
    lines
}

/// Definitions of the terms of a report.
fn definitions() -> Vec<Definition> {
    let words = [
        ("task", "one logical worker with offsets of its own; not a thread, not a process"),
        ("transfer", "one I/O call"),
        ("repetition", "one execution of all phases of a case; every one is kept in the record"),
        ("median", "the middle one of all repetitions; the mean of the two in the middle for an even number"),
        ("MB/s, MiB/s", "10⁶ and 2²⁰ bytes per second"),
        (
            "IOPS",
            "completed transfers per second; it says nothing without the size and the conditions beside it",
        ),
        (
            "latency",
            "time of one transfer, from a histogram of all of them with an error below 1 %; in an open loop it \
             counts from the moment when the transfer should have started",
        ),
        ("p99", "99 of 100 transfers took at most this long"),
        (
            "device ÷ tasks",
            "bytes that the block devices under the target moved, by their counters, for each byte that the \
             tasks moved; 1.0 says that the page cache answered nothing. Caches of hypervisors, controllers \
             and drives are not seen",
        ),
        ("page cache", "memory of the nodes took part: the figure does not describe the device"),
    ];
    let interval = Definition {
        name: "interval".to_owned(),
        meaning: format!(
            "contains the median of many more repetitions with the confidence shown beside it; it is based \
             on ranks, so nothing is assumed about the distribution, and reaches {:.0} % from six \
             repetitions on. For a case that ends as soon as its interval is narrow it is wider, and exists \
             from eight on, because it may be computed after each repetition",
            CONFIDENCE * 100.0
        ),
    };
    let rate =
        |name: &RateName| Definition { name: name.name().to_owned(), meaning: name.definition().to_owned() };
    let word = |(name, meaning): &(&str, &str)| Definition {
        name: (*name).to_owned(),
        meaning: (*meaning).to_owned(),
    };
    RateName::ALL.iter().map(rate).chain(words.iter().map(word)).chain([interval]).collect()
}
