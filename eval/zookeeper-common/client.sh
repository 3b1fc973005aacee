#!/usr/bin/env bash
# A client of the workload: client.sh PORT WORDS... has the ZkLoad that listens on PORT do what the words say, prints what that
# answers, and ends as it says. It is no JVM, since a trial has nine of them.
exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 1
shift
echo "$*" >&3
while IFS= read -r line <&3; do
    case $line in
        "end "*) exit "${line#end }" ;;
        *) printf '%s\n' "$line" ;;
    esac
done
exit 1
