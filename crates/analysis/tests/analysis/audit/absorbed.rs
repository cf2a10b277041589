//! Writes that may not have reached stable storage, or that are too small compared with the caches.

use analysis::{
    RateName,
    audit::{AuditIssue, Check},
    figures::figures,
};
use plan::{Amount, Backend, Bytes, Client, Phase, Stopping, SyncRule};
use record::{
    BlockDeviceFacts, CacheLocation, DeviceRow, Fact, FileSystemFacts, PhaseKey, PhaseRecord, Provenance,
    Warning, WarningRow,
};

use crate::common::rows::{SECOND, at_least, phase, run};
use crate::common::studies::{Study, target};

const GIB: u64 = 1 << 30;

/// Measured writes, and what is known about them.
struct Writes {
    study: Study,
    /// Bytes written in each of five passes.
    written: u64,
    /// Bytes counted at the devices, or `None` if nothing was counted.
    at_devices: Option<u64>,
    /// Whether the device has a volatile cache.
    volatile: Fact<bool>,
    warning: Option<Warning>,
    mounts: Vec<FileSystemFacts>,
}

/// Ten GiB per pass with fsync, on a local target whose device has a volatile cache.
fn durable() -> Writes {
    writes(true)
}

fn writes(at_close: bool) -> Writes {
    writes_of(at_close, 100 * GIB)
}

/// Writes of this many bytes of data.
fn writes_of(at_close: bool, data: u64) -> Writes {
    let mut study = Study::new(vec![target("disk", |_| {})]);
    study.add_of("w", "disk", &[], Phase::Write, &[0.0; 5], |spec| {
        spec.backend = Backend::Psync;
        (spec.geometry.transfer, spec.geometry.block) = (Bytes(1 << 20), Bytes(data));
        spec.sync = SyncRule { at_close, per_write: false };
    });
    study.plan.criteria.targets[0].client = Client::LocalToServer;
    study.plan.criteria.commitments = vec![at_least(Amount::BytesPerSecond(1.0))];
    let written = 10 * GIB;
    Writes {
        study,
        written,
        at_devices: Some(written),
        volatile: Fact::Known(true),
        warning: None,
        mounts: Vec::new(),
    }
}

impl Writes {
    fn doubt(&self) -> Option<AuditIssue> {
        let record = |repetition: u32| {
            let key = PhaseKey {
                case: self.study.plan.cases[0].id.as_str().into(),
                repetition,
                phase: Phase::Write,
            };
            let mut row = phase(&key, self.written, 9 * SECOND);
            row.device_write_bytes = self.at_devices;
            let device = DeviceRow {
                key: key.clone(),
                node: "n".into(),
                device: "nvme0n1".into(),
                start_ns: 0,
                length_ns: SECOND,
                reads: 0,
                read_bytes: 0,
                read_time_ns: 0,
                writes: 1,
                write_bytes: 1,
                write_time_ns: 1,
                busy_ns: 1,
                queue_time_ns: 1,
            };
            let warnings =
                self.warning.iter().map(|one| WarningRow { key: Some(key.clone()), warning: one.clone() });
            let devices = if self.at_devices.is_some() { vec![device] } else { Vec::new() };
            PhaseRecord { devices, warnings: warnings.collect(), ..PhaseRecord::new(row) }
        };
        let mut run = run(&self.study.plan, (0..5).map(record).collect());
        run.manifest.provenance = Provenance::Measured;
        run.manifest.host.file_systems.clone_from(&self.mounts);
        run.manifest.host.devices.push(BlockDeviceFacts {
            name: "nvme0n1".to_owned(),
            volatile_write_cache: self.volatile.clone(),
            ..BlockDeviceFacts::default()
        });
        let figures = figures(&run, RateName::ByWall);
        let mut audit = analysis::findings::findings(&run, &figures).audit;
        audit.retain(|one| one.check == Check::AbsorbedWrites);
        audit.pop()
    }

    fn told(&self) -> String {
        self.doubt().map_or_else(String::new, |doubt| format!("{}; {}", doubt.evidence, doubt.advice))
    }
}

#[test]
fn writes_with_an_fsync_on_a_local_device_are_not_doubted() {
    assert_eq!(durable().doubt(), None);
}

/// What stands in the workload of an imported case for what its text does not print is not told.
#[test]
fn an_fsync_or_an_amount_that_is_not_printed_is_not_said_to_be_missing() {
    let imported = |not_printed: plan::Condition, at_close: bool| {
        let mut writes = Writes { at_devices: None, ..writes(at_close) };
        writes.study.plan.criteria.targets[0].caches = Some(Bytes(GIB));
        let case = &mut writes.study.plan.cases[0];
        (case.stated, case.not_printed) =
            (Some("1 task".to_owned()), Some([not_printed].into_iter().collect()));
        writes.told()
    };
    let told = imported(plan::Condition::Sync, false);
    assert!(told.contains("whether an fsync is inside the timed part is not printed"), "{told}");
    let told = imported(plan::Condition::Volume, true);
    assert!(told.contains("how much data each target holds is not printed"), "{told}");
}

