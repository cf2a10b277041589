//! Reads and writes the settings of a host, or of a tree of files that represents one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::programs::Programs;
use super::setting::{Setting, Settings, TUNED_STATE, number};
use super::{mount_flags, tuned};
use crate::Root;
use crate::devices::block::chosen;
use crate::file_systems::file_system;

/// The settings of the host under a [`Root`].
#[derive(Debug)]
pub struct HostSettings<'a> {
    root: &'a Root,
    programs: Programs,
}

impl<'a> HostSettings<'a> {
    /// Creates the settings of the host under `root`.
    #[must_use]
    pub fn new(root: &'a Root) -> Self {
        Self { root, programs: Programs::of(root) }
    }

    fn register(&self, cpu: u32, write: bool) -> io::Result<File> {
        let path = self.root.path(format!("/dev/cpu/{cpu}/msr"));
        OpenOptions::new().read(!write).write(write).open(path)
    }
}

impl Settings for HostSettings<'_> {
    fn read(&self, setting: &Setting) -> io::Result<String> {
        match setting {
            Setting::File { path } => self.root.read_setting(path),
            Setting::Register { cpu, register } => {
                let mut bytes = [0; 8];
                self.register(*cpu, false)?.read_exact_at(&mut bytes, u64::from(*register))?;
                Ok(format!("{:#x}", u64::from_ne_bytes(bytes)))
            }
            Setting::Mount { mount_point } => {
                let table = file_system::mount_table(self.root).map_err(io::Error::other)?;
                // If several mounts are stacked, paths lead to the last one.
                let found = table.iter().rev().find(|mount| mount.mount_point == Path::new(mount_point));
                found.map(|mount| mount.options.clone()).ok_or_else(|| {
                    io::Error::new(io::ErrorKind::NotFound, format!("nothing is mounted at {mount_point}"))
                })
            }
            Setting::TunedProfile => tuned::active(self.root),
        }
    }

    fn write(&self, setting: &Setting, value: &str) -> io::Result<()> {
        match setting {
            Setting::File { path } if path.starts_with(TUNED_STATE) => {
                tuned::write_state(self.root, path, value)
            }
            Setting::File { path } => self.root.write_setting(path, value),
            Setting::Register { cpu, register } => {
                let value = number(value).ok_or(io::ErrorKind::InvalidInput)?;
                let file = self.register(*cpu, true)?;
                // Must be a single call: the driver writes a register for every 8 bytes it receives.
                let written = file.write_at(&value.to_ne_bytes(), u64::from(*register))?;
                if written == 8 { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
            }
            Setting::Mount { mount_point } if self.root.is_system() => mount_flags::set(mount_point, value),
            Setting::Mount { .. } => Err(io::Error::other(
                "only a running host can remount a file system, not the directory tree under --root",
            )),
            Setting::TunedProfile => tuned::activate(self.root, &self.programs, value),
        }
    }

    fn contradiction(&self, setting: &Setting, value: &str) -> Option<String> {
        match setting {
            Setting::TunedProfile => tuned::contradiction(self.root, value),
            // The kernel is the source of these, so it cannot contradict them.
            Setting::File { .. } | Setting::Register { .. } | Setting::Mount { .. } => None,
        }
    }
}

impl Root {
    /// The present content of a setting's file.
    pub(crate) fn read_setting(&self, path: &str) -> io::Result<String> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Writes a setting to its file, which must exist, in a single call as the kernel requires. In a tree
    /// of plain files, a list of choices is preserved around the selected one, as the kernel does.
    pub(crate) fn write_setting(&self, path: &str, value: &str) -> io::Result<()> {
        let real = self.path(path);
        if self.is_system() {
            // Kernel files cannot be truncated or created.
            return write_whole(&OpenOptions::new().write(true).open(real)?, &format!("{value}\n"));
        }
        let text = as_the_kernel_shows(&std::fs::read_to_string(&real).unwrap_or_default(), value)?;
        let file = OpenOptions::new().write(true).open(real)?;
        write_whole(&file, &text)?;
        // Done after the write, so that the old value is not lost if the program is killed between the
        // two.
        file.set_len(text.len() as u64)
    }
}

fn write_whole(mut file: &File, text: &str) -> io::Result<()> {
    let written = file.write(text.as_bytes())?;
    if written == text.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// The content that a kernel file with the content `text` would have after `value` was written.
fn as_the_kernel_shows(text: &str, value: &str) -> io::Result<String> {
    let old = chosen(text);
    if old == text {
        return Ok(format!("{value}\n"));
    }
    let mut choices: Vec<String> =
        text.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect();
    let Some(choice) = choices.iter_mut().find(|choice| *choice == value) else {
        return Err(rustix::io::Errno::INVAL.into());
    };
    *choice = format!("[{value}]");
    Ok(format!("{}\n", choices.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::as_the_kernel_shows;

    #[test]
    fn a_tree_of_files_keeps_the_choices_and_refuses_what_is_none() {
        assert_eq!(
            as_the_kernel_shows("always [madvise] never\n", "never").unwrap(),
            "always madvise [never]\n"
        );
        assert_eq!(as_the_kernel_shows("128\n", "256").unwrap(), "256\n");
        assert!(as_the_kernel_shows("[none] kyber\n", "bfq").is_err());
    }
}
