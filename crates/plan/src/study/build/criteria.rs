//! What a study states in addition to its cases, checked against the workloads and targets that it refers
//! to.

use super::target::Targets;
use crate::study::error::StudyError;
use crate::study::keys::{EXPECTATION, PROMISES, STUDY};
use crate::study::names::{unique, unknown};
use crate::study::overrides::Override;
use crate::study::table::definition::{Setter, setters};
use crate::study::table::document::Document;
use crate::study::table::sweep::Axes;
use crate::study::table::values::{Fields, Span, Value, Values};
use crate::text::nearest::nearest;
use crate::{
    Amount, Asked, Bound, Case, Claim, Commitment, Criteria, Expectation, FigureQuantity, NodeList, Over,
    Per, Phase, Plan, PublishedReference, Quantity, ReadFrom, Selector, Setting, SettingValue, Side,
    Statistic, TargetDescription, Terms,
};

/// Names that selections can use.
pub(super) struct KnownNames<'f> {
    targets: Vec<&'f str>,
    workloads: Vec<KnownWorkload<'f>>,
    cases: &'f [Case],
    overrides: &'f [Override],
}

/// A workload, and the values of each key that it is swept over.
struct KnownWorkload<'f> {
    name: &'f str,
    /// Whether the file says on how many nodes it is.
    states_nodes: bool,
    swept: Vec<(&'f str, Vec<SettingValue>)>,
}

impl<'f> KnownNames<'f> {
    /// The names of a study.
    pub(super) fn of_study(
        targets: &'f Targets,
        workloads: &'f [Fields],
        axes: &[Axes],
        cases: &'f [Case],
        overrides: &'f [Override],
    ) -> Self {
        let workload = |(fields, axes): (&'f Fields, &Axes)| {
            let swept: Vec<_> = axes.swept().collect();
            let states_nodes = fields.has("nodes") || swept.iter().any(|(key, _)| *key == "nodes");
            Some(KnownWorkload { name: fields.text("name")?, states_nodes, swept })
        };
        // Those that run at the same time are selected by their common name, and each by its own.
        let workloads = workloads.iter().zip(axes).filter_map(workload).collect();
        let mut known = Self { targets: targets.names().collect(), workloads, cases, overrides };
        for (case, concurrent) in cases.iter().filter_map(|case| Some((case, case.concurrent.as_ref()?))) {
            let _ = (known.add(&concurrent.name), known.add(&case.group));
        }
        known
    }

    /// The names of a plan that was not read from a study.
    pub(super) fn of_plan(plan: &'f Plan) -> Self {
        let mut known =
            Self { targets: Vec::new(), workloads: Vec::new(), cases: &plan.cases, overrides: &[] };
        for case in &plan.cases {
            if !case.target.is_empty() && !known.targets.contains(&case.target.as_str()) {
                known.targets.push(&case.target);
            }
            let place = known.add(&case.group);
            let swept = &mut known.workloads[place].swept;
            for Setting { key, value } in &case.settings {
                match swept.iter_mut().find(|(known, _)| known == key) {
                    Some((_, values)) if values.contains(value) => {}
                    Some((_, values)) => values.push(value.clone()),
                    None => swept.push((key, vec![value.clone()])),
                }
            }
        }
        for concurrent in plan.cases.iter().filter_map(|case| case.concurrent.as_ref()) {
            let _ = known.add(&concurrent.name);
        }
        known
    }

    /// The place of the workload `name`, which is added if it is missing.
    fn add(&mut self, name: &'f str) -> usize {
        let place = self.workloads.iter().position(|workload| workload.name == name);
        place.unwrap_or_else(|| {
            self.workloads.push(KnownWorkload { name, states_nodes: false, swept: Vec::new() });
            self.workloads.len() - 1
        })
    }

    /// The error for `wanted`, at `span`, if it is not the name of a target.
    fn no_target(&self, wanted: &str, span: Span) -> Option<StudyError> {
        let is_known = self.targets.contains(&wanted);
        (!is_known).then(|| unknown("target", wanted, span, self.targets.iter().copied()))
    }
}

