"""MAVSDK as a ground station of a flight.

usage: mavsdk_station.py PORT

Waits for the vehicle on a UDP port, reads its telemetry, tries to disarm it. Prints what it saw.
"""

import asyncio
import json
import sys

from mavsdk import System
from mavsdk.action import ActionError


async def watch():
    vehicle = System()
    await vehicle.connect(system_address=f"udpin://127.0.0.1:{sys.argv[1]}")
    async for state in vehicle.core.connection_state():
        if state.is_connected:
            break
    telemetry = vehicle.telemetry

    async def one(stream, skip):
        async for value in stream:
            skip -= 1
            if skip < 0:
                return value

    position, attitude, armed, in_air = await asyncio.gather(
        one(telemetry.position(), 5),
        one(telemetry.attitude_quaternion(), 5),
        one(telemetry.armed(), 0),
        one(telemetry.in_air(), 0),
    )
    try:
        await vehicle.action.disarm()
        disarmed = "accepted"
    except ActionError as error:
        disarmed = str(error._result.result)
    q = [attitude.w, attitude.x, attitude.y, attitude.z]
    found = {
        "latitude": position.latitude_deg,
        "longitude": position.longitude_deg,
        "altitude": position.absolute_altitude_m,
        "norm": sum(c * c for c in q),
        "armed": armed,
        "in_air": in_air,
        "disarm": disarmed,
    }
    print(json.dumps(found))


asyncio.run(asyncio.wait_for(watch(), 40))
