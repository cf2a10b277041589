//! Run time × devices and × rack units of jobs, beside what is published.

use plan::TargetTerms;
use record::{Detail, Library};

use super::Timeline;
use crate::gate::{Gate, Kind, Stated};
use crate::table::{Column, Of, Statement};
use crate::{Figure, Summary};

/// What a matrix of launches took, times what it took it from.
#[derive(Debug, Clone, PartialEq)]
pub struct JobCost {
    /// The target, or the published system with its layout.
    pub system: String,
    /// The id of its sum in the library; none of an own figure.
    pub published: Option<String>,
    /// From the first start to the last end, in seconds: median over the passes that count. Not printed of published
    /// systems.
    pub elapsed_seconds: Option<f64>,
    /// Sum of the real times of all launches, in seconds: likewise. What the study prints is this.
    pub real_seconds: f64,
    /// Devices; 0 where the study does not say.
    pub devices: u32,
    /// Rack units, ports or what else is counted; 0 where not said.
    pub rack_units: f64,
}

/// `seconds` × a count that is known.
fn times(seconds: Option<f64>, count: f64) -> Option<f64> {
    seconds.filter(|_| count > 0.0).map(|seconds| seconds * count)
}

impl Statement for JobCost {
    const KIND: Kind = Kind::JobCost;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Jobs: elapsed time, from the first start to the last end, and the sum of the real \
                                   times of all launches, which is all that published systems print; each × devices \
                                   and × rack units";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text(
            "system",
            |one: &Self| {
                format!("{}{}", if one.published.is_some() { "published: " } else { "" }, one.system)
            },
            "The target, or the published system with its layout.",
        )
        .subject(),
        Column::count("devices", |one: &Self| Some(one.devices.into()).filter(|&all| all > 0), "Devices."),
        Column::number(
            "rack_units",
            |one: &Self| Some(one.rack_units).filter(|&all| all > 0.0),
            "Rack units, ports or what else the study counts.",
        ),
        Column::seconds(
            "elapsed",
            |one: &Self| one.elapsed_seconds,
            "First start to last end; not printed of published systems.",
        ),
        Column::seconds(
            "elapsed_devices",
            |one: &Self| times(one.elapsed_seconds, one.devices.into()),
            "Elapsed time × devices.",
        )
        .headed("× devices"),
        Column::seconds(
            "elapsed_rack_units",
            |one: &Self| times(one.elapsed_seconds, one.rack_units),
            "Elapsed time × rack units.",
        )
        .headed("× rack units"),
        Column::seconds(
            "real",
            |one: &Self| Some(one.real_seconds),
            "Sum of the real times of all launches.",
        )
        .headed("sum of real"),
        Column::seconds(
            "real_devices",
            |one: &Self| times(Some(one.real_seconds), one.devices.into()),
            "The same × devices: what can be compared with published systems.",
        )
        .headed("× devices"),
        Column::seconds(
            "real_rack_units",
            |one: &Self| times(Some(one.real_seconds), one.rack_units),
            "The same × rack units.",
        )
        .headed("× rack units"),
        Column::text(
            "published",
            |one: &Self| one.published.clone().unwrap_or_default(),
            "The id in the library; nothing of an own figure.",
        )
        .detail(),
    ];
}

/// Every figure of jobs in `timelines` of whose target the study counts devices or rack units, then the published
/// systems.
pub(crate) fn job_costs(gate: &Gate<'_>, timelines: &[Timeline]) -> Vec<Stated<JobCost>> {
    let cost = |(place, figure): (usize, &Figure)| {
        let terms: &TargetTerms = gate.plan.terms.targets.iter().find(|one| one.name == figure.target)?;
        if terms.devices == 0 && terms.rack_units <= 0.0 {
            return None;
        }
        let passes = || timelines.iter().filter(|one| one.figure == place && one.counts);
        let median = |nanos: fn(&Timeline) -> u64| {
            let all: Vec<f64> = passes().map(|one| nanos(one) as f64 / 1e9).collect();
            Summary::of(&all).map(|all| all.median)
        };
        let cost = JobCost {
            system: terms.name.clone(),
            published: None,
            elapsed_seconds: Some(median(|one| one.concurrency.elapsed_ns)?),
            real_seconds: median(|one| one.concurrency.real_ns)?,
            devices: terms.devices,
            rack_units: terms.rack_units,
        };
        Some(gate.state(Kind::JobCost, vec![place], cost))
    };
    let mut all: Vec<Stated<JobCost>> = gate.figures.iter().enumerate().filter_map(cost).collect();
    if !all.is_empty() {
        let published = published_costs(record::published());
        all.extend(published.into_iter().map(|one| gate.state(Kind::JobCost, Vec::new(), one)));
    }
    all
}

/// The published systems: those whose sum of real times and number of devices are printed.
#[must_use]
pub fn published_costs(library: &Library) -> Vec<JobCost> {
    let cost = |id: &&str| {
        let figure = library.figures.iter().find(|figure| figure.id == **id)?;
        let system = figure.parameters.more.get("storage").and_then(Detail::text)?;
        let study = library.studies.iter().find(|study| study.id == figure.study)?;
        let storage = match study.hardware.get("storage") {
            Some(Detail::List(all)) => all.iter().find_map(|one| match one {
                Detail::Table(table) if table.get("id").and_then(Detail::text) == Some(system) => Some(table),
                _ => None,
            }),
            _ => None,
        };
        Some(JobCost {
            system: format!("{system}, {}", figure.parameters.layout.as_deref().unwrap_or_default()),
            published: Some(figure.id.clone()),
            elapsed_seconds: None,
            real_seconds: figure.value,
            devices: figure.parameters.devices?,
            rack_units: storage
                .and_then(|table| table.get("rack_units"))
                .and_then(Detail::number)
                .unwrap_or(0.0),
        })
    };
    REAL_TIMES.iter().filter_map(cost).collect()
}

/// Sums of real times of both systems. Source: study C, Table 1.
const REAL_TIMES: [&str; 2] = ["c-tab1-spinning-real", "c-tab1-flash-real"];
