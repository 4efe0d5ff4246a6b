/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/sources/source.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "lists/change.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "store/people/ban.h"

#define RETRY (15 * 60 * CLOCK_SECOND) /* after a fault, if that is sooner than the interval */
#define EACH_MOST 100                  /* people of a page who have rows of their own in the log of the list */

typedef struct Refresh {
    const SourceRun *run;
    MemberSource *source;
    SourceResult *result;
    SourceStage *stage;
    List *list;
    GHashTable *domains;    /* of the site: addresses in them are looked up */
    GHashTable *ban_memory; /* base/pattern.h */
    bool bans;              /* there are any */
    bool silent;            /* owners are told nothing */
    int64_t now;
    Work *work;      /* the unit of the page */
    GPtrArray *came; /* addresses of the page, borrowed */
    GPtrArray *went;
} Refresh;

void source_result_clear(SourceResult *result)
{
    g_clear_error(&result->fault);
    g_clear_pointer(&result->bad_lines, g_free);
}

/* ---- the log ---- */

/* Tells programs outside of all, and the log of each or of all at once. */
static bool tell(const Refresh *refresh, GError **error)
{
    Work *work = refresh->work;
    const char *list_id = refresh->list->list_id;
    guint came = refresh->came->len, went = refresh->went->len;
    bool many = came + went > EACH_MOST, told = true;
    for (guint at = 0; at < came && told; at++)
        if (many)
            roster_tell(work, EVENT_MEMBER_JOINED, list_id, ROLE_MEMBER, refresh->came->pdata[at]);
        else
            told = roster_came(work, list_id, ROLE_MEMBER, refresh->came->pdata[at], error);
    for (guint at = 0; at < went && told; at++)
        if (many)
            roster_tell(work, EVENT_MEMBER_LEFT, list_id, ROLE_MEMBER, refresh->went->pdata[at]);
        else
            told = roster_left(work, list_id, refresh->went->pdata[at], SOURCE_WAY, error);
    if (!told || !many)
        return told;
    g_autofree char *before = g_strdup_printf("%u members", went), *after = g_strdup_printf("%u members", came);
    return change_log(work, list_id,
                      &(Change){.kind = LOG_SOURCE,
                                .name = refresh->source->name,
                                .before = went > 0 ? before : NULL,
                                .after = came > 0 ? after : NULL},
                      error);
}

/* ---- one page, in a unit of its own ---- */

/* Fills came and went. */
typedef bool Page(Refresh *refresh, bool *last, GError **error);

/* Until the last page, or the run is to end. */
static bool carry_out_all(Refresh *refresh, Page *page, GError **error)
{
    const SourceRun *run = refresh->run;
    g_autofree char *name = g_strdup_printf("source %s", refresh->source->name);
    Actor actor = *run->actor;
    actor.name = name;
    for (bool last = false; !last && !refresh->result->cut;) {
        g_autoptr(Work) work = work_new(run->store, run->site, &actor);
        refresh->work = work;
        g_ptr_array_set_size(refresh->came, 0);
        g_ptr_array_set_size(refresh->went, 0);
        if (!work_begin_people(work, refresh->list->list_id, error) ||
            !source_check_turn(run->store, refresh->source, error) || !page(refresh, &last, error) ||
            !run->commit(work, run->data, error))
            return false;
        refresh->result->joined += refresh->came->len;
        refresh->result->left += refresh->went->len;
        refresh->result->cut = run->alive && !run->alive(run->data);
    }
    return true;
}

static bool notice_left(Refresh *refresh, bool *last, GError **error)
{
    *last = true;
    return source_notice_left(refresh->run->store, refresh->list->list_id, refresh->now, error);
}

static bool is_barred(const Refresh *refresh, const char *address, bool *barred, GError **error)
{
    g_autofree char *ban = NULL, *why = NULL;
    const char *list_id = refresh->list->list_id;
    g_autoptr(Mailbox) mailbox = refresh->bans ? mailbox_new(address) : NULL;
    if (refresh->bans && !ban_check(refresh->run->store, list_id, mailbox, refresh->ban_memory, &ban, error))
        return false;
    if (own_address_may_be(refresh->domains, address) &&
        !own_address_bars(refresh->work, list_id, ROLE_MEMBER, address, &why, error))
        return false;
    *barred = ban || why;
    return true;
}

