/* How the words of a command line become values: one table per command, no state. */
#include "cli/cli.h"

#include <assert.h>
#include <string.h>

enum { MAX_OPTIONS = 48 };

static bool is_argument(const struct option *option)
{
    return option->kind >= ARGUMENT;
}

static bool takes_value(const struct option *option)
{
    return option->kind != OPTION_FLAG;
}

static void texts_add(struct texts *texts, const char *text, const char *name, struct errors *errors)
{
    if (texts->n == MAX_TEXTS)
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: given more than %d times; give fewer", name, MAX_TEXTS);
    else texts->text[texts->n++] = text;
}

/* Position of `word` among "a|b|c", -1 if it is not there. */
static int word_position(const char *words, const char *word)
{
    const size_t n = strlen(word);
    int position = 0;
    for (const char *at = words; *at != '\0'; position++) {
        const size_t length = strcspn(at, "|");
        if (length == n && strncmp(at, word, n) == 0) return position;
        at += length + (at[length] == '|');
    }
    return -1;
}

static void number_set(const struct option *option, const char *text, const char *place, struct errors *errors)
{
    const bool seconds = option->kind == OPTION_SECONDS;
    const char *why = NULL;
    double value = 0;
    if (unit_parse(text, seconds ? DIM_SECONDS : DIM_COUNT, &value, &why) != 0)
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: `%s`: %s", place, text, why);
    else if (seconds && !(value > 0))
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: `%s` is not above 0; give a time like 60s, 5min or 2h", place, text);
    else if (!seconds && !(value >= 0 && value <= 9e15))
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: `%s` is out of range; give a whole number from 0 to 9e15", place,
                  text);
    else if (seconds) *(double *)option->target = value;
    else *(int64_t *)option->target = (int64_t)value;
}

/* The last of two values would win silently. */
static void refuse_second(const struct option *row, const struct option *table, bool seen[MAX_OPTIONS], const char *text,
                          const char *place, struct errors *errors)
{
    const ptrdiff_t i = row - table;
    assert(i < MAX_OPTIONS);
    if (seen[i] && row->kind != OPTION_LIST)
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: given twice, the second time as `%.80s`; give it once", place, text);
    seen[i] = true;
}

static void value_set(const struct option *option, const char *text, const char *place, struct errors *errors)
{
    switch (option->kind) {
    case OPTION_COUNT:
    case OPTION_SECONDS: number_set(option, text, place, errors); return;
    case OPTION_LIST:
    case ARGUMENT_REST: texts_add(option->target, text, place, errors); return;
    case OPTION_CHOICE: {
        const int position = word_position(option->value, text);
        if (position < 0)
            error_add(errors, STATUS_INPUT, NULL, 0, "%s: `%s` is unknown; give one of %s", place, text, option->value);
        else *(int *)option->target = position;
        return;
    }
    default:
        if (text[0] == '\0')
            error_add(errors, STATUS_INPUT, NULL, 0, "%s: empty; give %s", place,
                      option->value ? option->value : option->name);
        *(const char **)option->target = text;
    }
}

static const struct option *find_long(const struct option *table, const char *name, size_t n)
{
    for (const struct option *row = table; row->kind != OPTION_END; row++)
        if (!is_argument(row) && strlen(row->name) == n && strncmp(row->name, name, n) == 0) return row;
    return NULL;
}

static const struct option *find_short(const struct option *table, char letter)
{
    for (const struct option *row = table; row->kind != OPTION_END; row++)
        if (!is_argument(row) && row->letter == letter) return row;
    return NULL;
}

static void unknown_option(const struct option *table, const char *command, const char *word, struct errors *errors)
{
    const char *names[MAX_OPTIONS];
    char bare[NAME_CHARS];
    int n = 0;
    for (const struct option *row = table; row->kind != OPTION_END; row++)
        if (!is_argument(row)) {
            assert(n < MAX_OPTIONS);
            names[n++] = row->name;
        }
    const char *const at = word + strspn(word, "-");
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(at, "="), at);
    const char *const near = nearest_word(bare, names, n);
    if (near) error_add(errors, STATUS_INPUT, NULL, 0, "%s: no option `%.80s`; did you mean `--%s`?", command, word, near);
    else
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: no option `%.80s`; see `%s %s --help`", command, word, PROGRAM,
                  command);
}

/* One option at argv[*i], with its value, which may be the next word: *i then moves on.  False if it is unknown: whether
 * the next word is its value is then unknown too, and nothing after it can be judged. */
static bool option_read(const struct option *table, bool seen[MAX_OPTIONS], const char *command, int argc, char **argv,
                        int *i, struct errors *errors)
{
    const char *const word = argv[*i];
    const bool is_long = word[1] == '-';
    const char *const equals = is_long ? strchr(word, '=') : NULL;
    const size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 1 - is_long;
    const struct option *const row = is_long ? find_long(table, word + 2, length) : find_short(table, word[1]);
    if (!row || (!is_long && !takes_value(row) && word[2] != '\0')) {
        unknown_option(table, command, word, errors);
        return false;
    }
    char place[2 * NAME_CHARS];
    snprintf(place, sizeof place, "%s: --%s", command, row->name);
    const char *const text = equals                        ? equals + 1
                             : !is_long && word[2] != '\0' ? word + 2
                             : *i + 1 < argc               ? argv[*i + 1]
                                                           : NULL;
    if (!takes_value(row)) {
        if (equals) error_add(errors, STATUS_INPUT, NULL, 0, "%s: takes no value; leave out `%.80s`", place, equals);
        *(bool *)row->target = true;
    } else if (!text) {
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: no value; give %s", place, row->value);
    } else {
        if (text == argv[*i + 1]) *i += 1;
        refuse_second(row, table, seen, text, place, errors);
        value_set(row, text, place, errors);
    }
    return true;
}

/* The next argument row after `row`, or the row itself if it takes all. */
static const struct option *argument_after(const struct option *row)
{
    if (row->kind != ARGUMENT_REST) row++;
    while (row->kind != OPTION_END && !is_argument(row)) row++;
    return row;
}

int options_parse(const struct option *table, const char *command, int argc, char **argv, bool *help, struct errors *errors)
{
    const struct option *argument = table;
    const int n_errors = errors->n;
    bool only_arguments = false, seen[MAX_OPTIONS] = {false};
    while (argument->kind != OPTION_END && !is_argument(argument)) argument++;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            *help = true;
            return 0;
        }
    for (int i = 1; i < argc; i++) {
        const char *const word = argv[i];
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && word[0] == '-' && word[1] != '\0') {
            if (!option_read(table, seen, command, argc, argv, &i, errors)) return -1;
        } else if (argument->kind != OPTION_END) {
            value_set(argument, word, argument->name, errors);
            argument = argument_after(argument);
        } else {
            error_add(errors, STATUS_INPUT, NULL, 0, "%s: `%.80s` is one argument too many; see `%s %s --help`", command,
                      word, PROGRAM, command);
        }
    }
    if (argument->kind == ARGUMENT)
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: %s is missing; give a %s", command, argument->name, argument->meaning);
    return errors->n > n_errors ? -1 : 0;
}

void options_print(const struct option *table, FILE *to)
{
    for (const struct option *row = table; row->kind != OPTION_END; row++) {
        char left[96], letter[8] = "    ";
        if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
        if (is_argument(row)) snprintf(left, sizeof left, "%s", row->name);
        else
            snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name, row->value ? " " : "",
                     row->value ? row->value : "");
        fprintf(to, "  %-30s %s\n", left, row->meaning);
    }
    fprintf(to, "  %-30s %s\n", "-h, --help", "this text");
}
