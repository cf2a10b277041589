//! A figure as shown in every form: that of the analysis with its number, its short conditions and its
//! doubts; and its columns in JSON and CSV.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Deref;

use analysis::gate::table::{
    Column, any, bytes, change, count, flag, list, moment, nanos, number, share, text, word,
};
use analysis::{
    RateName,
    audit::Check,
    figures::{DeviceMean, Rate, RepetitionFigure},
    gate::{Quantity, Value},
    statistics::Summary,
};
use plan::{Case, Operation, Role, Setting, SettingValue, Work};
use record::Run;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use crate::format::BYTES_PER_SECOND;
use crate::latencies::LatencyInfo;
use crate::object::{object, objects, schema};
use crate::words;

/// Transfers of at least this size are shown in bytes per second, smaller ones in transfers per second, as in
/// data sheets.
pub(crate) const LARGE_TRANSFER_BYTES: u64 = 64 << 10;

/// The role of a recorded pass before the window in which a case became steady.
const UNSETTLED: &str = "before steady state";

/// One result: a phase of a case, over all repetitions.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// From 1, in the order of the plan.
    pub(crate) number: usize,
    /// As the analysis has it.
    pub(crate) source: analysis::figures::Figure,
    /// The short form of size, order and direction.
    pub(crate) what: String,
    /// The short form of cache, backend and depth.
    pub(crate) path: String,
    pub(crate) tasks: u32,
    pub(crate) transfer_bytes: u64,
    /// Bytes of the files that its transfers go over; 0 where it is of other work.
    pub(crate) data_bytes: u64,
    /// The long form of all conditions, and whether it had the storage for itself where the study says so.
    pub(crate) conditions: String,
    /// Memory took part: the figure is not one of the device.
    pub(crate) page_cache: bool,
    /// Bytes that one operation moves by plan, where it is no transfer.
    pub(crate) bytes_per_operation: Option<u64>,
    /// Who asked whom, and how; none where nobody did.
    pub(crate) exchange: Option<Exchange>,
    pub(crate) latency: Vec<LatencyInfo>,
    /// Marks of the notes that concern it.
    pub(crate) notes: Vec<String>,
    /// The checks of the audit that doubt it, by their names in `docs/AUDIT.md`.
    pub(crate) doubts: Vec<&'static str>,
}

/// `figures` as they are read: each sweep by the values of its keys, in whatever order it ran.
pub(crate) fn in_order<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Vec<&'a Figure> {
    let mut sweeps = analysis::figures::grouped(figures, |one| (one.group.as_str(), one.target.as_str()));
    for sweep in &mut sweeps {
        sweep.sort_by(|one, other| by_values(&one.settings, &other.settings));
    }
    sweeps.concat()
}

