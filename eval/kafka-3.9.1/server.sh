#!/bin/sh
# A broker that is its own controller: server.sh DIR
#
#   DIR  the broker keeps its data in DIR/data, which is formatted first if it is not there
#
# The format command runs without JAVA_TOOL_OPTIONS, and so without the agent: it is a tool of the operator, not a part of the system.
set -eu
[ $# -eq 1 ] || { echo "usage: server.sh DIR" >&2; exit 64; }
here=$(dirname "$0")
class_path="$here/conf:$here/../work/kafka-3.9.1/lib/*"
config=$1/server.properties
if [ ! -e "$1/data" ]; then
    { cat "$here/conf/server.properties"; echo "log.dirs=$1/data"; } > "$config"
    env -u JAVA_TOOL_OPTIONS java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$class_path" \
        kafka.tools.StorageTool format --cluster-id aHlwb2NlbnRlci1ldmFsIQ --config "$config"
fi
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$class_path" kafka.Kafka "$config"
