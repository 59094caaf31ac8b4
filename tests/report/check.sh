#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [PICTURES]: reads the pages of quoit report in the installed Chromium, and writes pictures of them to the
# folder PICTURES.
. "$top_srcdir/tests/cli/lib.sh"

chromium=$(command -v chromium chromium-browser google-chrome | head -n 1)
[ -n "$chromium" ] || {
  echo "skipped: no Chromium"
  exit 77
}
wheels=$(sh "$top_srcdir/tests/wheels.sh" "$top_srcdir/tests/report/requirements.txt") || {
  echo "skipped: the packages of tests/report/requirements.txt cannot be installed"
  exit 77
}
# axe-core checks the rules of WCAG. Without npm, the roles and names of the accessibility tree are still checked.
(cd "$tmp" && npm pack --silent axe-core@4 >/dev/null 2>&1 && tar -xzf axe-core-4*.tgz package/axe.min.js) ||
  skip "axe-core: npm cannot have it"
export QUOIT="$top_builddir/cli/quoit" PYTHONDONTWRITEBYTECODE=1
mkdir "$tmp/pages" "$tmp/again"
holds "pages are written" sh "$top_srcdir/tests/report/fleets.sh" "$tmp/pages"
holds "and again" sh "$top_srcdir/tests/report/fleets.sh" "$tmp/again"
holds "with the same bytes" diff -r "$tmp/pages" "$tmp/again"
# A name that would be an element, and one that would end the script, if any text were read as HTML.
evil='</script><img src=x onerror=alert(1)>'
fresh
holds "a source with a name of HTML" quoit import fleet 'v6e 4x4 x2' --source '<img src=x onerror=alert(1)>' --now "$now"
holds "a page of it" quoit report --title "$evil" --file "$tmp/pages/evil.html" --now "$now"
# Names of nodes with a line feed, with text from right to left, and with a control character.
"$wheels/bin/python" - >"$tmp/hidden.json" <<'PY'
import json
names = "a\nb", "c\u202ed", "e", "f\u0001"
print(json.dumps([{
    "NodeID": f"{i:056x}", "Alive": True, "NodeManagerAddress": f"192.0.2.{i + 1}", "NodeName": name,
    "NodeManagerHostname": name, "Resources": {"CPU": 2.0, "TPU": 4.0},
    "Labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "s", "ray.io/tpu-pod-type": "v6e-16",
               "ray.io/tpu-topology": "4x4", "ray.io/tpu-worker-id": str(i)},
} for i, name in enumerate(names)]))
PY
holds "a page of nodes with hidden characters" quoit report ray-nodes "$tmp/hidden.json" --file "$tmp/pages/hidden.html" --now "$now"
for size in 2 220; do
  holds "the page of $size slices in docs/ is up to date" cmp "$tmp/pages/fleet-$size.html" "$top_srcdir/docs/report/fleet-$size.html"
done
status=0
"$wheels/bin/python" "$top_srcdir/tests/report/browser.py" "$chromium" "$tmp/pages" "$tmp/package/axe.min.js" ${1+"$1"} \
  >"$tmp/browser" 2>&1 || status=$?
cat "$tmp/browser"
if counts=$(tail -n 1 "$tmp/browser" | grep -x '[0-9]* passed, [0-9]* failed'); then
  passed=$((passed + ${counts%% *}))
  counts=${counts#*, }
  failed=$((failed + ${counts%% *}))
else
  fail "the browser test ends" "exit status $status"
fi
finish
