"""Plays a simulator for PX4 with pymavlink's own messages and a quadcopter of its own; it knows nothing of the code that it tests.

usage: simulator.py PORT

Listens where PX4 connects to, sends the samples of a plus-shaped quadcopter every 4 ms, and waits for the answer to each, as simulators in
lockstep do. Ends when the autopilot closes the connection, and prints what it measured as JSON; fails with a message where something is wrong.
"""

import json
import math
import os
import socket
import sys

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common as mav  # noqa: E402

LATITUDE, LONGITUDE, ALTITUDE = 47.397742, 8.545594, 488.0
RADIUS = 6371000.0
STEP, PARTS = 0.004, 4  # s, and of how many parts its physics makes that
G = 9.81
MASS, INERTIA = 0.9, (0.006, 0.006, 0.011)
ARM, DRAG, FULL, LAG = 0.18, 0.016, 7.0, 0.03
# As PX4 numbers a plus: right, left, front, rear; places and senses of the drag, forward-right-down.
ROTORS = ((0, ARM, -DRAG), (0, -ARM, -DRAG), (ARM, 0, DRAG), (-ARM, 0, DRAG))


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def multiply(a, b):
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def rotate(q, v):
    w, x, y, z = q
    return multiply(multiply(q, (0, *v)), (w, -x, -y, -z))[1:]


class Body:
    """North-east-down from forward-right-down."""

    def __init__(self):
        # 0.3 m north, 0.2 m east and 0.1 m above of the origin, a little turned.
        self.p, self.v = [0.3, 0.2, -0.1], [0.0, 0.0, 0.0]
        self.q, self.w = (math.cos(0.1), 0.0, 0.0, math.sin(0.1)), [0.0, 0.0, 0.0]
        self.thrusts = [0.0] * 4
        self.specific = (0.0, 0.0, 0.0)

    def step(self, controls):
        dt = STEP / PARTS
        for _ in range(PARTS):
            for i, u in enumerate(controls):
                self.thrusts[i] += dt / LAG * (FULL * u - self.thrusts[i])
            torque = [0.0, 0.0, 0.0]
            for (x, y, drag), thrust in zip(ROTORS, self.thrusts):
                torque[0] -= y * thrust
                torque[1] += x * thrust
                torque[2] += drag * thrust
            w = self.w
            spin = [INERTIA[i] * w[i] for i in range(3)]
            gyroscopic = (w[1] * spin[2] - w[2] * spin[1], w[2] * spin[0] - w[0] * spin[2], w[0] * spin[1] - w[1] * spin[0])
            self.w = [w[i] + dt * (torque[i] - gyroscopic[i]) / INERTIA[i] for i in range(3)]
            half = [0.5 * dt * c for c in self.w]
            q = multiply(self.q, (1, *half))
            size = math.sqrt(sum(c * c for c in q))
            self.q = tuple(c / size for c in q)
            self.specific = (0.0, 0.0, -sum(self.thrusts) / MASS)
            a = rotate(self.q, self.specific)
            a = (a[0], a[1], a[2] + G)
            for i in range(3):
                self.p[i] += dt * self.v[i] + 0.5 * dt * dt * a[i]
                self.v[i] += dt * a[i]

    def heading(self):
        w, x, y, z = self.q
        return math.atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))


class Simulator:
    def __init__(self, port):
        server = socket.create_server(("127.0.0.1", port))
        server.settimeout(60)
        self.socket, _ = server.accept()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(10)
        self.mav = mav.MAVLink(None, srcSystem=1, srcComponent=200)
        self.mav.robust_parsing = True
        self.waiting, self.seen = [], {}

    def message(self):
        """The next one; None once the autopilot has gone."""
        while not self.waiting:
            try:
                data = self.socket.recv(4096)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.waiting = self.mav.parse_buffer(data) or []
        found = self.waiting.pop(0)
        expect(found.get_type() != "BAD_DATA", f"bytes that pymavlink cannot read: {found}")
        self.seen.setdefault(found.get_type(), found)
        return found

    def tell(self, time, body):
        lat = LATITUDE + math.degrees(body.p[0] / RADIUS)
        lon = LONGITUDE + math.degrees(body.p[1] / RADIUS / math.cos(math.radians(LATITUDE)))
        alt = ALTITUDE - body.p[2]
        place = (round(lat * 1e7), round(lon * 1e7), round(alt * 1e3))
        cm = [round(100 * c) for c in body.v]
        milli = [round(1000 * c / 9.80665) for c in body.specific]
        pressure = 1013.25 * (1 - 2.25577e-5 * alt) ** 5.25588
        messages = [
            self.mav.hil_state_quaternion_encode(time, list(body.q), *body.w, *place, *cm, 0, 0, *milli),
            self.mav.hil_sensor_encode(time, *body.specific, *body.w, 0.2, 0.0, 0.4, pressure, 0.0, alt, 20.0, 0x1FFF),
        ]
        if time % 100_000 == 0:
            speed = round(100 * math.hypot(body.v[0], body.v[1]))
            messages.insert(0, self.mav.hil_gps_encode(time, 3, *place, 90, 120, speed, *cm, 0, 12))
        try:
            self.socket.sendall(b"".join(message.pack(self.mav) for message in messages))
        except OSError:
            return False
        return True

    def answer(self, time):
        """The controls for these samples, and whether it is armed."""
        while True:
            found = self.message()
            if found is None:
                return None
            if found.get_type() != "HIL_ACTUATOR_CONTROLS":
                continue
            if found.time_usec == 0:
                # A word beforehand that it will be in lockstep.
                expect(found.flags & 1 and not any(found.controls), f"what it says beforehand: {found}")
                continue
            expect(found.time_usec == time, f"the answer is to {found.time_usec}, expected {time}")
            expect(found.flags & 1, "lockstep is not said")
            armed = bool(found.mode & mav.MAV_MODE_FLAG_SAFETY_ARMED)
            expect(all(0 <= u <= 1 for u in found.controls[:4]), f"controls {found.controls}")
            expect(not any(found.controls[4:]), f"controls of nothing: {found.controls}")
            expect(armed or not any(found.controls), "motors turn that are not armed")
            return found.controls[:4], armed


def main():
    simulator = Simulator(int(sys.argv[1]))
    body, errors, turned, armed_ticks, ticks = Body(), [], [], 0, 0
    while True:
        time = 1_000_000 + ticks * round(1e6 * STEP)
        if not simulator.tell(time, body):
            break
        answer = simulator.answer(time)
        if answer is None:
            break
        ticks += 1
        controls, armed = answer
        if armed:
            armed_ticks += 1
            errors.append(math.sqrt(sum(c * c for c in body.p)))
            turned.append(abs(body.heading()))
        body.step(controls)
    heartbeat, command = simulator.seen["HEARTBEAT"], simulator.seen["COMMAND_LONG"]
    expect((command.command, command.param1) == (511, 115), f"it asks for the truth by {command}")
    late = errors[-500:]
    print(
        json.dumps(
            {
                "ticks": ticks,
                "armed": armed_ticks,
                "type": heartbeat.type,
                "first": errors[0] if errors else None,
                "mean": sum(late) / max(len(late), 1),
                "largest": max(late, default=None),
                "turned": max(turned[-500:], default=None),
            }
        )
    )


main()
