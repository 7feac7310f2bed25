"""Writes wrenches.json: forces and moments of RotorPy's `Multirotor.compute_body_wrench`, in body axes about the centre of mass, and
motors.json: the rates of its rotors' speeds. Needs
the PyPI packages `rotorpy` (written with 3.0.0) and `numpy`.

The first vehicle is RotorPy's hummingbird; the others have random coefficients and rotors off their plane."""

import json
from pathlib import Path

import numpy as np
from rotorpy.vehicles.hummingbird_params import quad_params
from rotorpy.vehicles.multirotor import Multirotor

random = np.random.default_rng(20260101)


def parameters(index):
    own = dict(quad_params)
    if index > 0:
        for key, (low, high) in {"c_Dx": (0, 0.02), "c_Dy": (0, 0.02), "c_Dz": (0, 0.02)}.items():
            own[key] = random.uniform(low, high)
        powers = {"k_eta": (-6, -4), "k_m": (-8, -6), "k_d": (-5, -3), "k_z": (-5, -3), "k_h": (-3, -2), "k_flap": (-6, -4)}
        for key, (low, high) in powers.items():
            own[key] = 10 ** random.uniform(low, high)
        own["rotor_pos"] = {name: r + random.uniform(-0.05, 0.05, 3) for name, r in own["rotor_pos"].items()}
    return own


def state(vehicle):
    omega, speeds, airspeed = random.uniform(-8, 8, 3), random.uniform(0, 1500, 4), random.uniform(-15, 15, 3)
    force, moment = vehicle.compute_body_wrench(omega, speeds, airspeed)
    values = {"angular_velocity": omega, "rotor_speeds": speeds, "airspeed": airspeed, "force": force, "moment": moment}
    return {key: value.tolist() for key, value in values.items()}


vehicles = []
for index in range(12):
    own = parameters(index)
    vehicle = Multirotor(own)
    entry = {"c_D": [own["c_Dx"], own["c_Dy"], own["c_Dz"]]}
    entry |= {key: own[key] for key in ["k_eta", "k_m", "k_d", "k_z", "k_h", "k_flap"]}
    entry["rotor_positions"] = [r.tolist() for r in own["rotor_pos"].values()]
    entry["rotor_directions"] = [int(sign) for sign in own["rotor_directions"]]
    entry["states"] = [state(vehicle) for _ in range(6)]
    vehicles.append(entry)
(Path(__file__).parent / "wrenches.json").write_text(json.dumps({"vehicles": vehicles}, indent=1) + "\n")

# The rates of the rotors' speeds, `_s_dot_fn`, for commands within and beyond the limits that `step` clips.
motors = []
for index in range(12):
    own = dict(quad_params)
    if index > 0:
        own["tau_m"] = 10 ** random.uniform(-3, -1)
        own["k_eta"] = 10 ** random.uniform(-6, -4)
    vehicle = Multirotor(own)
    entry = {key: own[key] for key in ["k_eta", "tau_m", "rotor_speed_max"]}
    entry["states"] = []
    for _ in range(6):
        speeds, commands = random.uniform(0, 1500, 4), random.uniform(-100, 1700, 4)
        clipped = np.clip(commands, vehicle.rotor_speed_min, vehicle.rotor_speed_max)
        packed = np.concatenate([random.uniform(-5, 5, 6), [0, 0, 0, 1], random.uniform(-5, 5, 6), speeds])
        rates = vehicle._s_dot_fn(0, packed, clipped)[16:]
        entry["states"].append({"speeds": speeds.tolist(), "commands": commands.tolist(), "rates": rates.tolist()})
    motors.append(entry)
(Path(__file__).parent / "motors.json").write_text(json.dumps({"vehicles": motors}, indent=1) + "\n")
