#!/bin/sh
# A client of the broker: client.sh produce|consume TOPIC STEPS. KafkaClient.java says what they do.
set -eu
here=$(dirname "$0")
exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$here/conf:$here/../work/kafka-3.9.1/explore-classes:$here/../work/kafka-3.9.1/lib/*" \
    hypocenter.eval.KafkaClient 127.0.0.1:9092 "$@"
