/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Held posts, digests, and requests to join and to leave that wait in Mailman 3, and what cannot come along. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/file.h"
#include "lists/moving/mailman3_internal.h"
#include "lists/moving/mmdf.h"
#include "lists/moving/python_mail.h"
#include "lists/people/leave.h"
#include "store/people/pending.h"

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

/* ---- requests ---- */

enum { R_NUMBER, R_TOKEN, R_UNTIL, R_KEY, R_VALUE, R_WORKFLOW };

#define REQUESTS "list's requests" /* the part of a list, noted when its requests came */

/* Pended is one token with its values, whose rows come one after another. */
typedef struct Pended {
    char *number, *token, *workflow;
    int64_t until;
    GHashTable *values; /* key -> text */
} Pended;

static void pended_clear(Pended *pended)
{
    g_clear_pointer(&pended->number, g_free);
    g_clear_pointer(&pended->token, g_free);
    g_clear_pointer(&pended->workflow, g_free);
    g_hash_table_remove_all(pended->values);
}

static const char *value_of(const Pended *pended, const char *key)
{
    return g_hash_table_lookup(pended->values, key);
}

static bool word_is(json_t *state, const char *key)
{
    return json_is_true(json_object_get(state, key));
}

/* Return the facts that the person and the moderators have stated already. */
static unsigned facts_of(json_t *state, bool joins, bool of_moderator)
{
    unsigned facts = 0;
    bool invited = joins && word_is(state, "invitation");
    if (invited)
        return FACT_INVITED | FACT_APPROVED;
    if (word_is(state, "pre_approved"))
        facts |= FACT_APPROVED;
    if (word_is(state, "pre_verified") || (joins && of_moderator))
        facts |= FACT_VERIFIED;
    if (word_is(state, "pre_confirmed") || of_moderator)
        facts |= FACT_VERIFIED | FACT_CONFIRMED;
    return facts;
}

static bool put_request(Mailman3 *from, const Pended *pended, bool joins, GError **error)
{
    const char *list_id = value_of(pended, "list_id"), *email = value_of(pended, "email");
    const char *name = value_of(pended, "display_name"), *owner = value_of(pended, "token_owner");
    bool whole;
    if (!list_id || !email || pended->until <= clock_now() || !mm_wants(from, list_id))
        return true;
    /* The list stayed when another one was removed; its requests may have been answered since. */
    if (!moving_is_whole(from->moving, REQUESTS, list_id, &whole, error) || whole)
        return whole;
    g_autoptr(json_t) state = pended->workflow ? json_loads(pended->workflow, 0, NULL) : NULL;
    bool of_moderator = g_strcmp0(owner, "moderator") == 0;
    g_autofree char *made = g_strdelimit(g_strdup(value_of(pended, "when") ?: ""), "T", ' ');
    int64_t when = mm_time(made);
    DeliveryMode mode;
    DeliveryStatus status;
    const char *mode_word = json_string_value(json_object_get(state, "delivery_mode"));
    const char *status_word = json_string_value(json_object_get(state, "delivery_status"));
    const json_t *wish = json_object_get(state, "send_welcome_message");
    g_autoptr(Mailbox) address = mailbox_new(email);
    const Pending request = {.kind = joins ? PENDING_JOIN : PENDING_LEAVE,
                             .list_id = (char *)list_id,
                             .address = address,
                             .display_name = (char *)(name && *name ? name : NULL),
                             .facts = facts_of(state, joins, of_moderator),
                             .way = joins ? 0 : (int)LEAVE_BY_MAIL,
                             .waits_for = of_moderator ? PENDING_MODERATOR : PENDING_PERSON,
                             .made_at = when ? when : clock_now(),
                             .asked_at = when ? when : clock_now(),
                             .expires_at = pended->until,
                             .delivery_mode = mode_word && delivery_mode_parse(mode_word, &mode) ? (int)mode : -1,
                             .delivery_status = status_word && delivery_status_parse(status_word, &status) ? (int)status
                                                                                                           : -1,
                             .as_user = joins && json_integer_value(json_object_get(state, "subscriber_key")) == 2,
                             .welcome = json_is_true(wish)    ? WELCOME_YES
                                        : json_is_false(wish) ? WELCOME_NO
                                                              : WELCOME_AS_LIST};
    return moving_request(from->moving, &request, of_moderator ? NULL : pended->token, error);
}

static bool end_pended(Mailman3 *from, const Pended *pended, GError **error)
{
    const char *type = pended->number ? value_of(pended, "type") : NULL;
    if (g_strcmp0(type, "subscription") == 0)
        return put_request(from, pended, true, error);
    if (g_strcmp0(type, "unsubscription") == 0)
        return put_request(from, pended, false, error);
    if (g_strcmp0(type, "probe") == 0)
        moving_tell(from->moving, MOVING_LOST, value_of(pended, "member_id"), "probe",
                    "a letter that tries an address is under way; when it comes back it counts as any bounce");
    return true;
}

