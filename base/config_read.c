/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_internal.h"

#include <ini.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define RATE_MAX 1e6 /* a second */
#define FREE_KEY_PREFIX "x_"
/* inih keeps 50 bytes of a name, its end included. */
#define NAME_LENGTH_MAX 48

/* ---- values ---- */

typedef struct Unit {
    const char *name;
    int64_t factor;
} Unit;

static const Unit durations[] = {
    {"us", 1},           {"ms", 1000},         {"s", 1000000},          {"m", 60000000},
    {"h", 3600000000LL}, {"d", 86400000000LL}, {"w", 604800000000LL}, {NULL, 0},
};
static const Unit sizes[] = {{"K", 1LL << 10}, {"M", 1LL << 20}, {"G", 1LL << 30}, {NULL, 0}};

/* A number that is not negative, with an optional unit. Without one it is
 * multiplied by plain. */
static bool number_parse(const char *text, const Unit *units, int64_t plain, int64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18)
        return false;
    int64_t value = g_ascii_strtoll(text, NULL, 10);
    g_autofree char *suffix = g_strstrip(g_strdup(text + digits));
    if (!*suffix)
        return !__builtin_mul_overflow(value, plain, number);
    for (; units && units->name; units++)
        if (g_ascii_strcasecmp(suffix, units->name) == 0)
            return !__builtin_mul_overflow(value, units->factor, number);
    return false;
}

/* The shortest text that means number. */
static char *number_text(int64_t number, const Unit *units)
{
    const Unit *best = NULL;
    for (; units && units->name; units++)
        if (number != 0 && number % units->factor == 0)
            best = units;
    return best ? g_strdup_printf("%" G_GINT64_FORMAT "%s", number / best->factor, best->name)
                : g_strdup_printf("%" G_GINT64_FORMAT, number);
}

bool config_duration_parse(const char *text, int64_t *us)
{
    return number_parse(text, durations, 1000000, us);
}

char *config_duration_text(int64_t us)
{
    return number_text(us, durations);
}

static const struct {
    const char *names[3];
    double seconds;
} rate_units[] = {
    {{"s", "sec", "second"}, 1},
    {{"m", "min", "minute"}, 60},
    {{"h", "hour", "hour"}, 3600},
    {{"d", "day", "day"}, 86400},
};

bool config_rate_parse(const char *text, double *per_second)
{
    *per_second = 0;
    if (strcmp(text, "0") == 0 || strcmp(text, "none") == 0)
        return true;
    char *end = NULL;
    double count = g_ascii_strtod(text, &end);
    double seconds = 0; /* of the unit */
    for (size_t i = 0; *end == '/' && i < G_N_ELEMENTS(rate_units); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(rate_units[i].names); j++)
            if (strcmp(end + 1, rate_units[i].names[j]) == 0)
                seconds = rate_units[i].seconds;
    *per_second = seconds > 0 ? count / seconds : 0;
    return g_ascii_isdigit(*text) && isfinite(count) && *per_second > 0 && *per_second <= RATE_MAX;
}

static bool decimal_parse(const char *text, double *value)
{
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    return g_ascii_isdigit(*text) && *end == '\0' && isfinite(*value);
}

bool config_feedback_parse(const char *text, double *value, const char **divisor)
{
    static const char *const words[] = {"concurrency", "sqrt_concurrency"};
    g_auto(GStrv) parts = g_strsplit(text, "/", 2);
    const char *below = parts[0] ? parts[1] : NULL;
    double by = 1;
    *value = 0;
    *divisor = NULL;
    bool good = parts[0] && decimal_parse(g_strstrip(parts[0]), value);
    for (size_t i = 0; below && i < G_N_ELEMENTS(words); i++)
        if (strcmp(g_strstrip(parts[1]), words[i]) == 0)
            *divisor = words[i];
    if (below && !*divisor)
        good = good && decimal_parse(below, &by) && by > 0;
    *value /= by;
    return good && *value >= 0 && *value <= 1;
}

static const Unit *units_of(ConfigType type)
{
    return type == CONFIG_DURATION ? durations : type == CONFIG_SIZE ? sizes : NULL;
}

char *config_range_text(const ConfigKey *key)
{
    if (key->min == 0 && key->max == 0)
        return NULL;
    g_autofree char *min = number_text(key->min, units_of(key->type));
    g_autofree char *max = number_text(key->max, units_of(key->type));
    return g_strdup_printf("%s to %s", min, max);
}

