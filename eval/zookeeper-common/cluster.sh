#!/usr/bin/env bash
# One run of a three-server ZooKeeper cluster with a client, from nothing to a summary.
#
#   ZK_LIB=DIR ZK_CLASSES=DIR WORK=DIR [JAVA=java] [CREATES=200] [EXTRA_JVM='...'] [BASE_PORT=21810] cluster.sh
#
#   ZK_LIB      directory with ZooKeeper's jars (see the pom.xml of a version)
#   ZK_CLASSES  directory with the compiled hypocenter.eval.ZkClient
#   WORK        directory for data, configuration and logs; must be empty or not exist
#   JAVA        the java binary
#   CREATES     how many znodes the client creates
#   EXTRA_JVM   flags for every JVM, split at spaces
#   BASE_PORT   first of nine ports on loopback: client, quorum and election port of each server
#
# Exit status 0 only if zk3 leads, all creates are done and no log shows a broken class.
set -u

JAVA=${JAVA:-java}
CREATES=${CREATES:-200}
EXTRA_JVM=${EXTRA_JVM:-}
BASE_PORT=${BASE_PORT:-21810}

READY_LIMIT_S=60   # for all servers together to take their roles
STOP_LIMIT_S=10    # for all servers together to end after TERM
BROKEN_CLASS='VerifyError|ClassFormatError|LinkageError|NoSuchMethodError'

pids=(0 0 0 0)     # pids[N] is the process of zkN, 0 when there is none
client_pid=0

fail() {
    echo "cluster: $*" >&2
    exit 1
}

[ -n "${ZK_LIB:-}" ] && [ -d "$ZK_LIB" ] || fail "ZK_LIB is not a directory: '${ZK_LIB:-}'"
[ -n "${ZK_CLASSES:-}" ] && [ -d "$ZK_CLASSES" ] || fail "ZK_CLASSES is not a directory: '${ZK_CLASSES:-}'"
[ -n "${WORK:-}" ] || fail "WORK is not set"
mkdir -p "$WORK" || fail "cannot create WORK: $WORK"
# Data of an earlier run would decide the election and make the client's znodes exist already.
[ -z "$(ls -A "$WORK")" ] || fail "WORK is not empty: $WORK"
WORK=$(cd "$WORK" && pwd)

client_port() { echo $((BASE_PORT + $1 - 1)); }
quorum_port() { echo $((BASE_PORT + 2 + $1)); }
election_port() { echo $((BASE_PORT + 5 + $1)); }

write_config() {
    local n=$1 i
    mkdir -p "$WORK/zk$n/data"
    echo "$n" > "$WORK/zk$n/data/myid"
    {
        echo "tickTime=500"
        echo "initLimit=20"
        echo "syncLimit=10"
        echo "dataDir=$WORK/zk$n/data"
        echo "clientPort=$(client_port "$n")"
        echo "clientPortAddress=127.0.0.1"
        # The admin server would listen on every address of the machine.
        echo "admin.enableServer=false"
        echo "4lw.commands.whitelist=srvr"
        for i in 1 2 3; do
            echo "server.$i=127.0.0.1:$(quorum_port $i):$(election_port $i)"
        done
    } > "$WORK/zk$n/zoo.cfg"
}

# The layout is the one of ZooKeeper's own release. On stderr, because the client's stdout is its result.
write_log_config() {
    mkdir -p "$WORK/conf"
    cat > "$WORK/conf/log4j.properties" <<'LOG4J'
log4j.rootLogger=INFO, CONSOLE
log4j.appender.CONSOLE=org.apache.log4j.ConsoleAppender
log4j.appender.CONSOLE.Target=System.err
log4j.appender.CONSOLE.layout=org.apache.log4j.PatternLayout
log4j.appender.CONSOLE.layout.ConversionPattern=%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n
LOG4J
}

start_server() {
    local n=$1
    # shellcheck disable=SC2086 # EXTRA_JVM holds several flags
    HYPOCENTER_NODE=zk$n "$JAVA" -Xmx256m $EXTRA_JVM -cp "$WORK/conf:$ZK_LIB/*" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$WORK/zk$n/zoo.cfg" \
        > "$WORK/zk$n.log" 2>&1 < /dev/null &
    pids[n]=$!
}

