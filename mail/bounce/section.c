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

/* A list ends where the next one begins, so each line is read once however often a phrase stands in the mail. */
bool section_read(Report *report, const Section *sections)
{
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(SectionPlace));
    const char *flat = report->flat->str;
    for (const Section *section = sections; section->shape != SECTION_END; section++)
        for (const char *at = strstr(flat, section->begins); at; at = strstr(at, section->begins)) {
            at += strlen(section->begins);
            SectionPlace place = {.section = section, .offset = (size_t)(at - flat)};
            guint line = report_line_at(report, place.offset - 1);
            const char *end =
                line + 1 < report->starts->len ? flat + g_array_index(report->starts, guint, line + 1) : NULL;
            bool goes_on = !end || at + strspn(at, " :*.-|=") < end; /* the phrase's own line */
            place.list = section->shape == SECTION_LIST && !goes_on ? line + 1 : 0;
            g_array_append_val(places, place);
        }
    g_array_sort(places, by_offset);
    guint limit = report->lines->len;
    for (guint at = places->len; at-- > 0;) {
        SectionPlace *place = &g_array_index(places, SectionPlace, at);
        place->limit = limit;
        limit = place->list > 0 ? place->list - 1 : limit;
    }
    for (guint at = 0; at < places->len; at++) {
        const SectionPlace *place = &g_array_index(places, SectionPlace, at);
        const char *action = place->section->action, *next = flat + place->offset;
        if (place->list > 0) {
            read_list(report, place->list, place->limit, action);
            continue;
        }
        size_t length, origin_length = 0;
        const char *found = address_begins(next + strspn(next, " :<'\"*(-\t"), &length);
        if (!found)
            continue;
        guint line = report_line_at(report, (size_t)(found - flat));
        g_autofree char *text = section_text(report, "", line, MIN(line + 4, report->lines->len));
        g_autofree char *lower = g_ascii_strdown(text, -1), *wanted = g_strndup(found, length);
        const char *spelt = strstr(lower, wanted);
        if (spelt)
            found = text + (spelt - lower);
        const char *origin = spelt ? origin_find(found + length, &origin_length, NULL) : NULL;
        report_add(report, &(Finding){.address = found,
                                      .address_length = length,
                                      .action = action,
                                      .text = text,
                                      .known_as = origin,
                                      .known_as_length = origin_length});
    }
    return report_found(report);
}

