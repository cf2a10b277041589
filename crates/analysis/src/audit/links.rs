//! Rates of remote targets against the network links of the nodes, where the record has them.

use plan::{Client, Phase};
use record::{HostFacts, Provenance, PublishedUnit, Run};

use super::doubt::{CEILING_SLACK, Found};
use crate::{Check, Doubt, Figure};

/// Figures of remote targets that no link of their nodes could carry.
pub(crate) fn above_links(run: &Run, figures: &[Figure]) -> Vec<Doubt> {
    if run.manifest.provenance != Provenance::Measured {
        return Vec::new();
    }
    let nodes = run.manifest.cluster.iter().flat_map(|cluster| &cluster.nodes).map(|node| &node.host);
    let nodes: Vec<&HostFacts> = nodes.chain([&run.manifest.host]).collect();
    let all: Option<Vec<f64>> = nodes.into_iter().map(links).collect();
    // The best connected node stands for all: who has less is in doubt sooner.
    let Some(node) = all.into_iter().flatten().max_by(f64::total_cmp) else { return Vec::new() };
    let above = |(place, figure): (usize, &Figure)| {
        // What goes both ways at once has the link twice.
        let ways = if figure.phase == Phase::Mixed { 2.0 } else { 1.0 };
        let limit = node * ways * figure.node_count as f64;
        let rate = figure.bytes_per_second.median;
        (figure.client == Client::Remote && rate > limit * (1.0 + CEILING_SLACK)).then(|| {
            let [rate, limit] = [rate, limit].map(|value| PublishedUnit::BytesPerSecond.text(value));
            let found = Found::new(
                Check::AboveCeiling,
                format!("{rate} from a remote target, where the network links of its nodes carry {limit}"),
                "something on this side of the network answered: measure with more data than all caches hold",
            );
            found.of(Some(place), figure.conditions.clone())
        })
    };
    figures.iter().enumerate().filter_map(above).collect()
}

/// Bytes per second of all links of a node that are up; none where one of its cards does not say.
fn links(host: &HostFacts) -> Option<f64> {
    let all = host.network.known()?.iter();
    let up = all.filter(|one| one.state.known().is_some_and(|state| state.eq_ignore_ascii_case("up")));
    // Interfaces without a card, as those of containers, carry nothing of their own.
    let cards = up.filter(|one| one.pci_address.known().is_some());
    let bits: Option<Vec<f64>> = cards.map(|one| Some(*one.bits_per_second.known()? as f64)).collect();
    bits.map(|all| all.iter().sum::<f64>() / 8.0).filter(|&bytes| bytes > 0.0)
}
