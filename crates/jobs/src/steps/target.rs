//! The optional output of a step.

use plan::jobs::Output;

use crate::row::Origin;
use crate::step::{Place, StepContext};
use crate::table::{Io, TableWriter};
use crate::{JobError, StepOutcome};

/// The output of a step. It is created with the first rows, because its pages contain their origin.
pub(crate) struct Target<'a> {
    io: &'a Io,
    place: Option<Place>,
    writer: Option<TableWriter>,
}

impl<'a> Target<'a> {
    /// Creates the table of `output`; rows are discarded if there is none.
    pub(crate) fn new(context: &StepContext<'a>, output: Option<&Output>) -> Self {
        Self { io: context.io, place: output.map(|output| context.output(output)), writer: None }
    }

    /// Whether rows are written.
    pub(crate) const fn writes(&self) -> bool {
        self.place.is_some()
    }

    /// Adds rows, which must all come from one table.
    pub(crate) fn push_all(&mut self, origin: Origin, rows: &[u8]) -> Result<(), JobError> {
        let Some(place) = &self.place else { return Ok(()) };
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(TableWriter::create(self.io, place.space, &place.path, origin)?),
        };
        writer.push_all(rows)
    }

    /// Closes the table, and adds its contents to the outcome.
    pub(crate) fn finish(self, outcome: &mut StepOutcome) -> Result<(), JobError> {
        if let Some(writer) = self.writer {
            let written = writer.finish()?;
            (outcome.rows_out, outcome.checksum) = (written.rows, Some(written.checksum));
        }
        Ok(())
    }
}
