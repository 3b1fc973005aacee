#!/usr/bin/env bash
# A node that may crash at a random time: crash.sh NUMBER COUNT LIMIT_MS DIR COMMAND...
#
# The name of DIR, which is the trial's, chooses the node, one of COUNT, and the time of its first start at which it is killed. So a trial has
# one crash at most, and nobody has to agree on it.
set -u
number=$1 count=$2 limit_ms=$3 dir=$4
shift 4
chance=$((16#$(printf '%s' "$dir" | sha256sum | head -c 12)))
if [ $((chance % count)) -ne "$number" ] || ! mkdir "$dir/crash-$number" 2> /dev/null; then
    exec "$@"
fi
ms=$((chance / count % limit_ms))
"$@" &
node=$!
{ sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"; kill -9 "$node"; } > /dev/null 2>&1 &
wait "$node"
