//! Defects that were found in the program and must not come back, each named after its cause.

use std::fs;
use std::os::unix::fs::symlink;

use testbed::{LoopDevice, Testbed, skipped};

use crate::desk::{Desk, run};

/// A name below `/dev/disk` is a link: it was removed as a file that is replaced, and a file in
/// memory took its place and was measured.
#[test]
fn a_link_to_a_device_is_followed_and_stays() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(16 << 20).build().expect("a device");
    let desk = Desk::new();
    let link = desk.path("disk");
    symlink(device.device(), &link).expect("a link");
    let line = format!("-w -t 4k -b 64k -o disk --destroy-data-on {}", device.device().display());
    let _ = run(&desk.ior(&line)).expect_code(0);
    assert_eq!(fs::read_link(&link).expect("a link"), device.device());
    let written = fs::read(device.device()).expect("the device is read");
    assert!(written[..64 << 10].iter().any(|byte| *byte != 0), "the device was not written");
}
