# SPDX-License-Identifier: Apache-2.0
"""Builds the extension against the libquoit that pkg-config finds; the package has the version of that library."""

import os
import sys
import sysconfig

from setuptools import setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build_quoit

# cffi uses the stable ABI, so that one wheel serves every CPython from 3.9. Free-threaded CPython has no stable ABI.
options = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"bdist_wheel": {"py_limited_api": "cp39"}}
# Always link again. Otherwise setuptools would keep an extension whose source has not changed, although the extension
# can be linked with another libquoit.
options["build_ext"] = {"force": True}

setup(version=build_quoit.version(), cffi_modules=["build_quoit.py:ffibuilder"], options=options)
