# SPDX-License-Identifier: Apache-2.0
"""Runs a test program on a server of its own, whose URL is in $QUOIT_TEST_SERVER."""

import os
import subprocess
import sys

import server as servers

server = servers.Server()
server.start()
try:
    status = subprocess.run(sys.argv[1:], env={**os.environ, "QUOIT_TEST_SERVER": server.url()}).returncode
finally:
    server.remove()
sys.exit(status)
