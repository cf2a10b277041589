//! Statements as tables for reading. All of this is generated from [`analysis::gate::Table`]; nothing here depends on
//! the kind of statement.

use analysis::{
    audit::Outcome,
    figures::RateOf,
    gate::{Because, Judgement, Kind, Of, QUANTILES, Quantity, Reason, Row, Spread, Value},
};

use crate::format::node_names;
use crate::format::table::{Align, Cell, Table, Tone};
use crate::format::{duration, grouped, latency, number, percent, rate, rate_in, utc, whole};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::report::statements::{Statements, number_of, reason, reasons};
use crate::section::{Block, Extent, conditions, only, point, signed, title};

impl Statements {
    /// The blocks of `section`.
    pub(crate) fn blocks(&self, report: &Report, section: &str, extent: Extent) -> Vec<Block> {
        let filled = self.tables.iter().filter(|table| !table.rows.is_empty());
        let here = filled.filter(|table| table.kind.policy().section == section);
        here.flat_map(|table| blocks(report, table, extent)).collect()
    }
}

/// The tables of some kinds of statement.
pub(crate) fn of_kinds(report: &Report, kinds: &[Kind], extent: Extent) -> Vec<Block> {
    let these = report.statements.tables.iter();
    let these = these.filter(|table| kinds.contains(&table.kind) && !table.rows.is_empty());
    these.flat_map(|table| blocks(report, table, extent)).collect()
}

/// Notes, distributions, the tables, and reasons common to all rows.
fn blocks(report: &Report, table: &analysis::gate::Table, extent: Extent) -> Vec<Block> {
    let shared = shared_reasons(table);
    let mut blocks: Vec<Block> = table.notes.iter().cloned().map(Block::Text).collect();
    if let Some(line) = withheld(table) {
        blocks.push(line);
        return blocks;
    }
    let limit = match extent {
        Extent::Limited | Extent::Rows(_) => table.kind.policy().rows,
        Extent::Full => usize::MAX,
    };
    let spreads = table.spreads();
    let few = table.rows.iter().filter(|row| !spreads.iter().any(|spread| spread.has(row)));
    let listed: Vec<&Row> =
        spreads.iter().flat_map(|spread| spread.named.iter().copied()).chain(few).collect();
    blocks.extend(distributions(report, table, &spreads));
    let (shown, more) = listed.split_at(listed.len().min(limit));
    let parts = shown.chunk_by(|one, next| one.part == next.part);
    blocks.extend(parts.filter_map(|rows| part(report, table, rows, shared.is_some())));
    if !more.is_empty() {
        let count = grouped(more.len() as u64);
        blocks.push(Block::Text(format!("{count} more are in the JSON and CSV forms.")));
    }
    blocks.extend(shared.map(|row| Block::Text(format!("All of them: {}.", because(row).text))));
    blocks
}

