//! Tests of the plans of all recipes, and of validation.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{FileSystem, FileSystemKind, Layout, MdMetadata, Recipe, Volume};
use crate::Bytes;

fn xfs(make: &[&str], mount: &str) -> FileSystem {
    FileSystem {
        kind: FileSystemKind::Xfs,
        make_options: make.iter().map(|word| (*word).to_owned()).collect(),
        mount_options: mount.to_owned(),
    }
}

fn cards(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("/dev/nvme{number}n1")).collect()
}

fn layout(count: usize, mount_point: &str, recipe: Recipe) -> Layout {
    Layout {
        name: "test".into(),
        title: String::new(),
        stands_for: String::new(),
        devices: cards(count),
        mount_point: mount_point.into(),
        recipe,
    }
}

fn md(metadata: MdMetadata) -> Recipe {
    let node = PathBuf::from("/dev/md0");
    Recipe::Md { metadata, chunk: Bytes::kib(128), node, file_system: xfs(&[], "") }
}

fn lvm() -> Recipe {
    let volume = |name: &str, size: Option<u64>| Volume { name: name.into(), size: size.map(Bytes::gib) };
    Recipe::Lvm {
        group: "sas".into(),
        stripe: Bytes::kib(128),
        volumes: vec![volume("sasdata", Some(3072)), volume("utilloc", None), volume("more", None)],
        file_system: xfs(&[], "noatime,nodiratime"),
    }
}

fn gpfs(block: Bytes) -> Recipe {
    Recipe::Gpfs { file_system: "p3700".into(), block, nodes: 32, nsd_list: "p3700.lst".into() }
}

/// All steps with their provenance, followed by the undo actions.
fn plan(layout: &Layout) -> String {
    assert_eq!(layout.problems(), []);
    let devices: Vec<PathBuf> = layout.devices.iter().map(PathBuf::from).collect();
    let steps = layout.steps(&devices);
    let mut text = String::new();
    for step in &steps {
        writeln!(text, "{}\n    # {}; {}", step.action, step.purpose, step.provenance).unwrap();
    }
    for undo in steps.iter().rev().flat_map(|step| &step.undo) {
        writeln!(text, "back: {} ({})", undo.action, undo.provenance).unwrap();
    }
    text
}

#[test]
fn one_file_system_on_each_card_is_made_as_printed() {
    let file_system = xfs(&["-d", "su=128k,sw=1"], "");
    let twelve = layout(12, "/p3700", Recipe::PerDevice { file_system });
    let text = plan(&twelve);
    assert!(text.contains(
        "mkfs.xfs -f -K -d su=128k,sw=1 /dev/nvme0n1\n    # create xfs on /dev/nvme0n1; as printed"
    ));
    assert!(text.contains("mount -t xfs /dev/nvme0n1 /p3700/0\n"));
    let last = "mount -t xfs /dev/nvme11n1 /p3700/11\n    # mount it at /p3700/11; corrected: printed as `mount -t \
                xfs /dev/nvme0n1 /p3700/11`";
    assert!(text.contains(last), "{text}");
    insta::assert_snapshot!("per_device", plan(&Layout { devices: cards(2), ..twelve }));
}

#[test]
fn md_is_made_as_printed_and_its_mkfs_is_corrected() {
    let twelve = layout(12, "/mnt/md", md(MdMetadata::Plain));
    let printed = "mdadm --create /dev/md0 --chunk=128 --level=0 --raid-devices=12 /dev/nvme0n1 /dev/nvme1n1 \
                   /dev/nvme2n1 /dev/nvme3n1 /dev/nvme4n1 /dev/nvme5n1 /dev/nvme6n1 /dev/nvme7n1 /dev/nvme8n1 \
                   /dev/nvme9n1 /dev/nvme10n1 /dev/nvme11n1\n";
    assert!(plan(&twelve).contains(printed));
    insta::assert_snapshot!("md", plan(&Layout { devices: cards(2), ..twelve }));
}

#[test]
fn arrays_with_intels_metadata_are_marked_as_reconstructed() {
    let text = plan(&layout(2, "/mnt/imsm", md(MdMetadata::Imsm)));
    assert_eq!(text.matches("reconstructed, not as printed").count(), 4);
    insta::assert_snapshot!("imsm", text);
}

#[test]
fn volumes_with_a_size_come_first_and_the_others_share_the_rest() {
    insta::assert_snapshot!("lvm", plan(&layout(5, "/sas", lvm())));
    let names: Vec<PathBuf> = ["sasdata", "utilloc", "more"].map(|name| format!("/sas/{name}").into()).into();
    assert_eq!(layout(5, "/sas", lvm()).directories(), names, "in the order of the layout");
}

#[test]
fn gpfs_is_made_as_printed_with_what_was_misread_put_right() {
    insta::assert_snapshot!("gpfs_1m", plan(&layout(0, "/global/p3700", gpfs(Bytes::mib(1)))));
    insta::assert_snapshot!("gpfs_4m", plan(&layout(0, "/global/p3700", gpfs(Bytes::mib(4)))));
}

#[test]
fn lustre_stripes_a_directory() {
    let recipe = Recipe::Lustre { stripe_count: 4, first: Some(0), stripe: None };
    insta::assert_snapshot!("lustre", plan(&layout(0, "/lustre/test", recipe)));
}