bool section_brackets(Report *report, const char *action)
{
    ListRead list = {.action = action};
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        AddressLine entry;
        /* "<address>: text" or "<address> (expanded from <other>): text", in the first column. */
        bool bracketed = line[0] == '<' && entry_read(line, &entry);
        const char *behind = bracketed ? entry.address + entry.length : NULL;
        if (bracketed && *behind == '>' && (behind[1] == ':' || g_str_has_prefix(behind + 1, " ("))) {
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
        /* Systems of one language write the words before the address, others behind it. Without a parenthesis, Exim
         * writes "generated by joe@example.com" below a command. */
        const char *words = strstr(lower, found[i]->one), *behind = words + strlen(found[i]->one), *begin, *end;
        behind += strspn(behind, ": \t");
        const char *address = parenthesis(lower, words, &begin, &end)         ? only_address(begin, end, length)
                              : begin || g_str_has_prefix(words, "generated") ? address_begins(behind, length)
                                                                              : NULL;
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

/* ---- sentences in no dialect that is known ---- */

/* It is an address at the beginning of a line, below a paragraph that says that delivery failed,
 * above one that does, or above a reply; one that is labelled as the recipient's; or a line that says of its only
 * address that it is unknown or full. The words for that are those of etc/bounce. */

#define PARAGRAPH_LIMIT 600
#define LEAD_LIMIT 60 /* bytes before an address that say whose it is */

/* Addresses that stand in reports to be written to. */
static bool is_contact(Report *report, const char *address, size_t length)
{
    static const char *const locals[] = {"postmaster@", "abuse@", "support@", "help", "admin@", "hostmaster@"};
    g_autofree char *lower = g_ascii_strdown(address, (gssize)length);
    for (size_t at = 0; at < G_N_ELEMENTS(locals); at++)
        if (g_str_has_prefix(lower, locals[at]))
            return true;
    return report_is_contact(report, lower);
}

/* Does a paragraph or a line tell that a mailbox is unknown, full, or what else a verdict is? */
static bool is_verdict(const char *lower)
{
    return words_any(lower, words_verdict) || words_reason_of(lower);
}

/* Adds an address with what a text says about it, its origin included. */
static bool add(Report *report, const char *address, size_t length, const char *action, const char *text)
{
    size_t origin_length = 0;
    const char *origin = text ? origin_find(text, &origin_length, NULL) : NULL;
    return report_add(report, &(Finding){.address = address, .address_length = length, .action = action, .text = text,
                                         .known_as = origin, .known_as_length = origin_length});
}

/* ---- an address at the beginning of a line ---- */

#define EXPLAINED_LINES 4

/* Do the lines below an address tell of a refusal, in whatever language the rest is? An SMTP reply or a status of
 * RFC 3463 does. */
static bool is_explained(const Report *report, guint at, const char *rest)
{
    for (guint below = at + 1;; below++) {
        char status[STATUS_SIZE];
        size_t length;
        status_scan(rest, status);
        if (status[0] || reply_scan(rest))
            return true;
        if (below > at + EXPLAINED_LINES || below >= report->lines->len)
            return false;
        rest = report_line(report, below);
        const char *start = rest + strspn(rest, " \t*-<\"");
        if (*start == '\0' || address_begins(start, &length) == start) /* a blank line, or the next address */
            return false;
    }
}

/* The paragraph above an address, of which the end is kept. */
typedef struct Prose {
    GString *text;
    bool ended; /* what comes next is another paragraph */
    bool asked; /* failing is known */
    bool failing;
} Prose;

static bool prose_fails(Report *report, Prose *prose)
{
    if (!prose->asked) {
        g_autofree char *lower = words_lower(prose->text->str, (gssize)prose->text->len);
        prose->failing = prose->text->len > 0 && report_fails(report, lower);
        prose->asked = true;
    }
    return prose->failing;
}

/* "Joe User<mailto:joe@example.com>", what programs make of a link, "Joe User [joe@example.com] on ...", and fields in
 * brackets. */
static const char *find_named(Report *report, const char *line, size_t *length)
{
    const char *link = strcasestr(line, "<mailto:"), *bracket = strchr(line, '[');
    const char *address = link ? address_begins(link, length) : bracket ? address_begins(bracket + 1, length) : NULL;
    if (address && !link && address[*length] != ']')
        address = NULL;
    if (!address && (*line == '[' || *line == '('))
        address = section_fields(line, length);
    return address && !is_contact(report, address, *length) ? address : NULL;
}

static bool read_below(Report *report, const char *action)
{
    Prose prose = {.text = g_string_new(NULL)};
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *start = line + strspn(line, " \t*-<>\"");
        size_t length;
        const char *address = address_begins(start, &length), *named = NULL;
        if (*start == '\0') {
            prose.ended = true;
        } else if (address == start && strchr(" \t:><\",;(", start[length])) {
            /* Below a paragraph that says that delivery failed, or above a reply. */
            const char *rest = start + length + strspn(start + length, " \t:>\",;");
            if (is_contact(report, address, length) ||
                (!prose_fails(report, &prose) && !is_explained(report, at, rest)))
                continue;
            bool more = *rest == '\0' || *rest == '('; /* what is said of it stands on the next line */
            g_autofree char *text = section_text(report, rest, at + 1, MIN(at + 1 + more, report->lines->len));
            add(report, address, length, action, text + strspn(text, " "));
            section_more(report, start + length, action);
        } else if ((named = find_named(report, start, &length)) != NULL && prose_fails(report, &prose)) {
            add(report, named, length, action, start);
            prose.ended = true;
        } else if (address != start) {
            if (prose.ended)
                g_string_truncate(prose.text, 0);
            if (prose.text->len > PARAGRAPH_LIMIT)
                g_string_erase(prose.text, 0, (gssize)(prose.text->len - PARAGRAPH_LIMIT));
            g_string_append_len(prose.text, start, (gssize)strnlen(start, PARAGRAPH_LIMIT));
            g_string_append_c(prose.text, ' ');
            prose.ended = prose.asked = false;
        }
    }
    g_string_free(prose.text, TRUE);
    return report_found(report);
}

/* ---- an address above what is said of it ---- */

#define ABOVE_LIMIT 50 /* addresses that one paragraph is about */

/* Does what stands before an address make it the sender's, or no address but a Message-ID? */
static bool is_other(const char *line, const char *address)
{
    const char *end = address, *begin;
    while (end > line && strchr(" \t<\"'(:=", end[-1]))
        end--;
    for (begin = end; begin > line && address - begin < LEAD_LIMIT && !strchr(" \t<>\"'(:=,;.", begin[-1]);)
        begin--;
    g_autofree char *word = words_lower(begin, end - begin);
    return words_is(word, words_other) || words_is(word, words_reference);
}

/* Does the last line of text above at make what follows the sender's: "A message from", "Sender's address:"? */
static bool is_below_other(const Report *report, guint at)
{
    while (at > 0 && !*report_line(report, at - 1))
        at--;
    if (at == 0)
        return false;
    const char *line = report_line(report, at - 1), *end = line + strlen(line);
    g_autofree char *lower = end > line && end[-1] == ':' ? words_lower(line, LEAD_LIMIT) : NULL;
    return is_other(line, end) || (lower && words_lead(lower, words_other));
}

/* The address, where the line has nothing else. */
static const char *lone_address(Report *report, const char *line, size_t *length)
{
    const char *start = line + strspn(line, " \t*-<>\"'");
    const char *address = address_begins(start, length);
    if (address != start || is_contact(report, address, *length))
        return NULL;
    return address[*length + strspn(address + *length, " \t>\"',;:.")] == '\0' ? address : NULL;
}

/* "Your message to", the address on a line of its own, "has been postponed due to a full mailbox". */
static bool read_above(Report *report, const char *action)
{
    guint next;
    for (guint at = 0; at < report->lines->len; at = MAX(next, at + 1)) {
        const char *found[ABOVE_LIMIT];
        size_t lengths[ABOVE_LIMIT], count = 0, length;
        for (next = at; next < report->lines->len; next++) {
            const char *address = lone_address(report, report_line(report, next), &length);
            if (address && count < ABOVE_LIMIT) {
                found[count] = address;
                lengths[count++] = length;
            } else if (count == 0 || *report_line(report, next)) {
                break;
            }
        }
        if (count == 0)
            continue;
        /* The paragraph below, blank lines skipped. */
        g_autoptr(GString) text = g_string_new(NULL);
        while (next < report->lines->len && !*report_line(report, next))
            next++;
        for (; next < report->lines->len && *report_line(report, next); next++) {
            const char *line = report_line(report, next);
            if (lone_address(report, line, &length))
                break;
            if (text->len >= PARAGRAPH_LIMIT)
                continue;
            g_string_append_len(text, line, (gssize)strnlen(line, PARAGRAPH_LIMIT));
            g_string_append_c(text, ' ');
        }
        g_autofree char *lower = words_lower(text->str, -1);
        if ((!report_fails(report, lower) && !is_verdict(lower)) || words_any(lower, words_advice) ||
            is_below_other(report, at))
            continue;
        for (size_t i = 0; i < count; i++)
            add(report, found[i], lengths[i], action, text->str);
    }
    return report_found(report);
}

/* ---- an address behind a label ---- */

#define LABEL_LIMIT 60 /* bytes of "Recipient address(es):" */

/* Behind what may be a label and its colon, or at the end of a line that may be one alone; *length is the label's.
 * NULL: it is too long for one. */
static const char *behind_label(const char *start, size_t *length)
{
    static const char wide_colon[] = "：";
    size_t all = strnlen(start, LABEL_LIMIT);
    const char *colon = memchr(start, ':', all), *wide = memmem(start, all, wide_colon, strlen(wide_colon));
    const char *end = colon && (!wide || colon < wide) ? colon : wide;
    *length = end ? (size_t)(end - start) : all;
    if (end)
        return end + (*end == ':' ? 1 : strlen(wide_colon));
    return start[all] || strpbrk(start, ".,;!@") ? NULL : start + all;
}

/* "Recipient: [SMTP:joe@example.com]", "Empfänger: joe@example.com", or the address on the next line. */
static bool read_labelled(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len && report_fails(report, NULL); at++) {
        const char *start = report_line(report, at) + strspn(report_line(report, at), " \t*-[");
        size_t label, length;
        const char *place = behind_label(start, &label);
        if (!place)
            continue;
        guint end = MIN(at + 3, report->lines->len), below = at + 1;
        for (; place[strspn(place, " \t")] == '\0' && below < end; below++)
            place = report_line(report, below);
        place += strspn(place, " \t[");
        if (g_ascii_strncasecmp(place, "smtp:", 5) == 0 || g_ascii_strncasecmp(place, "smtp ", 5) == 0)
            place += 5;
        const char *address = address_begins(place, &length);
        g_autofree char *name = address ? words_lower(start, (gssize)label) : NULL;
        if (!address || !words_lead(name, words_label) || words_begin(name, words_other) ||
            words_any(name, words_advice) || is_contact(report, address, length))
            continue;
        g_autofree char *text = section_text(report, "", below, MIN(below + 3, report->lines->len));
        add(report, address, length, action, text + strspn(text, " "));
    }
    return report_found(report);
}

