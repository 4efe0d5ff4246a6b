/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/secret.h"
#include "lists/people/member_line.h"
#include "lists/sources/source_internal.h"
#include "net/http_client.h"
#include "store/moving/foreign.h"
#include "store/place.h"

#define LOOK 1000          /* lines after which the run is asked whether it goes on */
#define TEXT_SHOWN 100     /* bytes of a bad line */
#define LINES_MOST 5000000 /* a query may give rows without an end */
#define URL_PATIENCE (5 * 60 * CLOCK_SECOND)
#define BODY_MAX (64 * 1024 * 1024) /* bytes of a page: some million addresses */

typedef struct SourceReading {
    const SourceRun *run;
    const MemberSource *source;
    SourceStage *stage;
    const char *password; /* NULL: none */
    int64_t lines, bad;   /* lines or rows so far, and those of them that are no addresses */
    uint64_t number;      /* of the current line of a file; 0: the source has rows, and `lines` is their number */
    const char *text;     /* of the current line; may be no UTF-8; NULL: the source has rows */
    GString *bad_lines;   /* the first few bad lines, with their numbers */
} SourceReading;

/* Read a whole source of one kind. Only a whole source counts: it fails when the source was cut, or changed while it
 * was read. FAIL_LATER: it cannot be read now; FAIL_CONFIG, FAIL_NEVER, FAIL_MISSING: it can only be read when somebody
 * has mended it. */
typedef bool SourceRead(SourceReading *reading, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FILE, fclose)

/* Ask whether the run is to go on, in a reader that may wait for long without an address. FAIL_LATER: it is to end. */
static bool goes_on(const SourceReading *reading, GError **error)
{
    const SourceRun *run = reading->run;
    return !run->alive || run->alive(run->data) ||
           fail(error, FAIL_LATER, "the reading was ended, for this process stops");
}

static bool count_line(SourceReading *reading, GError **error)
{
    if (++reading->lines > LINES_MOST)
        return fail(error, FAIL_CONFIG, "it gives more than %d addresses", LINES_MOST);
    return reading->lines % LOOK != 0 || goes_on(reading, error);
}

/* Count a bad line, and keep what of it a person needs to find it: its begin in whole characters, with blanks for
 * control characters. */
static void note_bad(SourceReading *reading, const char *text)
{
    if (++reading->bad > SOURCE_BAD_SHOWN)
        return;
    size_t length = strnlen(text, TEXT_SHOWN + 1);
    if (length > TEXT_SHOWN)
        for (length = TEXT_SHOWN; length > TEXT_SHOWN - 3 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
    g_string_append_printf(reading->bad_lines, "%s%" G_GUINT64_FORMAT ": ", reading->bad_lines->len > 0 ? "\n" : "",
                           reading->number > 0 ? reading->number : (uint64_t)reading->lines);
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        g_string_append_unichar(reading->bad_lines, g_unichar_iscntrl(character) ? ' ' : character);
    }
}

/* Put one address into the stage. If the text is no address, only count it as bad, and return true. False: the store
 * failed, the run is to end, or there are too many addresses. */
static bool add_address(SourceReading *reading, const char *address, const char *name, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    if (!count_line(reading, error))
        return false;
    if (source_stage_add(reading->stage, address, name, &refusal))
        return true;
    if (!g_error_matches(refusal, FAIL, FAIL_NEVER))
        return fail_with(error, &refusal);
    note_bad(reading, reading->text ? reading->text : address);
    return true;
}

/* Put all addresses of a file into the stage (its form: lists/people/member_line.h). The file stays the caller's. */
static bool add_lines(SourceReading *reading, FILE *file, GError **error)
{
    g_autoptr(MemberLines) lines = member_lines_new(file);
    for (;;) {
        g_auto(MemberLine) line = {0};
        g_autoptr(GError) refusal = NULL;
        bool fine = member_lines_next(lines, &line, &refusal);
        reading->number = line.number;
        reading->text = member_lines_text(lines);
        if (!fine) {
            if (!g_error_matches(refusal, FAIL, FAIL_NEVER))
                return fail_with(error, &refusal);
            if (!count_line(reading, error))
                return false;
            note_bad(reading, reading->text);
            continue;
        }
        if (line.last)
            return true;
        if (line.rank == RANK_NONE) /* of that group, so not of this list either */
            continue;
        if (!add_address(reading, line.address, line.display_name, error))
            return false;
    }
}

