"""An autopilot with a vehicle behind it, which knows nothing of the code that it tests.

usage: autopilot.py HOST:PORT|serial:PATH:BAUD px4|ardupilot [name=value ...]

What it refuses, ignores and gives up follows the sources of PX4 1.17 and ArduCopter 4.7. It talks UDP with HOST:PORT from a port of its
own, or over a pseudo-terminal that it links to PATH and that carries no more bytes than a line of BAUD, until its standard input ends,
then prints what happened as JSON.

hover=0.4 curve=0.0   thrust in hover, and r(u) = curve u^2 + (1 - curve) u of the real motors
mass=1.0              how heavy it is, of what the hover's thrust carries
heading=0.4           where it heads for at first, rad
options=0             GUID_OPTIONS
home=0.0              how high it stands above the home that somebody has set, m
kind=2                MAV_TYPE
system=1
already_armed=0       armed from the start
commanded=0           from the start on in the mode in which it is commanded
armed_by_another=0    with its first change of the mode somebody else arms it
deaf=0                so many requests for COM_OBL_RC_ACT and GUID_OPTIONS are lost
safety=0 mot_test=1 servo4=0 initialising=0   on a bench: a safety switch that is on, COM_MOT_TEST_EN, SERVO4_FUNCTION; so many tests of motors are too early
refuse_arming=0       refuse to arm, with a reason; 2: for good
refuse_modes=0 refuse_arms=0 refuse_takeoffs=0   so many changes of the mode, armings and take-offs are refused
lost=0.0 lost_for=4.0   s after take-off its estimator knows its place no longer, for so long; it is told all the same, as PX4 does
slow_heartbeats=0     one a second, whatever is asked for, as PX4 does
blind=0               no position is told: 1 from the first request to change the mode on, 2 from arming on
slow_arming=0.0       s from its acknowledgement until it is armed
progress=0.0          so many s before it is acknowledged, a command is said to be in progress
ack_loss=0.0          this part of the acknowledgements is never sent
ack_delay=0.0         s
late_landing=0        no heartbeat tells of a landing before it is over
silent_armed=0        no heartbeat is sent while it is armed
pilot=0.0             s after take-off a pilot changes the mode
pilot_in_landing=0.0  so many s after it began to land a pilot changes the mode
pilot_disarms=0.0     so many s after it was first armed a pilot disarms it
patience=10.0         s after which it disarms by itself where it stands; unless given, 1.0 after its flight
failsafe=0.0          s after take-off it returns by itself
late_reason=0         and says why only after its heartbeat, as ArduCopter does
reboot=0.0            s after take-off it restarts
quiet=0.0 quiet_for=1.5   s after take-off neither side hears the other, for so long; a pseudo-terminal is another one afterwards
unheard=0.0 unheard_for=3.0   s after take-off it hears nothing, for so long, and goes on sending
low=0.0               s after take-off its battery has 9 % left
stall=0.0 stall_for=1.5   s after take-off both ways hold back what is sent for so long, and then deliver it at once
other=0 other_at=3.0  somebody else with this system number sends over the same link, from so many s after take-off on (-2: from the start on)
key=                  64 hexadecimal digits: everything is signed, and what is not is refused
forger=0              somebody sends lies besides: unsigned, signed with another key, and what this autopilot has signed before
loss=0 dup=0 jitter=0 garbage=0 half=0 burst=0     faults of the link, both ways: parts of the datagrams, jitter in s; after each loss nothing
                      passes for up to `burst` s
board=7               its board's unique number
seed=1
"""

import heapq
import json
import math
import os
import random
import select
import socket
import struct
import sys
import time
import tty

from pymavlink.dialects.v20 import ardupilotmega as MAV

G = 9.80665
SO_TIMESTAMPNS = 35
STEP = 0.004  # s
KEY = "key"
OPTIONS = {
    name: value if name == KEY else float(value) for name, value in (line.split("=") for line in sys.argv[3:])
}


def option(name, default):
    return OPTIONS.get(name, default)


PX4 = sys.argv[2] == "px4"
# Of its attitude loop, 1/s: roll, pitch, yaw; and the time in which ArduCopter's own target turns to an attitude, s.
GAINS = (6.5, 6.5, 2.8) if PX4 else (4.5, 4.5, 4.5)
INPUT_TIME = 0.15
COMMANDED, LAND, HOLD, RTL, PILOT = range(5)
NUMBERS = (
    {COMMANDED: 6 << 16, LAND: 4 << 16 | 6 << 24, HOLD: 4 << 16 | 3 << 24, RTL: 4 << 16 | 5 << 24, PILOT: 3 << 16}
    if PX4
    else {COMMANDED: 4, LAND: 9, HOLD: 17, RTL: 6, PILOT: 5}
)
RANDOM = random.Random(int(option("seed", 1)))


# Quaternions w x y z, NED from FRD.
def multiply(a, b):
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def unit(v):
    n = math.sqrt(sum(c * c for c in v)) or 1.0
    return tuple(c / n for c in v)


def down(q):
    """The body's z axis in the world."""
    w, x, y, z = q
    return (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))


