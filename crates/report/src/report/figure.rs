//! A figure with its number, short conditions and doubts, and its columns in JSON and CSV.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Deref;

use analysis::gate::{
    table::Column, table::any, table::bytes, table::change, table::count, table::flag, table::list,
    table::moment, table::nanos, table::number, table::share, table::text, table::word,
};
use analysis::{
    RateName,
    audit::Check,
    caveats::Caveats,
    figures::{DeviceMean, Rate, RepetitionFigure},
    gate::{Quantity, Value},
    statistics::Summary,
};
use plan::{Case, Condition, Operation, PassRole, Setting, SettingValue};
use record::Run;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::format::BYTES_PER_SECOND;
use crate::format::names;
use crate::report::latencies::LatencyInfo;
use crate::report::object::{Nested, list_schema, nested, object, objects, schema};

/// Transfers of at least this size are shown in bytes per second, smaller ones in IOPS, as in data sheets.
pub(crate) const LARGE_TRANSFER_BYTES: u64 = analysis::figures::LARGE_TRANSFER.0;

/// The role of a recorded pass before the steady-state window.
const UNSETTLED: &str = "before steady state";

/// The result of a phase of a case, over all repetitions.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// From 1, in the order of the plan.
    pub(crate) number: usize,
    /// The figure of the analysis.
    pub(crate) source: analysis::figures::Figure,
    /// Size, order and direction in short.
    pub(crate) what: String,
    /// Cache, backend and depth in short.
    pub(crate) path: String,
    /// `None` if an imported text does not print it, like the sizes below.
    pub(crate) tasks: Option<u32>,
    pub(crate) transfer_bytes: Option<u64>,
    /// Bytes of the files that transfers access; `None` for other work.
    pub(crate) data_bytes: Option<u64>,
    /// All conditions, with whether the storage was used exclusively if the study says so.
    pub(crate) conditions: String,
    /// What belongs to it wherever it is quoted.
    pub(crate) caveats: Caveats,
    /// The page cache took part, so this is not a rate of the device.
    pub(crate) page_cache: bool,
    /// Planned bytes of one operation that is not a transfer.
    pub(crate) bytes_per_operation: Option<u64>,
    /// Parameters of requests between processes.
    pub(crate) exchange: Option<Exchange>,
    pub(crate) latency: Vec<LatencyInfo>,
    /// Marks of the notes that concern it.
    pub(crate) notes: Vec<String>,
    /// The audit checks that doubt it, by their names in `docs/AUDIT.md`.
    pub(crate) doubts: Vec<&'static str>,
}

/// `figures` by workload and target, each sweep sorted by the values of its keys.
pub(crate) fn in_order<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Vec<&'a Figure> {
    let mut sweeps = analysis::figures::grouped(figures, |one| (one.group.as_str(), one.target.as_str()));
    for sweep in &mut sweeps {
        sweep.sort_by(|one, other| by_values(&one.settings, &other.settings));
    }
    sweeps.concat()
}

