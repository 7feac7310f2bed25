//! An instance behind the ABI does what the backend does: values, errors with their places, messages, panics.

use crate::common;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use fly_hal::{
    Backend, Configuration, Deadline, Error, ErrorKind, Frame, Instance, Location, Plugin,
    Progress, ReadOutcome, Request, SearchPath, Text,
};

fn trial() -> Plugin {
    Plugin::load("trial", &SearchPath::standard([])).unwrap()
}

fn started(text: &str) -> Instance {
    let mut instance = trial().configure(&Configuration::new(text, "")).unwrap();
    instance.start().unwrap();
    instance
}

#[test]
fn values_go_through() {
    let mut instance = started("");
    assert_eq!(instance.description().groups, ["pose.position"]);
    let mut frame = instance.description().frame();
    for (tick, expected) in [(1, 0.0), (2, 0.5), (3, 1.0)] {
        assert_eq!(
            instance.read(Deadline::NOW, &mut frame),
            Ok(ReadOutcome::Fresh)
        );
        assert_eq!(frame.time, tick * 1_000_000);
        assert_eq!(frame.values, [expected, 0.0, 0.0]);
        assert!(frame.groups[0].valid && frame.groups[0].stamp == frame.time);
        instance.write(frame.time, &[0.5]).unwrap();
    }
    assert_eq!(instance.report(), [("ticks".to_owned(), "3".to_owned())]);
    instance.stop().unwrap();
}

#[test]
fn errors_keep_kind_place_and_help() {
    let error = |text: &str| {
        trial()
            .configure(&Configuration::new(text, "a vehicle"))
            .map(drop)
            .unwrap_err()
    };
    assert_eq!(
        error("colour = 3"),
        Error::configuration("unknown key `colour`").in_configuration(0..6)
    );
    assert_eq!(
        error("vehicle = 1"),
        Error::configuration("not this vehicle")
            .in_vehicle(2..5)
            .with_help("another")
    );
    assert_eq!(
        error("vehicle = 1").location,
        Some(Location {
            text: Text::Vehicle,
            span: 2..5
        })
    );
    let mut instance = started("error = \"read\"");
    let mut frame = instance.description().frame();
    assert_eq!(
        instance.read(Deadline::NOW, &mut frame),
        Err(Error::internal("told to fail in read"))
    );
    assert_eq!(
        instance.read(Deadline::NOW, &mut frame),
        Err(Error::internal("told to fail in read")),
        "a failure is not the end"
    );
}

#[test]
fn calls_at_the_wrong_time_or_of_the_wrong_size_are_refused() {
    let mut instance = trial().configure(&Configuration::new("", "")).unwrap();
    let mut frame = instance.description().frame();
    let refused =
        |result: Result<(), Error>, message: &str| assert_eq!(result, Err(Error::usage(message)));
    refused(
        instance.read(Deadline::NOW, &mut frame).map(drop),
        "read before start",
    );
    refused(instance.write(0, &[1.0]), "write before start");
    refused(instance.arm(), "arm before start");
    instance.start().unwrap();
    refused(instance.start(), "started twice");
    refused(instance.write(0, &[]), "expected 1 commands, found 0");
    refused(
        instance.write(0, &[1.0, 2.0]),
        "expected 1 commands, found 2",
    );
    refused(
        instance.write(0, &[f64::NAN]),
        "expected finite commands, found NaN for command 0",
    );
    let mut small = Frame::new(2, 1);
    refused(
        instance.read(Deadline::NOW, &mut small).map(drop),
        "expected a frame of 3 values and 1 groups, found 2 and 1",
    );
    instance.arm().unwrap();
    assert_eq!(instance.poll(), Ok(Progress::Underway));
    assert_eq!(instance.poll(), Ok(Progress::Done));
    for height in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = format!("expected a height above 0 m to take off to, found {height}");
        refused(instance.take_off(height), &message);
    }
    instance.take_off(2.5).unwrap();
    assert_eq!(instance.poll(), Ok(Progress::Underway));
    assert_eq!(instance.poll(), Ok(Progress::Done));
    let mut frame = instance.description().frame();
    instance.read(Deadline::NOW, &mut frame).unwrap();
    assert_eq!(frame.values, [2.5, 0.0, 0.0], "the height arrived");
    assert_eq!(
        instance.disarm(),
        Err(Error::unsupported("`trial` cannot be disarmed"))
    );
    assert_eq!(
        instance.request(Request::Land),
        Err(Error::unsupported("cannot land"))
    );
    instance.stop().unwrap();
    instance.stop().unwrap();
    refused(
        instance.read(Deadline::NOW, &mut frame).map(drop),
        "read after stop",
    );
}

