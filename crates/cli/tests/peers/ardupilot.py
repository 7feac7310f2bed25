"""Plays ArduPilot's SITL at its JSON interface, as strict as the parser of SIM_JSON; it knows nothing of the code that it tests.

usage: ardupilot.py PORT

Sends frames of pulse widths, reads the answers by the rules of SIM_JSON (a line between two ends of line, keys found by name, numbers behind
the colon at once), hovers, asks again for a frame, loses one, begins anew at 0, sends garbage and strangers' frames. Prints what it measured.
"""

import json
import math
import re
import socket
import struct
import sys

RATE = 400
FULL = 7.0
WEIGHT = 0.9 * 9.81
EXPO = 0.65
# Of a Vector3f: sscanf("[%f, %f, %f]"), where blanks match any blanks.
NUMBER = r"\s*([-+]?\d+\.?\d*(?:[eE][-+]?\d+)?)"


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def near(found, expected, tolerance, what):
    expect(abs(found - expected) <= tolerance, f"{what} is {found}, expected {expected} within {tolerance}")


def field(line, section, key, count):
    at = line.find(section)
    expect(at >= 0, f"no section {section}")
    at = line.find(key, at + len(section) + 1)
    expect(at >= 0, f"no key {section}/{key}")
    # The parser skips the quote and the colon, whatever they are.
    rest = line[at + len(key) + 2 :]
    if count == 0:
        found = re.match(NUMBER, rest)
        expect(found, f"{key} is no number: {rest[:40]}")
        return float(found[1])
    found = re.match(r"\[" + ",".join([NUMBER] * count) + r"\]", rest)
    expect(found, f"{key} is no vector: {rest[:60]}")
    return [float(number) for number in found.groups()]


class Sitl:
    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(5)
        self.to = ("127.0.0.1", port)
        self.count = 0
        self.time = -1.0

    def frame(self, pulses, count, magic=18458, rate=RATE):
        outputs = 16 if magic == 18458 else 32
        pulses = [round(p) for p in pulses] + [0] * (outputs - len(pulses))
        return struct.pack(f"<HHI{outputs}H", magic, rate, count, *pulses)

    def send(self, data):
        self.socket.sendto(data, self.to)

    def answer(self):
        data = self.socket.recv(65000)
        expect(data.startswith(b"\n") and data.endswith(b"\n") and data.count(b"\n") == 2, f"ends of line: {data!r}")
        line = data[1:-1].decode()
        json.loads(line)
        return line, {
            "timestamp": field(line, "", "timestamp", 0),
            "gyro": field(line, "imu", "gyro", 3),
            "accel_body": field(line, "imu", "accel_body", 3),
            "position": field(line, "", "position", 3),
            "attitude": field(line, "", "attitude", 3),
            "quaternion": field(line, "", "quaternion", 4),
            "velocity": field(line, "", "velocity", 3),
        }

    def step(self, pulses, magic=18458):
        self.send(self.frame(pulses, self.count, magic))
        line, state = self.answer()
        expect(state["timestamp"] > self.time, "time does not advance")
        self.time = state["timestamp"]
        self.count += 1
        return line, state


def pulse(thrust):
    """The inverse of the thrust's curve, as ArduPilot straightens it."""
    part = max(0.0, min(1.0, thrust / FULL))
    root = math.sqrt((1 - EXPO) ** 2 + 4 * EXPO * part)
    return 1000 + 1000 * (root - (1 - EXPO)) / (2 * EXPO)


def angles(q):
    w, x, y, z = q
    return (
        math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        math.asin(max(-1, min(1, 2 * (w * y - z * x)))),
        math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    )


def hover(sitl, state, steps, goal, magic=18458):
    worst = 0.0
    clamp = lambda x, most: max(-most, min(most, x))  # noqa: E731
    for step in range(steps):
        north, east, down = state["position"]
        vn, ve, vd = state["velocity"]
        roll, pitch, yaw = angles(state["quaternion"])
        for found, expected in zip(state["attitude"], (roll, pitch, yaw)):
            near(found, expected, 1e-6, "attitude beside quaternion")
        p, q, r = state["gyro"]
        pitch_wanted = clamp((north - goal[0] + 1.4 * vn) / 9.81, 0.2)
        roll_wanted = clamp(-(east - goal[1] + 1.4 * ve) / 9.81, 0.2)
        quarter = (WEIGHT + 0.9 * (4.0 * (down - goal[2]) + 3.5 * vd)) / 4
        x = 0.006 * (120 * (roll_wanted - roll) - 18 * p) / 0.36
        y = 0.006 * (120 * (pitch_wanted - pitch) - 18 * q) / 0.36
        z = 0.011 * (-4 * yaw - 4 * r) / 0.064
        _, state = sitl.step(
            [pulse(f) for f in (quarter - x - z, quarter + x - z, quarter + y + z, quarter - y + z)], magic
        )
        if step > 0.9 * steps:
            worst = max(worst, math.dist(state["position"], goal))
    return state, worst


def main():
    port = int(sys.argv[1])
    result = {}
    sitl = Sitl(port)
    for _ in range(200):
        line, state = sitl.step([1000] * 4)
    for found, expected, axis in zip(state["accel_body"], (0, 0, -9.81), "xyz"):
        near(found, expected, 0.3, f"specific force {axis}")
    near(state["position"][2], -0.08, 0.005, "down")
    # The answer was lost: the same number has the same answer.
    sitl.send(sitl.frame([2000] * 4, sitl.count - 1))
    again, _ = sitl.answer()
    expect(again == line, "another answer to the same frame")
    # Garbage, wrong magic, half a frame, no steps: no answer.
    for data in (b"", b"\x00", b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 8,
                 sitl.frame([1000], 0, magic=18458)[:-1], struct.pack("<HHI16H", 18459, 400, 0, *[0] * 16),
                 sitl.frame([1000], sitl.count, rate=0)):
        sitl.send(data)
    # Somebody else's frame.
    other = Sitl(port)
    other.socket.settimeout(0.3)
    other.send(other.frame([2000] * 4, 0))
    try:
        other.answer()
        sys.exit("wrong: a stranger was answered")
    except TimeoutError:
        pass
    state, result["hover"] = hover(sitl, state, 8000, (0.5, -0.3, -1.5))
    near(result["hover"], 0, 0.05, "distance from the place to hover at, m")
    # Frames that never came.
    sitl.count += 3
    state, worst = hover(sitl, state, 400, (0.5, -0.3, -1.5))
    near(worst, 0, 0.05, "distance after lost frames, m")
    # Started again, with 32 outputs.
    sitl.count, sitl.time = 0, -1.0
    state, result["again"] = hover(sitl, state, 2000, (0.5, -0.3, -1.5), magic=29569)
    near(result["again"], 0, 0.05, "distance after the restart, m")
    near(sitl.time, 2000 / 1000, 0.01, "time since the restart")
    print(json.dumps(result))


main()
