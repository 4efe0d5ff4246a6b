/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This reads the few shapes of text that mail systems write for people, for all dialects. */
#include <string.h>

#include "mail/bounce/report.h"

#define PREFACE_LIMIT 4 /* lines of prose between a phrase and its first address */
#define TEXT_LINES 12
#define UNNAMED_LINES 4 /* of text below what is no address */
#define FIELD_LIMIT 60  /* bytes of a field's label */
#define LINE_LIMIT 1000 /* bytes of a line that are of use */

/* How a line shows an address at its beginning. */
typedef struct AddressLine {
    const char *address;
    size_t length, indent;
    char opening; /* '<', '"', '*', '[' ..., or 0 for none */
} AddressLine;

const char *section_fields(const char *at, size_t *length)
{
    for (const char *colon = strchr(at, ':'); colon; colon = strchr(colon + 1, ':')) {
        const char *label = colon, *place = colon + 1 + strspn(colon + 1, " \t");
        while (label > at + 1 && colon - label < FIELD_LIMIT && !strchr(",;[", label[-1]))
            label--;
        label += strspn(label, " \t");
        const char *address = address_begins(place, length);
        g_autofree char *lower = address ? words_lower(label, colon - label) : NULL;
        if (lower && words_lead(lower, words_label) && !words_begin(lower, words_other))
            return address;
    }
    return NULL;
}

static bool entry_read(const char *line, AddressLine *entry)
{
    const char *at = line + strspn(line, " \t");
    *entry = (AddressLine){.indent = (size_t)(at - line)};
    if (*at == '[') {
        entry->opening = '[';
        entry->address = section_fields(at, &entry->length);
        return entry->address;
    }
    while (*at && strchr("*->\"'<|`", *at)) {
        entry->opening = *at++;
        at += strspn(at, " \t");
    }
    entry->address = address_begins(at, &entry->length);
    return entry->address && entry->address <= at + 8 + (*at == '@' ? 256 : 0);
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t")] == '\0';
}

/* A line of signs only, or one that announces another section. */
static bool is_rule(const char *line)
{
    const char *at = line + strspn(line, " \t");
    size_t signs = strspn(at, "-=_*#|");
    return signs >= 3;
}

char *section_text(const Report *report, const char *rest, guint first, guint next)
{
    GString *text = g_string_new_len(rest, (gssize)strnlen(rest, LINE_LIMIT));
    for (guint at = first; at < next && at < first + TEXT_LINES; at++) {
        g_string_append_c(text, ' ');
        g_string_append_len(text, report_line(report, at), (gssize)strnlen(report_line(report, at), LINE_LIMIT));
    }
    return g_string_free(text, FALSE);
}

void section_more(Report *report, const char *at, const char *action)
{
    size_t length;
    for (at += strspn(at, "> \t"); *at == ',' || *at == ';'; at += length + strspn(at + length, "> \t")) {
        at += 1 + strspn(at + 1, " \t<");
        if (address_begins(at, &length) != at)
            return;
        report_add(report, &(Finding){.address = at, .address_length = length, .action = action});
    }
}

/* ListRead holds the facts read from a list of recipients. */
typedef struct ListRead {
    const char *action;
    AddressLine current;  /* the entry in hand */
    guint since;    /* the line below it */
    bool any;       /* there is one */
    bool unnamed;   /* below it, a line in its column began something without an address: a command, a file */
    size_t column;  /* of that line */
    char *known_as; /* the origin of the entry in hand */
} ListRead;

/* An origin that the line begins to tell; g_free(), NULL when there is none. It may end on the next line. */
static char *line_origin(const Report *report, guint at, const char *line)
{
    const char *next = at + 1 < report->lines->len ? report_line(report, at + 1) : "", *words;
    if (!origin_begins(line))
        return NULL;
    size_t length, own = strnlen(line, LINE_LIMIT);
    g_autofree char *both = g_strdup_printf("%.*s %.*s", LINE_LIMIT, line, LINE_LIMIT, next);
    const char *origin = origin_find(both, &length, &words);
    return origin && words < both + own ? g_strndup(origin, length) : NULL;
}

