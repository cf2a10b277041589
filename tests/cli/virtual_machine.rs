//! Another kernel: arrays of md, volumes of LVM and NVMe devices on PCI, in a virtual machine.
//!
//! These tests are started by name, since each of them boots a machine:
//! `scripts/virtual-machine.sh`, which also fetches what they need.

use testbed::{Program, VirtualMachine, VirtualMachineBuilder, skipped};

/// A machine, unless none can be had here.
fn machine(of: VirtualMachineBuilder) -> Option<VirtualMachine> {
    if skipped(VirtualMachine::available()) {
        return None;
    }
    Some(of.boot().expect("a virtual machine"))
}

#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn a_machine_has_its_devices_and_the_programs_of_its_host() {
    let Some(machine) = machine(VirtualMachine::builder().devices(4)) else { return };
    let listed = machine.run(&Program::new("lsblk").args(["-dno", "NAME,SERIAL"]));
    let listed = listed.expect("it runs").expect_code(0).stdout;
    for device in 0..4 {
        assert!(listed.contains(&VirtualMachine::serial(device)), "{listed}");
    }
    let wrong = machine.shell("false\necho not reached").expect("it runs").expect_code(1);
    assert_eq!(wrong.stdout, "");
}
