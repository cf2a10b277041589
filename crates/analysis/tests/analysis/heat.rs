//! The rate of each node in each second.

use analysis::{HEAT_COLUMNS_MAX, HEAT_ROWS_MAX, HeatMap, RateName, figures, heat_map};
use plan::Phase;
use record::{NodeSeriesRow, Operation, PhaseKey};

use crate::nodes::{at, case, pass};
use crate::rows::{self, SECOND};

fn second(repetition: u32, node: &str, operation: Operation, start: u64, bytes: u64) -> NodeSeriesRow {
    NodeSeriesRow {
        key: PhaseKey { case: "c".into(), repetition, phase: Phase::Read },
        node: node.to_owned(),
        operation,
        start_ns: start * SECOND,
        length_ns: SECOND,
        bytes,
        transfers: 1,
        latency_sum_ns: 0,
        latency_max_ns: 0,
    }
}

fn read(node: &str, start: u64, bytes: u64) -> NodeSeriesRow {
    second(1, node, Operation::Read, start, bytes)
}

fn map(rows: &[NodeSeriesRow]) -> Option<HeatMap> {
    let plan = rows::plan(vec![case("c", "t", 2, 2)]);
    let on = [at("a", 100), at("b", 100)];
    let records = vec![pass("c", 0, Phase::Read, &on), pass("c", 1, Phase::Read, &on)];
    heat_map(rows, &figures(&rows::run(&plan, records), RateName::ByWall)[0])
}

fn rates(map: &HeatMap) -> Vec<Vec<Option<f64>>> {
    map.cells.iter().map(|row| row.iter().map(|cell| cell.map(|cell| cell.rate)).collect()).collect()
}

#[test]
fn a_map_has_the_last_pass_with_stalls_and_blanks() {
    let rows = [
        second(0, "a", Operation::Read, 0, 999),
        read("n10", 0, 10),
        read("n10", 1, 20),
        // Nothing in second 2: a stall.
        read("n10", 3, 30),
        // Reads and writes of a second stand together.
        read("n2", 1, 5),
        second(1, "n2", Operation::Write, 1, 7),
        // The rest of the phase.
        NodeSeriesRow { length_ns: SECOND / 2, ..read("n2", 2, 8) },
    ];
    let map = map(&rows).expect("two nodes");
    assert_eq!((map.repetition, map.starts.clone()), (1, vec![0.0, 1.0, 2.0, 3.0]));
    assert_eq!(map.rows, [["n2"], ["n10"]]);
    let expected =
        [vec![None, Some(12.0), Some(16.0), None], vec![Some(10.0), Some(20.0), Some(0.0), Some(30.0)]];
    assert_eq!((rates(&map), map.highest), (expected.to_vec(), 30.0));
}

#[test]
fn one_node_is_no_map() {
    assert_eq!(map(&[]), None);
    assert_eq!(map(&[read("a", 0, 1), read("a", 1, 1)]), None);
}

/// 600 nodes over an hour: a slow one is seen though it shares its row.
#[test]
fn a_large_map_is_bounded_and_hides_no_slow_node() {
    let mut rows = Vec::new();
    for node in 0..600 {
        let name = format!("node{node}");
        rows.extend((0..3600).step_by(10).map(|start| {
            let row = read(&name, start, if node == 321 { 50 } else { 100 });
            NodeSeriesRow { length_ns: 10 * SECOND, ..row }
        }));
    }
    let map = map(&rows).expect("many nodes");
    assert!(map.rows.len() <= HEAT_ROWS_MAX && map.starts.len() <= HEAT_COLUMNS_MAX);
    assert!(map.cells.len() == map.rows.len() && map.cells.iter().all(|row| row.len() == map.starts.len()));
    let row = map.rows.iter().position(|nodes| nodes.iter().any(|name| name == "node321")).expect("in a row");
    assert_eq!(map.rows[row].len(), 5);
    let cell = map.cells[row][0].expect("measured");
    assert_eq!((cell.lowest, cell.rate), (5.0, 9.0));
    let whole: usize = map.rows.iter().map(Vec::len).sum();
    assert_eq!((whole, map.column_seconds), (600, 20.0));
}

/// An interval that lies far behind all others, as in a damaged record, takes no time to show.
#[test]
fn a_damaged_time_does_not_hang() {
    let map = map(&[read("a", 0, 1), read("b", 0, 1), read("b", 10_000_000_000, 1)]).expect("two nodes");
    assert!(map.starts.len() <= HEAT_COLUMNS_MAX);
}
