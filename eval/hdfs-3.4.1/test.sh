#!/bin/sh
# One test of HDFS, or all of a class: test.sh DIR LIB CLASS[#METHOD]
#
#   DIR  an empty directory for what the test writes; it is also the working directory
#   LIB  the directory with the jars of the pom.xml
#
# JAVA_FLAGS go to the JVM. The exit status is the runner's: 0 if at least one test was found and none failed. The last line on
# stdout has the seconds of CPU of the JVM and its children, in user mode and in the kernel, as the `times` of the shell prints them.
set -u
[ $# -eq 3 ] || { echo "usage: test.sh DIR LIB CLASS[#METHOD]" >&2; exit 64; }
conf=$(cd "$(dirname "$0")/conf" && pwd) && lib=$(cd "$2" && pwd) && dir=$(cd "$1" && pwd) || exit 66
case $3 in
*'#'*) select=--select-method ;;
*) select=--select-class ;;
esac
mkdir -p "$dir/tmp" && cd "$dir" || exit 73

# The properties are those of Hadoop's own build. It opens no package of the JDK; these are opened in case a test reaches into them.
opens=
for package in java.io java.lang java.lang.reflect java.math java.net java.nio java.text java.util java.util.concurrent \
    java.util.zip sun.nio.ch sun.security.util sun.security.x509; do
    opens="$opens --add-opens=java.base/$package=ALL-UNNAMED"
done
# shellcheck disable=SC2086 # both hold several flags
java ${JAVA_FLAGS:-} $opens \
    -Djava.io.tmpdir="$dir/tmp" -Dhadoop.tmp.dir="$dir/tmp" -Dtest.build.dir="$dir" -Dtest.build.data="$dir/data" \
    -Djava.net.preferIPv4Stack=true -Djava.security.egd=file:///dev/urandom \
    -cp "$conf:$lib/*" org.junit.platform.console.ConsoleLauncher \
    --disable-banner --disable-ansi-colors --details=tree --fail-if-no-tests "$select" "$3"
status=$?
times
exit $status
