# SPDX-License-Identifier: Apache-2.0
"""Which libquoit runs."""

from __future__ import annotations

from ._c import lib, text


def library_version() -> str:
    """The version of the libquoit that is running, as "MAJOR.MINOR.PATCH"; it may be newer than the package's."""
    return text(lib.quoit_version())
