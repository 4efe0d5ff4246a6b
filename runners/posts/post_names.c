/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/post_names.h"

#include "base/clock.h"
#include "base/log.h"
#include "lists/keys.h"
#include "posting/authenticity.h"
#include "posting/mitigation.h"
#include "posting/order.h"
#include "runners/posts/list_posts.h"
#include "runners/posts/names.h"
#include "store/lists/list_setting.h"

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

static int64_t time_to_wait(SharedNames *shared)
{
    int64_t now = clock_monotonic();
    shared->left = MIN(SHORT_WAIT, shared->left + (now - shared->seen) / SHARE);
    shared->seen = now;
    return shared->left;
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

static NamesAnswer find(SharedNames *shared, Post *post, NamesAnswer (*find_now)(Post *post))
{
    NamesAnswer answer = find_now(post);
    int64_t begun = clock_monotonic(), until = begun + time_to_wait(shared), now = begun;
    while (answer == NAMES_PENDING) {
        names_cache_turn(shared->cache, MAX(until - now, 0));
        answer = find_now(post);
        now = clock_monotonic();
        if (now >= until)
            break;
    }
    shared->left -= now - begun;
    return answer;
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
    post->names = own->cache ? names_cache_names(own->cache) : NULL;
    post->arrival = entry_arrival(entry);
    NamesAnswer answer = find(own, post, posting ? find_all : find_authenticity);
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
