//! Observes a node, and the devices of its targets, during a phase.

use std::collections::BTreeSet;
use std::time::Duration;

use host::{Host, Observed, Observer, Unobservable};

/// Devices are sampled once a second, like the series of the engine.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// An observer, and the reason if it does not observe the devices.
pub(crate) struct NodeObserver {
    observer: Option<Observer>,
    unobserved: Option<String>,
}

impl NodeObserver {
    /// Starts to observe the node and, if they are known, its `devices`. `processes` are the other
    /// processes of the run.
    pub(crate) fn start(
        host: &Host,
        devices: Result<Vec<String>, Unobservable>,
        processes: &BTreeSet<u32>,
    ) -> Self {
        let start = |devices: &[String]| {
            Observer::start(host.root(), devices, processes, SAMPLE_INTERVAL)
                .map_err(|error| Unobservable { reason: error.to_string() })
        };
        match devices.and_then(|devices| start(&devices)) {
            Ok(observer) => Self { observer: Some(observer), unobserved: None },
            Err(Unobservable { reason }) => Self { observer: start(&[]).ok(), unobserved: Some(reason) },
        }
    }

    /// Returns what was observed, and the reason if the devices were not observed.
    pub(crate) fn stop(self) -> (Observed, Option<String>) {
        (self.observer.map(Observer::stop).unwrap_or_default(), self.unobserved)
    }
}
