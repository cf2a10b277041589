//! What `ioproof layout` can be asked, and the layout that options describe.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use plan::{Bytes, FileSystem, FileSystemKind, Layout, MdMetadata, Recipe, Volume};

use crate::arguments::values;
use crate::console::exit::Failure;
use crate::run::ask;

/// What is done with a layout.
#[derive(Debug, Subcommand)]
pub(crate) enum LayoutCommand {
    /// Print every command with its purpose and its published source, and how to undo it; writes nothing.
    Plan(Box<Described>),
    /// Create a layout of devices; all data on them is lost. Needs root, except for raw, lustre, existing and own.
    Create {
        #[command(flatten)]
        described: Box<Described>,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
    },
    /// Read back what exists, and report what differs from the layout.
    Verify(Named),
    /// Unmount, stop and wipe a layout; all data on it is lost. Needs root.
    Destroy {
        #[command(flatten)]
        named: Named,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
    },
    /// List all existing layouts, complete or partly built.
    List(State),
    /// Dismantle the layouts that killed programs left; needs the same rights as creating them.
    Clean {
        /// Only remove this layout from the ledger, and undo nothing: for a device that is gone for good.
        #[arg(long, value_name = "NAME")]
        forget: Option<String>,
        #[command(flatten)]
        state: State,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
    },
}

/// Where ledgers stand.
#[derive(Debug, Args)]
pub(crate) struct State {
    /// Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users].
    #[arg(long = "state", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// A layout that stands.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Name of the layout, as shown by `ioproof layout list`.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) state: State,
}

/// How devices are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The devices themselves.
    Raw,
    /// A file system on each.
    PerDevice,
    /// One btrfs striped over all.
    Btrfs,
    /// RAID-0 of the md driver.
    Md,
    /// The same with Intel's metadata and a partition.
    Imsm,
    /// Volumes of LVM, striped over all.
    Lvm,
    /// A GPFS file system.
    Gpfs,
    /// A striped directory of Lustre.
    Lustre,
    /// A directory that is there.
    Existing,
    /// Own commands.
    Own,
}

/// A layout by options, or by its name in a study.
#[derive(Debug, Args)]
pub(crate) struct Described {
    /// raw, per-device, btrfs, md, imsm, lvm, gpfs, lustre, existing or own; with --study, the name of a layout.
    #[arg(value_name = "RECIPE|NAME")]
    what: String,
    /// Take the layout with this name from a study file.
    #[arg(long, value_name = "FILE")]
    pub(super) study: Option<PathBuf>,
    /// Agree to the commands of a study's layout, by the hash that `layout plan` prints.
    #[arg(long, value_name = "HASH", requires = "study")]
    pub(super) allow_commands: Option<String>,
    /// Override a value of the study, for example 'layout.md.chunk="64KiB"'; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", requires = "study")]
    set: Vec<String>,
    /// A device by path, serial number or WWN, in the order of the members; its data is lost; may be repeated.
    #[arg(long = "device", value_name = "SERIAL|WWN|PATH")]
    devices: Vec<String>,
    /// Mount point; for lustre and existing, the directory itself.
    #[arg(long, value_name = "DIR")]
    mount: Option<PathBuf>,
    /// Name of the layout [default: the recipe].
    #[arg(long)]
    name: Option<String>,
    /// Title in the plan and in reports.
    #[arg(long)]
    title: Option<String>,
    /// The published layout that it represents.
    #[arg(long, value_name = "TEXT")]
    stands_for: Option<String>,
    /// per-device, md, imsm, lvm: xfs, ext4 or btrfs; gpfs: the name of the file system [default: xfs].
    #[arg(long, value_name = "WORD")]
    file_system: Option<String>,
    /// An argument for mkfs, for example --mkfs-option=-d --mkfs-option=su=128k,sw=1; may be repeated.
    #[arg(long = "mkfs-option", value_name = "WORD", allow_hyphen_values = true)]
    mkfs_options: Vec<String>,
    /// Mount options, for example noatime,nodiratime.
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    mount_options: String,
    /// md, imsm: chunk size, the bytes on one member before the next.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "512KiB")]
    chunk: Bytes,
    /// md, imsm: path of the array.
    #[arg(long, value_name = "PATH", default_value = "/dev/md0")]
    node: PathBuf,
    /// lvm, lustre: stripe size, the bytes on one device before the next; required for lvm.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    stripe: Option<Bytes>,
    /// lvm: the volume group.
    #[arg(long, default_value = "ioproof")]
    group: String,
    /// lvm: a volume, with its size or an equal share of the remaining space; may be repeated [default: data].
    #[arg(long = "volume", value_name = "NAME[=SIZE]", value_parser = volume)]
    volumes: Vec<Volume>,
    /// gpfs: the block size.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "1MiB")]
    block: Bytes,
    /// gpfs: number of nodes that will mount it.
    #[arg(long, default_value_t = 32)]
    nodes: u32,
    /// gpfs: the file that lists the NSDs.
    #[arg(long, value_name = "FILE")]
    nsd_list: Option<PathBuf>,
    /// lustre: number of targets over which a file is striped.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    stripe_count: u32,
    /// lustre: index of the target on which a file starts.
    #[arg(long, value_name = "INDEX")]
    first: Option<u32>,
    /// own: a command that creates the layout, with {devices}, {device0} … and {mount}; may be repeated.
    #[arg(long = "create", value_name = "COMMAND")]
    create: Vec<String>,
    /// own: a command that exits with status 0 if the layout is correct; may be repeated.
    #[arg(long = "check", value_name = "COMMAND")]
    check: Vec<String>,
    /// own: a command that dismantles the layout; may be repeated.
    #[arg(long = "destroy", value_name = "COMMAND")]
    destroy: Vec<String>,
    /// The word unknown-data: agree to lose data without a known signature as well.
    #[arg(long, value_name = "unknown-data")]
    pub(super) destroy_data_on: Vec<String>,
    #[command(flatten)]
    pub(super) state: State,
}

