"""Writes pinocchio.json: what Pinocchio makes of the robots beside it. Needs the PyPI package `pin`; written with 4.1.0."""

import json
from pathlib import Path

import numpy as np
import pinocchio as pin

FOLDER = Path(__file__).parent
STATES = 3


def state(model, random):
    """A random state: the coordinates of every joint by its name, and as Pinocchio has them (quaternions x, y, z, w)."""
    q = pin.neutral(model)
    coordinates = {}
    for joint, name in list(zip(model.joints, model.names))[1:]:
        if joint.nv == 6:
            position = random.uniform(-1, 1, 3)
            quaternion = random.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            q[joint.idx_q : joint.idx_q + 7] = [*position, *quaternion[1:], quaternion[0]]
            coordinates[name] = [*position, *quaternion]
        else:
            value = random.uniform(-1, 1)
            q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
            coordinates[name] = [value]
    return q, coordinates


def robot(file, free, random):
    root = [pin.JointModelFreeFlyer()] if free else []
    model = pin.buildModelFromUrdf(str(FOLDER / file), *root)
    data = model.createData()
    states = []
    for _ in range(STATES):
        q, coordinates = state(model, random)
        v, a = random.uniform(-1, 1, (2, model.nv))
        torque = pin.rnea(model, data, q, v, a)
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        pin.framesForwardKinematics(model, data, q)
        links = [f for f in model.frames if f.type == pin.FrameType.BODY and f.name != "universe"]
        poses = {f.name: data.oMf[model.getFrameId(f.name, pin.FrameType.BODY)].homogeneous.tolist() for f in links}
        states.append(
            {
                "coordinates": coordinates,
                "velocity": v.tolist(),
                "acceleration": a.tolist(),
                "torque": torque.tolist(),
                "mass_matrix": mass.tolist(),
                "poses": poses,
            }
        )
    joints = [{"name": n, "dof": j.nv, "start": j.idx_v} for j, n in list(zip(model.joints, model.names))[1:]]
    return {"file": file, "free": free, "joints": joints, "states": states}


random = np.random.default_rng(5)
robots = [robot("arm6.urdf", False, random), robot("mobile_arm.urdf", False, random), robot("mobile_arm.urdf", True, random)]
(FOLDER / "pinocchio.json").write_text(json.dumps(robots, indent=None, separators=(",", ":")) + "\n")
