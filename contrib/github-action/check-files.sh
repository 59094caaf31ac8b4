#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A step of the action: checks the files that the patterns in $QUOIT_FILES match. Its exit status is that of quoit.
set -euo pipefail
shopt -s globstar nullglob

fail ()
{
  echo "::error title=quoit::${1//'%'/%25}"
  exit 2
}

# lines_of TEXT: its lines that are not empty, without blanks at their ends.
lines_of ()
{
  printf '%s\n' "$1" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d'
}

options=()
case $QUOIT_STRICT in
  true) options+=(--strict) ;;
  false | '') ;;
  *) fail "input strict '$QUOIT_STRICT': expected true or false" ;;
esac
while IFS= read -r variable; do
  options+=(--set "$variable")
done < <(lines_of "$QUOIT_SET")

# match PATTERN: sets $matches to the files. Without IFS, a pattern or a file name with blanks stays one word.
match ()
{
  local IFS=''
  # shellcheck disable=SC2206
  matches=($1)
}

files=()
declare -A known=()
while IFS= read -r pattern; do
  match "$pattern"
  [ ${#matches[@]} -gt 0 ] || fail "input files '$pattern': expected a pattern that matches a file"
  for file in "${matches[@]}"; do
    [ -z "${known[$file]-}" ] && [ ! -d "$file" ] || continue
    known[$file]=1
    files+=("$file")
  done
done < <(lines_of "$QUOIT_FILES")
[ ${#files[@]} -gt 0 ] || fail "input files: expected the patterns of one or more files"

# The exit status of the second run is the same.
[ -z "$QUOIT_SARIF" ] || "$QUOIT_COMMAND" check manifest -o sarif "${options[@]}" -- "${files[@]}" >"$QUOIT_SARIF" || :
exec "$QUOIT_COMMAND" check manifest -o github "${options[@]}" -- "${files[@]}"