/* Does a line look like a field of a header? */
static bool is_field(const Report *report, guint at)
{
    const char *line = at < report->lines->len ? report_line(report, at) : "";
    size_t length = strcspn(line, " \t:");
    return length > 0 && line[length + strspn(line + length, " \t")] == ':';
}

/* "To: joe@example.com" that stands alone in a report of a failure. In a header that is quoted it names the list, whose
 * domain is also that of the address to which reports go. */
static bool read_field(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len && report_fails(report, NULL); at++) {
        const char *start = report_line(report, at) + strspn(report_line(report, at), " \t*-[");
        size_t label, length;
        const char *place = behind_label(start, &label);
        const char *address = place ? address_begins(place, &length) : NULL;
        if (!address || is_contact(report, address, length) || is_field(report, at + 1) ||
            (at > 0 && is_field(report, at - 1)))
            continue;
        g_autofree char *name = words_lower(start, (gssize)label), *whole = g_ascii_strdown(address, (gssize)length);
        if (!words_is(g_strchomp(name), words_field) || strstr(report->to, strrchr(whole, '@')))
            continue;
        g_autofree char *text = section_text(report, "", at + 1, MIN(at + 4, report->lines->len));
        add(report, address, length, action, text + strspn(text, " "));
    }
    return report_found(report);
}

