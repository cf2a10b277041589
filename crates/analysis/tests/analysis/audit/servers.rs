//! Counters of servers and clients: what they show about reads, and what they do not.

use analysis::{
    RateName,
    audit::{Check, audit},
    comparisons::verdicts,
    figures::{ServerCounts, figures},
    findings::findings,
    gate::Judgement,
};
use plan::{Amount, Bytes, Case, Client, Phase, Plan, TargetDescription};
use proptest::prelude::{prop_assert_eq, proptest};
use record::{PhaseKey, PhaseRecord, PhaseRow, ServerRow, Warning, WarningRow};

use crate::common::rows::{SECOND, at_least, phase, plan, run, workload};

const MIB: u64 = 1 << 20;
/// Bytes read in each pass.
const READ: u64 = 100 * MIB;

fn key() -> PhaseKey {
    PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Read }
}

/// A counter that increased, or a setting. It was reported on `node`, or by a command.
fn row(node: &str, system: &str, device: &str, counter: &str, before: u64, after: u64) -> ServerRow {
    ServerRow {
        key: key(),
        node: node.into(),
        source: "ask".into(),
        system: system.into(),
        device: device.into(),
        counter: counter.into(),
        before: Some(before),
        after: Some(after),
    }
}

/// A storage target that served this many bytes, with these cache settings.
fn ost(number: u32, moved: u64, read_cache: u64, write_cache: u64) -> Vec<ServerRow> {
    let of = |counter, before, after| {
        row("", "lustre-server", &format!("fs-OST{number:04x}"), counter, before, after)
    };
    vec![
        of("read_bytes", 7, 7 + moved),
        of("read_cache_enable", read_cache, read_cache),
        of("writethrough_cache_enable", write_cache, write_cache),
    ]
}

fn wire(node: &str, moved: u64) -> Vec<ServerRow> {
    vec![row(node, "lustre-client", "fs-OST0000-osc-ffff8801", "read_bytes", 5, 5 + moved)]
}

fn nfs(node: &str, moved: u64) -> Vec<ServerRow> {
    vec![row(node, "nfs-client", "s:/e on /mnt", "server_read_bytes", 5, 5 + moved)]
}

fn asked(number: u32) -> Vec<ServerRow> {
    vec![row("", "lustre-layout", &format!("OST{number:04x}"), "asked", 1, 1)]
}

/// Reads from a remote file system whose servers and clients reported `rows`.
struct Read {
    plan: Plan,
    rows: Vec<ServerRow>,
}

impl Read {
    fn of(rows: &[Vec<ServerRow>]) -> Self {
        let workload = workload(|spec| {
            spec.geometry.block = Bytes(READ);
            (spec.direct, spec.files.keep) = (true, plan::Keep::Always);
        });
        let case = Case {
            repetitions: 2,
            target: "store".to_owned(),
            ..Case::new("c", workload, vec![Phase::Read])
        };
        let mut plan = plan(vec![case]);
        plan.criteria.targets =
            vec![TargetDescription { name: "store".to_owned(), ..TargetDescription::default() }];
        plan.criteria.commitments = vec![at_least(Amount::BytesPerSecond(1.0))];
        Self { plan, rows: rows.concat() }
    }

    fn with(mut self, change: impl FnOnce(&mut TargetDescription)) -> Self {
        change(&mut self.plan.criteria.targets[0]);
        self
    }

    fn run(&self) -> record::Run {
        let record = |repetition| {
            let key = PhaseKey { repetition, ..key() };
            let reason = "fuse.x at /mnt passes its data to a program".to_owned();
            let warning = Warning::DevicesUnknown { reason };
            let rows = self.rows.iter().map(|row| ServerRow { key: key.clone(), ..row.clone() });
            PhaseRecord {
                servers: rows.collect(),
                warnings: vec![WarningRow { key: Some(key.clone()), warning }],
                ..PhaseRecord::new(PhaseRow { device_read_bytes: None, ..phase(&key, READ, 100 * SECOND) })
            }
        };
        let mut run = run(&self.plan, (0..2).map(record).collect());
        run.manifest.host.memory_bytes = 10 << 30;
        run
    }

