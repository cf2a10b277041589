//! A real distributed file system as a layer above local file systems.

use testbed::{Hosts, Limits, MooseFs, Testbed, skipped};

use crate::desk::{Desk, assert_near, measured, run};
use crate::hosts::{list, number, text};

const MB: u64 = 1_000_000;

fn no_moosefs() -> bool {
    skipped(MooseFs::available()) || skipped(Testbed::available())
}

/// The fourth layer of a layer-by-layer comparison. All data of the network file system passes through a link of
/// known rate, half that of the local device.
#[test]
fn measured_a_network_file_system_is_measured_above_the_local_one_and_gives_what_its_link_lets_through() {
    if no_moosefs() {
        return;
    }
    measured(|times| {
        let hosts = Hosts::builder(2).devices(1, Limits::bandwidth(100 * MB)).build().expect("hosts");
        let shared = MooseFs::served_by(1, hosts).expect("MooseFS");
        shared.hosts().limit_link(1, 400_000_000).expect("a link");
        let desk = Desk::new();
        let workload = |target: &str| {
            format!(
                "[[workload]]\nname = \"on-{target}\"\ntarget = \"{target}\"\ntasks = 2\nsharing = \"per-task\"\n\
                 direct = true\ntransfer = \"1MiB\"\nsize = \"{}MiB\"\n",
                40 * times
            )
        };
        let study = format!(
            "[[layout]]\nname = \"moosefs\"\nrecipe = \"existing\"\nmount_point = \"{network}\"\n\
             [[target]]\nname = \"local\"\ndirectory = \"{local}\"\n\
             [[target]]\nname = \"network\"\nlayout = \"moosefs\"\nabove = \"local\"\nlayer = \"shared\"\n\
             {}{}",
            workload("local"),
            workload("network"),
            network = shared.mount_point().display(),
            local = shared.hosts().device_path(0).display(),
        );
        let _ = run(&shared.hosts().inside(1, &desk.study(&study))).expect_code(0);
        assert_eq!(desk.report().state(), "complete");
        let figures = list(&desk, "figures");
        let rate = |target: &str, phase: &str| {
            let found = figures.iter().find(|f| text(&f["target"]) == target && text(&f["phase"]) == phase);
            number(&found.unwrap_or_else(|| panic!("no {phase} on {target}"))["bytes_per_second"]["median"])
        };
        assert_near("local reads", rate("local", "read"), 100e6, 0.05);
        // Part of the traffic over the link is headers.
        assert_near("reads through the link", rate("network", "read"), 47.5e6, 0.1);
    });
}
