#!/usr/bin/env bash
# Whether a server takes clients: answers.sh PORT. What is no message makes it close the connection; one that nobody takes stays open.
exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 1
printf 'no message\n' >&3
IFS= read -r -t 3 <&3
# At the end of the stream it is 1, and more than 128 when the time is up.
[ $? -eq 1 ]
