//! Makes settings persistent across reboots, by a script that is run at boot and shown before it is
//! written.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;

use plan::shell_word;

use super::ledger::entry::{Entry, EntryState};
use super::ledger::owner::Owner;
use super::ledger::{Ledger, PersistentFile, PersistentForm};
use super::planned::TuningPlan;
use super::settings::setting::Setting;
use super::steps::POWER_CONTROL;
use crate::ledger::check_directory;
use crate::{LedgerError, Root};

const SCRIPT: &str = "/etc/ioproof-tuning.sh";
const UNITS: &str = "/etc/systemd/system";
const UNIT: &str = "ioproof-tuning.service";
const RC_LOCAL: &str = "/etc/rc.local";

/// A persistent file and whether it was written or removed; the error is the reason if not.
pub type PersistenceOutcome = (PersistentFile, Result<(), String>);

/// The files that make the plan persistent, including the settings already in `ledger`: a script and
/// whatever starts it. With systemd this is a unit and the link that enables it; otherwise a line in
/// `/etc/rc.local`.
#[must_use]
pub fn files(plan: &TuningPlan, ledger: Option<&Ledger>, root: &Root) -> Vec<PersistentFile> {
    let file = |path: String, form: PersistentForm| PersistentFile { path, form };
    let mut all = vec![file(SCRIPT.to_owned(), PersistentForm::Text(script(plan, ledger, root)))];
    if root.exists(UNITS) {
        let unit = format!("{UNITS}/{UNIT}");
        let link = format!("{UNITS}/multi-user.target.wants/{UNIT}");
        all.push(file(unit.clone(), PersistentForm::Text(unit_text(plan))));
        all.push(file(link, PersistentForm::Link(unit)));
    } else {
        all.push(file(RC_LOCAL.to_owned(), PersistentForm::Line(format!("/bin/sh {SCRIPT} # ioproof"))));
    }
    all
}

fn unit_text(plan: &TuningPlan) -> String {
    format!(
        "# Written by ioproof host tune --persist; ioproof host restore removes it.\n[Unit]\n\
         Description=Host tuning of ioproof: {}\nAfter=local-fs.target\n\n[Service]\nType=oneshot\n\
         ExecStart=/bin/sh {SCRIPT}\nRemainAfterExit=yes\n\n[Install]\nWantedBy=multi-user.target\n",
        plan.profiles.join(" ")
    )
}

