#!/bin/sh
# Fills fuzz/corpus from the JDK at JAVA_HOME (or on the PATH): small classes of its modules, the programs of the tests,
# traces and logs; and fuzz/library, a JDK of a few classes.
set -eu
cd "$(dirname "$0")"

classes_max=${CLASSES_MAX:-3000}
class_bytes_max=8192
hypocenter=${HYPOCENTER:-../target/release/hypocenter}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p corpus/classfile corpus/patch corpus/trace corpus/loader corpus/program corpus/logs

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
    # Options of the patch target: kinds of hooks, methods, density, kinds of edges, hooks that see something (see src/hooks.rs).
    case $((n % 8)) in
    0) options='\003\377\377\000\000' ;;
    1) options='\057\377\377\000\000' ;;
    2) options='\060\377\377\001\003' ;;
    3) options='\177\377\377\011\017' ;;
    4) options='\260\125\100\004\004' ;;
    5) options='\277\377\200\017\017' ;;
    6) options='\010\377\377\000\007' ;;
    7) options='\040\377\377\000\014' ;;
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

# What the analyses know of a JDK: exceptions, threads, streams, futures, text.
base=$work/classes
[ -d "$base/java.base" ] && base=$base/java.base
mkdir -p "$work/system"
# shellcheck disable=SC2046
cargo run --quiet --release --example bundle library library/jre/lib/rt.jar "$base" $(cd "$base" &&
    find java/lang java/io java/util/concurrent java/nio/channels -maxdepth 1 -name '*.class' |
    grep -E '/(Object|String|StringBuilder|Thread|Runnable|Throwable|[A-Za-z]*Exception|[A-Za-z]*Error|AutoCloseable|Integer|Math|System)\.class$|/io/(Closeable|Flushable|(Byte(Array)?|Data|Buffered|File|Filter|Print)?(In|Out)putStream|PrintStream|Reader|Writer|File)\.class$|/concurrent/(Callable|Future|FutureTask|Executor|ExecutorService|Executors|CompletableFuture|CompletionStage|TimeUnit|BlockingQueue)\.class$' |
    sed 's/\.class$//' | LC_ALL=C sort)

# Programs with something to find: those of the analyses' tests, which leave the compiled rows of their tables, and the targets.
programs=
if command -v javac >/dev/null; then
    for source in ../crates/program/tests/java ../crates/program/tests/java/faults ../crates/program/tests/java/shape; do
        out=$work/programs/$(basename "$source")
        mkdir -p "$out"
        javac -g -nowarn -d "$out" "$source"/*.java 2>/dev/null && programs="$programs $out"
    done
fi
for rows in ${TABLES:-../target/tmp}/table-*/Row*; do
    [ -d "$rows" ] && programs="$programs $rows"
done
# shellcheck disable=SC2086
cargo run --quiet --release --example bundle seeds corpus $programs

# Logs: each layout that the tests know, with and without its pattern.
n=0
for pattern in '%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n' '%d{HH:mm:ss.SSS} [%thread] %-5level %logger{36} - %msg%n' \
    '[%d] %p %m (%c)%n' '%d{yy/MM/dd HH:mm:ss} %p %c{2}: %m%n' '%r [%t] %p %c %x - %m%n' '%m%n'; do
    n=$((n + 1))
    { echo "$pattern"; cat seed/small.log; } >"corpus/logs/pattern-$n"
done
cp seed/small.log corpus/logs/whole
for log in ${LOGS:-}; do
    n=$((n + 1))
    head -c 8192 "$log" >"corpus/logs/real-$n"
done
echo "logs: $(find corpus/logs -type f | wc -l) seeds"