/// The order of two points of a sweep, by the first value in which they differ.
pub(crate) fn by_values(one: &[Setting], other: &[Setting]) -> Ordering {
    let values =
        one.iter().zip(other).filter_map(|(one, other)| one.value.on_axis().zip(other.value.on_axis()));
    values.map(|(one, other)| one.total_cmp(&other)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Requests and responses between processes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Exchange {
    /// `one-to-one`, `many-to-one` or `all-to-all`.
    #[schemars(extend("enum" = ["one-to-one", "many-to-one", "all-to-all"]))]
    pub(crate) pattern: &'static str,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    /// Processes that ask or answer.
    pub(crate) ends: u32,
    /// Connections of each pair of processes.
    pub(crate) connections: u32,
    /// Requests under way on each.
    pub(crate) depth: u32,
    /// Threads of each process that ask, and as many that answer.
    pub(crate) threads: u32,
    /// The network interface; empty where it is the one that leads to the peer.
    pub(crate) interface: String,
    /// Processors that asking threads are bound to: `none`, `0-3`, `numa:1` or `adapter`.
    pub(crate) clients_on: String,
    /// Processors that answering threads are bound to: `none`, `0-3`, `numa:1` or `adapter`.
    pub(crate) servers_on: String,
    /// `TCP`.
    pub(crate) transport: &'static str,
    /// Bytes per second of requests and of responses.
    pub(crate) requests_bytes_per_second: f64,
    pub(crate) responses_bytes_per_second: f64,
}

impl Deref for Figure {
    type Target = analysis::figures::Figure;

    fn deref(&self) -> &analysis::figures::Figure {
        &self.source
    }
}

impl Figure {
    /// The figure `source` of `case` with its number and the `checks` that doubt it.
    pub(crate) fn of(
        run: &Run,
        number: usize,
        source: analysis::figures::Figure,
        case: Option<&Case>,
        checks: &[Check],
        caveats: Caveats,
    ) -> Self {
        let is_cached = |check: &Check| matches!(check, Check::Cached | Check::CachedFileData);
        let is_buffered = case.is_some_and(|case| case.is_direct() != Some(true));
        let sized = case.filter(|case| case.knows(Condition::Transfer));
        let of_operation = sized.and_then(|case| case.workload.work.kind().operation_bytes(source.phase));
        let transfer = || sized.map(|case| case.workload.geometry.transfer);
        let conditions = match run.manifest.plan.criteria.exclusive {
            Some(exclusive) => format!("{}, {}", source.conditions, names::exclusive(exclusive)),
            None => source.conditions.clone(),
        };
        Self {
            number,
            what: case
                .map_or_else(|| source.phase.name().to_owned(), |case| names::what_of(case, source.phase)),
            path: case.map(names::path_of).unwrap_or_default(),
            tasks: case.and_then(Case::tasks),
            transfer_bytes: of_operation.or_else(transfer).map(|bytes| bytes.0),
            data_bytes: case
                .filter(|case| case.workload.work.is_transfers() && case.volume().is_some())
                .map(|case| case.workload.footprint().0),
            conditions,
            caveats,
            page_cache: is_buffered && checks.iter().any(is_cached),
            bytes_per_operation: of_operation.map(|bytes| bytes.0),
            exchange: case.and_then(|case| Exchange::of(case, &source)),
            latency: source.latency.iter().map(|one| LatencyInfo::of(one, case)).collect(),
            notes: Vec::new(),
            doubts: checks.iter().map(|check| check.name()).collect(),
            source,
        }
    }

    /// The order of its transfers; none if an imported text does not say.
    pub(crate) fn order(&self) -> Option<&'static str> {
        let word = |one: &&&str| self.what.split(' ').any(|part| part == **one);
        ["sequential", "random", "backward", "strided", "same"].iter().find(word).copied()
    }

    /// Order, phase, size and transfers in flight: `rand read 4 KiB ×32`.
    pub(crate) fn short_name(&self) -> String {
        let order = match self.order() {
            Some("sequential") => "seq",
            Some("random") => "rand",
            _ => return self.what.clone(),
        };
        if self.is_operations() || self.path.is_empty() {
            return self.what.clone();
        }
        let (Some(tasks), Some(bytes)) = (self.tasks, self.transfer_bytes) else { return self.what.clone() };
        let depth: u32 = self.path.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(1);
        let in_flight = u64::from(tasks) * u64::from(depth);
        let buffered = if self.path.starts_with("buffered") { ", buffered" } else { "" };
        format!("{order} {} {} ×{in_flight}{buffered}", self.phase, plan::Bytes(bytes))
    }

    /// The unit of its rate: `bytes/s` for transfers, else named operations, as in `creates/s`.
    pub(crate) fn unit(&self) -> &'static str {
        names::unit(self.phase)
    }

    /// Whether its rate is in operations rather than bytes.
    pub(crate) fn is_operations(&self) -> bool {
        self.unit() != BYTES_PER_SECOND
    }

    /// Whether its transfers are large, and so shown in bytes per second.
    pub(crate) fn is_large(&self) -> bool {
        !self.is_operations() && self.transfer_bytes.is_none_or(|bytes| bytes >= LARGE_TRANSFER_BYTES)
    }

    /// The unit that a data sheet would use: `bytes/s` for large transfers, else [`Figure::operations_unit`].
    pub(crate) fn shown_unit(&self) -> &'static str {
        if self.is_large() { BYTES_PER_SECOND } else { self.operations_unit() }
    }

    /// The summary of its rate in bytes per second if `unit` is that, else in operations per second.
    pub(crate) fn spread_in(&self, unit: &str) -> &Summary {
        if unit == BYTES_PER_SECOND { &self.bytes_per_second } else { &self.transfers_per_second }
    }

    /// The rate of one of its repetitions, in the same way.
    pub(crate) fn rate_in(&self, pass: &RepetitionFigure, unit: &str) -> f64 {
        let rate = pass.rates.get(self.rate);
        rate.map_or(0.0, |rate| match unit {
            BYTES_PER_SECOND => rate.bytes_per_second,
            _ => rate.transfers_per_second,
        })
    }

    /// The unit of its operations per second: `IOPS`, or named operations as in `creates/s`.
    pub(crate) fn operations_unit(&self) -> &'static str {
        names::operations_unit(self.phase)
    }

    /// How the rate was obtained: `median of 3 repetitions, by wall time`.
    pub(crate) fn statistic(&self) -> String {
        match self.repeated() {
            1 => format!("one repetition, {}", self.rate.name()),
            n => format!("median of {n} repetitions, {}", self.rate.name()),
        }
    }

    /// The number of counted repetitions.
    pub(crate) const fn repeated(&self) -> usize {
        self.source.headline().n
    }

    /// Where it is from unless it was measured, marks of footnotes, and the audit checks that doubt it:
    /// `imported a b, cached, too short`.
    pub(crate) fn marks(&self) -> String {
        let other = self.provenance != record::Provenance::Measured;
        let origin = other.then(|| names::provenance(self.provenance));
        let notes =
            origin.into_iter().chain(self.notes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let parts = std::iter::once(notes.as_str()).chain(self.doubts.iter().copied());
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Number of items changed by somebody else.
    pub(crate) fn surprises(&self) -> u64 {
        self.counted().map(|pass| pass.phase.surprises).sum()
    }

    /// Rates of each kind of operation by wall time, medians over the repetitions.
    pub(crate) fn operations(&self) -> Vec<(Operation, Rate)> {
        let of = |operation: Operation| {
            let passes = self.counted().flat_map(|pass| &pass.rates.operations);
            let rates: Vec<Rate> =
                passes.filter(|one| one.operation == operation).map(|one| one.by_wall).collect();
            let median = |value: fn(&Rate) -> f64| {
                Summary::of(&rates.iter().map(value).collect::<Vec<_>>()).map(|all| all.median)
            };
            let bytes_per_second = median(|rate| rate.bytes_per_second)?;
            let transfers_per_second = median(|rate| rate.transfers_per_second)?;
            Some((operation, Rate { bytes_per_second, transfers_per_second }))
        };
        Operation::ALL.into_iter().filter_map(of).collect()
    }
}

impl Exchange {
    fn of(case: &Case, source: &analysis::figures::Figure) -> Option<Self> {
        let rpc = case.workload.work.rpc()?;
        let rate = source.transfers_per_second.median;
        Some(Self {
            pattern: rpc.pattern.name(),
            request_bytes: rpc.request_bytes.0,
            response_bytes: rpc.response_bytes.0,
            ends: rpc.ends,
            connections: rpc.connections,
            depth: case.workload.backend.depth(),
            threads: rpc.threads,
            interface: rpc.interface.clone().unwrap_or_default(),
            clients_on: rpc.client_binding.to_string(),
            servers_on: rpc.server_binding.to_string(),
            transport: plan::Rpc::TRANSPORT,
            requests_bytes_per_second: rate * rpc.request_bytes.0 as f64,
            responses_bytes_per_second: rate * rpc.response_bytes.0 as f64,
        })
    }
}

/// The role of a pass; [`UNSETTLED`] for a recorded one that does not count.
pub(crate) fn role(pass: &RepetitionFigure) -> &'static str {
    match pass.role {
        PassRole::Recorded if !pass.counts => UNSETTLED,
        role => role.name(),
    }
}

