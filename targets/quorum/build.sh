#!/bin/sh
# Compiles the system to build/classes and its fixed twin, src with the files of fixed/ in place, to build/fixed.
set -eu
cd "$(dirname "$0")"
javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac

rm -rf build
mkdir -p build/twin
cp -R src/quorum build/twin/
cp fixed/quorum/*.java build/twin/quorum/
"$javac" -g --release 17 -d build/classes src/quorum/*.java
"$javac" -g --release 17 -d build/fixed build/twin/quorum/*.java