#[test]
fn a_function_that_a_c_plugin_leaves_out_is_unsupported() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::open(&common::point_mass(folder.path())).unwrap();
    let mut instance = plugin
        .configure(&Configuration::new("mass = 2.0", ""))
        .unwrap();
    assert_eq!(
        instance.arm(),
        Err(Error::unsupported("the plugin has no function `arm`"))
    );
    assert_eq!(
        instance.take_off(1.0),
        Err(Error::unsupported("the plugin has no function `take_off`"))
    );
    instance.start().unwrap();
    let mut frame = instance.description().frame();
    for _ in 0..501 {
        instance.read(Deadline::NOW, &mut frame).unwrap();
        instance.write(frame.time, &[2.0 * 9.81 + 1.0]).unwrap();
    }
    // 1 N on 2 kg for a second, less the first tick, in which it fell.
    assert_eq!(frame.time, 1_000_000_000);
    assert!((frame.values[2] - 0.25).abs() < 0.05, "{frame:?}");
    let error = plugin
        .configure(&Configuration::new("# x\nmass = -1", ""))
        .map(drop)
        .unwrap_err();
    assert_eq!(
        error,
        Error::configuration("expected a mass above 0 kg").in_configuration(4..13)
    );
}

#[test]
fn any_byte_of_a_c_plugin_is_a_proper_bool() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::open(&common::spoilt("spoilt.read = odd_read", folder.path())).unwrap();
    let mut instance = plugin.configure(&Configuration::new("", "")).unwrap();
    instance.start().unwrap();
    let mut frame = instance.description().frame();
    instance.read(Deadline::NOW, &mut frame).unwrap();
    assert!(frame.groups.iter().all(|group| group.valid));
}

#[test]
fn after_a_panic_the_instance_is_dead_and_the_others_live() {
    let mut healthy = started("");
    for entry in ["read", "write", "arm", "request"] {
        let mut instance = started(&format!("panic = \"{entry}\""));
        let mut frame = instance.description().frame();
        let mut call = |instance: &mut Instance| match entry {
            "read" => instance.read(Deadline::NOW, &mut frame).map(drop),
            "write" => instance.write(0, &[0.0]),
            "arm" => instance.arm(),
            _ => instance.request(Request::Hold),
        };
        let panicked = Error::new(
            ErrorKind::Panic,
            format!("the plugin panicked: told to panic in {entry}"),
        );
        assert_eq!(call(&mut instance), Err(panicked));
        let dead = Error::new(
            ErrorKind::Panic,
            "the plugin panicked before; this instance can no longer be used",
        );
        assert_eq!(call(&mut instance), Err(dead.clone()));
        assert_eq!(instance.stop(), Err(dead));
    }
    let mut frame = healthy.description().frame();
    assert_eq!(
        healthy.read(Deadline::NOW, &mut frame),
        Ok(ReadOutcome::Fresh)
    );
    // In these functions a failing plugin cannot be distinguished from a silent one.
    assert_eq!(started("panic = \"report\"").report(), []);
    drop(started("panic = \"drop\""));
    let panicked = |text| {
        trial()
            .configure(&Configuration::new(text, ""))
            .map(drop)
            .unwrap_err()
    };
    assert_eq!(
        panicked("panic = \"configure\"").message,
        "the plugin panicked: told to panic in configure"
    );
    assert_eq!(
        panicked("panic = \"description\"").message,
        "the plugin panicked: told to panic in description"
    );
}

#[test]
fn paths_are_resolved_by_the_host() {
    let folder = |_: usize, path: &str| Ok(Path::new("/flights").join(path));
    let configuration = Configuration {
        resolve: &folder,
        ..Configuration::new("resolve = \"a/ö.ulg\"", "")
    };
    let mut instance = trial().configure(&configuration).unwrap();
    assert_eq!(instance.report()[1].1, "/flights/a/ö.ulg");

    // Longer than the plugin's first buffer.
    let long = "x/".repeat(4000);
    let deep = |_: usize, _: &str| Ok(PathBuf::from(&long));
    let configuration = Configuration {
        resolve: &deep,
        ..Configuration::new("resolve = \"a\"", "")
    };
    assert_eq!(
        trial().configure(&configuration).unwrap().report()[1].1,
        long
    );

    // The host's own error comes back with its location; a host that panics does not end the plugin.
    let refuse = |offset: usize, path: &str| {
        Err(Error::configuration(format!("no `{path}`"))
            .in_configuration(offset..offset + path.len()))
    };
    let configuration = Configuration {
        resolve: &refuse,
        ..Configuration::new("resolve = \"a.b\"", "")
    };
    let error = trial().configure(&configuration).map(drop).unwrap_err();
    assert_eq!(
        error,
        Error::configuration("no `a.b`").in_configuration(10..13)
    );
    let panic = |_: usize, _: &str| -> Result<PathBuf, Error> { panic!("in the host") };
    let configuration = Configuration {
        resolve: &panic,
        ..Configuration::new("resolve = \"a\"", "")
    };
    assert!(trial().configure(&configuration).is_err());
}

