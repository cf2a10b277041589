//! What the subcommands have in common: profiles by name, the ledger of settings, consent.

use std::path::{Path, PathBuf};

use host::tuning::{self, Profile};
use host::{LedgerError, Root};

use crate::console::exit::{Exit, Failure};
use crate::console::{can_ask, confirm};

/// The profiles with these names.
pub(super) fn profiles_named(names: &[String]) -> Result<Vec<Profile>, Failure> {
    let named = names.iter().map(|name| tuning::profile(name));
    named.collect::<Result<_, _>>().map_err(|error| Failure::new(Exit::Usage, error))
}

/// The directory with the previous settings.
pub(super) fn state_of(root: &Root, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| tuning::state_directory(root, |name| std::env::var(name).ok()), Path::to_owned)
}

/// Converts an error about a ledger. A ledger that is damaged, in use, or of another host is a refusal;
/// one that cannot be written is something the host lacks.
pub(super) fn ledger_failure(error: LedgerError) -> Failure {
    let exit = match error {
        LedgerError::Untrusted { .. } => Exit::Record,
        _ if error.is_refusal() => Exit::Refused,
        _ => Exit::HostLacks,
    };
    Failure::new(exit, error)
}

/// Asks the user. If there is no terminal, nothing is done unless `--yes` is given.
pub(super) fn agreed(question: &str, yes: bool) -> Result<bool, Failure> {
    if yes || confirm(question, false)? {
        return Ok(true);
    }
    if can_ask() {
        return Ok(false);
    }
    let message = "nothing was written: no terminal to ask on; add --yes to agree, or --plan to look";
    Err(Failure::new(Exit::Refused, anyhow::anyhow!(message)))
}
