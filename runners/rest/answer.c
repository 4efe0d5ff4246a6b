/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "runners/rest/rest.h"

#define JSON "application/json"
#define DESCRIPTION_MAX 8000 /* bytes; a client's own text in it may be long */

/* ---- values ---- */

json_t *json_words(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

json_t *json_texts(const GPtrArray *texts)
{
    json_t *array = json_array();
    for (guint i = 0; i < texts->len; i++)
        json_array_append_new(array, json_words(texts->pdata[i]));
    return array;
}

json_t *json_email(const char *address)
{
    g_autofree char *valid = g_utf8_make_valid(address, -1), *lower = g_utf8_strdown(valid, -1);
    return json_words(lower);
}

json_t *json_time(int64_t time)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    g_autofree char *seconds = g_date_time_format(date, "%Y-%m-%dT%H:%M:%S");
    return time % CLOCK_SECOND ? json_sprintf("%s.%06d", seconds, (int)(time % CLOCK_SECOND)) : json_string(seconds);
}

json_t *json_time_or_null(int64_t time)
{
    return time > 0 ? json_time(time) : json_null();
}

char *segment(const char *text)
{
    return g_uri_escape_string(text, "@^$*()!,:;=&'", true);
}

json_t *json_link(const Call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *path = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *link = g_strconcat(call->root, path, NULL);
    return json_words(link);
}

/* ---- ids: 128 bits, as 32 hex digits or (3.0) as a decimal number ---- */

char *id_text(const Call *call, const char *id)
{
    if (!call->old)
        return g_strdup(id);
    char text[40] = "", *at = text + sizeof text - 1;
    unsigned __int128 number = 0;
    for (const char *digit = id; *digit; digit++)
        number = number << 4 | (unsigned)g_ascii_xdigit_value(*digit);
    do
        *--at = (char)('0' + (int)(number % 10));
    while (number /= 10);
    return g_strdup(at);
}

bool id_parse(const Call *call, const char *text, char id[STORE_ID_SIZE])
{
    if (!call->old) { /* also as UUIDs are written for people: 8-4-4-4-12 */
        g_autoptr(GString) digits = g_string_new(text);
        if (g_uuid_string_is_valid(text))
            g_string_replace(digits, "-", "", 0);
        if (digits->len != STORE_ID_SIZE - 1 || strspn(digits->str, "0123456789abcdefABCDEF") != digits->len)
            return false;
        g_autofree char *lower = g_ascii_strdown(digits->str, -1);
        memcpy(id, lower, STORE_ID_SIZE);
        return true;
    }
    size_t length = strlen(text);
    unsigned __int128 number = 0;
    if (length == 0 || strspn(text, "0123456789") != length)
        return false;
    for (; *text; text++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (unsigned)(*text - '0'), &number))
            return false;
    for (unsigned i = STORE_ID_SIZE - 1; i-- > 0; number >>= 4)
        id[i] = "0123456789abcdef"[number & 15];
    id[STORE_ID_SIZE - 1] = 0;
    return true;
}

/* ---- answers ---- */

/* End the text of a JSON object, "{...}", with its http_etag. */
static void end_object(GString *text, const char *etag)
{
    bool empty = text->str[text->len - 2] == '{';
    g_string_truncate(text, text->len - 1);
    g_string_append_printf(text, "%s\"http_etag\": \"\\\"%.*s\\\"\"}", empty ? "" : ", ", (int)strlen(etag) - 2,
                           etag + 1);
}

/* Version 3.0 has ids as numbers, which are too large for jansson's. Quotes within values are escaped, so that nothing
 * else looks like this. */
static char *with_ids_as_numbers(const char *text)
{
    static GRegex *ids;
    if (!ids)
        ids = g_regex_new("\"(user_id|member_id)\": \"([0-9]+)\"", G_REGEX_OPTIMIZE, 0, NULL);
    return g_regex_replace(ids, text, -1, 0, "\"\\1\": \\2", 0, NULL);
}

static void send(Call *call, int status, const char *text)
{
    g_autofree char *numbered = call->old ? with_ids_as_numbers(text) : NULL;
    const char *body = numbered ? numbered : text;
    call->answered = true;
    http_answer(call->http, status, JSON, body, strlen(body));
}

/* Sends the text of an object, which has its http_etag already; 304 where the client has it. */
static void send_tagged(Call *call, int status, const char *text, const char *etag)
{
    bool reading = strcmp(http_verb(call->http), "GET") == 0 || strcmp(http_verb(call->http), "HEAD") == 0;
    if (status == 200 && reading) {
        const char *known = http_header(call->http, "If-None-Match");
        http_set_header(call->http, "ETag", etag);
        if (known && (strcmp(known, "*") == 0 || strstr(known, etag))) {
            answer_empty(call, 304);
            return;
        }
    }
    send(call, status, text);
}

