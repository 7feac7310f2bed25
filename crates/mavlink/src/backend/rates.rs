//! Whether a vehicle sends its state as often as it is asked to.

use mavlink::MessageData;

use super::autopilot::Autopilot;
use super::preflight::Health;
use crate::dialect::{ATTITUDE_QUATERNION_DATA, LOCAL_POSITION_NED_DATA};
use crate::{Rate, Vehicle, monotonic};

/// Messages are counted over two seconds: after this, ns, the newest count has begun when parameters had been read and all messages had been asked for.
const WAIT: i64 = 4_200_000_000;

/// How long a wait lasts before the rates are looked at again, ns.
const STEP: i64 = 20_000_000;

/// The messages of the state, and what they tell.
const STATE: [(u32, &str); 2] = [
    (ATTITUDE_QUATERNION_DATA::ID, "attitude"),
    (LOCAL_POSITION_NED_DATA::ID, "position"),
];

/// A warning about a vehicle that sends its state much less often than it was asked to; waits until that is certain.
pub(super) fn shortfall(
    vehicle: &mut Vehicle,
    autopilot: Autopilot,
    health: &mut Health,
) -> Option<String> {
    let until = monotonic().saturating_add(WAIT);
    loop {
        let (now, rates) = (monotonic(), vehicle.rates());
        let mut slow = of_state(&rates).filter(|(rate, _)| rate.is_slow() && rate.hz > 0.0);
        if !rates.is_empty() && slow.next().is_none() {
            return None;
        }
        if now >= until {
            return told(&rates, autopilot);
        }
        let _ = vehicle.wait(now.saturating_add(STEP), |_| false);
        vehicle.poll(now);
        while let Some(received) = vehicle.next_status() {
            health.take(&received);
        }
    }
}

/// The rates of the state, with what they are of.
fn of_state(rates: &[Rate]) -> impl Iterator<Item = (&Rate, &'static str)> {
    STATE
        .into_iter()
        .filter_map(|(id, name)| Some((rates.iter().find(|rate| rate.id == id)?, name)))
}

/// Names what comes, but too seldom. What does not come at all is missing, which is told elsewhere.
fn told(rates: &[Rate], autopilot: Autopilot) -> Option<String> {
    let slow: Vec<_> = of_state(rates)
        .filter(|(rate, _)| rate.is_slow() && rate.hz > 0.0)
        .map(|(rate, name)| {
            format!(
                "its {name} at {:.0} Hz instead of {:.0} Hz",
                rate.hz, rate.wanted
            )
        })
        .collect();
    let cause = match autopilot {
        Autopilot::Px4 => {
            "raise `MAV_x_RATE` of its port, bytes a second (0: half of what the line carries)"
        }
        Autopilot::ArduPilot => {
            "lower `SRx_*` of its port (`MAVx_*` in new firmware), what it sends besides"
        }
    };
    (!slow.is_empty()).then(|| {
        format!(
            "the vehicle sends {}: {cause}, raise the baud rate on both sides, or lower `attitude_rate_hz` and `position_rate_hz`",
            slow.join(" and ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(attitude: f64, position: f64) -> Vec<Rate> {
        let rate = |id, name, hz, wanted| Rate {
            id,
            name,
            hz,
            wanted,
        };
        vec![
            rate(0, "HEARTBEAT", 1.0, 5.0),
            rate(31, "ATTITUDE_QUATERNION", attitude, 50.0),
            rate(32, "LOCAL_POSITION_NED", position, 30.0),
        ]
    }

    #[test]
    fn a_state_that_comes_too_seldom_is_told_with_numbers() {
        let told = |attitude, position, autopilot| told(&rates(attitude, position), autopilot);
        assert_eq!(told(31.0, 19.0, Autopilot::Px4), None);
        // Nothing was asked for, or nothing comes.
        assert_eq!(told(0.0, 19.0, Autopilot::Px4), None);
        let px4 = told(12.4, 7.5, Autopilot::Px4).unwrap();
        let expected = "its attitude at 12 Hz instead of 50 Hz and its position at 8 Hz instead of 30 Hz: raise `MAV_x_RATE`";
        assert!(px4.contains(expected), "{px4}");
        let ardupilot = told(29.0, 30.0, Autopilot::ArduPilot).unwrap();
        assert!(ardupilot.contains("`SRx_*`") && !ardupilot.contains("its position"));
    }

    mod real_time {
        use std::net::UdpSocket;
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::time::Duration;

        use mavlink::{MavHeader, MavlinkVersion, write_versioned_msg};

        use super::*;
        use crate::VehicleSettings;
        use crate::dialect::{HEARTBEAT_DATA, MavMessage};

        /// Sends all messages every `period` until it is told to stop.
        fn send(to: std::net::SocketAddr, period: Duration, stop: &AtomicBool) {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let mut sequence = 0_u8;
            while !stop.load(Ordering::Relaxed) {
                for message in [
                    MavMessage::HEARTBEAT(HEARTBEAT_DATA::default()),
                    MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA::default()),
                    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA::default()),
                ] {
                    let header = MavHeader {
                        system_id: 1,
                        component_id: 1,
                        sequence,
                    };
                    sequence = sequence.wrapping_add(1);
                    let mut frame = Vec::new();
                    write_versioned_msg(&mut frame, MavlinkVersion::V2, header, &message).unwrap();
                    socket.send_to(&frame, to).unwrap();
                }
                std::thread::sleep(period);
            }
        }

        /// As a radio of 57600 baud with PX4's `MAV_0_RATE` of 1200 bytes a second.
        #[test]
        fn a_slow_radio_is_told_and_a_fast_one_is_not_waited_for() {
            for (period, is_slow) in [(100, true), (10, false)] {
                let address = "udpin:127.0.0.1:0".parse().unwrap();
                let mut vehicle = Vehicle::open(&address, &VehicleSettings::default()).unwrap();
                let (to, stop) = (vehicle.local_address().unwrap(), AtomicBool::new(false));
                let begun = monotonic();
                let found = std::thread::scope(|scope| {
                    scope.spawn(|| send(to, Duration::from_millis(period), &stop));
                    let mut health = Health::default();
                    let found = shortfall(&mut vehicle, Autopilot::Px4, &mut health);
                    stop.store(true, Ordering::Relaxed);
                    found
                });
                assert_eq!(found.is_some(), is_slow, "{found:?}");
                assert!(is_slow || monotonic() < begun + WAIT);
                let part = "its position at 10 Hz instead of 30 Hz";
                assert!(found.is_none_or(|told| told.contains(part)));
            }
        }
    }
}
