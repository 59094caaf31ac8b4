#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# top on a real terminal, which tmux is: pages, keys, sizes, colours, changes, and how it leaves the terminal.
. "$top_srcdir/tests/cli/lib.sh"

ok 0 "top --help succeeds" top --help
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
fresh 'v6e 4x4 x30; v5p 2x2x4 x4 pool=big dead=1.0'
refused 2 "no terminal" "expected a terminal" top
refused 2 "--snapshot and a source" "--snapshot and a source" top fleet 'v6e 4x4 x1' --snapshot "$tmp/x"
refused 2 "--every without a live source" "--every requires" top --every 1s
refused 2 "standard input" "standard input is the keyboard" top ray-nodes -
refused 2 "--now" "--now" top --now "$now"
refused 4 "no snapshot file" "no-such-file" top --snapshot "$tmp/no-such-file"
refused 3 "another file as a snapshot" "$two_slices: " top --snapshot "$two_slices"
if ! command -v tmux >/dev/null; then
  skip "no tmux"
  finish
fi

# ncurses takes it for the width of the terminal.
unset COLUMNS
server=quoit-$$ n_servers=0
tm ()
{
  tmux -L "$server" "$@"
}
trap 'tmux -L "$server" kill-server 2>/dev/null; rm -rf "$tmp"' EXIT
TMUX_TMPDIR=$tmp
export TMUX_TMPDIR

# A server that ends must not meet the next one.
new_server ()
{
  tm kill-server 2>/dev/null || :
  n_servers=$((n_servers + 1))
  server=quoit-$$-$n_servers
}

# begin [VARIABLE=VALUE...] COMMAND...: a terminal of 80x24 with a shell script around the command, which keeps its status
# and the settings of the terminal before and after.
begin ()
{
  rm -f "$tmp/status" "$tmp/before" "$tmp/after"
  {
    echo "trap : INT; export PATH='$tmp/bin:$PATH' QUOIT_DB='$QUOIT_DB' FAKE='$tmp/fake'"
    echo "stty -g >'$tmp/before'; printf 'prompt\n'"
    printf 'env'
    for word; do
      printf " '%s'" "$word"
    done
    printf "\necho \$? >'%s/status.new'; stty -g >'%s/after'; mv '%s/status.new' '%s/status'; sleep 60\n" "$tmp" "$tmp" "$tmp" "$tmp"
  } >"$tmp/session"
  new_server
  tm -u -f /dev/null new-session -d -x 80 -y 24 sh "$tmp/session"
}

# The text of the screen.
screen ()
{
  tm capture-pane -p 2>/dev/null
}

# In twentieths of a second. After many failures, waiting is in vain.
patience=300

# shows 'sentence' TEXT: the screen shows the text within 15 seconds; shows_not: it shows it no longer.
shows ()
{
  i=0
  while ! screen | grep -qF -e "$2"; do
    i=$((i + 1))
    if [ $i -gt $patience ]; then
      fail "$1" "'$2' is not on the screen:" "$(screen)"
      [ "$failed" -lt 4 ] || patience=5
      return
    fi
    sleep 0.05
  done
  pass
}
shows_not ()
{
  i=0
  while screen | grep -qF -e "$2"; do
    i=$((i + 1))
    if [ $i -gt $patience ]; then
      fail "$1" "'$2' is on the screen:" "$(screen)"
      [ "$failed" -lt 4 ] || patience=5
      return
    fi
    sleep 0.05
  done
  pass
}

# ends 'sentence' STATUS: the command ends within 15 seconds with the status, and leaves the terminal as it was.
ends ()
{
  i=0
  while [ ! -e "$tmp/status" ] && [ $i -lt $patience ]; do
    i=$((i + 1))
    sleep 0.05
  done
  holds "$1: the exit status" test "$(cat "$tmp/status" 2>/dev/null)" = "$2"
  holds "$1: the settings of the terminal" cmp "$tmp/before" "$tmp/after"
  holds "$1: the first screen and the cursor are back" test "$(tm display -p '#{alternate_on} #{cursor_flag}')" = "0 1"
  shows "$1: what was on the screen before" prompt
}

quoit_pid ()
{
  pgrep -P "$(tm display -p '#{pane_pid}')" -f 'cli/.*quoit' | head -n 1
}

