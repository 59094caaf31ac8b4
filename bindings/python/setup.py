# SPDX-License-Identifier: Apache-2.0
"""Builds the extension against the libquoit that pkg-config knows; the version is that library's."""

import os
import sys
import sysconfig

from setuptools import setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build_quoit

# cffi keeps to the stable ABI: one wheel serves every CPython from 3.9. A free-threaded one has no stable ABI.
options = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"bdist_wheel": {"py_limited_api": "cp39"}}
# What an earlier build left in build/ may be linked with another libquoit: setuptools looks at the source alone.
options["build_ext"] = {"force": True}

setup(version=build_quoit.version(), cffi_modules=["build_quoit.py:ffibuilder"], options=options)
