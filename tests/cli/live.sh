#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --from-kubectl and --from-ray, with programs that replay recorded answers or fail in every way; sync --every.
. "$top_srcdir/tests/cli/lib.sh"

# The programs of the tests. quoit finds them in $programs.
mkdir "$tmp/bin" "$tmp/none"
for folder in /bin /usr/bin; do
  ln -s "$folder"/* "$tmp/none" 2>/dev/null || :
done
rm -f "$tmp/none/ray" "$tmp/none/kubectl"
programs=$tmp/bin:$PATH
quoit ()
{
  PATH=$programs "$program" "$@"
}
export FAKE="$tmp/fake"

# ray list WHAT prints the file WHAT.N at its N-th call, or else WHAT. $FAKE/before is read first.
cat >"$tmp/bin/ray" <<'RAY'
#!/bin/sh
printf '%s\n' "ray $*" >>"$FAKE/log"
[ ! -e "$FAKE/before" ] || . "$FAKE/before"
n=$(grep -c "^ray list $2 " "$FAKE/log")
if [ -e "$FAKE/$2.$n" ]; then cat "$FAKE/$2.$n"; else cat "$FAKE/$2"; fi
RAY
# kubectl ... get --raw PATH prints pods, or the nodes of the version of the pods.
cat >"$tmp/bin/kubectl" <<'KUBECTL'
#!/bin/sh
printf '%s\n' "kubectl $*" >>"$FAKE/log"
[ ! -e "$FAKE/before" ] || . "$FAKE/before"
for path; do :; done
case $path in
*/pods\?*) cat "$FAKE/pods" ;;
"/api/v1/nodes?resourceVersion=17&resourceVersionMatch=Exact") cat "$FAKE/nodes" ;;
*)
  echo "Error from server (Expired): The provided resource version is too old" >&2
  exit 1
  ;;
esac
KUBECTL
chmod +x "$tmp/bin/ray" "$tmp/bin/kubectl"

# replay NAME: the next answers of ray are those of a recorded cluster.
replay ()
{
  rm -rf "$FAKE"
  mkdir "$FAKE"
  cp "$top_srcdir/tests/data/captures/$1.ray-list-nodes--detail--format-json.json" "$FAKE/nodes"
  cp "$top_srcdir/tests/data/captures/$1.ray-list-placement-groups--detail--format-json.json" "$FAKE/placement-groups"
}

# --- Ray
replay mixed.both-reserved
fresh
ok 0 "--from-ray imports a recorded cluster" import --from-ray --now "$now" -o json
fact "its nodes" 'd["source"], d["n_nodes"]' "('ray', 6)"
holds "ray is called for nodes, groups, and the nodes again" diff - "$FAKE/log" <<'LOG'
ray list nodes --detail --format json --limit 10000
ray list placement-groups --detail --format json --limit 10000
ray list nodes --detail --format json --limit 10000
LOG
quoit export json --now "$now" >"$tmp/live.json"
fresh
ok 0 "the same files are imported" import ray-nodes "$FAKE/nodes" --groups "$FAKE/placement-groups" --now "$now"
quoit export json --now "$now" >"$tmp/files.json"
holds "--from-ray makes the same ledger as the files" cmp "$tmp/live.json" "$tmp/files.json"
ok 0 "--from-ray again" sync --from-ray --now "$now" -o json
fact "changes nothing" 'd["n_changes"]' 0
: >"$FAKE/log"
ok 0 "an address and arguments of ray" sync --from-ray 10.0.0.9:6379 --source ray --now "$now" -- --timeout 7
holds "both are passed on" test "$(grep -c -e '--limit 10000 --address 10.0.0.9:6379 --timeout 7$' "$FAKE/log")" -eq 3

[ -z "$python" ] || "$python" - "$FAKE/nodes" "$FAKE/nodes.1" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))
for row in rows:
    for what in "labels", "resources_total":
        row[what] = dict(reversed(row[what].items()))
