# SPDX-License-Identifier: Apache-2.0
"""The version of libquoit."""

from __future__ import annotations

from ._c import lib, text


def library_version() -> str:
    """Returns the version of the running libquoit as "MAJOR.MINOR.PATCH". It can be newer than that of the package."""
    return text(lib.quoit_version())
