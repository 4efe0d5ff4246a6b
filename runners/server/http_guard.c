/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/http_guard.h"

#include <crypt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/ip.h"
#include "base/log.h"
#include "base/secret.h"

#define FILE_MAX (1024 * 1024)
#define PEERS_MAX 10000 /* counted apart in one minute; further ones are counted together */
#define KEY_OCTETS 32

typedef struct Failures {
    int64_t minute;
    int64_t count;
} Failures;

struct HttpGuard {
    char *path;
    int64_t attempts_per_minute;
    struct stat seen;        /* the file as it was judged; all 0: it was missing */
    GHashTable *users;       /* user -> password or hash; NULL: the file cannot be used */
    GHashTable *known;       /* HMAC of credentials that were right -> user, of users */
    GHashTable *peers;       /* ip_network() -> Failures */
    Failures others;         /* of those for whom there is no room there */
    int64_t swept;           /* the minute in which those of minutes before were last taken out of peers */
    guchar key[KEY_OCTETS];  /* of those HMACs; known to this process alone */
};

/* NULL: error is set. */
static GHashTable *read_users(const char *path, GError **error)
{
    g_autofree char *text = secret_file_read(path, FILE_MAX, error);
    if (!text) {
        g_prefix_error(error, "the file of REST's passwords: ");
        return NULL;
    }
    g_autoptr(GHashTable) users = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i]; i++) {
        char *line = g_strchomp(lines[i]), *colon = strchr(line, ':');
        if (!*line || *line == '#')
            continue;
        if (!colon || colon == line || !colon[1]) {
            fail(error, FAIL_CONFIG, "%s, line %zu: USER:PASSWORD is wanted", path, i + 1);
            return NULL;
        }
        *colon = 0;
        g_hash_table_insert(users, g_strdup(line), g_strdup(colon + 1));
    }
    if (g_hash_table_size(users) > 0)
        return g_steal_pointer(&users);
    fail(error, FAIL_CONFIG, "%s names no user; a line USER:PASSWORD is wanted", path);
    return NULL;
}

/* Reads the file as it is now. On failure there are no users, and after one of the system it is tried again. */
static bool read_again(HttpGuard *guard, const struct stat *now, GError **error)
{
    guard->seen = *now;
    g_hash_table_remove_all(guard->known);
    g_clear_pointer(&guard->users, g_hash_table_unref);
    GError *fault = NULL;
    if ((guard->users = read_users(guard->path, &fault)))
        return true;
    if (g_error_matches(fault, FAIL, FAIL_LATER))
        guard->seen = (struct stat){0};
    g_propagate_error(error, fault);
    return false;
}

/* Reads the file again when it has changed. False: nobody can be judged, and the log says why. */
static bool follow_file(HttpGuard *guard)
{
    struct stat now = {0};
    const struct stat *seen = &guard->seen;
    stat(guard->path, &now);
    if (now.st_ctim.tv_sec == seen->st_ctim.tv_sec && now.st_ctim.tv_nsec == seen->st_ctim.tv_nsec &&
        now.st_size == seen->st_size && now.st_ino == seen->st_ino)
        return guard->users != NULL;
    g_autoptr(GError) error = NULL;
    if (!read_again(guard, &now, &error))
        log_error("%s; until that is mended nobody is let in", error->message);
    return guard->users != NULL;
}

HttpGuard *http_guard_new(const char *path, int64_t attempts_per_minute, GError **error)
{
    HttpGuard *guard = g_new0(HttpGuard, 1);
    struct stat now = {0};
    guard->path = g_strdup(path);
    guard->attempts_per_minute = attempts_per_minute;
    guard->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    guard->peers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    stat(path, &now);
    if (RAND_bytes(guard->key, KEY_OCTETS) != 1)
        fail(error, FAIL_LATER, "the system has no random bytes");
    else if (read_again(guard, &now, error))
        return guard;
    http_guard_free(guard);
    return NULL;
}

void http_guard_free(HttpGuard *guard)
{
    g_clear_pointer(&guard->users, g_hash_table_unref);
    g_hash_table_unref(guard->known);
    g_hash_table_unref(guard->peers);
    g_free(guard->path);
    g_free(guard);
}

/* ---- judging ---- */

