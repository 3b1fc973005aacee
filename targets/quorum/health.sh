#!/usr/bin/env bash
# As quorum.Health, by bash itself: health.sh PORT. A trial asks three servers, and a JVM for each would take more than the answer.
for _ in 1 2 3; do
    answer=
    if exec 3<> "/dev/tcp/127.0.0.1/$1"; then
        IFS= read -r -t 2 answer <&3
        exec 3>&-
    fi
    [ -z "$answer" ] || break
done
[ "$answer" = ok ]
