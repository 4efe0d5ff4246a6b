/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Tells the MTA in front which addresses there are, while it talks to its client: Postfix asks by its socketmap
 * protocol. The answers are those of the runner lmtp, which takes the mail then.
 */
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "net/socketmap.h"
#include "runners/server/listener.h"
#include "runners/server/lists.h"

#define NO_DATABASE "the database of Listrunner cannot be used now"

typedef struct Mta {
    Listener *listener;
    Lists *lists;
    const char *site_owner, *transport;
} Mta;

typedef struct MtaClient {
    Mta *mta;
    GString *output;
} MtaClient;

/* ---- the maps ---- */

/* Finds the value of a key; *value stays NULL where there is none. False: it cannot be told now. */
typedef bool MtaFind(Mta *mta, const char *key, char **value, GError **error);

/* *found stays NULL where nobody answers to the address. */
static bool find(Mta *mta, const char *mailbox, ListAddress **found, GError **error)
{
    g_autoptr(GError) why = NULL;
    *found = lists_find(mta->lists, mailbox, &why);
    return *found || fail_unless(error, FAIL_MISSING, &why);
}

static bool find_recipient(Mta *mta, const char *key, char **value, GError **error)
{
    ListAddress *found;
    if (!find(mta, key, &found, error))
        return false;
    g_autoptr(ListAddress) address = found;
    if (address && lists_takes(mta->lists, address))
        *value = g_strdup(address->to == LIST_ADDRESS_SITE ? mta->site_owner : address->list_id);
    return true;
}

/* A key without @ is a domain. */
static bool find_domain(Mta *mta, const char *key, char **value, GError **error)
{
    const char *at = strrchr(key, '@');
    const char *domain = at ? at + 1 : key;
    bool has;
    if (!lists_has_domain(mta->lists, domain, &has, error))
        return false;
    *value = has ? g_strdup(domain) : NULL;
    return true;
}

static bool find_transport(Mta *mta, const char *key, char **value, GError **error)
{
    g_autofree char *domain = NULL;
    if (!find_domain(mta, key, &domain, error))
        return false;
    *value = domain ? g_strdup(mta->transport) : NULL;
    return true;
}

/* postmaster@ and abuse@ of a domain of lists. */
static bool find_alias(Mta *mta, const char *key, char **value, GError **error)
{
    ListAddress *found;
    if (!find(mta, key, &found, error))
        return false;
    g_autoptr(ListAddress) address = found;
    *value = address && address->to == LIST_ADDRESS_SITE ? g_strdup(mta->site_owner) : NULL;
    return true;
}

static const struct {
    const char *name;
    MtaFind *find;
} maps[] = {
    {"recipients", find_recipient},
    {"domains", find_domain},
    {"transport", find_transport},
    {"aliases", find_alias},
};

static void answer(MtaClient *client, const SocketmapRequest *request)
{
    for (size_t at = 0; at < G_N_ELEMENTS(maps); at++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *value = NULL;
        if (strcmp(maps[at].name, request->map) != 0)
            continue;
        lists_keep(client->mta->lists);
        if (!maps[at].find(client->mta, request->key, &value, &error))
            socketmap_later(client->output, NO_DATABASE);
        else if (value)
            socketmap_found(client->output, value);
        else
            socketmap_not_found(client->output);
        return;
    }
    log_warn("a client asks for the map \"%s\"; there are: recipients, domains, transport, aliases", request->map);
    socketmap_refused(client->output, "there is no such map; there are: recipients, domains, transport, aliases");
}

/* ---- what the skeleton calls ---- */

static GString *mta_open(Connection *connection)
{
    MtaClient *client = g_new0(MtaClient, 1);
    client->mta = listener_data(connection_listener(connection));
    client->output = g_string_new(NULL);
    connection_set_data(connection, client);
    return client->output;
}

static size_t mta_receive(Connection *connection, const char *octets, size_t length)
{
    MtaClient *client = connection_data(connection);
    size_t done = 0, used;
    for (;;) {
        g_auto(SocketmapRequest) request = {0};
        SocketmapStep step = socketmap_read(octets + done, length - done, &used, &request);
        if (step == SOCKETMAP_MORE)
            return done;
        if (step == SOCKETMAP_BAD) {
            log_warn("peer=%s does not speak the socketmap protocol", connection_peer(connection));
            socketmap_refused(client->output, "this is no request of the socketmap protocol");
            connection_finish(connection);
            return length;
        }
        answer(client, &request);
        listener_progress(client->mta->listener);
        done += used;
    }
}

/* A request is answered as soon as it is there. */
static bool mta_waiting(Connection *connection)
{
    (void)connection;
    return false;
}

static void mta_expire(Connection *connection, const char *why)
{
    (void)why; /* Postfix connects again when it has a question */
    connection_finish(connection);
}

static void mta_leave(Connection *connection)
{
    connection_finish(connection);
}

static void mta_close(Connection *connection)
{
    MtaClient *client = connection_data(connection);
    g_string_free(client->output, TRUE);
    g_free(client);
}

static size_t mta_pending(Listener *listener)
{
    (void)listener;
    return 0;
}

static bool mta_start(Listener *listener, GError **error)
{
    (void)error;
    const Config *config = listener_config(listener);
    Mta *mta = g_new0(Mta, 1);
    mta->listener = listener;
    mta->lists = lists_new(config);
    mta->site_owner = config_string(config, "site", "site_owner");
    mta->transport = config_string(config, "mta", "transport");
    listener_set_data(listener, mta);
    return true;
}

static void mta_stop(Listener *listener)
{
    Mta *mta = listener_data(listener);
    lists_free(mta->lists);
    g_free(mta);
}

static const ListenerSpec spec = {
    .name = "mta",
    .section = "mta",
    .start = mta_start,
    .open = mta_open,
    .receive = mta_receive,
    .waiting = mta_waiting,
    .expire = mta_expire,
    .leave = mta_leave,
    .close = mta_close,
    .pending = mta_pending,
    .stop = mta_stop,
};

int main(int argc, char **argv)
{
    return listener_main(&spec, argc, argv);
}
