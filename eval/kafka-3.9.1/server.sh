#!/bin/sh
# A broker that is its own controller, on storage that format.sh has made: server.sh DIR
set -eu
[ $# -eq 1 ] || { echo "usage: server.sh DIR" >&2; exit 64; }
here=$(dirname "$0")
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/conf:$here/../work/kafka-3.9.1/lib/*" \
    kafka.Kafka "$1/server.properties"
