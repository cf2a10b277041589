//! Run time × devices and run time × rack units of jobs, compared with published values.

use record::{Detail, Library};

use super::Timeline;
use crate::figures::Figure;
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, count, detail, number, seconds, subject, word},
};
use crate::statistics::Summary;

/// The figures with the sums of real times of both systems. Source: study C, Table 1.
const REAL_TIMES: [&str; 2] = ["c-tab1-spinning-real", "c-tab1-flash-real"];

/// The time of a matrix of launches multiplied by the amount of hardware it used.
#[derive(Debug, Clone, PartialEq)]
pub struct JobCost {
    /// The target, or the published system with its layout.
    system: String,
    /// The id of its sum in the library; empty for an own figure.
    published: String,
    /// The time from the first start to the last end, as the median over the counted passes. Not printed for
    /// published systems.
    elapsed_seconds: Option<f64>,
    /// Sum of the real times of all launches, as the median over the counted passes. This is the value that the
    /// study prints.
    real_seconds: f64,
    /// `None` if the study does not give it; the same applies below.
    devices: Option<u32>,
    /// Rack units, ports or whatever else is counted.
    rack_units: Option<f64>,
}

impl JobCost {
    fn times_devices(&self, seconds: Option<f64>) -> Option<f64> {
        Some(seconds? * f64::from(self.devices?))
    }
}

impl Statement for JobCost {
    const KIND: Kind = Kind::JobCost;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Jobs: elapsed time, from the first start to the last end, and the sum of the real \
                                   times of all launches, which is all that published systems print; each × devices \
                                   and × rack units";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("system", "system", "The target, or the published system with its layout.", |one| {
            &one.system
        })),
        count("devices", "devices", "Devices.", |one| one.devices.map(u64::from)),
        number("rack_units", "rack units", "Rack units, ports or what else the study counts.", |one| {
            one.rack_units
        }),
        seconds("elapsed", "elapsed", "First start to last end; not printed for published systems.", |one| {
            one.elapsed_seconds
        }),
        seconds("elapsed_devices", "× devices", "Elapsed time × devices.", |one| {
            one.times_devices(one.elapsed_seconds)
        }),
        seconds("elapsed_rack_units", "× rack units", "Elapsed time × rack units.", |one| {
            Some(one.elapsed_seconds? * one.rack_units?)
        }),
        seconds("real", "sum of real", "Sum of the real times of all launches.", |one| {
            Some(one.real_seconds)
        }),
        seconds(
            "real_devices",
            "× devices",
            "Real time × devices: what can be compared with published systems.",
            |one| one.times_devices(Some(one.real_seconds)),
        ),
        seconds("real_rack_units", "× rack units", "Real time × rack units.", |one| {
            Some(one.real_seconds * one.rack_units?)
        }),
        detail(word("published", "published", "The id in the library; empty for an own figure.", |one| {
            &one.published
        })),
    ];
}

/// Every job figure in `timelines` whose target has a number of devices or rack units in the study, followed by
/// the published systems.
pub(crate) fn job_costs(gate: &Gate<'_>, timelines: &[Timeline]) -> Vec<Stated<JobCost>> {
    let cost = |(place, figure): (usize, &Figure)| {
        let target = gate.plan.criteria.targets.iter().find(|one| one.name == figure.target)?;
        let devices = Some(target.devices).filter(|&devices| devices > 0);
        let rack_units = Some(target.rack_units).filter(|&units| units > 0.0);
        if devices.is_none() && rack_units.is_none() {
            return None;
        }
        let median = |nanos: fn(&Timeline) -> u64| {
            let passes = timelines.iter().filter(|one| one.figure == place && one.counts);
            let all: Vec<f64> = passes.map(|one| nanos(one) as f64 / 1e9).collect();
            Summary::of(&all).map(|all| all.median)
        };
        let cost = JobCost {
            system: target.name.clone(),
            published: String::new(),
            elapsed_seconds: Some(median(|one| one.concurrency.elapsed_ns)?),
            real_seconds: median(|one| one.concurrency.real_ns)?,
            devices,
            rack_units,
        };
        Some(gate.state(vec![place], cost))
    };
    let mut all: Vec<Stated<JobCost>> = gate.figures.iter().enumerate().filter_map(cost).collect();
    if !all.is_empty() {
        let published = published_costs(record::published());
        all.extend(published.into_iter().map(|one| gate.state(Vec::new(), one)));
    }
    all
}

/// The published systems with a printed sum of real times and number of devices.
#[must_use]
pub fn published_costs(library: &Library) -> Vec<JobCost> {
    let cost = |id: &str| {
        let figure = library.figure(id)?;
        let system = figure.parameters.more.get("storage").and_then(Detail::text)?;
        let study = library.studies.iter().find(|study| study.id == figure.study)?;
        let rack_units = |one: &Detail| match one {
            Detail::Table(table) if table.get("id").and_then(Detail::text) == Some(system) => {
                table.get("rack_units").and_then(Detail::number)
            }
            _ => None,
        };
        Some(JobCost {
            system: format!(
                "published: {system}, {}",
                figure.parameters.layout.as_deref().unwrap_or_default()
            ),
            published: figure.id.clone(),
            elapsed_seconds: None,
            real_seconds: figure.value,
            devices: Some(figure.parameters.devices?),
            rack_units: match study.hardware.get("storage") {
                Some(Detail::List(all)) => all.iter().find_map(rack_units),
                _ => None,
            },
        })
    };
    REAL_TIMES.into_iter().filter_map(cost).collect()
}