/// How the values of many rows of a figure are distributed: a row for each figure and column.
fn distributions(report: &Report, table: &analysis::gate::Table, spreads: &[Spread<'_>]) -> Vec<Block> {
    let lines =
        spreads.iter().flat_map(|one| one.columns.iter().map(move |(head, values)| (one, head, values)));
    let quantiles = QUANTILES.iter().enumerate();
    let mut columns = Table::of(lines)
        .right("#", |(one, ..)| Cell::figure(one.figures.first().map(|&place| number_of(place))))
        .left("", |(_, head, _)| head.heading)
        .right("n", |(one, ..)| grouped(one.all as u64));
    for (place, (heading, _)) in quantiles {
        columns = columns.right(heading, |(one, _, values)| {
            let own = one.figures.first().and_then(|&place| report.figures.get(place));
            cell(&values[place], own.map_or("ops/s", Figure::operations_unit), |text| text)
        });
    }
    let shown = columns.done();
    let sum = |of: fn(&Spread<'_>) -> usize| spreads.iter().map(of).sum::<usize>();
    let (all, out) = (grouped(sum(|one| one.all) as u64), sum(|one| one.standing_out));
    let title = table.kind.policy().title;
    if shown.is_empty() && !spreads.is_empty() {
        return vec![Block::Text(format!("{title}: {all} rows, in the JSON and CSV forms."))];
    }
    let lowest = if out > 0 {
        format!(", and of {} that stand out the lowest", grouped(out as u64))
    } else {
        String::new()
    };
    let caption = format!(
        "{title}: the distribution of {all} rows. Named below are a few at each end{lowest}; the JSON and CSV forms \
         have all"
    );
    only(&caption, shown)
}

/// One line instead of a table whose rows are all withheld for the same reasons. Tables with subjects or judgements
/// are kept, since readers look up their rows.
fn withheld(table: &analysis::gate::Table) -> Option<Block> {
    let (first, others) = table.rows.split_first()?;
    let named = table.of == Of::Nothing
        || table.columns.iter().any(|head| head.subject || matches!(head.quantity, Quantity::Judgement(_)));
    let kinds = |row: &Row| row.reasons.iter().map(|one| one.because).collect::<Vec<_>>();
    let alike = |row: &Row| row.outcome == Outcome::Withheld && kinds(row) == kinds(first);
    let caption = Some(table.caption).filter(|caption| !caption.is_empty())?;
    let all = table.rows.len();
    (!named && !others.is_empty() && table.rows.iter().all(alike)).then(|| {
        let why = reasons(&first.reasons);
        Block::Text(format!("{caption}: all {all} are withheld for the same reasons; for the first, {why}."))
    })
}

/// A part of a table with its caption; none if it has no row.
fn part(report: &Report, table: &analysis::gate::Table, rows: &[&Row], shared: bool) -> Option<Block> {
    let subject = subject(table.of);
    let mut shown = empty(subject.iter().map(|&(heading, align, _)| (heading, align)), table);
    let mut previous: Option<&Row> = None;
    for &row in rows {
        let own = row.figures.first().and_then(|&place| report.figures.get(place));
        let mut cells = match own {
            Some(own) => subject.iter().map(|(_, _, cell)| cell(report, own)).collect(),
            None if table.of == Of::Nothing => Vec::new(),
            None if table.of == Of::Figure => vec![Cell::default()],
            None => continue,
        };
        let operations = own.map_or("ops/s", Figure::operations_unit);
        // Small transfers are counted, as in data sheets.
        let transfer = small_transfer(report, row).filter(|_| OF_FIGURES.contains(&table.kind));
        let counted = |value: &Value| match (value, transfer) {
            (Value::Rate(rate, RateOf::Bytes), Some(bytes)) if *rate > 0.0 => {
                Some(rate_in(rate / bytes as f64, operations).into())
            }
            _ => None,
        };
        let (read, below) = read(table, row, |value| {
            counted(value).unwrap_or_else(|| cell(value, operations, |text| title(report, text)))
        });
        cells.extend(read);
        // Conditions and reasons are not repeated in consecutive rows of one figure.
        let repeated = previous.replace(row).is_some_and(|previous| {
            table.of == Of::Figure && (&previous.figures, &previous.reasons) == (&row.figures, &row.reasons)
        });
        cells.push(match repeated && !row.figures.is_empty() && row.outcome != Outcome::Withheld {
            true => below.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ").into(),
            false => last(report, table.of, own, row, shared, below),
        });
        shown.row(cells);
    }
    let caption = match &rows.first()?.part {
        Some(part) if table.caption.is_empty() => part.clone(),
        Some(part) => format!("{}: {part}", table.caption),
        None => table.caption.to_owned(),
    };
    (!shown.is_empty()).then(|| Block::Table { caption, table: shown.without_empty_columns() })
}

/// Kinds of statements all of whose rates are those of their figures.
const OF_FIGURES: [Kind; 9] = [
    Kind::Beside,
    Kind::Scaling,
    Kind::LayerOverhead,
    Kind::CurveShape,
    Kind::Overlay,
    Kind::Peaks,
    Kind::WeakScaling,
    Kind::Extrapolation,
    Kind::Crossover,
];

/// The size of the transfers of all figures of a row, if it is the same small one.
fn small_transfer(report: &Report, row: &Row) -> Option<u64> {
    let of = |&place: &usize| {
        let own = report.figures.get(place).filter(|own| !own.is_large() && !own.is_operations());
        own.and_then(|own| own.transfer_bytes)
    };
    let (first, others) = row.figures.split_first()?;
    let size = of(first)?;
    others.iter().all(|other| of(other) == Some(size)).then_some(size)
}

/// The cells of a row's visible columns, and the texts of columns shown under the row.
fn read<'t>(
    table: &analysis::gate::Table,
    row: &'t Row,
    cell: impl Fn(&'t Value) -> Cell,
) -> (Vec<Cell>, Vec<String>) {
    let cells = table.columns.iter().zip(&row.cells).filter(|(head, _)| !head.detail);
    let (below, read): (Vec<_>, Vec<_>) = cells.partition(|(head, _)| head.below);
    // Values of marked rows are not emphasized.
    let toned = |cell: Cell| match (row.outcome, cell.tone) {
        (Outcome::Stated, _) | (_, Tone::Good | Tone::Bad | Tone::Doubtful) => cell,
        _ => Cell { tone: Tone::Plain, ..cell },
    };
    (
        read.into_iter().map(|(_, value)| toned(cell(value))).collect(),
        below.into_iter().map(|(_, value)| cell(value).text).collect(),
    )
}

/// A table of statements without figures; `title` gives the display name of a target.
pub(crate) fn without_figures<'t>(
    table: &'t analysis::gate::Table,
    title: impl Fn(&'t str) -> &'t str,
) -> Table {
    let mut shown = empty([].into_iter(), table);
    for row in &table.rows {
        let (mut cells, below) = read(table, row, |value| cell(value, "IOPS", &title));
        cells.push(below.join("; ").into());
        shown.row(cells);
    }
    shown.without_empty_columns()
}

/// An empty table with the columns `before`, the visible columns of `table`, and the conditions.
fn empty(before: impl Iterator<Item = (&'static str, Align)>, table: &analysis::gate::Table) -> Table {
    let heads = table.columns.iter().filter(|head| !head.detail && !head.below);
    let heads = heads.map(|head| (head.heading, align(head.quantity)));
    Table::new(&before.chain(heads).chain([(LAST, Align::Left)]).collect::<Vec<_>>()).below(LAST)
}

/// The heading of the column of conditions and reasons.
const LAST: &str = "conditions";

/// The last cell of a row: its reasons unless they are shared by all rows, the texts under the row, and the
/// conditions of its figure.
fn last(report: &Report, of: Of, own: Option<&Figure>, row: &Row, shared: bool, below: Vec<String>) -> Cell {
    let because = if shared { Cell::default() } else { because(row) };
    let of_figure = own.and_then(|own| match of {
        Of::Target | Of::Point => Some(own.conditions.clone()),
        Of::Figure => Some(conditions(report, own)),
        Of::Nothing | Of::Sweep => None,
    });
    let parts = std::iter::once(because.text.clone()).chain(below).chain(of_figure);
    let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    Cell::toned(text, because.tone)
}

/// The first row, if there are several and all have the same reasons.
fn shared_reasons(table: &analysis::gate::Table) -> Option<&Row> {
    let (first, others) = table.rows.split_first()?;
    let same = |row: &Row| row.outcome == first.outcome && row.reasons == first.reasons;
    (!others.is_empty() && !first.reasons.is_empty() && others.iter().all(same)).then_some(first)
}

/// A column that identifies the figure of a row.
type OfFigure = (&'static str, Align, fn(&Report, &Figure) -> Cell);

fn subject(of: Of) -> Vec<OfFigure> {
    let link: OfFigure = ("#", Align::Right, |_, own| Cell::figure(Some(own.number)));
    let workload: OfFigure = ("workload", Align::Left, |_, own| own.group.clone().into());
    let target: OfFigure = ("target", Align::Left, |report, own| title(report, &own.target).into());
    let phase: OfFigure = ("phase", Align::Left, |_, own| own.phase.name().into());
    match of {
        Of::Nothing => Vec::new(),
        Of::Figure => vec![link],
        Of::Target => vec![link, target, phase],
        Of::Sweep => vec![workload, target, phase],
        Of::Point => {
            vec![link, workload, target, phase, ("at", Align::Left, |_, own| point(&own.settings).into())]
        }
    }
}

const fn align(quantity: Quantity) -> Align {
    match quantity {
        Quantity::Text | Quantity::List | Quantity::Flag | Quantity::Moment | Quantity::Judgement(_) => {
            Align::Left
        }
        _ => Align::Right,
    }
}

/// A value in readable form.
fn cell<'t>(value: &'t Value, operations: &str, title: impl Fn(&'t str) -> &'t str) -> Cell {
    match value {
        Value::None => Cell::default(),
        // A text may name a target.
        Value::Text(text) => title(text).into(),
        Value::Count(count) => grouped(*count).into(),
        Value::Number(value) => number(*value).into(),
        Value::Share(share) => Cell::toned(percent(*share), Tone::Main),
        Value::Change(change) => Cell::toned(signed(*change), Tone::Main),
        Value::Changes(low, high) => format!("{} … {}", signed(*low), signed(*high)).into(),
        Value::Shares(low, high) => format!("{} … {}", percent(*low), percent(*high)).into(),
        // Operations without data, such as stat, have no rate in bytes.
        Value::Rate(value, RateOf::Bytes) if *value > 0.0 => rate(*value).into(),
        Value::Rate(_, RateOf::Bytes) => Cell::default(),
        Value::Rate(value, RateOf::Operations) => rate_in(*value, operations).into(),
        Value::Seconds(seconds) => duration(*seconds).into(),
        Value::Figure(place) => Cell::figure(Some(number_of(*place))),
        Value::Bytes(bytes) => plan::Bytes(*bytes).to_string().into(),
        Value::Nanos(nanos) => latency(whole(*nanos)).into(),
        Value::Flag(holds) => if *holds { "yes" } else { "no" }.into(),
        Value::List(all) if all.len() > LISTED => {
            format!("{}; and {} more", all[..LISTED].join("; "), all.len() - LISTED).into()
        }
        Value::List(all) => all.join("; ").into(),
        Value::Names(all) => {
            let names: Vec<&str> = all.iter().map(String::as_str).collect();
            node_names::shortened(&names).into()
        }
        Value::Moment(unix_ns) => utc(*unix_ns).into(),
        Value::Setting(value) => value.to_string().into(),
        Value::Judgement(judgement, word) => Cell::toned(*word, tone(*judgement)),
    }
}

/// Maximum number of items shown of a list in a cell.
const LISTED: usize = 4;

pub(crate) const fn tone(judgement: Judgement) -> Tone {
    match judgement {
        Judgement::Holds => Tone::Good,
        Judgement::DoesNotHold => Tone::Bad,
        Judgement::CannotTell | Judgement::NotTested => Tone::Doubtful,
    }
}

/// Why a row is marked or withheld. Marked rows name doubts without the evidence, which is in the audit.
fn because(row: &Row) -> Cell {
    let mark = |one: &Reason| match one.because {
        Because::Doubted(check) => check.name().to_owned(),
        _ => reason(one),
    };
    match row.outcome {
        Outcome::Stated => Cell::default(),
        Outcome::Marked => {
            Cell::toned(row.reasons.iter().map(mark).collect::<Vec<_>>().join("; "), Tone::Doubtful)
        }
        Outcome::Withheld => Cell::toned(format!("withheld: {}", reasons(&row.reasons)), Tone::Doubtful),
    }
}