impl Described {
    /// The layout that is described.
    pub(super) fn layout(&self) -> Result<Layout, Failure> {
        match &self.study {
            Some(study) => {
                let plan = ask::study(study, &self.set, true, 1)?;
                let names: Vec<&str> = plan.layouts.iter().map(|layout| layout.name.as_str()).collect();
                let found = plan.layouts.iter().find(|layout| layout.name == self.what).cloned();
                found.ok_or_else(|| {
                    Failure::usage(format!(
                        "{} measures no layout {:?}; its layouts: {}",
                        study.display(),
                        self.what,
                        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                    ))
                })
            }
            None => self.by_options(),
        }
    }

    fn by_options(&self) -> Result<Layout, Failure> {
        let kind = Kind::from_str(&self.what, false).map_err(|_| {
            let known: Vec<String> = Kind::value_variants()
                .iter()
                .filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned()))
                .collect();
            Failure::usage(format!(
                "unknown recipe {:?}; the recipes are {}; a layout of a study needs --study FILE",
                self.what,
                known.join(", ")
            ))
        })?;
        let mount_point = match (&self.mount, kind) {
            (Some(mount), _) => std::path::absolute(mount).map_err(Failure::usage)?,
            (None, Kind::Raw) => PathBuf::new(),
            (None, _) => return Err(Failure::usage(format!("{} needs --mount DIR", self.what))),
        };
        Ok(Layout {
            name: self.name.clone().unwrap_or_else(|| self.what.clone()),
            title: self.title.clone().unwrap_or_default(),
            stands_for: self.stands_for.clone().unwrap_or_default(),
            devices: self.devices.clone(),
            mount_point,
            recipe: self.recipe(kind)?,
        })
    }

    fn recipe(&self, kind: Kind) -> Result<Recipe, Failure> {
        let needs = |option: &str| Failure::usage(format!("{} needs {option}", self.what));
        Ok(match kind {
            Kind::Raw => Recipe::Raw,
            Kind::Existing => Recipe::Existing,
            Kind::PerDevice => Recipe::PerDevice { file_system: self.local()? },
            Kind::Btrfs => Recipe::Btrfs { mount_options: self.mount_options.clone() },
            Kind::Md | Kind::Imsm => Recipe::Md {
                metadata: if kind == Kind::Md { MdMetadata::Plain } else { MdMetadata::Imsm },
                chunk: self.chunk,
                node: self.node.clone(),
                file_system: self.local()?,
            },
            Kind::Lvm => Recipe::Lvm {
                group: self.group.clone(),
                stripe: self.stripe.ok_or_else(|| needs("--stripe SIZE, for example 128KiB"))?,
                volumes: match &self.volumes[..] {
                    [] => vec![Volume { name: "data".to_owned(), size: None }],
                    volumes => volumes.to_vec(),
                },
                file_system: self.local()?,
            },
            Kind::Gpfs => Recipe::Gpfs {
                file_system: self.file_system.clone().ok_or_else(|| needs("--file-system NAME"))?,
                block: self.block,
                nodes: self.nodes,
                nsd_list: self.nsd_list.clone().ok_or_else(|| needs("--nsd-list FILE"))?,
            },
            Kind::Lustre => {
                Recipe::Lustre { stripe_count: self.stripe_count, first: self.first, stripe: self.stripe }
            }
            Kind::Own => Recipe::Own {
                create: self.create.clone(),
                verify: self.check.clone(),
                destroy: self.destroy.clone(),
            },
        })
    }

    fn local(&self) -> Result<FileSystem, Failure> {
        let kinds = [FileSystemKind::Xfs, FileSystemKind::Ext4, FileSystemKind::Btrfs];
        let word = self.file_system.as_deref().unwrap_or("xfs");
        let kind = kinds.into_iter().find(|kind| kind.name() == word);
        Ok(FileSystem {
            kind: kind.ok_or_else(|| {
                Failure::usage(format!("--file-system {word:?} is not supported: use xfs, ext4 or btrfs"))
            })?,
            make_options: self.mkfs_options.clone(),
            mount_options: self.mount_options.clone(),
        })
    }
}

/// `sasdata=3TB` or `utilloc`.
fn volume(text: &str) -> Result<Volume, String> {
    let (name, size) = match text.split_once('=') {
        Some((name, size)) => (name, Some(values::size(size)?)),
        None => (text, None),
    };
    Ok(Volume { name: name.to_owned(), size })
}
