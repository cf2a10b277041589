//! Kernel features that a recipe needs, and whether they are present or loadable.

use plan::Recipe;

use super::error::Obstacle;
use crate::Root;

/// Lists the required features that the running kernel lacks.
pub(super) fn obstacles(root: &Root, recipe: &Recipe) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    let mut lacks = |what: String| obstacles.push(Obstacle::Kernel(what));
    match recipe {
        Recipe::Md { .. } if !root.exists("/proc/mdstat") && !has_module(root, "raid0") => {
            lacks(
                "this kernel has no md driver (no /proc/mdstat and no module raid0): boot a kernel with \
                 CONFIG_MD_RAID0, or choose another recipe"
                    .to_owned(),
            );
        }
        Recipe::Lvm { .. } if !has_device_mapper(root) && !has_module(root, "dm-mod") => {
            lacks(
                "this kernel has no device mapper (no /sys/class/misc/device-mapper and no module dm-mod): \
                 boot a kernel with CONFIG_BLK_DEV_DM, or choose another recipe"
                    .to_owned(),
            );
        }
        _ => {}
    }
    if let Some(kind) = file_system(recipe)
        && !knows(root, kind)
        && !has_module(root, kind)
    {
        lacks(format!(
            "this kernel cannot mount {kind} (not in /proc/filesystems, and no module {kind}): choose \
             another file system"
        ));
    }
    obstacles
}

fn file_system(recipe: &Recipe) -> Option<&'static str> {
    match recipe {
        Recipe::PerDevice { file_system }
        | Recipe::Md { file_system, .. }
        | Recipe::Lvm { file_system, .. } => Some(file_system.kind.name()),
        Recipe::Btrfs { .. } => Some("btrfs"),
        Recipe::Raw | Recipe::Gpfs { .. } | Recipe::Lustre { .. } | Recipe::Existing | Recipe::Own { .. } => {
            None
        }
    }
}

fn knows(root: &Root, kind: &str) -> bool {
    let table = root.read("/proc/filesystems").unwrap_or_default();
    table.lines().any(|line| line.split_whitespace().last() == Some(kind))
}

fn has_device_mapper(root: &Root) -> bool {
    let drivers = root.read("/proc/devices").unwrap_or_default();
    root.exists("/sys/class/misc/device-mapper")
        || drivers.lines().any(|line| line.split_whitespace().last() == Some("device-mapper"))
}

/// Whether the module can be loaded (`modules.dep(5)`).
fn has_module(root: &Root, module: &str) -> bool {
    let Ok(release) = root.read("/proc/sys/kernel/osrelease") else { return false };
    let list = format!("/lib/modules/{}/modules.dep", release.trim());
    let file = format!("/{module}.ko");
    root.read(&list).unwrap_or_default().lines().any(|line| {
        let path = line.split(':').next().unwrap_or_default();
        path.split_once(&file).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, FileSystem, FileSystemKind, MdMetadata, Recipe};

    use super::obstacles;
    use crate::fake::Tree;

    fn file_system() -> FileSystem {
        FileSystem { kind: FileSystemKind::Xfs, make_options: Vec::new(), mount_options: String::new() }
    }

    fn md() -> Recipe {
        let node = "/dev/md0".into();
        Recipe::Md { metadata: MdMetadata::Plain, chunk: Bytes::kib(128), node, file_system: file_system() }
    }

    fn lvm() -> Recipe {
        let (group, stripe) = ("sas".into(), Bytes::kib(128));
        Recipe::Lvm { group, stripe, volumes: Vec::new(), file_system: file_system() }
    }

    const RELEASE: (&str, &str) = ("/proc/sys/kernel/osrelease", "6.1.0\n");
    const KNOWN: (&str, &str) = ("/proc/filesystems", "nodev\tproc\n\text4\n\txfs\n");

    #[test]
    fn a_kernel_without_md_or_device_mapper_says_so() {
        let tree = Tree::new(&[RELEASE, KNOWN, ("/proc/devices", "Block devices:\n  7 loop\n")]);
        let told =
            |recipe| obstacles(tree.root(), &recipe).iter().map(ToString::to_string).collect::<String>();
        assert!(told(md()).contains("no md driver"), "{}", told(md()));
        assert!(told(lvm()).contains("no device mapper"), "{}", told(lvm()));
        assert_eq!(told(Recipe::PerDevice { file_system: file_system() }), "");
        assert!(told(Recipe::Btrfs { mount_options: String::new() }).contains("cannot mount btrfs"));
    }

    #[test]
    fn drivers_that_are_loaded_or_can_be_are_enough() {
        let loaded = Tree::new(&[
            KNOWN,
            ("/proc/mdstat", ""),
            ("/proc/devices", "Block devices:\n253 device-mapper\n"),
        ]);
        assert_eq!(obstacles(loaded.root(), &md()), []);
        assert_eq!(obstacles(loaded.root(), &lvm()), []);
        let modules = "kernel/drivers/md/raid0.ko.xz: kernel/drivers/md/md-mod.ko.xz\n\
                       kernel/drivers/md/dm-mod.ko:\nkernel/fs/xfs/xfs.ko.zst: kernel/lib/x.ko\n";
        let loadable = Tree::new(&[RELEASE, ("/lib/modules/6.1.0/modules.dep", modules)]);
        assert_eq!(obstacles(loadable.root(), &md()), []);
        assert_eq!(obstacles(loadable.root(), &lvm()), []);
    }
}
