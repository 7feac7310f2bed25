//! Links against peers on the loopback: UDP and TCP both ways round, noise, losses, peers that vanish.
#![cfg(feature = "links")]

use crate::common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Framer, UdpPeer, attitude, eventually, heartbeat, position};
use fly_mavlink::dialect::{MavMessage, MavType};
use fly_mavlink::{Address, Identity, Link, LinkSettings, Received, SendError};
use fly_testing::Random;
use mavlink::{MavlinkReader, MavlinkVersion, Message};

type Inbox = Arc<Mutex<Vec<Received>>>;

fn open(address: &str, settings: &LinkSettings) -> (Link, Inbox) {
    let inbox = Inbox::default();
    let into = Arc::clone(&inbox);
    let link = Link::open(
        &address.parse().unwrap(),
        settings,
        move |received: Received, _: &mut fly_mavlink::Sender| {
            into.lock().unwrap().push(received);
        },
    );
    (link.unwrap(), inbox)
}

fn quick() -> LinkSettings {
    LinkSettings {
        heartbeat_period: Some(Duration::from_millis(50)),
        silence: Duration::from_millis(300),
        ..LinkSettings::default()
    }
}

/// The next client; its reads end in time too, so that a fault fails the test and does not hang it.
#[track_caller]
fn accept(server: &TcpListener) -> TcpStream {
    server.set_nonblocking(true).unwrap();
    let mut accepted = None;
    eventually("a client", || {
        accepted = server.accept().ok();
        accepted.is_some()
    });
    let (stream, _) = accepted.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    stream
}

const QUAD: MavType = MavType::MAV_TYPE_QUADROTOR;

fn names(inbox: &Inbox) -> Vec<&'static str> {
    inbox
        .lock()
        .unwrap()
        .iter()
        .map(|received| received.message.message_name())
        .collect()
}

#[test]
fn both_versions_come_in_and_our_heartbeat_goes_back() {
    let settings = LinkSettings {
        identity: Identity {
            system: 42,
            component: 191,
        },
        ..quick()
    };
    let (link, inbox) = open("udpin:127.0.0.1:0", &settings);
    let mut peer = UdpPeer::new(link.local_address().unwrap(), 3);
    peer.framer.version = MavlinkVersion::V1;
    peer.send(&heartbeat(QUAD, false));
    peer.framer.version = MavlinkVersion::V2;
    peer.send(&attitude(1));
    eventually("both messages", || inbox.lock().unwrap().len() == 2);
    assert_eq!(names(&inbox), ["HEARTBEAT", "ATTITUDE_QUATERNION"]);
    assert_eq!(inbox.lock().unwrap()[1].system, 3);

    let mut heard = None;
    eventually("our heartbeat", || {
        heard = peer.receive();
        heard.is_some()
    });
    let (header, message) = heard.unwrap();
    assert_eq!((header.system_id, header.component_id), (42, 191));
    let MavMessage::HEARTBEAT(m) = message else {
        panic!("{message:?}")
    };
    assert_eq!(m.mavtype, MavType::MAV_TYPE_ONBOARD_CONTROLLER);
    assert_eq!(link.statistics().lost, 0);
    assert_eq!(link.statistics().bad_checksums, 0);
}

#[test]
fn lost_damaged_and_foreign_frames_are_counted() {
    let (link, inbox) = open("udpin:127.0.0.1:0", &quick());
    let mut peer = UdpPeer::new(link.local_address().unwrap(), 3);
    peer.send(&attitude(1));
    peer.framer.sequence += 5;
    peer.send(&attitude(2));
    let mut damaged = peer.framer.frame(&attitude(3));
    let last = damaged.len() - 1;
    damaged[last] ^= 0x55;
    peer.send_bytes(&damaged);
    // A message number that is in no dialect (999 999), with a checksum that cannot be verified.
    let mut unknown = peer.framer.frame(&attitude(4));
    unknown[7..10].copy_from_slice(&999_999_u32.to_le_bytes()[..3]);
    peer.send_bytes(&unknown);
    peer.send(&attitude(5));
    eventually("the last message", || inbox.lock().unwrap().len() == 3);
    let statistics = link.statistics();
    assert_eq!(statistics.messages, 3);
    assert_eq!(
        statistics.lost,
        5 + 2,
        "five never sent, two unusable: {statistics}"
    );
    assert!(statistics.bad_checksums >= 1, "{statistics}");
    assert!(statistics.unknown >= 1, "{statistics}");
}

#[test]
fn an_enumeration_value_that_is_not_known_is_no_end() {
    let (link, inbox) = open("udpin:127.0.0.1:0", &quick());
    let mut peer = UdpPeer::new(link.local_address().unwrap(), 3);
    let mut frame = peer.framer.frame(&heartbeat(QUAD, false));
    // The type is the fifth byte of the payload; the checksum is recomputed with HEARTBEAT's seed.
    frame[14] = 250;
    let end = frame.len() - 2;
    let sum = mavlink::calculate_crc(&frame[1..end], 50);
    frame[end..].copy_from_slice(&sum.to_le_bytes());
    peer.send_bytes(&frame);
    peer.send(&heartbeat(QUAD, false));
    eventually("the good heartbeat", || inbox.lock().unwrap().len() == 1);
    assert_eq!(link.statistics().undecodable, 1);
}