# --- a ledger, and its changes
begin "$top_builddir/cli/quoit" top
shows "the title has the ledger" "quoit $QUOIT_DB" || :
shows "the map has pools" "fleet/v6e-4x4  v6e 4x4  free 30 of 30"
shows "free slices are points" ".............................."
shows "a degraded slice is a mark" ".!.."
shows "the symbols are explained" "draining  ! degraded"
shows "numbers" "slices 34: free 33  held 0  draining 0  degraded 1"
ok 0 "another process reserves" reserve train --topology 4x4 --accelerator v6e --slices 3
shows "the change is seen" "held 3"
shows "on the map" "###..........................."
ok 0 "another process drains" drain v6e-4x4-10-0
shows "draining slices are marked" "~"
tm send-keys 2
shows "classes" "ACCELERATOR TOPOLOGY"
shows "with numbers" "v6e         4x4                4     30     26      3"
tm send-keys Down Enter
shows "the slices of a class" "v6e-4x4-0: held by train@1"
tm send-keys 2
tm send-keys 3
shows "groups" "train@1"
tm send-keys Enter
shows "the details of a group" "v6e-4x4-0-0"
tm send-keys Escape
shows_not "and back" "v6e-4x4-0-0"
ok 0 "a short lease" hold short --topology 4x4 --accelerator v6e --slices 1 --lease 4s
shows "a lease" "short@2"
shows_not "ends on the screen too" "short@2"
tm send-keys 4
shows "problems" "slice big-1: node big-1-0 is dead"
tm send-keys Enter
shows "the details of a slice" "dead"
tm send-keys BSpace 5
shows "no group waits" "no group waits"
ok 0 "a host of the group dies" set-state v6e-4x4-0-2 dead
shows "the group waits" "rescheduling"
tm send-keys 4
shows "its problem has a remedy" "group train@1: slice id 0, v6e-4x4-0, is lost: a host of it is dead: repair"
tm send-keys 5
shows "and why, in a sentence" "slices are free"
tm send-keys Enter
shows "why it waits" "quoit repair train@1"
tm send-keys q
ends "q" 0

# --- keys of the map
begin "$top_builddir/cli/quoit" top
shows "the first slice is selected" "big-0: free"
tm send-keys Right
shows "right" "big-1: degraded"
tm send-keys End
shows "end" "v6e-4x4-29: free"
tm send-keys Home Down
shows "down: the row of another pool" "v6e-4x4-0: degraded"
tm send-keys k l l
shows "vi's keys" "big-2: free"
tm send-keys Enter
shows "details" "big-2-2"
tm send-keys '?'
shows "help covers details" "Shift+Tab the previous one"
tm send-keys '?'
shows "they come back" "big-2-2"
tm send-keys Escape
shows "then the map" "! degraded"
tm send-keys '?'
shows "help" "Shift+Tab the previous one"
tm send-keys Tab
shows "tab leaves it" "ACCELERATOR"
tm send-keys BTab
shows "and back to the map" "free 26 of 30"

# --- sizes
for size in '40 12' '80 5' '20 3' '7 2' '2 1' '200 50' '79 24'; do
  tm resize-window -x "${size% *}" -y "${size#* }"
  for key in 2 Down Enter Escape 3 Enter End PageDown Escape 4 5 '?' Escape 1 End Home Down; do
    tm send-keys "$key"
  done
  sleep 0.3
done
tm resize-window -x 80 -y 24
shows "after all sizes it is whole" "slices 34:"
shows "with its keys" "q end"
tm send-keys C-c
ends "interrupt" 130

# --- letters and colours
begin LC_ALL=C.UTF-8 "$top_builddir/cli/quoit" top
shows "UTF-8 has blocks" "█"
holds "colours" sh -c "tmux -L $server capture-pane -p -e | grep -q '\[3[1236]m'"
kill -TERM "$(quoit_pid)"
ends "SIGTERM" 143
begin LC_ALL=C NO_COLOR=1 "$top_builddir/cli/quoit" top
shows "ASCII" "#"
holds "ASCII only" sh -c "tmux -L $server capture-pane -p | LC_ALL=C grep -q '[^ -~]' && exit 1; exit 0"
holds "NO_COLOR" sh -c "tmux -L $server capture-pane -p -e | grep -q '\[3[0-7]m' && exit 1; exit 0"
kill -SEGV "$(quoit_pid)"
ends "a crash" 139
begin "$top_builddir/cli/quoit" top
shows "it runs" "slices 34"
kill -HUP "$(quoit_pid)"
ends "SIGHUP" 129
begin TERM=nonsense "$top_builddir/cli/quoit" top
ends "an unknown terminal" 2
mkdir "$tmp/slow"
printf '#!/bin/sh\nexec sleep 60\n' >"$tmp/slow/ray"
chmod +x "$tmp/slow/ray"
begin_s=$(date +%s)
PATH="$tmp/slow:$PATH" ok 2 "top of Ray without a terminal is refused" top --from-ray
holds "it does not wait for ray" test $(($(date +%s) - begin_s)) -lt 20

