/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/old_address.h"

#include <stdio.h>
#include <string.h>

#include "mail/message.h"

#define PATH_MAX_READ 2000 /* bytes; none that a program made is longer */
#define SEGMENTS 8
#define DIGITS 9
#define YEAR_FIRST 1970
#define HASH_LENGTH 32

static const char *const kinds[] = OLD_KIND_NAMES;
G_STATIC_ASSERT(G_N_ELEMENTS(kinds) == OLD_KINDS);

const char *old_kind_text(OldKind kind)
{
    return kinds[kind];
}

bool old_kind_read(const char *word, OldKind *kind)
{
    for (int i = 0; i < OLD_KINDS; i++)
        if (strcmp(kinds[i], word) == 0) {
            *kind = (OldKind)i;
            return true;
        }
    return false;
}

void old_address_clear(OldAddress *address)
{
    g_free(address->list);
    for (size_t i = 0; i < G_N_ELEMENTS(address->keys); i++)
        g_free(address->keys[i]);
    g_free(address->hash);
    *address = (OldAddress){0};
}

/* ---- what addresses are made of ---- */

/* Read digits, of which there must be count (0: one to DIGITS), with end behind them. */
static bool read_number(const char *text, size_t count, const char *end, int *number)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0 || length > DIGITS || (count > 0 && length != count) || strcmp(text + length, end) != 0)
        return false;
    *number = atoi(text);
    return true;
}

/* Is it a month that an archive may have? Sets it. */
static bool set_month(OldAddress *address, int year, int month)
{
    if (year < YEAR_FIRST || year > 9999 || month < 1 || month > 12)
        return false;
    address->place = OLD_MONTH;
    address->year = year;
    address->month = month;
    return true;
}

/* "2019-03", "201903" */
static bool read_month(const char *text, OldAddress *address)
{
    int year, month;
    char joined[8];
    if (strlen(text) == 7 && text[4] == '-') {
        g_snprintf(joined, sizeof joined, "%.4s%s", text, text + 5);
        text = joined;
    }
    return read_number(text, 6, "", &year) && (month = year % 100, set_month(address, year / 100, month));
}

static bool is_page(const char *text)
{
    return g_str_has_suffix(text, ".html") || g_str_has_suffix(text, ".htm");
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, text) == 0)
            return true;
    return false;
}

/* ---- pipermail ---- */

/* A volume of a month, a quarter, a week, a day, or (false) none of these. The month is that in which it begins. */
static bool read_volume(const char *text, OldAddress *address)
{
    static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
    int year, number;
    if (g_str_has_prefix(text, "Week-of-Mon-"))
        text += strlen("Week-of-Mon-");
    if (read_number(text, 8, "", &number))
        return set_month(address, number / 10000, number / 100 % 100);
    if (strlen(text) < 6)
        return false;
    g_autofree char *begin = g_strndup(text, 4);
    if (!read_number(begin, 4, "", &year))
        return false;
    if (text[4] == 'q' && read_number(text + 5, 1, "", &number))
        return number >= 1 && number <= 4 && set_month(address, year, number * 3 - 2);
    for (int i = 0; i < 12; i++)
        if (text[4] == '-' && strcmp(text + 5, months[i]) == 0)
            return set_month(address, year, i + 1);
    return false;
}

/* The same, and whole years, which have no page here: of them it is the list. */
static bool read_any_volume(const char *text, OldAddress *address)
{
    int year;
    if (read_volume(text, address))
        return true;
    address->place = OLD_LIST;
    return read_number(text, 4, "", &year);
}

static bool read_pipermail(char **parts, guint count, OldAddress *address)
{
    static const char *const indexes[] = {"thread.html", "subject.html", "author.html",
                                          "date.html",   "index.html",   NULL};
    static const char *const mailboxes[] = {".txt.gz", ".txt", ".mbox"};
    int number;
    address->place = OLD_LIST;
    if (count == 0 || (count == 1 && is_page(parts[0])))
        return true;
    for (size_t i = 0; count == 1 && i < G_N_ELEMENTS(mailboxes); i++)
        if (g_str_has_suffix(parts[0], mailboxes[i])) {
            g_autofree char *volume = g_strndup(parts[0], strlen(parts[0]) - strlen(mailboxes[i]));
            bool known = read_any_volume(volume, address);
            if (known && address->place == OLD_MONTH)
                address->place = OLD_MONTH_MAILS;
            return known;
        }
    if (count > 2 || !read_any_volume(parts[0], address))
        return false;
    if (count == 1 || is_one_of(parts[1], indexes))
        return true;
    if (!read_number(parts[1], 0, ".html", &number))
        return false;
    address->place = OLD_NUMBER;
    address->keys[0] = g_strdup_printf("%s/%d", parts[0], number);
    address->keys[1] = g_strdup_printf("%d", number);
    return true;
}

