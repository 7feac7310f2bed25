"""Watches a flight by Foxglove's WebSocket protocol as its app does: `python foxglove.py FLY ARGUMENT...`, with PyPI's websockets, protobuf and foxglove-schemas-protobuf."""

import base64
import json
import re
import signal
import struct
import subprocess
import sys

from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

flight = subprocess.Popen([*sys.argv[1:], "--view"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
try:
    url = None
    while not url:
        line = flight.stderr.readline()
        assert line, "fly ended"
        match = re.search(r"in Foxglove, Open connection: (\S+)", line)
        url = match and match[1]
    protocols = ["foxglove.sdk.v1", "foxglove.websocket.v1"]
    for wrong in (url[:-1], url.split("?")[0]):
        try:
            connect(wrong, subprotocols=protocols)
            raise SystemExit(f"{wrong} is not refused")
        except InvalidStatus as refused:
            assert refused.response.status_code == 403
    with connect(url, subprotocols=protocols, origin="https://app.foxglove.dev", max_size=None) as socket:
        assert socket.subprotocol == protocols[0]
        assert json.loads(socket.recv(timeout=10))["op"] == "serverInfo"
        advertised = json.loads(socket.recv(timeout=10))
        assert advertised["op"] == "advertise"
        channels = {channel["topic"]: channel for channel in advertised["channels"]}
        classes = {}
        for topic, channel in channels.items():
            assert channel["encoding"] == channel["schemaEncoding"] == "protobuf"
            pool = descriptor_pool.DescriptorPool()
            for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(channel["schema"])).file:
                pool.Add(file)
            classes[topic] = message_factory.GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"]))
        topics = list(channels)
        subscriptions = [{"id": 100 + i, "channelId": channels[topic]["id"]} for i, topic in enumerate(topics)]
        socket.send(json.dumps({"op": "subscribe", "subscriptions": subscriptions}))
        counts, frames, drawn = {}, set(), set()
        while counts.get("/fly/control", 0) < 500:
            data = socket.recv(timeout=10)
            op, subscription, time = struct.unpack_from("<BIQ", data)
            assert op == 1 and time >= 0
            topic = topics[subscription - 100]
            message = classes[topic].FromString(data[13:])
            counts[topic] = counts.get(topic, 0) + 1
            if channels[topic]["schemaName"] == "foxglove.FrameTransforms":
                frames |= {one.child_frame_id for one in FrameTransforms.FromString(data[13:]).transforms}
            if channels[topic]["schemaName"] == "foxglove.SceneUpdate":
                drawn |= {one.frame_id for one in SceneUpdate.FromString(data[13:]).entities}
            assert message.ByteSize() == len(data) - 13
        assert drawn <= frames | {"world"}, drawn - frames
        print(f"Foxglove's protocol: {len(counts)} topics, frames {sorted(frames)}, {sum(counts.values())} messages")
finally:
    flight.send_signal(signal.SIGINT)
    flight.wait(timeout=20)