# What the server says of itself: leader, follower, or nothing while it does not serve.
# Asked by bash itself: a probe in Java would start a JVM per question and load the agent into it.
mode_of() {
    (
        exec 3<> "/dev/tcp/127.0.0.1/$(client_port "$1")" || exit 0
        printf srvr >&3
        while IFS= read -r -t 2 line <&3; do
            case $line in "Mode: "*) echo "${line#Mode: }" ;; esac
        done
    ) 2> /dev/null
}

wait_for_mode() {
    local n=$1 wanted=$2
    while [ "$(mode_of "$n")" != "$wanted" ]; do
        kill -0 "${pids[n]}" 2> /dev/null || fail "zk$n ended before it was $wanted, see $WORK/zk$n.log"
        [ "$SECONDS" -lt "$READY_LIMIT_S" ] || fail "zk$n is not $wanted after $READY_LIMIT_S s, see $WORK/zk$n.log"
        sleep 0.1
    done
}

# utime + stime. They are the 12th and 13th field after the command, which is in parentheses and may hold spaces.
cpu_seconds() {
    sed 's/^.*) //' "/proc/$1/stat" 2> /dev/null |
        awk -v ticks="$(getconf CLK_TCK)" '{ printf "%.2f\n", ($12 + $13) / ticks }'
}

alive() { [ "$1" -ne 0 ] && kill -0 "$1" 2> /dev/null; }

any_alive() {
    local pid
    for pid in "${pids[@]}" "$client_pid"; do
        alive "$pid" && return 0
    done
    return 1
}

stop_all() {
    local pid limit=$((SECONDS + STOP_LIMIT_S))
    for pid in "${pids[@]}" "$client_pid"; do
        alive "$pid" && kill -TERM "$pid" 2> /dev/null
    done
    while any_alive && [ "$SECONDS" -lt "$limit" ]; do
        sleep 0.1
    done
    for pid in "${pids[@]}" "$client_pid"; do
        alive "$pid" && kill -KILL "$pid" 2> /dev/null
        [ "$pid" -ne 0 ] && wait "$pid" 2> /dev/null
    done
    pids=(0 0 0 0)
    client_pid=0
}

trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A server of somebody else on one of the ports would answer in place of ours.
for ((port = BASE_PORT; port < BASE_PORT + 9; port++)); do
    ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || fail "port $port is in use, choose another BASE_PORT"
done

write_log_config
for n in 1 2 3; do write_config $n; done

# Of two empty servers the one with the higher id wins the election, so zk3 leads in every run.
start_server 2
start_server 3
wait_for_mode 3 leader
wait_for_mode 2 follower
start_server 1
wait_for_mode 1 follower

connect=127.0.0.1:$(client_port 1),127.0.0.1:$(client_port 2),127.0.0.1:$(client_port 3)
# In the background, so that a signal to this script is handled while the client runs.
# shellcheck disable=SC2086
HYPOCENTER_NODE=client "$JAVA" -Xmx256m $EXTRA_JVM -cp "$WORK/conf:$ZK_CLASSES:$ZK_LIB/*" \
    hypocenter.eval.ZkClient "$connect" "$CREATES" > "$WORK/client.out" 2> "$WORK/client.log" < /dev/null &
client_pid=$!
wait "$client_pid"
client_status=$?
client_pid=0

leader=none
for n in 1 2 3; do
    [ "$(mode_of $n)" = leader ] && leader=zk$n
done
cpu_lines=
for n in 1 2 3; do
    cpu_lines+="cpu zk$n $(cpu_seconds "${pids[n]}")"$'\n'
done
stop_all

creates=$(grep '^creates ' "$WORK/client.out" || echo "creates 0/$CREATES")
verify_errors=$(cat "$WORK"/*.log | grep -c -E "$BROKEN_CLASS")

echo "leader $leader"
echo "$creates"
echo "verify errors $verify_errors"
printf '%s' "$cpu_lines"

[ "$leader" = zk3 ] || fail "the leader at the end is $leader, not zk3"
[ "$client_status" -eq 0 ] || fail "the client ended with status $client_status, see $WORK/client.log"
[ "$verify_errors" -eq 0 ] || fail "broken classes, see the logs in $WORK"
