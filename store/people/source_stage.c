/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/email.h"
#include "store/people/member_internal.h"
#include "store/people/source.h"
#include "store/row.h"
#include "store/row_set.h"
#include "store/store_internal.h"

/* lower is the address as the log of a list has it. */
#define STAGE                                                                                         \
    "DROP TABLE IF EXISTS source_line; "                                                              \
    "CREATE TEMPORARY TABLE source_line (folded @text@ NOT NULL PRIMARY KEY, email @text@ NOT NULL, " \
    "lower @text@ NOT NULL, name @text@) @clustered@"

struct SourceStage {
    Store *store;
    int64_t list, source;
    RowSet *lines;  /* to the stage */
    bool open;      /* our transaction, which touches only the stage */
    char *fresh_at; /* folded address: the last of the page before */
    char *gone_at;
};

SourceStage *source_stage_open(Store *store, const MemberSource *source, GError **error)
{
    int64_t list;
    if (!list_key(store, source->list_id, &list, error) || !store_script(store, STAGE, error) ||
        !store_script(store, "BEGIN", error))
        return NULL;
    static const RowSetKind lines = {"INSERT INTO source_line (folded, email, lower, name) VALUES",
                                     "ON CONFLICT (folded) DO NOTHING", 4};
    SourceStage *stage = g_new(SourceStage, 1);
    *stage = (SourceStage){store, list, source->key, row_set_new(store, &lines), true, g_strdup(""), g_strdup("")};
    return stage;
}

void source_stage_free(SourceStage *stage)
{
    if (!stage)
        return;
    if (stage->open)
        store_script(stage->store, "ROLLBACK", NULL);
    store_script(stage->store, "DROP TABLE IF EXISTS source_line", NULL);
    row_set_free(stage->lines);
    g_free(stage->fresh_at);
    g_free(stage->gone_at);
    g_free(stage);
}

bool source_stage_add(SourceStage *stage, const char *address, const char *name, GError **error)
{
    g_autofree char *folded = email_folded_to_add(stage->store, address, error), *bare = mailbox_bare(address);
    g_autofree char *lower = folded ? g_utf8_strdown(bare, -1) : NULL, *clean = email_clean_name(name);
    return folded && row_set_add(stage->lines, error, TEXT(folded), TEXT(bare), TEXT(lower), TEXT(clean));
}

bool source_stage_add_list(SourceStage *stage, const char *list_id, GError **error)
{
    int64_t list;
    return list_key(stage->store, list_id, &list, error) &&
           query_run(stage->store, error, NULL,
                     "INSERT INTO source_line (folded, email, lower, name) SELECT folded, email, lower(email), "
                     "given_name FROM member WHERE list = $1 AND role = 0 ORDER BY folded, by_person "
                     "ON CONFLICT (folded) DO NOTHING",
                     INTEGER(list));
}

bool source_stage_close(SourceStage *stage, SourceCounts *counts, GError **error)
{
    if (!row_set_end(stage->lines, error) || !store_script(stage->store, "COMMIT", error))
        return false;
    stage->open = false;
    g_autoptr(Query) query = query_open(
        stage->store, error,
        "SELECT (SELECT count(*) FROM source_line), (SELECT count(*) FROM member_source WHERE source = $1), "
        "(SELECT count(*) FROM member_source s WHERE s.source = $1 AND NOT EXISTS "
        "(SELECT 1 FROM source_line l WHERE l.folded = s.folded))",
        INTEGER(stage->source));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *counts = (SourceCounts){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2)};
    return true;
}

static void fresh_free(void *data)
{
    SourceFresh *fresh = data;
    g_free(fresh->folded);
    g_free(fresh->address);
    g_free(fresh->name);
    g_free(fresh->log_way);
    g_free(fresh->email);
    g_free(fresh);
}

static void *read_fresh(Query *query)
{
    SourceFresh *fresh = g_new0(SourceFresh, 1);
    *fresh = (SourceFresh){.folded = g_strdup(query_text(query, 0)),
                           .address = g_strdup(query_text(query, 1)),
                           .name = g_strdup(query_text(query, 2)),
                           .left = query_integer(query, 6) != 0,
                           .known = query_is_null(query, 9) ? 0 : query_integer(query, 9),
                           .person = query_is_null(query, 9) ? 0 : query_integer(query, 10),
                           .email = g_strdup(query_text(query, 11))};
    bool given = !query_is_null(query, 4); /* by another source, whose membership may have moved to another address */
    if (given || !query_is_null(query, 3))
        fresh->member = query_integer(query, given ? 4 : 3);
    fresh->made = !query_is_null(query, 5) && query_integer(query, 5) != 0;
    const char *after = query_text(query, 8);
    if (!query_is_null(query, 7) && g_strcmp0(after, "member") != 0 && g_strcmp0(after, SOURCE_WAY) != 0) {
        fresh->log_at = query_integer(query, 7);
        fresh->log_way = g_strdup(after ? after : "");
    }
    return fresh;
}

/* A server that has not looked yet how many rows there are may join each with each; a subquery for one value is no
 * join, and is answered by an index. */
