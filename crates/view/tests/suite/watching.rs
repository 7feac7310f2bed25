//! A flight of the simulator, paced as its test needs it.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fly_flight::config::{Configuration, Options};
use fly_flight::{Discard, End, Flight, backend};
use fly_log::schema::foxglove;
use fly_plugin_sim::Simulation;
use fly_view::{Hub, View, ViewSink};
use prost::Message as _;
use serde_json::{Value, json};
use tungstenite::Message;

use crate::clients::{Address, json, since, update};

fn configuration(name: &str) -> Configuration {
    let options = Options {
        config: name.into(),
        set: vec!["flight.duration=1000.0".to_owned()],
        ..Options::default()
    };
    Configuration::load(&options).unwrap_or_else(|error| panic!("{error}"))
}

/// Ends the flight if a test fails, too.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Flies at 500 Hz while `watch` runs, and returns what it returns, with how many ticks there were and how long the longest took, s.
fn flying<T: Send>(name: &str, watch: impl FnOnce(Address) -> T + Send) -> (T, u64, f64) {
    let configuration = configuration(name);
    let hub = Arc::new(Hub::default());
    let view = View::open(0, &hub).unwrap();
    let address = Address::of(&view);
    let (done, ticks) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let flight = scope.spawn(|| {
            let mut sink = ViewSink::new(Discard, Some(hub));
            let world = backend::configure::<Simulation>(&configuration, false).unwrap();
            let mut flight = Flight::new(&configuration, world, &mut sink).unwrap();
            let (began, mut longest) = (Instant::now(), 0.0_f64);
            while !done.load(Ordering::Acquire) {
                let before = Instant::now();
                assert_eq!(flight.tick(), None);
                longest = longest.max(since(before));
                let count = ticks.fetch_add(1, Ordering::AcqRel) + 1;
                let due = began + Duration::from_millis(2) * u32::try_from(count).unwrap();
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            flight.finish(End::Interrupted);
            longest
        });
        let ends = Ends(&done);
        let seen = watch(address);
        drop(ends);
        let longest = flight.join().unwrap();
        (seen, ticks.load(Ordering::Acquire), longest)
    })
}

