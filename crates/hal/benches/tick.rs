//! What a plugin's read + write tick costs when it goes through the ABI, beside the same backend called directly.
//!
//! A tick through the ABI may add at most 20 ns.

use std::hint::black_box;

use fly_hal::{Backend, Configuration, Deadline, Plugin, SearchPath};
use fly_plugin_trial::Trial;

fn main() {
    divan::main();
}

#[divan::bench]
fn direct(bencher: divan::Bencher) {
    let configuration = Configuration::new("", "");
    let mut backend = Trial::configure(&configuration).expect("the trial backend takes nothing");
    backend.start().expect("it starts");
    let mut frame = backend.description().frame();
    bencher.bench_local(move || {
        black_box(backend.read(Deadline::NOW, &mut black_box(&mut frame).as_mut()))
            .expect("it reads");
        backend
            .write(frame.time, black_box(&[0.5]))
            .expect("it writes");
    });
}

#[divan::bench]
fn through_the_abi(bencher: divan::Bencher) {
    let plugin =
        Plugin::load("trial", &SearchPath::standard([])).expect("cargo built the trial plugin");
    let mut instance = plugin
        .configure(&Configuration::new("", ""))
        .expect("it takes nothing");
    instance.start().expect("it starts");
    let mut frame = instance.description().frame();
    bencher.bench_local(move || {
        black_box(instance.read(Deadline::NOW, black_box(&mut frame))).expect("it reads");
        instance
            .write(frame.time, black_box(&[0.5]))
            .expect("it writes");
    });
}