/* ---- a file ---- */

static bool read_file(SourceReading *reading, GError **error)
{
    struct stat before, after;
    char last = '\n';
    const char *path = reading->source->place;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    g_autoptr(FILE) file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file || fstat(fd, &before) < 0)
        return fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "cannot read it");
    if (!S_ISREG(before.st_mode))
        return fail(error, FAIL_CONFIG, "it is no file");
    if (before.st_size > 0 && pread(fd, &last, 1, before.st_size - 1) != 1)
        return fail_errno(error, FAIL_LATER, "cannot read its end");
    if (last != '\n')
        return fail(error, FAIL_LATER,
                    "its last line has no end, so it is not whole: somebody writes it "
                    "now, or it was cut; end it with a line end");
    if (!add_lines(reading, file, error))
        return false;
    if (fstat(fd, &after) < 0)
        return fail_errno(error, FAIL_LATER, "cannot look at it");
    bool same = before.st_ino == after.st_ino && before.st_size == after.st_size &&
                before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
    return same || fail(error, FAIL_LATER, "it was changed while it was read");
}

/* ---- a URL: the same lines as in a file, from a web server ---- */

static bool read_url(SourceReading *reading, GError **error)
{
    const SourceRun *run = reading->run;
    const HttpRequest request = {.url = reading->source->place,
                                 .user = reading->source->bind_dn,
                                 .password = reading->password,
                                 .timeout = URL_PATIENCE,
                                 .answer_max = BODY_MAX,
                                 .alive = run->alive,
                                 .data = run->data};
    g_auto(HttpAnswer) answer = {0};
    g_autoptr(GError) fault = NULL;
    if (!http_get(&request, &answer, &fault)) {
        g_autofree char *shown = source_shown(reading->source);
        g_autoptr(GString) message = g_string_new(fault->message);
        g_string_replace(message, reading->source->place, shown, 0);
        return fail(error, fault->code, "%s", message->str);
    }
    if (answer.status != 200)
        return fail(error, answer.status >= 500 ? FAIL_LATER : FAIL_CONFIG, "the server answered %ld", answer.status);
    if (answer.cut)
        return fail(error, FAIL_CONFIG, "it is longer than %d bytes", BODY_MAX);
    GString *body = answer.body;
    if (body->len == 0)
        return true;
    if (body->str[body->len - 1] != '\n')
        return fail(error, FAIL_LATER, "the last line of the answer has no end, so it is not whole");
    g_autoptr(FILE) file = fmemopen(body->str, body->len, "r");
    return file ? add_lines(reading, file, error) : fail_errno(error, FAIL_LATER, "cannot read the answer");
}

/* ---- a database: the first column of a query is the address, the second, if there is one, the name ---- */

static bool read_sql(SourceReading *reading, GError **error)
{
    const char *place = reading->source->place, *password = reading->password;
    g_autofree char *where = password ? store_place_with_password(place, password) : g_strdup(place);
    g_autoptr(Foreign) foreign = foreign_open(where, error);
    g_autoptr(ForeignRows) rows = foreign ? foreign_query_as_is(foreign, reading->source->query, error) : NULL;
    bool more = rows != NULL;
    while (more && foreign_next(rows, &more, error)) {
        if (!more)
            return true;
        const char *address = foreign_text(rows, 0), *name = foreign_columns(rows) > 1 ? foreign_text(rows, 1) : NULL;
        bool valid = name && *name && g_utf8_validate(name, -1, NULL);
        if (address && !add_address(reading, address, valid ? name : NULL, error))
            return false;
    }
    return false;
}

/* ---- a directory: one search by LDAP, in pages (RFC 2696), so that a server that gives only some hundred entries at a
 * time gives all. Each entry is one person: the first value of the first attribute of the URL is the address, that of
 * the second the name. ---- */

#define PAGE_SIZE 500  /* entries */
#define PATIENCE 60    /* seconds, for the connection and for each page */
#define ADDRESS "mail" /* attributes, where the URL names none */
#define NAME "cn"

