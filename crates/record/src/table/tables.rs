//! The list of tables, and operations that are the same for each of them.

use crate::files::limits::bytes_of_rows;
use crate::rows::phase_record::PhaseRecord;
use crate::table::KeyedRow;
use crate::{
    DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LoadRow, NodeSeriesRow, PhaseRow, PrintedRow, Row,
    SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, TaskRow, WarningRow,
};

/// A row of one of the tables of a phase, except those of the phase itself and of warnings.
pub(crate) trait TableRow: KeyedRow {
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

#[cfg(test)]
mod tests {
    use plan::limits::{TABLE_FOOTER_BYTES, TABLE_ROWS_BYTES};

    use super::{TableRow, TableVisitor, bytes_of_table, each_table};
    use crate::files::directory::RunDirectory;
    use crate::files::limits::{TextBudget, check_rows};
    use crate::table::parquet_store::{TableWriter, read_table_for_now, table_path};
    use crate::table::values::Values;
    use crate::table::{ColumnType, Columns};
    use crate::{PhaseRow, Row, Warning, WarningRow};

    /// As many as two groups of rows have.
    const ROWS: usize = 1 << 15;

    /// `count` rows that are all alike.
    fn alike<R: Row>(count: usize) -> Vec<R> {
        let warning = Warning::TooShort { seconds: 0.5, at_least_seconds: 2.0 };
        let warning = serde_json::to_string(&warning).expect("JSON");
        let columns = R::COLUMNS.iter().map(|column| {
            let word = match column.name {
                "phase" | "operation" => "read",
                "measure" => "response",
                "detail" => &warning,
                _ => "word",
            };
            let values = match column.kind {
                _ if column.nullable => Values::Nulls(count),
                ColumnType::Text => Values::word(word, count),
                ColumnType::Integer => Values::Integers(vec![0; count]),
                ColumnType::Number => Values::Numbers(vec![Some(0.0); count]),
            };
            (column.name, values)
        });
        let mut texts = TextBudget::of_table(1 << 20);
        R::from_columns(&mut Columns::new(count, columns.collect(), &mut texts)).expect("rows")
    }

    /// The bytes of a table of such rows, and those of its footer.
    fn stored<R: Row>() -> (u64, u64) {
        let place = tempfile::tempdir().expect("a directory");
        let directory = RunDirectory::hold(place.path()).expect("a directory");
        let mut writer = TableWriter::new(&directory, 1);
        writer.add(&alike::<R>(ROWS)).expect("written");
        let sealed = writer.seal().expect("written").expect("rows");
        let path = table_path(&directory, R::TABLE, 1);
        let read: Vec<R> = read_table_for_now(&directory, &path).expect(R::TABLE);
        assert_eq!(read.len(), ROWS);
        let file = std::fs::read(path).expect("readable");
        let length = file[file.len() - 8..].first_chunk().expect("four bytes and a magic number");
        (sealed.bytes, u32::from_le_bytes(*length).into())
    }

    struct Check;

    impl Check {
        /// With 32 times as many rows, which take 32 times as many bytes, the free amount is of no account.
        fn table<R: Row>() {
            let ((stored, footer), claimed) = (stored::<R>(), bytes_of_table(R::TABLE, ROWS as u64));
            // The footer of the largest table has a part for each of its groups.
            assert!(footer * TABLE_ROWS_BYTES / claimed <= TABLE_FOOTER_BYTES, "{}", R::TABLE);
            check_rows(claimed * 32, stored * 32).expect(R::TABLE);
        }
    }

    impl TableVisitor for Check {
        type Error = std::convert::Infallible;

        fn visit<R: TableRow>(&mut self) -> Result<(), Self::Error> {
            Self::table::<R>();
            Ok(())
        }
    }

    /// No other rows take so few bytes in a file for the memory that they need.
    #[test]
    fn rows_that_are_all_alike_can_be_read() {
        let Ok(()) = each_table(&mut Check);
        Check::table::<PhaseRow>();
        Check::table::<WarningRow>();
    }
}