def heading(q):
    w, x, y, z = q
    return math.atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def attitude_of(z, yaw):
    """The attitude whose body z axis is z, and that heads for yaw."""
    y = unit(cross(z, (math.cos(yaw), math.sin(yaw), 0)))
    x = cross(y, z)
    trace = x[0] + y[1] + z[2]
    w = 0.5 * math.sqrt(max(1 + trace, 1e-9))
    return unit((w, (y[2] - z[1]) / (4 * w), (z[0] - x[2]) / (4 * w), (x[1] - y[0]) / (4 * w)))


def towards(q, target, rates, gains):
    """The rates with which a proportional loop turns from q to a target that turns itself."""
    w, x, y, z = q
    error = multiply((w, -x, -y, -z), target)
    sign = 2.0 if error[0] >= 0 else -2.0
    return tuple(g * sign * e + r for g, e, r in zip(gains, error[1:], rates))


class Datagrams:
    """UDP."""

    def __init__(self, host, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        # When a datagram came, and not when this program got round to it.
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setblocking(False)
        self.to = (host, port)

    def put(self, data):
        try:
            self.socket.sendto(data, self.to)
        except OSError:
            pass

    def get(self, now):
        while True:
            try:
                data, ancillary, _, _ = self.socket.recvmsg(4096, 64)
            except OSError:
                return
            came = now
            for level, kind, stamp in ancillary:
                if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("qq", stamp[:16])
                    came = seconds + nanoseconds * 1e-9 - (time.time() - time.monotonic())
            yield data, came

    def pump(self, now):
        pass

    def replug(self):
        pass


class Line:
    """A pseudo-terminal that carries what a serial line does: ten bits a byte, and a buffer that takes no message for which it has no room."""

    BUFFER = 2048

    def __init__(self, path, baud):
        self.path, self.rate = path, baud / 10
        self.ends = ()
        self.out, self.last, self.may_send, self.may_read = bytearray(), time.monotonic(), 0.0, 0.0
        self.dropped = 0
        self.replug()

    def replug(self):
        """Another device of the same name, as after a plug was pulled."""
        for end in self.ends:
            os.close(end)
        self.out.clear()
        self.ends = os.openpty()
        tty.setraw(self.ends[1])
        os.set_blocking(self.ends[0], False)
        new = self.path + ".new"
        os.symlink(os.ttyname(self.ends[1]), new)
        os.rename(new, self.path)

    def put(self, data):
        if len(self.out) + len(data) > self.BUFFER:
            self.dropped += 1
        else:
            self.out += data

    def pump(self, now):
        passed = self.rate * (now - self.last)
        self.last = now
        # An idle line saves nothing up, but for what this program is late: as late as a flight counts. What it lost would queue up in the terminal.
        most = 1 + 0.06 * self.rate
        self.may_send = min(self.may_send + passed, most) if self.out else 0.0
        self.may_read = min(self.may_read + passed, most)
        count = min(int(self.may_send), len(self.out))
        if count:
            try:
                count = os.write(self.ends[0], self.out[:count])
            except OSError:
                pass  # Nobody reads.
            del self.out[:count]
            self.may_send -= count

    def get(self, now):
        try:
            data = os.read(self.ends[0], int(self.may_read)) if self.may_read >= 1 else b""
        except OSError:
            return
        self.may_read -= len(data)
        if data:
            yield data, now


class Wire:
    """A transport with faults; what is delayed may be overtaken."""

    def __init__(self, transport):
        self.transport = transport
        self.out, self.into, self.count = [], [], 0
        self.bursts = [0.0, 0.0]
        self.quiet_until = 0.0
        self.stalled_until = 0.0

    def faults(self, direction, data, now):
        """What becomes of a datagram: several, with their delays."""
        if now < self.bursts[direction]:
            return
        if RANDOM.random() < option("loss", 0):
            self.bursts[direction] = now + option("burst", 0) * RANDOM.random()
            return
        for _ in range(2 if RANDOM.random() < option("dup", 0) else 1):
            if RANDOM.random() < option("garbage", 0):
                yield 0.0, bytes(RANDOM.randrange(256) for _ in range(40))
            if RANDOM.random() < option("half", 0):
                data = data[: len(data) // 2]
            yield option("jitter", 0) * RANDOM.random(), data

    def queue(self, queue, direction, data, now, extra):
        for delay, datagram in self.faults(direction, data, now):
            self.count += 1
            due = max(now, self.stalled_until) + delay
            heapq.heappush(queue, (due, self.count, datagram, extra))

    def send(self, data, now):
        if now >= self.quiet_until:
            self.queue(self.out, 0, data, now, None)
            self.flush(now)

    def flush(self, now):
        while self.out and self.out[0][0] <= now:
            self.transport.put(heapq.heappop(self.out)[2])
        self.transport.pump(now)

    def receive(self, now):
        """Datagrams that are due, and when they really came."""
        for data, came in self.transport.get(now):
            if now >= self.quiet_until:
                self.queue(self.into, 1, data, now, came)
        while self.into and self.into[0][0] <= now:
            _, _, data, came = heapq.heappop(self.into)
            yield data, came


class Vehicle:
    """A rigid body with attitude and rate loops, as an autopilot sees it."""

    def __init__(self):
        self.p, self.v = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        half = option("heading", 0.4) / 2
        self.q, self.w = (math.cos(half), 0, 0, math.sin(half)), [0.0, 0.0, 0.0]
        self.lift = 0.0  # m/s^2 along the body's -z
        self.landed = True

    def force(self, u):
        """m/s^2 of a thrust."""
        curve, hover = option("curve", 0.0), option("hover", 0.4)
        relative = lambda u: u * (curve * u + 1 - curve)
        return G / option("mass", 1.0) * relative(min(max(u, 0), 1)) / relative(hover)

    def step(self, dt, armed, rates, u):
        wanted = self.force(u) if armed else 0.0
        self.lift += (wanted - self.lift) * min(1, dt / 0.03)
        z = down(self.q)
        a = [-self.lift * z[0] - 0.05 * self.v[0], -self.lift * z[1] - 0.05 * self.v[1], G - self.lift * z[2] - 0.05 * self.v[2]]
        if self.landed and a[2] >= -0.1:
            self.v, self.w = [0.0] * 3, [0.0] * 3
            return
        self.landed = False
        for i in range(3):
            self.p[i] += dt * self.v[i] + 0.5 * dt * dt * a[i]
            self.v[i] += dt * a[i]
            self.w[i] += (rates[i] - self.w[i]) * min(1, dt / 0.04)
        half = [0.5 * dt * c for c in self.w]
        self.q = unit(multiply(self.q, (1, *half)))
        if self.p[2] > 0 and self.v[2] >= 0:
            self.p[2], self.landed = 0.0, True
            self.v, self.w = [0.0] * 3, [0.0] * 3
            self.q = attitude_of((0, 0, 1), heading(self.q))


def sign(mav, key):
    """All that it sends is signed, and what it parses must be."""
    mav.signing.secret_key = key
    mav.signing.timestamp = int((time.time() - 1420070400) * 1e5)
    mav.signing.sign_outgoing = True


class Liar:
    """Somebody who claims to be a vehicle that stands on its head elsewhere, not armed, in another mode."""

    def __init__(self, system, key=None):
        self.mav = MAV.MAVLink(None, srcSystem=system, srcComponent=1)
        if key:
            sign(self.mav, key)
        self.boot = time.monotonic() - 1000.0

    def lies(self, now):
        boot_ms = int(1000 * (now - self.boot))
        make = MAV.MAV_AUTOPILOT_PX4 if PX4 else MAV.MAV_AUTOPILOT_ARDUPILOTMEGA
        for message in (
            MAV.MAVLink_heartbeat_message(2, make, MAV.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, NUMBERS[PILOT], MAV.MAV_STATE_STANDBY, 3),
            MAV.MAVLink_attitude_quaternion_message(boot_ms, 0, 1, 0, 0, 3, 2, 1),
            MAV.MAVLink_local_position_ned_message(boot_ms, 40, -30, -20, 5, 5, 5),
        ):
            yield message.pack(self.mav)
            self.mav.seq = (self.mav.seq + 1) % 256


class Forger:
    """Somebody without the key, on the same link and beside it."""

    def __init__(self, wire, system):
        self.wire, self.due, self.signed, self.count = wire, 0.0, [], 0
        self.liars = [Liar(system), Liar(system, bytes(32))]
        to = wire.transport
        self.beside = Datagrams(*to.to) if isinstance(to, Datagrams) else None

    def forge(self, now):
        if now < self.due or not self.signed:
            return
        self.due = now + 0.05
        forged = [lie for liar in self.liars for lie in liar.lies(now)]
        forged += RANDOM.choices(self.signed, k=3)
        for data in forged:
            self.count += 1
            self.wire.transport.put(data)
            if self.beside:
                self.beside.put(data)


class Autopilot:
    def __init__(self, wire):
        self.wire = wire
        self.mav = MAV.MAVLink(None, srcSystem=int(option("system", 1)), srcComponent=1)
        self.mav.robust_parsing = True
        if option(KEY, ""):
            sign(self.mav, bytes.fromhex(option(KEY, "")))
        self.forger = Forger(wire, self.mav.srcSystem) if option("forger", 0) else None
        self.other, self.other_due = None, 0.0
        self.mav.seq = RANDOM.randrange(256)
        self.vehicle = Vehicle()
        self.start()
        self.blind = False
        self.refuse_modes, self.refuse_arms = option("refuse_modes", 0), option("refuse_arms", 0)
        self.deaf = option("deaf", 0)
        self.refuse_takeoffs = option("refuse_takeoffs", 0)
        self.initialising = option("initialising", 0)
        self.tested_until = 0.0
        self.acks, self.took_off_at, self.texts, self.unplugged = [], None, 0, False
        self.done, self.reason = set(), None
        self.report = {
            "modes": [], "armed": 0, "setpoints": {}, "oldest_ms": 0, "ignored": 0, "refused": [], "commands": {},
            "top": 0.0, "stall_ms": 0.0, "bad": 0, "forced": 0, "touchdown": 0.0, "gap_ms": 0.0, "parameters": {}, "types": {}, "set_armed": [],
        }
        self.ints = (
            {"COM_OBL_RC_ACT": 0, "COM_RC_IN_MODE": 3, "COM_RCL_EXCEPT": 0, "NAV_RCL_ACT": 2, "NAV_DLL_ACT": 0, "COM_MOT_TEST_EN": int(option("mot_test", 1))}
            if PX4
            else {"GUID_OPTIONS": int(option("options", 0)), "FS_GCS_ENABLE": 0, "DISARM_DELAY": 10, "ATC_ANGLE_BOOST": 1, "ATC_RATE_FF_ENAB": 1, "SERVO1_FUNCTION": 33, "SERVO2_FUNCTION": 34, "SERVO3_FUNCTION": 35, "SERVO4_FUNCTION": int(option("servo4", 0)), "SERVO5_FUNCTION": 0, "SERVO6_FUNCTION": 0}
        )
        self.floats = (
            {"COM_OF_LOSS_T": 1.0, "COM_DISARM_PRFLT": 10.0, "MPC_THR_HOVER": 0.5, "THR_MDL_FAC": 0.0, "MC_ROLL_P": GAINS[0], "MC_YAW_P": GAINS[2]}
            if PX4
            else {"GUID_TIMEOUT": 3.0, "MOT_THST_HOVER": 0.35, "MOT_THST_EXPO": 0.65, "PILOT_THR_FILT": 0.0, "ATC_ANG_RLL_P": GAINS[0], "ATC_ANG_YAW_P": GAINS[2], "ATC_INPUT_TC": INPUT_TIME}
        )

    def start(self):
        """As after a power-up."""
        self.boot = time.monotonic() - 5.0
        self.mode, self.armed, self.armed_at = COMMANDED if option("commanded", 0) > 0 else PILOT, option("already_armed", 0) > 0, 0.0
        self.target = None  # what it follows, with its kind
        self.arm_at = None
        self.heard = -1e9
        self.recent = []
        self.takeoff_to = None
        self.hold_at = None
        self.shaped = None
        self.landed_at = None
        self.landing_since = None
        self.u = 0.0
        self.intervals = {0: 1.0, 1: 1.0}
        if PX4:
            self.intervals.update({31: 0.02, 32: 1 / 30, 245: 0.5, 230: 1.0, 242: 2.0})
        self.due = {}

    # What it says.
    def send(self, message):
        data = message.pack(self.mav)
        if self.forger:
            self.forger.signed.append(data)
        self.wire.send(data, self.now)
        self.mav.seq = (self.mav.seq + 1) % 256

    def say(self, text, severity=MAV.MAV_SEVERITY_CRITICAL):
        # In messages of 50 characters, which belong together by a number.
        parts = [text[i : i + 50] for i in range(0, len(text), 50)]
        self.texts += 1
        for i, part in enumerate(parts):
            number = self.texts if len(parts) > 1 else 0
            self.send(MAV.MAVLink_statustext_message(severity, part.encode(), number, i))

    def telemetry(self):
        for number, period in list(self.intervals.items()):
            if period and self.now >= self.due.get(number, 0):
                self.due[number] = max(self.due.get(number, 0) + period, self.now)
                message = self.message(number)
                if message:
                    self.send(message)
                if number == 0 and self.reason and self.mode == RTL:
                    self.say(self.reason, MAV.MAV_SEVERITY_WARNING)
                    self.reason = None

    def message(self, number):
        v, boot_ms = self.vehicle, int(1000 * (self.now - self.boot))
        if number == 0:
            late = option("late_landing", 0) and self.mode == LAND or option("silent_armed", 0)
            if late and self.armed:
                return None
            # ArduCopter's motors are armed while one is tested.
            armed = self.armed or self.now < self.tested_until
            base = MAV.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | (MAV.MAV_MODE_FLAG_SAFETY_ARMED if armed else 0)
            make = MAV.MAV_AUTOPILOT_PX4 if PX4 else MAV.MAV_AUTOPILOT_ARDUPILOTMEGA
            state = MAV.MAV_STATE_ACTIVE if self.armed else MAV.MAV_STATE_STANDBY
            return MAV.MAVLink_heartbeat_message(int(option("kind", 2)), make, base, NUMBERS[self.mode], state, 3)
        if number == 1:
            bits = 1 << 28
            charge = 9 if 0 < option("low", 0) <= self.since_take_off() else 80
            return MAV.MAVLink_sys_status_message(bits, bits, bits, 300, 12000, 500, charge, 0, 0, 0, 0, 0, 0)
        if number == 31:
            return MAV.MAVLink_attitude_quaternion_message(boot_ms, *v.q, *v.w)
        if number == 32 and self.blind:
            return None
        if number == 32:
            return MAV.MAVLink_local_position_ned_message(boot_ms, *v.p, *v.v)
        if number == 245:
            # Neither autopilot believes that it is in the air once its motors are stopped.
            return MAV.MAVLink_extended_sys_state_message(0, 2 if self.armed and not v.landed else 1)
        if number == 242:
            return MAV.MAVLink_home_position_message(0, 0, 0, 0, 0, 0, [1, 0, 0, 0], 0, 0, 0)
        if number == 33:
            return MAV.MAVLink_global_position_int_message(boot_ms, 0, 0, 0, int(1000 * (option("home", 0) - v.p[2])), 0, 0, 0, 0)
        if number == 83:
            return MAV.MAVLink_attitude_target_message(boot_ms, 0, list(v.q), 0, 0, 0, self.u)
        if number == 230 and PX4:
            # Of attitude, heights and velocity above the vertical, nothing else is left.
            flags = 0b100101 if self.is_lost() else 0b101111
            return MAV.MAVLink_estimator_status_message(boot_ms * 1000, flags, 0, 0, 0, 0, 0, 0, 0, 0)
        if number == 193 and not PX4:
            return MAV.MAVLink_ekf_status_report_message(0b100101 if self.is_lost() else 0b111111, 0, 0, 0, 0, 0)
        return None

    def since_take_off(self):
        return self.now - self.took_off_at if self.took_off_at else -1

    def is_lost(self):
        since = self.since_take_off()
        return 0 < option("lost", 0) <= since < option("lost", 0) + option("lost_for", 4.0)

    # What it hears.
    def hears_nothing(self):
        since = self.since_take_off()
        return 0 < option("unheard", 0) <= since < option("unheard", 0) + option("unheard_for", 3.0)

    def receive(self):
        for data, came in self.wire.receive(self.now):
            for message in self.mav.parse_buffer(data) or []:
                if self.hears_nothing():
                    continue
                if message.get_type() == "BAD_DATA":
                    self.report["bad"] += 1
                else:
                    self.take(message, came)

    def take(self, m, came):
        kind = m.get_type()
        if getattr(m, "target_system", self.mav.srcSystem) not in (0, self.mav.srcSystem):
            return
        if kind == "COMMAND_LONG":
            self.command(m)
        elif kind == "PARAM_REQUEST_READ":
            name = m.param_id.rstrip("\0")
            if name in ("COM_OBL_RC_ACT", "GUID_OPTIONS") and self.deaf > 0:
                self.deaf -= 1
                return
            self.parameter(name)
        elif kind == "PARAM_SET":
            self.set_parameter(m)
        elif kind == "TIMESYNC" and m.tc1 == 0:
            self.send(MAV.MAVLink_timesync_message(int((self.now - self.boot) * 1e9), m.ts1))
        elif kind in ("SET_ATTITUDE_TARGET", "SET_POSITION_TARGET_LOCAL_NED"):
            age = (int(came * 1000) - m.time_boot_ms) % (1 << 32)
            self.report["oldest_ms"] = max(self.report["oldest_ms"], age if age < 1 << 31 else 0)
            counts = self.report["setpoints"]
            counts[kind] = counts.get(kind, 0) + 1
            masks = self.report["types"].setdefault(kind, [])
            if m.type_mask not in masks:
                masks.append(m.type_mask)
            if self.armed and self.mode == COMMANDED and self.heard > 0:
                self.report["gap_ms"] = max(self.report["gap_ms"], 1000 * (self.now - self.heard))
            self.recent = [t for t in self.recent if self.now - t < 1] + [self.now]
            self.heard = self.now
            if self.mode == COMMANDED:
                self.setpoint(m)
            else:
                self.report["ignored"] += 1

    def setpoint(self, m):
        if m.get_type() == "SET_POSITION_TARGET_LOCAL_NED":
            assert m.coordinate_frame == 1
            if m.type_mask & 7 or (not PX4 and self.vehicle.landed):
                return
            zero = lambda bit, c: 0.0 if m.type_mask & bit else c
            rate = zero(2048, m.yaw_rate)
            self.takeoff_to = None
            self.target = ("place", (m.x, m.y, m.z), (zero(8, m.vx), zero(16, m.vy), zero(32, m.vz)), (zero(64, m.afx), zero(128, m.afy), zero(256, m.afz)), m.yaw, rate)
            return
        rates_ignored = [bool(m.type_mask & bit) for bit in (1, 2, 4)]
        rates = (m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate)
        u = m.thrust
        if m.type_mask & 64:
            self.target = None
            return
        if not PX4:
            if any(rates_ignored) and not all(rates_ignored):
                self.target = None
                return
            if not m.type_mask & 128 and abs(math.sqrt(sum(c * c for c in m.q)) - 1) > 1e-3:
                self.target = None
                return
            self.takeoff_to = None
        if not m.type_mask & 128:
            self.target = ("attitude", unit(m.q), (0, 0, 0) if any(rates_ignored) else rates, u)
        elif not any(rates_ignored[:2]):
            self.target = ("rates", rates, u)

    def arm(self):
        """Once it is due."""
        if self.arm_at and self.now >= self.arm_at:
            self.arm_at = None
            self.armed, self.armed_at = True, self.now
            self.blind = self.blind or option("blind", 0) == 2
            self.report["armed"] += 1

    def acknowledge(self, command, result):
        self.report["commands"].setdefault(str(command), []).append(result)
        if RANDOM.random() >= option("ack_loss", 0):
            at = self.now + option("ack_delay", 0)
            if option("progress", 0):
                self.acks.append((at, command, MAV.MAV_RESULT_IN_PROGRESS))
            self.acks.append((at + option("progress", 0), command, result))

    def command(self, m):
        OK, REFUSED, FAILED = MAV.MAV_RESULT_ACCEPTED, MAV.MAV_RESULT_TEMPORARILY_REJECTED, MAV.MAV_RESULT_FAILED
        if m.command == MAV.MAV_CMD_SET_MESSAGE_INTERVAL:
            number = int(m.param1)
            known = self.message(number) is not None and not (number == 0 and option("slow_heartbeats", 0))
            if known:
                self.intervals[number] = m.param2 / 1e6 if m.param2 > 0 else None
            self.acknowledge(m.command, OK if known else MAV.MAV_RESULT_DENIED)
        elif m.command == MAV.MAV_CMD_REQUEST_MESSAGE:
            self.acknowledge(m.command, OK)
            bits = MAV.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE if PX4 else MAV.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST
            self.send(MAV.MAVLink_autopilot_version_message(bits, 1, 0, 0, 0, [0] * 8, [0] * 8, [0] * 8, 0, 0, int(option("board", 7))))
        elif m.command == MAV.MAV_CMD_DO_SET_MODE:
            self.blind = self.blind or option("blind", 0) == 1
            self.armed = self.armed or option("armed_by_another", 0) > 0
            number = int(m.param2) << 16 | int(m.param3) << 24 if PX4 else int(m.param2)
            wanted = [mode for mode, known in NUMBERS.items() if known == number]
            streamed = len(self.recent) >= 2 and self.now - self.heard < 0.5
            if not wanted or int(m.param1) != 1:
                result = MAV.MAV_RESULT_DENIED
            elif self.refuse_modes > 0:
                self.refuse_modes -= 1
                result = REFUSED
            elif PX4 and wanted[0] == COMMANDED and not streamed:
                result = REFUSED
                self.say("Switching to mode 'Offboard' is currently not possible")
            else:
                result = OK
                self.change(wanted[0])
            if result != OK:
                self.report["refused"].append("mode %d" % number)
            self.acknowledge(m.command, result)
        elif m.command == MAV.MAV_CMD_COMPONENT_ARM_DISARM:
            forced = int(m.param2) == 21196
            if m.param1 > 0.5:
                streamed = not PX4 or self.now - self.heard < 0.5
                ready = option("refuse_arming", 0) == 0 and self.mode == COMMANDED and streamed
                if ready and self.refuse_arms > 0:
                    self.refuse_arms -= 1
                    ready = False
                if ready and not self.armed:
                    self.arm_at = self.arm_at or self.now + option("slow_arming", 0)
                    self.arm()
                elif not ready:
                    self.report["refused"].append("arm")
                    self.say("Arming denied: Resolve system health failures first" if PX4 else "Arm: Compass not calibrated")
                refusal = MAV.MAV_RESULT_DENIED if option("refuse_arming", 0) == 2 else REFUSED if PX4 else FAILED
                self.acknowledge(m.command, OK if ready else refusal)
            elif self.vehicle.landed or forced:
                self.report["forced"] += int(forced)
                # What it has begun, it finishes first.
                self.armed = False
                self.acknowledge(m.command, OK)
            else:
                self.report["refused"].append("disarm in the air")
                self.acknowledge(m.command, FAILED)
        elif m.command == MAV.MAV_CMD_RUN_PREARM_CHECKS and PX4:
            if option("refuse_arming", 0):
                self.say("Preflight Fail: Accel 0 uncalibrated")
            self.acknowledge(m.command, OK)
        elif m.command == MAV.MAV_CMD_NAV_TAKEOFF and not PX4:
            # Above home, and never downwards.
            height = m.param7 - option("home", 0)
            ready = self.armed and self.mode == COMMANDED and self.vehicle.landed and height > 0
            if ready and self.refuse_takeoffs > 0:
                self.refuse_takeoffs -= 1
                ready = False
            if ready:
                self.takeoff_to, self.target = height, None
            self.acknowledge(m.command, OK if ready else FAILED)
        elif m.command in (310, 209, 184, 183):
            self.bench(m)
        else:
            self.acknowledge(m.command, MAV.MAV_RESULT_UNSUPPORTED)

    def bench(self, m):
        """Actuators on a bench: PX4's Commander, ArduCopter's motor test and servo events."""
        params = [None if math.isnan(p) else round(p, 4) for p in (m.param1, m.param2, m.param3, m.param4, m.param5, m.param6, m.param7)]
        self.report.setdefault("bench", []).append([m.command, params])
        function = int(m.param5 + 0.5)
        if m.command == 310 and PX4:
            if self.armed or self.ints["COM_MOT_TEST_EN"] != 1 or option("safety", 0):
                self.acknowledge(m.command, MAV.MAV_RESULT_DENIED)
            else:
                known = 1 <= function <= 12 or 33 <= function <= 40
                self.acknowledge(m.command, MAV.MAV_RESULT_ACCEPTED if known else MAV.MAV_RESULT_UNSUPPORTED)
        elif m.command == 209 and not PX4:
            if option("safety", 0):
                self.say("Motor Test: Safety switch")
                self.acknowledge(m.command, MAV.MAV_RESULT_FAILED)
            elif self.initialising > 0:
                self.initialising -= 1
                self.say("Motor Test: Board initialising")
                self.acknowledge(m.command, MAV.MAV_RESULT_FAILED)
            else:
                self.tested_until = self.now + m.param4
                # That is when a heartbeat is due.
                self.due[0] = self.now
                self.acknowledge(m.command, MAV.MAV_RESULT_ACCEPTED)
        elif m.command in (183, 184) and not PX4:
            used = self.ints.get("SERVO%d_FUNCTION" % int(m.param1), 0) > 1
            if used:
                self.say("ServoRelayEvent: Channel %d is already in use" % int(m.param1), MAV.MAV_SEVERITY_INFO)
            self.acknowledge(m.command, MAV.MAV_RESULT_FAILED if used else MAV.MAV_RESULT_ACCEPTED)
        else:
            self.acknowledge(m.command, MAV.MAV_RESULT_UNSUPPORTED)

    def change(self, mode):
        if mode != self.mode:
            self.mode, self.target, self.takeoff_to = mode, None, None
            self.hold_at = (*self.vehicle.p, heading(self.vehicle.q))
            self.report["modes"].append(mode)

    def parameter(self, name):
        if name in self.ints:
            value = self.ints[name]
            value = struct.unpack("<f", struct.pack("<i", value))[0] if PX4 else float(value)
            kind = MAV.MAV_PARAM_TYPE_INT32
        elif name in self.floats:
            value, kind = self.floats[name], MAV.MAV_PARAM_TYPE_REAL32
        else:
            return
        self.send(MAV.MAVLink_param_value_message(name.encode(), value, kind, 900, 65535))

    def set_parameter(self, m):
        name = m.param_id.rstrip("\0")
        if self.armed:
            self.report["set_armed"].append(name)
        if name in self.ints and m.param_type == MAV.MAV_PARAM_TYPE_INT32:
            self.ints[name] = struct.unpack("<i", struct.pack("<f", m.param_value))[0] if PX4 else int(m.param_value)
            self.report["parameters"].setdefault(name, []).append(self.ints[name])
        elif name in self.floats and m.param_type == MAV.MAV_PARAM_TYPE_REAL32:
            self.floats[name] = m.param_value
            self.report["parameters"].setdefault(name, []).append(m.param_value)
        self.parameter(name)

    # What it does.
    def events(self):
        v = self.vehicle
        if self.armed and not v.landed and v.p[2] < -0.3 and self.took_off_at is None:
            self.took_off_at = self.now
        since = self.now - self.took_off_at if self.took_off_at else -1

        def happens(name):
            at = option(name, 0)
            if at and since >= at and name not in self.done:
                self.done.add(name)
                return True
            return False

        if happens("pilot"):
            self.change(PILOT)
        if self.mode == LAND and not self.landing_since:
            self.landing_since = self.now
        if self.landing_since and 0 < option("pilot_in_landing", 0) <= self.now - self.landing_since and "landing" not in self.done:
            self.done.add("landing")
            self.change(PILOT)
        if self.armed and 0 < option("pilot_disarms", 0) <= self.now - self.armed_at and "disarms" not in self.done:
            self.done.add("disarms")
            self.armed = False
        if happens("failsafe"):
            self.reason = "Failsafe: battery critical, returning"
            if not option("late_reason", 0):
                self.say(self.reason, MAV.MAV_SEVERITY_WARNING)
                self.reason = None
            self.change(RTL)
        if happens("reboot"):
            self.wire.quiet_until = self.now + 1.2
            self.start()
            self.boot = self.now
        if happens("quiet"):
            self.wire.quiet_until = self.now + option("quiet_for", 1.5)
            self.unplugged = True
        if happens("stall"):
            self.wire.stalled_until = self.now + option("stall_for", 1.5)
        if self.unplugged and self.now >= self.wire.quiet_until:
            self.unplugged = False
            self.wire.transport.replug()
        if option("other", 0) and since >= option("other_at", 3.0):
            self.other = self.other or Liar(int(option("other", 0)))
            if self.now >= self.other_due:
                self.other_due = self.now + 0.05
                for lie in self.other.lies(self.now):
                    self.wire.send(lie, self.now)
        if self.forger:
            self.forger.forge(self.now)
        if self.armed and self.mode == COMMANDED:
            if PX4 and self.now - self.heard > self.floats["COM_OF_LOSS_T"]:
                self.say("Failsafe activated: offboard signal lost")
                self.change(RTL)
            if not PX4 and self.target and self.now - self.heard > self.floats["GUID_TIMEOUT"]:
                self.target = ("attitude", attitude_of((0, 0, 1), heading(v.q)), (0, 0, 0), None)
        if self.armed and v.landed:
            self.landed_at = self.landed_at or self.now
            # Not while it waits for its take-off, but for ten seconds.
            patience = option("patience", 1.0 if self.took_off_at else 10.0)
            if self.now - self.landed_at > patience and (self.mode == LAND or not self.took_off_at):
                self.armed = False
        else:
            self.landed_at = None
        self.report["top"] = max(self.report["top"], -v.p[2])

    def control(self):
        """Rates and thrust for what it follows."""
        v, target = self.vehicle, self.target
        place = None
        if self.mode in (HOLD, RTL, PILOT):
            x, y, z, yaw = self.hold_at or (*v.p, heading(v.q))
            place = ((x, y, z), (0, 0, 0), (0, 0, 0), yaw, 0)
        elif self.mode == LAND:
            x, y, _, yaw = self.hold_at
            place = ((x, y, v.p[2] + 0.7), (0, 0, 0), (0, 0, 0), yaw, 0)
        elif self.takeoff_to is not None:
            x, y, _, yaw = self.hold_at
            place = ((x, y, -self.takeoff_to), (0, 0, 0), (0, 0, 0), yaw, 0)
        elif target is None:
            x, y, z, yaw = self.hold_at or (*v.p, heading(v.q))
            place = ((x, y, z), (0, 0, 0), (0, 0, 0), yaw, 0)
        elif target[0] == "place":
            place = target[1:]
        if place:
            if v.landed and place[0][2] >= v.p[2] - 0.05:
                return (0, 0, 0), 0.0
            return self.fly_to(*place)
        if target[0] == "rates":
            self.shaped = None
            return target[1], self.thrust(target[2])
        _, q, rates, u = target
        return self.turn_to(q, rates), self.thrust(u, q)

    def thrust(self, u, q=None):
        if PX4:
            return u
        if u is None or not self.ints["GUID_OPTIONS"] & 8:
            rate = 0.0 if u is None else (min(max(u, 0), 1) - 0.5) * 2 * 2.5
            return min(max(self.hover() * (1 + (rate + self.vehicle.v[2]) / G * 2), 0), 1)
        cosine = down(q or self.vehicle.q)[2]
        boost = min(max(10 * down(self.vehicle.q)[2], 0), 1) / min(max(cosine, 0.1), 1) if self.ints["ATC_ANGLE_BOOST"] else 1
        return min(max(u, -1), 1) * boost

    def hover(self):
        """What its own controller has learnt."""
        low, high = 0.0, 1.0
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.vehicle.force(middle) < G else (low, middle)
        return low

    def fly_to(self, p, v, a, yaw, yaw_rate):
        me = self.vehicle
        wanted = []
        for i in range(3):
            speed = min(max(1.5 * (p[i] - me.p[i]), -3), 3) + v[i]
            wanted.append(min(max(3.5 * (speed - me.v[i]), -8), 8) + a[i])
        lift = (-wanted[0], -wanted[1], G - wanted[2])
        size = math.sqrt(sum(c * c for c in lift))
        q = attitude_of(unit(lift), yaw)
        z = down(me.q)
        along = max(0.1, sum(c * d for c, d in zip(lift, z)))
        low, high = 0.0, 1.0
        for _ in range(20):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if me.force(middle) < min(along, size) else (low, middle)
        return self.turn_to(q, (0, 0, yaw_rate)), low

    def turn_to(self, q, rates):
        if PX4:
            return towards(self.vehicle.q, q, rates, GAINS)
        # A target of its own turns there, and the vehicle follows that with its rates.
        target = self.vehicle.q if self.vehicle.landed or self.shaped is None else self.shaped
        rates = towards(target, q, rates, 3 * (1 / INPUT_TIME,))
        self.shaped = unit(multiply(target, (1, *(0.5 * STEP * c for c in rates))))
        return towards(self.vehicle.q, self.shaped, rates, GAINS)

    def run(self):
        last = time.monotonic()
        # Nothing is written there: it is readable once it has ended.
        while not select.select([sys.stdin], [], [], 0)[0]:
            self.now = time.monotonic()
            self.receive()
            self.arm()
            self.wire.flush(self.now)
            for ack in [a for a in self.acks if a[0] <= self.now]:
                self.acks.remove(ack)
                self.send(MAV.MAVLink_command_ack_message(ack[1], ack[2]))
            self.events()
            # A program that had to wait for its turn has flown meanwhile with what it knew.
            self.report["stall_ms"] = max(self.report["stall_ms"], 1000 * (self.now - last))
            while last + STEP <= self.now:
                last += STEP
                rates, self.u = self.control() if self.armed else ((0, 0, 0), 0.0)
                before, speed = self.vehicle.landed, self.vehicle.v[2]
                self.vehicle.step(STEP, self.armed, rates, self.u)
                if self.vehicle.landed and not before:
                    self.report["touchdown"] = max(self.report["touchdown"], speed)
            self.telemetry()
            time.sleep(STEP)


def transport(place):
    if place.startswith("serial:"):
        _, path, baud = place.split(":")
        return Line(path, int(baud))
    host, port = place.split(":")
    return Datagrams(host, int(port))


def main():
    autopilot = Autopilot(Wire(transport(sys.argv[1])))

    autopilot.run()
    report = autopilot.report
    report["armed_at_end"] = autopilot.armed
    report["landed"] = autopilot.vehicle.landed
    report["mode"] = autopilot.mode
    report["ints"] = autopilot.ints
    report["forged"] = autopilot.forger.count if autopilot.forger else 0
    report["unsent"] = getattr(autopilot.wire.transport, "dropped", 0)
    print(json.dumps(report), flush=True)


main()
