//! The steps of each recipe.

use std::path::{Path, PathBuf};

use super::files::{self, wipe};
use super::{Action, FileSystem, Layout, Provenance, Recipe, Step, array, cluster, own, volumes};

impl Layout {
    /// The steps that make it over `devices`, which are the device nodes of [`Layout::devices`] in the same
    /// order.
    #[must_use]
    pub fn steps(&self, devices: &[PathBuf]) -> Vec<Step> {
        let place = &self.mount_point;
        let mut steps: Vec<Step> = match self.recipe {
            // The members of GPFS carry what its own commands wrote there earlier.
            Recipe::Existing | Recipe::Lustre { .. } | Recipe::Gpfs { .. } => Vec::new(),
            _ => devices.iter().map(|device| wipe(device)).collect(),
        };
        match &self.recipe {
            Recipe::Raw | Recipe::Existing => {}
            Recipe::PerDevice { file_system } => steps.extend(self.per_device(file_system, devices)),
            Recipe::Btrfs { mount_options } => steps.extend(striped_btrfs(mount_options, devices, place)),
            Recipe::Md { metadata, chunk, node, file_system } => {
                steps.extend(array::steps(*metadata, *chunk, node, devices));
                let volume = array::volume(*metadata, node);
                steps.push(file_system.make(&volume, Some(array::made(*metadata, file_system))));
                steps.extend(file_system.mount(&volume, place, 0).map(|step| step.from(Provenance::Own)));
            }
            Recipe::Lvm { group, stripe, volumes, file_system } => {
                steps.extend(volumes::steps(group, *stripe, volumes, devices));
                for (volume, place) in volumes.iter().zip(self.directories()) {
                    let node = volumes::node(group, &volume.name);
                    steps.push(file_system.make(&node, None));
                    steps.extend(file_system.mount(&node, &place, 0).map(|step| match step.provenance {
                        Provenance::Printed { .. } => step.from(Provenance::Own),
                        _ => step,
                    }));
                }
            }
            Recipe::Gpfs { file_system, block, nodes, nsd_list } => {
                steps.extend(cluster::gpfs(file_system, *block, *nodes, nsd_list, place));
            }
            Recipe::Lustre { stripe_count, first, stripe } => {
                steps.extend(cluster::lustre(*stripe_count, *first, *stripe, place));
            }
            Recipe::Own { create, destroy, .. } => steps.extend(own::steps(create, destroy, devices, place)),
        }
        if !self.stands_for.is_empty() {
            for step in steps.iter_mut().filter(|step| step.action.needs_device()) {
                step.provenance = Provenance::Substitute { stands_for: self.stands_for.clone() };
            }
        }
        steps
    }

    fn per_device(&self, file_system: &FileSystem, devices: &[PathBuf]) -> Vec<Step> {
        let mut steps: Vec<Step> = devices.iter().map(|device| file_system.make(device, None)).collect();
        for (number, (device, place)) in devices.iter().zip(self.directories()).enumerate() {
            steps.extend(file_system.mount(device, &place, number));
        }
        steps
    }
}

/// Any member can be named in the mount; the others are passed too, since the kernel may not have scanned for
/// them.
fn striped_btrfs(mount_options: &str, devices: &[PathBuf], place: &Path) -> Vec<Step> {
    let Some(first) = devices.first() else { return Vec::new() };
    let names: Vec<String> = devices.iter().map(|device| device.to_string_lossy().into_owned()).collect();
    let words = ["mkfs.btrfs", "-f", "-K", "-d", "raid0", "-m", "raid0"];
    let make = Step::new(
        format!("create one btrfs, striped over {} devices", devices.len()),
        Action::words(words.into_iter().chain(names.iter().map(String::as_str))),
    );
    let mut options: Vec<String> = names.iter().map(|name| format!("device={name}")).collect();
    if !mount_options.is_empty() {
        options.push(mount_options.to_owned());
    }
    let mut steps = vec![make];
    steps.extend(files::mount("btrfs", &options.join(","), first, devices, place, Provenance::Own));
    steps
}
