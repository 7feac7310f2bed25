//! Long columns in few cells.

use fly_report::grid::{Grid, Keep};

/// Every extreme of every stretch is in the cells of that stretch, however often they were halved.
#[test]
fn no_extreme_is_lost() {
    const STEP: f64 = 0.001;
    let value = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) % 10_007) - 5000.0;
    let mut grid = Grid::new(Keep::Extremes, STEP, 1000);
    let column = grid.column("noise");
    let count = 123_457;
    for i in 0..count {
        grid.go_to(f64::from(i) * STEP);
        grid.put(column, value(i));
    }
    assert!((500..=1000).contains(&grid.len()), "{}", grid.len());
    assert_eq!(grid.width(), 0.128);
    let column = &grid.columns()[0];
    for cell in 0..grid.len() {
        let first = u32::try_from(cell).unwrap() * 128;
        let own = (first..(first + 128).min(count)).map(value);
        let (low, high) = own.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        assert_eq!(
            [f64::from(column.low[cell]), f64::from(column.high[cell])],
            [low, high]
        );
    }
}

#[test]
fn a_gap_stays_one() {
    let mut grid = Grid::new(Keep::Extremes, 0.01, 64);
    let column = grid.column("x");
    for i in (0..100).chain(200..256) {
        grid.go_to(f64::from(i) * 0.01);
        grid.put(column, 1.0);
    }
    let cells = &grid.columns()[0].low;
    assert_eq!(cells.len(), 64);
    for (i, cell) in cells.iter().enumerate() {
        assert_eq!(cell.is_nan(), (25..50).contains(&i), "{i}");
    }
}

#[test]
fn poses_are_samples() {
    let mut grid = Grid::new(Keep::First, 1.0, 4);
    let column = grid.column("x");
    for i in 0..16 {
        grid.go_to(f64::from(i));
        grid.put(column, f64::from(i));
    }
    assert_eq!(grid.columns()[0].low, [0.0, 4.0, 8.0, 12.0]);
    assert!(grid.columns()[0].high.is_empty());
}

/// A part of a flight that begins late has as many cells as if it had begun at 0.
#[test]
fn cells_begin_with_the_first_tick() {
    let mut grid = Grid::new(Keep::Extremes, 0.002, 4096);
    let column = grid.column("x");
    for i in 67_500..=69_500 {
        grid.go_to(f64::from(i) * 0.002);
        grid.put(column, f64::from(i));
    }
    assert!(grid.is_whole());
    assert_eq!(grid.len(), 2001);
    for (cell, time) in [(0, 135.0), (2000, 139.0)] {
        assert!((grid.time(cell, 0.5) - time).abs() < 1e-9);
    }
    assert_eq!(grid.columns()[0].low[2000], 69_500.0);
}
