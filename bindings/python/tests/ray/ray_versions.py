# SPDX-License-Identifier: Apache-2.0
"""The version of Ray that the tests run with, and how older versions differ from the one that quoit models.

$QUOIT_RAY chooses the version (tests/wheels.sh). With an older version, a test is skipped if it needs a function that
this version lacks, or if `DIFFERENCES` has its name: then the rule has changed since. With the modelled version and later
ones, nothing is skipped, so that a change of Ray is a failure.
"""

import re

import pytest

ray = pytest.importorskip("ray", "2.55.0")

MODELLED = (2, 60, 0)
VERSION = tuple(int(number) for number in re.findall(r"\d+", ray.__version__)[:3])

_MANAGER = "test_random_types_and_topologies_match_ray[is_valid_tpu_accelerator_topology"
DIFFERENCES = (
    (_MANAGER, (2, 60, 0), "types are not normalised, so 'TPU-5P-8' has no valid topology"),
    ("test_worker_counts_match_ray_train", (2, 60, 0), "Ray Train counts workers in a list of nodes, not in a dict"),
    ("test_random_types_and_topologies_match_ray[get_num_tpu_visible", (2, 59, 0), "v5litepod without a size is valid"),
    ("test_random_types_and_topologies_match_ray[get_chips_per_host", (2, 59, 0), "hosts of v5litepod have 8 chips"),
    ("test_random_worker_counts_match_ray", (2, 59, 0), "hosts of v5litepod have 8 chips"),
    (
        "test_slice_requests_match_ray",
        (2, 59, 0),
        "the helper has no pg_per_slice, chips_per_vm and tpu_resource_per_chip",
    ),
    ("test_worker_ids_match_ray", (2, 59, 0), "there are no sub-slices"),
    ("test_subslice_", (2, 59, 0), "there are no sub-slices"),
    ("test_scaling_matches_ray_train", (2, 59, 0), "label selectors are not of each worker"),
)
"""The beginning of the name of each test whose rule differs in older versions, the first compared version that has the
modelled rule, and the rule of the older version.
"""


class Lacking:
    """Stands for a function that this version of Ray lacks. A call skips the test."""

    n_calls = 0

    def __init__(self, module, name):
        self.__name__ = name
        self._reason = f"Ray {ray.__version__} has no {module}.{name}"

    def __call__(self, *_arguments, **_named):
        Lacking.n_calls += 1
        pytest.skip(self._reason)


class Functions:
    """The attributes of a module of Ray. An attribute that an older version lacks is a `Lacking`."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        if VERSION >= MODELLED or hasattr(self._module, name):
            return getattr(self._module, name)
        return Lacking(self._module.__name__, name)


def skip_if_different(item):
    """Skips a test if its rule differs in this version."""
    for name, since, what in DIFFERENCES:
        if item.name.startswith(name) and since > VERSION:
            pytest.skip(f"before Ray {'.'.join(map(str, since))}, {what}")
