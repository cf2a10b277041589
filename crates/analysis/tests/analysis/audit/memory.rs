//! Reads that may have been served from memory: what rules that out, and that nothing else lets a commitment pass.

use analysis::{
    RateName,
    audit::{AuditIssue, Check, audit},
    comparisons::{Verdict, verdicts},
    figures::{Figure, figures},
    findings::findings,
    gate::Judgement,
};
use plan::{Amount, Backend, Bytes, Case, Client, Order, Phase, Plan, TargetDescription, WorkloadSpec};
use proptest::prelude::{any, prop_assert_ne, proptest};
use record::{
    CacheLocation, Fact, FileSystemFacts, NetworkFacts, PhaseKey, PhaseRecord, PhaseRow, Provenance, Run,
    Warning, WarningRow,
};

use crate::common::rows::{SECOND, at_least, phase, plan, run, workload};

const GIB: u64 = 1 << 30;
/// Memory of the node.
const NODE: u64 = 10 * GIB;

/// A read of this much data in two repetitions, and the changes that a test makes to it.
struct Read {
    plan: Plan,
    phase: Phase,
    read_bytes: Vec<u64>,
    device_percent: Option<u64>,
    memory_bytes: u64,
    /// Bytes of the files in page caches before each pass, or `None` if this was not checked.
    resident_bytes: Option<u64>,
    /// Bytes that the program fetched from devices in each pass, or `None` if the kernel did not report it.
    fetched_bytes: Option<u64>,
    /// The type of the file system.
    kind: &'static str,
    provenance: Provenance,
    warnings: Vec<Warning>,
}