/// The criteria of the study, whose `targets` are already known; every mistake is added to `errors`.
pub(super) fn criteria(
    document: &Document,
    targets: Vec<TargetDescription>,
    known: &KnownNames<'_>,
    errors: &mut Vec<StudyError>,
) -> Criteria {
    let mut criteria = Criteria {
        targets,
        expectations: each(document, "expectation", errors, |fields, errors| {
            expectation(fields, known, errors)
        }),
        commitments: each(document, "commitment", errors, |fields, errors| commitment(fields, known, errors)),
        published: each(document, "published", errors, |fields, errors| published(fields, known, errors)),
        claims: each(document, "claim", errors, |fields, errors| claim(fields, known, errors)),
        ..Criteria::default()
    };
    for (set, value) in setters(STUDY.keys, &document.study) {
        if let Setter::Criteria(set) = set {
            set(&mut criteria, value);
        }
    }
    criteria
}

/// Reads every table named `table`. Names must be unique, except that a published figure may be compared in
/// several places, and a claim may have several rules.
fn each<T>(
    document: &Document,
    table: &str,
    errors: &mut Vec<StudyError>,
    read: impl Fn(&Fields, &mut Vec<StudyError>) -> Option<T>,
) -> Vec<T> {
    let mut names = Vec::new();
    let mut all = Vec::new();
    for fields in document.many(table) {
        if let Some(name) = fields.text("name") {
            unique(&mut names, name, fields.span("name"), table, errors);
        }
        if fields.sound() {
            all.extend(read(fields, errors));
        }
    }
    all
}

fn expectation(fields: &Fields, known: &KnownNames<'_>, errors: &mut Vec<StudyError>) -> Option<Expectation> {
    let key = amount_key(fields, &["bandwidth", "iops", "latency"], errors)?;
    let amount = amount(fields, key, errors)?;
    if let Some(target) = fields.text("target") {
        errors.extend(known.no_target(target, fields.span("target")));
    }
    let mut expected = Expectation {
        target: fields.text("target").map(str::to_owned),
        phase: fields.word("phase").and_then(Phase::named),
        ..Expectation::new(fields.text_or_empty("name"), amount)
    };
    for (set, value) in setters(EXPECTATION.keys, fields) {
        if let Setter::Expectation(set) = set {
            set(&mut expected, value);
        }
    }
    if fields.has("nodes") {
        expected.nodes = nodes(fields, &expected, errors)?;
    }
    Some(expected)
}

/// The nodes that an expectation is for.
fn nodes(fields: &Fields, expected: &Expectation, errors: &mut Vec<StudyError>) -> Option<NodeList> {
    let unfit = [("latency", true), ("at_latency", true), ("per", expected.per == Per::Device)];
    if let Some((key, _)) = unfit.iter().find(|(key, is_unfit)| *is_unfit && fields.has(key)) {
        errors.push(StudyError::new(
            fields.key_span(key),
            "not with `nodes`",
            format!("`{key}` cannot be told of some of the nodes"),
            "leave it out, or leave out `nodes`",
        ));
        return None;
    }
    let list = fields.text("nodes")?.parse::<NodeList>();
    list.map_err(|error| {
        errors.push(StudyError::new(
            fields.span("nodes"),
            "not a list of nodes",
            error.to_string(),
            NODES_ALLOWED,
        ));
    })
    .ok()
}

/// Syntax of a list of nodes.
const NODES_ALLOWED: &str = "separate names by commas; brackets contain numbers and ranges of them";

fn commitment(fields: &Fields, known: &KnownNames<'_>, errors: &mut Vec<StudyError>) -> Option<Commitment> {
    let (key, asked) = asked(fields, errors)?;
    if asked.is_of_latency() && fields.has("rate") {
        errors.push(StudyError::new(
            fields.key_span("rate"),
            "without effect",
            "`rate` would do nothing here",
            "a latency has no rate; leave it out",
        ));
    }
    let figures = selector(fields, known, errors);
    let promised = Commitment {
        terms: terms(fields, &figures, known, errors),
        name: fields.text_or_empty("name"),
        by: fields.text_or_empty("by"),
        figures,
        rate: fields.parsed("rate")?,
        statistic: fields.parsed("statistic")?,
        bound: if key.ends_with("_at_least") { Bound::AtLeast } else { Bound::AtMost },
        asked,
        over: fields.parsed("over")?,
    };
    errors.extend(never_sure(fields, &promised, known));
    Some(promised)
}