/// The contents of a page.
fn contents(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"id="contents">"#).unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// Waits for a page with something on it.
fn begun(address: &Address) -> Value {
    let began = Instant::now();
    loop {
        let page = address.page();
        if page.contains(r#"id="contents">"#) {
            return contents(&page);
        }
        assert!(since(began) < 10.0, "the flight does not begin");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_page_has_the_flight_so_far_and_is_told_what_follows() {
    flying("tricopter-load.toml", |address| {
        thread::sleep(Duration::from_millis(300));
        let shown = begun(&address);
        let flight = &shown["flights"][0];
        assert_eq!(flight["verdict"]["text"], "flying");
        // What the simulation moves.
        let bodies = flight["scene"]["bodies"].as_array().unwrap();
        assert_eq!(bodies[1]["name"], "load");
        let mut socket = address.socket("/live", None);
        let cursor = shown["live"].to_string();
        socket.send(Message::text(cursor)).unwrap();
        let mut end = flight["span"][1].as_f64().unwrap();
        let mut cells = shown["live"]["grids"][0][1].as_u64().unwrap();
        for _ in 0..5 {
            let update = update(&mut socket);
            assert_eq!(update["reload"], false);
            let now = update["span"][1].as_f64().unwrap();
            assert!(now > end, "{now} after {end}");
            // The last cell once more, then what is new: nothing is left out.
            let from = update["from"][0].as_u64().unwrap();
            assert_eq!(from, cells - 1);
            let z = update["columns"]["position.z"][0].as_array().unwrap();
            cells = from + z.len() as u64;
            assert!((now / 0.002 - cells as f64).abs() < 2.5);
            assert!(z.iter().all(|z| (0.0..4.0).contains(&z.as_f64().unwrap())));
            assert!(update["track"]["pose.13"].is_array(), "the load's attitude");
            end = now;
        }
    });
}

#[test]
fn a_page_that_lacks_a_column_is_told_to_come_again() {
    flying("quadcopter.toml", |address| {
        let mut shown = begun(&address);
        shown["live"]["columns"] = json!(3);
        let mut socket = address.socket("/live", None);
        socket
            .send(Message::text(shown["live"].to_string()))
            .unwrap();
        assert_eq!(json(&mut socket)["reload"], true);
    });
}

#[test]
fn the_end_of_a_flight_is_told() {
    let (mut socket, ..) = flying("quadcopter.toml", |address| {
        let shown = begun(&address);
        let mut socket = address.socket("/live", None);
        socket
            .send(Message::text(shown["live"].to_string()))
            .unwrap();
        socket
    });
    let over = loop {
        let update = update(&mut socket);
        if !update["over"].is_null() {
            break update;
        }
    };
    assert!(
        over["over"]["text"]
            .as_str()
            .unwrap()
            .starts_with("interrupted"),
        "{over}"
    );
}

/// Ten watch, two of them take nothing of what they are sent: the flight goes on at its pace, and so do the eight.
#[test]
fn who_is_slow_loses_frames_and_never_the_flight() {
    let ((updates, messages), ticks, longest) = flying("quadcopter.toml", |address| {
        let shown = begun(&address);
        let mut stalled_page = address.socket("/live", None);
        stalled_page
            .send(Message::text(shown["live"].to_string()))
            .unwrap();
        let mut stalled = address.socket("/", Some("foxglove.sdk.v1"));
        let all: Vec<Value> = (0..12)
            .map(|i| json!({ "id": i, "channelId": i }))
            .collect();
        let subscribe = json!({ "op": "subscribe", "subscriptions": all }).to_string();
        stalled.send(Message::text(subscribe.clone())).unwrap();
        let began = Instant::now();
        thread::scope(|scope| {
            let pages: Vec<_> = (0..4)
                .map(|_| {
                    let (address, shown) = (&address, &shown);
                    scope.spawn(move || {
                        let mut socket = address.socket("/live", None);
                        socket
                            .send(Message::text(shown["live"].to_string()))
                            .unwrap();
                        let mut count = 0;
                        while since(began) < 3.0 {
                            update(&mut socket);
                            count += 1;
                        }
                        count
                    })
                })
                .collect();
            let apps: Vec<_> = (0..4)
                .map(|_| {
                    let (address, subscribe) = (&address, &subscribe);
                    scope.spawn(move || {
                        let mut socket = address.socket("/", Some("foxglove.sdk.v1"));
                        socket.send(Message::text(subscribe.clone())).unwrap();
                        let mut count = 0;
                        while since(began) < 3.0 {
                            count += u64::from(socket.read().unwrap().is_binary());
                        }
                        count
                    })
                })
                .collect();
            let updates: Vec<u64> = pages.into_iter().map(|page| page.join().unwrap()).collect();
            let messages: Vec<u64> = apps.into_iter().map(|app| app.join().unwrap()).collect();
            (updates, messages)
        })
    });
    // The only time checked is that no step waits for seconds, as the server does for stalled viewers.
    assert!(ticks > 500 && longest < 2.0, "{ticks} ticks, {longest} s");
    assert!(updates.iter().all(|count| *count > 5), "{updates:?}");
    assert!(messages.iter().all(|count| *count > 2000), "{messages:?}");
}

#[test]
fn foxglove_gets_the_topics_of_the_log() {
    flying("tricopter-load.toml", |address| {
        begun(&address);
        let mut socket = address.socket("/", Some("foxglove.websocket.v1"));
        let information = json(&mut socket);
        assert_eq!(information["op"], "serverInfo");
        let advertised = json(&mut socket);
        assert_eq!(advertised["op"], "advertise");
        let channels = advertised["channels"].as_array().unwrap();
        let id = |topic: &str| {
            let channel = channels.iter().find(|channel| channel["topic"] == topic);
            channel.unwrap_or_else(|| panic!("{topic}"))["id"]
                .as_u64()
                .unwrap()
        };
        let wanted = ["/truth/scene", "/truth/tf"];
        // Messages that are not JSON, not part of the protocol, or for an unknown channel are ignored.
        for nonsense in [
            "{",
            "{\"op\":\"fly\"}",
            "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":4096}]}",
        ] {
            socket.send(Message::text(nonsense)).unwrap();
        }
        let subscriptions: Vec<Value> = (wanted.iter().enumerate())
            .map(|(i, topic)| json!({ "id": 70 + i, "channelId": id(topic) }))
            .collect();
        let subscribe = json!({ "op": "subscribe", "subscriptions": subscriptions });
        socket.send(Message::text(subscribe.to_string())).unwrap();
        let mut seen: BTreeMap<u32, Vec<(u64, Vec<u8>)>> = BTreeMap::new();
        while seen.get(&71).is_none_or(|all| all.len() < 10) {
            let Message::Binary(bytes) = socket.read().unwrap() else {
                continue;
            };
            assert_eq!(bytes[0], 1);
            let subscription = u32::from_le_bytes(bytes[1..5].try_into().unwrap());
            let time = u64::from_le_bytes(bytes[5..13].try_into().unwrap());
            let messages = seen.entry(subscription).or_default();
            messages.push((time, bytes[13..].to_vec()));
        }
        assert!(seen.keys().eq(&[70, 71]), "{:?}", seen.keys());
        // The shapes came before, once; they come again.
        let scene = foxglove::SceneUpdate::decode(&seen[&70][0].1[..]).unwrap();
        let frames: Vec<_> = scene
            .entities
            .iter()
            .map(|one| one.frame_id.as_str())
            .collect();
        assert_eq!(frames, ["truth/airframe", "truth/load"]);
        let mut before = 0;
        for (time, data) in &seen[&71] {
            assert!(*time > before);
            before = *time;
            let transforms = foxglove::FrameTransforms::decode(&data[..])
                .unwrap()
                .transforms;
            assert_eq!(transforms[1].child_frame_id, "truth/load");
        }
        let leave = json!({ "op": "unsubscribe", "subscriptionIds": [70, 71] });
        socket.send(Message::text(leave.to_string())).unwrap();
        // What was under way may still come, then nothing.
        let pause = Some(Duration::from_millis(300));
        socket.get_ref().set_read_timeout(pause).unwrap();
        let began = Instant::now();
        while socket.read().is_ok() {
            assert!(since(began) < 5.0, "it goes on");
        }
    });
}

