//! Run time × devices and × rack units of jobs, beside what is published.

use plan::{Plan, TargetTerms};
use record::{Detail, Library};

use super::Timeline;
use crate::{Figure, Summary};

/// What a matrix of launches took, times what it took it from.
#[derive(Debug, Clone, PartialEq)]
pub struct JobCost {
    /// The figure.
    pub figure: usize,
    /// Its target.
    pub target: String,
    /// From the first start to the last end, in seconds: median over the passes that count.
    pub elapsed_seconds: f64,
    /// Sum of the real times of all launches, in seconds: likewise. What the study prints is this.
    pub real_seconds: f64,
    /// Devices; 0 where the study does not say.
    pub devices: u32,
    /// Rack units, ports or what else is counted; 0 where not said.
    pub rack_units: f64,
}

/// The same of a published system: only the sum of real times is printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedCost {
    /// The id of the sum in the library.
    pub id: String,
    /// The system, as in `flash`.
    pub system: String,
    /// Its layout in the words of the study.
    pub layout: String,
    /// Sum of the real times of all tests, in seconds.
    pub real_seconds: f64,
    /// Devices.
    pub devices: u32,
    /// Rack units; 0 where not said.
    pub rack_units: f64,
}

/// Every figure of jobs in `timelines` of whose target the study counts devices or rack units.
#[must_use]
pub fn job_costs(plan: &Plan, figures: &[Figure], timelines: &[Timeline]) -> Vec<JobCost> {
    let cost = |(place, figure): (usize, &Figure)| {
        let terms: &TargetTerms = plan.terms.targets.iter().find(|one| one.name == figure.target)?;
        if terms.devices == 0 && terms.rack_units <= 0.0 {
            return None;
        }
        let passes = || timelines.iter().filter(|one| one.figure == place && one.counts);
        let median = |nanos: fn(&Timeline) -> u64| {
            let all: Vec<f64> = passes().map(|one| nanos(one) as f64 / 1e9).collect();
            Summary::of(&all).map(|all| all.median)
        };
        Some(JobCost {
            figure: place,
            target: terms.name.clone(),
            elapsed_seconds: median(|one| one.concurrency.elapsed_ns)?,
            real_seconds: median(|one| one.concurrency.real_ns)?,
            devices: terms.devices,
            rack_units: terms.rack_units,
        })
    };
    figures.iter().enumerate().filter_map(cost).collect()
}

/// The published systems: those whose sum of real times and number of devices are printed.
#[must_use]
pub fn published_costs(library: &Library) -> Vec<PublishedCost> {
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
        Some(PublishedCost {
            id: figure.id.clone(),
            system: system.to_owned(),
            layout: figure.parameters.layout.clone().unwrap_or_default(),
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