/// The rates of a pass, with their names.
pub(crate) fn rates(pass: &RepetitionFigure) -> impl Iterator<Item = (RateName, Rate)> + '_ {
    RateName::ALL.iter().filter_map(|&name| Some((name, pass.rates.get(name)?)))
}

/// The columns of a figure; [`NESTED`] has its objects and lists.
pub(crate) const FIGURE: &[Column<Figure>] = &[
    count("number", "", "From 1, in the order of the plan.", |one| Some(one.number as u64)),
    word("case", "", "The case of the plan.", |one| &one.case),
    word("title", "", "What the case is for.", |one| &one.title),
    word("group", "", "The workload whose sweep the case is a point of.", |one| &one.group),
    word("target", "", "The target; empty where the study names none.", |one| &one.target),
    word("client", "", "Where the measuring program ran; empty where the study does not say.", |one| {
        names::client(one.client)
    }),
    word("phase", "", "The phase.", |one| one.phase.name()),
    word("what", "", "The short form of size, order and direction.", |one| &one.what),
    word("path", "", "The short form of cache, backend and depth.", |one| &one.path),
    count("tasks", "", "Logical workers; none if they are not printed.", |one| one.tasks.map(u64::from)),
    bytes("transfer_bytes", "", "Bytes of one transfer; none if they are not printed.", |one| {
        one.transfer_bytes
    }),
    word("conditions", "", "The long form of all conditions.", |one| &one.conditions),
    word("caution", "", "The conditions under which a peak holds; empty for any other figure.", |one| {
        &one.caveats.caution
    }),
    share("cache_share", "", "Declared caches ÷ the working set; above 5 % the audit doubts it.", |one| {
        one.caveats.cache_share
    }),
    list("overrides", "", "What `--set` changed of the study file for this figure.", |one| {
        one.caveats.overrides.clone()
    }),
    word("provenance", "", "`measured`, `imported`, `published` or `simulated`.", |one| {
        names::provenance(one.provenance)
    }),
    flag("page_cache", "", "Memory took part: the figure does not describe the device.", |one| {
        Some(one.page_cache)
    }),
    text("statistic", "", "The statistic and the rate that the spreads describe.", Figure::statistic),
    word("rate", "", "The name of the rate.", |one| one.rate.name()),
    word("unit", "", "Its unit: `bytes/s` for transfers, otherwise operations by their name.", |one| {
        one.unit()
    }),
    count("nodes", "", "Nodes that it was measured on; none if they are not printed.", |one| one.node_count),
    nanos("cpu_ns_per_operation", "", "Processor time of all processes for one operation.", |one| {
        one.cpu_ns_per_operation()
    }),
    bytes(
        "bytes_per_operation",
        "",
        "Bytes that one operation moves by plan, where it is not a transfer.",
        |one| one.bytes_per_operation,
    ),
    number(
        "allocated_bytes_per_file",
        "",
        "Bytes that the file system uses for each examined file.",
        |one| one.allocated_bytes_per_file(),
    ),
    count("names_searched", "", "Names that a search came across.", |one| one.searched().map(|(all, _)| all)),
    count("names_found", "", "Those of them that match.", |one| one.searched().map(|(_, found)| found)),
    count("surprises", "", "Items that were not as the run had left them.", |one| Some(one.surprises())),
    share("device_share", "", "Device bytes ÷ application bytes.", |one| one.moved_by_devices()),
    list("notes", "", "Marks of the notes that concern it.", |one| one.notes.clone()),
    list("doubts", "", "The checks of the audit that doubt it.", |one| {
        one.doubts.iter().map(|&check| check.to_owned()).collect()
    }),
];

