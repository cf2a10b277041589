//! Which package has a program.

/// What a distribution calls the package of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// The program.
    pub program: &'static str,
    /// What provides it on Debian and its kin.
    pub debian: &'static str,
    /// What provides it on Red Hat Enterprise Linux and its kin.
    pub red_hat: &'static str,
    /// Where it is from, for what no distribution has.
    pub elsewhere: Option<&'static str>,
}

const fn of(program: &'static str, debian: &'static str, red_hat: &'static str) -> Package {
    Package { program, debian, red_hat, elsewhere: None }
}

const fn from(program: &'static str, elsewhere: &'static str) -> Package {
    Package { program, debian: "", red_hat: "", elsewhere: Some(elsewhere) }
}

const GPFS: &str = "IBM Storage Scale (GPFS), in /usr/lpp/mmfs/bin";
const LUSTRE: &str = "the Lustre client (lustre-client of the Whamcloud or vendor packages)";

/// Packages of Debian 12 and RHEL 9.
const PACKAGES: [Package; 23] = [
    of("mkfs.xfs", "xfsprogs", "xfsprogs"),
    of("xfs_info", "xfsprogs", "xfsprogs"),
    of("mkfs.ext4", "e2fsprogs", "e2fsprogs"),
    of("mkfs.btrfs", "btrfs-progs", "btrfs-progs"),
    of("btrfs", "btrfs-progs", "btrfs-progs"),
    of("mount", "mount", "util-linux"),
    of("umount", "mount", "util-linux"),
    of("mdadm", "mdadm", "mdadm"),
    of("parted", "parted", "parted"),
    of("pvcreate", "lvm2", "lvm2"),
    of("pvremove", "lvm2", "lvm2"),
    of("vgcreate", "lvm2", "lvm2"),
    of("vgremove", "lvm2", "lvm2"),
    of("vgs", "lvm2", "lvm2"),
    of("lvcreate", "lvm2", "lvm2"),
    of("lvremove", "lvm2", "lvm2"),
    of("lvs", "lvm2", "lvm2"),
    from("mmcrfs", GPFS),
    from("mmdelfs", GPFS),
    from("mmmount", GPFS),
    from("mmumount", GPFS),
    from("mmlsfs", GPFS),
    from("lfs", LUSTRE),
];

/// What provides `program`; none where it is not known.
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
