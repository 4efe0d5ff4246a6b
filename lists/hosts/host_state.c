/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/hosts/host_state.h"

static const char *state_word(const Host *host)
{
    return !host->living ? host->lease_until ? "dead" : "stopped" : host->draining ? "draining" : "living";
}

static json_t *backlog_of(const json_t *said)
{
    json_int_t sum = 0;
    size_t at;
    json_t *runner;
    json_array_foreach(json_object_get(said, "runners"), at, runner)
        sum += json_integer_value(json_object_get(runner, "backlog"));
    return at > 0 ? json_integer(sum) : json_null();
}

static json_t *waiting_of(const json_t *said)
{
    bool known = json_array_size(json_object_get(said, "runners")) > 0;
    return known ? json_integer(json_integer_value(json_object_get(said, "waiting"))) : json_null();
}

json_t *host_state(const Host *host, json_t *(*time)(int64_t time))
{
    json_t *said = json_loads(host->state, 0, NULL);
    if (!said)
        said = json_object();
    return json_pack("{ss ss so so so sI ss sO* so sb sI sI so so}", "name", host->name, "state", state_word(host),
                     "started_at", time(host->started_at), "seen_at", time(host->seen_at), "lease_until",
                     time(host->lease_until), "epoch", (json_int_t)host->epoch, "version", host->version, "schema",
                     json_object_get(said, "schema"), "backlog", backlog_of(said), "draining", host->draining, "parts",
                     (json_int_t)host->parts, "connections", (json_int_t)host->connections, "waiting",
                     waiting_of(said), "said", said);
}
