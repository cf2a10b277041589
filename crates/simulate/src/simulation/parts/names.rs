//! Metadata services, which handle the names of files and directories.

use std::collections::HashMap;

use plan::{Operation, Phase};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::Metadata;
use crate::simulation::parts::service::{ServiceTime, whole};
use crate::simulation::parts::station::Slots;
use crate::simulation::time::{Ticks, ticks};

/// An operation on a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameCall {
    Create,
    Stat,
    Open,
    Remove,
    Rename,
    List,
}

impl NameCall {
    /// The operation on each item of `phase`.
    pub(crate) fn of(phase: Phase) -> Self {
        phase.operation().map_or(Self::Open, Self::of_operation)
    }

    /// The operation on the name for an operation on a file.
    pub(crate) fn of_operation(operation: Operation) -> Self {
        match operation {
            Operation::Create => Self::Create,
            Operation::Stat => Self::Stat,
            Operation::Remove => Self::Remove,
            Operation::Rename => Self::Rename,
            Operation::List => Self::List,
            _ => Self::Open,
        }
    }

    /// Whether it changes the directory.
    fn changes(self) -> bool {
        matches!(self, Self::Create | Self::Remove | Self::Rename)
    }
}

/// The servers of a metadata service.
#[derive(Debug, Clone)]
pub(crate) struct NameService {
    servers: Vec<Slots>,
    calls: [ServiceTime; 6],
    lock: Ticks,
    /// When each directory is unlocked.
    locks: HashMap<u64, Ticks>,
    pub(crate) random: Xoshiro256PlusPlus,
}

impl NameService {
    pub(crate) fn new(service: &Metadata) -> Self {
        let or = |one: &Option<crate::model::Service>, other: &crate::model::Service| {
            ServiceTime::new(one.as_ref().unwrap_or(other))
        };
        Self {
            servers: vec![Slots::new(service.slots); service.count as usize],
            calls: [
                ServiceTime::new(&service.create),
                ServiceTime::new(&service.stat),
                or(&service.open, &service.stat),
                ServiceTime::new(&service.remove),
                or(&service.rename, &service.create),
                or(&service.list, &service.stat),
            ],
            lock: service.directory_lock.map_or(0, |time| whole(ticks(time.0 as f64))),
            locks: HashMap::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(0),
        }
    }

    /// Returns when a call on a name in `directory` that arrives at `arrival` has been served.
    pub(crate) fn serve(&mut self, arrival: Ticks, call: NameCall, directory: u64, factor: f64) -> Ticks {
        let mut start = arrival;
        if self.lock > 0 && call.changes() {
            let free = self.locks.entry(directory).or_default();
            start = start.max(*free);
            *free = start.saturating_add(whole(self.lock as f64 * factor));
        }
        let time = self.calls[call as usize].draw(&mut self.random, 0, false, factor);
        let count = self.servers.len() as u64;
        let server = usize::try_from(spread(directory) % count.max(1)).unwrap_or(0);
        self.servers[server].serve(start, time)
    }

    /// Moves everything in it by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        self.servers.iter_mut().for_each(|server| server.shift(time));
        self.locks.values_mut().for_each(|free| *free = free.saturating_add(time));
    }

    /// Removes locks that are no longer held.
    pub(crate) fn unlock(&mut self) {
        self.locks.clear();
    }
}

/// Hashes the number of a directory, so that the numbers of a job's directories have no regular distances: the
/// finalizer of SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014).
const fn spread(directory: u64) -> u64 {
    let mixed = (directory ^ (directory >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
