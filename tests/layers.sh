#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Dependencies go downwards only. Each line of src/LAYERS is a folder of src and the folders that it may include.
set -eu
cd "$top_srcdir"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

refuse ()
{
  echo "$*"
  bad=1
}

# Runs grep and fails if it prints a line.
forbid ()
{
  why=$1
  shift
  if grep -rnE "$@"; then
    refuse "  ^ $why"
  fi
}

# --- includes between the project's own folders ---------------------------------------------------------------------

# Each folder of src and of src/models has a line in src/LAYERS, and each line has a folder.
folders=$(for folder in src/*/ src/models/*/; do echo "${folder%/}"; done | grep -v '^src/models$' | sed 's/^src.//')
for layer in $folders; do
  cut -d' ' -f1 src/LAYERS | grep -qxF "$layer" || refuse "src/$layer is not in src/LAYERS"
done

while read -r layer allowed; do
  [ -d "src/$layer" ] || refuse "src/LAYERS has '$layer', but src has no such folder"
  for used in $(grep -rhoE '^ *# *include +"[^"]+"' "src/$layer" | sed 's/.*"\(.*\)"/\1/' | sort -u); do
    case $used in
      config.h) continue ;;
      ../* | */../* | quoit/*) refuse "src/$layer includes \"$used\": expected \"LAYER/FILE.h\" or <quoit/FILE.h>" && continue ;;
      models/*/*) from=${used#models/} && from=models/${from%%/*} ;;
      */*) from=${used%%/*} ;;
      *) refuse "src/$layer includes \"$used\": say which layer it is of" && continue ;;
    esac
    case " $layer $allowed " in
      *" $from "*) ;;
      *) refuse "src/$layer includes \"$used\", but src/LAYERS gives it only: $allowed" ;;
    esac
  done
done <src/LAYERS

# The core of the public API, and its implementation, do not depend on the models of other systems.
forbid "the core includes no model of another system" '^ *# *include +<quoit/models' include/quoit/*.h --exclude=models.h

forbid "public headers include public headers and glib.h only, in angle brackets" \
  '^ *# *include +("|<(json-glib|sqlite3|yaml|libsmartcols))' include/quoit --include='*.h'
for folder in cli examples bindings; do
  [ -d "$folder" ] || continue
  forbid "$folder uses the public headers only" \
    "^ *# *include +[\"<]($(cut -d' ' -f1 src/LAYERS | cut -d/ -f1 | sort -u | paste -sd'|'))/" "$folder" --include='*.[ch]'
done

# --- tables of names -------------------------------------------------------------------------------------------------

# Names from outside could be chosen to collide under g_str_hash(), and a search would read them all (decision 0047). The
# files that are left out iterate over their tables, and their answers have that order.
forbid "tables of names use quoit_hash_text()" g_str_hash src --include='*.[ch]' --exclude=raycluster-devices.c \
  --exclude=raycluster-params.c --exclude=pods.c --exclude=pod.c --exclude=counting.c --exclude=schema.c

# --- libraries: who may include, and who may link ------------------------------------------------------------------

for folder in src/*/ cli/ examples/; do
  [ -d "$folder" ] || continue
  name=$(basename "$folder")
  [ "$name" = store ] || forbid "only src/store knows SQLite" '^ *# *include +.sqlite3' "$folder" --include='*.[ch]'
  [ "$name" = formats ] || [ "$name" = cli ] ||
    forbid "only src/formats knows JSON and YAML" '^ *# *include +.(json-glib/|yaml\.h)' "$folder" --include='*.[ch]'
  forbid "only cli/top-screen.c knows curses" '^ *# *include +.(n?curses|term)\.h' "$folder" --include='*.[ch]' --exclude=top-screen.c
  [ "$name" = cli ] || forbid "only the command knows libsmartcols" '^ *# *include +.libsmartcols' "$folder" --include='*.[ch]'
done

# The symbol tables show all calls, including those from macros: "object symbol", one per line.
cd "$top_builddir"
find src -name '*.o' -exec $NM -A -u {} + | sed -n 's/:.* [Uw] /: /p' | sed 's/: / /; s/@.*//' | sort -u >"$tmp/undefined"
[ -s "$tmp/undefined" ] || refuse "no objects were found in $top_builddir/src"

# The library does not print, log, end the process, use random numbers, or read the clock, environment or locale, and it
# uses its own parsers instead of strtol. `excused` lists the exceptions as "LAYER SYMBOL", with the reason. store waits
# for a write lock up to the caller's timeout, which needs a time span, not a date. It draws the identity of a ledger in
# memory, as SQLite and PostgreSQL draw it for theirs; no decision depends on it. base draws the seeds of the hash of
# names (decision 0047); no answer depends on them.
excused='store g_get_monotonic_time\nstore getrandom\nbase getrandom'
awk -v excused="$excused" '
  BEGIN {
    n = split ("printf __printf_chk vprintf __vprintf_chk fprintf __fprintf_chk vfprintf __vfprintf_chk puts putchar fputs fputc fwrite perror " \
               "stdout stderr syslog g_print g_printerr g_log g_logv g_log_structured g_message " \
               "time gettimeofday clock_gettime clock ftime g_get_real_time g_get_current_time g_get_monotonic_time " \
               "g_date_time_new_now g_date_time_new_now_local g_date_time_new_now_utc localtime localtime_r mktime " \
               "getenv secure_getenv g_getenv g_get_environ g_listenv setenv g_setenv putenv environ " \
               "setlocale localeconv exit _exit _Exit quick_exit atexit " \
               "rand random srand srandom drand48 getrandom getentropy g_random_int g_random_int_range g_random_double " \
               "g_random_double_range g_random_boolean g_rand_new g_uuid_string_random " \
               "atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof strptime sprintf __sprintf_chk", list)
    for (i = 1; i <= n; i++) forbidden[list[i]] = 1
    n = split (excused, list, "\n")
    for (i = 1; i <= n; i++) pardon[list[i]] = 1
  }
  {
    split ($1, path, "/"); layer = path[2]
    if ($2 in forbidden && !((layer " " $2) in pardon)) { print $1 " calls " $2; bad = 1 }
    if ($2 ~ /^sqlite3_/ && layer != "store") { print $1 " calls " $2 ": only src/store knows SQLite"; bad = 1 }
    if ($2 ~ /^(json_(parser|node|object|array|generator|builder|reader)|yaml_)/ && layer != "formats") {
      print $1 " calls " $2 ": only src/formats knows JSON and YAML"; bad = 1
    }
    if ($2 ~ /^scols_/) { print $1 " calls " $2 ": tables are the business of the command"; bad = 1 }
  }
  END { exit bad }' "$tmp/undefined" || bad=1

# --- where exported functions are defined ---------------------------------------------------------------------------

# docs/decisions/0005: core functions are defined in src/api, and functions of a model in the folder of the model. Each
# line of the table is "FOLDER PATTERN WHY" for the functions that are defined elsewhere.
cat >"$tmp/elsewhere" <<'TABLE'
base       ^quoit_(amount_format|error_quark|error_code_name)$      # all folders use them
catalogue  ^quoit_catalogue_                                        # the rows are constants
placement  ^quoit_(request_free|report_ref|report_unref)$           # placement itself frees requests and reports
launch     ^quoit_topology_free$                                    # launch itself frees topologies
formats    ^quoit_ray_(label|labels|selector|fallback)_             # parse text, some of it as JSON
formats    ^quoit_ray_node_new$                                     # parses the arguments of `ray start`
api        ^quoit_check_                                            # read a manifest with formats
api        ^quoit_(kuberay_parse_manifest|maxtext_job_add_config|webhook_pod_add_container)$ # parse text with formats
api        ^quoit_(snapshot|topology|request|report|launch)_        # use a value of the core
api        ^quoit_(devices_new_group|gke_slice_format|jax_cluster_detect_process)$   # use a value of the core
TABLE
find src -name '*.o' -exec $NM -A {} + | sed -n 's/:.* T / /p' | sort -u >"$tmp/defined"
awk '
  FILENAME == ARGV[1] { n++; folder[n] = $1; pattern[n] = $2; next }
  FILENAME == ARGV[2] {
    if (/^QUOIT_[^ ]* *[{]/) family = $0 ~ /^QUOIT_MODELS/ ? "model" : "core"
    if (match ($0, /quoit_[a-z0-9_]+;/)) symbol[substr ($0, RSTART, RLENGTH - 1)] = family
    next
  }
  {
    sub (/^src\//, "", $1)
    sub (/\/(\.libs\/)?[^\/]*$/, "", $1)
    if ($2 in symbol) where[$2] = $1
  }
  END {
    for (s in symbol) {
      right = symbol[s] == "core" ? where[s] == "api" : where[s] ~ /^(models\/.*|mesh|geometry)$/
      for (i = 1; i <= n && !right; i++)
        if (s ~ pattern[i] && where[s] == folder[i]) { right = 1; used[i] = 1 }
      if (!right) { print s " (" symbol[s] ") is defined in src/" where[s] ": see docs/decisions/0005 for its place"; bad = 1 }
    }
    for (i = 1; i <= n; i++)
      if (!(i in used)) { print "no function needs the exception " folder[i] " " pattern[i]; bad = 1 }
    exit bad
  }' "$tmp/elsewhere" "$top_srcdir/src/quoit.map" "$tmp/defined" || bad=1

exit $bad