#[test]
fn without_an_fsync_only_devices_with_safe_caches_are_enough() {
    let volatile = writes(false);
    assert!(
        volatile.told().contains("no fsync inside the timed part, and nvme0n1 has a volatile write cache")
    );
    assert!(volatile.told().contains("fsync = \"close\""), "{}", volatile.told());
    assert!(volatile.doubt().is_some_and(|doubt| doubt.disqualifies()), "no promise is kept by it");
    assert_eq!(Writes { volatile: Fact::Known(false), ..writes(false) }.doubt(), None);
    let unknown = Writes { volatile: Fact::default(), ..writes(false) };
    assert!(unknown.told().contains("is not known"), "{}", unknown.told());
    let uncounted = Writes { at_devices: None, ..writes(false) };
    assert!(uncounted.told().contains("no device counters show where the data was"), "{}", uncounted.told());
}

#[test]
fn what_is_in_memory_is_never_stable() {
    let what = "the data is in memory (tmpfs)".to_owned();
    let warning = Some(Warning::MemoryBelow { place: CacheLocation::Device, what });
    assert!(Writes { warning, ..durable() }.told().contains("tmpfs"));
}

#[test]
fn what_a_layer_below_loses_is_not_stable_however_it_was_written() {
    let what = "loop0 keeps its data in memory: its file /x is on tmpfs at /".to_owned();
    let warning = Some(Warning::NotDurable { what });
    for at_close in [true, false] {
        let lost = Writes { warning: warning.clone(), volatile: Fact::Known(false), ..writes(at_close) };
        assert!(lost.told().contains("loop0 keeps its data in memory"), "{}", lost.told());
        assert!(lost.doubt().is_some_and(|doubt| doubt.disqualifies()), "no promise is kept by it");
    }
}

#[test]
fn a_pass_writes_far_more_than_declared_caches_hold_or_is_steady() {
    let mut few = durable();
    few.study.plan.criteria.targets[0].caches = Some(Bytes(GIB));
    assert!(few.told().contains("write 20 GiB"), "{}", few.told());
    let many = Writes { written: 20 * GIB, at_devices: Some(20 * GIB), ..few };
    assert_eq!(many.doubt(), None);
    let mut steady = durable();
    steady.study.plan.criteria.targets[0].caches = Some(Bytes(GIB));
    steady.study.plan.cases[0].protocol.stopping = Stopping::Steady { window: 5, excursion: 0.2, slope: 0.1 };
    assert_eq!(steady.doubt(), None);
}

/// Data that is rewritten repeatedly stays in a cache that holds much of it, however steady the rate is.
#[test]
fn data_that_fits_into_caches_shows_nothing_however_often_it_is_written() {
    let mut small = Writes { written: 100 * GIB, at_devices: Some(100 * GIB), ..writes_of(true, GIB) };
    small.study.plan.criteria.targets[0].caches = Some(Bytes(GIB));
    assert!(small.told().contains("use 20 GiB"), "{}", small.told());
    small.study.plan.cases[0].protocol.stopping = Stopping::Steady { window: 5, excursion: 0.2, slope: 0.1 };
    assert!(small.told().contains("overwritten repeatedly"), "{}", small.told());
}

/// The fsync before close is not included in any latency, and is included in one of the rates only.
#[test]
fn what_ends_before_the_close_is_not_on_stable_storage_by_it() {
    let latency = Amount::Latency { nanos: 1e6, percent: Some(99.0) };
    let before_close = |amount: Amount, rate: RateName| {
        let mut writes = durable();
        let promise = &mut writes.study.plan.criteria.commitments[0];
        (promise.asked, promise.rate) = (amount.into(), rate);
        writes
    };
    for writes in [
        before_close(latency, RateName::ByWall),
        before_close(Amount::BytesPerSecond(1.0), RateName::ByIo),
        before_close(Amount::BytesPerSecond(1.0), RateName::Sustained),
    ] {
        assert!(writes.told().contains("ends before the fsync at close"), "{}", writes.told());
        let safe = Writes { volatile: Fact::Known(false), ..writes };
        assert_eq!(safe.doubt(), None);
    }
}

/// With these mount options, an fsync only reaches a volatile cache.
#[test]
fn an_fsync_that_the_mount_makes_nothing_of_shows_nothing() {
    let mut writes = durable();
    let mount = |options: &str| FileSystemFacts {
        mount_point: "/".to_owned(),
        options: options.to_owned(),
        ..FileSystemFacts::default()
    };
    writes.mounts = vec![mount("rw,relatime")];
    assert_eq!(writes.doubt(), None);
    writes.mounts = vec![mount("rw,nobarrier")];
    assert!(writes.told().contains("mounted with nobarrier"), "{}", writes.told());
}

#[test]
fn of_servers_that_nobody_counts_something_has_to_be_declared() {
    let mut remote = Writes { at_devices: None, ..durable() };
    remote.study.plan.criteria.targets[0].client = Client::Remote;
    assert!(remote.told().contains("are not declared"), "{}", remote.told());
    remote.study.plan.criteria.targets[0].server_memory = Some(Bytes(8 * GIB));
    assert!(remote.told().contains("write 16 GiB"), "{}", remote.told());
    remote.study.plan.criteria.targets[0].server_memory = Some(Bytes(5 * GIB));
    assert_eq!(remote.doubt(), None);
}
