//! Runs of plans on models with known true values. They are planned, executed and recorded like the runs of a user.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use comm::Solo;
use engine::Controls;
use host::{Host, Root};
use plan::Plan;
use record::{FORMAT_VERSION, Manifest, Provenance, Recorder, Run};
use runner::{PlanExecution, Silent};
use simulate::SimulatedMachine;
use tempfile::TempDir;

/// Devices of the same kind, and the targets on them.
pub(super) struct Disks {
    pub(super) name: &'static str,
    /// Bytes per second per slot.
    pub(super) rate: f64,
    pub(super) slots: u32,
    /// Whether each node has its own devices.
    pub(super) local: bool,
    /// The number of devices that each file is striped over.
    pub(super) members: u32,
    /// Bytes per second of the link in front of the devices.
    pub(super) link: Option<f64>,
    /// Tables `[[trouble]]`, without their device lists.
    pub(super) trouble: String,
}

impl Disks {
    /// A single device that serves one request at a time.
    pub(super) fn one(name: &'static str, rate: f64) -> Self {
        Self { name, rate, slots: 1, local: false, members: 1, link: None, trouble: String::new() }
    }
}

/// The text of a model with these `disks`, whose rates vary by `noise`.
pub(super) fn model(noise: f64, nodes: u32, disks: &[Disks]) -> String {
    let mut text = format!(
        "model = {{ name = \"known truth\", noise = {noise:?} }}\nnode = {{ count = {nodes}, processors = 64 }}\n"
    );
    for Disks { name, rate, slots, local, members, link, trouble } in disks {
        let service = format!("{{ rate = \"{}B/s\" }}", rate / f64::from(*members));
        let _ = write!(
            text,
            "[[device]]\nname = \"{name}\"\ncount = {members}\nslots = {slots}\nread = {service}\nwrite = {service}\n\
             [[layout]]\nname = \"on-{name}\"\ntargets = [\"{name}\"]\ndevices = \"{name}\"\nlocal = {local}\n"
        );
        if *members > 1 {
            let _ = writeln!(text, "chunk = \"{}KiB\"", 1024 / members);
        }
        if let Some(rate) = link {
            let _ = write!(
                text,
                "through = [\"to-{name}\"]\n[[link]]\nname = \"to-{name}\"\nbandwidth = \"{rate}B/s\"\n"
            );
        }
        if !trouble.is_empty() {
            let _ = writeln!(text, "[[trouble]]\ndevices = \"{name}\"\n{trouble}");
        }
    }
    text
}

/// Runs `plan` on `model`. The record is in the returned directory.
pub(super) fn run(model: &str, plan: Plan, seed: u64) -> (Run, TempDir) {
    let model =
        simulate::read(Path::new("model.toml"), model).unwrap_or_else(|error| panic!("{error}\n{model}"));
    let mut machine = SimulatedMachine::new(model, &plan, seed);
    let comm = Solo::of_nodes(machine.topology());
    let checked = runner::check_on(&machine, plan, &comm, "simulated".to_owned(), 0, BTreeSet::new());
    let checked = checked.expect("the model has all parts");
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        run_id: "simulated".to_owned(),
        provenance: Provenance::Simulated,
        program_version: "0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: 0,
        finished_unix_ns: None,
        plan: checked.plan.clone(),
        host: checked.facts.clone(),
        cluster: checked.cluster(""),
        predicted: None,
        model: None,
        defaults: Vec::new(),
    };
    let place = tempfile::tempdir().expect("a directory for the record");
    let directory = place.path().join("record");
    let recorder = Recorder::create(&directory, &manifest).expect("a new record");
    let host = Host::new(Root::default());
    let mut watch = Silent;
    let execution = PlanExecution::new(&host, &comm, recorder, &mut watch, Arc::new(Controls::new()));
    let ended = execution.on_machine(&mut machine).run(&checked).expect("recorded");
    assert!(ended.failed.is_none(), "{ended:?}");
    let mut run = Run::open(&directory).expect("a whole record");
    // Mark the run as measured, so that every check of the audit applies.
    run.manifest.provenance = Provenance::Measured;
    (run, place)
}