/* The text of the object with its http_etag, less what the caller may not see. *etag, in quotes as the ETag field has
 * it, is g_free()d by the caller. */
static GString *object_text(const Call *call, json_t *object, char **etag)
{
    scope_show(call, object);
    char *dumped = json_dumps(object, 0);
    GString *text = g_string_new(dumped);
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA1, dumped, -1);
    *etag = g_strdup_printf("\"%s\"", digest);
    free(dumped);
    end_object(text, *etag);
    return text;
}

void answer_json(Call *call, int status, json_t *object)
{
    g_autoptr(json_t) owned = object;
    g_autofree char *etag = NULL;
    g_autoptr(GString) text = object_text(call, object, &etag);
    send_tagged(call, status, text->str, etag);
}

void answer_found(Call *call, json_t *object, GError **error)
{
    if (object)
        answer_json(call, 200, object);
    else
        rest_fail(call, g_steal_pointer(error));
}

/* ---- collections ---- */

/* A collection, written from its head to its end. Each entry is written once, which is most of the work: its text goes
 * into its etag and into the answer, and the etag of the whole is made of theirs. */
typedef struct CollectionText {
    GString *text;    /* what was written, and not sent yet */
    GChecksum *etags; /* of the head and all entries so far */
    bool has_entries;
} CollectionText;

static void text_clear(CollectionText *collection)
{
    if (collection->text)
        g_string_free(collection->text, TRUE);
    if (collection->etags)
        g_checksum_free(collection->etags);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CollectionText, text_clear)

static void text_begin(CollectionText *collection, const Call *call, const char *path, int64_t total, int64_t start)
{
    g_autoptr(json_t) head = json_pack("{sI sI}", "start", (json_int_t)start, "total_size", (json_int_t)total);
    if (path)
        json_object_set_new(head, "self_link", json_link(call, "%s", path));
    char *dumped = json_dumps(head, 0);
    *collection = (CollectionText){g_string_new(dumped), g_checksum_new(G_CHECKSUM_SHA1), false};
    g_checksum_update(collection->etags, (const guchar *)dumped, -1);
    free(dumped);
}

static void text_add(CollectionText *collection, const Call *call, json_t *entries)
{
    size_t index;
    json_t *entry;
    GString *text = collection->text;
    json_array_foreach(entries, index, entry) {
        g_autofree char *etag = NULL;
        g_autoptr(GString) one = object_text(call, entry, &etag);
        if (!collection->has_entries)
            g_string_truncate(text, text->len - 1);
        g_string_append_printf(text, ", %s%s", collection->has_entries ? "" : "\"entries\": [", one->str);
        g_checksum_update(collection->etags, (const guchar *)etag, -1);
        collection->has_entries = true;
    }
}

/* Returns the etag of the whole; g_free(). */
static char *text_end(CollectionText *collection)
{
    char *etag = g_strdup_printf("\"%s\"", g_checksum_get_string(collection->etags));
    if (collection->has_entries)
        g_string_append(collection->text, "]}");
    end_object(collection->text, etag);
    return etag;
}

static void answer_collection_at(Call *call, const char *path, json_t *entries, int64_t total, int64_t start)
{
    g_autoptr(json_t) owned = entries;
    g_auto(CollectionText) collection = {0};
    text_begin(&collection, call, path, total, start);
    text_add(&collection, call, entries);
    g_autofree char *etag = text_end(&collection);
    send_tagged(call, 200, collection.text->str, etag);
}

void answer_collection(Call *call, json_t *entries, int64_t total, int64_t start)
{
    answer_collection_at(call, NULL, entries, total, start);
}

void answer_whole(Call *call, json_t *entries, GError **error)
{
    if (entries)
        answer_collection(call, entries, (int64_t)json_array_size(entries), 0);
    else
        rest_fail(call, g_steal_pointer(error));
}

/* ---- pages ---- */

bool page_begin(Call *call, const char *required, const char *optional, Page *page)
{
    g_autofree char *may = g_strconcat(optional, *optional ? " " : "", "count page", NULL);
    page->entries = json_array();
    return form_expect(call, required, may) && form_paging(call, &page->paging);
}

List *page_of_list(Call *call, Page *page)
{
    return page_begin(call, "", "", page) ? rest_list(call) : NULL;
}

bool page_takes(Page *page)
{
    return page->total++ >= page->paging.start && json_array_size(page->entries) < page->paging.count;
}

void page_add(Page *page, json_t *object)
{
    json_array_append_new(page->entries, object);
}

void page_clear(Page *page)
{
    json_decref(page->entries);
}

void answer_page(Call *call, const char *path, Page *page, GError **error)
{
    if (call->answered || *error)
        rest_fail(call, g_steal_pointer(error));
    else
        answer_collection_at(call, path, g_steal_pointer(&page->entries), page->total, page->paging.start);
}