static char *count_allowed(const ConfigKey *key, bool numeric, int64_t number)
{
    int64_t least = MAX(key->min, 1);
    g_autofree char *rule = g_strdup_printf("%sa power of two from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                                            key->min == 0 ? "auto, or " : "", least, key->max);
    if (!numeric)
        return g_steal_pointer(&rule);
    if (number <= least || number >= key->max)
        return g_strdup_printf("%s; the nearest is %" G_GINT64_FORMAT, rule, number <= least ? least : key->max);
    int64_t below = least;
    while (below * 2 < number)
        below *= 2;
    return g_strdup_printf("%s; the nearest are %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, rule, below,
                           MIN(below * 2, key->max));
}

static char **words_parse(const char *text)
{
    g_auto(GStrv) pieces = g_strsplit_set(text, ", \t", -1);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (char **piece = pieces; *piece; piece++)
        if (**piece)
            g_ptr_array_add(words, g_strdup(*piece));
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

static bool number_type_parse(ConfigValue *value, char **allowed)
{
    const ConfigKey *key = value->key;
    ConfigType type = key->type;
    int64_t plain = type == CONFIG_DURATION ? 1000000 : 1;
    bool numeric = number_parse(value->text, units_of(type), plain, &value->number);
    bool fits = numeric;
    if (type == CONFIG_COUNT && numeric)
        fits = value->number > 0 && (value->number & (value->number - 1)) == 0;
    else if (type == CONFIG_COUNT)
        fits = key->min == 0 && g_str_equal(value->text, "auto");
    bool ranged = key->min != 0 || key->max != 0;
    if (fits && (!ranged || (value->number >= key->min && value->number <= key->max)))
        return true;
    const char *what = type == CONFIG_SIZE       ? "bytes, with K, M or G as powers of 1024"
                       : type == CONFIG_DURATION ? "a time such as 500ms, 30s, 5m, 36h, 5d (a number alone is seconds)"
                                                 : "a whole number";
    g_autofree char *range = config_range_text(key);
    if (type == CONFIG_COUNT)
        *allowed = count_allowed(key, numeric, value->number);
    else
        *allowed = range ? g_strdup_printf("%s, from %s", what, range) : g_strdup(what);
    return false;
}

/* Give the value that an empty text has in this type: unset, an empty list, or nothing. */
static bool empty_parse(ConfigValue *value, char **allowed)
{
    ConfigType type = value->key->type;
    if (type == CONFIG_LIST) {
        value->words = words_parse("");
        return true;
    }
    bool textual = type == CONFIG_STRING || type == CONFIG_PATH || type == CONFIG_SECRET || type == CONFIG_REGEX;
    bool may_be_unset = textual && !value->key->fallback;
    if (!may_be_unset) {
        *allowed = g_strdup("a value, or no such line");
        return false;
    }
    g_clear_pointer(&value->text, g_free);
    return true;
}

bool config_value_parse(ConfigValue *value, char **allowed)
{
    static const char *const truths[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    const char *text = value->text, *divisor;
    double number;
    if (!*text)
        return empty_parse(value, allowed);
    switch (value->key->type) {
    case CONFIG_STRING:
    case CONFIG_SECRET:
        return true;
    case CONFIG_PATH:
        if (*text == '/')
            return true;
        *allowed = g_strdup("an absolute path");
        return false;
    case CONFIG_BOOL:
        for (size_t i = 0; i < G_N_ELEMENTS(truths); i++)
            if (g_ascii_strcasecmp(text, truths[i]) == 0) {
                value->number = (int64_t)(i & 1);
                return true;
            }
        *allowed = g_strdup("yes or no");
        return false;
    case CONFIG_CHOICE: {
        g_auto(GStrv) words = g_strsplit(value->key->choices, "|", -1);
        if (g_strv_contains((const char *const *)words, text))
            return true;
        g_autofree char *joined = g_strjoinv(", ", words);
        *allowed = words[1] ? g_strdup_printf("one of %s", joined) : g_strdup(joined);
        return false;
    }
    case CONFIG_LIST:
        value->words = words_parse(text);
        return true;
    case CONFIG_RATE:
        if (config_rate_parse(text, &number))
            return true;
        *allowed = g_strdup(CONFIG_RATE_ALLOWED);
        return false;
    case CONFIG_FEEDBACK:
        if (config_feedback_parse(text, &number, &divisor))
            return true;
        *allowed = g_strdup(CONFIG_FEEDBACK_ALLOWED);
        return false;
    case CONFIG_REGEX: {
        g_autoptr(GError) error = NULL;
        g_autoptr(GRegex) regex = g_regex_new(text, G_REGEX_CASELESS, 0, &error);
        if (!regex)
            *allowed = g_strdup_printf("a regular expression (PCRE), but: %s", error->message);
        return regex != NULL;
    }
    default:
        return number_type_parse(value, allowed);
    }
}

/* ---- suggestions ---- */

/* Search for the key or section that was meant. Begin with it. */
static NearWord meant_by(const char *wanted)
{
    return (NearWord){wanted, NULL, MAX(2, strlen(wanted) / 3) + 1};
}

static const ConfigKey *find_key(const char *section, const char *name)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        for (const ConfigKey *key = config_table_covers(table, section) ? table->keys : NULL; key && key->name; key++)
            if (g_str_equal(key->name, name))
                return key;
    return NULL;
}

/* A table of a section of this name; NULL: there is no such section. */
static const ConfigTable *find_table(const char *section)
{
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++)
        if (config_table_covers(table, section))
            return table;
    return NULL;
}

static void fault_unknown_section(ConfigFaults *faults, int line, const char *name)
{
    NearWord near = meant_by(name);
    g_autoptr(GString) allowed = g_string_new(NULL);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        size_t family = config_family_length(table->section);
        unsigned first = 0; /* table of a section of this name */
        while (!g_str_equal(config_table(first)->section, table->section))
            first++;
        if (first == i)
            g_string_append_printf(allowed, "%s[%.*s%s]", allowed->len ? ", " : "",
                                   family ? (int)family : (int)strlen(table->section), table->section,
                                   family ? "NAME" : "");
        if (family == 0)
            near_word_offer(&near, table->section);
    }
    const ConfigMember *member;
    for (unsigned i = 0; (member = config_member(i)); i++)
        near_word_offer(&near, member->section);
    if (near.best)
        config_fault(faults, line, name, NULL, "found an unknown section; allowed is [%s], perhaps?", near.best);
    else
        config_fault(faults, line, name, NULL, "found an unknown section; allowed are %s", allowed->str);
}

