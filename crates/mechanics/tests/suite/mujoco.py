"""Reads descriptions, states and accelerations, builds the same systems for MuJoCo, and compares.

Every description is read anew by tomllib: bodies on fixed, revolute, prismatic, spherical and free joints with friction, inertias or shapes, and rotors. Forces
of rotors act at sites that are fixed to their bodies. Prints the largest deviations.
"""

import json
import sys
import tomllib

import mujoco
import numpy as np


def hat(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def exp(w):
    """The rotation by |w| about w."""
    angle = np.linalg.norm(w)
    if angle < 1e-12:
        return np.eye(3) + hat(w)
    k = hat(w / angle)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def left_jacobian(w):
    angle = np.linalg.norm(w)
    if angle < 1e-6:
        return np.eye(3) + hat(w) / 2
    k = hat(w)
    return np.eye(3) + (1 - np.cos(angle)) / angle**2 * k + (angle - np.sin(angle)) / angle**3 * k @ k


def quaternion(r):
    q = np.empty(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(r).flatten())
    return q


def orientation(table):
    if "rpy_deg" in table:
        roll, pitch, yaw = np.radians(table["rpy_deg"])
        axes = np.eye(3)
        return exp(yaw * axes[2]) @ exp(pitch * axes[1]) @ exp(roll * axes[0])
    if "rotation_vector" in table:
        return exp(np.array(table["rotation_vector"]))
    assert not table, table
    return np.eye(3)


def direction(rotor, tilt):
    axis = np.array(rotor["axis"], dtype=float)
    axis /= np.linalg.norm(axis)
    if "tilt" not in rotor:
        return axis
    about = np.array(rotor["tilt"]["axis"], dtype=float)
    return exp(tilt * about / np.linalg.norm(about)) @ axis


JOINTS = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}


def build(text, tilts, step):
    """The model, and the joints in the order of the bodies."""
    system = tomllib.loads(text)
    spec = mujoco.MjSpec()
    spec.compiler.autolimits = False
    # Joints have no inertia of their own; nothing touches.
    spec.option.timestep = step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    spec.option.gravity = system.get("gravity", [0, 0, -9.81])
    parents, joints, rest = {"world": spec.worldbody}, [], dict(system["bodies"])
    placed = []
    while rest:
        for name in [name for name in rest if rest[name].get("parent", "world") in parents]:
            body = rest.pop(name)
            place(parents, joints, name, body)
            placed.append(name)
    for index, rotor in enumerate(system.get("rotors", [])):
        body = parents[rotor["body"]]
        along = direction(rotor, tilts[index])
        across = np.cross(along, [1, 0, 0] if abs(along[0]) < 0.9 else [0, 1, 0])
        across /= np.linalg.norm(across)
        frame = np.column_stack([across, np.cross(along, across), along])
        body.add_site(name=f"rotor{index}", pos=rotor["position"], quat=quaternion(frame))
        actuator = spec.add_actuator(
            name=f"rotor{index}", trntype=mujoco.mjtTrn.mjTRN_SITE, target=f"rotor{index}"
        )
        actuator.gear = [0, 0, 1, 0, 0, rotor.get("drag_ratio", 0)]
    return spec.compile(), joints


def place(parents, joints, name, table):
    joint = table.get("joint", "fixed")
    joint = {"type": joint} if isinstance(joint, str) else joint
    body = parents[table.get("parent", "world")].add_body(
        name=name,
        pos=table.get("position", [0, 0, 0]),
        quat=quaternion(orientation(table.get("orientation", {}))),
    )
    parents[name] = body
    center = table.get("center_of_mass", [0, 0, 0])
    if "shape" in table:
        (kind, size), = table["shape"].items()
        geom = body.add_geom(pos=center, mass=table["mass"])
        if kind == "box":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [s / 2 for s in size]
        elif kind == "cylinder":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [size["radius"], size["height"] / 2, 0]
        else:
            assert kind == "sphere", kind
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [size["radius"], 0, 0]
    else:
        inertia = np.array(table["inertia"], dtype=float)
        inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
        body.explicitinertial = True
        body.mass, body.ipos = table["mass"], center
        i = inertia
        body.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
    if joint["type"] != "fixed":
        kind = JOINTS[joint["type"]]
        types = {
            "hinge": mujoco.mjtJoint.mjJNT_HINGE,
            "slide": mujoco.mjtJoint.mjJNT_SLIDE,
            "ball": mujoco.mjtJoint.mjJNT_BALL,
            "free": mujoco.mjtJoint.mjJNT_FREE,
        }
        made = body.add_joint(name=name, type=types[kind])
        if kind in ("hinge", "slide"):
            axis = np.array(joint["axis"], dtype=float)
            made.axis = axis / np.linalg.norm(axis)
        made.damping = joint.get("damping", 0) if np.isscalar(made.damping) else np.array([joint.get("damping", 0), 0, 0])
        joints.append((name, kind))