static bool take_page(Refresh *refresh, bool *last, GError **error)
{
    Store *store = refresh->run->store;
    g_autoptr(GPtrArray) page = source_stage_fresh(refresh->stage, error), take = g_ptr_array_new();
    if (!page)
        return false;
    *last = page->len < SOURCE_PAGE;
    for (guint at = 0; at < page->len; at++) {
        SourceFresh *fresh = page->pdata[at];
        bool is_member = fresh->member != 0, barred = !is_member && (fresh->left || fresh->log_at > 0);
        if (!is_member && fresh->log_at > 0 && !fresh->left && !source_keep_out(store, refresh->source, fresh, error))
            return false;
        if (!is_member && !barred && !is_barred(refresh, fresh->address, &barred, error))
            return false;
        refresh->result->kept_out += barred;
        if (!barred)
            g_ptr_array_add(take, fresh);
        if (!barred && !is_member)
            g_ptr_array_add(refresh->came, fresh->address);
    }
    if (!source_take(store, refresh->source, take, refresh->now, error))
        return false;
    for (guint at = 0; refresh->source->welcome && at < refresh->came->len; at++) {
        const TemplateValue values[] = {{"address", refresh->came->pdata[at]}, {0}};
        const ListLetter letter = {.template = "welcome", .values = values, .to = refresh->came->pdata[at]};
        if (!work_letter(refresh->work, refresh->list, &letter, error))
            return false;
    }
    return tell(refresh, error);
}

static bool drop_page(Refresh *refresh, bool *last, GError **error)
{
    g_autoptr(GPtrArray) page = source_stage_gone(refresh->stage, error);
    if (!page)
        return false;
    *last = page->len < SOURCE_PAGE;
    for (guint at = 0; at < page->len; at++) {
        const SourceGone *gone = page->pdata[at];
        if (gone->member != 0)
            g_ptr_array_add(refresh->went, gone->address);
    }
    return source_stage_drop(refresh->stage, page, error) && tell(refresh, error);
}

/* ---- the whole ---- */

/* Read the source into the stage. A fault of the source is in the result. */
static bool read_all(Refresh *refresh, bool empty, GError **error)
{
    SourceResult *result = refresh->result;
    SourceCounts counts;
    const SourceRun *run = refresh->run;
    if (!empty && !run->read(run, refresh->source, refresh->stage, result, &result->fault)) {
        result->cut = run->alive && !run->alive(run->data);
        if (result->cut)
            g_clear_error(&result->fault);
        return true;
    }
    if (!source_stage_close(refresh->stage, &counts, error))
        return false;
    result->given = counts.given;
    if (run->force || empty)
        return true;
    if (counts.missing > SOURCE_HANDFUL && counts.missing * 2 >= counts.before)
        fail(&result->fault, FAIL_RACE,
             "of %" G_GINT64_FORMAT " addresses that it gave, %" G_GINT64_FORMAT " are "
             "missing; if that is right: listrunner list source refresh --force %s %s",
             counts.before, counts.missing, refresh->list->posting_address, refresh->source->name);
    else if (counts.missing > 0 && result->bad > refresh->source->bad)
        /* A line in a wrong encoding, or with a slip, may be that of a member who is missing then. */
        fail(&result->fault, FAIL_RACE,
             "%" G_GINT64_FORMAT " lines are no addresses, more than before, and %" G_GINT64_FORMAT
             " addresses that it "
             "gave are missing; mend the lines, or if that is right: listrunner list source refresh --force %s %s",
             result->bad, counts.missing, refresh->list->posting_address, refresh->source->name);
    return true;
}

