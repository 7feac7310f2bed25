"""Plays a ground station with pymavlink; it knows nothing of the code that it tests.

usage: station.py

Listens on a UDP port that the system chooses and prints it. Asks what ground stations ask, and tries to arm. Ends when nothing has come for two
seconds and prints everything that came, by its message.
"""

import json
import os
import socket
import sys
import time

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import all as mav  # noqa: E402


def main():
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(("127.0.0.1", 0))
    print(link.getsockname()[1], flush=True)
    ours = mav.MAVLink(None, srcSystem=255, srcComponent=190)
    ours.robust_parsing = True
    came = {}
    bad = 0
    asked = False
    link.settimeout(30)
    while True:
        try:
            data, peer = link.recvfrom(2048)
        except TimeoutError:
            break
        link.settimeout(2)
        for message in ours.parse_buffer(data) or []:
            kind = message.get_type()
            bad += kind == "BAD_DATA"
            if kind != "BAD_DATA":
                fields = message.to_dict()
                fields["from"] = [message.get_srcSystem(), message.get_srcComponent()]
                fields["at"] = time.time()
                came.setdefault(kind, []).append(fields)
        if not asked:
            asked = True
            for question in (
                ours.heartbeat_encode(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, 0),
                ours.param_request_list_encode(1, 1),
                ours.command_long_encode(1, 1, mav.MAV_CMD_REQUEST_MESSAGE, 0, 148, 0, 0, 0, 0, 0, 0),
                ours.command_long_encode(1, 1, mav.MAV_CMD_REQUEST_MESSAGE, 0, 435, 0, 0, 0, 0, 0, 0),
                ours.command_long_encode(1, 1, mav.MAV_CMD_COMPONENT_ARM_DISARM, 0, 0, 21196, 0, 0, 0, 0, 0),
                ours.command_long_encode(1, 1, mav.MAV_CMD_DO_FLIGHTTERMINATION, 0, 1, 0, 0, 0, 0, 0, 0),
                ours.mission_request_list_encode(1, 1),
            ):
                link.sendto(question.pack(ours), peer)
            link.sendto(bytes(range(256)), peer)
    json.dump({"bad": bad, "came": came}, sys.stdout)


main()
