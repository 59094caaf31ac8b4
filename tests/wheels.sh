#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheels.sh [FILE]: prints the folder of a Python environment with the wheels of FILE and of the files that it
# includes. Default: the file requirements.txt next to this script. The environment is made once, below $QUOIT_VENV or
# else in the build tree. Prints the reason and exits with 77 if it cannot be made. Run its tools as `python -m TOOL`:
# the finished environment is moved, and scripts contain the path of their interpreter. $QUOIT_RAY is the version of Ray
# to use instead of the one in FILE, such as 2.59.0; each version has an environment of its own.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
requirements=${1:-$here/requirements.txt}
venvs=${QUOIT_VENV:-${top_builddir:?expected it or QUOIT_VENV}/tests/venv}

skip ()
{
  echo "cannot be asked: $*" >&2
  exit 77
}

# Candidates for Python: the first on the path, then newer versions elsewhere.
list_pythons ()
{
  printf '%s\n' python3 /usr/bin/python3 python3.14 python3.13 python3.12
  ! command -v pyenv >/dev/null || printf '%s\n' "$(pyenv root)"/versions/3.*/bin/python3
}

# Finds a Python that can make an environment. Some lack venv or pip, or are older than the line "# python >= 3.12" of
# the requirements allows.
find_python ()
{
  least=$(sed -n 's/^# python >= //p' "$requirements")
  for python in $(list_pythons); do
    if command -v "$python" >/dev/null && "$python" -c 'import ensurepip, sys, venv
sys.exit(sys.version_info < tuple(map(int, sys.argv[1].split("."))))' "${least:-3}" 2>/dev/null; then
      return 0
    fi
  done
  skip "no python3${least:+ from $least on} with venv and pip"
}

# make_venv DIR: makes DIR atomically, even if several processes do so at the same time.
make_venv ()
{
  find_python
  new=$1.$$
  mkdir -p "$venvs"
  # With flock, other processes wait for this environment instead of making another.
  if command -v flock >/dev/null; then
    exec 9>"$1.lock"
    flock 9
    [ ! -d "$1" ] || return 0
  fi
  trap 'rm -rf "$new" "$new.log" "$new.files"' EXIT
  mkdir "$new.files"
  list_requirements "$requirements" >"$new.files/requirements.txt"
  echo "installing the wheels of $requirements${QUOIT_RAY:+ with ray $QUOIT_RAY} below $venvs" >&2
  if ! "$python" -m venv "$new" >"$new.log" 2>&1 ||
    ! "$new/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --retries 1 --timeout 60 \
      -r "$new.files/requirements.txt" >"$new.log" 2>&1; then
    skip "the wheels of $requirements cannot be installed: $(grep -i error "$new.log" | tail -n 1)"
  fi
  mv -T "$new" "$1" 2>/dev/null || [ -d "$1" ] # another process may have made it first
  rm -rf "$new" "$new.log" "$new.files"
  trap - EXIT
}

! grep -q '^ray' "$requirements" || [ "$(uname -sm)" = 'Linux x86_64' ] ||
  skip "the rules modelled are those of the wheel for Linux x86-64"
# Includes the requirements that the file includes: each combination has its own folder.
with_included ()
{
  cat -- "$1"
  sed -n 's/^-r *//p' "$1" | while read -r included; do
    cat -- "$(dirname -- "$1")/$included"
  done
}

# list_requirements FILE: prints the requirements of FILE and of the files that it includes, with the version of Ray to
# use.
list_requirements ()
{
  grep -v '^-r' -- "$1" | sed "${QUOIT_RAY:+s/^\(ray[^=]*\)==.*/\1==$QUOIT_RAY/}"
  sed -n 's/^-r *//p' "$1" | while read -r included; do
    list_requirements "$(dirname -- "$1")/$included"
  done
}

version=
if [ -n "${QUOIT_RAY:-}" ] && grep -q '^ray' "$requirements"; then
  case $QUOIT_RAY in
    *[!0-9.]* | .* | *.)
      echo "QUOIT_RAY '$QUOIT_RAY': expected a version of Ray, such as 2.59.0" >&2
      exit 2
      ;;
  esac
  version=-ray-$QUOIT_RAY
fi
venv=$venvs/$(with_included "$requirements" | cksum | tr ' ' -)$version
[ -d "$venv" ] || make_venv "$venv"
printf '%s\n' "$venv"
