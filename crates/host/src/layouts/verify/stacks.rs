//! Arrays, volumes and file systems over several devices.

use std::path::{Path, PathBuf};

use plan::{Bytes, Volume};
use record::Fact;

use super::Findings;
use crate::devices::block;

impl Findings<'_> {
    /// Checks level, chunk and members of an md array, as shown by the driver in sysfs.
    pub(super) fn array(&mut self, node: &Path, chunk: Bytes, members: &[PathBuf]) {
        let name = block::number_at(self.root, node).and_then(|number| block::name_of(self.root, number));
        let Some(name) = name else {
            let found = Fact::Known("it does not exist".to_owned());
            return self.add(node.display(), "array", Some("raid0".to_owned()), found, "/sys/dev/block");
        };
        let wanted = [
            ("array", "level", Some("raid0".to_owned())),
            ("chunk, bytes", "chunk_size", Some(chunk.get().to_string())),
            ("members", "raid_disks", Some(members.len().to_string())),
            ("metadata", "metadata_version", None),
        ];
        for (property, file, wanted) in wanted {
            let source = format!("/sys/block/{name}/md/{file}");
            let found = self.root.text(&source);
            self.add(node.display(), property, wanted, found, source);
        }
        let found = block::slaves(self.root, &name);
        self.members(node, members, &found, format!("/sys/block/{name}/slaves"));
    }

    /// Checks the member devices.
    fn members(&mut self, subject: &Path, wanted: &[PathBuf], found: &[String], source: String) {
        let mut wanted: Vec<String> = wanted
            .iter()
            .filter_map(|device| block::name_of(self.root, block::number_at(self.root, device)?))
            .collect();
        let mut found = found.to_vec();
        wanted.sort();
        found.sort();
        self.add(subject.display(), "devices", Some(wanted.join(" ")), Fact::Known(found.join(" ")), source);
    }

    /// Checks profile and members of the btrfs at `place`, as shown by the kernel in sysfs.
    pub(super) fn striped_btrfs(&mut self, place: &Path, members: &[PathBuf]) {
        let own = members
            .first()
            .and_then(|device| block::name_of(self.root, block::number_at(self.root, device)?));
        let base = "/sys/fs/btrfs";
        let devices = |uuid: &String| self.root.names(&format!("{base}/{uuid}/devices"));
        let uuid =
            own.and_then(|own| self.root.names(base).into_iter().find(|uuid| devices(uuid).contains(&own)));
        let Some(uuid) = uuid else {
            let found = Fact::Known("no mounted btrfs contains the first device".to_owned());
            return self.add(place.display(), "data profile", Some("raid0".to_owned()), found, base);
        };
        let found = devices(&uuid);
        for (property, kind) in [("data profile", "data"), ("metadata profile", "metadata")] {
            // Each profile in use is shown as a directory, next to ordinary files.
            let source = format!("{base}/{uuid}/allocation/{kind}");
            let is_profile = |name: &String| self.root.exists(&format!("{source}/{name}/total_bytes"));
            let profiles: Vec<String> = self.root.names(&source).into_iter().filter(is_profile).collect();
            self.add(
                place.display(),
                property,
                Some("raid0".to_owned()),
                Fact::Known(profiles.join(" ")),
                source,
            );
        }
        self.members(place, members, &found, format!("{base}/{uuid}/devices"));
    }

    /// Checks the stripes of the volumes of a group, as shown by `lvs`.
    pub(super) fn group(&mut self, group: &str, stripe: Bytes, volumes: &[Volume], members: usize) {
        let words = [
            "lvs",
            "--noheadings",
            "--nosuffix",
            "--units",
            "b",
            "-o",
            "lv_name,stripes,stripe_size,lv_size",
            group,
        ];
        let shown = Self::ask(&words);
        for volume in volumes {
            let line = match &shown {
                Fact::Known(text) => match row(text, &volume.name) {
                    Some(line) => Ok(line),
                    None => Err(Fact::Known("the group has no such volume".to_owned())),
                },
                Fact::Unknown(reason) => Err(Fact::Unknown(reason.clone())),
            };
            let properties = [
                ("stripes", 1, Some(members.to_string())),
                // A volume on one device is not striped.
                ("stripe, bytes", 2, (members > 1).then(|| stripe.get().to_string())),
                ("volume bytes", 3, None),
            ];
            for (property, column, wanted) in properties {
                let found = match &line {
                    Ok(line) => {
                        let value = line.get(column).map(|value| (*value).to_owned());
                        Fact::of(value, || "lvs does not show it".to_owned())
                    }
                    Err(found) => found.clone(),
                };
                self.add(format!("{group}/{}", volume.name), property, wanted, found, "lvs");
            }
        }
    }

    /// Checks the block size of a GPFS file system.
    pub(super) fn gpfs(&mut self, file_system: &str, block: Bytes) {
        let found = Self::ask(&["mmlsfs", file_system, "-B"]).and_then(|text| {
            let value = flag(&text, "-B").map(str::to_owned);
            Fact::of(value, || "mmlsfs prints it in an unknown format".to_owned())
        });
        self.add(file_system, "block size, bytes", Some(block.get().to_string()), found, "mmlsfs");
    }
}

/// The columns of the line that begins with `name`.
fn row<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|line| line.first() == Some(&name))
}

/// The value of a flag in the table printed by `mmlsfs`: flag, value, description.
fn flag<'a>(text: &'a str, flag: &str) -> Option<&'a str> {
    row(text, flag)?.get(1).copied()
}

#[cfg(test)]
mod tests {
    use super::{flag, row};

    #[test]
    fn volumes_are_found_by_their_names() {
        let shown = "  sasdata  5 131072 3298534883328\n  utilloc  5 131072 2199023255552\n";
        assert_eq!(row(shown, "utilloc").unwrap()[1..3], ["5", "131072"]);
        assert_eq!(row(shown, "sas"), None);
    }

    #[test]
    fn the_block_size_of_gpfs_is_in_the_second_column() {
        let shown = "flag                value                    description\n\
                     ------------------- ------------------------ -----------------------------------\n \
                     -B                 1048576                  Block size\n";
        assert_eq!(flag(shown, "-B"), Some("1048576"));
        assert_eq!(flag("mmlsfs: p3700 is not known", "-B"), None);
    }
}