/* ---- HyperKitty ---- */

static bool read_hyperkitty(char **parts, guint count, OldAddress *address)
{
    static const char *const pages[] = {"latest", "threads", "export", "overview", NULL};
    int year, month;
    address->place = OLD_LIST;
    if (count == 0 || is_one_of(parts[0], pages))
        return true;
    if (read_number(parts[0], 4, "", &year))
        return count >= 2 && read_number(parts[1], 0, "", &month) && set_month(address, year, month);
    bool thread = strcmp(parts[0], "thread") == 0;
    if (count < 2 || !(thread || strcmp(parts[0], "message") == 0))
        return false;
    address->hash = g_ascii_strup(parts[1], -1);
    address->place = thread ? OLD_THREAD : OLD_HASH;
    return strlen(address->hash) == HASH_LENGTH &&
           strspn(address->hash, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == HASH_LENGTH;
}

/* ---- MHonArc, and Sympa, which uses it ---- */

/* The parts before the last one, with a text between them; g_free(). */
static char *join_folders(char **parts, guint count, const char *between)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i + 1 < count; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? between : "", parts[i]);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool read_mhonarc(char **parts, guint count, OldAddress *address)
{
    int number;
    address->place = OLD_LIST;
    if (count == 0)
        return true;
    const char *last = parts[count - 1];
    g_autofree char *folder = join_folders(parts, count, "/");
    if (g_str_has_prefix(last, "msg") &&
        (read_number(last + 3, 0, ".html", &number) || read_number(last + 3, 0, ".htm", &number))) {
        address->place = OLD_NUMBER;
        address->keys[0] = g_strdup_printf("%s%s%d", folder, *folder ? "/" : "", number);
        return true;
    }
    /* Another page of a folder, or the folder: 2019/03 is a month, too. */
    g_autofree char *above = join_folders(parts, count, ""), *whole = g_strconcat(above, last, NULL);
    return read_month(is_page(last) ? above : whole, address) || is_page(last);
}

static bool read_sympa(char **parts, guint count, OldAddress *address)
{
    address->place = OLD_LIST;
    if (count == 0)
        return true;
    if (count > 2 || !read_month(parts[0], address))
        return false;
    return count == 1 || (is_page(parts[1]) && read_mhonarc(parts, count, address));
}

/* arcsearch_id/LIST/2019-03/MESSAGE-ID */
static bool read_sympa_id(char **parts, guint count, OldAddress *address)
{
    if (count != 2 || !strchr(parts[1], '@'))
        return false;
    address->place = OLD_HASH;
    address->hash = message_id_hash(parts[1]);
    return true;
}

/* ---- ezmlm-cgi ---- */

static bool read_ezmlm(char **parts, guint count, OldAddress *address)
{
    int number;
    address->place = OLD_LIST;
    if (count == 0)
        return true;
    if (count > 1 || !read_number(parts[0], 0, "", &number))
        return false;
    address->place = OLD_NUMBER;
    address->keys[0] = g_strdup_printf("%d", number);
    return true;
}

/* ?LIST:COMMAND:...: "mss:123:201903:abcdef" is a message; "iis:201903:..." and others a month, or the list. */
static bool read_ezmlm_query(const char *query, OldAddress *address)
{
    int number;
    g_autofree char *text = g_uri_unescape_string(query, NULL);
    if (!text || !g_utf8_validate(text, -1, NULL))
        return false;
    g_auto(GStrv) fields = g_strsplit(text, ":", SEGMENTS);
    if (!fields[0] || !*fields[0])
        return false;
    address->list = g_strdup(fields[0]);
    address->place = OLD_LIST;
    if (!fields[1] || !*fields[1])
        return true;
    if (*fields[1] == 'm' && fields[2] && read_number(fields[2], 0, "", &number)) {
        address->place = OLD_NUMBER;
        address->keys[0] = g_strdup_printf("%d", number);
        return true;
    }
    for (char **field = fields + 2; *field; field++)
        if (read_month(*field, address))
            break;
    return true;
}

/* ---- all ---- */

