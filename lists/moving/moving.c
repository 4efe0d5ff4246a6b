/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/moving.h"

#include "base/clock.h"
#include "base/fail.h"
#include "lists/making/mta_maps.h"
#include "lists/moving/moving_internal.h"
#include "lists/people/subscription.h"

/* Others who want to write wait so long, and no longer. Shorter units take more time in all: the rows of a list lie all
 * over the store's tables, and each unit writes every page that it touched. */
#define UNIT_TIME (2 * CLOCK_SECOND)
#define ROWS_LOOKED 256 /* between two looks at the clock */
#define ROWS_SHOWN 500

const char *moving_kind_text(MovingKind kind)
{
    static const char *const texts[MOVING_KINDS] = {
        "domains",           "addresses",           "lists",      "settings",
        "members",           "kept out of sources", "bans",       "header matches",
        "templates",         "held posts",          "requests",   "letters to moderators",
        "posts for digests", "automatic answers",   "other rows",
    };
    return texts[kind];
}

const char *moving_note_text(MovingNote note)
{
    static const char *const texts[MOVING_NOTES] = {"left out", "no equal here", "changed", "of the site",
                                                    "needs --site"};
    return texts[note];
}

Moving *moving_new(const MovingSite *site, const char *source)
{
    Moving *moving = g_new0(Moving, 1);
    moving->site = *site;
    moving->actor = (Actor){.role = ACTOR_OPERATOR, .door = DOOR_SHELL};
    moving->source = g_strdup(source);
    moving->of_site = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return moving;
}

void moving_free(Moving *moving)
{
    if (!moving)
        return;
    work_free(moving->work);
    g_clear_pointer(&moving->domains, g_hash_table_unref);
    g_hash_table_unref(moving->of_site);
    g_free(moving->source);
    g_free(moving->part);
    g_free(moving->list_id);
    g_free(moving);
}

const WorkSite *moving_site(const Moving *moving)
{
    return moving->site.site;
}

const MovingCount *moving_counts(const Moving *moving)
{
    return moving->counts;
}

uint64_t moving_notes(const Moving *moving, MovingNote note)
{
    return moving->notes[note];
}

void moving_tell(Moving *moving, MovingNote note, const char *place, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    moving->notes[note]++;
    /* Refusals of settings and of texts begin with the name, too. */
    size_t length = key ? strlen(key) : 0;
    bool named = length > 0 && strncmp(text, key, length) == 0 && g_str_has_prefix(text + length, ": ");
    moving->site.tell(note, place ? place : "", key ? key : "", named ? text + length + 2 : text, moving->site.data);
}

/* ---- what is the site's ---- */

bool moving_may_site(Moving *moving, const char *kind, const char *key)
{
    if (moving->site.of_site && key) {
        moving_tell(moving, MOVING_OF_SITE, "", kind, "%s", key);
        return true;
    }
    uint64_t *count = g_hash_table_lookup(moving->of_site, kind);
    if (!count)
        g_hash_table_insert(moving->of_site, g_strdup(kind), count = g_new0(uint64_t, 1));
    ++*count;
    return moving->site.of_site;
}

void moving_tell_site(Moving *moving)
{
    g_autoptr(GList) kinds = g_list_sort(g_hash_table_get_keys(moving->of_site), (GCompareFunc)strcmp);
    for (GList *at = kinds; at; at = at->next)
        moving_tell(moving, moving->site.of_site ? MOVING_OF_SITE : MOVING_WITHHELD, "", at->data, "%" G_GUINT64_FORMAT,
                    *(uint64_t *)g_hash_table_lookup(moving->of_site, at->data));
}

unsigned moving_facts(const Moving *moving, unsigned facts)
{
    if (moving->site.of_site)
        return facts;
    bool vouched = facts & (FACT_VERIFIED | FACT_CONFIRMED);
    return (facts & ~(unsigned)FACT_EVERY_ROLE) | FACT_WORDED | (vouched ? FACT_VOUCHED : 0);
}

Store *moving_trial_of(const Moving *moving)
{
    return moving->site.there != moving->site.store ? moving->site.there : NULL;
}

/* ---- units ---- */

Work *moving_work(Moving *moving, GError **error)
{
    if (moving->work)
        return moving->work;
    g_autoptr(Work) work = work_new(moving->site.store, moving->site.site, &moving->actor);
    if (!work_begin(work, error))
        return NULL;
    moving->rows_in_unit = 0;
    moving->commit_at = clock_monotonic() + UNIT_TIME;
    return moving->work = g_steal_pointer(&work);
}

static void drop_draft(void *data, Draft *draft)
{
    (void)data;
    draft_free(draft);
}

bool moving_commit(Moving *moving, GError **error)
{
    if (moving->work) {
        if (!moving_log_came(moving, error))
            return false;
        g_autoptr(Work) work = g_steal_pointer(&moving->work);
        if (!moving->site.spool)
            work_into(work, drop_draft, NULL);
        if (!work_commit(work, moving->site.spool, error))
            return false;
    }
    memcpy(moving->committed, moving->counts, sizeof moving->counts); /* things that are there open no unit */
    return true;
}

