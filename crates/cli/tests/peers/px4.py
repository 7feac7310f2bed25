"""Plays PX4 at its simulator interface with pymavlink's own messages; it knows nothing of the code that it tests.

usage: px4.py PORT

Connects to the plant, checks what it is sent at rest on the ground (units, axes, rates), makes it hover 1.5 m up by controls of its own,
sends garbage, disconnects, comes back and hovers on. Prints what it measured as JSON; fails with a message where something is wrong.
"""

import json
import math
import os
import socket
import sys
import time

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common as mav  # noqa: E402

LATITUDE, LONGITUDE, ALTITUDE = 47.397742, 8.545594, 488.0
RADIUS = 6371000.0
FULL = 7.0  # N, of one rotor at full output
WEIGHT = 0.9 * 9.81


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def near(found, expected, tolerance, what):
    expect(abs(found - expected) <= tolerance, f"{what} is {found}, expected {expected} within {tolerance}")


class Plant:
    """The connection: one blocking socket, and pymavlink's parser."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.mav = mav.MAVLink(None, srcSystem=1, srcComponent=1)
        self.mav.robust_parsing = True
        self.waiting = []
        self.times = []
        self.counts = {}
        # As PX4 does when it has connected.
        self.send(self.mav.heartbeat_encode(mav.MAV_TYPE_QUADROTOR, mav.MAV_AUTOPILOT_PX4, 0, 0, 0))
        self.send(self.mav.command_long_encode(0, 0, 511, 0, 115, 5000, 0, 0, 0, 0, 0))

    def send(self, message):
        self.socket.sendall(message.pack(self.mav))

    def message(self):
        while not self.waiting:
            data = self.socket.recv(4096)
            expect(data, "the plant closed the connection")
            self.waiting = self.mav.parse_buffer(data) or []
        found = self.waiting.pop(0)
        kind = found.get_type()
        expect(kind != "BAD_DATA", f"bytes that pymavlink cannot read: {found}")
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return found

    def instant(self):
        """All up to the next HIL_SENSOR, which moves PX4's clock."""
        found = {}
        while "HIL_SENSOR" not in found:
            message = self.message()
            found[message.get_type()] = message
        sensor = found["HIL_SENSOR"]
        self.times.append(sensor.time_usec)
        for other in ("HIL_GPS", "HIL_STATE_QUATERNION"):
            if other in found:
                expect(found[other].time_usec == sensor.time_usec, f"the time of {other}")
        return found

    def reply(self, sensor, controls, armed):
        all16 = list(controls) + [0.0] * (16 - len(controls))
        mode = 1 | (128 if armed else 0)
        self.send(self.mav.hil_actuator_controls_encode(sensor.time_usec, all16, mode, 1))


def pressure(altitude):
    """ICAO's standard atmosphere, hPa."""
    return 1013.25 * (1 - 2.25577e-5 * altitude) ** 5.25588


def at_rest(plant):
    """Half a second on the ground, disarmed."""
    seen = {"accel": [], "gyro": [], "mag": [], "pressure": [], "gps": []}
    for _ in range(125):
        found = plant.instant()
        sensor = found["HIL_SENSOR"]
        bits = sensor.fields_updated
        expect(bits & 0b111111 == 0b111111, f"accelerometer and gyro are not new: {bits:b}")
        expect(bits & ~0b1111111111111 == 0, f"unknown bits {bits:b}")
        expect(sensor.id == 0, "the sensor's number")
        seen["accel"].append((sensor.xacc, sensor.yacc, sensor.zacc))
        seen["gyro"].append((sensor.xgyro, sensor.ygyro, sensor.zgyro))
        if bits & 0b111000000:
            expect(bits & 0b111000000 == 0b111000000, "a part of the magnetometer")
            seen["mag"].append((sensor.xmag, sensor.ymag, sensor.zmag))
        if bits & 0b1101000000000:
            expect(bits & 0b1101000000000 == 0b1101000000000, "a part of the barometer")
            seen["pressure"].append((sensor.abs_pressure, sensor.pressure_alt, sensor.temperature))
        if "HIL_GPS" in found:
            seen["gps"].append(found["HIL_GPS"])
        state = found["HIL_STATE_QUATERNION"]
        plant.reply(sensor, [0.0] * 4, armed=False)
    mean = lambda rows: [sum(column) / len(rows) for column in zip(*rows)]  # noqa: E731
    accel, gyro, mag = mean(seen["accel"][25:]), mean(seen["gyro"][25:]), mean(seen["mag"])
    # FRD: what carries the vehicle pushes up, which is -z.
    for found, expected, axis in zip(accel, (0, 0, -9.81), "xyz"):
        near(found, expected, 0.05, f"specific force {axis}")
    for found, axis in zip(gyro, "xyz"):
        near(found, 0, 0.01, f"angular velocity {axis}")
    # 0.48 Gauss, 63 degrees down, 3 degrees to the east.
    near(math.dist(mag, (0, 0, 0)), 0.48, 0.005, "strength of the magnetic field")
    down, east = math.radians(63), math.radians(3)
    for found, expected, axis in zip(
        mag, (math.cos(down) * math.cos(east), math.cos(down) * math.sin(east), math.sin(down)), "xyz"
    ):
        near(found, 0.48 * expected, 0.003, f"magnetic field {axis}")
    hpa, altitude, celsius = mean(seen["pressure"])
    near(altitude, ALTITUDE + 0.08, 0.03, "altitude by the pressure")
    near(hpa, pressure(ALTITUDE + 0.08), 0.02, "pressure")
    near(celsius, 15 - 0.0065 * ALTITUDE, 0.1, "temperature")
    near(len(seen["gps"]), 5, 1, "fixes in half a second")
    near(len(seen["mag"]), 25, 1, "magnetic fields in half a second")
    gps = seen["gps"][-1]
    near(gps.lat * 1e-7, LATITUDE, 2e-6, "latitude")
    near(gps.lon * 1e-7, LONGITUDE, 2e-6, "longitude")
    near(gps.alt * 1e-3, ALTITUDE + 0.08, 0.15, "altitude of the fix")
    for speed in (gps.vn, gps.ve, gps.vd):
        near(speed, 0, 6, "speed of the fix")
    expect(gps.fix_type == 3 and gps.satellites_visible >= 6, "a fix in space")
    near(gps.eph, 90, 60, "eph")
    for found, expected, axis in zip(state.attitude_quaternion, (1, 0, 0, 0), "wxyz"):
        near(found, expected, 1e-3, f"quaternion {axis}")
    near(state.alt * 1e-3, ALTITUDE + 0.08, 0.005, "true altitude")
    near(state.zacc, 0, 100, "acceleration at rest, mG")
    return {"specific_force": accel, "field": mag, "pressure": hpa}