/* The recipient of a command or a file that is shown in an address's place is the address that it was made from. What
 * is said of it stands below, with no less indent. */
static bool add_unnamed(Report *report, const char *origin, guint at, const char *action)
{
    size_t indent = strspn(report_line(report, at), " \t");
    guint next = at + 1;
    while (next < report->lines->len && next < at + UNNAMED_LINES && !is_blank(report_line(report, next)) &&
           strspn(report_line(report, next), " \t") >= indent)
        next++;
    g_autofree char *text = section_text(report, report_line(report, at), at + 1, next);
    return report_add(report, &(Finding){.address = origin, .address_length = strlen(origin), .action = action,
                                         .text = text + strspn(text, " \t")});
}

/* An origin below an entry is that of the entry, or of something without an address that stands between the two, which
 * has less indent than the words. */
static void take_origin(Report *report, ListRead *list, guint at, const char *line)
{
    g_autofree char *origin = line_origin(report, at, line);
    if (origin && list->unnamed && strspn(line, " \t") > list->column)
        add_unnamed(report, origin, at, list->action);
    else if (origin && !list->known_as)
        list->known_as = g_steal_pointer(&origin);
}

/* Adds the entry in hand, whose text ends before the line next. */
static void end_entry(Report *report, ListRead *list, guint next)
{
    if (!list->any)
        return;
    const AddressLine *entry = &list->current;
    g_autofree char *text = section_text(report, entry->address + entry->length, list->since, next);
    report_add(report, &(Finding){.address = entry->address, .address_length = entry->length, .action = list->action,
                                  .text = text + strspn(text, " \t>:\",;'"), .known_as = list->known_as,
                                  .known_as_length = list->known_as ? strlen(list->known_as) : 0});
    section_more(report, entry->address + entry->length, list->action);
    g_clear_pointer(&list->known_as, g_free);
    list->any = false;
}

static void begin_entry(Report *report, ListRead *list, const AddressLine *entry, guint at)
{
    end_entry(report, list, at);
    list->current = *entry;
    list->since = at + 1;
    list->any = true;
    list->unnamed = false;
    take_origin(report, list, at, entry->address + entry->length);
}

/* Reads the list that begins at line and ends before the line limit. */
static void read_list(Report *report, guint line, guint limit, const char *action)
{
    ListRead list = {.action = action};
    AddressLine like = {0}, entry;
    guint preface = 0;
    bool gap = false;
    guint at = line;
    for (; at < limit; at++) {
        const char *text = report_line(report, at);
        if (is_blank(text)) {
            gap = list.any;
            continue;
        }
        bool begins = entry_read(text, &entry);
        if (!list.any && !begins) {
            g_autofree char *origin = line_origin(report, at, text);
            if (origin && add_unnamed(report, origin, at, action))
                preface = 0;
            if (is_rule(text) || ++preface > PREFACE_LIMIT)
                return;
            continue;
        }
        if (list.any && begins && (entry.opening != like.opening || entry.indent > like.indent))
            begins = false;
        if (!begins && (is_rule(text) || (gap && like.indent == 0 && like.opening == 0)))
            break;
        if (begins) {
            like = list.any ? like : entry;
            begin_entry(report, &list, &entry, at);
        } else {
            size_t indent = strspn(text, " \t");
            if (indent <= like.indent && (like.indent > 0 ? text[indent] != '(' : strchr("\"|/:\\<", *text) != NULL)) {
                list.unnamed = true;
                list.column = indent;
            }
            take_origin(report, &list, at, text);
        }
        gap = false;
    }
    end_entry(report, &list, at);
}

