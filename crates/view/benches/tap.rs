//! What a view costs the flight: a step with and without.

use std::sync::Arc;

use fly_flight::config::{Configuration, Options};
use fly_flight::{Discard, Flight, Sink, backend};
use fly_plugin_sim::Simulation;
use fly_view::{Hub, View, ViewSink};

fn main() {
    divan::main();
}

fn steps(bencher: divan::Bencher, sink: &mut dyn Sink) {
    let configuration = Configuration::load(&Options {
        config: "quadcopter.toml".into(),
        set: vec!["flight.duration=1e9".to_owned()],
        ..Options::default()
    });
    let configuration = configuration.expect("a shipped configuration");
    let world = backend::configure::<Simulation>(&configuration, false).expect("a simulation");
    let mut flight = Flight::new(&configuration, world, sink).expect("a flight");
    bencher.bench_local(|| assert_eq!(flight.tick(), None));
}

/// Rows for a sink that throws them away: what making them costs.
#[divan::bench]
fn step_without_view(bencher: divan::Bencher) {
    steps(bencher, &mut ViewSink::new(Rows, None));
}

/// The same with a view without viewers. Steps are much faster than 500 Hz, so most rows are lost once its queue is
/// full.
#[divan::bench]
fn step_with_view(bencher: divan::Bencher) {
    let hub = Arc::new(Hub::default());
    let _view = View::open(0, &hub).expect("a port");
    steps(bencher, &mut ViewSink::new(Rows, Some(hub)));
}

/// Wants rows and keeps none.
struct Rows;

impl Sink for Rows {
    fn begin(
        &mut self,
        header: &fly_log::Header,
        pace: fly_log::Pace,
    ) -> Result<(), fly_flight::LogError> {
        Discard.begin(header, pace)
    }

    fn row(&mut self, row: &fly_log::Row) {
        divan::black_box(row);
    }

    fn message(&mut self, _: i64, _: fly_flight::Message) {}

    fn finish(&mut self, run: fly_log::RunMetadata) -> Option<fly_flight::LogSummary> {
        Discard.finish(run)
    }
}
