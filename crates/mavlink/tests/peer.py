"""A vehicle made of pymavlink's messages, which knows nothing of the code that it tests.

usage: peer.py udpout:HOST:PORT [quadrotor|tricopter|hexarotor] [after_request]

Sends HEARTBEAT (PX4), ATTITUDE_QUATERNION, LOCAL_POSITION_NED and SYS_STATUS at 50 Hz (heartbeat and battery at 5 Hz)
until it is killed. With `after_request` the state comes only after SET_MESSAGE_INTERVAL has asked for it, and each
such request is acknowledged.
"""

import math
import os
import sys
import time

os.environ["MAVLINK20"] = "1"
from pymavlink import mavutil  # noqa: E402

MAV = mavutil.mavlink
KINDS = {
    "quadrotor": MAV.MAV_TYPE_QUADROTOR,
    "tricopter": MAV.MAV_TYPE_TRICOPTER,
    "hexarotor": MAV.MAV_TYPE_HEXAROTOR,
}


def quaternion(roll, pitch, yaw):
    """NED-from-FRD, w x y z, by the rotation matrix of the yaw-pitch-roll sequence."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    r = [
        [cp * cy, sr * sp * cy - cr * sy, cr * sp * cy + sr * sy],
        [cp * sy, sr * sp * sy + cr * cy, cr * sp * sy - sr * cy],
        [-sp, sr * cp, cr * cp],
    ]
    w = 0.5 * math.sqrt(1 + r[0][0] + r[1][1] + r[2][2])
    return [w, (r[2][1] - r[1][2]) / (4 * w), (r[0][2] - r[2][0]) / (4 * w), (r[1][0] - r[0][1]) / (4 * w)]


def main():
    kind = KINDS[sys.argv[2] if len(sys.argv) > 2 else "quadrotor"]
    wanted = set() if "after_request" in sys.argv else {30, 31, 32, 1}
    link = mavutil.mavlink_connection(sys.argv[1], source_system=7, source_component=1)
    started = time.monotonic()
    tick = 0
    while True:
        now = 5000 + int(1000 * (time.monotonic() - started))
        if tick % 10 == 0:
            armed = MAV.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | MAV.MAV_MODE_FLAG_SAFETY_ARMED
            link.mav.heartbeat_send(kind, MAV.MAV_AUTOPILOT_PX4, armed, 6 << 16, MAV.MAV_STATE_ACTIVE)
            if 1 in wanted:
                link.mav.sys_status_send(0, 0, 0, 500, 11100, 230, 64, 0, 0, 0, 0, 0, 0)
        if 31 in wanted:
            # Nose up 20 degrees, right wing down 10 degrees, heading 120 degrees.
            q = quaternion(math.radians(10), math.radians(20), math.radians(120))
            link.mav.attitude_quaternion_send(now, *q, 0.1, -0.2, 0.3)
        if 32 in wanted:
            # 4 m north, 5 m east, 6 m up; flying 1 m/s north, 2 m/s east, 3 m/s down.
            link.mav.local_position_ned_send(now, 4, 5, -6, 1, 2, 3)
        while (message := link.recv_match(blocking=False)) is not None:
            if message.get_type() == "COMMAND_LONG" and message.command == MAV.MAV_CMD_SET_MESSAGE_INTERVAL:
                wanted.add(int(message.param1))
                link.mav.command_ack_send(message.command, MAV.MAV_RESULT_ACCEPTED)
        tick += 1
        time.sleep(0.02)


main()
