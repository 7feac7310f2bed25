//! `cargo run -p fly-report --example report -- LOG… > report.html`

use fly_report::{Flight, ReportError, report};

fn main() -> Result<(), ReportError> {
    let logs = std::env::args().skip(1);
    let flights: Result<Vec<_>, _> = logs.map(Flight::open).collect();
    print!("{}", report(&flights?)?);
    Ok(())
}
