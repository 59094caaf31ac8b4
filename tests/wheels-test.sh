#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The requirements that tests/wheels.sh installs, with and without $QUOIT_RAY. A program takes the place of Python.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

holds ()
{
  sentence=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $sentence"
  fi
}

# python3 -m venv FOLDER; FOLDER/bin/python -m pip install ... -r FILE
mkdir "$tmp/bin" "$tmp/venvs"
cat >"$tmp/bin/python3" <<'PYTHON'
#!/bin/sh
case $1$2 in
  -mvenv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  -mpip)
    for file; do :; done
    cp "$file" "$INSTALLED"
    ;;
esac
PYTHON
chmod +x "$tmp/bin/python3"

# venv [VERSION]: runs wheels.sh for Ray with its dashboard, whose file includes two others.
venv ()
{
  PATH=$tmp/bin:$PATH QUOIT_VENV=$tmp/venvs QUOIT_RAY=${1:-} INSTALLED=$tmp/installed \
    sh "$top_srcdir/tests/wheels.sh" "$top_srcdir/tests/requirements-ray-dashboard.txt" 2>"$tmp/err"
}

if [ "$(uname -sm)" != 'Linux x86_64' ]; then
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi
modelled=$(venv)
holds "all included files are installed" grep -q '^pytest' "$tmp/installed"
holds "no line includes a file" sh -c '! grep -q "^-r" "$1"' sh "$tmp/installed"
holds "Ray has the modelled version" grep -qx 'ray\[default\]==2.60.0' "$tmp/installed"
older=$(venv 2.59.0)
holds "each version has an environment" test "$modelled" != "$older" -a -d "$modelled" -a -d "$older"
holds "every requirement of Ray has the version" test "$(grep -c '^ray\[[a-z]*\]==2.59.0$' "$tmp/installed")" -eq 2
holds "no requirement has another version" test "$(grep -c '^ray' "$tmp/installed")" -eq 2
for wrong in 2.x 2.59. .2 'latest' '2.60.0;ls'; do
  status=0
  venv "$wrong" >"$tmp/out" || status=$?
  holds "'$wrong' is refused" test "$status" -eq 2
  holds "the message has '$wrong'" grep -qF "QUOIT_RAY '$wrong': expected a version of Ray, such as 2.59.0" "$tmp/err"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
