"""Encodes messages with pymavlink, which knows nothing of the code that it tests.

Reads a JSON object a line (name, fields, sequence, system, component, and for a signed message key, link, timestamp) and
writes the frame's bytes as hexadecimal digits.
"""

import json
import sys

from pymavlink.dialects.v20 import all as MAV

for line in sys.stdin:
    wanted = json.loads(line)
    mav = MAV.MAVLink(None, srcSystem=wanted["system"], srcComponent=wanted["component"])
    mav.seq = wanted["sequence"]
    if "key" in wanted:
        mav.signing.secret_key = bytes.fromhex(wanted["key"])
        mav.signing.link_id = wanted["link"]
        mav.signing.timestamp = wanted["timestamp"]
        mav.signing.sign_outgoing = True
    fields = {
        name: value.encode() if isinstance(value, str) else value for name, value in wanted["fields"].items()
    }
    message = getattr(MAV, "MAVLink_%s_message" % wanted["name"].lower())(**fields)
    print(bytes(message.pack(mav)).hex())
