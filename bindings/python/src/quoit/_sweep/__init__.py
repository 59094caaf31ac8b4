# SPDX-License-Identifier: Apache-2.0
"""The parts of `quoit.sweep`: values, the folder, the processes that run the cases, and the progress bar."""
