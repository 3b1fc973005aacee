#!/usr/bin/env bash
# Whether the server on a client port serves: alive.sh PORT. Asked by bash itself, so no JVM takes part.
exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 1
printf srvr >&3
while IFS= read -r -t 5 line <&3; do
    case $line in "Mode: "*) exit 0 ;; esac
done
exit 1