DOF = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}


class Simulation:
    def __init__(self, text, tilts, step):
        self.model, self.joints = build(text, tilts, step)
        self.data = mujoco.MjData(self.model)

    def set_state(self, order, moved, xi):
        """`moved`: velocities along which the neutral configuration has moved for a unit of time; both in the order of these bodies."""
        kinds, at = dict(self.joints), 0
        for name in order:
            kind = kinds[name]
            n = DOF[kind]
            u, v = np.array(moved[at : at + n]), np.array(xi[at : at + n])
            at += n
            joint = self.model.joint(name)
            q, w = joint.qposadr[0], joint.dofadr[0]
            if kind in ("hinge", "slide"):
                self.data.qpos[q], self.data.qvel[w] = u[0], v[0]
            elif kind == "ball":
                self.data.qpos[q : q + 4] = quaternion(exp(u))
                self.data.qvel[w : w + 3] = v
            else:
                rotation = exp(u[3:])
                self.data.qpos[q : q + 3] = left_jacobian(u[3:]) @ u[:3]
                self.data.qpos[q + 3 : q + 7] = quaternion(rotation)
                self.data.qvel[w : w + 3] = rotation @ v[:3]
                self.data.qvel[w + 3 : w + 6] = v[3:]

    def acceleration(self, order, thrusts):
        """In the velocity coordinates of the other side: a free body's are those of its twist in its own axes."""
        self.data.ctrl[:] = thrusts
        mujoco.mj_forward(self.model, self.data)
        kinds, numbers = dict(self.joints), []
        for name in order:
            joint = self.model.joint(name)
            q, w, n = joint.qposadr[0], joint.dofadr[0], DOF[kinds[name]]
            a = self.data.qacc[w : w + n].copy()
            if kinds[name] == "free":
                r = np.empty(9)
                mujoco.mju_quat2Mat(r, self.data.qpos[q + 3 : q + 7])
                r = r.reshape(3, 3)
                omega = self.data.qvel[w + 3 : w + 6]
                a[:3] = r.T @ a[:3] - np.cross(omega, r.T @ self.data.qvel[w : w + 3])
            numbers.extend(a)
        return np.array(numbers)


def main():
    for case in json.load(sys.stdin):
        worst = 0.0
        for state in case["states"]:
            simulation = Simulation(case["text"], state["tilts"], case["step"])
            simulation.set_state(case["order"], state["moved"], state["velocity"])
            found = simulation.acceleration(case["order"], state["thrusts"])
            expected = np.array(state["acceleration"])
            assert found.shape == expected.shape, (case["name"], found.shape, expected.shape)
            worst = max(worst, np.abs(found - expected).max() / (1 + np.abs(expected).max()))
        # The last state, flown.
        data = simulation.data
        simulation.set_state(case["order"], state["moved"], state["velocity"])
        data.ctrl[:] = state["thrusts"]
        for _ in range(case["steps"]):
            mujoco.mj_step(simulation.model, data)
        mujoco.mj_kinematics(simulation.model, data)
        apart = 0.0
        for name, pose in zip(case["bodies"], state["poses"]):
            body = data.body(name)
            apart = max(apart, np.abs(body.xpos - pose[:3]).max(), np.abs(body.xmat - pose[3:]).max())
        print(json.dumps([case["name"], worst, apart]))


main()
