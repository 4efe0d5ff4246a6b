/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/mention.h"

#include <string.h>

#include "base/mailbox.h"
#include "store/store_internal.h"

/* How a statement has the address, as $1. */
typedef enum AddressForm {
    FORM_FOLDED, /* "example.org jo" */
    FORM_LOWER,  /* "jo@example.org" */
    FORM_BASE,   /* mailbox_base() */
    FORM_LIKE,   /* "%jo@example.org%", with \ before what LIKE would take for more */
    FORMS
} AddressForm;

/* A SELECT gives the List-Id, a few words, the number and the text. */
typedef struct MentionPlace {
    MentionKind kind;
    const char *name;
    AddressForm form;
    const char *find;
    const char *change; /* MENTION_MESSAGE, MENTION_WORDS: puts the text $2 at number $1. MENTION_TRACE: removes */
} MentionPlace;

#define OF_LIST "JOIN list l ON l.key = m.list "

static const MentionPlace places[] = {
    {MENTION_KNOWN, "address", FORM_FOLDED,
     "SELECT NULL, COALESCE(display_name, ''), 0, NULL FROM address WHERE folded = $1", NULL},
    {MENTION_KNOWN, "member", FORM_FOLDED,
     "SELECT l.list_id, CASE m.role WHEN 0 THEN 'member' WHEN 1 THEN 'owner' WHEN 2 THEN 'moderator' ELSE 'nonmember' "
     "END, 0, NULL FROM member m " OF_LIST
     "JOIN address a ON a.key = m.address WHERE a.folded = $1 ORDER BY l.list_id, "
     "m.role",
     NULL},
    {MENTION_KNOWN, "request", FORM_FOLDED,
     "SELECT l.list_id, '', 0, NULL FROM pending m " OF_LIST "WHERE m.folded = $1 ORDER BY m.number", NULL},
    {MENTION_KNOWN, "request", FORM_LOWER,
     "SELECT l.list_id, 'as the new address', 0, NULL FROM pending m " OF_LIST
     "WHERE lower(m.detail) = $1 ORDER BY m.number",
     NULL},
    {MENTION_KNOWN, "departure", FORM_FOLDED,
     "SELECT l.list_id, '', 0, NULL FROM departure m " OF_LIST "WHERE m.folded = $1 ORDER BY m.key", NULL},
    {MENTION_KNOWN, "bounce", FORM_FOLDED,
     "SELECT l.list_id, m.status, 0, NULL FROM bounce m " OF_LIST "WHERE m.folded = $1 ORDER BY l.list_id, m.day",
     NULL},
    {MENTION_KNOWN, "held post of the author", FORM_LOWER,
     "SELECT l.list_id, COALESCE(m.subject, ''), 0, NULL FROM held m " OF_LIST
     "WHERE lower(m.sender) = $1 ORDER BY m.number",
     NULL},
    {MENTION_KNOWN, "scheduled post of the author", FORM_LOWER,
     "SELECT l.list_id, COALESCE(m.subject, ''), 0, NULL FROM scheduled m " OF_LIST
     "WHERE lower(m.sender) = $1 OR lower(m.author) = $1 ORDER BY m.number",
     NULL},
    {MENTION_KNOWN, "session", FORM_FOLDED, "SELECT NULL, agent, 0, NULL FROM session WHERE folded = $1 ORDER BY key",
     NULL},
    {MENTION_TRACE, "ticket of a moderator", FORM_LOWER,
     "SELECT l.list_id, '', 0, NULL FROM ticket m " OF_LIST "WHERE lower(m.moderator) = $1 ORDER BY l.list_id",
     "DELETE FROM ticket WHERE lower(moderator) = $1"},
    {MENTION_TRACE, "automatic answer", FORM_LOWER,
     "SELECT l.list_id, m.kind, 0, NULL FROM autoresponse m " OF_LIST "WHERE m.address = $1 ORDER BY l.list_id, m.kind",
     "DELETE FROM autoresponse WHERE address = $1"},
    {MENTION_TRACE, "pace of posts", FORM_LOWER,
     "SELECT l.list_id, '', 0, NULL FROM pace m " OF_LIST "WHERE m.address = $1 ORDER BY l.list_id",
     "DELETE FROM pace WHERE address = $1"},
    {MENTION_TRACE, "count of letters", FORM_BASE,
     "SELECT NULL, kind, 0, NULL FROM account WHERE who = $1 ORDER BY kind", "DELETE FROM account WHERE who = $1"},
    {MENTION_TRACE, "log of a list", FORM_LOWER,
     "SELECT l.list_id, m.kind, 0, NULL FROM list_log m " OF_LIST "WHERE m.name = $1 ORDER BY m.key",
     "DELETE FROM list_log WHERE name = $1"},
    {MENTION_KEPT, "ban", FORM_FOLDED,
     "SELECT l.list_id, '', 0, NULL FROM ban m LEFT JOIN list l ON l.key = m.list WHERE m.folded = $1 ORDER BY m.key",
     NULL},
    {MENTION_KEPT, "source of members", FORM_FOLDED,
     "SELECT l.list_id, s.name, 0, NULL FROM member_source m JOIN list_source s ON s.key = m.source " OF_LIST
     "WHERE m.folded = $1 ORDER BY l.list_id, s.name",
     NULL},
    {MENTION_KEPT, "left a list with sources", FORM_FOLDED,
     "SELECT l.list_id, m.way, 0, NULL FROM source_left m " OF_LIST "WHERE m.folded = $1 ORDER BY l.list_id", NULL},
    {MENTION_MESSAGE, "held post", FORM_LOWER,
     "SELECT l.list_id, COALESCE(m.subject, ''), m.number, m.message FROM held m " OF_LIST
     "WHERE COALESCE(lower(m.sender), '') <> $1 ORDER BY m.number",
     "UPDATE held SET message = $2 WHERE number = $1"},
    {MENTION_MESSAGE, "scheduled post", FORM_LOWER,
     "SELECT l.list_id, COALESCE(m.subject, ''), m.number, m.message FROM scheduled m " OF_LIST
     "WHERE COALESCE(lower(m.sender), '') <> $1 ORDER BY m.number",
     "UPDATE scheduled SET message = $2 WHERE number = $1"},
    {MENTION_MESSAGE, "post for a digest", FORM_LOWER,
     "SELECT l.list_id, '', m.key, m.message FROM digest_post m " OF_LIST "WHERE $1 <> '' ORDER BY m.key",
     "UPDATE digest_post SET message = $2 WHERE key = $1"},
    {MENTION_WORDS, "event", FORM_LIKE,
     "SELECT list_id, type, number, body FROM event WHERE lower(body) LIKE $1 ESCAPE '\\' ORDER BY number",
     "UPDATE event SET body = $2 WHERE number = $1"},
    {MENTION_WORDS, "change in the log of a list", FORM_LIKE,
     "SELECT l.list_id, m.kind || ' ' || m.name, m.key, m.made_by FROM list_log m " OF_LIST
     "WHERE lower(m.made_by) LIKE $1 ESCAPE '\\' AND lower(m.made_by) <> m.name ORDER BY m.key",
     "UPDATE list_log SET made_by = $2 WHERE key = $1"},
    {MENTION_WORDS, "value before, in the log of a list", FORM_LIKE,
     "SELECT l.list_id, m.kind || ' ' || m.name, m.key, m.before FROM list_log m " OF_LIST
     "WHERE lower(m.before) LIKE $1 ESCAPE '\\' ORDER BY m.key",
     "UPDATE list_log SET before = $2 WHERE key = $1"},
    {MENTION_WORDS, "value after, in the log of a list", FORM_LIKE,
     "SELECT l.list_id, m.kind || ' ' || m.name, m.key, m.after FROM list_log m " OF_LIST
     "WHERE lower(m.after) LIKE $1 ESCAPE '\\' ORDER BY m.key",
     "UPDATE list_log SET after = $2 WHERE key = $1"},
    {MENTION_TEXT, "setting of a list", FORM_LIKE,
     "SELECT l.list_id, m.name, 0, m.value FROM list_setting m " OF_LIST
     "WHERE lower(m.value) LIKE $1 ESCAPE '\\' ORDER BY l.list_id, m.name",
     NULL},
    {MENTION_TEXT, "header match", FORM_LIKE,
     "SELECT l.list_id, m.header, 0, m.pattern FROM header_match m LEFT JOIN list l ON l.key = m.list "
     "WHERE lower(m.pattern) LIKE $1 ESCAPE '\\' ORDER BY m.key",
     NULL},
    {MENTION_TEXT, "text of a letter", FORM_LIKE,
     "SELECT NULL, name, 0, text FROM template WHERE lower(text) LIKE $1 ESCAPE '\\' ORDER BY place, name, language",
     NULL},
    {MENTION_TEXT, "parts that wait", FORM_LOWER,
     "SELECT l.list_id, '', 0, NULL FROM fragment_set m " OF_LIST "WHERE lower(m.sender) = $1 ORDER BY m.key", NULL},
};

