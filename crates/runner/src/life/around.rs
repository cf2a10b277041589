//! What a protocol asks for around the phases of a case: wiping, preconditioning, dropping caches.

use std::time::{Duration, Instant};

use host::PermittedDevice;
use plan::{Backend, Case, Phase};
use record::{Warning, Wiped};

use super::Life;
use crate::check::Checked;
use crate::cleanup;
use crate::{Event, RunnerError};

impl Life<'_> {
    /// Removes the files of `case`, and discards the devices that it is measured on.
    pub(super) fn wipe(&mut self, case: &Case, checked: &Checked) -> Result<(), RunnerError> {
        if !case.protocol.wipe || case.workload.backend == Backend::Null {
            return Ok(());
        }
        let started = Instant::now();
        let files = cleanup::remove_files(case, &mut self.ledger)?;
        if files > 0 {
            self.wiped(case, &Wiped::Files { files, took_ns: nanoseconds(started.elapsed()) })?;
        }
        for target in &case.workload.files.targets {
            if self.stopped() {
                break;
            }
            if !cleanup::leads_to_device(target) {
                continue;
            }
            // Only the guard makes permits, and it has none for a device that is in use or unnamed.
            let permit = checked.permits.iter().find(|permit| permit.covers(target));
            let permit = permit.ok_or_else(|| RunnerError::Target {
                path: target.clone(),
                problem: "is a device that may not be wiped".to_owned(),
                help: "name it with --destroy-data-on".to_owned(),
            })?;
            self.discard(case, permit)?;
            self.ledger.discarded(target);
        }
        Ok(())
    }

    fn discard(&mut self, case: &Case, permit: &PermittedDevice) -> Result<(), RunnerError> {
        let started = Instant::now();
        match permit.discard() {
            Ok(bytes) => {
                let device = permit.path().display().to_string();
                self.wiped(case, &Wiped::Device { device, bytes, took_ns: nanoseconds(started.elapsed()) })
            }
            Err(error) => {
                let what = format!("discarding {}", permit.path().display());
                self.warn(Warning::Unapplied { what, reason: error.to_string() })
            }
        }
    }

    fn wiped(&mut self, case: &Case, what: &Wiped) -> Result<(), RunnerError> {
        self.recorder.wiped(&case.id, what)?;
        self.watch.event(&Event::Wiped { case, what });
        Ok(())
    }

    /// Writes the files of `case` from end to end, as often as its protocol says.
    pub(super) fn precondition(&mut self, case: &Case, checked: &Checked) -> Result<(), RunnerError> {
        if case.workload.backend == Backend::Null {
            return Ok(());
        }
        for _ in 0..case.protocol.precondition {
            for set in 0..cleanup::sets(case) {
                if self.stopped() {
                    return Ok(());
                }
                self.fill(case, set, checked)?;
            }
        }
        Ok(())
    }

    /// Empties the page cache before a phase that reads; gives what a reader of its figure must
    /// know where that is not allowed.
    pub(super) fn drop_caches(&self, case: &Case, phase: Phase) -> Vec<Warning> {
        let reads = phase.needs_data() && case.workload.backend != Backend::Null;
        if !reads || !case.protocol.drop_caches || self.stopped() {
            return Vec::new();
        }
        match host::cache::drop_all(self.host.root()) {
            Ok(()) => Vec::new(),
            Err(error) => {
                vec![Warning::Unapplied { what: "dropping caches".to_owned(), reason: error.to_string() }]
            }
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
