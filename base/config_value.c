/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_internal.h"

#include <math.h>
#include <string.h>

#define RATE_MAX 1e6 /* a second */

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

static double unit_seconds(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rate_units); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(rate_units[i].names); j++)
            if (strcmp(name, rate_units[i].names[j]) == 0)
                return rate_units[i].seconds;
    return 0;
}

bool config_rate_parse(const char *text, double *per_second)
{
    *per_second = 0;
    if (strcmp(text, "0") == 0 || strcmp(text, "none") == 0)
        return true;
    char *end = NULL;
    double count = g_ascii_strtod(text, &end);
    double seconds = *end == '/' ? unit_seconds(end + 1) : 0;
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

static bool in_range(const ConfigKey *key, int64_t number)
{
    return (key->min == 0 && key->max == 0) || (number >= key->min && number <= key->max);
}

static bool bool_parse(const char *text, int64_t *number)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_ascii_strcasecmp(text, words[i]) == 0) {
            *number = (int64_t)(i & 1);
            return true;
        }
    return false;
}

/* min 0 stands for "auto". */
static bool count_fits(const ConfigValue *value, bool numeric)
{
    if (numeric)
        return value->number > 0 && (value->number & (value->number - 1)) == 0;
    return value->key->min == 0 && g_str_equal(value->text, "auto");
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

static bool choice_parse(const ConfigValue *value, char **allowed)
{
    g_auto(GStrv) words = g_strsplit(value->key->choices, "|", -1);
    if (g_strv_contains((const char *const *)words, value->text))
        return true;
    g_autofree char *joined = g_strjoinv(", ", words);
    *allowed = words[1] ? g_strdup_printf("one of %s", joined) : g_strdup(joined);
    return false;
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
    ConfigType type = value->key->type;
    int64_t plain = type == CONFIG_DURATION ? 1000000 : 1;
    bool numeric = number_parse(value->text, units_of(type), plain, &value->number);
    bool fits = type == CONFIG_COUNT ? count_fits(value, numeric) : numeric;
    if (fits && in_range(value->key, value->number))
        return true;
    const char *what = type == CONFIG_SIZE       ? "bytes, with K, M or G as powers of 1024"
                       : type == CONFIG_DURATION ? "a time such as 500ms, 30s, 5m, 36h, 5d (a number alone is seconds)"
                                                 : "a whole number";
    g_autofree char *range = config_range_text(value->key);
    if (type == CONFIG_COUNT)
        *allowed = count_allowed(value->key, numeric, value->number);
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

static bool form_parse(const ConfigValue *value, char **allowed)
{
    double number;
    const char *divisor;
    bool rate = value->key->type == CONFIG_RATE;
    if (rate ? config_rate_parse(value->text, &number) : config_feedback_parse(value->text, &number, &divisor))
        return true;
    *allowed = g_strdup(rate ? CONFIG_RATE_ALLOWED : CONFIG_FEEDBACK_ALLOWED);
    return false;
}

static bool regex_parse(const ConfigValue *value, char **allowed)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) regex = g_regex_new(value->text, G_REGEX_CASELESS, 0, &error);
    if (!regex)
        *allowed = g_strdup_printf("a regular expression (PCRE), but: %s", error->message);
    return regex != NULL;
}

bool config_value_parse(ConfigValue *value, char **allowed)
{
    if (!*value->text)
        return empty_parse(value, allowed);
    switch (value->key->type) {
    case CONFIG_STRING:
    case CONFIG_SECRET:
        return true;
    case CONFIG_PATH:
        if (*value->text == '/')
            return true;
        *allowed = g_strdup("an absolute path");
        return false;
    case CONFIG_BOOL:
        if (bool_parse(value->text, &value->number))
            return true;
        *allowed = g_strdup("yes or no");
        return false;
    case CONFIG_CHOICE:
        return choice_parse(value, allowed);
    case CONFIG_LIST:
        value->words = words_parse(value->text);
        return true;
    case CONFIG_RATE:
    case CONFIG_FEEDBACK:
        return form_parse(value, allowed);
    case CONFIG_REGEX:
        return regex_parse(value, allowed);
    default:
        return number_type_parse(value, allowed);
    }
}
