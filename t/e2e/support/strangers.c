/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A runner outside the tree: posts whose From is no member's go on to the queue x_queue, with what it knows of the
 * list. */
#include <string.h>

#include "base/fail.h"
#include "mail/address.h"
#include "mail/message.h"
#include "runners/runner.h"
#include "store/list_reader.h"

static char *sender_of(Entry *entry)
{
    g_autoptr(GBytes) octets = entry_message(entry);
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *value = message_value(message, "From");
    g_autoptr(GPtrArray) addresses = address_list_new();
    if (value)
        address_parse(value, strlen(value), addresses);
    return addresses->len == 1 ? g_strdup(((Address *)addresses->pdata[0])->mailbox) : NULL;
}

static bool count(const ListReaderMember *member, void *data)
{
    *(unsigned *)data += member->gets_posts;
    return true;
}

static bool keep_first(const ListReaderMember *member, void *data)
{
    *(char **)data = g_strdup(member->address);
    return false;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListReader *reader = runner_data(runner);
    const char *list = entry_list(entry);
    g_autofree char *sender = sender_of(entry), *owner = NULL;
    bool known = false;
    unsigned members = 0;
    if (!sender)
        return fail(error, FAIL_NEVER, "From names not one address");
    if (!list_reader_is_member(reader, list, "member", sender, &known, error) || known)
        return known;
    g_autofree char *address = list_reader_address(reader, list, error);
    g_autofree char *description = address ? list_reader_setting(reader, list, "description", error) : NULL;
    if (!description || !list_reader_members(reader, list, "member", count, &members, error) ||
        !list_reader_members(reader, list, "owner", keep_first, &owner, error))
        return false;
    Draft *draft = draft_from_entry(config_extra(runner_config(runner), "runner.strangers", "x_queue"), entry);
    json_object_set_new(draft_meta(draft), "strange",
                        json_pack("{ss ss ss si ss?}", "from", sender, "list", address, "description", description,
                                  "members", (int)members, "owner", owner));
    outcome_add(outcome, draft);
    return true;
}

static bool start(Runner *runner, GError **error)
{
    ListReader *reader = list_reader_open(runner_config(runner), error);
    runner_set_data(runner, reader);
    return reader != NULL;
}

static void stop(Runner *runner)
{
    list_reader_free(runner_data(runner));
}

static const RunnerSpec spec = {.name = "strangers", .start = start, .handle = handle, .stop = stop};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
