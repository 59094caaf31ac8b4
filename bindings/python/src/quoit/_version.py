# SPDX-License-Identifier: Apache-2.0
"""The version of libquoit."""

from __future__ import annotations

from ._c import lib, text


def library_version() -> str:
    """Returns the version of the loaded libquoit, "MAJOR.MINOR.PATCH". It can be newer than the package's version."""
    return text(lib.quoit_version())