typedef LDAPMessage LdapMessage;
static void answer_free(LdapMessage *message)
{
    ldap_msgfree(message);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LdapMessage, answer_free)

typedef LDAPControl LdapControl;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LdapControl, ldap_control_free)

typedef struct Directory {
    LDAP *connection;
    LdapUrl *url;
    struct berval cookie; /* of the server: where the next page begins */
} Directory;

static void directory_clear(Directory *directory)
{
    if (directory->connection)
        ldap_unbind_ext_s(directory->connection, NULL, NULL);
    if (directory->url)
        ldap_free_urldesc(directory->url);
    ber_memfree(directory->cookie.bv_val);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Directory, directory_clear)

static const char *attribute(const LdapUrl *url, int which)
{
    if (!url->lud_attrs || !url->lud_attrs[0])
        return which == 0 ? ADDRESS : NAME;
    return which == 0 || !url->lud_attrs[1] ? (which == 0 ? url->lud_attrs[0] : NULL) : url->lud_attrs[1];
}

/* Set the error: FAIL_CONFIG for a fault that somebody has to mend, FAIL_LATER for one that may pass by itself. */
static bool refuse(const Directory *directory, const char *what, int code, GError **error)
{
    char *detail = NULL;
    if (directory->connection)
        ldap_get_option(directory->connection, LDAP_OPT_DIAGNOSTIC_MESSAGE, &detail);
    bool stays = code == LDAP_INVALID_CREDENTIALS || code == LDAP_NO_SUCH_OBJECT || code == LDAP_FILTER_ERROR ||
                 code == LDAP_INSUFFICIENT_ACCESS || code == LDAP_INAPPROPRIATE_AUTH ||
                 code == LDAP_INVALID_DN_SYNTAX || code == LDAP_STRONG_AUTH_REQUIRED ||
                 code == LDAP_CONFIDENTIALITY_REQUIRED;
    fail(error, stays ? FAIL_CONFIG : FAIL_LATER, "%s: %s%s%s%s", what, ldap_err2string(code),
         detail && *detail ? " (" : "", detail && *detail ? detail : "", detail && *detail ? ")" : "");
    ldap_memfree(detail);
    return false;
}

/* Connect, encrypt where the URL asks for it, before anything is told to the server, and sign in. */
static bool sign_in(Directory *directory, const char *dn, const char *password, GError **error)
{
    const LdapUrl *url = directory->url;
    const struct timeval patience = {.tv_sec = PATIENCE};
    const int version = LDAP_VERSION3, demand = LDAP_OPT_X_TLS_DEMAND;
    bool six = strchr(url->lud_host, ':') != NULL;
    g_autofree char *address = g_strdup_printf("%s://%s%s%s:%d", url->lud_scheme, six ? "[" : "", url->lud_host,
                                               six ? "]" : "", url->lud_port);
    /* Certificates are looked at as all connections of the process say, whatever ldap.conf(5) would let pass. */
    if (ldap_set_option(NULL, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand) != LDAP_OPT_SUCCESS)
        return fail(error, FAIL_LATER, "the library of LDAP refuses to look at certificates");
    int code = ldap_initialize(&directory->connection, address);
    if (code != LDAP_SUCCESS)
        return refuse(directory, "cannot begin", code, error);
    if (ldap_set_option(directory->connection, LDAP_OPT_PROTOCOL_VERSION, &version) != LDAP_OPT_SUCCESS ||
        ldap_set_option(directory->connection, LDAP_OPT_NETWORK_TIMEOUT, &patience) != LDAP_OPT_SUCCESS ||
        ldap_set_option(directory->connection, LDAP_OPT_TIMEOUT, &patience) != LDAP_OPT_SUCCESS ||
        ldap_set_option(directory->connection, LDAP_OPT_REFERRALS, LDAP_OPT_OFF) != LDAP_OPT_SUCCESS)
        return fail(error, FAIL_LATER, "the library of LDAP refuses an option");
    if (source_ldap_starts_tls(url) && (code = ldap_start_tls_s(directory->connection, NULL, NULL)) != LDAP_SUCCESS) {
        bool away = code == LDAP_SERVER_DOWN || code == LDAP_TIMEOUT;
        return refuse(directory, away ? "cannot connect" : "cannot begin TLS", code, error);
    }
    struct berval secret = {.bv_val = (char *)password, .bv_len = password ? strlen(password) : 0};
    code = ldap_sasl_bind_s(directory->connection, dn, LDAP_SASL_SIMPLE, &secret, NULL, NULL, NULL);
    bool away = code == LDAP_SERVER_DOWN || code == LDAP_CONNECT_ERROR || code == LDAP_TIMEOUT;
    return code == LDAP_SUCCESS || refuse(directory, dn && !away ? "cannot sign in" : "cannot connect", code, error);
}