#[test]
fn btrfs_is_one_over_all() {
    let recipe = Recipe::Btrfs { mount_options: "noatime".into() };
    insta::assert_snapshot!("btrfs", plan(&layout(2, "/mnt/btrfs", recipe)));
}

#[test]
fn the_users_commands_say_what_they_stand_for() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let recipe = Recipe::Own {
        create: lines(&["xvm-make {devices}", "mount {device0} {mount}"]),
        verify: lines(&["xvm-show {device1}"]),
        destroy: lines(&["umount {mount}", "xvm-remove {devices}"]),
    };
    let own = Layout { stands_for: "XVM".into(), ..layout(2, "/mnt/xvm", recipe) };
    insta::assert_snapshot!("own", plan(&own));
    let devices: Vec<PathBuf> = own.devices.iter().map(PathBuf::from).collect();
    assert_eq!(own.checks(&devices)[0].to_string(), "xvm-show /dev/nvme1n1");
}

fn fields(layout: &Layout) -> Vec<&'static str> {
    layout.problems().iter().map(|problem| problem.field).collect()
}

#[test]
fn nothing_is_taken_for_an_option_or_leads_elsewhere() {
    let good = layout(2, "/mnt/x", md(MdMetadata::Plain));
    assert_eq!(fields(&good), Vec::<&str>::new());
    for name in ["", "-x", "../x", "a/b", "a b", ".x", "x\n"] {
        assert_eq!(fields(&Layout { name: name.into(), ..good.clone() }), ["name"], "{name:?}");
    }
    for device in ["-f", "", "  ", "/dev/nvme1n1", "/dev/a\n"] {
        let devices = vec!["/dev/nvme0n1".into(), "/dev/nvme1n1".into(), device.into()];
        assert_eq!(fields(&Layout { devices, ..good.clone() }), ["devices"], "{device:?}");
    }
    assert_eq!(fields(&Layout { devices: cards(1), ..good.clone() }), ["devices"]);
    for place in ["", "mnt", "/", "/mnt/../etc", "/etc/x", "/dev/shm", "/mnt/\n", "-o"] {
        assert_eq!(
            fields(&Layout { mount_point: place.into(), ..good.clone() }),
            ["mount-point"],
            "{place:?}"
        );
    }
    for node in ["/dev/sda", "/dev/md", "/dev/mdx", "md0", "/dev/md/-x", "/dev/md/../sda", "/dev/md0/x"] {
        let recipe = Recipe::Md {
            metadata: MdMetadata::Plain,
            chunk: Bytes::kib(128),
            node: node.into(),
            file_system: xfs(&[], ""),
        };
        assert_eq!(fields(&Layout { recipe, ..good.clone() }), ["node"], "{node}");
    }
}

#[test]
fn options_of_mkfs_and_mount_cannot_name_a_device() {
    let with = |make: &[&str], mount: &str| {
        fields(&layout(1, "/mnt/x", Recipe::PerDevice { file_system: xfs(make, mount) }))
    };
    assert_eq!(
        with(&["-d", "su=128k,sw=1", "-i", "size=512", "-q"], "noatime,logbsize=256k"),
        Vec::<&str>::new()
    );
    for make in [
        &["-l", "logdev=/dev/sda"][..],
        &["-f", "/dev/sda"],
        &["sda"],
        &["-q", "a", "b"],
        &["--"],
        &["-d su=1"],
    ] {
        assert!(with(make, "").contains(&"mkfs-options"), "{make:?}");
    }
    for mount in ["logdev=/dev/sda", "noatime -o bind", "-o", "device=UUID=1"] {
        assert!(with(&[], mount).contains(&"mount-options"), "{mount:?}");
    }
}

#[test]
fn sizes_that_the_drivers_do_not_take_are_refused() {
    for (chunk, is_right) in [(0, false), (4096, true), (6000, false), (12 << 10, true), (128 << 10, true)] {
        let recipe = Recipe::Md {
            metadata: MdMetadata::Plain,
            chunk: Bytes(chunk),
            node: "/dev/md/own".into(),
            file_system: xfs(&[], ""),
        };
        assert_eq!(fields(&layout(2, "/mnt/x", recipe)).is_empty(), is_right, "{chunk}");
    }
    let Recipe::Lvm { group, volumes, file_system, .. } = lvm() else { panic!("it is LVM") };
    let recipe = Recipe::Lvm { group, volumes, file_system, stripe: Bytes::kib(12) };
    assert_eq!(fields(&layout(2, "/mnt/x", recipe)), ["stripe"], "no power of two");
    assert_eq!(fields(&layout(0, "/mnt/x", gpfs(Bytes::kib(3)))), ["block"]);
    let recipe = Recipe::Lustre { stripe_count: 0, first: None, stripe: Some(Bytes::kib(100)) };
    assert_eq!(fields(&layout(0, "/mnt/x", recipe)), ["stripe-count", "stripe"]);
}

#[test]
fn a_recipe_of_ones_own_has_a_way_back_and_no_device_that_is_not_there() {
    let own = |create: &[&str], destroy: &[&str]| {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let recipe = Recipe::Own { create: lines(create), verify: vec![], destroy: lines(destroy) };
        fields(&layout(2, "/mnt/x", recipe))
    };
    assert_eq!(own(&["a {device1}"], &["true"]), Vec::<&str>::new());
    assert_eq!(own(&["a {device2}"], &[]), ["destroy", "create"]);
    assert_eq!(own(&[], &[" "]), ["create", "destroy"]);
}