/// The beginning of the script. Device names may change from boot to boot.
const SCRIPT_HEAD: &str = r#"#!/bin/sh
# Written by ioproof host tune --persist; ioproof host restore removes it.
failed=0
# The devices whose file $1 holds $2, and which are hidden ($3 is 1) or not (0).
devices() {
    for directory in /sys/block/*; do
        [ -r "$directory/$1" ] || continue
        read -r text < "$directory/$1"
        hidden=0
        [ ! -r "$directory/hidden" ] || read -r hidden < "$directory/hidden"
        [ "$text" != "$2" ] || [ "$hidden" != "$3" ] || printf '%s\n' "$directory"
    done
}
device() {
    set -- $(devices "$1" "$2" 0)
    [ $# -gt 0 ] && printf '%s\n' "$1"
}"#;

/// The script, with a line for each setting. It exits with 1 if a setting could not be changed.
fn script(plan: &TuningPlan, ledger: Option<&Ledger>, root: &Root) -> String {
    let planned = |setting: &Setting| plan.writes.iter().any(|write| write.setting == *setting);
    let is_kept =
        |entry: &&Entry| entry.set_at_boot && entry.state != EntryState::Restored && !planned(&entry.setting);
    let kept = ledger.iter().flat_map(|ledger| ledger.entries.iter()).filter(is_kept);
    let kept = kept.filter_map(|entry| {
        line(&entry.setting, &entry.setting.value(entry.new.as_deref()?), entry.owner.clone())
    });
    let planned = plan.writes.iter().filter_map(|write| {
        let owner = Owner::of(&write.setting, write.device.as_deref(), root);
        line(&write.setting, &write.setting.value(&write.new), owner)
    });
    let mut lines = vec![SCRIPT_HEAD.to_owned()];
    for line in kept.chain(planned) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("\n") + "\nexit $failed\n"
}

/// The line that sets a value at boot. Interrupt numbers change, so interrupts are found by their driver,
/// as in the published command.
fn line(setting: &Setting, value: &str, owner: Option<Owner>) -> Option<String> {
    let command = match (setting, owner) {
        (Setting::File { path }, _) if path.ends_with("/smp_affinity") => {
            // The kernel rejects changes to interrupts that it manages itself.
            return Some(
                "for queue in /proc/irq/*/nvme*; do irq=${queue%/*}; cat \"$irq/affinity_hint\" > \
                 \"$irq/smp_affinity\"; done"
                    .to_owned(),
            );
        }
        (Setting::File { path }, Some(owner)) => {
            let name = setting.device()?;
            let below = shell_word(path.strip_prefix(&format!("/sys/block/{name}/"))?);
            let value = shell_word(value);
            let directory = match owner {
                Owner::Device { file, text } => {
                    format!("$(device {} {})", shell_word(&file), shell_word(&text))
                }
                Owner::Path(path) => {
                    format!("/sys/block/$(basename \"$(readlink -f -- {})\")", shell_word(&path))
                }
                Owner::Paths { file, text, hidden } => {
                    return Some(format!(
                        "for path in $(devices {} {} {}); do echo {value} > \"$path\"/{below} || failed=1; done",
                        shell_word(&file),
                        shell_word(&text),
                        u8::from(hidden)
                    ));
                }
                Owner::Interrupt(_) => return None,
            };
            format!("directory={directory} && echo {value} > \"$directory\"/{below}")
        }
        // Uses the tools of the published command: the register is read first, and one bit of it is
        // cleared.
        (Setting::Register { register: POWER_CONTROL, .. }, _) => {
            "for cpu in /dev/cpu/[0-9]*; do p=${cpu##*/}; wrmsr -p $p 0x1fc $(($(rdmsr -c -p $p 0x1fc) & ~2)) || \
             failed=1; done # msr-tools"
                .to_owned()
        }
        (Setting::Mount { .. }, _) => setting.command("noatime,nodiratime"),
        // TuneD's profile is already persistent.
        (Setting::TunedProfile, _) => return None,
        (Setting::File { .. } | Setting::Register { .. }, _) => setting.command(value),
    };
    Some(if command.starts_with("for ") { command } else { format!("{command} || failed=1") })
}

/// Writes the files. Each is recorded in the ledger first.
///
/// # Errors
/// Errors if the ledger cannot be written. Files that cannot be written are reported in the list.
pub fn write(
    files: &[PersistentFile],
    ledger: &mut Ledger,
    root: &Root,
) -> Result<Vec<PersistenceOutcome>, LedgerError> {
    let mut told = Vec::new();
    for file in files {
        if ledger.kept.contains(file) {
            told.push((file.clone(), Ok(())));
            continue;
        }
        // A file that this program wrote in an earlier use is replaced; other files are not touched.
        let ours: Vec<PersistentFile> =
            ledger.kept.iter().filter(|kept| kept.path == file.path).cloned().collect();
        for earlier in ours {
            if take_away(&earlier, root, false).is_ok() {
                ledger.removed(earlier)?;
            }
        }
        if is_in_the_way(file, root) {
            let why = "it already exists and was not written by ioproof: remove it first".to_owned();
            told.push((file.clone(), Err(why)));
            continue;
        }
        // The file will be executed as root.
        if let Some(Err(error)) = root.path(&file.path).parent().map(check_directory) {
            told.push((file.clone(), Err(error.to_string())));
            continue;
        }
        ledger.keeping(file.clone())?;
        let written = put(file, root).map_err(|error| error.to_string());
        told.push((file.clone(), written));
    }
    Ok(told)
}