# --- suspension
new_server
tm -u -f /dev/null new-session -d -x 80 -y 24 env PS1='prompt ' QUOIT_DB="$QUOIT_DB" sh -i
shows "a shell" "prompt"
tm send-keys "$top_builddir/cli/quoit top" Enter
shows "it runs in a shell with jobs" "slices 34:"
tm send-keys C-z
shows "it stops" "prompt"
holds "the screen is given back" test "$(tm display -p '#{alternate_on} #{cursor_flag}')" = "0 1"
tm send-keys "echo still a '' terminal" Enter
shows "the terminal echoes" "still a  terminal"
tm send-keys fg Enter
shows "it comes back" "slices 34:"
tm send-keys 2
shows "and reads keys" "ACCELERATOR"
tm send-keys q
shows "and ends" "still a  terminal"

# --- a source without a ledger
read_sources ()
{
mkdir "$tmp/bin" "$tmp/fake"
cat >"$tmp/bin/ray" <<'RAY'
#!/bin/sh
[ ! -e "$FAKE/before" ] || . "$FAKE/before"
cat "$FAKE/$2"
RAY
chmod +x "$tmp/bin/ray"
hold=$top_srcdir/tests/data/captures/gke.hold-and-wait
cp "$hold.ray-list-nodes--detail--format-json.json" "$tmp/fake/nodes"
cp "$hold.ray-list-placement-groups--detail--format-json.json" "$tmp/fake/placement-groups"
begin QUOIT_DB="$tmp/none/quoit.db" "$top_builddir/cli/quoit" top --from-ray --every 500ms
shows "a live source" "quoit ray"
shows "its slices" "slices 2:"
tm send-keys 5
shows "its queue" "pending"
tm send-keys Enter
shows "why a group of Ray waits" "not now"
echo 'echo "Error: no cluster" >&2; exit 1' >"$tmp/fake/before"
shows "a failing source" "no cluster"
rm "$tmp/fake/before"
shows "that answers again" "quoit ray"
echo 'sleep 60' >"$tmp/fake/before"
sleep 1
tm send-keys q
ends "q while ray hangs" 0
begin "$top_builddir/cli/quoit" top fleet "v5e 2x4 x7"
shows "fleet text" "slices 7: free 7"
tm send-keys q
ends "q of fleet text" 0
}
case ${SANITIZER_FLAGS-} in
*thread*) skip "a source that a thread reads: ThreadSanitizer does not see GLib's locks" ;;
*) read_sources ;;
esac

# --- a snapshot in a file
if write_snapshot "$tmp/snapshot"; then
  begin QUOIT_DB="$tmp/none/quoit.db" "$top_builddir/cli/quoit" top --snapshot "$tmp/snapshot"
  shows "a snapshot" "slices 34:"
  tm send-keys q
  ends "q of a snapshot" 0
else
  skip "a snapshot in a file"
fi

# --- a ledger that is replaced, and a large one
begin "$top_builddir/cli/quoit" top
shows "it runs on a ledger" "slices 34:"
fresh 'v6e 4x4 x25000'
tm send-keys q
ends "q after the ledger was replaced" 0
begin "$top_builddir/cli/quoit" top
shows "25,000 slices" "slices 25000: free 25000"
tm send-keys End
shows "to the last one" "v6e-4x4-24999: free"
tm send-keys PageUp PageUp PageUp Home Down Down Down Right
shows "and about" "v6e-4x4-241: free"
ok 0 "a change in a large fleet" reserve big --topology 4x4 --accelerator v6e --slices 20000
shows "is seen" "held 20000"
tm send-keys 3 Enter
shows "and the details of its group" "big@1"
tm send-keys End
shows "to their end" "v6e-4x4-19999-3"
tm send-keys q
ends "q of a large fleet" 0
finish
