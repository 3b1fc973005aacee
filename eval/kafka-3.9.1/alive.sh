#!/usr/bin/env bash
# Asks the broker on a port which requests it knows (ApiVersions, version 0): alive.sh PORT. Its network and request threads have to
# work for an answer. Asked by bash itself, so no JVM takes part.
exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 1
# Length 10, key 18, version 0, correlation id 7, no client id.
printf '\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x07\xff\xff' >&3
# Length, correlation id and error code of the answer.
answer=$(timeout 5 head -c 10 <&3 | od -An -v -tx1 | tr -d ' \n')
[ "${answer:8}" = 000000070000 ]