/// The columns of a statistic over repetitions.
pub(crate) const SPREAD: &[Column<Summary>] = &[
    number("median", "", "Over the repetitions that count.", |one| Some(one.median)),
    number("mean", "", "Over the same repetitions.", |one| Some(one.mean)),
    number("deviation", "", "Standard deviation with n − 1; null with one repetition.", |one| {
        (one.n > 1).then_some(one.deviation_sample)
    }),
    number("minimum", "", "The smallest.", |one| Some(one.min)),
    number("maximum", "", "The largest.", |one| Some(one.max)),
    number("interval_low", "", "The low end of the confidence interval of the median.", |one| {
        one.median_interval.map(|interval| interval.low)
    }),
    number("interval_high", "", "Its high end.", |one| one.median_interval.map(|interval| interval.high)),
    share("confidence", "", "The actual confidence of the interval.", |one| {
        one.median_interval.map(|interval| interval.confidence)
    }),
];

pub(crate) const SETTING: &[Column<Setting>] = &[
    word("key", "", "The swept key.", |one| &one.key),
    any(
        "value",
        "",
        "Raw: bytes, nanoseconds, a number, true or false, or a word.",
        Quantity::Setting,
        |one| Value::Setting(one.value.clone()),
    ),
    word("unit", "", "`bytes`, `ns`, or empty for everything else.", |one| match one.value {
        SettingValue::Bytes(_) => "bytes",
        SettingValue::Time(_) => "ns",
        _ => "",
    }),
    text("text", "", "The value as people read it.", |one| one.value.to_string()),
];

