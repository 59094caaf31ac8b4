#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A step of the action: finds the command, or builds it, and writes its path to the output "command" of the step.
set -euo pipefail

command=${QUOIT_COMMAND:-$(command -v quoit || :)}
if [ -z "$command" ]; then
  top=$(cd -- "$GITHUB_ACTION_PATH/../.." && pwd)
  echo "::group::Building quoit"
  # ./dev installs missing packages, which only root may.
  if [ "$(id -u)" -eq 0 ]; then
    "$top/dev" build
  else
    sudo "$top/dev" build
  fi
  echo "::endgroup::"
  command=$top/build/cli/quoit
fi
if ! version=$("$command" --version); then
  echo "::error title=quoit::input quoit '$command': expected a command that prints its version"
  exit 1
fi
echo "$version: $command"
printf 'command=%s\n' "$command" >>"$GITHUB_OUTPUT"