/// What the workloads of the selected figures, or the commitment itself, fix about the measurement.
fn terms(fields: &Fields, figures: &Selector, known: &KnownNames<'_>, errors: &mut Vec<StudyError>) -> Terms {
    let phases = known.cases.iter().flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)));
    let taken: Vec<(&Case, Phase)> =
        phases.filter(|(case, phase)| phase.is_result() && figures.takes(case, *phase)).collect();
    let states_nodes =
        |case: &Case| known.workloads.iter().any(|one| one.name == case.workload_table() && one.states_nodes);
    let others =
        |nodes: u32| taken.iter().any(|(case, _)| states_nodes(case) && case.workload.nodes != nodes);
    let mut nodes: Vec<u32> = match fields.count_u32("nodes") {
        Some(nodes) => {
            if known.overrides.is_empty() && others(nodes) {
                let message = format!("this is about {nodes} nodes, but it selects figures of other numbers");
                let help = format!(
                    "select those of {nodes} nodes with at = {{ nodes = {nodes} }}, or give the workload that number"
                );
                errors.push(StudyError::new(fields.span("nodes"), "not measured", message, help));
            }
            vec![nodes]
        }
        None if taken.iter().all(|(case, _)| states_nodes(case)) => {
            taken.iter().map(|(case, _)| case.workload.nodes).collect()
        }
        None => Vec::new(),
    };
    nodes.sort_unstable();
    nodes.dedup();
    let mut reads = taken.iter().filter(|(_, phase)| phase.needs_data()).peekable();
    let reads_others =
        reads.peek().is_some() && reads.all(|(case, _)| case.workload.read_from != ReadFrom::Same);
    Terms { nodes, reads_others, ..Terms::default() }
}

/// Minimum number of repetitions for a one-sided 95 % confidence bound of a median, for the best of `among`:
/// with n repetitions, all of one are on the wrong side of it with a probability of 2⁻ⁿ.
fn bound_repetitions(among: usize) -> u32 {
    (1..).find(|&n| among as f64 * 0.5_f64.powi(n) <= 0.05).map_or(u32::MAX, i32::unsigned_abs)
}

/// The error for a confidence bound with too few repetitions, whose commitment could never be kept. A study
/// that is scaled down by overrides keeps its criteria.
fn never_sure(fields: &Fields, promised: &Commitment, known: &KnownNames<'_>) -> Option<StudyError> {
    if promised.statistic != Statistic::ConfidenceBound || !known.overrides.is_empty() {
        return None;
    }
    let meant = |case: &&Case| case.phases.iter().any(|&phase| promised.figures.takes(case, phase));
    let repetitions: Vec<u32> = known.cases.iter().filter(meant).map(|case| case.repetitions).collect();
    let (most, needed) = match promised.over {
        Over::Every => (repetitions.iter().min(), bound_repetitions(1)),
        Over::Best => (repetitions.iter().max(), bound_repetitions(repetitions.len())),
    };
    let most = most.filter(|&&most| most < needed)?;
    let message = format!("a confidence bound needs at least {needed} repetitions; this study has {most}");
    let help = format!("set `repetitions` to at least {needed}, or judge by another statistic");
    Some(StudyError::new(fields.span("statistic"), "needs more repetitions", message, help))
}