/// The order of two points that have the same keys, by the first value in which they differ.
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
    /// Of each pair.
    pub(crate) connections: u32,
    /// Requests under way on each.
    pub(crate) depth: u32,
    /// Of each process, in either part.
    pub(crate) threads: u32,
    /// Empty where it is the one that leads to the peer.
    pub(crate) interface: String,
    /// Processors that asking threads are bound to: `none`, `0-3`, `numa:1` or `adapter`.
    pub(crate) clients_on: String,
    /// Likewise of answering ones.
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
    /// The figure of this number, which `checks` doubt; `case` is the one that it is of.
    pub(crate) fn of(
        run: &Run,
        number: usize,
        source: analysis::figures::Figure,
        case: Option<&Case>,
        checks: &[Check],
    ) -> Self {
        let is_cached = |check: &Check| matches!(check, Check::Cached | Check::CachedFileData);
        let is_buffered = case.is_some_and(|case| !case.workload.direct);
        let of_operation = case.and_then(|case| case.workload.work.operation_bytes(source.phase));
        let transfer = || case.map(|case| case.workload.geometry.transfer);
        let conditions = match run.manifest.plan.terms.exclusive {
            Some(exclusive) => format!("{}, {}", source.conditions, words::exclusive(exclusive)),
            None => source.conditions.clone(),
        };
        Self {
            number,
            what: case
                .map_or_else(|| source.phase.name().to_owned(), |case| words::what_of(case, source.phase)),
            path: case.map(words::path_of).unwrap_or_default(),
            tasks: case.map_or(0, |case| case.workload.tasks),
            transfer_bytes: of_operation.or_else(transfer).map_or(0, |bytes| bytes.0),
            data_bytes: case
                .filter(|case| matches!(case.workload.work, plan::Work::Transfers))
                .map_or(0, |case| case.workload.footprint().0),
            conditions,
            page_cache: is_buffered && checks.iter().any(is_cached),
            bytes_per_operation: of_operation.map(|bytes| bytes.0),
            exchange: case.and_then(|case| Exchange::of(case, &source)),
            latency: source.latency.iter().map(|one| LatencyInfo::of(one, case)).collect(),
            notes: Vec::new(),
            doubts: checks.iter().map(|check| check.name()).collect(),
            source,
        }
    }

    /// The order of its transfers; none where the words of an import do not tell.
    pub(crate) fn order(&self) -> Option<&'static str> {
        let word = |one: &&&str| self.what.split(' ').any(|part| part == **one);
        ["sequential", "random", "backward", "strided", "same"].iter().find(word).copied()
    }

    /// Size, order and phase with the transfers under way: `rand read 4 KiB ×32`.
    pub(crate) fn short_name(&self) -> String {
        let order = match self.order() {
            Some("sequential") => "seq",
            Some("random") => "rand",
            _ => return self.what.clone(),
        };
        if self.is_operations() || self.path.is_empty() {
            return self.what.clone();
        }
        let depth: u32 = self.path.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(1);
        let under_way = u64::from(self.tasks) * u64::from(depth);
        let buffered = if self.path.starts_with("buffered") { ", buffered" } else { "" };
        format!("{order} {} {} ×{under_way}{buffered}", self.phase, plan::Bytes(self.transfer_bytes))
    }

    /// What it is read by: `bytes/s` of transfers; else operations by their name, as in `creates/s`.
    pub(crate) fn unit(&self) -> &'static str {
        words::unit(self.phase)
    }

    /// Whether it is read by its operations, being no transfers.
    pub(crate) fn is_operations(&self) -> bool {
        self.unit() != BYTES_PER_SECOND
    }

    /// Whether data sheets tell such transfers in bytes per second.
    pub(crate) fn is_large(&self) -> bool {
        !self.is_operations() && self.transfer_bytes >= LARGE_TRANSFER_BYTES
    }

    /// What data sheets tell it in: the unit of its bytes, or what a transfer per second of it is called.
    pub(crate) fn shown_unit(&self) -> &'static str {
        if self.is_large() { BYTES_PER_SECOND } else { self.operations_unit() }
    }

    /// Its rate in `unit`: bytes, or else operations, per second.
    pub(crate) fn spread_in(&self, unit: &str) -> &Summary {
        if unit == BYTES_PER_SECOND { &self.bytes_per_second } else { &self.transfers_per_second }
    }

    /// That of one of its repetitions.
    pub(crate) fn rate_in(&self, pass: &RepetitionFigure, unit: &str) -> f64 {
        let rate = pass.rates.get(self.rate);
        rate.map_or(0.0, |rate| match unit {
            BYTES_PER_SECOND => rate.bytes_per_second,
            _ => rate.transfers_per_second,
        })
    }

    /// What a transfer per second of it is called: `IOPS`, or `creates/s`.
    pub(crate) fn operations_unit(&self) -> &'static str {
        if self.is_operations() { self.unit() } else { "IOPS" }
    }

    /// What the spreads are of, as in `median of 3 repetitions, by wall time`.
    pub(crate) fn statistic(&self) -> String {
        match self.repeated() {
            1 => format!("one repetition, {}", self.rate.name()),
            n => format!("median of {n} repetitions, {}", self.rate.name()),
        }
    }

    /// How many repetitions count.
    pub(crate) const fn repeated(&self) -> usize {
        self.source.headline().n
    }

    /// `imported a b, cached, too short`: footnotes, and the checks of the audit that doubt it.
    pub(crate) fn marks(&self) -> String {
        let imported = (self.provenance == record::Provenance::Imported).then_some("imported");
        let notes =
            imported.into_iter().chain(self.notes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let parts = std::iter::once(notes.as_str()).chain(self.doubts.iter().copied());
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Items that were not as the run had left them.
    pub(crate) fn surprises(&self) -> u64 {
        self.counted().map(|pass| pass.phase.surprises).sum()
    }

    /// Each operation apart, where the phase did several: medians over the repetitions of its rates by wall time.
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
        let Work::Rpc(rpc) = &case.workload.work else { return None };
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

/// The role of a pass; that of a recorded one that does not count is [`UNSETTLED`].
pub(crate) fn role(pass: &RepetitionFigure) -> &'static str {
    match pass.role {
        Role::Recorded if !pass.counts => UNSETTLED,
        role => role.name(),
    }
}

/// Every rate that a pass has.
pub(crate) fn rates(pass: &RepetitionFigure) -> impl Iterator<Item = (RateName, Rate)> + '_ {
    RateName::ALL.iter().filter_map(|&name| Some((name, pass.rates.get(name)?)))
}