impl Read {
    fn of(data: u64, change: impl FnOnce(&mut WorkloadSpec)) -> Self {
        let workload = workload(|spec| {
            spec.geometry.block = Bytes(data);
            (spec.direct, spec.files.keep) = (true, plan::Keep::Always);
            change(spec);
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
        Self {
            plan,
            phase: Phase::Read,
            read_bytes: vec![data, data],
            device_percent: None,
            memory_bytes: NODE,
            resident_bytes: None,
            fetched_bytes: None,
            kind: "nfs4",
            provenance: Provenance::Measured,
            warnings: Vec::new(),
        }
    }

    /// A read from a remote file system whose servers have this much memory.
    fn remote(data: u64, server_memory: Option<u64>) -> Self {
        let mut read = Self::of(data, |_| ());
        read.plan.criteria.targets[0].server_memory = server_memory.map(Bytes);
        let reason = "fuse.x at /mnt passes its data to a program, which may store it anywhere".to_owned();
        read.warnings.push(Warning::DevicesUnknown { reason });
        read
    }

    fn below(place: CacheLocation, data: u64) -> Self {
        let mut read = Self::of(data, |_| ());
        read.device_percent = Some(100);
        read.warnings
            .push(Warning::MemoryBelow { place, what: "loop7 reads its file through it".to_owned() });
        read
    }

    fn run(&self) -> Run {
        let record = |(repetition, &bytes): (u32, &u64)| {
            let key = PhaseKey { case: "c".into(), repetition, phase: self.phase };
            let device_read_bytes = self.device_percent.map(|percent| (bytes * percent).div_ceil(100));
            let resident_of_bytes = self.resident_bytes.map(|_| self.read_bytes[0]);
            let resident_bytes = self.resident_bytes;
            let row = phase(&key, bytes, 100 * SECOND);
            let fetched_bytes = self.fetched_bytes;
            let row = PhaseRow { device_read_bytes, resident_bytes, resident_of_bytes, fetched_bytes, ..row };
            let warning = |warning: &Warning| WarningRow { key: Some(key.clone()), warning: warning.clone() };
            PhaseRecord { warnings: self.warnings.iter().map(warning).collect(), ..PhaseRecord::new(row) }
        };
        let mut run = run(&self.plan, (0..).zip(&self.read_bytes).map(record).collect());
        run.manifest.host.memory_bytes = self.memory_bytes;
        run.manifest.host.file_systems = vec![FileSystemFacts {
            mount_point: "/".to_owned(),
            kind: self.kind.to_owned(),
            ..FileSystemFacts::default()
        }];
        run.manifest.provenance = self.provenance;
        run
    }

    fn figures(&self) -> Vec<Figure> {
        figures(&self.run(), RateName::ByWall)
    }

    fn doubts(&self) -> Vec<AuditIssue> {
        audit(&self.plan, &self.figures(), &[])
    }

    fn verdict(&self) -> Verdict {
        verdicts(&self.plan, &self.figures(), &self.doubts()).remove(0)
    }

    #[track_caller]
    fn passes(&self) {
        let verdict = self.verdict();
        assert_eq!(verdict.judgement, Judgement::Holds, "{:?}", verdict.because);
    }

    /// Asserts that the figure is doubtful, with a reason that contains these words.
    #[track_caller]
    fn is_doubtful(&self, words: &[&str]) {
        let verdict = self.verdict();
        assert_eq!(verdict.judgement, Judgement::CannotTell, "{:?}", verdict.because);
        let because = verdict.because.join("\n");
        for word in words {
            assert!(because.contains(word), "no {word:?} in {because}");
        }
        assert!(
            self.doubts().iter().any(analysis::audit::AuditIssue::disqualifies),
            "the audit says so, too"
        );
    }
}

#[test]
fn devices_that_moved_the_bytes_exclude_memory() {
    let mut read = Read::of(GIB, |_| ());
    read.device_percent = Some(95);
    read.passes();
    read.device_percent = Some(94);
    read.is_doubtful(&["cached", "94.0 %"]);
}

/// As a memory mapping does, which reads ahead around each page that is touched.
#[test]
fn what_was_read_ahead_hides_what_the_page_cache_answered() {
    let mut read = Read::of(GIB, |spec| spec.direct = false);
    read.device_percent = Some(125);
    read.passes();
    read.device_percent = Some(126);
    read.is_doubtful(&["the devices read 1.3 times the bytes", "use direct I/O, or"]);
    read.plan.cases[0].workload = Read::of(GIB, |_| ()).plan.cases[0].workload.clone();
    read.passes();
}

#[test]
fn what_is_not_known_is_not_excluded() {
    Read::of(GIB, |_| ()).is_doubtful(&[
        "device bytes unknown",
        "server_memory = \"…\"",
        "of the target store",
    ]);
    let reason = ["fuse.x at /mnt passes its data", "1.07 GB", "the memory of the servers is not declared"];
    Read::remote(GIB, None).is_doubtful(&reason);
    let mut forgotten = Read::remote(1000 * GIB, Some(GIB));
    forgotten.memory_bytes = 0;
    forgotten.is_doubtful(&["lacks the memory size of its nodes"]);
}

#[test]
fn data_of_four_times_all_memories_is_enough_from_front_to_back_and_of_twenty_times_in_any_other_order() {
    let random = |spec: &mut WorkloadSpec| spec.order = Order::Random { seed: 1 };
    // 10 GiB on the node and 30 GiB on the servers.
    let of = |data, change: fn(&mut WorkloadSpec)| {
        let mut read = Read::remote(data, Some(3 * NODE));
        read.plan.cases[0].workload = Read::of(data, change).plan.cases[0].workload.clone();
        read
    };
    of(160 * GIB, |_| ()).passes();
    of(159 * GIB, |_| ()).is_doubtful(&["160 GiB (172 GB) of data or more"]);
    of(160 * GIB, random).is_doubtful(&["800 GiB (859 GB) of data or more"]);
    of(800 * GIB, random).passes();
    of(800 * GIB, |spec| spec.order = Order::Same).is_doubtful(&["4 KiB"]);
    of(160 * GIB, |spec| spec.order = Order::Backward).is_doubtful(&["of data or more"]);
}

#[test]
fn reads_among_writes_need_twenty_times_all_memories_from_front_to_back_as_well() {
    let mixed = |data| {
        let mut mixed = Read::remote(data, Some(3 * NODE));
        (mixed.phase, mixed.plan.cases[0].phases) = (Phase::Mixed, vec![Phase::Mixed]);
        mixed
    };
    mixed(799 * GIB).is_doubtful(&["800 GiB (859 GB) of data or more"]);
    mixed(800 * GIB).passes();
    // If the same pass only wrote, there is nothing to doubt.
    let mut run = mixed(GIB).run();
    run.change_phases(|mut row| {
        (row.write_bytes, row.writes) = (row.read_bytes, row.reads);
        (row.read_bytes, row.reads, row.device_write_bytes) = (0, 0, None);
        Some(row)
    });
    let doubts = audit(&mixed(GIB).plan, &figures(&run, RateName::ByWall), &[]);
    assert!(doubts.iter().all(|doubt| doubt.check != Check::MemoryNotExcluded), "{doubts:?}");
}

#[test]
fn a_pass_that_ends_early_leaves_what_it_read_to_the_next() {
    let mut read = Read::remote(160 * GIB, Some(3 * NODE));
    read.read_bytes = vec![GIB, 160 * GIB];
    read.is_doubtful(&["1 GiB (1.07 GB) between two reads"]);
}

#[test]
fn page_caches_that_were_empty_before_passes_that_read_no_byte_twice_are_no_memory() {
    // 8 GiB of data compared with 2 GiB of memory on the servers. The 10 GiB on the node do not count.
    let cold = || Read { resident_bytes: Some(0), ..Read::remote(8 * GIB, Some(2 * GIB)) };
    cold().passes();
    Read { resident_bytes: None, ..cold() }.is_doubtful(&["10 GiB (10.7 GB) of memory on the nodes"]);
    Read { resident_bytes: Some(GIB), ..cold() }.is_doubtful(&["of memory on the nodes"]);
    Read { read_bytes: vec![8 * GIB, 16 * GIB], ..cold() }.is_doubtful(&["of memory on the nodes"]);
    let few = Read { resident_bytes: Some(0), ..Read::remote(8 * GIB, Some(3 * GIB)) };
    few.is_doubtful(&["empty page caches on the nodes", "12 GiB"]);
    // The server shares the memory of the node, whatever its page cache holds of the file above it.
    let mut on_server = cold();
    on_server.plan.criteria.targets[0].client = Client::LocalToServer;
    on_server.is_doubtful(&["of memory on the nodes"]);
    let below = Read { resident_bytes: Some(0), ..Read::below(CacheLocation::Node, 2 * NODE) };
    below.is_doubtful(&["loop7"]);
}

/// An empty page cache says nothing about the cache of a FUSE program, or of a file system with its own cache.
#[test]
fn where_others_than_the_page_cache_may_keep_data_they_have_to_be_stated() {
    for kind in ["fuse.x", "gpfs", "zfs"] {
        let cold = || Read { resident_bytes: Some(0), kind, ..Read::remote(8 * GIB, Some(2 * GIB)) };
        cold().is_doubtful(&["10 GiB (10.7 GB) of memory on the nodes"]);
        let mut stated = cold();
        stated.plan.criteria.targets[0].caches = Some(Bytes(0));
        stated.is_doubtful(&["of memory on the nodes"]);
        stated.plan.criteria.targets[0].caches = Some(Bytes(2 * GIB));
        stated.passes();
    }
}

/// Another program that reads at the same rate makes the device counters look right.
#[test]
fn what_devices_read_for_others_is_no_evidence() {
    let buffered = |fetched_bytes| Read {
        device_percent: Some(104),
        fetched_bytes,
        ..Read::of(GIB, |spec| spec.direct = false)
    };
    buffered(None).passes();
    buffered(Some(GIB)).passes();
    let words = ["only 1.0 % of the bytes read were fetched from devices"];
    buffered(Some(GIB / 100)).is_doubtful(&words);
    // The file system may have passed direct reads through the page cache.
    let direct = |fetched_bytes| Read { fetched_bytes, device_percent: Some(104), ..Read::of(GIB, |_| ()) };
    direct(Some(GIB)).passes();
    direct(Some(GIB / 100)).is_doubtful(&words);
    let mixed = |fetched_bytes| {
        let mut read = Read { phase: Phase::Mixed, ..buffered(fetched_bytes) };
        read.plan.cases[0].phases = vec![Phase::Mixed];
        read
    };
    mixed(Some(GIB)).passes();
    mixed(Some(GIB / 100)).is_doubtful(&words);
}

#[test]
fn a_client_on_the_server_has_no_other_memory() {
    let mut read = Read::remote(4 * NODE, None);
    read.plan.criteria.targets[0].client = Client::LocalToServer;
    read.passes();
    read.plan.criteria.targets[0].caches = Some(Bytes(2 * NODE));
    read.is_doubtful(&["of data or more"]);
    let because = read.verdict().because.join("; ");
    assert!(!because.contains("memory of the servers"), "the node's memory is all that they have: {because}");
}

/// A target without any caches would have neither clients nor servers.
#[test]
fn caches_of_nothing_do_not_stand_for_the_memory_of_servers() {
    let mut read = Read::remote(1000 * NODE, None);
    read.plan.criteria.targets[0].caches = Some(Bytes(0));
    read.is_doubtful(&["the memory of the servers is not declared", "server_memory"]);
    read.plan.criteria.targets[0].caches = Some(Bytes(NODE));
    read.passes();
}

#[test]
fn a_stated_cache_is_no_smaller_than_the_memory_that_is_known() {
    let mut read = Read::remote(GIB, None);
    read.plan.criteria.targets[0].caches = Some(Bytes::kib(4));
    read.is_doubtful(&["of data or more"]);
}

#[test]
fn a_memory_below_the_devices_is_not_seen_by_their_counters() {
    Read::below(CacheLocation::Node, 4 * NODE).passes();
    Read::below(CacheLocation::Node, NODE).is_doubtful(&["loop7", "losetup --direct-io=on"]);
    Read::below(CacheLocation::Server, 100 * NODE).is_doubtful(&["server_memory"]);
    Read::below(CacheLocation::Device, 1000 * NODE).is_doubtful(&["is not backed by memory"]);
}

#[test]
fn what_misses_a_promise_even_so_has_missed_it() {
    let mut read = Read::remote(GIB, None);
    read.plan.criteria.commitments[0].asked = Amount::BytesPerSecond(1e12).into();
    assert_eq!(read.verdict().judgement, Judgement::DoesNotHold);
}

#[test]
fn an_imported_read_keeps_a_commitment_only_beyond_all_caches_that_its_terms_state() {
    let mut read = Read::of(40 * GIB, |_| ());
    read.provenance = Provenance::Imported;
    // An imported case names no target. The terms describe it.
    read.plan.cases[0].target = String::new();
    read.is_doubtful(&["an imported figure does not show", "caches = \"…\"", "--terms"]);
    read.plan.criteria.targets[0].caches = Some(Bytes(10 * GIB));
    read.passes();
    read.plan.criteria.targets[0].server_memory = Some(Bytes(11 * GIB));
    read.is_doubtful(&["44 GiB (47.2 GB) of data or more"]);
}

/// One transfer stands in the workload for the data of which a text does not print the size.
#[test]
fn data_of_a_size_that_is_not_printed_is_not_larger_than_any_cache() {
    let mut read = Read::of(40 * GIB, |_| ());
    read.provenance = Provenance::Imported;
    read.plan.cases[0].target = String::new();
    read.plan.criteria.targets[0].caches = Some(Bytes(10 * GIB));
    read.plan.cases[0].stated = Some("64 KiB, 1 task".to_owned());
    read.plan.cases[0].not_printed = Some([plan::Condition::Volume].into_iter().collect());
    read.is_doubtful(&["how much data each target holds is not printed", "40 GiB (42.9 GB) of data or more"]);
}

/// With a target of each node, the data of one is not known without the number of nodes.
#[test]
fn data_on_a_number_of_nodes_that_is_not_printed_is_not_larger_than_any_cache() {
    let mut read = Read::of(40 * GIB, |_| ());
    read.provenance = Provenance::Imported;
    read.plan.cases[0].target = String::new();
    read.plan.criteria.targets[0].caches = Some(Bytes(1 << 20));
    let behind = |read: &Read| {
        let run = read.run();
        let mut doubts = findings(&run, &figures(&run, RateName::ByWall)).audit;
        doubts.retain(|one| one.check == Check::UnstatedCaches);
        doubts.pop().map(|one| one.evidence)
    };
    assert_eq!(behind(&read), None);
    read.plan.criteria.targets[0].layer = plan::Layer::NodeLocal;
    read.plan.cases[0].stated = Some("64 KiB, 1 task".to_owned());
    read.plan.cases[0].not_printed = Some([plan::Condition::Nodes].into_iter().collect());
    let told = behind(&read).expect("a doubt");
    assert!(told.contains("how much data each target holds is not printed"), "{told}");
}

#[test]
fn what_reads_nothing_from_storage_is_not_asked_for_it() {
    Read::of(GIB, |spec| spec.backend = Backend::Null).passes();
    let mut write = Read::of(GIB, |_| ());
    (write.phase, write.plan.cases[0].phases) = (Phase::Write, vec![Phase::Write]);
    write.passes();
    let mut mixed = Read::remote(GIB, None);
    (mixed.phase, mixed.plan.cases[0].phases) = (Phase::Mixed, vec![Phase::Mixed]);
    mixed.is_doubtful(&["the memory of the servers is not declared"]);
}

#[test]
fn one_doubt_is_enough() {
    let mut cached = Read::of(GIB, |_| ());
    cached.device_percent = Some(10);
    cached.warnings = vec![Warning::MemoryBelow { place: CacheLocation::Node, what: "loop7".to_owned() }];
    let checks: Vec<Check> = cached.doubts().iter().map(|doubt| doubt.check).collect();
    assert_eq!(checks, [Check::Cached]);
}

/// 1 GiB in 100 s from servers behind a link.
#[test]
fn a_remote_target_is_not_faster_than_the_network_links_of_the_nodes() {
    let above = |client, state: &str, bits: u64| {
        let mut read = Read::remote(GIB, None);
        read.plan.criteria.targets[0].client = client;
        let mut run = read.run();
        run.manifest.host.network = Fact::Known(vec![NetworkFacts {
            name: "ens1".to_owned(),
            kind: "ethernet".to_owned(),
            state: Fact::Known(state.to_owned()),
            bits_per_second: Fact::Known(bits),
            mtu_bytes: Fact::Known(9000),
            driver: Fact::Known("ice".to_owned()),
            numa_node: Fact::Known(0),
            pci_address: Fact::Known("0000:17:00.0".to_owned()),
        }]);
        let doubts = findings(&run, &figures(&run, RateName::ByWall)).audit;
        doubts.into_iter().find(|one| one.check == Check::AboveCeiling)
    };
    let doubt = above(Client::Remote, "up", 10_000_000).expect("10.7 MB/s over 1.25 MB/s");
    assert_eq!(doubt.figure, Some(0));
    assert!(doubt.evidence.contains("carry only 1.25 MB/s"), "{}", doubt.evidence);
    assert_eq!(above(Client::Remote, "up", 1_000_000_000), None);
    assert_eq!(above(Client::Remote, "down", 10_000_000), None, "nothing is known of the link that is used");
    assert_eq!(above(Client::LocalToServer, "up", 10_000_000), None);
}

proptest! {
    #[test]
    fn unknown_device_bytes_without_a_stated_memory_never_pass(
        data in 1_u64..1 << 50,
        memory in any::<u64>(),
        direct in any::<bool>(),
        random in any::<bool>(),
        fresh in any::<bool>(),
        remote in any::<bool>(),
    ) {
        let data = data.next_multiple_of(4096);
        let mut read = Read::of(data, |spec| {
            spec.direct = direct;
            if random {
                (spec.order, spec.fresh_order) = (Order::Random { seed: 1 }, fresh);
            }
        });
        read.memory_bytes = memory;
        read.plan.criteria.targets[0].client = if remote { Client::Remote } else { Client::Unstated };
        prop_assert_ne!(read.verdict().judgement, Judgement::Holds);
    }
}