static void read_next(Report *report, size_t offset, const char *action)
{
    const char *flat = report->flat->str, *at = flat + offset;
    at += strspn(at, " :<'\"*(-\t");
    size_t length, origin_length = 0;
    const char *found = address_begins(at, &length);
    if (!found)
        return;
    guint line = report_line_at(report, (size_t)(found - flat));
    g_autofree char *text = section_text(report, "", line, MIN(line + 4, report->lines->len));
    g_autofree char *lower = g_ascii_strdown(text, -1), *wanted = g_strndup(found, length);
    const char *place = strstr(lower, wanted); /* as it was spelt */
    if (place)
        found = text + (place - lower);
    const char *origin = place ? origin_find(found + length, &origin_length, NULL) : NULL;
    report_add(report, &(Finding){.address = found, .address_length = length, .action = action, .text = text,
                                  .known_as = origin, .known_as_length = origin_length});
}

/* Where a section begins. */
typedef struct SectionPlace {
    const Section *section;
    size_t offset; /* behind its phrase */
    guint list;    /* the line where its list begins; 0: an address follows the phrase */
    guint limit;   /* the line before which the list ends */
} SectionPlace;

static int by_offset(const void *a, const void *b)
{
    const SectionPlace *one = a, *two = b;
    return one->offset < two->offset ? -1 : one->offset > two->offset;
}

static GArray *find_places(const Report *report, const Section *sections)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(SectionPlace));
    const char *flat = report->flat->str;
    for (; sections->shape != SECTION_END; sections++)
        for (const char *at = strstr(flat, sections->begins); at; at = strstr(at, sections->begins)) {
            at += strlen(sections->begins);
            SectionPlace place = {.section = sections, .offset = (size_t)(at - flat)};
            guint line = report_line_at(report, place.offset - 1);
            const char *end =
                line + 1 < report->starts->len ? flat + g_array_index(report->starts, guint, line + 1) : NULL;
            bool goes_on = !end || at + strspn(at, " :*.-|=") < end; /* the phrase's own line */
            place.list = sections->shape == SECTION_LIST && !goes_on ? line + 1 : 0;
            g_array_append_val(places, place);
        }
    g_array_sort(places, by_offset);
    return places;
}

/* A list ends where the next one begins, so each line is read once however often a phrase stands in the mail. */
bool section_read(Report *report, const Section *sections)
{
    g_autoptr(GArray) places = find_places(report, sections);
    guint limit = report->lines->len;
    for (guint at = places->len; at-- > 0;) {
        SectionPlace *place = &g_array_index(places, SectionPlace, at);
        place->limit = limit;
        limit = place->list > 0 ? place->list - 1 : limit;
    }
    for (guint at = 0; at < places->len; at++) {
        const SectionPlace *place = &g_array_index(places, SectionPlace, at);
        if (place->list > 0)
            read_list(report, place->list, place->limit, place->section->action);
        else
            read_next(report, place->offset, place->section->action);
    }
    return report_found(report);
}

/* "<address>: text" or "<address> (expanded from <other>): text", in the first column. */
static bool is_bracketed(const char *line, AddressLine *entry)
{
    if (line[0] != '<' || !entry_read(line, entry))
        return false;
    const char *behind = entry->address + entry->length;
    return *behind == '>' && (behind[1] == ':' || g_str_has_prefix(behind + 1, " ("));
}

bool section_brackets(Report *report, const char *action)
{
    ListRead list = {.action = action};
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        AddressLine entry;
        if (is_bracketed(line, &entry)) {
            begin_entry(report, &list, &entry, at);
        } else if (list.any && line[strspn(line, " \t")] == '(') {
            take_origin(report, &list, at, line);
        } else if (line[0] == '<' && strstr(line, "> (")) { /* no address of the Internet, made from one that is */
            g_autofree char *origin = line_origin(report, at, line);
            if (origin)
                add_unnamed(report, origin, at, action);
        }
    }
    end_entry(report, &list, report->lines->len);
    return report_found(report);
}

/* ---- where a recipient came from ---- */

