"""Flies the reference flights (standard input) with RotorPy's law in RotorPy's simulator, with and without aerodynamics, and in MuJoCo without.
Prints for every flight its name and the root mean square of the position's error in mm over all samples: RotorPy without and with, MuJoCo."""

import json
import sys

import mujoco
import numpy as np
from rotorpy.controllers.quadrotor_control import SE3Control
from rotorpy.vehicles.hummingbird_params import quad_params
from rotorpy.vehicles.multirotor import Multirotor

RATE = 100
flights = json.load(sys.stdin)
parameters = dict(quad_params, motor_noise_std=0)


def path(given):
    """The flat outputs by the time; yaw is zero."""

    def sines(amplitude, frequency, phase, climb=0.0):
        amplitude, frequency, phase = (np.array(it) for it in (amplitude, frequency, phase))

        def at(t):
            angle = frequency * t + phase
            x = amplitude * np.sin(angle) + np.array([0, 0, climb * t])
            v = amplitude * frequency * np.cos(angle) + np.array([0, 0, climb])
            a = -amplitude * frequency**2 * np.sin(angle)
            zero = np.zeros(3)
            return dict(x=x, x_dot=v, x_ddot=a, x_dddot=zero, x_ddddot=zero, yaw=0.0, yaw_dot=0.0, yaw_ddot=0.0)

        return at

    quarter = np.pi / 2
    match given["type"]:
        case "circle":
            turn = 2 * np.pi * np.array(given["freq_hz"])
            return sines(given["radius"], turn, [quarter, 0, 0])
        case "lissajous":
            return sines([given["A"], given["B"], 0], [given["a"], given["b"], 0], [0, 0, 0])
        case "helix":
            turn, r = 2 * np.pi * given["freq_hz"], given["radius"]
            return sines([r, r, 0], [turn, turn, 0], [quarter, 0, 0], given["climb"])


def start(at):
    flat = at(0.0)
    hover = np.sqrt(parameters["mass"] * 9.81 / 4 / parameters["k_eta"])
    return dict(
        x=flat["x"], v=flat["x_dot"], q=np.array([0, 0, 0, 1.0]), w=np.zeros(3), wind=np.zeros(3), rotor_speeds=np.full(4, hover)
    )


def error(at, duration, step):
    """Of the samples k = 0 .. duration RATE, where `step(state, control)` moves on by 1 / RATE."""
    law, state, squares = SE3Control(parameters), start(at), []
    for k in range(round(duration * RATE) + 1):
        flat = at(k / RATE)
        squares.append(np.sum((state["x"] - flat["x"]) ** 2))
        state = step(state, law.update(k / RATE, state, flat))
    return 1e3 * np.sqrt(np.mean(squares))


def rotorpy(aero):
    vehicle = Multirotor(parameters, control_abstraction="cmd_motor_speeds", aero=aero)
    return lambda state, control: vehicle.step(state, control, 1 / RATE)


def in_mujoco():
    """A free body with the same rotors, whose speeds lag exactly between steps of 0.5 ms."""
    inertia = " ".join(str(parameters[key]) for key in ("Ixx", "Iyy", "Izz"))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option integrator="RK4" timestep="0.0005" gravity="0 0 -9.81"/><worldbody><body><freejoint/>
        <inertial pos="0 0 0" mass="{parameters["mass"]}" diaginertia="{inertia}"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    step, tau = model.opt.timestep, parameters["tau_m"]
    arms = np.array(list(parameters["rotor_pos"].values()))
    k_eta, k_m, turns = parameters["k_eta"], parameters["k_m"], np.array(parameters["rotor_directions"])

    def move(state, control):
        i, j, k, w = state["q"]
        data.qpos[:] = [*state["x"], w, i, j, k]
        data.qvel[:] = [*state["v"], *state["w"]]
        wanted = np.clip(control["cmd_motor_speeds"], parameters["rotor_speed_min"], parameters["rotor_speed_max"])
        speeds = state["rotor_speeds"]
        for _ in range(round(1 / RATE / step)):
            middle = wanted + (speeds - wanted) * np.exp(-step / 2 / tau)
            speeds = wanted + (speeds - wanted) * np.exp(-step / tau)
            thrust = k_eta * middle**2
            moment = np.sum(np.cross(arms, thrust[:, None] * [0, 0, 1]), axis=0) + [0, 0, np.sum(turns * k_m * middle**2)]
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, data.qpos[3:7])
            axes = axes.reshape(3, 3)
            data.xfrc_applied[1] = [*(axes @ [0, 0, thrust.sum()]), *(axes @ moment)]
            mujoco.mj_step(model, data)
        w, i, j, k = data.qpos[3:7]
        return dict(state, x=data.qpos[:3].copy(), v=data.qvel[:3].copy(), q=np.array([i, j, k, w]), w=data.qvel[3:].copy(), rotor_speeds=speeds)

    return move


for name, given in flights["trajectories"].items():
    if name in flights["rmse_mm"]["all_samples"]["aero"]:
        at = path(given)
        errors = [error(at, given["duration"], step) for step in (rotorpy(False), rotorpy(True), in_mujoco())]
        print(json.dumps([name, *errors]))