const REPETITION: &[Column<RepetitionFigure>] = &[
    count("repetition", "", "From 0.", |one| Some(one.repetition.into())),
    word(
        "role",
        "",
        "`recorded`, `warm-up`, `earlier round`, or `before steady state` of a case that ran until it was \
         steady; only the first counts.",
        role,
    ),
    change("drift", "", "For the last of several rounds: its rate ÷ that of the first round − 1.", |one| {
        one.drift
    }),
    moment("started_unix_ns", "", "Wall clock.", |one| Some(one.phase.started_unix_ns)),
    bytes("bytes", "", "Bytes that were moved.", |one| Some(one.phase.bytes())),
    count("transfers", "", "Operations that completed.", |one| Some(one.phase.transfers())),
    count("wall_ns", "", "From the first open to the end of the last close.", |one| Some(one.phase.wall_ns)),
    count("open_ns", "", "Until all tasks had opened their files.", |one| Some(one.phase.open_ns)),
    count("io_ns", "", "From the first transfer's start to the last one's end.", |one| Some(one.phase.io_ns)),
    count("close_ns", "", "From the first close to the end of the last.", |one| Some(one.phase.close_ns)),
    count("user_cpu_ns", "", "Processor time of all processes in user mode.", |one| {
        Some(one.phase.user_cpu_ns)
    }),
    count("system_cpu_ns", "", "Their time in the kernel.", |one| Some(one.phase.system_cpu_ns)),
    share("device_share", "", "Device bytes ÷ application bytes.", RepetitionFigure::moved_by_devices),
    share(
        "first_touch_share",
        "",
        "Share of its reads that are the first ones of their bytes in it.",
        |one| one.first_touches,
    ),
    share("resident_share", "", "Share of the files it reads that page caches held before.", |one| {
        one.resident_share()
    }),
];

