//! The list of tables, and operations that are the same for each of them.

use crate::files::limits::bytes_of_rows;
use crate::rows::phase_record::PhaseRecord;
use crate::{
    DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LoadRow, NodeSeriesRow, PhaseKey, PhaseRow,
    PrintedRow, Row, SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, TaskRow, WarningRow,
};

/// A row of one of the tables of a phase, except those of the phase itself and of warnings.
pub(crate) trait TableRow: Row {
    fn key(&self) -> &PhaseKey;
    fn key_mut(&mut self) -> &mut PhaseKey;
    /// The rows of this table in `record`.
    fn of(record: &PhaseRecord) -> &Vec<Self>;
    fn of_mut(record: &mut PhaseRecord) -> &mut Vec<Self>;
}

/// An operation on each of the tables; see [`each_table`].
pub(crate) trait TableVisitor {
    type Error;

    fn visit<R: TableRow>(&mut self) -> Result<(), Self::Error>;
}

macro_rules! tables {
    ($($row:ident: $field:ident),+ $(,)?) => {
        /// The names of all tables.
        pub(crate) const TABLES: [&str; 16] = [PhaseRow::TABLE, $($row::TABLE,)+ WarningRow::TABLE];

        /// The memory used by `rows` rows of `table`.
        pub(crate) fn bytes_of_table(table: &str, rows: u64) -> u64 {
            match table {
                $($row::TABLE => bytes_of_rows::<$row>(rows),)+
                PhaseRow::TABLE => bytes_of_rows::<PhaseRow>(rows),
                _ => bytes_of_rows::<WarningRow>(rows),
            }
        }

        /// Calls `visitor` for each table of [`TableRow`]s. Ends at the first error.
        pub(crate) fn each_table<V: TableVisitor>(visitor: &mut V) -> Result<(), V::Error> {
            $(visitor.visit::<$row>()?;)+
            Ok(())
        }

        $(impl TableRow for $row {
            fn key(&self) -> &PhaseKey {
                &self.key
            }

            fn key_mut(&mut self) -> &mut PhaseKey {
                &mut self.key
            }

            fn of(record: &PhaseRecord) -> &Vec<Self> {
                &record.$field
            }

            fn of_mut(record: &mut PhaseRecord) -> &mut Vec<Self> {
                &mut record.$field
            }
        })+
    };
}

tables!(
    TaskRow: tasks,
    LatencyRow: latency,
    SeriesRow: series,
    NodeSeriesRow: nodes,
    DeviceRow: devices,
    LoadRow: load,
    HistoryRow: history,
    PrintedRow: printed,
    EndRow: ends,
    LaunchRow: launches,
    StepRow: steps,
    SpaceRow: spaces,
    ServerRow: servers,
    ServerTextRow: server_texts,
);