static char *pattern_of(const char *lower)
{
    GString *pattern = g_string_new("%");
    for (; *lower; lower++) {
        if (strchr("\\%_", *lower))
            g_string_append_c(pattern, '\\');
        g_string_append_c(pattern, *lower);
    }
    return g_string_free(g_string_append_c(pattern, '%'), FALSE);
}

/* The address in each AddressForm; g_strfreev(). NULL with FAIL_NEVER: it is no address. */
static char **make_forms(const Mailbox *address, GError **error)
{
    if (!mailbox_check(address, error))
        return NULL;
    char **forms = g_new0(char *, FORMS + 1);
    forms[FORM_FOLDED] = g_strdup(address->folded);
    forms[FORM_LOWER] = mailbox_key(address->text);
    forms[FORM_BASE] = mailbox_base(address->text);
    forms[FORM_LIKE] = pattern_of(forms[FORM_LOWER]);
    return forms;
}

bool mention_each(Store *store, const Mailbox *address, unsigned kinds, MentionEach *each, void *data, GError **error)
{
    g_auto(GStrv) forms = make_forms(address, error);
    if (!forms)
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(places); at++) {
        const MentionPlace *place = &places[at];
        if (!(kinds & 1u << place->kind))
            continue;
        const Value form = TEXT(forms[place->form]);
        g_autoptr(Query) query = query_stream_start(store, error, place->find, &form, 1);
        Step step;
        while ((step = query_step(query, error)) == STEP_ROW) {
            g_autofree char *list_id = g_strdup(query_text(query, 0)), *detail = g_strdup(query_text(query, 1));
            size_t length;
            const void *octets = query_bytes(query, 3, &length); /* text or a blob, as the column has it */
            g_autoptr(GBytes) text = octets ? g_bytes_new(octets, length) : NULL;
            const Mention mention = {.kind = place->kind,
                                     .place = place->name,
                                     .list_id = list_id,
                                     .detail = detail ? detail : "",
                                     .number = query_integer(query, 2),
                                     .text = text};
            if (!each(&mention, data))
                return true;
        }
        if (step == STEP_FAILED)
            return false;
    }
    return true;
}

bool mention_put(Store *store, const char *place, int64_t number, GBytes *text, GError **error)
{
    size_t length;
    const char *octets = g_bytes_get_data(text, &length);
    for (size_t at = 0; at < G_N_ELEMENTS(places); at++) {
        bool words = places[at].kind == MENTION_WORDS;
        if ((!words && places[at].kind != MENTION_MESSAGE) || strcmp(places[at].name, place) != 0)
            continue;
        g_autofree char *plain = words ? g_strndup(octets, length) : NULL;
        const Value values[] = {INTEGER(number), words ? TEXT(plain) : BLOB(octets, length)};
        return STORE_WRITE(store, error, query_all(store, error, NULL, places[at].change, values, 2));
    }
    g_assert_not_reached();
}

bool mention_forget(Store *store, const Mailbox *address, GError **error)
{
    g_auto(GStrv) forms = make_forms(address, error);
    if (!forms)
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    for (size_t at = 0; at < G_N_ELEMENTS(places); at++) {
        const Value form = TEXT(forms[places[at].form]);
        if (places[at].kind == MENTION_TRACE && !query_all(store, error, NULL, places[at].change, &form, 1))
            return false;
    }
    return write_end(&write, error);
}
