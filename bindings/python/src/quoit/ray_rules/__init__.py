# SPDX-License-Identifier: Apache-2.0
"""Ray's own rules as functions: what Ray 2.60 would say, asked without Ray.

All are pure: no state, no environment, no clock; any thread may call them. They answer what Ray answers, also where
that is odd, and refuse what Ray refuses with `quoit.InvalidError` and a message of their own.
"""