/* ---- an address inside a line ---- */

/* "550 5.1.1 Address <joe@example.com> not known here", "... said: 550 <joe@example.com>": a reply of a server that
 * begins with the address, or a few words that do not say it is the sender's or a person's to ask. */
static bool is_reply_line(const char *line, const char *address, const char *lower)
{
    static const char *const others[] = {"from", "contact", "mail ", "http", "by ", "please", "client", "see ",
                                         "helo", "ask ", NULL};
    /* The last reply code that stands shortly before the address. */
    const char *code = NULL;
    for (const char *at = address; !code && at-- > line && address - at <= LEAD_LIMIT;) {
        bool reply = (*at == '4' || *at == '5') && g_ascii_isdigit(at[1]) && g_ascii_isdigit(at[2]) &&
                     (at[3] == ' ' || at[3] == '-');
        code = reply && (at == line || strchr(" \t;:", at[-1])) ? at : NULL;
    }
    if (!code || strstr(lower, "sender") || strstr(lower, "mail from"))
        return false;
    g_autofree char *lead = g_ascii_strdown(code, address - code);
    return !text_holds_any(lead, others);
}

/* "550 <joe@example.com>... User unknown", "RCPT TO:<joe@example.com>: 550 no", or the reply on the next line: one
 * about this address. */
static bool is_reply_about(const char *line, const char *next, const char *address, size_t length)
{
    bool bracketed = address > line && address[-1] == '<' && address[length] == '>';
    const char *behind = address + length + 1;
    if (!bracketed)
        return false;
    g_autofree char *lead = g_ascii_strdown(line, (gssize)(address - line));
    if (strstr(lead, "rcpt to:") && reply_scan(next))
        return true;
    if (!reply_scan(line))
        return false;
    return strstr(lead, "rcpt to:") || (!strstr(lead, "from") && g_str_has_prefix(behind, "..."));
}

static bool read_line(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        const char *next = at + 1 < report->lines->len ? report_line(report, at + 1) : "";
        size_t length, other, origin;
        const char *address = address_scan(line, &length);
        if (!address || is_contact(report, address, length) || is_other(line, address))
            continue;
        /* A second one may be the origin of the first; with a slash it is a link. */
        const char *second = address_scan(address + length, &other);
        if (!second || memchr(second, '/', other) || origin_find(line, &origin, NULL) == second) {
            g_autofree char *lower = words_lower(line, -1);
            if (is_verdict(lower) || is_reply_about(line, next, address, length) ||
                is_reply_line(line, address, lower) || (report_fails(report, lower) && !words_any(lower, words_advice)))
                add(report, address, length, action, line);
            continue;
        }
        /* "Delivery to these recipients failed: joe@example.com, kim@example.net": nothing but addresses to the line's
         * end, which the first round finds out. */
        g_autofree char *lead = words_lower(line, address - line);
        bool only = report_fails(report, lead) && !words_any(lead, words_advice);
        for (int round = 0; round < 2 && only; round++)
            for (const char *to = address; *(to += strspn(to, " \t,;<>.")); to += other) {
                only = address_begins(to, &other) == to;
                if (!only)
                    break;
                if (round == 1)
                    report_add(report,
                               &(Finding){.address = to, .address_length = other, .action = action, .text = line});
            }
    }
    return report_found(report);
}

bool sentence_read(Report *report)
{
    if (!report->automatic)
        return false;
    const char *action = report_waits(report) ? "delayed" : "failed";
    return read_below(report, action) || read_labelled(report, action) ||
           (!report->vague && read_above(report, action)) || read_line(report, action) ||
           (!report->vague && read_field(report, action));
}