static void fault_unknown_key(ConfigFaults *faults, int line, const char *section, const char *name)
{
    NearWord near = meant_by(name);
    g_autoptr(GString) allowed = g_string_new(NULL);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        if (!config_table_covers(table, section))
            continue;
        for (const ConfigKey *key = table->keys; key && key->name; key++) {
            g_string_append_printf(allowed, "%s%s", allowed->len ? ", " : "", key->name);
            near_word_offer(&near, key->name);
        }
    }
    if (near.best)
        config_fault(faults, line, section, name, "found an unknown key; allowed is %s, perhaps?", near.best);
    else
        config_fault(faults, line, section, name, "found an unknown key; allowed are %s", allowed->str);
}

/* ---- reading the file ---- */

/* inih asks for lines; what it does not tell (the line's number, sections
 * without keys, all faults instead of the first) is kept here. */
typedef struct ConfigReader {
    Config *config;
    ConfigFaults *faults;
    const char *at, *end;
    int line;
    char *unread;           /* text of a line that must still reach read_value(), else NULL */
    bool indented;          /* the line begins with a blank */
    ConfigSection *section; /* NULL: before the first, or unknown */
    bool in_section;
    ConfigValue *last;      /* what an indented line continues */
    char *rest;             /* of a line that inih does not take in one piece */
    char *gap;              /* the blanks before it */
    bool joined;            /* what inih has goes on where it stopped in the same line of the file */
} ConfigReader;

