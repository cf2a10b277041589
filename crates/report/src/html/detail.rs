//! What the charts of one figure draw.

use analysis::{CdfPoint, DeviceLine, Latency, SecondsLine, TaskRate};
use record::{Operation, Run};

/// All of one figure.
#[derive(Debug, Clone)]
pub(crate) struct Detail {
    /// One for each direction, in the order of the figure's latencies.
    pub(crate) curves: Vec<Curve>,
    pub(crate) seconds: Vec<SecondsLine>,
    pub(crate) devices: Vec<DeviceLine>,
    pub(crate) tasks: Vec<TaskRate>,
}

/// The cumulative distribution of one direction's response times.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    pub(crate) operation: Operation,
    pub(crate) points: Vec<CdfPoint>,
}

impl Detail {
    /// What `run` holds on `figure`.
    pub(crate) fn of(run: &Run, figure: &analysis::Figure) -> Self {
        let (case, phase) = (figure.case.as_str(), figure.phase);
        Self {
            curves: figure.histograms(run).iter().map(curve).collect(),
            seconds: analysis::seconds(&run.series(case), case, phase),
            devices: analysis::device_lines(&run.devices(case), case, phase),
            tasks: analysis::task_rates(&run.tasks(case), case, phase),
        }
    }
}

fn curve((operation, latency): &(Operation, Latency)) -> Curve {
    // A curve begins at 0: nothing was faster than the fastest.
    let start = CdfPoint { latency_ns: latency.min_ns(), share: 0.0 };
    Curve { operation: *operation, points: std::iter::once(start).chain(latency.cdf()).collect() }
}
