/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/post_names.h"

#include "base/clock.h"
#include "base/log.h"
#include "lists/keys.h"
#include "mail/auth/names.h"
#include "mail/domain_name.h"
#include "net/dns.h"
#include "posting/authenticity.h"
#include "posting/setup.h"
#include "runners/posts/list_posts.h"
#include "store/lists/list_setting.h"

/* ---- answers of the DNS ---- */

#define NAMES_MAX 20000
#define LIFETIME_MIN (60 * CLOCK_SECOND)
#define LIFETIME_MAX (24 * 3600 * CLOCK_SECOND)
/* How long it counts that no server answers: a burst of mail from one domain asks once. */
#define TROUBLE_LIFETIME (30 * CLOCK_SECOND)
#define TRIES 3

/* Answers questions to the DNS from memory, for runners that work through batches and must not wait. A question without
 * a known answer gets NAMES_PENDING and is sent to the servers; cache_turn() takes the answers in. Answers are kept as
 * their records say, from a minute to a day. */
typedef struct NamesCache {
    struct event_base *base;
    Dns *dns;
    struct event *tick; /* ends a wait */
    GHashTable *known; /* "text NAME" or "exists NAME" -> Known */
    unsigned asked;    /* under way */
    Names names; /* by which others ask this cache */
} NamesCache;

typedef struct KnownName {
    NamesCache *cache;
    NamesAnswer answer;
    char **texts;
    int64_t until; /* monotonic */
} KnownName;

static void known_free(void *data)
{
    KnownName *known = data;
    g_strfreev(known->texts);
    g_free(known);
}

static void settle(KnownName *known, NamesAnswer answer, int64_t lifetime)
{
    known->answer = answer;
    known->until = clock_monotonic() + (answer == NAMES_TROUBLE ? TROUBLE_LIFETIME
                                                                : CLAMP(lifetime, LIFETIME_MIN, LIFETIME_MAX));
    known->cache->asked--;
}

static NamesAnswer answer_of(const DnsAnswer *answer)
{
    return !answer || answer->status == DNS_TROUBLE ? NAMES_TROUBLE
           : answer->status == DNS_FOUND            ? NAMES_FOUND
                                                    : NAMES_NONE;
}

static void on_text(const DnsAnswer *answer, void *data)
{
    KnownName *known = data;
    GPtrArray *texts = g_ptr_array_new();
    for (guint at = 0; answer && at < answer->records->len; at++)
        g_ptr_array_add(texts, g_strdup(g_array_index(answer->records, DnsRecord, at).text));
    g_ptr_array_add(texts, NULL);
    known->texts = (char **)g_ptr_array_free(texts, false);
    settle(known, answer_of(answer), answer ? answer->lifetime_us : 0);
}

/* A name without a record of the type that was asked for exists. */
static void on_exists(const DnsAnswer *answer, void *data)
{
    bool there = answer && answer->status == DNS_NONE;
    settle(data, there ? NAMES_FOUND : answer_of(answer), answer ? answer->lifetime_us : 0);
}

static gboolean is_over(gpointer key, gpointer value, gpointer now)
{
    (void)key;
    const KnownName *known = value;
    return known->answer != NAMES_PENDING && known->until <= *(const int64_t *)now;
}

static gboolean is_settled(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    (void)data;
    return ((const KnownName *)value)->answer != NAMES_PENDING;
}

static const KnownName *find_name(NamesCache *cache, const char *kind, const char *name, DnsType type, DnsDone *done)
{
    int64_t now = clock_monotonic();
    g_autofree char *key = g_strconcat(kind, name, NULL);
    KnownName *known = g_hash_table_lookup(cache->known, key);
    if (known && (known->answer == NAMES_PENDING || known->until > now))
        return known;
    if (g_hash_table_size(cache->known) >= NAMES_MAX &&
        g_hash_table_foreach_remove(cache->known, is_over, &now) == 0)
        g_hash_table_foreach_remove(cache->known, is_settled, NULL);
    known = g_new0(KnownName, 1);
    *known = (KnownName){.cache = cache, .answer = NAMES_PENDING};
    g_hash_table_replace(cache->known, g_steal_pointer(&key), known);
    cache->asked++;
    dns_ask(cache->dns, name, type, done, known);
    return known;
}

static NamesAnswer text(void *data, const char *name, const char *const **texts)
{
    if (!domain_name_askable(name))
        return NAMES_NONE;
    const KnownName *known = find_name(data, "text ", name, DNS_TXT, on_text);
    *texts = (const char *const *)known->texts;
    return known->answer;
}

/* The question is for an alias: any other is answered for what an alias stands for, which may not exist. */
static NamesAnswer exists(void *data, const char *name)
{
    return domain_name_askable(name) ? find_name(data, "exists ", name, DNS_CNAME, on_exists)->answer : NAMES_NONE;
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
}

static void names_cache_free(NamesCache *cache)
{
    if (!cache)
        return;
    if (cache->dns)
        dns_free(cache->dns); /* settles what is under way */
    g_hash_table_unref(cache->known);
    event_free(cache->tick);
    event_base_free(cache->base);
    g_free(cache);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NamesCache, names_cache_free)

