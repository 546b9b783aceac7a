# Lines run of gcovr's table, per room of src and in all; fails where fewer than `least` of 100 are.
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    split($column["filename"], path, "/")
    lines[path[2]] += $column["line_total"]
    run[path[2]] += $column["line_covered"]
}
END {
    for (room in lines) {
        printf "%-10s %6d lines %6.1f%%\n", room, lines[room], 100 * run[room] / lines[room] | "sort"
        all += lines[room]
        all_run += run[room]
    }
    close("sort")
    if (!all) exit 1
    printf "%-10s %6d lines %6.1f%%\n", "all", all, 100 * all_run / all
    exit 100 * all_run / all < least
}
