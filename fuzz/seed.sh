#!/bin/sh
# Fills fuzz/corpus from the JDK at JAVA_HOME (or on the PATH): small classes of its modules, and traces.
set -eu
cd "$(dirname "$0")"

classes_max=${CLASSES_MAX:-3000}
class_bytes_max=8192
hypocenter=${HYPOCENTER:-../target/release/hypocenter}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p corpus/classfile corpus/patch corpus/trace

tool() {
    if [ -n "${JAVA_HOME:-}" ] && [ -x "$JAVA_HOME/bin/$1" ]; then echo "$JAVA_HOME/bin/$1"; else command -v "$1"; fi
}
java_home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(tool java)")")")}

if [ -f "$java_home/lib/modules" ]; then
    # What compilers of several kinds wrote: the language, its lambdas and records, generated parsers, old code.
    "$(tool jimage)" extract --dir "$work/classes" \
        --include 'regex:/java.base/java/(io|lang|net|nio|util)/.*,regex:/java.xml/.*,regex:/jdk.compiler/.*' \
        "$java_home/lib/modules"
else
    mkdir "$work/classes"
    (cd "$work/classes" && "$(tool jar)" xf "$java_home/jre/lib/rt.jar" java javax)
fi

# Classes of the test programs, which have the rarer instructions, go first.
if command -v javac >/dev/null; then
    mkdir -p "$work/classes/0"
    javac -g -nowarn -d "$work/classes/0" ../crates/classfile/tests/java/*.java 2>/dev/null || true
fi

# Evenly over all that are small enough, so that no package dominates.
find "$work/classes" -name '*.class' -size -"$class_bytes_max"c | LC_ALL=C sort >"$work/list"
total=$(wc -l <"$work/list")
step=$(((total + classes_max - 1) / classes_max))
n=0
awk -v step="$step" -v own="$work/classes/0/" 'index($0, own) == 1 || NR % step == 0' "$work/list" >"$work/chosen"
while read -r class; do
    n=$((n + 1))
    cp "$class" "corpus/classfile/seed-$n"
    # Options of the patch target: kinds of hooks, methods, density, kinds of edges (see src/hooks.rs).
    case $((n % 6)) in
    0) options='\003\377\377\000' ;;
    1) options='\057\377\377\000' ;;
    2) options='\060\377\377\001' ;;
    3) options='\177\377\377\011' ;;
    4) options='\260\125\100\004' ;;
    5) options='\277\377\200\017' ;;
    esac
    { printf "$options"; cat "$class"; } >"corpus/patch/seed-$n"
done <"$work/chosen"
echo "classfile, patch: $n seeds of $total classes"

# Real files of a small program, if the tool has been built, and those that the seed example makes.
files=
if [ -x "$hypocenter" ] && command -v javac >/dev/null; then
    hypocenter=$(realpath "$hypocenter")
    javac -g -d "$work/app" seed/Small.java
    if (cd "$work" && "$hypocenter" run --hook every --record stacks --ring-kb 16 -- java -cp app Small) \
        >"$work/log" 2>&1; then
        files=$(find "$work/hypocenter-out" -type f \( -name trace -o -name map \))
    else
        echo "hypocenter run failed, so there is no real trace:"
        tail -5 "$work/log"
    fi
fi
# shellcheck disable=SC2086
cargo run --quiet --release --example seed corpus/trace $files
echo "trace: $(find corpus/trace -type f | wc -l) seeds"
