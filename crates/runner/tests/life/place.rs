//! A place in which a plan runs, and small plans for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use comm::{Comm, Solo};
use engine::Controls;
use host::{Host, Root};
use plan::{Bytes, Case, Geometry, Phase, Plan, PlanSource, WorkloadSpec};
use record::{FORMAT_VERSION, Manifest, Provenance, Recorder, Run};
use runner::{Checked, EarlierStart, PlanExecution, RunSummary, RunnerError, Silent, Watch};

/// The ID of every run here.
pub(crate) const RUN_ID: &str = "test-run";

/// A directory for files and records, which is removed at the end.
pub(crate) struct Place {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) host: Host,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the target can be written");
        Self { directory, host: Host::new(Root::default()) }
    }

    pub(crate) fn data(&self) -> PathBuf {
        let data = self.directory.path().join("data");
        fs::create_dir_all(&data).expect("can be made");
        data
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.data().join("file")
    }

    pub(crate) fn check(&self, cases: Vec<Case>) -> Result<Checked, RunnerError> {
        self.check_giving_up(cases, &[])
    }

    /// Checks a plan that may overwrite the data of `devices`.
    pub(crate) fn check_giving_up(
        &self,
        cases: Vec<Case>,
        devices: &[PathBuf],
    ) -> Result<Checked, RunnerError> {
        let mut plan = self.plan(cases);
        plan.destroy_data_on = devices.iter().map(|device| device.display().to_string()).collect();
        runner::check(plan, &self.host, &Solo::new("here"), RUN_ID.to_owned(), 0)
    }

    /// Checks a plan in which some cases are already finished.
    pub(crate) fn check_again(
        &self,
        cases: Vec<Case>,
        earlier: EarlierStart,
    ) -> Result<Checked, RunnerError> {
        runner::check_again(self.plan(cases), &self.host, &Solo::new("here"), RUN_ID.to_owned(), 0, earlier)
    }

    /// Checks a plan on rank 0 of `comm`.
    pub(crate) fn check_on(
        &self,
        comm: &dyn Comm,
        plan: Plan,
        earlier: EarlierStart,
    ) -> Result<Checked, RunnerError> {
        runner::check_again(plan, &self.host, comm, RUN_ID.to_owned(), 0, earlier)
    }

    pub(crate) fn plan(&self, cases: Vec<Case>) -> Plan {
        Plan::new("a test", PlanSource::Quick { directory: self.data(), others: Vec::new() }, 1, cases)
    }

    pub(crate) fn live(
        &self,
        checked: &Checked,
        watch: &mut dyn Watch,
        controls: Arc<Controls>,
    ) -> (RunSummary, Run) {
        self.live_on(&self.host, checked, watch, controls)
    }

    /// Like [`Place::live`], on a different host than the one that was checked.
    pub(crate) fn live_on(
        &self,
        host: &Host,
        checked: &Checked,
        watch: &mut dyn Watch,
        controls: Arc<Controls>,
    ) -> (RunSummary, Run) {
        let (ended, run) = self.live_among(host, &Solo::new("here"), checked, watch, controls);
        (ended.expect("the record can be written"), run)
    }

    /// Like [`Place::live`], on rank 0 of `comm`.
    pub(crate) fn live_among(
        &self,
        host: &Host,
        comm: &dyn Comm,
        checked: &Checked,
        watch: &mut dyn Watch,
        controls: Arc<Controls>,
    ) -> (Result<RunSummary, RunnerError>, Run) {
        let life = PlanExecution::new(host, comm, self.recorder(checked), watch, controls);
        let ended = life.run(checked);
        let directory = self.directory.path().join("record");
        (ended, Run::open(&directory).expect("a whole record"))
    }

    /// A recorder for a run that starts.
    pub(crate) fn recorder(&self, checked: &Checked) -> Recorder {
        let directory = self.directory.path().join("record");
        let manifest = Manifest {
            cluster: checked.cluster("a library"),
            model: None,
            format_version: FORMAT_VERSION,
            run_id: checked.run_id.clone(),
            provenance: Provenance::Measured,
            program_version: "0".to_owned(),
            command_line: Vec::new(),
            started_unix_ns: 0,
            finished_unix_ns: None,
            predicted: None,
            plan: checked.plan.clone(),
            host: checked.facts.clone(),
            defaults: Vec::new(),
        };
        Recorder::create(&directory, &manifest).expect("a new directory")
    }

    pub(crate) fn run(&self, cases: Vec<Case>) -> (RunSummary, Run) {
        let checked = self.check(cases).expect("a plan for this host");
        self.live(&checked, &mut Silent, Arc::new(Controls::new()))
    }

    /// Removes the record, to make room for that of another run.
    pub(crate) fn forget_record(&self) {
        fs::remove_dir_all(self.directory.path().join("record")).expect("of an earlier run");
    }

    /// The entries in the data directory, including claims.
    pub(crate) fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.data()).expect("it is there");
        names.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
    }
}

pub(crate) fn spec(file: &Path) -> WorkloadSpec {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(64), segments: 4 };
    WorkloadSpec::new("w", file, geometry)
}

pub(crate) fn case(id: &str, spec: WorkloadSpec, phases: &[Phase]) -> Case {
    Case::new(id, spec.validate().expect("valid"), phases.to_vec())
}
