/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/digest_send.h"

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "store/lists/list_setting.h"
#include "switchboard/meta.h"

#define DIGEST_QUEUE "digest"

/* ---- the calendar ---- */

/* The hour of sending on the first day of the period that holds day, moved by so many periods. */
static int64_t sending_time(const List *list, GDateTime *day, int periods)
{
    int year, month, number;
    g_autoptr(GDateTime) moved = list->settings->digest_period == PERIOD_MONTHLY  ? g_date_time_add_months(day, periods)
                                 : list->settings->digest_period == PERIOD_WEEKLY ? g_date_time_add_weeks(day, periods)
                                                                        : g_date_time_add_days(day, periods);
    g_autoptr(GDateTime) first = list->settings->digest_period == PERIOD_WEEKLY
                                     ? g_date_time_add_days(moved, 1 - g_date_time_get_day_of_week(moved))
                                     : g_date_time_ref(moved);
    g_date_time_get_ymd(first, &year, &month, &number);
    if (list->settings->digest_period == PERIOD_MONTHLY)
        number = 1;
    g_autoptr(GDateTime) at = g_date_time_new_local(year, month, number, list->settings->digest_hour, 0, 0);
    return g_date_time_to_unix(at) * CLOCK_SECOND;
}

/* The first day of the month, so that months can be added whatever their lengths; else the day itself. */
static GDateTime *day_of(const List *list, int64_t now)
{
    g_autoptr(GDateTime) day = g_date_time_new_from_unix_local(now / CLOCK_SECOND);
    return list->settings->digest_period == PERIOD_MONTHLY
               ? g_date_time_add_days(day, 1 - g_date_time_get_day_of_month(day))
               : g_steal_pointer(&day);
}

int64_t digest_send_last_time(const List *list, int64_t now)
{
    g_autoptr(GDateTime) day = day_of(list, now);
    int64_t at = sending_time(list, day, 0);
    return at <= now ? at : sending_time(list, day, -1);
}

int64_t digest_send_next_time(const List *list, int64_t now)
{
    g_autoptr(GDateTime) day = day_of(list, now);
    int64_t at = sending_time(list, day, 0);
    return at > now ? at : sending_time(list, day, 1);
}

/* A number that differs between two times of different volumes. */
static int volume_of(const List *list, int64_t time)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_local(time / CLOCK_SECOND);
    int year = g_date_time_get_year(at), month = g_date_time_get_month(at);
    switch ((DigestVolume)list->settings->digest_volume_frequency) {
    case VOLUME_YEARLY:
        return year;
    case VOLUME_QUARTERLY:
        return year * 4 + (month - 1) / 3;
    case VOLUME_WEEKLY:
        return g_date_time_get_week_numbering_year(at) * 100 + g_date_time_get_week_of_year(at);
    case VOLUME_DAILY:
        return year * 1000 + g_date_time_get_day_of_year(at);
    case VOLUME_MONTHLY:
        break;
    }
    return year * 12 + month - 1;
}

void digest_send_number(const List *list, const Digest *digest, int64_t now, int64_t *volume, int64_t *number)
{
    bool over = digest->sent_at > 0 && digest->next_number > 1 &&
                volume_of(list, digest->sent_at) != volume_of(list, now);
    *volume = digest->volume + over;
    *number = over ? 1 : digest->next_number;
}

/* ---- asking ---- */

/* The entry for the digest runner: its metadata say all, its text is for people. */
static void ask(Work *work, const char *list_id, int64_t before)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list_id);
    meta_set_string(meta, META_SHARD, list_id);
    meta_set_bool(meta, KEY_DIGEST_ASK, true);
    if (before > 0)
        meta_set_integer(meta, KEY_DIGEST_BEFORE, before);
    static const char text[] = "The posts that wait for this list's digest are to be sent.\r\n";
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new_static(text, sizeof text - 1));
    work_entry(work, DIGEST_QUEUE, meta, pieces, NULL);
}

bool digest_send_ask(Work *work, const List *list, int64_t *waiting, GError **error)
{
    g_auto(Digest) digest = {0};
    *waiting = 0;
    if (!digest_read(work_store(work), list->list_id, &digest, error))
        return false;
    *waiting = digest.waiting;
    if (digest.waiting > 0) {
        ask(work, list->list_id, 0);
        work_log(work, list->list_id, "result=digest-asked posts=%" G_GINT64_FORMAT, digest.waiting);
    }
    return true;
}

static bool note_waiting(const Digest *digest, void *list_ids)
{
    g_ptr_array_add(list_ids, g_strdup(digest->list_id));
    return true;
}

/* Came a post that waits before the last hour of sending? */
static bool is_due(const List *list, const Digest *digest, int64_t now)
{
    return list->settings->digest_send_periodic && digest->waiting > 0 &&
           digest->first_at < digest_send_last_time(list, now);
}

char **digest_send_lists(Store *store, int64_t now, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GStrvBuilder) due = g_strv_builder_new();
    if (!digest_each(store, note_waiting, all, error))
        return NULL;
    for (guint at = 0; at < all->len; at++) {
        g_autoptr(GError) fault = NULL;
        g_auto(Digest) digest = {0};
        g_autoptr(List) list = list_by_id(store, all->pdata[at], &fault);
        if (list && digest_read(store, list->list_id, &digest, &fault) && is_due(list, &digest, now))
            g_strv_builder_add(due, list->list_id);
        if (fault && !g_error_matches(fault, FAIL, FAIL_MISSING)) { /* a list that is gone meanwhile is none */
            g_propagate_error(error, g_steal_pointer(&fault));
            return NULL;
        }
    }
    return g_strv_builder_end(due);
}

bool digest_send_due(Work *work, const List *list, int64_t *posts, GError **error)
{
    g_auto(Digest) digest = {0};
    if (!digest_read(work_store(work), list->list_id, &digest, error))
        return false;
    if (!is_due(list, &digest, work_now(work)))
        return true;
    ask(work, list->list_id, digest_send_last_time(list, work_now(work)));
    *posts += digest.waiting;
    return true;
}

bool digest_send_bump(Work *work, const List *list, Digest *digest, GError **error)
{
    Store *store = work_store(work);
    g_auto(Digest) before = {0};
    if (!digest_read(store, list->list_id, &before, error) ||
        !digest_set_next(store, list->list_id, before.volume + 1, 1, error) ||
        !digest_read(store, list->list_id, digest, error))
        return false;
    work_log(work, list->list_id, "result=digest-volume volume=%" G_GINT64_FORMAT, digest->volume);
    return true;
}
