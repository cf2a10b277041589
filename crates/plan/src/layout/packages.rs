//! Packages that provide the programs of layouts.

/// The package names of a program by distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// The program.
    pub program: &'static str,
    /// The package on Debian and derivatives.
    pub debian: &'static str,
    /// The package on Red Hat Enterprise Linux and derivatives.
    pub red_hat: &'static str,
    /// Where to get a program that no distribution packages.
    pub elsewhere: Option<&'static str>,
}

const fn packaged(program: &'static str, debian: &'static str, red_hat: &'static str) -> Package {
    Package { program, debian, red_hat, elsewhere: None }
}

const fn from(program: &'static str, elsewhere: &'static str) -> Package {
    Package { program, debian: "", red_hat: "", elsewhere: Some(elsewhere) }
}

const GPFS: &str = "IBM Storage Scale (GPFS), in /usr/lpp/mmfs/bin";
const LUSTRE: &str = "the Lustre client (lustre-client of the Whamcloud or vendor packages)";

/// Packages of Debian 12 and RHEL 9.
const PACKAGES: [Package; 23] = [
    packaged("mkfs.xfs", "xfsprogs", "xfsprogs"),
    packaged("xfs_info", "xfsprogs", "xfsprogs"),
    packaged("mkfs.ext4", "e2fsprogs", "e2fsprogs"),
    packaged("mkfs.btrfs", "btrfs-progs", "btrfs-progs"),
    packaged("btrfs", "btrfs-progs", "btrfs-progs"),
    packaged("mount", "mount", "util-linux"),
    packaged("umount", "mount", "util-linux"),
    packaged("mdadm", "mdadm", "mdadm"),
    packaged("parted", "parted", "parted"),
    packaged("pvcreate", "lvm2", "lvm2"),
    packaged("pvremove", "lvm2", "lvm2"),
    packaged("vgcreate", "lvm2", "lvm2"),
    packaged("vgremove", "lvm2", "lvm2"),
    packaged("vgs", "lvm2", "lvm2"),
    packaged("lvcreate", "lvm2", "lvm2"),
    packaged("lvremove", "lvm2", "lvm2"),
    packaged("lvs", "lvm2", "lvm2"),
    from("mmcrfs", GPFS),
    from("mmdelfs", GPFS),
    from("mmmount", GPFS),
    from("mmumount", GPFS),
    from("mmlsfs", GPFS),
    from("lfs", LUSTRE),
];

/// The package that provides `program`; none if unknown.
#[must_use]
pub fn package(program: &str) -> Option<Package> {
    PACKAGES.iter().find(|package| package.program == program).copied()
}

impl std::fmt::Display for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.elsewhere {
            Some(elsewhere) => f.write_str(elsewhere),
            None => write!(f, "Debian: apt install {}; RHEL: dnf install {}", self.debian, self.red_hat),
        }
    }
}