/// The columns of a figure; spreads and lists stand beside them.
pub(crate) const FIGURE: &[Column<Figure>] = &[
    count("number", "", "From 1, in the order of the plan.", |one| Some(one.number as u64)),
    word("case", "", "The case of the plan.", |one| &one.case),
    word("title", "", "What the case is for.", |one| &one.title),
    word("group", "", "The workload whose sweep the case is a point of.", |one| &one.group),
    word("target", "", "The target; empty where the study names none.", |one| &one.target),
    word("client", "", "Where the measuring program ran; empty where the study does not say.", |one| {
        words::client(one.client)
    }),
    word("phase", "", "The phase.", |one| one.phase.name()),
    word("what", "", "The short form of size, order and direction.", |one| &one.what),
    word("path", "", "The short form of cache, backend and depth.", |one| &one.path),
    count("tasks", "", "Logical workers.", |one| Some(one.tasks.into())),
    bytes("transfer_bytes", "", "Bytes of one transfer.", |one| Some(one.transfer_bytes)),
    word("conditions", "", "The long form of all conditions.", |one| &one.conditions),
    word("provenance", "", "`measured`, `imported`, `published` or `simulated`.", |one| {
        words::provenance(one.provenance)
    }),
    flag("page_cache", "", "Memory took part: the figure is not one of the device.", |one| {
        Some(one.page_cache)
    }),
    text("statistic", "", "What the spreads are of.", Figure::statistic),
    word("rate", "", "The name of the rate.", |one| one.rate.name()),
    word("unit", "", "What it is read by: `bytes/s` of transfers; else operations by their name.", |one| {
        one.unit()
    }),
    count("nodes", "", "Nodes that it is on.", |one| Some(one.node_count)),
    nanos("cpu_ns_per_operation", "", "Processor time of all processes for one operation.", |one| {
        one.cpu_ns_per_operation()
    }),
    bytes(
        "bytes_per_operation",
        "",
        "Bytes that one operation moves by plan, where it is no transfer.",
        |one| one.bytes_per_operation,
    ),
    number(
        "allocated_bytes_per_file",
        "",
        "Bytes that the file system holds for each file that was looked at.",
        |one| one.allocated_bytes_per_file(),
    ),
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
    number("mean", "", "Of the same.", |one| Some(one.mean)),
    number("deviation", "", "Standard deviation with n − 1; null with one repetition.", |one| {
        (one.n > 1).then_some(one.deviation_sample)
    }),
    number("minimum", "", "The smallest.", |one| Some(one.min)),
    number("maximum", "", "The largest.", |one| Some(one.max)),
    number("interval_low", "", "The low end of the confidence interval of the median.", |one| {
        one.median_interval.map(|interval| interval.low)
    }),
    number("interval_high", "", "Its high end.", |one| one.median_interval.map(|interval| interval.high)),
    share("confidence", "", "The confidence that the interval really has.", |one| {
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
        "`recorded`, `warm-up`, `earlier round`, or `before steady state` of a case that went on until it was \
         steady; only the first counts.",
        role,
    ),
    change("drift", "", "Of the last of several rounds: its rate ÷ that of the first round − 1.", |one| {
        one.drift
    }),
    moment("started_unix_ns", "", "Wall clock.", |one| Some(one.phase.started_unix_ns)),
    bytes("bytes", "", "Bytes that were moved.", |one| Some(one.phase.bytes())),
    count("transfers", "", "Operations that completed.", |one| Some(one.phase.transfers())),
    count("wall_ns", "", "From the first open to the end of the last close.", |one| Some(one.phase.wall_ns)),
    count("open_ns", "", "Until all tasks had opened their files.", |one| Some(one.phase.open_ns)),
    count("io_ns", "", "From the first transfer's start to the last one's end.", |one| Some(one.phase.io_ns)),
    count("close_ns", "", "From the last transfer's end on.", |one| Some(one.phase.close_ns)),
    count("user_cpu_ns", "", "Processor time of all processes in user mode.", |one| {
        Some(one.phase.user_cpu_ns)
    }),
    count("system_cpu_ns", "", "Their time in the kernel.", |one| Some(one.phase.system_cpu_ns)),
    share("device_share", "", "Device bytes ÷ application bytes.", RepetitionFigure::moved_by_devices),
    share("first_touch_share", "", "Of its reads, the first ones of their bytes in it.", |one| {
        one.first_touches
    }),
    share("resident_share", "", "Of the files it reads, what page caches held before.", |one| {
        one.resident_share()
    }),
];

const RATE: &[Column<(&'static str, Rate)>] = &[
    word("name", "", "The name of the rate.", |(name, _)| name),
    number("bytes_per_second", "", "Bytes per second of it.", |(_, rate)| Some(rate.bytes_per_second)),
    number("transfers_per_second", "", "Operations per second of it.", |(_, rate)| {
        Some(rate.transfers_per_second)
    }),
];

const OPERATION: &[Column<(Operation, Rate)>] = &[
    word("operation", "", "Which one.", |(operation, _)| operation.name()),
    number("per_second", "", "Median over the repetitions.", |(_, rate)| Some(rate.transfers_per_second)),
    number("bytes_per_second", "", "Likewise.", |(_, rate)| Some(rate.bytes_per_second)),
];

const DEVICE: &[Column<(String, DeviceMean)>] = &[
    word("device", "", "Its name.", |(name, _)| name),
    number("read_bytes_per_second", "", "Mean over the repetitions, as all of it.", |(_, mean)| {
        Some(mean.read_bytes_per_second)
    }),
    number("write_bytes_per_second", "", "Bytes written per second.", |(_, mean)| {
        Some(mean.write_bytes_per_second)
    }),
    share("busy_share", "", "Share of the time with a request under way.", |(_, mean)| Some(mean.busy_share)),
    number("queue_requests", "", "Requests under way.", |(_, mean)| Some(mean.queue_requests)),
    nanos("wait_ns", "", "Time of one request.", |(_, mean)| mean.wait_ns),
];

impl Figure {
    /// A repetition as an object, with its rates.
    fn repetition(&self, pass: &RepetitionFigure) -> Json {
        let mut all = object(REPETITION, pass);
        let rates: Vec<_> = rates(pass).map(|(name, rate)| (name.name(), rate)).collect();
        all.insert("rates".to_owned(), objects(RATE, &rates));
        for unit in [BYTES_PER_SECOND, "ops/s"] {
            let key = if unit == BYTES_PER_SECOND { "bytes_per_second" } else { "transfers_per_second" };
            all.insert(key.to_owned(), json!(self.rate_in(pass, unit)));
        }
        all.into()
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: Map<String, Json> = object(FIGURE, self);
        let repetitions: Json = self.repetitions.iter().map(|pass| self.repetition(pass)).collect();
        let beside = [
            ("settings", objects(SETTING, &self.settings)),
            ("bytes_per_second", object(SPREAD, &self.bytes_per_second).into()),
            ("transfers_per_second", object(SPREAD, &self.transfers_per_second).into()),
            ("operations", objects(OPERATION, &self.operations())),
            ("exchange", json!(self.exchange)),
            ("latency", json!(self.latency)),
            ("repetitions", repetitions),
            ("devices", objects(DEVICE, &self.devices)),
        ];
        all.extend(beside.map(|(key, value)| (key.to_owned(), value)));
        all.serialize(serializer)
    }
}

impl JsonSchema for Figure {
    fn schema_name() -> Cow<'static, str> {
        "Figure".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = |items: Json| json!({ "type": "array", "items": items });
        let of_pass = [("rates", list(schema(RATE, [])))];
        let rates =
            ["bytes_per_second", "transfers_per_second"].map(|key| (key, json!({ "type": "number" })));
        let beside = [
            ("settings", list(schema(SETTING, []))),
            ("bytes_per_second", schema(SPREAD, [])),
            ("transfers_per_second", schema(SPREAD, [])),
            ("operations", list(schema(OPERATION, []))),
            ("exchange", json!(generator.subschema_for::<Option<Exchange>>())),
            ("latency", json!(generator.subschema_for::<Vec<LatencyInfo>>())),
            ("repetitions", list(schema(REPETITION, of_pass.into_iter().chain(rates)))),
            ("devices", list(schema(DEVICE, []))),
        ];
        Schema::try_from(schema(FIGURE, beside)).expect("an object is a schema")
    }
}