fn is_in_the_way(file: &PersistentFile, root: &Root) -> bool {
    !matches!(file.form, PersistentForm::Line(_)) && fs::symlink_metadata(root.path(&file.path)).is_ok()
}

fn put(file: &PersistentFile, root: &Root) -> io::Result<()> {
    let path = root.path(&file.path);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    match &file.form {
        PersistentForm::Text(text) => {
            let mut made = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
            made.write_all(text.as_bytes())?;
            made.sync_all()
        }
        PersistentForm::Link(target) => symlink(target, &path),
        PersistentForm::Line(line) => put_line(&path, line),
    }
}

/// Inserts a line before the line that ends the script, or otherwise at its end. Creates the file if it
/// does not exist.
fn put_line(path: &Path, line: &str) -> io::Result<()> {
    let (text, mode) = match fs::read_to_string(path) {
        Ok(text) => (text, Some(fs::metadata(path)?.permissions())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (format!("{MADE_BY_US}\n"), None),
        Err(error) => return Err(error),
    };
    let at = text.lines().position(|other| other.trim() == "exit 0");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(at.unwrap_or(lines.len()), line);
    // If the file has no newline at its end, it is written back without one.
    let end = if text.ends_with('\n') { "\n" } else { "" };
    replace(path, &(lines.join("\n") + end), mode)
}

/// The first line of a file that did not exist before.
const MADE_BY_US: &str = "#!/bin/sh -e";

/// Mode of a new file, which has to be executable.
const RC_LOCAL_MODE: u32 = 0o755;

/// Replaces a file by one with the same `permissions`. If there are none, the file is new and the umask
/// applies.
fn replace(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    // On Red Hat systems it is a link, which is kept.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let fresh = path.with_extension("ioproof-new");
    let _ = fs::remove_file(&fresh);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(RC_LOCAL_MODE).open(&fresh)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    fs::rename(&fresh, path)
}

/// Removes all files of the ledger, the last written first.
pub(super) fn remove(
    ledger: &mut Ledger,
    root: &Root,
    force: bool,
) -> Result<Vec<PersistenceOutcome>, LedgerError> {
    let mut told = Vec::new();
    for file in ledger.kept.clone().into_iter().rev() {
        // Syncs the removal, so that the ledger does not forget a file that reappears after a crash of
        // the host.
        let taken = take_away(&file, root, force).and_then(|()| synced(&root.path(&file.path)));
        if taken.is_ok() {
            ledger.removed(file.clone())?;
        }
        told.push((file, taken));
    }
    Ok(told)
}

fn synced(removed: &Path) -> Result<(), String> {
    let Some(directory) = removed.parent() else { return Ok(()) };
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn take_away(file: &PersistentFile, root: &Root, force: bool) -> Result<(), String> {
    let path = root.path(&file.path);
    let there = match &file.form {
        PersistentForm::Text(_) => fs::read_to_string(&path),
        PersistentForm::Link(_) => fs::read_link(&path).map(|target| target.to_string_lossy().into_owned()),
        PersistentForm::Line(_) => fs::read_to_string(&path),
    };
    let there = match there {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let said = |error: io::Error| error.to_string();
    match &file.form {
        PersistentForm::Line(line) => {
            let permissions = fs::metadata(&path).map_err(said)?.permissions();
            let kept: Vec<&str> = there.lines().filter(|other| other != line).collect();
            if kept == [MADE_BY_US] {
                return fs::remove_file(&path).map_err(said);
            }
            let end = if there.ends_with('\n') { "\n" } else { "" };
            replace(&path, &(kept.join("\n") + end), Some(permissions)).map_err(said)
        }
        // A file that was truncated by a crash also belongs to this program.
        PersistentForm::Text(ours) if !ours.starts_with(&there) && !force => {
            Err("it has been changed since: inspect it, or use --force".to_owned())
        }
        PersistentForm::Link(ours) if *ours != there && !force => {
            Err("it now points elsewhere: inspect it, or use --force".to_owned())
        }
        PersistentForm::Text(_) | PersistentForm::Link(_) => fs::remove_file(&path).map_err(said),
    }
}