/// The output of a subscriber.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Lines {
    /// A subscriber that writes here.
    fn subscriber(&self, filter: &str) -> impl tracing::Subscriber + Send + Sync + use<> {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(self.clone())
            .without_time()
            .with_ansi(false)
            .finish()
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[test]
fn messages_reach_the_host_under_the_plugins_target() {
    let folder = tempfile::tempdir().unwrap();
    let in_c = Plugin::open(&common::point_mass(folder.path())).unwrap();
    let heard = |filter: &str| {
        let lines = Lines::default();
        tracing::subscriber::with_default(lines.subscriber(filter), || {
            let _ = trial()
                .configure(&Configuration {
                    seed: 9,
                    ..Configuration::new("", "")
                })
                .unwrap();
            let _ = in_c.configure(&Configuration::new("", "")).unwrap();
        });
        lines.text()
    };
    assert_eq!(
        heard("fly_plugin_trial=info"),
        " INFO fly_plugin_trial: configured rate=500.0 seed=9 name=\"äöü\"\n"
    );
    assert_eq!(heard("point_mass=info"), " INFO point_mass: configured\n");
    assert_eq!(heard("warn"), "");
    assert!(
        heard("fly_plugin_trial=trace").contains("TRACE fly_plugin_trial: nobody wants this\n")
    );
}

#[test]
fn each_instance_has_its_own_messages_those_of_its_threads_too() {
    let made = ["one", "two"].map(|name| {
        let lines = Lines::default();
        let text = format!("thread = \"{name}\"");
        let instance = tracing::subscriber::with_default(lines.subscriber("info"), || {
            trial().configure(&Configuration::new(&text, "")).unwrap()
        });
        (name, lines, instance)
    });
    // This thread has no subscriber any more.
    for (name, lines, mut instance) in made {
        instance.start().unwrap();
        let text = lines.text();
        assert!(
            text.ends_with(&format!(" INFO fly_plugin_trial: {name}\n")),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}

#[test]
fn an_object_is_an_instance_as_well() {
    let trial = fly_plugin_trial::Trial::configure(&Configuration::new("panic = \"write\"", ""));
    let mut instance = Instance::of(trial.unwrap()).unwrap();
    assert_eq!(instance.info().name, "trial");
    assert!(!instance.is_armed());
    let mut frame = instance.description().frame();
    let early = instance.read(Deadline::NOW, &mut frame);
    assert_eq!(early, Err(Error::usage("read before start")));
    instance.start().unwrap();
    assert_eq!(
        instance.read(Deadline::NOW, &mut frame),
        Ok(ReadOutcome::Fresh)
    );
    let error = instance.write(frame.time, &[0.5]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Panic);
}

#[test]
fn a_tick_allocates_nothing() {
    let mut instance = started("");
    let mut frame = instance.description().frame();
    let allocations = fly_testing::allocations(|| {
        for _ in 0..1000 {
            instance.read(Deadline::NOW, &mut frame).unwrap();
            instance.write(frame.time, &[0.5]).unwrap();
        }
    });
    assert_eq!(allocations, 0);
    assert!(
        fly_testing::allocations(|| drop(instance.report())) > 0,
        "the plugin's allocations are counted"
    );
}

#[test]
fn an_emergency_reaches_a_plugin_whose_call_does_not_return() {
    let given = "hang = \"read\"";
    let mut instance = trial().configure(&Configuration::new(given, "")).unwrap();
    let line = instance.emergency().expect("a way to the vehicle");
    assert!(!line.request(Request::Land), "not before it is started");
    instance.start().unwrap();
    let mut frame = instance.description().frame();
    std::thread::scope(|scope| {
        let hung = scope.spawn(|| instance.read(Deadline::NOW, &mut frame));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!hung.is_finished());
        assert!(line.request(Request::Land));
        assert_eq!(hung.join().unwrap(), Ok(ReadOutcome::Fresh));
    });
    assert!(!line.request(Request::Hold), "it only lands");
    drop(instance);
    assert!(!line.request(Request::Land), "there is nobody any more");
}

/// The thread that waits for it is not the flight's: control is handed back and the instance dropped all the same.
#[test]
fn an_emergency_that_does_not_return_holds_up_nobody() {
    let given = "hang = \"emergency\"";
    let mut instance = trial().configure(&Configuration::new(given, "")).unwrap();
    let line = instance.emergency().expect("a way to the vehicle");
    instance.start().unwrap();
    let asked = line.clone();
    std::thread::spawn(move || asked.request(Request::Land));
    std::thread::sleep(Duration::from_millis(20));
    assert!(!line.try_request(Request::Land), "it is in use");
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        instance.release_control();
        drop(instance);
        done.send(())
    });
    ended.recv_timeout(Duration::from_mins(1)).expect("it ends");
}

/// A line that was released reaches nobody.
#[test]
fn a_released_vehicle_is_not_asked_for_anything() {
    let mut instance = trial().configure(&Configuration::new("", "")).unwrap();
    let line = instance.emergency().expect("a way to the vehicle");
    instance.start().unwrap();
    assert!(line.request(Request::Land));
    instance.release_control();
    assert!(!line.request(Request::Land));
    assert!(!line.try_request(Request::Land));
}