static bool take_pended(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    Pended *pended = data;
    const char *number = foreign_text(rows, R_NUMBER), *key = foreign_text(rows, R_KEY);
    if (g_strcmp0(number, pended->number) != 0) {
        if (!end_pended(from, pended, error))
            return false;
        pended_clear(pended);
        pended->number = g_strdup(number);
        pended->token = g_strdup(foreign_text(rows, R_TOKEN));
        pended->until = mm_time(foreign_text(rows, R_UNTIL));
        pended->workflow = g_strdup(foreign_text(rows, R_WORKFLOW));
    }
    const char *text = foreign_text(rows, R_VALUE);
    if (!key || !text)
        return true;
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    g_hash_table_insert(pended->values, g_strdup(key), g_strdup(json_is_string(json) ? json_string_value(json) : text));
    json_decref(json);
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Note that the list has its requests. */
static bool end_requests(const char *list_id, void *data, GError **error)
{
    bool whole;
    List *found;
    Mailman3 *from = data;
    if (!mm_wants(from, list_id))
        return true;
    if (!moving_find_list(from->moving, list_id, &found, error))
        return false;
    g_autoptr(List) list = found;
    return !list || (moving_begin(from->moving, REQUESTS, list_id, MOVING_AT_ONCE, &whole, error) &&
                     (whole || moving_end(from->moving, error)));
}

bool mm_requests(Mailman3 *from, GError **error)
{
    bool whole;
    Pended pended = {.values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    g_autofree char *part = g_strdup("requests");
    if (from->chosen) { /* requests of other lists may come by another run */
        g_autofree char **ids = (char **)g_hash_table_get_keys_as_array(from->chosen, NULL);
        qsort(ids, g_strv_length(ids), sizeof *ids, by_text);
        g_autofree char *all = g_strjoinv(" ", ids), *plain = g_steal_pointer(&part);
        part = g_strdup_printf("%s of %s", plain, all);
    }
    bool done = moving_begin(from->moving, part, NULL, MOVING_AT_ONCE, &whole, error) &&
                (whole || (mm_each(from,
                                   "SELECT `p.id`, `p.token`, `p.expiration_date`"
                                   ", `k.\"key\"`, `k.value`, `w.data`"
                                   " FROM pended p JOIN pendedkeyvalue t ON t.pended_id = p.id AND t.\"key\" = 'type' "
                                   "AND t.value IN ('subscription', 'unsubscription', 'probe') "
                                   "JOIN pendedkeyvalue k ON k.pended_id = p.id "
                                   "LEFT JOIN workflowstate w ON w.token = p.token ORDER BY p.id, k.id",
                                   NULL, take_pended, &pended, error) &&
                           end_pended(from, &pended, error) && moving_end(from->moving, error) &&
                           mailman3_each_list(from->database, NULL, end_requests, from, error)));
    pended_clear(&pended);
    g_hash_table_unref(pended.values);
    return done;
}

/* ---- what stays behind ---- */

static bool tell_count(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    (void)error;
    int64_t count = mm_integer(foreign_text(rows, 0), 0);
    if (count > 0)
        moving_tell(from->moving, MOVING_LOST, "", data, "%" G_GINT64_FORMAT " of them", count);
    return true;
}

bool mm_left_behind(Mailman3 *from, GError **error)
{
    static const char *const queues[] = {"archive", "bad", "bounces",  "command", "digest", "in",
                                         "nntp",    "out", "pipeline", "retry",   "shunt",  "virgin"};
    bool has;
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++) {
        unsigned count = 0;
        g_autofree char *path = g_build_filename(from->var, "queue", queues[i], NULL);
        g_autoptr(GDir) queue = g_dir_open(path, 0, NULL);
        const char *file;
        while (queue && (file = g_dir_read_name(queue)))
            count += g_str_has_suffix(file, ".pck") || g_str_has_suffix(file, ".bak") || g_str_has_suffix(file, ".psv");
        if (count > 0)
            moving_tell(from->moving, MOVING_LEFT_OUT, path, "queue",
                        "%u mails wait there: let Mailman deliver them, "
                        "or look at them yourself",
                        count);
    }
    if (!foreign_has(from->database, "bounceevent", NULL, &has, error))
        return false;
    return !has || mm_each(from, "SELECT `count(*)` FROM bounceevent WHERE NOT processed", NULL, tell_count,
                           (void *)"bounces that were not counted yet", error);
}
