//! Foxglove's WebSocket protocol: the topics of the flight for the Foxglove app.

use std::io;
use std::net::TcpStream;
use std::sync::PoisonError;
use std::time::Duration;

use fly_log::Channel;
use fly_log::schema::descriptor_of;
use fly_report::base64;
use serde::Deserialize;
use serde_json::json;
use tungstenite::{Message, WebSocket};

use crate::hub::{Hub, Packet};
use crate::socket::{read, send};

/// Opcode of a binary message with data.
const MESSAGE_DATA: u8 = 1;
/// Polling period while nothing happens.
const IDLE: Duration = Duration::from_millis(5);
/// Number of messages sent before the viewer's messages are read again.
const BURST: usize = 256;

/// A message from a viewer; others are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
enum Said {
    Subscribe {
        subscriptions: Vec<Subscription>,
    },
    #[serde(rename_all = "camelCase")]
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subscription {
    id: u32,
    channel_id: usize,
}

/// Serves one viewer until it is gone.
pub fn serve(
    mut socket: WebSocket<TcpStream>,
    hub: &Hub,
    is_closed: &dyn Fn() -> bool,
) -> io::Result<()> {
    let information = json!({
        "op": "serverInfo",
        "name": concat!("fly ", env!("CARGO_PKG_VERSION")),
        "capabilities": [],
        "supportedEncodings": [],
        "metadata": {},
    });
    send(&mut socket, Message::text(information.to_string()))?;
    let (subscriptions, packets) = hub.view();
    let wanted = || subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
    let mut is_advertised = false;
    loop {
        let channels = hub.channels();
        if !is_advertised && !channels.is_empty() {
            send(&mut socket, Message::text(advertised(&channels)))?;
            is_advertised = true;
        }
        for packet in packets.try_iter().take(BURST) {
            let id = wanted().get(&packet.channel).copied();
            if let Some(id) = id {
                send(&mut socket, data(id, &packet))?;
            }
        }
        match read(&mut socket, IDLE)? {
            Some(Message::Text(text)) => match serde_json::from_str(&text) {
                Ok(Said::Subscribe { subscriptions }) => {
                    for Subscription { id, channel_id } in subscriptions {
                        if channel_id >= channels.len() {
                            continue;
                        }
                        wanted().insert(channel_id, id);
                        if let Some(packet) = hub.lasting(channel_id) {
                            send(&mut socket, data(id, &packet))?;
                        }
                    }
                }
                Ok(Said::Unsubscribe { subscription_ids }) => {
                    wanted().retain(|_, id| !subscription_ids.contains(id));
                }
                Ok(Said::Other) | Err(_) => {}
            },
            None if is_closed() => {
                let _ = socket.close(None);
                let _ = socket.flush();
                return Ok(());
            }
            Some(_) | None => {}
        }
    }
}

/// All channels, with the schemas of their messages.
fn advertised(channels: &[Channel]) -> String {
    let channels = channels.iter().enumerate().map(|(id, channel)| {
        json!({
            "id": id,
            "topic": channel.topic,
            "encoding": "protobuf",
            "schemaName": channel.schema,
            "schema": base64(&descriptor_of(channel.schema)),
            "schemaEncoding": "protobuf",
        })
    });
    json!({ "op": "advertise", "channels": channels.collect::<Vec<_>>() }).to_string()
}

/// A message with the viewer's id for its channel.
fn data(id: u32, packet: &Packet) -> Message {
    let mut bytes = Vec::with_capacity(13 + packet.data.len());
    bytes.push(MESSAGE_DATA);
    bytes.extend(id.to_le_bytes());
    bytes.extend(packet.time.to_le_bytes());
    bytes.extend(&packet.data);
    Message::binary(bytes)
}
