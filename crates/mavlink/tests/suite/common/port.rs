//! Ports for programs that tests start.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU32, Ordering};

/// A UDP port that is unused, and below those that the system gives to whoever asks for any: nobody is given it meanwhile.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        // Processes that run at the same time begin at different places.
        let place = std::process::id().wrapping_mul(97).wrapping_add(next) % 12_000;
        let port = 20_000 + u16::try_from(place).expect("less than 12 000");
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