    /// The judgement of the promise, the checks that report something, and their messages.
    fn judged(&self) -> (Judgement, Vec<Check>, String) {
        let figures = figures(&self.run(), RateName::ByWall);
        let doubts = audit(&self.plan, &figures, &[]);
        let verdict = verdicts(&self.plan, &figures, &doubts).remove(0);
        let said: Vec<String> = doubts
            .iter()
            .map(|one| format!("{} {}: {}", one.check.name(), one.concerns, one.evidence))
            .collect();
        (verdict.judgement, doubts.iter().map(|one| one.check).collect(), said.join("\n"))
    }

    #[track_caller]
    fn passes(&self) {
        let (judgement, _, said) = self.judged();
        assert_eq!(judgement, Judgement::Holds, "{said}");
    }

    #[track_caller]
    fn is_doubtful(&self, check: Check, words: &str) {
        let (judgement, checks, said) = self.judged();
        assert_eq!(judgement, Judgement::CannotTell, "{said}");
        assert!(checks.contains(&check) && said.contains(words), "no {words:?} in {said}");
    }
}

#[test]
fn disks_of_servers_exclude_memory_as_devices_do() {
    Read::of(&[]).is_doubtful(Check::MemoryNotExcluded, "device bytes unknown");
    Read::of(&[ost(0, READ, 0, 0)]).passes();
    Read::of(&[ost(0, READ / 2, 0, 0), ost(1, READ / 2, 0, 0)]).passes();
    // The settings of a target that moved nothing do not matter.
    let idle = Read::of(&[ost(0, READ, 0, 0), ost(1, 0, 1, 1)]);
    idle.is_doubtful(Check::ServerCaches, "fs-OST0001.read_cache_enable and 1 more are on");
    for (read, write) in [(1, 0), (0, 1)] {
        let cached = Read::of(&[ost(0, READ, read, write)]);
        cached.is_doubtful(Check::ServerCaches, "_cache_enable is on");
        cached.is_doubtful(Check::MemoryNotExcluded, "a cache of the servers is on");
    }
    // Nothing is known about its caches, as with ZFS.
    let unknown = Read::of(&[vec![ost(0, READ, 0, 0).remove(0)]]);
    unknown.is_doubtful(Check::MemoryNotExcluded, "all bytes taken from servers");
}

#[test]
fn less_at_servers_or_over_the_wire_shows_that_a_cache_answered() {
    let least = READ / 100 * 94;
    Read::of(&[ost(0, least, 0, 0)]).is_doubtful(Check::Cached, "the servers handed out 94.0 %");
    Read::of(&[ost(0, 0, 0, 0)]).is_doubtful(Check::Cached, "0.0 %");
    Read::of(&[wire("n1", least)]).is_doubtful(Check::Cached, "over the wire, the clients took 94.0 %");
    Read::of(&[nfs("n1", 0)]).is_doubtful(Check::Cached, "over the wire, the clients took 0.0 %");
    let disks = vec![row("", "lustre-server", "fs-OST0000", "disk_read_bytes_max", 0, MIB)];
    Read::of(&[ost(0, READ, 0, 0), disks.clone()])
        .is_doubtful(Check::Cached, "disks of the servers read at most 1.0 %");
    // A server without that histogram may have read all of the data.
    Read::of(&[ost(0, READ / 2, 0, 0), ost(1, READ / 2, 0, 0), disks]).passes();
}

#[test]
fn what_others_read_may_hide_hits() {
    Read::of(&[ost(0, READ / 100 * 125, 0, 0)]).passes();
    Read::of(&[ost(0, READ / 100 * 126, 0, 0)]).is_doubtful(Check::MemoryNotExcluded, "device bytes unknown");
}