/* servers as dns_new() has them; NULL: the system's. A question without an answer is given up after timeout_us. NULL:
 * error is set. */
static NamesCache *names_cache_new(const char *servers, int64_t timeout_us, GError **error)
{
    g_autoptr(NamesCache) cache = g_new0(NamesCache, 1);
    cache->base = event_base_new();
    cache->tick = evtimer_new(cache->base, on_tick, NULL);
    cache->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, known_free);
    cache->names = (Names){text, exists, cache};
    cache->dns = dns_new(cache->base, servers, timeout_us / TRIES, TRIES, error);
    return cache->dns ? g_steal_pointer(&cache) : NULL;
}

/* Take in the answers that have come. If none has, wait for the first, at most wait_us. */
static void cache_turn(NamesCache *cache, int64_t wait_us)
{
    unsigned before = cache->asked;
    int64_t until = clock_monotonic() + wait_us, left;
    event_base_loop(cache->base, EVLOOP_NONBLOCK);
    while (cache->asked > 0 && cache->asked == before && (left = until - clock_monotonic()) > 0) {
        struct timeval span = {left / CLOCK_SECOND, left % CLOCK_SECOND};
        event_add(cache->tick, &span);
        event_base_loop(cache->base, EVLOOP_ONCE);
        event_del(cache->tick);
    }
}

/* ---- posts that wait for them ---- */

/* A name server nearby answers within this; to wait so long costs less than to put the entry back. But the runner never
 * spends more than a fiftieth of its time on waiting. */
#define SHORT_WAIT (20 * CLOCK_SECOND / 1000)
#define SHARE 50
#define LOOK_AGAIN (250 * CLOCK_SECOND / 1000)
#define ASK_AGAIN (60 * CLOCK_SECOND)

typedef struct SharedNames {
    NamesCache *cache;
    bool broken;        /* there can be none */
    int64_t left, seen; /* of the time for waiting; when it was reckoned */
} SharedNames;

static SharedNames *shared(Runner *runner)
{
    static SharedNames one;
    if (!one.cache && !one.broken) {
        g_autoptr(GError) error = NULL;
        const Config *config = runner_config(runner);
        g_autofree char *servers = config_list_joined(config, "dns", "servers");
        one.cache = names_cache_new(servers, config_duration(config, "dns", "timeout"), &error);
        if (!one.cache)
            log_warn("the DNS cannot be asked, and posts go on without its answers: %s", error->message);
        one.broken = !one.cache;
    }
    return &one;
}

/* Find all that is to be known about the author; each part begins to ask before another waits. */
static NamesAnswer find_all(Post *post)
{
    Mitigation mitigation;
    bool known = authenticity_find(post);
    NamesAnswer answer = mitigation_find(post, &mitigation);
    return known ? answer : NAMES_PENDING;
}

/* The same for mail to the owners, which has no policy. */
static NamesAnswer find_authenticity(Post *post)
{
    return authenticity_find(post) ? NAMES_FOUND : NAMES_PENDING;
}

/* Does the pipeline of the owners, which may be the site's own, want to know of signatures? */
static bool owners_want_authenticity(const Post *post)
{
    const Pipeline *pipeline = order_pipeline(post->site->orders, post->list->settings->owner_pipeline);
    for (const Handler *const *handler = pipeline ? pipeline->handlers : NULL; handler && *handler; handler++)
        if (*handler == &handler_validate_authenticity)
            return true;
    return false;
}

bool post_names_ready(Runner *runner, Entry *entry, Post *post, Outcome *outcome)
{
    SharedNames *own = shared(runner);
    const char *to = list_runner_asked(entry);
    bool posting = g_str_equal(to, TO_POSTING);
    if (!posting && (!g_str_equal(to, TO_OWNER) || !owners_want_authenticity(post)))
        return true;
    post->names = own->cache ? &own->cache->names : NULL;
    post->arrival = entry_arrival(entry);
    NamesAnswer (*find)(Post *post) = posting ? find_all : find_authenticity;
    NamesAnswer answer = find(post);
    int64_t begun = clock_monotonic(), now = begun;
    own->left = MIN(SHORT_WAIT, own->left + (now - own->seen) / SHARE);
    own->seen = now;
    while (answer == NAMES_PENDING) {
        cache_turn(own->cache, MAX(begun + own->left - now, 0));
        answer = find(post);
        now = clock_monotonic();
        if (now >= begun + own->left)
            break;
    }
    own->left -= now - begun;
    if (!posting)
        post->names = NULL; /* nothing else is asked for the owners, and the post keeps what was found */
    if (answer == NAMES_PENDING) {
        runner_wait(runner, outcome, clock_now() + LOOK_AGAIN);
        return false;
    }
    if (answer != NAMES_TROUBLE)
        return true;
    bool waits = mitigation_waits(post);
    list_runner_log(entry, "message-id=%s dmarc=unknown (no name server answers)%s",
                    post->message_id ? post->message_id : "-", waits ? " result=waits" : "");
    if (waits)
        runner_wait(runner, outcome, clock_now() + ASK_AGAIN);
    return !waits;
}