json.dump(rows, open(sys.argv[2], "w"))
PY
: >"$FAKE/log"
ok 0 "labels and resources in another order" sync --from-ray --now "$now"
holds "are no change" test "$(wc -l <"$FAKE/log")" -eq 3
# shellcheck disable=SC2016
printf '%s\n' 'env | grep ^RAY_ >"$FAKE/environment"; :' >"$FAKE/before"
export RAY_ADDRESS=10.9.9.9:6379
ok 0 "an address" sync --from-ray 10.0.0.9:6379 --now "$now"
holds "takes the place of RAY_ADDRESS" test ! -s "$FAKE/environment"
ok 0 "no address" sync --from-ray --now "$now"
holds "leaves RAY_ADDRESS to ray" grep -q 10.9.9.9 "$FAKE/environment"
unset RAY_ADDRESS

replay mixed.idle
ok 0 "a cluster without groups" sync --from-ray --now "$now"

# A node that dies between the calls: the lists are read again.
replay lost.one-slice-host-lost
sed '0,/"state": "DEAD"/s//"state": "ALIVE"/' "$FAKE/nodes" >"$FAKE/nodes.1"
fresh
ok 0 "a node dies while the lists are read" import --from-ray --now "$now" -o json
fact "the lists are read until the nodes rest" 'd["n_nodes"]' "$(grep -o '"node_id"' "$FAKE/nodes" | wc -l | tr -d ' ')"
holds "five calls" test "$(wc -l <"$FAKE/log")" -eq 5
ok 0 "nodes" nodes -o json
fact "the state is the last one" '"dead" in [n["state"] for n in d["nodes"]]' True
# shellcheck disable=SC2016
printf '%s\n' 'n=$(cat "$FAKE/log" | wc -l); [ "$2" != nodes ] || { sed "s/127.0.0/10.0.$n/g" "$FAKE/nodes"; exit; }' >"$FAKE/before"
baseline
refused 3 "a cluster that never rests" "the nodes changed while the groups were read, 4 times" sync --from-ray --now "$now"

# --- Kubernetes

# k8s VERSION: nodes and pods as the API server prints them, of that version.
k8s ()
{
  rm -rf "$FAKE"
  mkdir "$FAKE"
  "$python" - "$FAKE" "$1" <<'PY'
import json, sys
labels = {"cloud.google.com/gke-nodepool": "pool-a", "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
          "cloud.google.com/gke-tpu-topology": "4x4"}
nodes = [{"metadata": {"name": "gke-a-%d" % i, "uid": "uid-%d" % i, "labels": labels}, "spec": {},
          "status": {"capacity": {"cpu": "180", "google.com/tpu": "4"}, "allocatable": {"cpu": "179", "google.com/tpu": "4"},
                     "conditions": [{"type": "Ready", "status": "True"}],
                     "addresses": [{"type": "InternalIP", "address": "10.0.0.%d" % i}]}} for i in range(1, 5)]
pods = [{"metadata": {"namespace": "ray", "name": "w-%d" % i, "labels": {"ray.io/is-ray-node": "yes"}},
         "spec": {"nodeName": "gke-a-%d" % i, "containers": [{"name": "ray-worker",
                  "env": [{"name": "TPU_WORKER_ID", "value": str(4 - i)}],
                  "resources": {"requests": {"google.com/tpu": "4"}, "limits": {"google.com/tpu": "4"}}}]},
         "status": {"phase": "Running", "podIP": "10.4.0.%d" % i}} for i in range(1, 5)]
for name, kind, items in ("nodes", "Node", nodes), ("pods", "Pod", pods):
    with open("%s/%s" % (sys.argv[1], name), "w") as file:
        json.dump({"kind": kind + "List", "apiVersion": "v1", "metadata": {"resourceVersion": sys.argv[2]}, "items": items},
                  file, separators=(",", ":"))
PY
}

if [ -n "$python" ]; then
  k8s 17
  fresh
  ok 0 "--from-kubectl imports nodes and pods" import --from-kubectl --now "$now" -o json
  fact "the worker ids are those of the pods" 'd["source"], d["n_nodes"], d["warnings"]' "('k8s', 4, [])"
  holds "the nodes are read at the version of the pods" diff - "$FAKE/log" <<'LOG'
