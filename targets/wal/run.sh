#!/bin/sh
# Runs the whole system once: sh run.sh CLASSES DIR. Starts the processes, waits until each says it is ready, runs the
# client, ends what was started, and exits with the status of the client. Logs and data are under DIR.
set -u
[ $# -eq 2 ] || { echo "usage: sh run.sh CLASSES DIR" >&2; exit 64; }
classes=$1
dir=$2
mkdir -p "$dir" || exit 1

started=
end() {
    for pid in $started; do kill "$pid" 2>/dev/null; done
    for pid in $started; do wait "$pid" 2>/dev/null; done
}
trap end EXIT
trap 'exit 130' INT TERM

# start NAME READY COMMAND...: fails if the process ends, or has not said READY after 30 s.
start() {
    name=$1
    ready=$2
    shift 2
    HYPOCENTER_NODE=$name "$@" >"$dir/$name.log" 2>&1 &
    pid=$!
    started="$pid $started"
    polls=0
    until grep -q "$ready" "$dir/$name.log" 2>/dev/null; do
        polls=$((polls + 1))
        if ! kill -0 "$pid" 2>/dev/null || [ "$polls" -gt 600 ]; then
            echo "$name did not start, see $dir/$name.log" >&2
            exit 1
        fi
        sleep 0.05
    done
}

start peer 'peer is serving' java -cp "$classes" wal.Peer --port 7102 --data "$dir/peer"
start server 'region server is serving' java -cp "$classes" wal.Server --port 7101 --peer 7102 --data "$dir/server"
HYPOCENTER_NODE=client java -cp "$classes" wal.Client --server 7101 --peer 7102 --data "$dir/client" \
    2>"$dir/client.log"
status=$?
if [ "$status" -ne 0 ]; then
    # Where the threads of the server are is half of the story. The JVM prints it last in its log.
    server=${started%% *}
    kill -QUIT "$server" 2>/dev/null
    polls=0
    until grep -q 'JNI global refs' "$dir/server.log" || ! kill -0 "$server" 2>/dev/null || [ "$polls" -gt 100 ]; do
        polls=$((polls + 1))
        sleep 0.05
    done
fi
exit "$status"