#[test]
fn noise_does_no_harm() {
    let (link, inbox) = open("udpin:127.0.0.1:0", &quick());
    let mut peer = UdpPeer::new(link.local_address().unwrap(), 3);
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    for i in 0..400_usize {
        let length = random.index(900);
        let mut noise: Vec<u8> = (0..length).map(|_| random.byte()).collect();
        if let Some(first) = noise.first_mut() {
            // Every other one begins as a frame does.
            *first = [0xfd, 0xfe, *first, 0xfd][i % 4];
        }
        peer.send_bytes(&noise);
        if i % 20 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    peer.send_bytes(&[]);
    // A partial frame in the noise is completed by the following bytes.
    eventually("a message after the noise", || {
        peer.send(&position(1));
        !names(&inbox).is_empty()
    });
    assert!(
        link.statistics().bad_checksums > 50,
        "{}",
        link.statistics()
    );
}

#[test]
fn a_tcp_server_is_found_when_it_comes_and_when_it_comes_back() {
    // A port without a listener.
    let place = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = place.local_addr().unwrap();
    drop(place);
    let (link, inbox) = open(&format!("tcpout:{at}"), &quick());
    eventually("the refusal", || link.last_error().is_some());

    for round in 1..=2_u64 {
        let server = TcpListener::bind(at).unwrap();
        let mut stream = accept(&server);
        // In two pieces: a stream knows no frames.
        let frame = Framer::new(1).frame(&heartbeat(QUAD, false));
        stream.write_all(&frame[..7]).unwrap();
        std::thread::sleep(Duration::from_millis(120));
        stream.write_all(&frame[7..]).unwrap();
        eventually("the heartbeat", || {
            inbox.lock().unwrap().len() as u64 == round
        });
        let (_, ours) = MavlinkReader::new(&stream)
            .read_any_message::<MavMessage>()
            .unwrap();
        assert!(matches!(ours, MavMessage::HEARTBEAT(_)));
        assert_eq!(link.statistics().reconnects, round - 1);
        assert_eq!(link.last_error(), None);
    }
}

#[test]
fn a_silent_tcp_peer_is_given_up() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (link, _inbox) = open(
        &format!("tcpout:{}", server.local_addr().unwrap()),
        &quick(),
    );
    let first = accept(&server);
    // It stays open and says nothing, as a peer does whose cable was pulled.
    let _second = accept(&server);
    eventually("the count", || link.statistics().reconnects == 1);
    drop(first);
}

#[test]
fn tcp_clients_are_served_one_after_the_other() {
    let (link, inbox) = open("tcpin:127.0.0.1:0", &quick());
    for round in 1..=3 {
        let mut client = TcpStream::connect(link.local_address().unwrap()).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        client
            .write_all(&Framer::new(1).frame(&heartbeat(QUAD, false)))
            .unwrap();
        eventually("the heartbeat", || inbox.lock().unwrap().len() == round);
        let mut first = [0];
        client.read_exact(&mut first).unwrap();
        assert_eq!(first[0], 0xfd, "our heartbeat, version 2");
    }
    eventually("the count", || link.statistics().reconnects == 2);
}

#[test]
fn udpout_speaks_first() {
    let vehicle = UdpPeer::new("127.0.0.1:9".parse::<SocketAddr>().unwrap(), 1);
    let at = vehicle.socket.local_addr().unwrap();
    let (_link, inbox) = open(&format!("udpout:{at}"), &quick());
    let mut buffer = [0; 300];
    vehicle
        .socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let (_, from) = vehicle.socket.recv_from(&mut buffer).unwrap();
    let frame = Framer::new(1).frame(&heartbeat(QUAD, false));
    vehicle.socket.send_to(&frame, from).unwrap();
    eventually("the answer", || inbox.lock().unwrap().len() == 1);
}

#[test]
fn a_queue_that_is_full_says_so_and_links_close_quickly() {
    let settings = LinkSettings {
        heartbeat_period: None,
        ..quick()
    };
    let (mut link, _inbox) = open("udpin:127.0.0.1:0", &settings);
    let mut refused = 0;
    for _ in 0..100_000 {
        match link.send(heartbeat(QUAD, false)) {
            Ok(()) => {}
            Err(SendError::Full) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    eventually("everything to be dropped", || {
        link.statistics().unsent == 100_000
    });
    assert_eq!(link.statistics().sent, 0, "there is no peer");
    println!("{refused} of 100000 refused at once");
    let start = Instant::now();
    drop(link);
    assert!(
        start.elapsed() < Duration::from_millis(500),
        "took {:?}",
        start.elapsed()
    );
}

#[test]
fn what_cannot_be_opened_is_said_at_once() {
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let check = |address: String, expected: &[&str]| {
        let address: Address = address.parse().unwrap();
        let error = Link::open(
            &address,
            &quick(),
            |_: Received, _: &mut fly_mavlink::Sender| {},
        )
        .err()
        .unwrap()
        .to_string();
        for part in expected {
            assert!(error.contains(part), "`{part}` is missing in: {error}");
        }
    };
    check(
        format!("udpin:{}", taken.local_addr().unwrap()),
        &["udpin:127.0.0.1:", "in use"],
    );
    check(
        "serial:/dev/no-such-port:57600".to_owned(),
        &["/dev/no-such-port", "there are", "No such file"],
    );
    check(
        "udpout:no-such-host.invalid:14550".to_owned(),
        &["no-such-host.invalid"],
    );
}
