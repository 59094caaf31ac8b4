# SPDX-License-Identifier: Apache-2.0
"""Builds the extension against the libquoit that pkg-config knows; the version is that library's."""

import os
import sys

from setuptools import setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build_quoit

setup(version=build_quoit.version(), cffi_modules=["build_quoit.py:ffibuilder"])