/* A mail system that expands an alias or forwards mail reports the address it tried last and, in parentheses, the one
 * that it was given: "joe@example.com (expanded from <kim@example.net>)". The second did not fail beside the first; it
 * is what the sender knows the first as. */

#define ORIGIN_TEXT 2000 /* bytes of a text in which an origin is looked for */

/* The parenthesis around at, round or square, of ASCII or of Asia: from *begin, behind its bracket, to *end. False:
 * there is none. */
static bool parenthesis(const char *text, const char *at, const char **begin, const char **end)
{
    static const char wide_open[] = "（", wide_close[] = "）";
    const char *open = NULL;
    for (const char *seek = text; seek < at; seek++) {
        if (*seek == '(' || *seek == '[')
            open = seek + 1;
        else if (g_str_has_prefix(seek, wide_open))
            open = seek + strlen(wide_open);
        else if (*seek == ')' || *seek == ']' || g_str_has_prefix(seek, wide_close))
            open = NULL;
    }
    const char *close = strpbrk(at, ")]"), *other = strstr(at, wide_close);
    if (!close || (other && other < close))
        close = other;
    *begin = open;
    *end = close;
    return open && close;
}

/* The only address between two places; NULL when there is none, or more than one. */
static const char *only_address(const char *begin, const char *end, size_t *length)
{
    size_t other;
    const char *address = address_scan(begin, length);
    if (!address || address + *length > end)
        return NULL;
    const char *second = address_scan(address + *length, &other);
    return second && second < end ? NULL : address;
}

/* Systems of one language write the words before the address, others behind it. Without a parenthesis, Exim writes
 * "generated by joe@example.com" below a command. */
static const char *origin_at(const char *text, const char *words, size_t words_length, size_t *length)
{
    const char *begin, *end, *behind = words + words_length;
    if (parenthesis(text, words, &begin, &end))
        return only_address(begin, end, length);
    behind += strspn(behind, ": \t");
    return begin || g_str_has_prefix(words, "generated") ? address_begins(behind, length) : NULL;
}

/* Where an origin may begin; NULL: nowhere. */
static const char *first_mark(const char *line)
{
    const char *mark = strpbrk(line, "([");
    mark = mark ? mark : strstr(line, "（");
    return mark ? mark : strstr(line, "enerated by ");
}

bool origin_begins(const char *line)
{
    return first_mark(line);
}

const char *origin_find(const char *text, size_t *length, const char **begins)
{
    const char *mark = first_mark(text);
    if (!mark || !strchr(mark, '@'))
        return NULL;
    g_autofree char *lower = g_ascii_strdown(text, (gssize)strnlen(text, ORIGIN_TEXT)); /* as long as text */
    const Phrase *found[4];
    size_t count = words_seek(lower, words_origin, found, G_N_ELEMENTS(found));
    for (size_t i = 0; i < count; i++) {
        const char *words = strstr(lower, found[i]->one);
        const char *address = origin_at(lower, words, strlen(found[i]->one), length);
        if (!address)
            continue;
        if (begins)
            *begins = text + (words - lower);
        return text + (address - lower);
    }
    return NULL;
}

/* Of a report for programs the recipients are known; here the text for people says what they were known as. */
void origin_attach(Report *report)
{
    const char *address = NULL, *origin;
    size_t length = 0, origin_length;
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *words;
        const char *next = at + 1 < report->lines->len ? report_line(report, at + 1) : "";
        size_t begin_length;
        const char *begin = address_begins(line, &begin_length);
        if (begin && begin <= line + strspn(line, " \t<*-")) {
            address = begin;
            length = begin_length;
        } else if (*line == '\0') {
            address = NULL;
        }
        g_autofree char *both = address && origin_begins(line) ? g_strdup_printf("%.1000s %.1000s", line, next) : NULL;
        origin = both ? origin_find(both, &origin_length, &words) : NULL;
        if (origin && words < both + strlen(line))
            report_origin(report, &(Finding){.address = address, .address_length = length, .known_as = origin,
                                             .known_as_length = origin_length});
    }
}
