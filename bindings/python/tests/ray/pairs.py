# SPDX-License-Identifier: Apache-2.0
"""Fixtures with a Ray cluster of few hosts, for tests that start many processes."""

import pathlib
import sys

import pytest

ray = pytest.importorskip("ray", "2.55.0")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests" / "differential" / "cluster"))
import tpu_fleet  # noqa: E402


@pytest.fixture(scope="session")
def pairs_cluster():
    """Three v4 slices of two hosts. In natural order s-9 comes before s-10; sorted as text, it comes after s-10."""
    with tpu_fleet.Fleet(head_cpus=2, notice_soon=True) as cluster:
        for name in ("s-9", "s-10", "s-11"):
            cluster.slice(name, "2x2x2", "v4-16", hosts=2)
        yield cluster


@pytest.fixture(scope="module")
def pairs(pairs_cluster):
    """The cluster, with this process as a driver. If the process was a driver of another cluster, it returns to that
    cluster at the end.
    """
    before = ray.get_runtime_context().gcs_address if ray.is_initialized() else None
    ray.shutdown()
    pairs_cluster.connect()
    yield pairs_cluster
    ray.shutdown()
    if before:
        ray.init(address=before, namespace="t", logging_level="error", log_to_driver=False)


@pytest.fixture
def losing(pairs):
    """The cluster, for a test that loses hosts. At the end, all lost hosts are replaced."""
    yield pairs
    alive = [tpu_fleet.node_name(row) for row in ray.nodes() if row["Alive"]]
    for name, (node, *_) in list(pairs.hosts.items()):
        if name not in alive:
            if node in pairs.cluster.worker_nodes:
                pairs.kill(name)
            pairs.replace(name)