#define OTHER(column) \
    "(SELECT o." column " FROM member_source o WHERE o.list = $1 AND o.folded = l.folded ORDER BY o.source LIMIT 1)"
/* By the name alone: all other rows of the list may be of that kind. */
#define LOGGED(column)                                                                                             \
    "(SELECT g." column " FROM list_log g WHERE g.name = l.lower AND g.list + 0 = $1 AND g.kind || '' = 'member' " \
    "ORDER BY g.key DESC LIMIT 1)"
#define KNOWN(column) "(SELECT a." column " FROM address a WHERE a.folded = l.folded)"
#define THERE \
    "(SELECT m.key FROM member m WHERE m.list = $1 AND m.role = 0 AND m.folded = l.folded ORDER BY m.by_person LIMIT 1)"
/* Did a source make the membership, by whatever address? */
#define MADE "(SELECT max(o.made) FROM member_source o WHERE o.member = COALESCE(" OTHER("member") ", " THERE "))"

#define FRESH \
    "SELECT l.folded, l.email, l.name, " THERE ", " OTHER("member") ", " MADE ", " \
    "(SELECT count(*) FROM source_left x WHERE x.list = $1 AND x.folded = l.folded), " LOGGED("made_at") ", " \
    LOGGED("after") ", " KNOWN("key") ", " KNOWN("person") ", " KNOWN("email") " FROM source_line l " \
    "WHERE l.folded > $3 AND (SELECT count(*) FROM member_source s WHERE s.list = $1 AND s.folded = l.folded AND " \
    "s.source = $2) = 0 ORDER BY l.folded LIMIT $4"

GPtrArray *source_stage_fresh(SourceStage *stage, GError **error)
{
    g_autoptr(Query) query = query_open(stage->store, error, FRESH, INTEGER(stage->list), INTEGER(stage->source),
                                        TEXT(stage->fresh_at), INTEGER(SOURCE_PAGE));
    g_autoptr(GPtrArray) page = row_collect(query, read_fresh, fresh_free, error);
    if (page && page->len > 0) {
        const SourceFresh *last = page->pdata[page->len - 1];
        g_free(stage->fresh_at);
        stage->fresh_at = g_strdup(last->folded);
    }
    return g_steal_pointer(&page);
}

static const RowField gone_row[] = {ROW(SourceGone, folded), ROW(SourceGone, member), ROW(SourceGone, member_folded),
                                    ROW(SourceGone, address)};

static void gone_free(void *gone)
{
    row_clear(gone_row, gone);
    g_free(gone);
}

/* A member who took another address may be given by both, and goes with the last one by which a source made it. */
#define KEPT_BY                                                                                           \
    "(SELECT count(*) FROM member_source o WHERE o.member = s.member AND (o.source <> $1 OR (o.made = 1 " \
    "AND o.folded > s.folded) OR (SELECT count(*) FROM source_line k WHERE k.folded = o.folded) > 0))"

GPtrArray *source_stage_gone(SourceStage *stage, GError **error)
{
    g_autoptr(Query) query = query_open(
        stage->store, error,
        "SELECT s.folded, COALESCE((SELECT m.key FROM member m WHERE m.key = s.member AND s.made = 1 AND " KEPT_BY
        " = 0), 0), "
        "(SELECT m.folded FROM member m WHERE m.key = s.member), (SELECT m.email FROM member m WHERE m.key = s.member) "
        "FROM member_source s WHERE s.source = $1 AND s.folded > $2 AND "
        "(SELECT count(*) FROM source_line l WHERE l.folded = s.folded) = 0 ORDER BY s.folded LIMIT $3",
        INTEGER(stage->source), TEXT(stage->gone_at), INTEGER(SOURCE_PAGE));
    g_autoptr(GPtrArray) page = row_all(query, SourceGone, gone_row, gone_free, error);
    if (page && page->len > 0) {
        const SourceGone *last = page->pdata[page->len - 1];
        g_free(stage->gone_at);
        stage->gone_at = g_strdup(last->folded);
    }
    return g_steal_pointer(&page);
}

/* The rows of the page, which is not empty. */
static bool forget(SourceStage *stage, GPtrArray *gone, GError **error)
{
    const SourceGone *first = gone->pdata[0], *last = gone->pdata[gone->len - 1];
    return query_run(stage->store, error, NULL,
                     "DELETE FROM member_source WHERE source = $1 AND folded >= $2 AND folded <= $3 AND "
                     "(SELECT count(*) FROM source_line l WHERE l.folded = member_source.folded) = 0",
                     INTEGER(stage->source), TEXT(first->folded), TEXT(last->folded));
}

bool source_stage_drop(SourceStage *stage, GPtrArray *gone, GError **error)
{
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(OldMembership));
    for (guint at = 0; at < gone->len; at++) {
        const SourceGone *one = gone->pdata[at];
        const OldMembership old = {one->member, one->member_folded};
        if (one->member != 0)
            g_array_append_val(members, old);
    }
    return gone->len == 0 || STORE_WRITE(stage->store, error,
                                         forget(stage, gone, error) &&
                                             member_remove_all(stage->store, stage->list, ROLE_MEMBER, members, error));
}
