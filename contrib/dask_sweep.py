#!/usr/bin/env python3
"""Fly a campaign on a Dask cluster: one task a shard, then the table.

    python contrib/dask_sweep.py quadcopter.toml --shards 8                            # a cluster of this machine
    python contrib/dask_sweep.py plan.toml --shards 400 --scheduler tcp://host:8786    # one that is there
    python contrib/dask_sweep.py plan.toml --shards 8 -- --flights 500 --set flight.duration=5

What stands behind `--` goes to `fly sweep`. Needs the PyPI package `distributed`, `fly` on the PATH of every worker, and a folder
(--folder) that all of them see. A shard whose worker dies is flown on by another one: its `fly` dies with it (on Linux), and its
journal keeps what was finished.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BUSY = 75  # `fly sweep`: another one writes this journal
OURS = ("--shard", "--jobs", "--out", "--merge", "--rerun", "--log", "--json", "--restart", "--fail-on")


def dies_with(parent):
    """For a child of this process: the kernel kills it when the worker dies, which cannot do so itself then."""

    def prepare():
        if hasattr(libc, "prctl"):
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it has died already
            os._exit(1)

    libc = ctypes.CDLL(None)
    return prepare


def fly_shard(fly, plan, number, shards, folder, more, patience):
    """One shard, with one thread; returns its journal."""
    stem = Path(folder) / Path(plan).stem
    command = [fly, "sweep", plan, "--shard", f"{number}/{shards}", "--jobs", "1", "--out", str(stem), *more]
    end = time.monotonic() + patience
    while True:
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=dies_with(os.getpid()))
        if done.returncode != BUSY or time.monotonic() > end:
            break
        time.sleep(0.5)  # the worker that flew it before is about to end
    if done.returncode != 0:
        raise RuntimeError(f"shard {number}/{shards} ended with {done.returncode}: {done.stderr.strip()}")
    return f"{stem}-{number}-of-{shards}.journal"


def read(argv):
    """The arguments of this script, and those of `fly sweep`."""
    split = argv.index("--") if "--" in argv else len(argv)
    own, more = argv[:split], argv[split + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("plan", help="the plan, as for `fly sweep`")
    parser.add_argument("--shards", type=int, default=8, help="tasks (default: 8)")
    parser.add_argument("--scheduler", help="its address (default: a cluster of processes on this machine)")
    parser.add_argument("--workers", type=int, help="processes of that cluster (default: one a core)")
    parser.add_argument("--folder", default=".", help="where journals and table go (default: the current folder)")
    parser.add_argument("--fly", default="fly", help="the command (default: fly)")
    parser.add_argument(
        "--patience", type=float, default=60.0, help="how long to wait for a journal that is being written, s (default: 60)"
    )
    arguments, unknown = parser.parse_known_args(own)
    if unknown:
        parser.error(f"unknown: {' '.join(unknown)}; what is meant for `fly sweep` stands behind `--`")
    if arguments.shards < 1:
        parser.error(f"expected at least 1 shard, found {arguments.shards}")
    for argument in more:
        if argument.split("=")[0] in OURS:
            parser.error(f"this script sets {argument.split('=')[0]} itself")
    return arguments, more


def main():
    arguments, more = read(sys.argv[1:])

    from dask.distributed import Client, LocalCluster

    plan = Path(arguments.plan)
    plan = str(plan.resolve()) if plan.exists() else arguments.plan
    folder = str(Path(arguments.folder).resolve())
    cluster = None
    if arguments.scheduler is None:
        cluster = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None)
    try:
        with Client(arguments.scheduler or cluster) as client:
            given = (folder, more, arguments.patience)
            flights = [
                client.submit(fly_shard, arguments.fly, plan, number, arguments.shards, *given, retries=2, pure=False)
                for number in range(1, arguments.shards + 1)
            ]
            journals = client.gather(flights)
    finally:
        if cluster is not None:
            cluster.close()
    stem = str(Path(folder) / Path(plan).stem)
    return subprocess.run([arguments.fly, "sweep", plan, *more, "--out", stem, "--merge", *journals]).returncode


if __name__ == "__main__":
    sys.exit(main())
