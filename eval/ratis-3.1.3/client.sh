#!/bin/sh
# A client of the cluster of PEERS: client.sh steps NODE STEPS, or client.sh alive NODE. RatisClient.java says what they do.
set -eu
here=$(dirname "$0")
verb=$1
shift
exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$here/conf:$here/../work/ratis-3.1.3/explore-classes:$here/../work/ratis-3.1.3/lib/*" \
    hypocenter.eval.RatisClient "$verb" "$PEERS" "$@"