/* Forget the part that was begun. Nothing of it was written, so it does not count as whole. */
static void forget_part(Moving *moving)
{
    g_clear_pointer(&moving->part, g_free);
    g_clear_pointer(&moving->list_id, g_free);
}

void moving_undo(Moving *moving)
{
    g_clear_pointer(&moving->work, work_free);
    g_clear_pointer(&moving->domains, g_hash_table_unref);
    memcpy(moving->counts, moving->committed, sizeof moving->counts);
    memset(moving->came, 0, sizeof moving->came);
    forget_part(moving);
}

bool moving_step(Moving *moving, GError **error)
{
    if (++moving->rows % ROWS_SHOWN == 0 && moving->site.progress)
        moving->site.progress(moving->rows, moving->site.data);
    bool may = ++moving->rows_in_unit % ROWS_LOOKED == 0 && moving->way == MOVING_IN_PORTIONS && !moving->site.at_once;
    return !may || clock_monotonic() < moving->commit_at || moving_commit(moving, error);
}

bool moving_try(Moving *moving, Work **work, GError **error)
{
    *work = moving_work(moving, error);
    return *work && store_savepoint(moving->site.store, error);
}

bool moving_judge(Moving *moving, bool done, GError *refusal, const MovingThing *thing, bool *in, GError **error)
{
    g_autoptr(GError) why = refusal;
    if (in)
        *in = done;
    if (done)
        moving->counts[thing->kind].in++;
    else if (g_error_matches(why, FAIL, FAIL_EXISTS))
        moving->counts[thing->kind].there++;
    else if (g_error_matches(why, FAIL, FAIL_NEVER) || g_error_matches(why, FAIL, FAIL_MISSING) ||
             g_error_matches(why, FAIL, FAIL_CONFIG))
        moving_tell(moving, MOVING_LEFT_OUT, thing->place, thing->key, "%s", why->message);
    else
        return fail_with(error, &why);
    return true;
}

bool moving_settle(Moving *moving, bool done, GError *refusal, const MovingThing *thing, bool *in, GError **error)
{
    store_savepoint_end(moving->site.store, done);
    return moving_judge(moving, done, refusal, thing, in, error) && moving_step(moving, error);
}

/* ---- parts ---- */

static char *mark_of(const Moving *moving, const char *part, const char *list_id)
{
    return g_strdup_printf("%s: %s%s%s", moving->source, part, list_id ? " of " : "", list_id ? list_id : "");
}

bool moving_is_whole(Moving *moving, const char *part, const char *list_id, bool *whole, GError **error)
{
    g_autofree char *mark = mark_of(moving, part, list_id);
    *whole = false;
    return !moving->site.there || carry_find_part(moving->site.there, mark, whole, error);
}

bool moving_begin(Moving *moving, const char *part, const char *list_id, MovingWay way, bool *whole, GError **error)
{
    g_autofree char *mark = mark_of(moving, part, list_id);
    if (!moving_is_whole(moving, part, list_id, whole, error))
        return false;
    g_free(moving->part);
    g_free(moving->list_id);
    moving->part = *whole ? NULL : g_steal_pointer(&mark);
    moving->list_id = *whole ? NULL : g_strdup(list_id);
    moving->way = way;
    return true;
}

bool moving_find_list(Moving *moving, const char *list_id, List **list, GError **error)
{
    bool whole;
    g_autoptr(GError) missing = NULL;
    g_autofree char *mark = mark_of(moving, "list", list_id);
    *list = NULL;
    if (!carry_find_part(moving->site.store, mark, &whole, error))
        return false;
    *list = whole ? list_by_id(moving->site.store, list_id, &missing) : NULL;
    return !missing || fail_unless(error, FAIL_MISSING, &missing);
}

void moving_there(Moving *moving, MovingKind kind)
{
    moving->counts[kind].there++;
}

bool moving_end(Moving *moving, GError **error)
{
    if (!moving_work(moving, error) || !moving_log_came(moving, error))
        return false;
    g_autofree char *part = g_steal_pointer(&moving->part), *list_id = g_steal_pointer(&moving->list_id);
    return carry_note_part(moving->site.store, part, list_id, error) &&
           (moving->site.at_once || clock_monotonic() < moving->commit_at || moving_commit(moving, error));
}

bool moving_make(Moving *moving, const char *list_id, MovingMake *make, void *data, bool *in, GError **error)
{
    List *made = NULL;
    if (!moving_begin(moving, "list", list_id, MOVING_AT_ONCE, in, error))
        return false;
    if (*in) {
        moving_there(moving, MOVING_LISTS);
        return true;
    }
    if (!make(data, &made, error))
        return false;
    *in = made != NULL;
    list_free(made);
    if (*in)
        return moving_end(moving, error);
    forget_part(moving);
    return true;
}

bool moving_finish(Moving *moving, GError **error)
{
    Work *work = moving_work(moving, error);
    if (!work)
        return false;
    if (moving->counts[MOVING_LISTS].in > 0)
        mta_maps_ask(work);
    return moving_commit(moving, error);
}
