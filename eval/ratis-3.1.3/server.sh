#!/bin/sh
# One server of the arithmetic example: server.sh NODE DIR
#
#   NODE  which of PEERS
#   DIR   holds everything of the cluster; the server keeps its storage in DIR/NODE
#
# PEERS has the servers of the cluster as NAME:HOST:PORT, with commas.
set -eu
[ $# -eq 2 ] || { echo "usage: server.sh NODE DIR" >&2; exit 64; }
here=$(dirname "$0")
mkdir -p "$2/$1"
exec java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/conf:$here/../work/ratis-3.1.3/lib/*" \
    org.apache.ratis.examples.common.Runner arithmetic server --id "$1" --storage "$2/$1" --peers "$PEERS"
