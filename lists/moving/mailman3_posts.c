/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Held posts and digests of Mailman 3. */
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/file.h"
#include "lists/moving/mailman3_internal.h"
#include "lists/moving/mmdf.h"
#include "lists/moving/python_mail.h"

/* ---- values of a request ---- */

/* The value of a key of what was pended, as text: a JSON string, or what stands there. NULL: there is none. g_free() */
static bool take_value(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    GHashTable *values = data;
    const char *key = foreign_text(rows, 0), *text = foreign_text(rows, 1);
    (void)from, (void)error;
    if (!key || !text)
        return true;
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    g_hash_table_insert(values, g_strdup(key), g_strdup(json_is_string(json) ? json_string_value(json) : text));
    json_decref(json);
    return true;
}

/* ---- held posts ---- */

/* The letter to the moderators about it, whose answer decides. */
static bool take_ticket(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const Held *held = data;
    int64_t until = mm_time(foreign_text(rows, 1));
    const char *token = foreign_text(rows, 0);
    return !token || until <= clock_now() ||
           moving_ticket(from->moving, held->list_id, held->number, token, until, error);
}

static const char letter_sql[] =
    "SELECT `p.token`, `p.expiration_date` FROM pended p "
    "JOIN pendedkeyvalue t ON t.pended_id = p.id AND t.\"key\" = 'type' AND t.value = 'held message' "
    "JOIN pendedkeyvalue i ON i.pended_id = p.id AND i.\"key\" = 'id' WHERE i.value = $1";

/* Tell what is wrong with one thing and go on, unless the system failed. */
static bool pass_over(Mailman3 *from, const List *list, const char *key, GError *why, GError **error)
{
    if (g_error_matches(why, FAIL, FAIL_LATER)) {
        g_propagate_error(error, why);
        return false;
    }
    moving_tell(from->moving, MOVING_LEFT_OUT, list->list_id, key, "%s", why->message);
    g_error_free(why);
    return true;
}

static bool take_held(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const List *list = data;
    GError *why = NULL;
    g_autofree char *sender = NULL;
    const char *number = foreign_text(rows, 0), *id = foreign_text(rows, 1), *token = foreign_text(rows, 2);
    const char *path = foreign_text(rows, 3);
    g_autofree char *key = g_strdup_printf("held post %s %s", number, id ? id : "");
    if (!token || !path || strstr(path, "..")) {
        moving_tell(from->moving, MOVING_LEFT_OUT, list->list_id, key, "%s",
                    token ? "its message is not among those that are kept" : "nothing is kept about it");
        return true;
    }
    g_autoptr(GHashTable) values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (!mm_each(from,
                 "SELECT `k.\"key\"`, `k.value` FROM pended p "
                 "JOIN pendedkeyvalue k ON k.pended_id = p.id WHERE p.token = $1",
                 token, take_value, values, error))
        return false;

    /* The message is a file of VAR/messages, in which Python has kept its objects. */
    g_autofree char *whole = g_build_filename(from->var, "messages", path, NULL);
    g_autoptr(GBytes) bytes = moving_read_file(from->var, whole, &why);
    size_t length;
    const void *octets = bytes ? g_bytes_get_data(bytes, &length) : NULL;
    g_autoptr(Pickle) pickle = bytes ? pickle_read(octets, length, python_mail_classes, &why) : NULL;
    g_autoptr(GBytes) message = pickle ? python_mail_bytes(pickle_root(pickle), &sender, &why) : NULL;
    if (bytes && !message)
        g_prefix_error(&why, "%s: ", whole);
    if (!message)
        return pass_over(from, list, key, why, error);

    const char *by = g_hash_table_lookup(values, "_mod_sender"), *reason = g_hash_table_lookup(values, "_mod_reason");
    int64_t held_at = mm_time(g_hash_table_lookup(values, "_mod_hold_date"));
    Held held = {.list_id = list->list_id,
                 .sender = (char *)(by ? by : ""),
                 .reason = (char *)(reason ? reason : ""),
                 .held_at = held_at ? held_at : clock_now(),
                 .message = message};
    return moving_post(from->moving, list, &held, sender, error) &&
           (held.number == 0 || mm_each(from, letter_sql, number, take_ticket, &held, error));
}

bool mm_held(Mailman3 *from, const List *list, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "held posts", list->list_id, MOVING_IN_PORTIONS, &whole, error) &&
           (whole || (mm_each(from,
                              "SELECT `r.id`, `r.\"key\"`, `r.data_hash`, "
                              "`(SELECT min(m.path) FROM message m WHERE m.message_id = r.\"key\")`"
                              " FROM _request r JOIN mailinglist l ON l.id = r.mailing_list_id WHERE l.list_id = $1 "
                              "AND r.request_type = 1 ORDER BY r.id",
                              list->list_id, take_held, (void *)list, error) &&
                      moving_end(from->moving, error)));
}

/* ---- digests ---- */

typedef struct DigestFile {
    Mailman3 *from;
    const List *list;
    int64_t time; /* of the file */
} DigestFile;

static bool take_post(GBytes *post, void *data, GError **error)
{
    const DigestFile *file = data;
    return moving_digest_post(file->from->moving, file->list->list_id, post, file->time, error);
}

static bool take_last(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const List *list = data;
    int64_t mode = mm_integer(foreign_text(rows, 1), 0);
    const char *address = foreign_text(rows, 0);
    return !address || mode < 2 || mode > MODE_SUMMARY_DIGESTS + 1 ||
           moving_last_digest(from->moving, list->list_id, address, (DeliveryMode)(mode - 1), error);
}

bool mm_digest(Mailman3 *from, const List *list, GError **error)
{
    bool whole;
    GError *why = NULL;
    struct stat status;
    if (!moving_begin(from->moving, "digest", list->list_id, MOVING_AT_ONCE, &whole, error))
        return false;
    if (whole)
        return true;
    g_autofree char *path = g_build_filename(from->var, "lists", list->list_id, "digest.mmdf", NULL);
    bool there = moving_stat(from->var, path, &status);
    DigestFile file = {from, list, there ? status.st_mtim.tv_sec * CLOCK_SECOND : 0};
    g_autoptr(GBytes) bytes = moving_read_file(from->var, path, &why);
    bool missing = g_error_matches(why, FAIL, FAIL_MISSING);
    if (missing)
        g_error_free(why);
    else if (!(bytes ? mmdf_each(bytes, take_post, &file, error) : pass_over(from, list, "digest", why, error)))
        return false;
    return mm_each(from,
                   "SELECT `a.email`, `o.delivery_mode` FROM onelastdigest o "
                   "JOIN address a ON a.id = o.address_id JOIN mailinglist l ON l.id = o.mailing_list_id "
                   "WHERE l.list_id = $1",
                   list->list_id, take_last, (void *)list, error) &&
           moving_end(from->moving, error);
}