/* Another server is not asked: nobody has said that it may be told the password. Frees the referrals. */
static bool name_referral(char **referrals, GError **error)
{
    g_autofree char *valid = g_utf8_make_valid(referrals && referrals[0] ? referrals[0] : "another server", -1);
    ldap_memvfree((void **)referrals);
    return fail(error, FAIL_CONFIG,
                "the server refers to %s for a part of the answer, and no other server is asked: make that a source of "
                "its own, or narrow the base or the scope of the search",
                valid);
}

/* One page of the answer, whole; NULL with error when a part of it is elsewhere. */
static LdapMessage *ask(Directory *directory, GError **error)
{
    const LdapUrl *url = directory->url;
    LDAP *connection = directory->connection;
    char *wanted[] = {(char *)attribute(url, 0), (char *)attribute(url, 1), NULL}, **referrals = NULL;
    const char *filter = url->lud_filter && *url->lud_filter ? url->lud_filter : "(objectClass=*)";
    struct timeval patience = {.tv_sec = PATIENCE};
    LDAPControl *made = NULL;
    LDAPMessage *answer = NULL;
    int code = ldap_create_page_control(connection, PAGE_SIZE, &directory->cookie, 1, &made), ignored;
    g_autoptr(LdapControl) page = made;
    LDAPControl *controls[] = {page, NULL};
    if (code == LDAP_SUCCESS)
        code = ldap_search_ext_s(connection, url->lud_dn ? url->lud_dn : "", url->lud_scope, filter, wanted, 0,
                                 controls, NULL, &patience, LDAP_NO_LIMIT, &answer);
    g_autoptr(LdapMessage) result = answer;
    if (code == LDAP_SIZELIMIT_EXCEEDED || code == LDAP_TIMELIMIT_EXCEEDED || code == LDAP_ADMINLIMIT_EXCEEDED) {
        fail(error, FAIL_CONFIG,
             "the server gives no more entries to this user (%s), so the answer is not whole: raise "
             "its limit for it, or narrow the filter",
             ldap_err2string(code));
        return NULL;
    }
    if (code == LDAP_REFERRAL && answer) {
        ldap_parse_result(connection, answer, &ignored, NULL, NULL, &referrals, NULL, 0);
        name_referral(referrals, error);
        return NULL;
    }
    if (code != LDAP_SUCCESS) {
        refuse(directory, "cannot search", code, error);
        return NULL;
    }
    LDAPMessage *reference = ldap_first_reference(connection, answer);
    if (reference) {
        ldap_parse_reference(connection, reference, &referrals, NULL, 0);
        name_referral(referrals, error);
        return NULL;
    }
    return g_steal_pointer(&result);
}

/* The first value as text; NULL: there is none. g_free() */
static char *first_value(Directory *directory, LdapMessage *entry, const char *name)
{
    struct berval **values = name ? ldap_get_values_len(directory->connection, entry, name) : NULL;
    char *text = values && values[0] ? g_strndup(values[0]->bv_val, values[0]->bv_len) : NULL;
    if (values)
        ldap_value_free_len(values);
    return text ? g_strstrip(text) : NULL;
}

/* Where the next page begins; *last: there is none. An answer without the control is no end: the server has not said
 * that this was all. */
