#!/bin/sh
# Formats the storage of a broker before its first start: format.sh DIR
set -eu
[ $# -eq 1 ] || { echo "usage: format.sh DIR" >&2; exit 64; }
here=$(dirname "$0")
config=$1/server.properties
{ cat "$here/conf/server.properties"; echo "log.dirs=$1/data"; } > "$config"
exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/conf:$here/../work/kafka-3.9.1/lib/*" \
    kafka.tools.StorageTool format --cluster-id aHlwb2NlbnRlci1ldmFsIQ --config "$config"