const RATE: &[Column<(&'static str, Rate)>] = &[
    word("name", "", "The name of the rate.", |(name, _)| name),
    number("bytes_per_second", "", "Its bytes per second.", |(_, rate)| Some(rate.bytes_per_second)),
    number("transfers_per_second", "", "Its operations per second.", |(_, rate)| {
        Some(rate.transfers_per_second)
    }),
];

const OPERATION: &[Column<(Operation, Rate)>] = &[
    word("operation", "", "The operation.", |(operation, _)| operation.name()),
    number("per_second", "", "Median over the repetitions.", |(_, rate)| Some(rate.transfers_per_second)),
    number("bytes_per_second", "", "Median over the repetitions, in bytes.", |(_, rate)| {
        Some(rate.bytes_per_second)
    }),
];

const DEVICE: &[Column<(String, DeviceMean)>] = &[
    word("device", "", "Its name.", |(name, _)| name),
    number("read_bytes_per_second", "", "Mean over the repetitions, like all values here.", |(_, mean)| {
        Some(mean.read_bytes_per_second)
    }),
    number("write_bytes_per_second", "", "Bytes written per second.", |(_, mean)| {
        Some(mean.write_bytes_per_second)
    }),
    share(
        "busy_share",
        "",
        "Share of the time with a request in flight; null for less than 0.2 s, over which the kernel's counters are too coarse.",
        |(_, mean)| mean.busy_share,
    ),
    number("queue_requests", "", "Requests in flight; null likewise.", |(_, mean)| mean.queue_requests),
    nanos("wait_ns", "", "Time of one request.", |(_, mean)| mean.wait_ns),
];

/// The objects and lists of a figure.
const NESTED: &[Nested<Figure>] = &[
    nested("settings", |_| list_schema(SETTING), |one| objects(SETTING, &one.settings)),
    nested("bytes_per_second", |_| schema(SPREAD, []), |one| object(SPREAD, &one.bytes_per_second).into()),
    nested(
        "transfers_per_second",
        |_| schema(SPREAD, []),
        |one| object(SPREAD, &one.transfers_per_second).into(),
    ),
    nested("operations", |_| list_schema(OPERATION), |one| objects(OPERATION, &one.operations())),
    nested("exchange", |all| json!(all.subschema_for::<Option<Exchange>>()), |one| json!(one.exchange)),
    nested("latency", |all| json!(all.subschema_for::<Vec<LatencyInfo>>()), |one| json!(one.latency)),
    nested("repetitions", repetitions_schema, repetitions),
    nested("devices", |_| list_schema(DEVICE), |one| objects(DEVICE, &one.devices)),
];

/// The repetitions of a figure, each with its rates.
fn repetitions(figure: &Figure) -> Json {
    let repetition = |pass: &RepetitionFigure| {
        let rates: Vec<_> = rates(pass).map(|(name, rate)| (name.name(), rate)).collect();
        let mut all = object(REPETITION, pass);
        all.insert("rates".to_owned(), objects(RATE, &rates));
        all.insert("bytes_per_second".to_owned(), json!(figure.rate_in(pass, BYTES_PER_SECOND)));
        all.insert("transfers_per_second".to_owned(), json!(figure.rate_in(pass, "ops/s")));
        Json::from(all)
    };
    figure.repetitions.iter().map(repetition).collect()
}

fn repetitions_schema(_: &mut SchemaGenerator) -> Json {
    let number = || json!({ "type": "number" });
    let rates = [("bytes_per_second", number()), ("transfers_per_second", number())];
    let beside = [("rates", list_schema(RATE))].into_iter().chain(rates);
    json!({ "type": "array", "items": schema(REPETITION, beside) })
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = object(FIGURE, self);
        all.extend(NESTED.iter().map(|field| (field.key.to_owned(), (field.value)(self))));
        all.serialize(serializer)
    }
}

impl JsonSchema for Figure {
    fn schema_name() -> Cow<'static, str> {
        "Figure".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let nested = NESTED.iter().map(|field| (field.key, (field.schema)(generator)));
        Schema::try_from(schema(FIGURE, nested)).expect("an object is a schema")
    }
}