/* The owners are told when the source begins to fail, and when it works again. */
static bool tell_owners(const Refresh *refresh, Work *work, const char *before, GError **error)
{
    const MemberSource *source = refresh->source;
    bool fails = *source->fault, failed = *before;
    if (fails == failed || refresh->silent)
        return true;
    g_autofree char *place = source_shown(source), *owner = list_address(refresh->list, "owner"),
                    *bounces = list_address(refresh->list, "bounces"),
                    *given = g_strdup_printf("%" G_GINT64_FORMAT, source->given);
    g_auto(GStrv) lines = g_strsplit(source->bad_lines ? source->bad_lines : "", "\n", -1);
    g_autofree char *listed = g_strjoinv("\n    ", lines);
    g_autofree char *fault = g_strdup_printf("%s%s%s", source->fault, *listed ? "\n\n    " : "", listed);
    const TemplateValue values[] = {{"source", source->name},
                                    {"kind", source_kind_text((SourceKind)source->kind)},
                                    {"place", place},
                                    {fails ? "fault" : "given", fails ? fault : given},
                                    {0}};
    char **all = letter_owners(refresh->run->store, refresh->list, refresh->run->site->site_owner, error);
    const ListLetter letter = {.template = fails ? "source_failed" : "source_works",
                               .values = values,
                               .to = owner,
                               .recipients = all,
                               .envelope_sender = bounces};
    return all && work_letter(work, refresh->list, &letter, error);
}

static bool write_end(const Refresh *refresh, GError **error)
{
    const SourceRun *run = refresh->run;
    const SourceResult *result = refresh->result;
    MemberSource *source = refresh->source;
    g_autofree char *before = g_strdup(source->fault);
    int64_t now = clock_now(), interval = source->interval > 0 ? source->interval : run->interval;
    source->due_at = result->cut ? now : now + (result->fault ? MIN(interval, RETRY) : interval);
    if (!result->cut && !result->fault) {
        source->read_at = now;
        source->given = result->given;
        source->kept_out = result->kept_out;
        source->bad = result->bad;
    }
    if (!result->cut) {
        g_free(source->fault);
        g_free(source->bad_lines);
        source->fault = g_strdup(result->fault ? result->fault->message : "");
        source->bad_lines = g_strdup(result->bad_lines);
    }
    g_autoptr(Work) work = work_new(run->store, run->site, run->actor);
    return work_begin_people(work, refresh->list->list_id, error) && source_end(run->store, source, error) &&
           tell_owners(refresh, work, before, error) && run->commit(work, run->data, error);
}

static bool refresh_by(const SourceRun *run, MemberSource *source, bool empty, SourceResult *result, GError **error)
{
    Store *store = run->store;
    int64_t of_list, of_site;
    g_autoptr(GPtrArray) came = g_ptr_array_new(), went = g_ptr_array_new();
    g_autoptr(GHashTable) memory = pattern_memory_new(), domains = NULL;
    *result = (SourceResult){0};
    g_autoptr(List) list = list_by_id(store, source->list_id, error);
    if (!list || !source_begin(store, source, clock_now(), error))
        return false;
    g_autoptr(SourceStage) stage = source_stage_open(store, source, error);
    Refresh refresh = {.run = run,
                       .source = source,
                       .result = result,
                       .stage = stage,
                       .list = list,
                       .ban_memory = memory,
                       .silent = empty,
                       .now = source->tried_at,
                       .came = came,
                       .went = went};
    if (!stage || !read_all(&refresh, empty, error))
        return false;
    if (result->fault || result->cut) {
        g_clear_pointer(&stage, source_stage_free);
        return write_end(&refresh, error);
    }
    refresh.domains = domains = own_address_domains(store, error);
    if (!domains || !ban_count(store, list->list_id, &of_list, error) || !ban_count(store, NULL, &of_site, error))
        return false;
    refresh.bans = of_list + of_site > 0;
    return carry_out_all(&refresh, notice_left, error) && carry_out_all(&refresh, take_page, error) &&
           carry_out_all(&refresh, drop_page, error) && write_end(&refresh, error);
}

bool source_refresh(const SourceRun *run, MemberSource *source, SourceResult *result, GError **error)
{
    return refresh_by(run, source, false, result, error);
}

bool source_empty(const SourceRun *run, MemberSource *source, SourceResult *result, GError **error)
{
    return refresh_by(run, source, true, result, error);
}