/* ---- long collections ---- */

/* One that goes to its client part by part, each when the part before has left. */
typedef struct LongAnswer {
    Call call; /* what outlives the request: rest, old, root, route, by */
    const LongCollection *kind;
    void *place;
    unsigned left; /* entries that are wanted yet */
    CollectionText collection;
} LongAnswer;

static void long_answer_free(LongAnswer *answer)
{
    answer->kind->free(answer->place);
    text_clear(&answer->collection);
    g_free(answer->call.root);
    g_free(answer);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LongAnswer, long_answer_free)

/* Reads the next part. *ended: it is the last. NULL: error is set. */
static json_t *read_part(LongAnswer *answer, const Call *call, bool *ended, GError **error)
{
    g_autoptr(json_t) entries = json_array();
    unsigned most = MIN(answer->left, answer->kind->part);
    if (!answer->kind->read(call, answer->place, most, entries, error))
        return NULL;
    answer->left -= (unsigned)json_array_size(entries);
    *ended = answer->left == 0 || json_array_size(entries) < most;
    return g_steal_pointer(&entries);
}

static void send_part(LongAnswer *answer, HttpStream *stream, json_t *entries, bool ended)
{
    GString *text = answer->collection.text;
    text_add(&answer->collection, &answer->call, entries);
    if (ended)
        g_free(text_end(&answer->collection));
    g_autofree char *numbered = answer->call.old ? with_ids_as_numbers(text->str) : NULL;
    const char *body = numbered ? numbered : text->str;
    http_stream_send(stream, body, strlen(body));
    g_string_truncate(text, 0);
    if (ended)
        http_stream_finish(stream);
}

static void on_room(HttpStream *stream)
{
    LongAnswer *answer = http_stream_data(stream);
    g_autoptr(GError) error = NULL;
    bool ended;
    Seat *seat = &answer->call.rest->seat;
    bool open = seat_keep(seat, &error);
    answer->call.store = seat->store;
    g_autoptr(json_t) entries = open ? read_part(answer, &answer->call, &ended, &error) : NULL;
    if (entries) {
        send_part(answer, stream, entries, ended);
        return;
    }
    log_error("a long answer is cut off: %s", error->message);
    http_stream_end(stream);
}

static void on_closed(HttpStream *stream)
{
    long_answer_free(http_stream_data(stream));
}

void answer_long(Call *call, const LongCollection *kind, void *place, int64_t total, const Paging *paging)
{
    static const HttpStreamSpec spec = {.room = on_room, .closed = on_closed, .finite = true};
    g_autoptr(LongAnswer) answer = g_new0(LongAnswer, 1);
    *answer = (LongAnswer){.call = {.rest = call->rest, .old = call->old, .root = g_strdup(call->root),
                                    .route = call->route, .by = call->by},
                           .kind = kind, .place = place, .left = paging->start < total ? paging->count : 0};
    GError *error = NULL;
    bool ended;
    g_autoptr(json_t) entries = read_part(answer, call, &ended, &error);
    if (!entries) {
        rest_fail(call, error);
        return;
    }
    if (ended) {
        answer_collection(call, g_steal_pointer(&entries), total, paging->start);
        return;
    }
    call->answered = true;
    text_begin(&answer->collection, call, NULL, total, paging->start);
    LongAnswer *sent = g_steal_pointer(&answer);
    HttpStream *stream = http_stream(call->http, JSON, &spec, sent);
    if (strcmp(http_verb(call->http), "HEAD") == 0)
        http_stream_finish(stream);
    else
        send_part(sent, stream, entries, false);
}

/* ---- other answers ---- */

void answer_created(Call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *path = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *location = g_strconcat(call->root, path, NULL);
    http_set_header(call->http, "Location", location);
    call->answered = true;
    http_answer(call->http, 201, JSON, "", 0);
}

void answer_text(Call *call, const char *type, const char *text)
{
    call->answered = true;
    http_answer(call->http, 200, type, text, strlen(text));
}

void answer_empty(Call *call, int status)
{
    call->answered = true;
    http_answer(call->http, status, NULL, NULL, 0);
}

/* title NULL: the status and its name. */
static void refuse(Call *call, int status, const char *title, char *description)
{
    g_autoptr(json_t) object = json_object();
    if (strlen(description) > DESCRIPTION_MAX)
        description[DESCRIPTION_MAX] = 0;
    json_object_set_new(object, "title", title ? json_string(title)
                                               : json_sprintf("%d %s", status, http_reason(status)));
    if (*description)
        json_object_set_new(object, "description", json_words(description));
    char *text = json_dumps(object, 0);
    send(call, status, text);
    free(text);
}

void answer_refusal(Call *call, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *description = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    refuse(call, status, NULL, description);
}

void answer_titled(Call *call, const char *title, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *description = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    refuse(call, 400, title, description);
}