#[test]
fn bytes_over_the_wire_leave_only_the_memory_of_servers() {
    for rows in [wire("n1", READ), nfs("n1", READ)] {
        Read::of(std::slice::from_ref(&rows))
            .is_doubtful(Check::MemoryNotExcluded, "the memory of the servers is not declared");
        // A sequential read of four times the server memory cannot come from it. The node memory does not matter.
        let small = |target: &mut TargetDescription| target.server_memory = Some(Bytes(READ / 4));
        Read::of(std::slice::from_ref(&rows)).with(small).passes();
        Read::of(&[]).with(small).is_doubtful(Check::MemoryNotExcluded, "of memory on the nodes");
        let local = |target: &mut TargetDescription| {
            small(target);
            target.client = Client::LocalToServer;
        };
        Read::of(&[rows]).with(local).is_doubtful(Check::MemoryNotExcluded, "of memory on the nodes");
    }
}

#[test]
fn what_is_told_twice_counts_once() {
    Read::of(&[ost(0, READ, 0, 0), ost(0, READ, 0, 0)]).passes();
    let counts = |rows: &[Vec<ServerRow>]| ServerCounts::of(rows.concat().iter()).expect("rows");
    // A command on the client, in addition to what ioproof reads there itself. Then two nodes with one mount each.
    assert_eq!(counts(&[wire("n1", READ), wire("", READ)]).over_wire[0], Some(READ));
    assert_eq!(counts(&[nfs("n1", READ), nfs("n2", READ)]).over_wire[0], Some(2 * READ));
    assert_eq!(ServerCounts::of([].iter()), None);
}

#[test]
fn a_counter_that_began_anew_or_was_told_once_is_not_known() {
    let mut rows = ost(0, READ, 0, 0);
    (rows[0].before, rows[0].after) = (Some(9), Some(8));
    Read::of(std::slice::from_ref(&rows)).is_doubtful(Check::MemoryNotExcluded, "device bytes unknown");
    rows[0].after = None;
    Read::of(&[rows]).is_doubtful(Check::MemoryNotExcluded, "device bytes unknown");
}

#[test]
fn storage_targets_that_do_not_fit_the_layout_are_told() {
    let read = Read::of(&[asked(0), asked(1), ost(0, READ, 0, 0), ost(1, 0, 0, 0)]);
    let (judgement, checks, said) = read.judged();
    assert_eq!((judgement, checks.contains(&Check::OtherTargets)), (Judgement::Holds, true), "{said}");
    assert!(said.contains("OST0001 moved nothing"), "{said}");
    let (.., said) = Read::of(&[asked(0), ost(0, READ / 2, 0, 0), ost(10, READ / 2, 0, 0)]).judged();
    assert!(said.contains("OST000a moved bytes but hold none of the files"), "{said}");
    let (_, checks, _) = Read::of(&[asked(0), ost(0, READ, 0, 0), ost(1, 0, 0, 0)]).judged();
    assert!(!checks.contains(&Check::OtherTargets));
}

/// The GPFS counters show what it returned to programs, both from disks and from its cache.
#[test]
fn the_bytes_of_gpfs_show_no_cache() {
    let handed = vec![row("", "gpfs-client", "n1 fs", "read_bytes", 0, READ)];
    let pool = vec![row("", "gpfs-client", "c", "pagepool_bytes", 1 << 30, 1 << 30)];
    Read::of(std::slice::from_ref(&handed)).is_doubtful(Check::MemoryNotExcluded, "device bytes unknown");
    let read = Read::of(&[handed, pool]);
    let found = findings(&read.run(), &figures(&read.run(), RateName::ByWall));
    assert_eq!(found.server_sides.len(), 1);
    let counts = ServerCounts::of(read.rows.iter()).expect("rows");
    assert_eq!(counts.client_caches, ["c: pagepool of 1 GiB"]);
}

proptest! {
    /// No server counters fulfil a promise while a cache is enabled and the size of its memory is unknown.
    #[test]
    fn no_counters_keep_a_promise_with_a_cache_on(moved in 0..4 * READ, over in 0..4 * READ, number in 0..9_u32) {
        let read = Read::of(&[ost(number, moved, 1, 0), wire("n1", over)]);
        prop_assert_eq!(read.judged().0, Judgement::CannotTell);
    }
}
