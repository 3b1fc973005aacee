#!/bin/sh
# The workload of hypocenter.toml as one command: run.sh CLASSES DIR
#
# Starts three servers, waits until each of them serves, and lets the clients of phase 1 and then those of phase 2 work.
# Ends with 0 if every client did, else with 1, and says which did not. DIR must be new: data and logs are kept in it.
set -u
[ $# -eq 2 ] || { echo "run.sh: say CLASSES DIR, as in: run.sh build/classes /tmp/quorum-1" >&2; exit 2; }
classes=$1
dir=$2
[ -e "$dir/q1.log" ] && { echo "run.sh: $dir was used before, give a new directory" >&2; exit 2; }
[ -e "$classes/quorum/Server.class" ] || { echo "run.sh: no classes in $classes, run build.sh first" >&2; exit 2; }
mkdir -p "$dir" || exit 2
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
options="-XX:+UseSerialGC -Xmx64m -XX:TieredStopAtLevel=1"

servers=
finish() {
    for pid in $servers; do
        kill "$pid" 2>/dev/null
    done
    for pid in $servers; do
        wait "$pid" 2>/dev/null
    done
    servers=
}
trap finish EXIT
trap 'exit 143' INT TERM

for id in 1 2 3; do
    HYPOCENTER_NODE=q$id $java $options -cp "$classes" quorum.Server --id $id --data "$dir/q$id" >"$dir/q$id.log" 2>&1 &
    servers="$servers $!"
done

# A tenth of a second between looks, and no more than 30 seconds of them.
ready() {
    id=$1
    pid=$2
    looks=0
    until grep -q 'serving clients as' "$dir/q$id.log"; do
        looks=$((looks + 1))
        if [ $looks -gt 300 ] || ! kill -0 "$pid" 2>/dev/null; then
            echo "run.sh: server q$id does not serve, see $dir/q$id.log" >&2
            return 1
        fi
        sleep 0.1
    done
}
id=1
for pid in $servers; do
    ready $id "$pid" || exit 1
    id=$((id + 1))
done

# phase LETTER STEPS: a client for each server, all at once.
phase() {
    clients=
    for id in 1 2 3; do
        HYPOCENTER_NODE=$1$id $java $options -cp "$classes" quorum.Client $1$id $id $2 >"$dir/$1$id.out" 2>&1 &
        clients="$clients $!"
    done
    failed=
    id=1
    for pid in $clients; do
        wait "$pid" || failed="$failed $1$id"
        id=$((id + 1))
    done
    for client in $failed; do
        echo "run.sh: client $client failed: $(tail -n 1 "$dir/$client.out")"
    done
    [ -z "$failed" ]
}

result=0
phase c 20 && phase d 10 || result=1
id=1
for pid in $servers; do
    if health=$(HYPOCENTER_NODE=h$id $java $options -cp "$classes" quorum.Health 720$id 2>/dev/null); then :; fi
    echo "run.sh: health of q$id: $health"
    id=$((id + 1))
done
exit $result
