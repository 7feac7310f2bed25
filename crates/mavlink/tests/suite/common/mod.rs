//! Peers for the tests: vehicles of which only the messages exist.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod python;

use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use fly_mavlink::dialect::{
    ATTITUDE_QUATERNION_DATA, HEARTBEAT_DATA, LOCAL_POSITION_NED_DATA, MavAutopilot, MavMessage,
    MavModeFlag, MavState, MavType,
};
use fly_mavlink::monotonic;
use mavlink::{MavHeader, MavlinkReader, MavlinkVersion, write_versioned_msg};

/// ns of `CLOCK_MONOTONIC`, that many s from now.
pub fn within(seconds: f64) -> i64 {
    monotonic() + i64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap()
}

/// Waits until the condition holds; fails loudly when it does not within ten seconds.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "waited in vain for: {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Makes the frames of one sender.
pub struct Framer {
    pub system: u8,
    pub component: u8,
    pub version: MavlinkVersion,
    pub sequence: u8,
}

impl Framer {
    pub fn new(system: u8) -> Self {
        Self {
            system,
            component: 1,
            version: MavlinkVersion::V2,
            sequence: 0,
        }
    }

    pub fn frame(&mut self, message: &MavMessage) -> Vec<u8> {
        let header = MavHeader {
            system_id: self.system.into(),
            component_id: self.component,
            sequence: self.sequence,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut frame = Vec::new();
        write_versioned_msg(&mut frame, self.version, header, message).unwrap();
        frame
    }
}

/// A sender over UDP, which also hears what is sent back.
pub struct UdpPeer {
    pub framer: Framer,
    pub socket: UdpSocket,
    pub to: SocketAddr,
}

impl UdpPeer {
    pub fn new(to: SocketAddr, system: u8) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        Self {
            framer: Framer::new(system),
            socket,
            to,
        }
    }

    pub fn send(&mut self, message: &MavMessage) {
        let frame = self.framer.frame(message);
        self.send_bytes(&frame);
    }

    pub fn send_bytes(&self, bytes: &[u8]) {
        self.socket.send_to(bytes, self.to).unwrap();
    }

    /// The next message that was sent to this peer, with its sender's numbers.
    pub fn receive(&self) -> Option<(MavHeader, MavMessage)> {
        let mut buffer = [0; 2048];
        let length = self.socket.recv(&mut buffer).ok()?;
        MavlinkReader::new(&buffer[..length])
            .read_any_message()
            .ok()
    }
}

pub fn heartbeat(kind: MavType, armed: bool) -> MavMessage {
    let flag = MavModeFlag::MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
    MavMessage::HEARTBEAT(HEARTBEAT_DATA {
        custom_mode: 4,
        mavtype: kind,
        autopilot: MavAutopilot::MAV_AUTOPILOT_ARDUPILOTMEGA,
        base_mode: if armed {
            flag | MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED
        } else {
            flag
        },
        system_status: MavState::MAV_STATE_STANDBY,
        mavlink_version: 3,
    })
}

/// Heading east and level, turning right at 0.3 rad/s.
pub fn attitude(time_boot_ms: u32) -> MavMessage {
    MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
        time_boot_ms,
        q1: std::f32::consts::FRAC_1_SQRT_2,
        q4: std::f32::consts::FRAC_1_SQRT_2,
        yawspeed: 0.3,
        ..ATTITUDE_QUATERNION_DATA::default()
    })
}

/// 2 m north, 3 m east, 10 m up, flying east at 5 m/s and climbing at 1 m/s.
pub fn position(time_boot_ms: u32) -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        time_boot_ms,
        x: 2.0,
        y: 3.0,
        z: -10.0,
        vx: 0.0,
        vy: 5.0,
        vz: -1.0,
    })
}

/// A vehicle that sends heartbeat, attitude and position until it is dropped.
pub struct Flying {
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Flying {
    /// `send` takes frames to where they are to go; the vehicle's clock begins at `boot_ms`.
    pub fn start(
        kind: MavType,
        system: u8,
        boot_ms: u32,
        mut send: impl Write + Send + 'static,
    ) -> Self {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut framer = Framer::new(system);
            for tick in 0.. {
                if stopped.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                let now = boot_ms + 10 * tick;
                let mut out = Vec::new();
                if tick % 5 == 0 {
                    out.push(framer.frame(&heartbeat(kind, false)));
                }
                out.push(framer.frame(&attitude(now)));
                out.push(framer.frame(&position(now)));
                for frame in out {
                    // The other end may be gone; that is what is tested.
                    let _ = send.write_all(&frame);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }

    pub fn udp(kind: MavType, system: u8, boot_ms: u32, to: SocketAddr) -> Self {
        Self::start(
            kind,
            system,
            boot_ms,
            Datagrams(UdpSocket::bind("127.0.0.1:0").unwrap(), to),
        )
    }
}

impl Drop for Flying {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Each write is a datagram.
pub struct Datagrams(pub UdpSocket, pub SocketAddr);

impl Write for Datagrams {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send_to(bytes, self.1)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