kubectl get --raw /api/v1/pods?fieldSelector=status.phase!%3DSucceeded,status.phase!%3DFailed
kubectl get --raw /api/v1/nodes?resourceVersion=17&resourceVersionMatch=Exact
LOG
  quoit export json --now "$now" >"$tmp/live.json"
  fresh
  ok 0 "the same files are imported" import k8s-nodes "$FAKE/nodes" --pods "$FAKE/pods" --now "$now"
  quoit export json --now "$now" >"$tmp/files.json"
  holds "--from-kubectl makes the same ledger as the files" cmp "$tmp/live.json" "$tmp/files.json"
  for namespace in '-n ray' '-nray' '-n=ray' '--namespace ray' '--namespace=ray'; do
    : >"$FAKE/log"
    # shellcheck disable=SC2086
    ok 0 "arguments of kubectl, $namespace" sync --from-kubectl --now "$now" -- --context prod $namespace
    holds "the context and the namespace are passed on, $namespace" \
      grep -q '^kubectl --context prod get --raw /api/v1/namespaces/ray/pods?field' "$FAKE/log"
  done
  baseline
  k8s 16
  refused 3 "a version that the server no longer has" \
    "kubectl get --raw '/api/v1/nodes?resourceVersion=16&resourceVersionMatch=Exact'|exit status 1: Error from server (Expired)" \
    sync --from-kubectl --now "$now"
  k8s 17
  sed 's/"resourceVersion":"17"/"resourceVersion":"18"/' "$FAKE/nodes" >"$FAKE/later" && mv "$FAKE/later" "$FAKE/nodes"
  refused 3 "nodes of another moment" "nodes of resourceVersion '18': expected '17', that of the pods" \
    sync --from-kubectl --now "$now"
  k8s 17
  sed 's/"resourceVersion":"17"/"resourceVersion":""/' "$FAKE/pods" >"$FAKE/later" && mv "$FAKE/later" "$FAKE/pods"
  refused 3 "a list without a version" "no PodList" sync --from-kubectl --now "$now"
else
  skip "--from-kubectl: no python3"
fi

# --- programs that fail; nothing changes
replay mixed.both-reserved
fresh
ok 0 "a cluster is imported" import --from-ray --now "$now"
baseline

# failing 'SHELL': the programs run these commands first.
failing ()
{
  printf '%s\n' "$1" >"$FAKE/before"
}

programs=$tmp/none
refused 4 "no ray in PATH" "ray list nodes --detail --format json --limit 10000: no program 'ray' in PATH" sync --from-ray
refused 4 "no kubectl in PATH" "no program 'kubectl' in PATH" sync --from-kubectl
touch "$tmp/none/ray"
refused 4 "a ray that is no program" "no program 'ray' in PATH" sync --from-ray
printf '#!/no/such/python\n' >"$tmp/none/ray"
chmod +x "$tmp/none/ray"
refused 3 "a ray that cannot be run" "ray list nodes|cannot be run: No such file or directory" sync --from-ray
programs=$tmp/bin:$PATH

failing 'echo "Usage: ray list [OPTIONS]" >&2; echo >&2; echo "Error: Failed to connect to API server." >&2; exit 2'
refused 3 "a ray that fails" \
  "sync: ray list nodes --detail --format json --limit 10000: exit status 2: Error: Failed to connect to API server." sync --from-ray
failing 'printf "Traceback (most recent call last):\n  File x\nConnectionError: no Ray instance\n" >&2; exit 1'
refused 3 "a ray that raises an exception" "exit status 1: ConnectionError: no Ray instance" sync --from-ray
failing 'echo first >&2; echo second >&2; exit 7'
refused 3 "a ray with other errors" "exit status 7: first" sync --from-ray
failing 'printf "\033[31mred\n" >&2; exit 7'
refused 3 "an error with bytes for the terminal" 'exit status 7: \x1b[31mred' sync --from-ray
failing 'exit 3'
refused 3 "a ray that fails silently" "limit 10000: exit status 3" sync --from-ray
failing 'kill -9 $$'
refused 3 "a ray that is killed" "ended by signal 9" sync --from-ray
failing '[ "$2" = nodes ] || exit 4'
refused 3 "a ray that fails at the second list" "ray list placement-groups --detail --format json --limit 10000: exit status 4" \
  sync --from-ray
failing 'exit 5'
refused 3 "secrets stay out of messages" "kubectl --token - --password=- get --raw" \
  sync --from-kubectl -- --token hunter2 --password=hunter2
