#!/usr/bin/env python3
"""Fly a campaign on a Dask cluster: one task a shard, then the table.

    python contrib/dask_sweep.py quadcopter.toml --shards 8                            # a cluster of this machine
    python contrib/dask_sweep.py plan.toml --shards 400 --scheduler tcp://host:8786    # one that is there

Needs the PyPI package `distributed`, `fly` on the PATH of every worker, and a folder (--folder) that all of them see. A shard
whose worker dies is flown on by another one: its journal keeps what was finished.
"""

import argparse
import subprocess
import sys
from pathlib import Path


def fly_shard(fly, plan, number, shards, folder, more):
    """One shard, with one thread; returns its journal."""
    stem = Path(folder) / Path(plan).stem
    command = [fly, "sweep", plan, "--shard", f"{number}/{shards}", "--jobs", "1", "--out", str(stem), *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"shard {number}/{shards} ended with {done.returncode}: {done.stderr.strip()}")
    return f"{stem}-{number}-of-{shards}.journal"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="the plan, as for `fly sweep`")
    parser.add_argument("--shards", type=int, default=8, help="tasks (default: 8)")
    parser.add_argument("--scheduler", help="its address (default: a cluster of processes on this machine)")
    parser.add_argument("--workers", type=int, help="processes of that cluster (default: one a core)")
    parser.add_argument("--folder", default=".", help="where journals and table go (default: the current folder)")
    parser.add_argument("--fly", default="fly", help="the command (default: fly)")
    arguments, more = parser.parse_known_args()  # what is left goes to `fly sweep`

    from dask.distributed import Client, LocalCluster

    plan = Path(arguments.plan)
    plan = str(plan.resolve()) if plan.exists() else arguments.plan
    folder = str(Path(arguments.folder).resolve())
    cluster = None
    if arguments.scheduler is None:
        cluster = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None)
    try:
        with Client(arguments.scheduler or cluster) as client:
            shards = range(1, arguments.shards + 1)
            flights = [
                client.submit(fly_shard, arguments.fly, plan, number, arguments.shards, folder, more, retries=2, pure=False)
                for number in shards
            ]
            journals = client.gather(flights)
    finally:
        if cluster is not None:
            cluster.close()
    stem = str(Path(folder) / Path(plan).stem)
    return subprocess.run([arguments.fly, "sweep", plan, *more, "--out", stem, "--merge", *journals]).returncode


if __name__ == "__main__":
    sys.exit(main())
