//! The first processor's entry in `/proc/cpuinfo`.

use std::io::Read;

use record::Fact;

use crate::Root;

const PATH: &str = "/proc/cpuinfo";
/// Number of bytes read from `/proc/cpuinfo`, enough for the first processor's entry. On hosts with
/// hundreds of processors, the kernel needs milliseconds to produce the whole file.
const CPUINFO_BYTES: usize = 4096;

/// The model name of the processors.
pub(super) fn model(root: &Root) -> Fact<String> {
    if let Err(reason) = cpuinfo(root) {
        return Fact::Unknown(reason);
    }
    // x86 and LoongArch have a model name, POWER calls it cpu; ARM only has numbers.
    if let Some(model) = value(root, &["model name", "Model Name", "cpu"]) {
        return Fact::Known(model);
    }
    match (value(root, &["CPU implementer"]), value(root, &["CPU part"])) {
        (Some(implementer), Some(part)) => Fact::Known(format!("ARM implementer {implementer} part {part}")),
        _ => Fact::Unknown(format!("{PATH} contains no model name")),
    }
}

/// The value of the first of `keys` that the first processor's entry in `/proc/cpuinfo` has.
pub(super) fn value(root: &Root, keys: &[&str]) -> Option<String> {
    let text = cpuinfo(root).ok()?;
    keys.iter().find_map(|key| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == *key && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    })
}

/// The entry of the first processor.
fn cpuinfo(root: &Root) -> Result<String, String> {
    let mut head = vec![0; CPUINFO_BYTES];
    let read = root.open(PATH).and_then(|mut file| file.read(&mut head));
    let length = read.map_err(|error| format!("{PATH}: {error}"))?;
    head.truncate(length);
    Ok(String::from_utf8_lossy(&head).into_owned())
}
