/* Aligned text tables, and whether a stream takes colour. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_wanted(FILE *to)
{
    const char *const refused = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_RANK")) return false; /* the terminal is the launcher's */
    return isatty(fileno(to)) && !(refused && refused[0] != '\0') && terminal && strcmp(terminal, "dumb") != 0;
}

void table_init(struct table *table, int n_columns)
{
    *table = (struct table){.n_columns = n_columns};
    table->heading = arena_alloc(&table->arena, (size_t)n_columns + 1, sizeof *table->heading);
    table->right = arena_alloc(&table->arena, (size_t)n_columns + 1, sizeof *table->right);
}

void table_column(struct table *table, int column, const char *heading, bool right)
{
    assert(column < table->n_columns);
    table->heading[column] = arena_text(&table->arena, heading);
    table->right[column] = right;
}

int table_row(struct table *table)
{
    if (table->n_rows == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 64;
        char **const cell = arena_alloc(&table->arena, (size_t)capacity * (size_t)table->n_columns, sizeof *cell);
        if (table->n_rows > 0) memcpy(cell, table->cell, (size_t)table->n_rows * (size_t)table->n_columns * sizeof *cell);
        table->cell = cell;
        table->capacity = capacity;
    }
    return table->n_rows++;
}

void table_set(struct table *table, int row, int column, const char *text)
{
    assert(row < table->n_rows && column < table->n_columns);
    table->cell[row * table->n_columns + column] = arena_text(&table->arena, text);
}

static const char *cell_text(const struct table *table, int row, int column)
{
    const char *const text = row < 0 ? table->heading[column] : table->cell[row * table->n_columns + column];
    return text ? text : "";
}

static int column_width(const struct table *table, int column)
{
    size_t width = 0;
    for (int row = -1; row < table->n_rows; row++) {
        const size_t n = strlen(cell_text(table, row, column));
        width = n > width ? n : width;
    }
    return (int)width;
}

void table_print(const struct table *table, FILE *to, int marked)
{
    int *const width = calloc((size_t)table->n_columns + 1, sizeof *width);
    const bool colour = colour_wanted(to);
    assert(width);
    for (int column = 0; column < table->n_columns; column++) width[column] = column_width(table, column);
    for (int row = -1; row < table->n_rows; row++) {
        const bool bold = colour && (row == -1 || row == marked);
        fputs(bold ? "\033[1m" : "", to);
        for (int column = 0; column < table->n_columns; column++) {
            const bool last = column == table->n_columns - 1;
            const int pad = table->right[column] ? width[column] : last ? 0 : -width[column]; /* no blanks at the end */
            fprintf(to, "%s%*s", column > 0 ? "  " : "", pad, cell_text(table, row, column));
        }
        fputs(bold ? "\033[0m\n" : "\n", to);
    }
    free(width);
}

void table_free(struct table *table)
{
    arena_free(&table->arena);
}