/* The segments of a path, decoded; NULL: it is none that a program makes. */
static char **read_segments(const char *path)
{
    g_auto(GStrv) raw = g_strsplit(path, "/", -1);
    g_autoptr(GStrvBuilder) parts = g_strv_builder_new();
    for (char **at = raw; *at; at++) {
        g_autofree char *part = g_uri_unescape_string(*at, "/");
        if (!part || !g_utf8_validate(part, -1, NULL) || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
            return NULL;
        if (*part)
            g_strv_builder_add(parts, part);
    }
    return g_strv_builder_end(parts);
}

bool old_address_read(OldKind kind, const char *path, const char *query, OldAddress *address)
{
    typedef bool Reader(char **parts, guint count, OldAddress *address);
    static Reader *const readers[] = {read_pipermail, read_hyperkitty, read_mhonarc, read_sympa, read_ezmlm};
    *address = (OldAddress){0};
    if (strlen(path) > PATH_MAX_READ || strlen(query) > PATH_MAX_READ)
        return false;
    g_auto(GStrv) parts = read_segments(path);
    guint count = parts ? g_strv_length(parts) : 0, above = 0;
    bool known = parts && count <= SEGMENTS;
    if (known && kind == OLD_EZMLM && count == 0 && *query) {
        known = read_ezmlm_query(query, address);
    } else if (known) {
        Reader *reader = readers[kind];
        address->place = OLD_SITE;
        if (count > 0 && (kind == OLD_HYPERKITTY || kind == OLD_SYMPA)) { /* a word stands before the list */
            bool by_id = kind == OLD_SYMPA && strcmp(parts[0], "arcsearch_id") == 0;
            known = by_id || strcmp(parts[0], kind == OLD_SYMPA ? "arc" : "list") == 0;
            reader = by_id ? read_sympa_id : reader;
            above = 1;
        }
        if (known && count > above) {
            address->list = g_strdup(parts[above]);
            known = reader(parts + above + 1, count - above - 1, address);
        }
    }
    if (!known)
        old_address_clear(address);
    return known;
}

char *old_address_file_key(OldKind kind, const char *file)
{
    int hundreds, rest;
    if (kind == OLD_EZMLM) {
        const char *slash = strchr(file, '/');
        g_autofree char *folder = g_strndup(file, slash ? (size_t)(slash - file) : 0);
        return slash && strlen(folder) < DIGITS - 2 && read_number(folder, 0, "", &hundreds) &&
                       read_number(slash + 1, 2, "", &rest)
                   ? g_strdup_printf("%d", hundreds * 100 + rest)
                   : NULL;
    }
    g_auto(OldAddress) address = {0};
    g_auto(GStrv) parts = g_strsplit(file, "/", -1);
    guint count = g_strv_length(parts);
    bool known = count <= SEGMENTS && ((kind == OLD_PIPERMAIL && read_pipermail(parts, count, &address)) ||
                                       (kind == OLD_MHONARC && read_mhonarc(parts, count, &address)) ||
                                       (kind == OLD_SYMPA && read_sympa(parts, count, &address)));
    return known && address.place == OLD_NUMBER ? g_steal_pointer(&address.keys[0]) : NULL;
}

char *old_address_counted(guint64 number)
{
    return g_strdup_printf("%" G_GUINT64_FORMAT, number);
}

/* ---- pages of lists ---- */

static const char *const pages_kinds[] = OLD_PAGES_NAMES;
G_STATIC_ASSERT(G_N_ELEMENTS(pages_kinds) == OLD_PAGES_KINDS);

bool old_pages_read_kind(const char *word, OldPages *kind)
{
    for (int i = 0; i < OLD_PAGES_KINDS; i++)
        if (strcmp(pages_kinds[i], word) == 0) {
            *kind = (OldPages)i;
            return true;
        }
    return false;
}

/* The words that stand before the name of a list: of pages for everybody, and of those for owners. */
static const struct {
    const char *const *all, *const *owners;
} page_words[OLD_PAGES_KINDS] = {
    [OLD_PAGES_MAILMAN] = {(const char *const[]){"listinfo", "options", "subscribe", "confirm", "roster", NULL},
                           (const char *const[]){"admin", "admindb", "edithtml", NULL}},
    [OLD_PAGES_SYMPA] = {(const char *const[]){"info", "home", "subscribe", "subrequest", "signoff", "sigrequest",
                                               "suboptions", "review", "compose_mail", "contact", "auto_signoff", NULL},
                         (const char *const[]){"admin", "modindex", "edit_list_request", "reviewbouncing", NULL}},
    [OLD_PAGES_POSTORIUS] = {(const char *const[]){"lists", NULL}, (const char *const[]){NULL}},
};

bool old_pages_read(OldPages kind, const char *path, char **list, bool *owners)
{
    *list = NULL;
    *owners = false;
    g_auto(GStrv) parts = strlen(path) > PATH_MAX_READ ? NULL : read_segments(path);
    guint count = parts ? g_strv_length(parts) : 0;
    if (!parts || count == 0)
        return parts != NULL;
    bool all = is_one_of(parts[0], page_words[kind].all);
    *owners = is_one_of(parts[0], page_words[kind].owners);
    if (count > 1 && (all || *owners))
        *list = g_strdup(parts[1]);
    return all || *owners || (kind == OLD_PAGES_SYMPA && count == 1 && strcmp(parts[0], "lists") == 0);
}