static bool take_cookie(Directory *directory, LdapMessage *answer, bool *last, GError **error)
{
    int code, ignored;
    LDAPControl **controls = NULL;
    int parsed = ldap_parse_result(directory->connection, answer, &code, NULL, NULL, NULL, &controls, 0);
    const LDAPControl *page = parsed == LDAP_SUCCESS ? ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, NULL)
                                                     : NULL;
    struct berval cookie = {0};
    bool told = page && ldap_parse_pageresponse_control(directory->connection, (LDAPControl *)page, &ignored,
                                                        &cookie) == LDAP_SUCCESS;
    ldap_controls_free(controls);
    if (!told)
        return fail(error, FAIL_CONFIG,
                    "the server does not answer in pages (RFC 2696), so nobody knows whether its "
                    "answer is whole");
    ber_memfree(directory->cookie.bv_val);
    directory->cookie = cookie;
    *last = cookie.bv_len == 0;
    return true;
}

static bool read_ldap(SourceReading *reading, GError **error)
{
    g_auto(Directory) directory = {.url = source_ldap_url(reading->source->place, error)};
    if (!directory.url || !sign_in(&directory, reading->source->bind_dn, reading->password, error))
        return false;
    const char *of_address = attribute(directory.url, 0), *of_name = attribute(directory.url, 1);
    LDAP *connection = directory.connection;
    for (bool last = false; !last;) {
        g_autoptr(LdapMessage) page = goes_on(reading, error) ? ask(&directory, error) : NULL;
        if (!page)
            return false;
        for (LDAPMessage *entry = ldap_first_entry(connection, page); entry;
             entry = ldap_next_entry(connection, entry)) {
            g_autofree char *address = first_value(&directory, entry, of_address);
            g_autofree char *name = first_value(&directory, entry, of_name);
            bool valid = name && g_utf8_validate(name, -1, NULL);
            if (address && !add_address(reading, address, valid ? name : NULL, error))
                return false;
        }
        if (!take_cookie(&directory, page, &last, error))
            return false;
    }
    return true;
}

/* ---- all kinds ---- */

static bool read_list(SourceReading *reading, GError **error)
{
    return source_stage_add_list(reading->stage, reading->source->place, error);
}

static SourceRead *const readers[] = {
    [SOURCE_FILE] = read_file, [SOURCE_URL] = read_url,   [SOURCE_LIST] = read_list,
    [SOURCE_SQL] = read_sql,   [SOURCE_LDAP] = read_ldap,
};

bool source_read(const SourceRun *run, const MemberSource *source, SourceStage *stage, SourceResult *result,
                 GError **error)
{
    /* Asked again here, for a path may have been set before the setting was, or lead elsewhere now. */
    bool file = *source->place == '/' && (source->kind == SOURCE_FILE || source->kind == SOURCE_SQL);
    if ((file && !source_may_read(run->site, source->place, FAIL_CONFIG, error)) ||
        (source->password_file && !source_may_read(run->site, source->password_file, FAIL_CONFIG, error)))
        return false;
    g_autofree char *shown = source_shown(source);
    g_autofree char *password = source->password_file ? secret_file_line(source->password_file, error) : NULL;
    g_autoptr(GString) bad_lines = g_string_new(NULL);
    SourceReading reading = {
        .run = run, .source = source, .stage = stage, .password = password, .bad_lines = bad_lines};
    g_autoptr(GError) fault = NULL;
    if (source->password_file && !password)
        return false;
    bool whole = readers[source->kind](&reading, &fault);
    result->bad = reading.bad;
    result->bad_lines = bad_lines->len > 0 ? g_strdup(bad_lines->str) : NULL;
    if (whole && reading.bad > 0 && reading.bad == reading.lines)
        whole = fail(&fault, FAIL_CONFIG, "of %" G_GINT64_FORMAT " lines none is an address", reading.lines);
    if (whole)
        return true;

    /* Neither an error of a library nor one of a server shows a password that it repeats, as it is or as a part of a
     * URL; and the database takes the message, whatever bytes the server sent. */
    g_autofree char *valid = g_utf8_make_valid(fault->message, -1);
    g_autofree char *escaped = password ? g_uri_escape_string(password, NULL, FALSE) : NULL;
    g_autoptr(GString) message = g_string_new(valid);
    if (password) {
        g_string_replace(message, password, "***", 0);
        g_string_replace(message, escaped, "***", 0);
    }
    return fail(error, fault->code, "%s: %s", shown, message->str);
}