/// What a commitment asks for, and its key.
fn asked(fields: &Fields, errors: &mut Vec<StudyError>) -> Option<(&'static str, Asked)> {
    let key = amount_key(fields, &PROMISES, errors)?;
    let of = match key {
        "reference_rate_at_least" | "reference_rate_at_most" => FigureQuantity::Rate,
        "reference_latency_at_least" | "reference_latency_at_most" => {
            fields.number("percentile").map_or(FigureQuantity::Latency, FigureQuantity::Percentile)
        }
        _ => return Some((key, amount(fields, key, errors)?.into())),
    };
    Some((key, Asked::OfReference { share: fields.number(key)?, of }))
}

/// The one of `keys` under which `fields` gives an amount.
fn amount_key(fields: &Fields, keys: &[&'static str], errors: &mut Vec<StudyError>) -> Option<&'static str> {
    let given: Vec<&'static str> = keys.iter().copied().filter(|key| fields.has(key)).collect();
    let help = || {
        format!("give one of {}", keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
    };
    let key = match given.as_slice() {
        [key] => *key,
        [] => {
            let message = format!("this {} gives no amount", fields.name());
            errors.push(StudyError::new(fields.header(), "no amount", message, help()));
            return None;
        }
        [first, second, ..] => {
            let message = format!("both `{first}` and `{second}` give an amount");
            let error = StudyError::new(fields.key_span(second), "and here", message, help());
            errors.push(error.and(fields.key_span(first), "here"));
            return None;
        }
    };
    if fields.has("percentile") && !key.contains("latency") {
        errors.push(StudyError::new(
            fields.key_span("percentile"),
            "without effect",
            "`percentile` would do nothing here",
            "it needs a latency; otherwise leave it out",
        ));
    }
    Some(key)
}

/// The amount that `fields` gives under `key`.
fn amount(fields: &Fields, key: &str, errors: &mut Vec<StudyError>) -> Option<Amount> {
    Some(match fields.value(key)? {
        Value::Integer(0) => {
            let message = format!("`{key}` is a time of 0");
            let help = "give a time above 0: nothing can be compared with 0";
            errors.push(StudyError::new(fields.span(key), "above 0", message, help));
            return None;
        }
        Value::Integer(nanos) => {
            Amount::Latency { nanos: *nanos as f64, percent: fields.number("percentile") }
        }
        Value::Number(rate) if key.starts_with("iops") => Amount::OperationsPerSecond(*rate),
        Value::Number(rate) => Amount::BytesPerSecond(*rate),
        _ => return None,
    })
}

fn published(
    fields: &Fields,
    known: &KnownNames<'_>,
    errors: &mut Vec<StudyError>,
) -> Option<PublishedReference> {
    let id = fields.text("figure")?.to_owned();
    Some(PublishedReference { id, figures: selector(fields, known, errors) })
}

fn claim(fields: &Fields, known: &KnownNames<'_>, errors: &mut Vec<StudyError>) -> Option<Claim> {
    let quantity: Quantity = fields.parsed("quantity")?;
    let mut side = |key: &str| match (fields.value(key)?, quantity.is_rate()) {
        (Value::Table(selection), _) => Some(Side::Measured(selector(selection, known, errors))),
        (Value::Rate(Amount::OperationsPerSecond(rate)), true) => Some(Side::OperationsPerSecond(*rate)),
        (Value::Rate(Amount::BytesPerSecond(rate)), true) => Some(Side::Value(*rate)),
        (Value::Number(value), false) => Some(Side::Value(*value)),
        (_, true) => {
            let message = format!("`{key}` is compared with a rate, but has no unit of a rate");
            let help = "write operations as \"100k IOPS\", or bytes as \"2.8GB/s\"";
            errors.push(StudyError::new(fields.span(key), "not a rate", message, help));
            None
        }
        (_, false) => {
            let quantity = fields.word("quantity").unwrap_or_default();
            let message = format!("`{key}` is a rate, but `{quantity}` is not");
            let help = "write it in the unit of the quantity, or compare a rate, such as \"best-rate\"";
            errors.push(StudyError::new(fields.span(key), "a rate", message, help));
            None
        }
    };
    let Side::Measured(left) = side("left")? else { return None };
    Some(Claim {
        id: fields.text_or_empty("id"),
        text: fields.text_or_empty("text"),
        quantity,
        left,
        relation: fields.parsed("relation")?,
        right: side("right")?,
        factor: fields.number("factor")?,
        tolerance: fields.number("tolerance")?,
    })
}

/// The selection of figures in `fields`.
fn selector(fields: &Fields, known: &KnownNames<'_>, errors: &mut Vec<StudyError>) -> Selector {
    let before = errors.len();
    if let Some(target) = fields.text("target") {
        errors.extend(known.no_target(target, fields.span("target")));
    }
    let names = known.workloads.iter().map(|workload| workload.name);
    if let Some(workload) = fields.text("workload")
        && !names.clone().any(|name| name == workload)
    {
        errors.push(unknown("workload", workload, fields.span("workload"), names));
    }
    let settings = match fields.value("at") {
        Some(Value::Settings(settings)) => settings.as_slice(),
        _ => &[],
    };
    let selector = Selector {
        workload: fields.text("workload").map(str::to_owned),
        target: fields.text("target").map(str::to_owned),
        phase: fields.word("phase").and_then(Phase::named),
        at: settings.iter().map(|(setting, _)| setting.clone()).collect(),
    };
    if errors.len() == before {
        for (setting, span) in settings {
            errors.extend(known.misses(selector.workload.as_deref(), setting, span));
        }
    }
    if errors.len() == before && known.selects_nothing(&selector) {
        let span = ["at", "phase", "target", "workload"].into_iter().find(|key| fields.has(key));
        let span = span.map_or_else(|| fields.header(), |key| fields.span(key));
        let message = "no case of the study matches this selection";
        let help = "name a workload with a target, a phase and swept values that it has";
        errors.push(StudyError::new(span, "selects no figure", message, help));
    }
    selector
}

impl KnownNames<'_> {
    /// The error for `setting` if no point of the workload named `name`, or of any workload, has it.
    fn misses(&self, name: Option<&str>, setting: &Setting, span: &Span) -> Option<StudyError> {
        let mut keys = Vec::new();
        let mut values = Vec::new();
        for workload in self.workloads.iter().filter(|workload| name.is_none_or(|name| workload.name == name))
        {
            // A scaled-down study keeps its criteria, which may then select nothing.
            if self.overrides.iter().any(|one| one.sets("workload", workload.name, &setting.key)) {
                return None;
            }
            keys.extend(workload.swept.iter().map(|(key, _)| *key));
            let swept = workload.swept.iter().filter(|(key, _)| *key == setting.key);
            values.extend(swept.flat_map(|(_, values)| values));
        }
        let of = name.map_or_else(|| "in any workload".to_owned(), |name| format!("in `{name}`"));
        if !keys.contains(&setting.key.as_str()) {
            let help = match (nearest(&setting.key, keys.iter().copied()), keys.is_empty()) {
                (Some(meant), _) => format!("did you mean `{meant}`?"),
                (None, false) => format!("the swept keys are {}", keys.join(", ")),
                (None, true) => "give the workload several values of it first, or leave `at` out".to_owned(),
            };
            let message = format!("`{}` is not swept {of}", setting.key);
            return Some(StudyError::new(span.clone(), "not swept", message, help));
        }
        if values.contains(&&setting.value) {
            return None;
        }
        /// Maximum number of values listed in an error.
        const LISTED_MAX: usize = 8;
        let listed: Vec<String> = values.iter().take(LISTED_MAX).map(ToString::to_string).collect();
        let more = if values.len() > LISTED_MAX { ", …" } else { "" };
        let message = format!("`{}` is never {} {of}", setting.key, setting.value);
        let help = format!("it is swept over {}{more}", listed.join(", "));
        Some(StudyError::new(span.clone(), "not measured", message, help))
    }

    /// Whether a valid selection matches no case; an override may have removed its cases.
    fn selects_nothing(&self, selector: &Selector) -> bool {
        let takes =
            |case: &Case| case.phases.iter().any(|&phase| phase.is_result() && selector.takes(case, phase));
        self.overrides.is_empty() && !self.cases.iter().any(takes)
    }
}
