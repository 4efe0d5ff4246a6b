/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/lost_spool.h"

#include "store/hosts/host.h"
#include "store/outbox.h"
#include "store/row.h"
#include "store/store_internal.h"

/* A held post is kept, and so is its Message-ID; the same for one that waits for its time. */
#define IS_LOST(row)                                                                                                   \
    row ".spool = $1 AND " row ".seen_at >= $2 AND NOT EXISTS (SELECT 1 FROM held WHERE held.list = " row ".list AND " \
        "held.spool = " row ".spool AND held.message_id = " row ".message_id) AND NOT EXISTS (SELECT 1 FROM "          \
        "scheduled WHERE scheduled.list = " row ".list AND scheduled.message_id = " row ".message_id)"
/* The notice, or the letter that asked the sender, may have been in the spool. */
#define IS_UNTOLD "held.spool = $1 AND held.held_at >= $2 AND (held.told <> 0 OR held.asked_until > 0)"

/* The first members of the list may have it, those of the block do not. */
#define IS_OF_BLOCK                                                                                                  \
    "(list, message_id) IN (SELECT list.key, handed.message_id FROM handed JOIN list ON list.list_id = handed.list " \
    "WHERE handed.spool = $1 AND handed.handed_at >= $2 AND handed.queue = 'out')"
#define FIND_HANDED(queue)                                                                                    \
    "SELECT list, message_id, handed_at FROM handed WHERE spool = $1 AND handed_at >= $2 AND queue = '" queue \
    "' ORDER BY handed_at, list, message_id"

/* Of find, the columns are list, name and time. $1 is the id of the spool or the name of the host, $2 the time. */
static const struct {
    const char *kind;
    bool of_host;            /* else of the spool */
    bool timed;              /* it has $2 */
    const char *find, *mend; /* mend may be NULL: host_remove() does it */
} kinds[] = {
    {"post", false, true,
     "SELECT list.list_id, m.message_id, m.seen_at FROM message_id AS m JOIN list ON list.key = m.list "
     "WHERE " IS_LOST("m") " ORDER BY m.seen_at, list.list_id, m.message_id",
     "DELETE FROM message_id WHERE " IS_LOST("message_id")},
    {"block", false, true, FIND_HANDED("out"), "DELETE FROM message_id WHERE " IS_OF_BLOCK},
    /* A host that holds a copy, for the answer was lost, works it: nobody has noted it. */
    {"archive", false, true, FIND_HANDED("archive"),
     "DELETE FROM effect WHERE entry IN (SELECT entry FROM handed WHERE spool = $1 AND handed_at >= $2)"},
    {"notice", false, true,
     "SELECT list.list_id, held.message_id, held.held_at FROM held JOIN list ON list.key = held.list "
     "WHERE " IS_UNTOLD " ORDER BY held.number",
     "UPDATE held SET told = 0, asked_until = 0, token = NULL WHERE " IS_UNTOLD},
    {"digest", true, false,
     "SELECT list.list_id, 'volume ' || CAST(i.volume AS TEXT) || ', number ' || CAST(i.number AS TEXT), i.made_at "
     "FROM digest_issue AS i JOIN list ON list.key = i.list WHERE i.host = $1 ORDER BY i.made_at",
     NULL},
    {"parts", true, false,
     "SELECT list.list_id, s.sender || ' ' || s.id, s.opened_at FROM fragment_set AS s "
     "JOIN list ON list.key = s.list WHERE s.host = $1 AND s.state < 2 AND s.settled = 0 ORDER BY s.opened_at",
     "DELETE FROM fragment_set WHERE host = $1"},
    {"letters", false, false,
     "SELECT '', replace(queues, '" OUTBOX_KEPT " ', ''), made_at FROM outbox_unit "
     "WHERE spool = $1 AND given_up = 0 ORDER BY made_at",
     "DELETE FROM outbox_unit WHERE spool = $1"},
    {"request", false, false,
     "SELECT '', entry, min(made_at) FROM outbox WHERE spool = $1 AND entry LIKE '%:%' " /* the others are of units */
     "GROUP BY entry ORDER BY 3",
     "DELETE FROM outbox WHERE spool = $1"},
};

static const RowField thing_row[] = {ROW(LostThing, list_id), ROW(LostThing, name), ROW(LostThing, time)};

static void thing_free(void *thing)
{
    row_free(thing_row, (LostThing *)thing);
}

void lost_spool_clear(LostSpool *lost)
{
    g_clear_pointer(&lost->state, g_free);
    g_clear_pointer(&lost->things, g_ptr_array_unref);
}

static bool find(Store *store, size_t kind, const Value *values, GPtrArray *things, GError **error)
{
    g_autoptr(Query) query = query_start(store, error, kinds[kind].find, values, kinds[kind].timed ? 2 : 1);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        LostThing *thing = g_new0(LostThing, 1);
        thing->kind = kinds[kind].kind;
        row_read(query, 0, thing_row, thing);
        g_ptr_array_add(things, thing);
    }
    return step == STEP_DONE;
}

/* A row of `handed`, if the condition holds and the entry has none. */
#define NOTE_IF(condition)                                                                                 \
    "INSERT INTO handed (entry, spool, queue, list, message_id, handed_at) SELECT $1, $2, $3, $4, $5, $6 " \
    "WHERE " condition " ON CONFLICT DO NOTHING"

static bool note(Store *store, const char *sql, const HandedEntry *handed, GError **error)
{
    return query_run(store, error, NULL, sql, TEXT(handed->entry), TEXT(handed->spool), TEXT(handed->queue),
                     TEXT(handed->list), TEXT(handed->message_id), INTEGER(handed->time));
}

bool lost_spool_note(Store *store, const HandedEntry *handed, GError **error)
{
    return note(store, NOTE_IF("1 = 1"), handed, error);
}

bool lost_spool_note_taken(Store *store, const HandedEntry *handed, GError **error)
{
    return note(store, NOTE_IF("NOT EXISTS (SELECT 1 FROM effect WHERE entry = $1)"), handed, error);
}

bool lost_spool_note_back(Store *store, const char *entry, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM handed WHERE entry = $1", TEXT(entry));
}

bool lost_spool_remove(Store *store, const char *name, bool dry, LostSpool *lost, GError **error)
{
    *lost = (LostSpool){.things = g_ptr_array_new_with_free_func(thing_free)};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    g_autoptr(Host) host = host_find_dead(store, name, error);
    if (!host)
        return false;
    for (size_t kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        const Value values[] = {TEXT(kinds[kind].of_host ? host->name : host->spool), INTEGER(host->empty_at)};
        if (!find(store, kind, values, lost->things, error) ||
            (!dry && kinds[kind].mend &&
             !query_all(store, error, NULL, kinds[kind].mend, values, kinds[kind].timed ? 2 : 1)))
            return false;
    }
    lost->state = g_steal_pointer(&host->state);
    lost->seen_at = host->seen_at;
    lost->since = host->empty_at;
    return (dry || (query_run(store, error, NULL, "DELETE FROM handed WHERE spool = $1", TEXT(host->spool)) &&
                    fragment_recount(store, error) && host_remove(store, name, error))) &&
           write_end(&write, error);
}
