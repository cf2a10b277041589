//! The user's own commands.

use std::path::{Path, PathBuf};

use super::files::directory;
use super::{Action, Provenance, Step, Undo, UndoCondition};
use crate::shell_word;

/// All devices, with spaces between.
const DEVICES: &str = "devices";
/// One of them, followed by its number.
const DEVICE: &str = "device";
/// The mount point.
const MOUNT: &str = "mount";

/// Creates the mount point, as for any other layout, and runs the user's commands; all of `destroy` together
/// undoes any of `create`.
pub(super) fn steps(create: &[String], destroy: &[String], devices: &[PathBuf], place: &Path) -> Vec<Step> {
    let line = |text: &String| Action::Shell(filled(text, devices, place));
    let mut steps: Vec<Step> = create
        .iter()
        .map(|text| Step::new("as the user wrote it".to_owned(), line(text)).from(Provenance::User))
        .collect();
    let back = |text: &String| Undo {
        purpose: "as the user wrote it".to_owned(),
        action: line(text),
        provenance: Provenance::User,
        when: UndoCondition::Begun,
    };
    if let Some(first) = steps.first_mut() {
        first.undo = destroy.iter().map(back).collect();
    }
    steps.insert(0, directory(place));
    steps
}

/// The commands that check the layout.
pub(super) fn checks(verify: &[String], devices: &[PathBuf], place: &Path) -> Vec<Action> {
    verify.iter().map(|text| Action::Shell(filled(text, devices, place))).collect()
}

/// Substitutes devices and mount point, quoted for the shell. Other braces are left to the shell.
fn filled(text: &str, devices: &[PathBuf], place: &Path) -> String {
    let word = |path: &Path| shell_word(&path.to_string_lossy());
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let value = after.split_once('}').and_then(|(name, tail)| {
            let value = match name {
                DEVICES => devices.iter().map(|device| word(device)).collect::<Vec<_>>().join(" "),
                MOUNT => word(place),
                _ => word(devices.get(number(name)?)?),
            };
            Some((value, tail))
        });
        match value {
            Some((value, tail)) => {
                filled.push_str(&value);
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// The number in `device7`.
fn number(name: &str) -> Option<usize> {
    name.strip_prefix(DEVICE)?.parse().ok()
}

/// Whether the mount point is substituted inside the user's quotes. Its own quotes would close those,
/// exposing it to the shell. Device paths are kernel nodes and need no quotes.
pub(super) fn fills_in_quotes(text: &str) -> bool {
    let mut quote = None;
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => drop(rest.next()),
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            ('{', Some(_))
                if text[at + 1..].strip_prefix(MOUNT).is_some_and(|rest| rest.starts_with('}')) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Unknown placeholders in braces.
pub(super) fn unknown(text: &str, devices: usize) -> Vec<String> {
    let names = text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
    names
        .filter(|name| match number(name) {
            Some(number) => number >= devices,
            None => name.starts_with(DEVICE) && *name != DEVICES,
        })
        .map(|name| format!("{{{name}}}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{filled, fills_in_quotes, unknown};

    #[test]
    fn devices_and_mount_point_are_filled_in_and_the_shell_keeps_its_braces() {
        let devices: Vec<PathBuf> = ["/dev/a", "/dev/it's"].map(PathBuf::from).into();
        let fill = |text: &str| filled(text, &devices, Path::new("/mnt/x y"));
        assert_eq!(
            fill("mk {devices} && m {device0} {mount}"),
            r"mk /dev/a '/dev/it'\''s' && m /dev/a '/mnt/x y'"
        );
        assert_eq!(fill("echo ${HOME} {a,b} {device2} {"), "echo ${HOME} {a,b} {device2} {");
    }

    #[test]
    fn a_place_between_quotes_is_noticed() {
        for line in ["mount x \"{mount}\"", "x '{mount}/y'", "x \"a\\\"{mount}\"", "'a'\"{mount}\""] {
            assert!(fills_in_quotes(line), "{line}");
        }
        for line in
            ["mount x {mount}", "x 'a' {mount}", "x \"{a}\" {mount}/y", "x \\\"{mount}\\\"", "awk '{print}'"]
        {
            assert!(!fills_in_quotes(line), "{line}");
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_noticed() {
        assert_eq!(
            unknown("x {device1} {device2} {devise} {devic} {devices} {device} ${A}", 2),
            ["{device2}", "{device}"]
        );
    }
}
