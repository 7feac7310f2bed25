"""Opens logs as the viewers do: `python viewers.py LAYOUTS LOG...`, with PyPI's mcap, foxglove-schemas-protobuf and rerun-sdk.

Prints a line for each log. The first thing that is wrong ends it.
"""

import importlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.unknown_fields import UnknownFieldSet
from mcap.reader import make_reader


def official(name):
    """Foxglove's own message."""
    short = name.removeprefix("foxglove.")
    return getattr(importlib.import_module(f"foxglove_schemas_protobuf.{short}_pb2"), short)


def compare(ours, theirs):
    """Every field of ours is theirs: name, number, type, cardinality, and the values of enumerations."""
    for field in ours.fields:
        other = theirs.fields_by_name.get(field.name)
        assert other is not None, f"Foxglove has no {field.full_name}"
        for key in ("number", "type", "is_repeated", "has_presence"):
            assert getattr(field, key) == getattr(other, key), f"{field.full_name}: {key}"
        if field.message_type:
            assert field.message_type.full_name == other.message_type.full_name, field.full_name
            if field.message_type.full_name.startswith("foxglove."):
                compare(field.message_type, other.message_type)
        if field.enum_type:
            values = lambda enum: {value.name: value.number for value in enum.values}
            assert values(field.enum_type).items() <= values(other.enum_type).items(), field.full_name


def unknown(message):
    """Whether the message holds anything that its schema does not have."""
    if len(UnknownFieldSet(message)):
        return True
    nested = []
    for field, value in message.ListFields():
        if field.message_type:
            nested.extend(value if field.is_repeated else [value])
    return any(map(unknown, nested))


def finite(message):
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        for one in values:
            if field.message_type:
                finite(one)
            elif isinstance(one, float):
                assert math.isfinite(one), field.full_name
        if field.message_type and field.message_type.name == "Quaternion":
            for q in values:
                norm = math.sqrt(q.x**2 + q.y**2 + q.z**2 + q.w**2)
                assert abs(norm - 1) < 1e-6, f"{message.DESCRIPTOR.full_name}: a quaternion of length {norm}"


class Log:
    def __init__(self, path):
        self.path, self.schemas, self.topics = path, {}, {}
        self.frames, self.drawn, self.joints, self.entities = set(), {}, set(), 0
        with open(path, "rb") as file:
            for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
                self.take(schema, channel, message)
        # What is drawn is drawn in a frame that is there, else nobody sees it.
        for topic, frames in self.drawn.items():
            missing = frames - self.frames - {"world"}
            assert not missing, f"{path}: {topic} draws in {missing}, which no transform has"

    def take(self, schema, channel, message):
        name = schema.name
        assert schema.encoding == channel.message_encoding == "protobuf"
        if name not in self.schemas:
            files = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
            pool = descriptor_pool.DescriptorPool()
            for file in files.file:
                pool.Add(file)
            own = pool.FindMessageTypeByName(name)
            if name.startswith("foxglove."):
                compare(own, official(name).DESCRIPTOR)
            self.schemas[name] = message_factory.GetMessageClass(own)
        self.topics.setdefault(channel.topic, [self.schemas[name].DESCRIPTOR, 0])[1] += 1
        if not name.startswith("foxglove."):
            return
        read = official(name).FromString(message.data)
        assert not unknown(read), f"{name} holds what Foxglove does not know"
        finite(read)
        if name == "foxglove.FrameTransforms":
            for transform in read.transforms:
                assert transform.parent_frame_id == "world"
                self.frames.add(transform.child_frame_id)
        if name == "foxglove.SceneUpdate":
            for entity in read.entities:
                self.drawn.setdefault(channel.topic, set()).add(entity.frame_id)
                shapes = [entity.arrows, entity.cubes, entity.spheres, entity.cylinders, entity.lines]
                self.entities += sum(map(len, shapes))
        if name == "foxglove.JointStates":
            names = [joint.name for joint in read.joints]
            assert all(names) and len(set(names)) == len(names), names
            self.joints.update(names)

    def rerun(self, folder):
        """Rerun knows every frame as a transform. Foxglove's shapes it has as data, which it does not draw (as of 0.41)."""
        rrd = pathlib.Path(folder) / "log.rrd"
        def run(*arguments):
            command = [sys.executable, "-m", "rerun", *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout

        run("mcap", "convert", self.path, "-o", rrd)
        columns = {}
        for entity, names in re.findall(r" - (/\S*) - data columns: \[([^]]*)\]", run("rrd", "print", rrd)):
            columns.setdefault(entity, set()).update(names.split())
        printed = run("rrd", "print", "-vvv", rrd)
        for topic, (descriptor, _) in self.topics.items():
            name = descriptor.full_name
            expected = {
                "foxglove.FrameTransforms": "Transform3D:child_frame",
                "foxglove.PoseInFrame": "InstancePoses3D:translations",
                "foxglove.Log": "TextLog:text",
            }.get(name, f"{name}:message")
            assert expected in columns.get(topic, set()), f"{topic}: {columns.get(topic)}, not {expected}"
        missing = [frame for frame in self.frames if frame not in printed]
        assert not missing, f"{self.path}: Rerun lacks {missing}"

    def field(self, topic, path):
        """Whether a message of the topic has such a field, as `rotors[0].thrust`."""
        descriptor, _ = self.topics[topic]
        for part in path.split("."):
            name = re.sub(r"\[\d+\]$", "", part)
            if descriptor is None or name not in descriptor.fields_by_name:
                return False
            descriptor = descriptor.fields_by_name[name].message_type
        return True


def layouts(folder, log):
    """Every signal of the layouts is in this log."""
    config = json.loads((folder / "foxglove.json").read_text())
    named = set()

    def walk(node):
        if isinstance(node, str):
            assert node in config["configById"], node
            named.add(node)
        else:
            assert node["direction"] in ("row", "column")
            walk(node["first"])
            walk(node["second"])

    walk(config["layout"])
    assert named == set(config["configById"])
    count = 0
    for panel in config["configById"].values():
        for topic in panel.get("topics", {}):
            assert topic in log.topics, topic
            count += 1
        for path in panel.get("paths", []):
            topic, field = path["value"].split(".", 1)
            assert log.field(topic, field), path["value"]
            count += 1
    for curve in xml.parse(folder / "plotjuggler.xml").iter("curve"):
        name = curve.get("name")
        topic = max((t for t in log.topics if name.startswith(t + "/")), key=len)
        assert log.field(topic, name[len(topic) + 1 :].replace("/", ".")), name
        count += 1
    print(f"layouts: {count} signals and topics, all of them in {log.path}")


def main():
    folder, paths = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for index, path in enumerate(paths):
        log = Log(path)
        if index == 0:
            layouts(folder, log)
        with tempfile.TemporaryDirectory() as temporary:
            log.rerun(temporary)
        print(
            f"{pathlib.Path(path).name}: {len(log.topics)} topics, frames {sorted(log.frames)}, "
            f"{log.entities} shapes in {sorted(log.drawn)}, joints {sorted(log.joints)}"
        )


main()