#[test]
fn nobody_without_the_token_sees_anything() {
    let view = View::open(0, &Arc::default()).unwrap();
    let address = Address::of(&view);
    let target = format!("/?token={}", address.token);
    assert!(address.page().contains("not begun"));
    for (target, headers) in [
        ("/", ""),
        ("/?token=00000000000000000000000000000000", ""),
        (&target, "Host: evil.example\r\n"),
        (&target, "Origin: http://evil.example\r\n"),
        (
            "/live",
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        ),
    ] {
        let (status, body) = address.get(target, headers);
        assert_eq!(status, "HTTP/1.1 403 Forbidden", "{target} {headers}");
        assert!(!body.contains(&address.token));
    }
    // Another flight has another token.
    let other = Address::of(&View::open(0, &Arc::default()).unwrap());
    assert_ne!(other.token, address.token);
    // A request that is not HTTP is not answered and affects no other viewer.
    let mut stream = address.connect();
    stream.write_all(b"hello\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty());
    assert!(address.page().contains("not begun"));
}

/// Nothing but 127.0.0.1 listens: the other addresses of this machine's loop refuse, and the port is not that of all addresses.
#[test]
fn only_this_machine_is_listened_to() {
    let view = View::open(0, &Arc::default()).unwrap();
    let Address { port, .. } = Address::of(&view);
    assert!(TcpStream::connect((Ipv4Addr::new(127, 0, 0, 2), port)).is_err());
    // Of all sockets that listen at this port, as the kernel lists them.
    let mut listening = Vec::new();
    for (table, local) in [("/proc/net/tcp", "0100007F"), ("/proc/net/tcp6", "")] {
        let Ok(text) = std::fs::read_to_string(table) else {
            continue;
        };
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (address, at) = fields[1].split_once(':').unwrap();
            if fields[3] == "0A" && u16::from_str_radix(at, 16) == Ok(port) {
                assert_eq!(address, local, "{table}");
                listening.push(table);
            }
        }
    }
    assert_eq!(listening, ["/proc/net/tcp"]);
    drop(view);
    // Soon all have disconnected.
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
        assert!(since(began) < 5.0);
        thread::sleep(Duration::from_millis(10));
    }
}