static char *hmac(const HttpGuard *guard, const char *text)
{
    return g_compute_hmac_for_string(G_CHECKSUM_SHA256, guard->key, KEY_OCTETS, text, -1);
}

static bool same(const HttpGuard *guard, const char *one, const char *other)
{
    g_autofree char *left = hmac(guard, one), *right = hmac(guard, other);
    return CRYPTO_memcmp(left, right, strlen(left)) == 0;
}

static bool password_right(const HttpGuard *guard, const char *user, const char *password)
{
    static const char nobody[] = "\001"; /* no line of a file is equal to it */
    const char *kept = g_hash_table_lookup(guard->users, user);
    if (!kept || *kept != '$')
        return same(guard, kept ? kept : nobody, password) && kept;
    g_autofree struct crypt_data *state = g_new0(struct crypt_data, 1);
    const char *made = crypt_r(password, kept, state);
    return made && same(guard, kept, made);
}

static gboolean is_past(gpointer peer, gpointer failures, gpointer minute)
{
    return ((const Failures *)failures)->minute != *(const int64_t *)minute;
}

/* Count the failures of a peer in this minute; true when there were too many before. */
static bool too_many(HttpGuard *guard, const char *peer, int64_t more)
{
    int64_t minute = clock_monotonic() / (60 * CLOCK_SECOND);
    g_autofree char *name = ip_network(peer);
    Failures *failures = g_hash_table_lookup(guard->peers, name);
    if (!failures && g_hash_table_size(guard->peers) >= PEERS_MAX && guard->swept != minute) {
        g_hash_table_foreach_remove(guard->peers, is_past, &minute);
        guard->swept = minute;
    }
    if (!failures && g_hash_table_size(guard->peers) >= PEERS_MAX) {
        failures = &guard->others;
    } else if (!failures) {
        failures = g_new0(Failures, 1);
        g_hash_table_insert(guard->peers, g_steal_pointer(&name), failures);
    }
    if (failures->minute != minute)
        *failures = (Failures){.minute = minute};
    failures->count += more;
    return failures->count >= guard->attempts_per_minute + more;
}

static char *credentials_of(const char *authorization)
{
    if (!authorization || g_ascii_strncasecmp(authorization, "Basic ", 6) != 0)
        return NULL;
    gsize length;
    g_autofree guchar *octets = g_base64_decode(authorization + 6, &length);
    char *text = g_strndup((const char *)octets, length);
    if (strlen(text) == length && strchr(text, ':'))
        return text;
    g_free(text);
    return NULL;
}

bool http_guard_full(HttpGuard *guard, const char *peer)
{
    return too_many(guard, peer, 0);
}

void http_guard_failed(HttpGuard *guard, const char *peer, const char *who)
{
    if (!too_many(guard, peer, 1))
        log_warn("peer=%s user=%s result=wrong-password", peer, who);
}

char *http_guard_token(const char *authorization, const char *prefix)
{
    if (authorization && g_ascii_strncasecmp(authorization, "Bearer ", 7) == 0)
        return g_strdup(authorization + 7);
    g_autofree char *credentials = credentials_of(authorization);
    const char *password = credentials ? strchr(credentials, ':') + 1 : NULL;
    return password && g_str_has_prefix(password, prefix) ? g_strdup(password) : NULL;
}

GuardVerdict http_guard_judge(HttpGuard *guard, const char *authorization, const char *peer, const char **user)
{
    g_autofree char *credentials = credentials_of(authorization);
    if (!credentials)
        return GUARD_UNKNOWN;
    if (!follow_file(guard))
        return GUARD_TROUBLE;
    g_autofree char *mark = hmac(guard, credentials);
    const char *known = g_hash_table_lookup(guard->known, mark);
    if (!known) {
        if (too_many(guard, peer, 0))
            return GUARD_TOO_MANY;
        char *colon = strchr(credentials, ':');
        *colon = 0;
        if (!password_right(guard, credentials, colon + 1)) {
            http_guard_failed(guard, peer, credentials);
            return GUARD_UNKNOWN;
        }
        known = g_strdup(credentials);
        g_hash_table_insert(guard->known, g_steal_pointer(&mark), (char *)known);
    }
    if (user)
        *user = known;
    return GUARD_IN;
}
