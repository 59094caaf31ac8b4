# SPDX-License-Identifier: Apache-2.0
"""What is read off Ray's lists."""

import pytest

from quoit.ray.cluster import Listing

LIVE, REMOVED = "1a" * 18, "2b" * 18


@pytest.mark.parametrize(
    ("resource", "is_settling"),
    [
        (f"TPU_group_{REMOVED}", True),
        (f"TPU_group_3_{REMOVED}", True),
        (f"bundle_group_12_{REMOVED}", True),
        (f"TPU-v6e-16-head_group_0_{REMOVED}", True),
        (f"TPU_group_0_{LIVE}", False),
        (f"bundle_group_{LIVE}", False),
        ("TPU", False),
        ("my_group_a", False),
        ("rack_group_7", False),
        (f"rack_group_{'2b' * 17}", False),
        (f"rack_group_{'2b' * 17}zz", False),
    ],
)
def test_a_cluster_settles_while_a_node_lists_what_a_removed_group_had(resource, is_settling):
    listing = Listing([], {LIVE: {}}, {"node": {"CPU": 1.0, resource: 1.0}}, "c" * 56)
    assert listing.is_settling() is is_settling
