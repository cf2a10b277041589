//! Compares the counters of servers and clients around the passes of a figure with what its tasks
//! moved.

use crate::figures::{RepetitionFigure, ServerCounts};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, bytes, count, list, share},
};

/// The counters of servers and clients around all counted passes of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSide {
    /// Bytes that the tasks read and wrote.
    tasks: [u64; 2],
    /// Byte counts are sums over the passes; the rest includes whatever was reported in any pass.
    counts: ServerCounts,
}

impl ServerSide {
    fn share(&self, moved: Option<u64>, direction: usize) -> Option<f64> {
        let tasks = self.tasks[direction];
        moved.filter(|_| tasks > 0).map(|bytes| bytes as f64 / tasks as f64)
    }
}

impl Statement for ServerSide {
    const KIND: Kind = Kind::ServerSide;
    const OF: Of = Of::Point;
    const CAPTION: &'static str = "What servers and clients counted around the passes that count. Shares are \
         of the bytes that the tasks moved; over the wire: between clients and servers; from disks: at \
         storage targets whose caches are off. OSTs asked: those that the layout of the files names";
    const COLUMNS: &'static [Column<Self>] = &[
        bytes("read_at_servers", "read at servers", "Bytes that servers handed out.", |one| {
            one.counts.at_servers[0]
        }),
        share("read_share", "share", "Share of the bytes that tasks read.", |one| {
            one.share(one.counts.at_servers[0], 0)
        }),
        share(
            "from_disks",
            "from disks",
            "Share that came from disks, as no cache of a server was on.",
            |one| one.share(one.counts.from_disks, 0),
        ),
        share("read_over_wire", "over the wire", "Share that clients took from servers.", |one| {
            one.share(one.counts.over_wire[0], 0)
        }),
        bytes("written_at_servers", "written at servers", "Bytes that servers took in.", |one| {
            one.counts.at_servers[1]
        }),
        share("write_share", "share", "Share of the bytes that tasks wrote.", |one| {
            one.share(one.counts.at_servers[1], 1)
        }),
        share("written_over_wire", "over the wire", "Share that clients brought to servers.", |one| {
            one.share(one.counts.over_wire[1], 1)
        }),
        count("osts_used", "OSTs used", "Storage targets that moved bytes.", |one| {
            Some(one.counts.used.len() as u64).filter(|&count| count > 0)
        }),
        count("osts_asked", "asked", "Storage targets that the files are on.", |one| {
            Some(one.counts.asked.len() as u64).filter(|&count| count > 0)
        }),
        list(
            "caches_on",
            "caches on",
            "Caches of servers that are on, and of clients whose size is known.",
            |one| one.counts.caches.iter().chain(&one.counts.client_caches).cloned().collect(),
        ),
    ];
}

/// One entry for each figure with reported counters.
pub(crate) fn server_sides(gate: &Gate<'_>) -> Vec<Stated<ServerSide>> {
    let of = |subject: &crate::figures::Subject<'_>| {
        let passes: Vec<&RepetitionFigure> = subject.figure.counted().collect();
        let told: Vec<&ServerCounts> = passes.iter().filter_map(|pass| pass.servers.as_deref()).collect();
        let first = (*told.first()?).clone();
        let counts = told[1..].iter().fold(first, |all, one| all.and(one));
        // Bytes of passes without reported counters are not part of a share.
        let counted = passes.iter().filter(|pass| pass.servers.is_some());
        let tasks = counted.fold([0_u64; 2], |[read, written], pass| {
            [read.saturating_add(pass.phase.read_bytes), written.saturating_add(pass.phase.write_bytes)]
        });
        Some(gate.state(vec![subject.index], ServerSide { tasks, counts }))
    };
    gate.subjects.iter().filter_map(of).collect()
}
