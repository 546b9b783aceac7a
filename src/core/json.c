/* json: writes JSON as it comes, without a tree. */
#include "cosweep/core.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* Bytes of the UTF-8 character at `text`, 0 if it is none. */
static int character_bytes(const unsigned char *text)
{
    const unsigned char c = text[0];
    const int n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    const bool overlong = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90);
    const bool outside = (c == 0xed && text[1] >= 0xa0) || (c == 0xf4 && text[1] >= 0x90); /* surrogate, > 10ffff */
    return overlong || outside ? 0 : n;
}

/* The code of a character that JSON may hold as it is but YAML may not, or folds into a blank: C1 controls, U+2028, U+2029,
 * U+FEFF, U+FFFE, U+FFFF; else 0. */
static unsigned escaped_code(const unsigned char *c, int n)
{
    const unsigned code = n == 2   ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                          : n == 3 ? (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu)
                                   : 0;
    const bool folded = code == 0x2028 || code == 0x2029;
    return (code >= 0x80 && code < 0xa0) || folded || code == 0xfeff || code >= 0xfffe ? code : 0;
}

static void write_text(FILE *to, const char *value)
{
    putc('"', to);
    for (const unsigned char *c = (const unsigned char *)value; *c;) {
        const int n = character_bytes(c);
        if (*c == '"' || *c == '\\') fprintf(to, "\\%c", *c);
        else if (*c == '\n') fputs("\\n", to);
        else if (*c == '\t') fputs("\\t", to);
        else if (*c < 0x20 || *c == 0x7f) fprintf(to, "\\u%04x", *c);
        else if (escaped_code(c, n) > 0) fprintf(to, "\\u%04x", escaped_code(c, n));
        else if (n == 0) fputs("\\ufffd", to); /* replacement character: JSON has no other bytes */
        else fwrite(c, 1, (size_t)n, to);
        c += n > 0 ? n : 1;
    }
    putc('"', to);
}

static void indent(const struct json *json)
{
    putc('\n', json->to);
    for (int i = 0; i < json->depth; i++) fputs("  ", json->to);
}

/* What goes before a member: comma, line, key. */
static void begin(struct json *json, const char *key)
{
    if (json->started[json->depth]) fputs(json->compact || (json->pretty && json->depth > 0) ? "," : ", ", json->to);
    json->started[json->depth] = true;
    if (json->pretty && json->depth > 0) indent(json);
    if (key) {
        write_text(json->to, key);
        fputs(json->compact ? ":" : ": ", json->to);
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    begin(json, key);
    json->depth++;
    assert(json->depth < (int)(sizeof json->started / sizeof json->started[0]));
    json->started[json->depth] = false;
    putc(bracket, json->to);
}

void json_close(struct json *json, char bracket)
{
    assert(json->depth > 0 && (bracket == '}' || bracket == ']'));
    const bool empty = !json->started[json->depth];
    json->depth--;
    if (json->pretty && !empty) indent(json);
    putc(bracket, json->to);
    if (json->depth == 0) json->started[0] = false; /* the next line of JSON lines is a document of its own */
}

void json_number(struct json *json, const char *key, double value)
{
    char text[32];
    begin(json, key);
    fputs(isfinite(value) ? number_exact(text, value) : "null", json->to);
}

void json_whole(struct json *json, const char *key, int64_t value)
{
    begin(json, key);
    fprintf(json->to, "%" PRId64, value);
}

void json_text(struct json *json, const char *key, const char *value)
{
    begin(json, key);
    if (value) write_text(json->to, value);
    else fputs("null", json->to);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->to);
}