holds "no secret is printed" sh -c "! grep -q hunter2 '$tmp/err'"
if [ -n "$python" ]; then
  status=0
  PATH=$programs "$python" -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$top_builddir/cli/quoit" sync --from-kubectl >"$tmp/out" 2>&1 || status=$?
  holds "a failure is noticed if the parent ignores SIGCHLD" test "$status" -eq 3
fi

# A program that does not end, and its children.
failing 'echo $$ >"$FAKE/pid"; echo waiting >&2; sleep 60 & echo $! >>"$FAKE/pid"; wait'
refused 3 "a ray that hangs" "limit 10000: not finished after 300 ms: waiting" sync --from-ray --timeout 300ms
# ended PID...: none of these processes runs any more.
ended ()
{
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    running=
    for pid; do
      [ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || running=$pid
    done
    [ -n "$running" ] || return 0
    sleep 0.1
  done
  return 1
}
# shellcheck disable=SC2046
holds "the program and its children are killed" ended $(cat "$FAKE/pid")
failing "trap '' TERM; echo \$\$ >\"\$FAKE/pid\"; while :; do sleep 1; done"
refused 3 "a ray that ignores SIGTERM" "not finished after 200 ms" sync --from-ray --timeout 200ms
# shellcheck disable=SC2046
holds "it is killed, too" ended $(cat "$FAKE/pid")
failing 'echo "[]" ; exec >&- ; sleep 60'
refused 3 "a ray that closes its output and hangs" "not finished after 200 ms" sync --from-ray --timeout 200ms

# Output that is no list.
failing 'echo "hello: world"; echo "a warning" >&2; exit 0'
refused 3 "garbage" "ray list nodes --detail --format json --limit 10000: exit status 0, but: |; stderr: a warning" sync --from-ray
failing 'exit 0'
refused 3 "no output" "limit 10000: exit status 0, but: nothing in it: expected the output of ray list nodes" sync --from-ray
failing 'head -c 3000 "$FAKE/$2"; exit 0'
refused 3 "half an answer" "ray list nodes --detail --format json --limit 10000: exit status 0, but: " sync --from-ray
failing '[ "$2" = nodes ] || { head -c 900 "$FAKE/$2"; exit 0; }'
refused 3 "half a list of groups" "ray list placement-groups --detail --format json --limit 10000: exit status 0, but: " \
  sync --from-ray
failing "cat '$top_srcdir/tests/data/captures/gke.idle.ray-list-nodes.table.txt'; exit 0"
refused 3 "Ray's table" "line 2: a table, which ray prints without --format|run 'ray list nodes --detail --format json" \
  sync --from-ray
failing 'echo "{\"kind\":\"PodList\",\"items\":[]}"; exit 0'
refused 3 "a list of no API server" "kubectl get --raw|exit status 0, but the output is no PodList" sync --from-kubectl
failing 'echo "<html>"; exit 0'
refused 3 "a page of a proxy" "exit status 0, but the output is no PodList" sync --from-kubectl
if [ -n "$python" ]; then
  "$python" -c 'print("[%s]" % ", ".join("{\"node_id\": \"a,[%d\"}" % i for i in range(10000)))' >"$FAKE/many"
  failing 'cat "$FAKE/many"; exit 0'
  refused 3 "a list that Ray has cut" "10000 rows, where Ray's API server cuts its lists" sync --from-ray
fi
rm "$FAKE/before"

# The default tables of files.
refused 3 "a table of nodes in a file" "run 'ray list nodes --detail --format json --limit 10000'" \
  import ray-nodes "$top_srcdir/tests/data/captures/gke.idle.ray-list-nodes.table.txt"
refused 3 "a table of groups in a file" "run 'ray list placement-groups --detail --format json --limit 10000'" \
  import ray-nodes "$FAKE/nodes" --groups "$top_srcdir/tests/data/captures/gke.idle.ray-list-placement-groups.table.txt"

# --- the command line
refused 2 "no argument" "expected the arguments: raycluster|see quoit import --help" import
refused 2 "a kind without a file" "expected the arguments: " import ray-nodes
refused 2 "two live sources" "--from-kubectl and --from-ray are two sources" import --from-kubectl --from-ray
refused 2 "a file with --from-kubectl" "unexpected argument 'k8s-nodes'" import --from-kubectl k8s-nodes nodes.json
refused 2 "two addresses" "unexpected argument 'b'" import --from-ray a b
refused 2 "an address with --from-kubectl" "unexpected argument 'a'" import --from-kubectl a -- --context x
for option in --groups --available --pods; do
  refused 2 "$option with a live source" "$option cannot be combined with --from-ray" import --from-ray "$option" "$FAKE/nodes"
done
refused 2 "--complete with a live source" "--complete cannot be combined with --from-ray" import --from-ray --complete
refused 2 "--set with a live source" "--set 'A=1' requires raycluster" import --from-ray --set A=1
refused 2 "--topology with --from-kubectl" "--topology requires ray-nodes" import --from-kubectl --topology 4x4
refused 2 "--timeout without a live source" "--timeout requires" import fleet 'v6e 4x4 x1' --timeout 5s
refused 2 "--timeout without unit" "--timeout '5'" import --from-ray --timeout 5
refused 3 "--timeout of nothing" "--timeout '0s'" import --from-ray --timeout 0s
refused 2 "--every of import" "--every" import --from-ray --every 1s
refused 2 "--every without unit" "--every '10'" sync --from-ray --every 10
for interval in 92233720368547757ms 9223372036854775807ms 106751991167d; do
  refused 3 "--every that no clock can add" "--every '$interval': expected 1ms or more" sync --from-ray --every $interval
done
refused 2 "--every with --now" "--every cannot be combined with --now" sync --from-ray --every 1s --now "$now"
refused 2 "--every with --dry-run" "--every cannot be combined with --dry-run" sync --from-ray --every 1s --dry-run
refused 2 "--every with fleet text" "fleet text does not" sync fleet 'v6e 4x4 x1' --every 1s
refused 2 "--every with standard input" "standard input cannot" sync ray-nodes - --every 1s
refused 2 "--every with a wrong number" "--tpu-resource-per-chip 'x'" sync --from-ray --every 1s --tpu-resource-per-chip x
ok 0 "what follows -- without a live source is an argument" import --now "$now" --dry-run -- fleet 'v6e 4x4 x1'
ok 4 "--every without a ledger ends" --db "$tmp/none.db" sync --from-ray --every 1s
err "with the reason" "none.db"

# --- the units for systemd
if command -v systemd-analyze >/dev/null; then
  for unit in quoit-sync-ray quoit-sync-kubectl; do
    sed "s#/usr/bin/quoit#$top_builddir/cli/quoit#; s/^User=.*/User=$(id -un)/" "$top_srcdir/contrib/live/$unit.service" >"$tmp/$unit.service"
    systemd-analyze verify --man=no "$tmp/$unit.service" >"$tmp/verified" 2>&1 || :
    holds "systemd accepts $unit.service" sh -c "! grep -e '$unit' '$tmp/verified'"
    printf '[Service]\nExecStat=/bin/true\n' >>"$tmp/$unit.service"
    systemd-analyze verify --man=no "$tmp/$unit.service" >"$tmp/verified" 2>&1 || :
    holds "systemd would refuse a mistake in $unit.service" grep -q "$unit.*ExecStat" "$tmp/verified"
  done
else
  skip "no systemd-analyze"
fi

# --- sync --every
[ -n "$python" ] || finish
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
two_slices=$two_slices PATH=$programs "$python" - "$top_builddir/cli/quoit" "$top_srcdir/tests/data/captures" <<'PY' >"$tmp/loop" 2>&1
import json, os, shutil, signal, subprocess, sys, time

quoit, captures = sys.argv[1:]
fake = os.environ["FAKE"]
failed = []


def replay(name):
    for what in "nodes", "placement-groups":
        shutil.copy("%s/%s.ray-list-%s--detail--format-json.json" % (captures, name, what), fake + "/new")
        os.rename(fake + "/new", "%s/%s" % (fake, what))


def check(sentence, holds, detail=""):
    print("%s: %s %s" % ("ok" if holds else "FAIL", sentence, "" if holds else detail))
    if not holds:
        failed.append(sentence)


def call(*words):
    return subprocess.run([quoit, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def begin(*words):
    return subprocess.Popen([quoit, "sync", "--from-ray", "--every", "50ms", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


# A shell without job control starts commands in the background with SIGINT ignored, and nohup ignores SIGHUP. quoit would
# keep ignoring them.
for ignored in signal.SIGINT, signal.SIGHUP:
    signal.signal(ignored, signal.SIG_DFL)


def wait_for(sentence, holds):
    end = time.monotonic() + 20
    while not holds():
        if time.monotonic() > end:
            check(sentence, False)
            return
        time.sleep(0.05)
    check(sentence, True)


def calls():
    with open(fake + "/log") as log:
        return len(log.readlines())


def turns(n):
    """Waits for n whole turns."""
    before = calls()
    wait_for("%d turns" % n, lambda: calls() >= before + 3 * n + 3)


for options, number in ((), signal.SIGTERM), (("-o", "json"), signal.SIGINT):
    for file in os.listdir(os.path.dirname(os.environ["QUOIT_DB"])):
        if file.startswith("quoit.db"):
            os.unlink(os.path.join(os.path.dirname(os.environ["QUOIT_DB"]), file))
    call("init")
    open(fake + "/log", "w").close()
    replay("gke.idle")
    loop = begin(*options)
    turns(2)
    seq = json.loads(call("status", "-o", "json"))["seq"]
    replay("gke.one-reserved")
    turns(1)
    check("a change is written", json.loads(call("status", "-o", "json"))["seq"] == seq + 1)
    with open(fake + "/before", "w") as before:
        before.write("echo broken >&2; exit 9\n")
    time.sleep(0.5)
    os.unlink(fake + "/before")
    turns(2)
    check("turns without a change write nothing", json.loads(call("status", "-o", "json"))["seq"] == seq + 1)
    loop.send_signal(number)
    out, err = loop.communicate(timeout=20)
    check("it ends by %s" % number.name, loop.returncode == -number, loop.returncode)
    check("the failing source is reported", "exit status 9: broken; the next try is in 100 ms" in err, err)
    check("later and later", "the next try is in 200 ms" in err, err)
    check("and when it answers again", err.count("ray can be read again") == 1, err)
    check("each warning is printed once", len(set(err.splitlines())) == len(err.splitlines()), err)
    lines = out.splitlines()
    if options:
        documents = [json.loads(line) for line in lines]
        check("one object for each turn with changes", [d["new"] for d in documents] == [True, False], out)
        check("with its changes", any(c["kind"] == "group" for c in documents[1]["changes"]), out)
    else:
        check("the first line is the source", lines[0].endswith("Z ray: new source, nodes: 9"), out)
        check("then one line for each change", len(lines) > 1 and all(" ray: group " in line for line in lines[1:]), out)
    check("the ledger is whole", call("verify") != "")

# A signal while ray runs ends both.
with open(fake + "/before", "w") as before:
    before.write('echo $$ >"$FAKE/pid"; sleep 60\n')
if os.path.exists(fake + "/pid"):
    os.unlink(fake + "/pid")
loop = begin()
wait_for("ray runs", lambda: os.path.exists(fake + "/pid") and open(fake + "/pid").read().strip())
began = time.monotonic()
loop.send_signal(signal.SIGHUP)
loop.communicate(timeout=20)
check("a signal ends it at once", loop.returncode == -signal.SIGHUP and time.monotonic() - began < 5, loop.returncode)
pid = int(open(fake + "/pid").read())
wait_for("and ray", lambda: not os.path.exists("/proc/%d" % pid))
# kill -9 leaves no ray.
os.unlink(fake + "/pid")
loop = begin()
wait_for("ray runs again", lambda: os.path.exists(fake + "/pid") and open(fake + "/pid").read().strip())
loop.kill()
loop.communicate()
pid = int(open(fake + "/pid").read())
wait_for("kill -9 ends ray too", lambda: not os.path.exists("/proc/%d" % pid))
os.unlink(fake + "/before")

# Ignored signals stay ignored, as under nohup.
loop = subprocess.Popen(["nohup", quoit, "sync", "--from-ray", "--every", "50ms"], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
turns(1)
loop.send_signal(signal.SIGHUP)
turns(2)
check("nohup holds", loop.poll() is None)
loop.terminate()
check("and SIGTERM ends it", loop.wait(20) == -signal.SIGTERM)
# As process 1 of a container, which default signals do not end.
if subprocess.run(["unshare", "-Urpf", "true"], capture_output=True).returncode == 0:
    for number in signal.SIGTERM, signal.SIGINT:
        loop = subprocess.Popen(["unshare", "-Urpf", quoit, "sync", "--from-ray", "--every", "50ms"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        turns(1)
        inner = subprocess.run(["pgrep", "-P", str(loop.pid)], check=True, capture_output=True, text=True).stdout
        os.kill(int(inner), number)
        check("process 1 ends by %s" % number.name, loop.wait(20) == 128 + number, loop.returncode)

# A file as the source.
shutil.copy(captures + "/gke.idle.ray-list-nodes--detail--format-json.json", fake + "/file")
loop = subprocess.Popen([quoit, "sync", "ray-nodes", fake + "/file", "--every", "50ms", "-o", "json"], text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
time.sleep(0.3)
with open(fake + "/file") as file:
    rows = json.load(file)
rows[1]["state"] = "DEAD"
with open(fake + "/file.new", "w") as file:
    json.dump(rows, file)
os.rename(fake + "/file.new", fake + "/file")
seen = json.loads(loop.stdout.readline())
while not any("alive -> dead" in change["detail"] for change in seen["changes"] if change["detail"]):
    seen = json.loads(loop.stdout.readline())
check("a file that changes is a line", seen["source"] == "ray", seen)
os.unlink(fake + "/file")
wait_for("a file that is gone is survived", lambda: "next try" in loop.stderr.readline())
check("the loop goes on", loop.poll() is None)
loop.terminate()
loop.communicate(timeout=20)

# The first time, a file must be readable. Later, its manifest can get another name, and its nodes can die.
out = subprocess.run([quoit, "sync", "ray-nodes", fake + "/none", "--every", "50ms"], capture_output=True, text=True)
check("a file that is not there ends it at the begin", out.returncode == 4 and "none" in out.stderr, out)
shutil.copy(captures + "/gke.idle.ray-list-nodes--detail--format-json.json", fake + "/file")
rows[1]["state"] = "ALIVE"
with open(fake + "/file", "w") as file:
    json.dump(rows, file)
call("sync", "ray-nodes", fake + "/file")
chips = json.loads(call("slices", "-o", "json"))["slices"][0]
call("reserve", "train", "--accelerator", chips["accelerator"], "--topology", chips["topology"], "--slices", "1")
loop = subprocess.Popen([quoit, "sync", "ray-nodes", fake + "/file", "--every", "50ms"], text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
loop.stderr.readline()
for row in rows:
    if "ray.io/tpu-slice-name" in (row.get("labels") or {}):
        row["state"] = "DEAD"
with open(fake + "/file.new", "w") as file:
    json.dump(rows, file)
os.rename(fake + "/file.new", fake + "/file")
line = loop.stdout.readline()
while "problem" not in line and line:
    line = loop.stdout.readline()
check("a lost slice is a line with its remedy", "ray: problem train@" in line and "repair train@" in line, line)
loop.terminate()
loop.communicate(timeout=20)
manifest = os.environ["two_slices"]
shutil.copy(manifest, fake + "/cluster")
loop = subprocess.Popen([quoit, "sync", "raycluster", fake + "/cluster", "--every", "50ms"], text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
check("the begin says what it does", loop.stderr.readline().endswith("/cluster every 50 ms until it is interrupted\n"))
with open(manifest) as file:
    text = file.read()
name = text[text.index("name: ") + 6:].split("\n")[0]
loop.stdout.readline()
with open(fake + "/cluster.new", "w") as file:
    file.write(text.replace("name: " + name + "\n", "name: other\n", 1))
os.rename(fake + "/cluster.new", fake + "/cluster")
check("another name is a warning", "now 'other'; the nodes of '%s' stay" % name in loop.stderr.readline())
loop.terminate()
loop.communicate(timeout=20)

# A ledger that is removed ends the loop.
loop = begin()
turns(1)
os.rename(os.environ["QUOIT_DB"], os.environ["QUOIT_DB"] + ".moved")
out, err = loop.communicate(timeout=20)
check("a ledger that is gone ends it", loop.returncode == 4 and "quoit: sync: " in err, (loop.returncode, err))
sys.exit(bool(failed))
PY
while IFS= read -r line; do
  case $line in
  ok:*) pass ;;
  *) fail "sync --every: $line" ;;
  esac
done <"$tmp/loop"
finish
