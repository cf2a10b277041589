//! What a study file fixes about the measurement of a promised figure, whatever overrides make of the workload.

use serde::{Deserialize, Serialize};

use crate::{Case, Phase, ReadFrom};

/// The part of a commitment that is about the measurement, not about the amount.
///
/// A promise of many nodes is not kept by fewer, nor one of reads across nodes by tasks that read their own data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// The numbers of nodes that it is about; any number if empty.
    pub nodes: Vec<u32>,
    /// Whether tasks read what others wrote.
    pub reads_others: bool,
    /// The number of figures that the file selects and that an override took away.
    pub taken_away: usize,
    /// What runs that were merged state differently about it, or measured in different places, each as a fragment of
    /// a sentence. Passes of other terms or other storage do not count for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<String>,
}

impl Terms {
    /// Whether they ask for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the figure of `phase` of `case` does not meet, each as a fragment of a sentence.
    #[must_use]
    pub fn unmet(&self, case: &Case, phase: Phase) -> Vec<String> {
        let nodes = case.workload.nodes;
        let of_nodes = (!self.nodes.is_empty() && !self.nodes.contains(&nodes)).then(|| {
            format!("it is about {}, and this is a figure of {}", counted(&self.nodes), counted(&[nodes]))
        });
        let is_own = self.reads_others && phase.needs_data() && case.workload.read_from == ReadFrom::Same;
        let of_reads = is_own.then(|| {
            "it is about reads of what other tasks wrote, and here each task read its own data".to_owned()
        });
        of_nodes.into_iter().chain(of_reads).chain(self.differing.iter().cloned()).collect()
    }
}

/// Alternative numbers of nodes in words: `2, 4 or 8 nodes`.
fn counted(numbers: &[u32]) -> String {
    let noun = if numbers == [1] { "node" } else { "nodes" };
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last} {noun}", others.join(", ")),
        _ => format!("{} {noun}", words.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_node_is_not_several() {
        assert_eq!(counted(&[1]), "1 node");
        assert_eq!(counted(&[4]), "4 nodes");
        assert_eq!(counted(&[1, 2]), "1 or 2 nodes");
        assert_eq!(counted(&[2, 4, 8]), "2, 4 or 8 nodes");
    }
}