static void read_section(ConfigReader *reader, const char *text)
{
    reader->last = NULL;
    reader->section = NULL;
    reader->in_section = true;
    const char *close = strchr(text, ']');
    g_autofree char *rest = close ? g_strstrip(g_strdup(close + 1)) : NULL;
    if (!close || (*rest && *rest != ';' && *rest != '#') || close - text - 1 > NAME_LENGTH_MAX) {
        config_fault(reader->faults, reader->line, NULL, NULL,
                     "found \"%s\"; allowed is [SECTION], at most %d characters", text, NAME_LENGTH_MAX);
        return;
    }
    g_autofree char *name = g_strndup(text + 1, (size_t)(close - text) - 1);
    reader->section = config_section(reader->config, name);
    if (reader->section && reader->section->line == 0)
        reader->section->line = reader->line;
    if (reader->section)
        return;
    size_t family = config_family_length(name);
    const char *member = name + family;
    if (family == 0 || !find_table(name))
        fault_unknown_section(reader->faults, reader->line, name);
    else if (!g_ascii_isalnum(*member) || member[strspn(member, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
        config_fault(reader->faults, reader->line, name, NULL,
                     "found \"%s\"; allowed is a name of small letters, digits, _ and -", member);
    else
        reader->section = config_section_add(reader->config, name, reader->line);
}

/* A line of the kind that inih hands on did not come to read_value(). */
static void read_missed(ConfigReader *reader)
{
    if (!reader->unread)
        return;
    config_fault(reader->faults, reader->line, NULL, NULL,
                 "found \"%s\"; allowed is KEY = VALUE, [SECTION] or a comment", reader->unread);
    g_clear_pointer(&reader->unread, g_free);
    g_clear_pointer(&reader->rest, g_free);
}

/* Gives inih as much of text as it takes for a line; what is left follows as lines that continue it. */
static void hand_on(ConfigReader *reader, const char *text, char *buffer, size_t size)
{
    size_t room = size - sizeof(" \n");
    g_autofree char *whole = g_strdup(text);
    /* inih takes no comment off a text that it does not see in one piece. */
    bool pieces = strlen(whole) > room;
    for (char *at = whole + 1; pieces && *at; at++)
        if (*at == ';' && strchr(" \t", at[-1])) {
            *at = '\0';
            g_strchomp(whole);
            break;
        }
    size_t length = strlen(whole);
    if (length > room) /* cut it where inih does not take the second part for a comment */
        for (length = room; length > room / 2 && strchr(" \t;#", whole[length]);)
            length--;
    if (length == 0 || (pieces && length == room / 2 && whole[length])) {
        config_fault(reader->faults, reader->line, reader->section ? reader->section->name : NULL, NULL,
                     "found %zu blanks, ; and # or more in a row; allowed are fewer", room - room / 2);
        return;
    }
    g_snprintf(buffer, size, "%s%.*s\n", reader->indented || reader->joined ? " " : "", (int)length, whole);
    reader->unread = g_strdup(whole);
    g_free(reader->gap);
    reader->gap = NULL;
    if (!whole[length])
        return;
    reader->rest = g_strdup(whole + length);
    size_t end = length;
    while (end > 0 && strchr(" \t", whole[end - 1]))
        end--;
    reader->gap = g_strndup(whole + end, length - end);
}

/* The line that a keyword stands for; any other text itself. */
static const char *expand_keyword(const ConfigReader *reader, const char *text)
{
    size_t length = strcspn(text, " \t;#");
    const char *rest = text + length + strspn(text + length, " \t");
    const ConfigTable *table;
    if (!reader->section || (*rest != '\0' && *rest != ';' && *rest != '#'))
        return text;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        const ConfigKeyword *known = config_table_covers(table, reader->section->name) ? table->keywords : NULL;
        for (; known && known->word; known++)
            if (strlen(known->word) == length && strncmp(known->word, text, length) == 0)
                return known->line;
    }
    return text;
}

static char *read_line(char *buffer, int size, void *data)
{
    ConfigReader *reader = data;
    read_missed(reader);
    g_strlcpy(buffer, "\n", (gsize)size);
    g_autofree char *rest = g_steal_pointer(&reader->rest);
    reader->joined = rest != NULL;
    if (rest) {
        hand_on(reader, rest, buffer, (size_t)size);
        return buffer;
    }
    if (reader->at == reader->end)
        return NULL;
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    const char *next = newline ? newline + 1 : reader->end;
    size_t length = (size_t)(next - reader->at);
    g_autofree char *whole = g_strndup(reader->at, length);
    reader->at = next;
    reader->line++;
    reader->indented = *whole == ' ' || *whole == '\t';
    const char *text = g_strstrip(whole);
    if (!*text || *text == ';' || *text == '#')
        return buffer;
    if (*text == '[') {
        read_section(reader, text);
        /* inih's own idea of the section is not used; it only must forget the last key. */
        g_strlcpy(buffer, "[]\n", (gsize)size);
    } else {
        if (!reader->last || !reader->indented)
            text = expand_keyword(reader, text);
        hand_on(reader, text, buffer, (size_t)size);
    }
    return buffer;
}

static void append(ConfigValue *value, const char *text)
{
    g_autofree char *joined = g_strconcat(value->text, text, NULL);
    g_free(value->text);
    value->text = g_steal_pointer(&joined);
}

static void read_new_value(ConfigReader *reader, const char *name, const char *text)
{
    ConfigSection *section = reader->section;
    reader->last = NULL;
    const ConfigKey *key = find_key(section->name, name);
    const ConfigTable *table = find_table(section->name);
    bool free_key = !key && (table->any_keys || (table->free_keys && g_str_has_prefix(name, FREE_KEY_PREFIX)));
    if (!key && !free_key) {
        fault_unknown_key(reader->faults, reader->line, section->name, name);
        return;
    }
    const ConfigValue *earlier = config_section_value(section, name);
    if (earlier) {
        config_fault(reader->faults, reader->line, section->name, name,
                     "found a second time, first in line %d; allowed once", earlier->line);
        return;
    }
    if (*text == ';') { /* inih takes it for a value here, and behind a blank for a comment */
        config_fault(reader->faults, reader->line, section->name, name,
                     "found %s right behind the equals sign; allowed is a value that does not begin with ;", text);
        return;
    }
    ConfigValue *value = g_new0(ConfigValue, 1);
    value->name = g_strdup(name);
    value->key = key;
    value->text = g_strdup(text);
    value->line = reader->line;
    g_ptr_array_add(section->values, value);
    reader->last = value;
}

static int read_value(void *data, const char *ini_section, const char *name, const char *text)
{
    ConfigReader *reader = data;
    g_clear_pointer(&reader->unread, g_free);
    if (reader->joined && reader->last)
        append(reader->last, text);
    else if (reader->joined)
        return 1; /* of a line that was refused */
    else if (reader->section && reader->indented && reader->last) {
        ConfigValue *last = reader->last;
        if (last->key && last->key->type == CONFIG_LIST) {
            /* inih takes comments off first lines only. */
            g_auto(GStrv) parts = g_regex_split_simple("(?:^|[ \\t]);", text, 0, 0);
            append(last, " ");
            append(last, parts[0]);
        } else {
            config_fault(reader->faults, reader->line, reader->section->name, last->name,
                         "found an indented line, which would continue it; allowed only after a list "
                         "(a key begins in the first column)");
        }
    } else if (reader->section)
        read_new_value(reader, name, text);
    else if (!reader->in_section)
        config_fault(reader->faults, reader->line, NULL, NULL, "found %s before any section; allowed after [SECTION]",
                     name);
    if (reader->last && reader->gap)
        append(reader->last, reader->gap);
    return 1;
}

bool config_read(Config *config, ConfigFaults *faults)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    size_t length;
    if (!g_file_get_contents(config->path, &text, &length, &error)) {
        if (strcmp(config->path, CONFIG_FILE) == 0 && g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
            config_fault(faults, 0, NULL, NULL,
                         "there is no such file, so no site yet: \"listrunner setup\" makes one");
        else
            config_fault(faults, 0, NULL, NULL, "found no readable file (%s); allowed is an INI file", error->message);
        return false;
    }
    const char *bad;
    if (!g_utf8_validate(text, (gssize)length, &bad)) {
        int line = 1;
        for (const char *at = text; at < bad; at++)
            line += *at == '\n';
        config_fault(faults, line, NULL, NULL, "found byte 0x%02x; allowed is text in UTF-8", (unsigned char)*bad);
        return false;
    }
    ConfigReader reader = {.config = config, .faults = faults, .at = text, .end = text + length};
    if (g_str_has_prefix(text, "\xEF\xBB\xBF")) /* some editors' mark of UTF-8 */
        reader.at += 3;
    /* Its result, the first line that is wrong, was already told by read_missed(). */
    (void)ini_parse_stream(read_line, &reader, read_value, &reader);
    read_missed(&reader);
    g_free(reader.rest);
    g_free(reader.gap);
    return true;
}
