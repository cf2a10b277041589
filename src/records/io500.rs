//! Where the records of the phases of an IO500 run are until they are merged.

use std::path::{Path, PathBuf};

/// The file that is kept next to the records of phases until the run is complete.
pub(crate) const MEMO: &str = "io500.json";

/// The directory for the phases' records of a run whose own record is to be in `directory`.
pub(crate) fn parts_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".phases");
    PathBuf::from(name)
}

/// The directory of the complete record if `directory` contains the records of the phases; otherwise
/// `directory` itself.
pub(crate) fn whole_of(directory: &Path) -> PathBuf {
    match directory.extension() {
        Some(extension) if extension == "phases" => directory.with_extension(""),
        _ => directory.to_owned(),
    }
}

/// How to continue the interrupted run whose record is to be in `directory`, or whose phases are in it.
pub(crate) fn interrupted(directory: &Path) -> Option<String> {
    let whole = whole_of(directory);
    parts_of(&whole).join(MEMO).exists().then(|| {
        let whole = plan::shell_word(&whole.to_string_lossy());
        format!(
            "an IO500 run was interrupted; `ioproof io500 CONFIG.ini --resume {whole}` continues it, `ioproof report \
             {whole}.phases/PHASE` shows a finished phase, and `ioproof clean DATADIR` removes its files"
        )
    })
}
