#!/bin/sh
# One server of a cluster of three: server.sh N DIR LIB
#
#   N    which: 1, 2 or 3
#   DIR  holds everything of the cluster; the server makes DIR/zkN if it is not there, and finds its data again if it is
#   LIB  the directory with ZooKeeper's jars
#
# Ports on the loopback: 2180+N for clients, 2880+N for the quorum, 3880+N for elections. JAVA_FLAGS go to the JVM. TICK_MS,
# INIT_TICKS and SYNC_TICKS are ZooKeeper's tickTime, initLimit and syncLimit; LISTEN_LIMIT_S says how long zk3 is waited for.
set -eu
[ $# -eq 3 ] || { echo "usage: server.sh N DIR LIB" >&2; exit 64; }
n=$1
dir=$2/zk$n
lib=$3
LISTEN_LIMIT_S=${LISTEN_LIMIT_S:-60}

if [ ! -e "$dir/data/myid" ]; then
    mkdir -p "$dir/data"
    cat > "$dir/zoo.cfg" <<CFG
tickTime=${TICK_MS:-500}
initLimit=${INIT_TICKS:-20}
syncLimit=${SYNC_TICKS:-10}
dataDir=$dir/data
clientPort=218$n
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
server.1=127.0.0.1:2881:3881
server.2=127.0.0.1:2882:3882
server.3=127.0.0.1:2883:3883
CFG
    # Last, since it says that the rest is there.
    echo "$n" > "$dir/data/myid"
    # Of empty servers the one with the highest number wins an election that it is part of. The others let it be there
    # first, so zk3 leads in every run in which it comes: 0F2B is its election port, 0A a socket that listens.
    if [ "$n" -ne 3 ]; then
        looks=0
        until grep -q ':0F2B 0*:0000 0A' /proc/net/tcp /proc/net/tcp6; do
            looks=$((looks + 1))
            [ $looks -lt $((LISTEN_LIMIT_S * 20)) ] || { echo "zk3 does not listen after $LISTEN_LIMIT_S s" >&2; break; }
            sleep 0.05
        done
    fi
fi
# shellcheck disable=SC2086 # JAVA_FLAGS holds several flags
exec java ${JAVA_FLAGS:-} -cp "$(dirname "$0")/conf:$lib/*" org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/zoo.cfg"