def position(state):
    north = math.radians(state.lat * 1e-7 - LATITUDE) * RADIUS
    east = math.radians(state.lon * 1e-7 - LONGITUDE) * RADIUS * math.cos(math.radians(LATITUDE))
    return north, east, ALTITUDE - state.alt * 1e-3


def angles(q):
    w, x, y, z = q
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(max(-1, min(1, 2 * (w * y - z * x))))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, pitch, yaw


def hover(plant, seconds, goal):
    """A cascade on the true state; the torques are mixed for a quad plus whose side rotors turn clockwise."""
    worst = 0.0
    steps = int(seconds * 250)
    for step in range(steps):
        found = plant.instant()
        sensor, state = found["HIL_SENSOR"], found["HIL_STATE_QUATERNION"]
        north, east, down = position(state)
        vn, ve, vd = state.vx * 1e-2, state.vy * 1e-2, state.vz * 1e-2
        roll, pitch, yaw = angles(state.attitude_quaternion)
        p, q, r = state.rollspeed, state.pitchspeed, state.yawspeed
        clamp = lambda x, most: max(-most, min(most, x))  # noqa: E731
        # Nose up (positive pitch) accelerates to the south.
        pitch_wanted = clamp((1.0 * (north - goal[0]) + 1.4 * vn) / 9.81, 0.2)
        roll_wanted = clamp(-(1.0 * (east - goal[1]) + 1.4 * ve) / 9.81, 0.2)
        thrust = WEIGHT + 0.9 * (4.0 * (down - goal[2]) + 3.5 * vd)
        torque_x = 0.006 * (120 * (roll_wanted - roll) - 18 * p)
        torque_y = 0.006 * (120 * (pitch_wanted - pitch) - 18 * q)
        torque_z = 0.011 * (4 * (0.0 - yaw) - 4 * r)
        # Motors: 1 right, 2 left, 3 front, 4 rear. Front and rear turn counter-clockwise: their drag turns the body clockwise, +z of FRD.
        a, k = 0.18, 0.016
        quarter = thrust / 4
        forces = [
            quarter - torque_x / (2 * a) - torque_z / (4 * k),
            quarter + torque_x / (2 * a) - torque_z / (4 * k),
            quarter + torque_y / (2 * a) + torque_z / (4 * k),
            quarter - torque_y / (2 * a) + torque_z / (4 * k),
        ]
        plant.reply(sensor, [max(0.0, min(1.0, f / FULL)) for f in forces], armed=True)
        if step > steps - 250:
            worst = max(worst, math.dist((north, east, down), goal))
    return worst


def main():
    port = int(sys.argv[1])
    result = {}
    plant = Plant(port)
    result["rest"] = at_rest(plant)
    began = time.monotonic()
    result["hover"] = hover(plant, 8, (0.5, -0.3, -1.5))
    result["real_time_factor"] = 8 / (time.monotonic() - began)
    near(result["hover"], 0, 0.05, "distance from the place to hover at, m")
    gaps = {b - a for a, b in zip(plant.times, plant.times[1:])}
    expect(gaps == {4000}, f"the clock goes by {gaps} µs")
    # Garbage, a frame with a wrong checksum, half a frame.
    frame = bytearray(mav.MAVLink_heartbeat_message(2, 12, 0, 0, 0, 3).pack(plant.mav))
    frame[-1] ^= 0xFF
    plant.socket.sendall(bytes(range(256)) + bytes(frame) + bytes(frame[:7]))
    near(hover(plant, 1, (0.5, -0.3, -1.5)), 0, 0.05, "distance after garbage, m")
    counts = dict(plant.counts)
    plant.socket.close()
    # PX4 has been started again.
    last = plant.times[-1]
    plant = Plant(port)
    result["again"] = hover(plant, 4, (0.5, -0.3, -1.5))
    expect(plant.times[0] > last, "time went back")
    near(result["again"], 0, 0.05, "distance after coming back, m")
    # A hand's breadth of time more: replies that stay away hold nobody up for ever.
    plant.instant()
    expect(counts.get("HEARTBEAT", 0) >= 1, "no heartbeat of the plant")
    result["counts"] = counts
    print(json.dumps(result))


main()
