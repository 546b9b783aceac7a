#!/bin/sh
# Who may include whom (DESIGN of the rooms): a room may include its own headers and those of the rooms listed for it;
# a foreign library's header is seen by one file only.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
failed=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "test_rooms: $*" >&2
    failed=1
}

# Rooms a room may include beside itself.
allowed() {
    case $1 in
    core) ;;
    model | hardware | demand | reduce) echo core ;;
    plan) echo core model hardware ;;
    lower) echo core model hardware plan demand ;;
    evaluate) echo core hardware demand ;;
    space) echo core model hardware plan ;;
    io) echo core model hardware plan evaluate space reduce ;;
    run) echo core model hardware plan demand lower evaluate space reduce io ;;
    cli) echo core model hardware plan demand lower evaluate space reduce io run ;;
    *) return 1 ;;
    esac
}

# Rooms whose public header the header of a room builds on; what the header includes its users see anyway.
header_allowed() {
    case $1 in
    hardware) echo core model ;;   # dtypes of the rates
    demand) echo core hardware model ;; # levels, layer kinds
    reduce) echo core space plan ;;  # candidate ids, reasons
    *) allowed "$1" ;;
    esac
}

# The room of an included file; a name without a folder is beside the file that includes it, in room $2.
room_of() {
    case $1 in
    cosweep/simd.h) echo core ;; # loops of every room are cloned by it
    cosweep/*.h) basename "$1" .h ;;
    */*) dirname "$1" ;;
    *) echo "$2" ;;
    esac
}

check() { # FILE ROOM ALLOWED
    sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$1" >"$list"
    while IFS= read -r included; do
        from=$(room_of "$included" "$2")
        case " $2 $3 " in
        *" $from "*) ;;
        *) fail "$1 includes $included: $2 may include only: $3" ;;
        esac
    done <"$list"
}

for folder in src/*/; do
    room=$(basename "$folder")
    rooms=$(allowed "$room") || { fail "$folder: a room that this test does not know"; continue; }
    rooms="$rooms $(header_allowed "$room")" # a source sees what its own public header sees
    for file in "$folder"*.[ch] "$folder"*.def; do
        [ ! -f "$file" ] || check "$file" "$room" "$rooms"
    done
done
for file in include/cosweep/*.h; do
    room=$(room_of "cosweep/$(basename "$file")" "")
    check "$file" "$room" "$(header_allowed "$room")"
done

one_door() { # HEADER FILE
    seen=$(grep -lE "^ *# *include *[<\"]$1[>\"]" -r src include | tr '\n' ' ')
    [ "$seen" = "$2 " ] || fail "$1 is seen by: ${seen:-none}; only $2 may"
}
one_door yaml.h src/io/yaml.c
one_door hdf5.h src/io/store.h
one_door hdf5_hl.h src/io/store.h
one_door mpi.h src/run/mpi.c

# The model builds without threads, MPI and files: their calls belong to io, run and cli.
for room in core model hardware plan demand lower evaluate space reduce; do
    for file in "src/$room"/*.c; do
        [ ! -f "$file" ] || ! grep -nE '\b(fopen|open|omp_[a-z_]+|MPI_[A-Za-z_]+) *\(|# *pragma omp parallel' "$file" >&2 ||
            fail "$file: opens files or starts threads"
    done
done

# A file has one reason to exist.
find src include -name '*.[ch]' >"$list"
while IFS= read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 400 ] || fail "$file has $lines lines; 400 are allowed"
done <"$list"
exit $failed
