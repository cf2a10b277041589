//! Checks whether the user has consented to the destruction of a device's data.

use std::path::Path;

use record::Fact;

use super::device_relations::whole_devices;
use super::{Reason, UNKNOWN_DATA_WORD};
use crate::Root;
use crate::devices::{block, inventory};

/// Prefixes with which the kernel shows a world wide name that is a hexadecimal number. Other programs
/// write it with `0x`.
const HEX_NAME_PREFIXES: [&str; 2] = ["naa.", "eui."];

pub(super) fn reasons(root: &Root, name: &str, consents: &[String]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut is_named = false;
    let number = block::number_of(root, name);
    for consent in consents.iter().filter(|consent| *consent != UNKNOWN_DATA_WORD) {
        if consent.trim().is_empty() {
            reasons.push(Reason::EmptyConsent);
        } else if consent.contains('/') {
            is_named |= number.is_some() && block::number_at(root, Path::new(consent)) == number;
        } else {
            match by_identity(root, name, consent) {
                IdentityMatch::Named => is_named = true,
                IdentityMatch::Refused(reason) => reasons.push(reason),
                IdentityMatch::NotThis => {}
            }
        }
    }
    let is_explained = reasons.iter().any(|reason| *reason != Reason::EmptyConsent);
    if !is_named && !is_explained {
        reasons.push(Reason::NotNamed { names: own_names(root, name) });
    }
    reasons
}

enum IdentityMatch {
    Named,
    /// The consent names another device, since there may be several targets.
    NotThis,
    Refused(Reason),
}

/// Compares the consent with the serial numbers and world wide names of all devices. A name shared by two
/// devices identifies neither.
fn by_identity(root: &Root, name: &str, consent: &str) -> IdentityMatch {
    let whole = block::whole_of(root, name).unwrap_or_else(|| name.to_owned());
    let mut devices: Vec<String> = Vec::new();
    let mut in_other_case = None;
    for device in whole_devices(root) {
        let identities = identities(root, &device);
        if identities.iter().any(|identity| identity == consent) {
            devices.push(device);
        } else if device == whole {
            in_other_case = identities.into_iter().find(|identity| identity.eq_ignore_ascii_case(consent));
        }
    }
    let given = consent.to_owned();
    if !devices.contains(&whole) {
        return match in_other_case {
            Some(name) => IdentityMatch::Refused(Reason::ConsentInOtherCase { given, name }),
            None => IdentityMatch::NotThis,
        };
    }
    if devices.len() > 1 {
        return IdentityMatch::Refused(Reason::AmbiguousConsent { given, devices });
    }
    if whole != name {
        return IdentityMatch::Refused(Reason::ConsentForWholeDisk { given, disk: whole });
    }
    IdentityMatch::Named
}

/// The device that the user calls `given`: a path containing a slash, or a unique serial number or world wide
/// name. The error explains why there is no such device.
pub(crate) fn find(root: &Root, given: &str) -> Result<String, String> {
    if given.trim().is_empty() {
        return Err("it is empty: name a device, or set the variable that it came from".to_owned());
    }
    if given.contains('/') {
        if !given.starts_with('/') {
            return Err("give an absolute path, for example /dev/nvme1n1".to_owned());
        }
        let number =
            block::number_at(root, Path::new(given)).ok_or_else(|| missing_path(root, Path::new(given)))?;
        return block::name_of(root, number)
            .ok_or_else(|| format!("no /sys/dev/block/{number}, so the device cannot be identified"));
    }
    let known = |device: &String| identities(root, device).iter().any(|identity| identity == given);
    let all = whole_devices(root);
    let named: Vec<&String> = all.iter().filter(|device| known(device)).collect();
    match named[..] {
        [name] => Ok(name.clone()),
        [] => Err(unknown_identity(root, &all, given)),
        _ => {
            let names: Vec<&str> = named.iter().map(|name| name.as_str()).collect();
            Err(format!("{} devices match: {}; name one by its path", names.len(), names.join(", ")))
        }
    }
}

fn missing_path(root: &Root, path: &Path) -> String {
    match std::fs::metadata(root.path(path)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "there is no such device".to_owned(),
        Err(error) => error.to_string(),
        Ok(metadata) if metadata.is_dir() => "it is a directory: give a block device".to_owned(),
        Ok(_) => "it is not a block device: give one, for example /dev/nvme1n1".to_owned(),
    }
}

fn unknown_identity(root: &Root, all: &[String], given: &str) -> String {
    let similar = all
        .iter()
        .flat_map(|device| identities(root, device))
        .find(|identity| identity.eq_ignore_ascii_case(given));
    match similar {
        Some(name) => format!("no device matches; {name:?} differs from it only in upper and lower case"),
        None if all.iter().any(|device| device == given) => {
            format!(
                "no device has this serial number or world wide name: the path is {}",
                inventory::node(given).display()
            )
        }
        None => "no device has this serial number or world wide name".to_owned(),
    }
}

/// The serial number, and the world wide name in all its spellings.
pub(crate) fn identities(root: &Root, whole: &str) -> Vec<String> {
    let mut identities = Vec::new();
    if let Fact::Known(serial) = block::serial(root, whole) {
        identities.push(serial);
    }
    if let Some(wwn) = block::world_wide_name(root, whole) {
        identities.extend(
            HEX_NAME_PREFIXES.iter().filter_map(|prefix| Some(format!("0x{}", wwn.strip_prefix(prefix)?))),
        );
        identities.push(wwn);
    }
    identities
}

/// The names that the user may use: the path, and each unique identity.
fn own_names(root: &Root, name: &str) -> Vec<String> {
    let mut names = vec![inventory::node(name).display().to_string()];
    if block::whole_of(root, name).is_none() {
        names.extend(
            identities(root, name)
                .into_iter()
                // An identity that contains a slash would be treated as a path.
                .filter(|identity| !identity.contains('/'))
                .filter(|identity| matches!(by_identity(root, name, identity), IdentityMatch::Named)),
        );
    }
    names
}
