//! Which ranks run on which nodes.

/// The nodes of a run and the ranks on them. Nodes are numbered in the order of their first ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    names: Vec<String>,
    node_of: Vec<u32>,
}

impl Topology {
    /// Creates the topology from the names of the ranks' nodes, ordered by rank.
    ///
    /// ```
    /// let topology = comm::Topology::of(["b", "a", "b"]);
    /// assert_eq!((topology.names(), topology.node_of()), (&["b".to_owned(), "a".to_owned()][..], &[0, 1, 0][..]));
    /// assert_eq!((topology.leader(0), topology.leader(1)), (0, 1));
    /// ```
    pub fn of<Name: Into<String>>(node_by_rank: impl IntoIterator<Item = Name>) -> Self {
        let mut all = Self::default();
        for name in node_by_rank {
            let name = name.into();
            let known = all.names.iter().position(|known| *known == name);
            let node = known.unwrap_or_else(|| {
                all.names.push(name);
                all.names.len() - 1
            });
            all.node_of.push(u32::try_from(node).expect("there are as many nodes as ranks at most"));
        }
        all
    }

    /// The names of the nodes, by number.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The node number of each rank, ordered by rank.
    #[must_use]
    pub fn node_of(&self) -> &[u32] {
        &self.node_of
    }

    /// The ranks on a node, in ascending order.
    pub fn ranks_on(&self, node: u32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.node_of).filter(move |(_, of)| **of == node).map(|(rank, _)| rank)
    }

    /// The first rank on a node, which does the once-per-node work.
    ///
    /// # Panics
    /// Panics if there is no such node.
    #[must_use]
    pub fn leader(&self, node: u32) -> u32 {
        self.ranks_on(node).next().expect("a node is known by its first rank")
    }

    /// Whether `rank` is the first one on its node.
    #[must_use]
    pub fn is_leader(&self, rank: u32) -> bool {
        self.node_of.get(rank as usize).is_some_and(|&node| self.leader(node) == rank)
    }
}
