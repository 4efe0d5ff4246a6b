/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/hooks/hook.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/secret.h"
#include "lists/event.h"
#include "net/http_client.h"

#define SECRET_PREFIX "whsec_"
#define ANSWER_MAX 256 /* bytes of an answer that are logged */

void hook_free(Hook *hook)
{
    g_clear_pointer(&hook->key, g_bytes_unref);
    g_free(hook);
}

static GBytes *read_key(const char *path, GError **error)
{
    g_autofree char *line = secret_file_line(path, error);
    if (!line)
        return NULL;
    if (!g_str_has_prefix(line, SECRET_PREFIX))
        return g_bytes_new(line, strlen(line));
    gsize length = 0;
    guchar *octets = g_base64_decode(line + strlen(SECRET_PREFIX), &length);
    GBytes *key = g_bytes_new_take(octets, length);
    if (length > 0)
        return key;
    g_bytes_unref(key);
    fail(error, FAIL_CONFIG, "there is no base64 behind " SECRET_PREFIX);
    return NULL;
}

GPtrArray *hooks_read(const Config *config, GError **error)
{
    g_autoptr(GPtrArray) hooks = g_ptr_array_new_with_free_func((GDestroyNotify)hook_free);
    for (const char *const *name = config_family(config, "hook"); *name; name++) {
        g_autofree char *section = g_strconcat("hook.", *name, NULL);
        if (!config_bool(config, section, "enabled"))
            continue;
        Hook *hook = g_new0(Hook, 1);
        g_ptr_array_add(hooks, hook);
        hook->name = *name;
        hook->url = config_string(config, section, "url");
        hook->events = config_list(config, section, "events");
        hook->lists = config_list(config, section, "lists");
        hook->timeout = config_duration(config, "hooks", "timeout");
        hook->key = read_key(config_string(config, section, "secret_file"), error);
        if (!hook->key) {
            g_prefix_error(error, "[%s] secret_file: ", section);
            return NULL;
        }
    }
    return g_steal_pointer(&hooks);
}

bool hook_wants(const Hook *hook, const char *type, const char *list_id)
{
    for (const char *const *word = hook->events; word && *word; word++)
        if (event_fits(*word, type))
            return !hook->lists || !*hook->lists || g_strv_contains(hook->lists, list_id);
    return false;
}

static char *hook_signature(const Hook *hook, const char *id, int64_t time, GBytes *body)
{
    guchar digest[32];
    gsize key_length, length, digest_length = sizeof digest;
    const guchar *octets = g_bytes_get_data(body, &length);
    const guchar *key = g_bytes_get_data(hook->key, &key_length);
    g_autoptr(GHmac) hmac = g_hmac_new(G_CHECKSUM_SHA256, key, key_length);
    g_autofree char *head = g_strdup_printf("%s.%" G_GINT64_FORMAT ".", id, time);
    g_hmac_update(hmac, (const guchar *)head, (gssize)strlen(head));
    g_hmac_update(hmac, octets, (gssize)length);
    g_hmac_get_digest(hmac, digest, &digest_length);
    g_autofree char *text = g_base64_encode(digest, digest_length);
    return g_strconcat("v1,", text, NULL);
}

HookResult hook_send(const Hook *hook, const HookDelivery *delivery, GError **error)
{
    gsize length;
    const char *body = g_bytes_get_data(delivery->body, &length);
    int64_t now = g_get_real_time() / CLOCK_SECOND;
    g_autofree char *signature = hook_signature(hook, delivery->id, now, delivery->body);
    g_autofree char *id_line = g_strconcat("webhook-id: ", delivery->id, NULL);
    g_autofree char *time_line = g_strdup_printf("webhook-timestamp: %" G_GINT64_FORMAT, now);
    g_autofree char *signature_line = g_strconcat("webhook-signature: ", signature, NULL);
    const char *const headers[] = {"Content-Type: application/json", "User-Agent: Listrunner/" PACKAGE_VERSION, id_line,
                                   time_line, signature_line, NULL};
    const HttpRequest request = {.url = hook->url, .headers = headers, .timeout = hook->timeout,
                                 .answer_max = ANSWER_MAX, .alive = delivery->alive, .data = delivery->data};
    g_auto(HttpAnswer) answer = {0};
    if (!http_post(&request, body, length, &answer, error))
        return HOOK_FAILED;
    if (answer.status >= 200 && answer.status < 300)
        return HOOK_TAKEN;
    /* People read of a refusal its number and the beginning of its text, on one line. */
    g_autofree char *text = g_utf8_make_valid(answer.body->str, (gssize)answer.body->len);
    for (char *at = text; *at; at++)
        if (g_ascii_iscntrl(*at) || *at == '"')
            *at = ' ';
    fail(error, FAIL_LATER, "%s answered %ld %s", hook->url, answer.status, g_strstrip(text));
    bool of_event = answer.status >= 400 && answer.status < 500 && answer.status != 408 && answer.status != 429;
    return of_event ? HOOK_REFUSED : HOOK_FAILED;
}
