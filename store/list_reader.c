/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/list_reader.h"

#include "base/fail.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/place.h"
#include "store/store.h"

struct ListReader {
    Store *store;
};

ListReader *list_reader_open(const Config *config, GError **error)
{
    Store *store = store_open_configured(config, false, error);
    if (!store)
        return NULL;
    ListReader *reader = g_new0(ListReader, 1);
    reader->store = store;
    return reader;
}

void list_reader_free(ListReader *reader)
{
    if (!reader)
        return;
    store_free(reader->store);
    g_free(reader);
}

char *list_reader_address(ListReader *reader, const char *list_id, GError **error)
{
    g_autoptr(List) list = list_by_id(reader->store, list_id, error);
    return list ? g_strdup(list->posting_address) : NULL;
}

char *list_reader_setting(ListReader *reader, const char *list_id, const char *name, GError **error)
{
    g_autoptr(List) list = list_by_id(reader->store, list_id, error);
    return list ? list_get(list, name, error) : NULL;
}

static bool find_role(const char *text, Role *role, GError **error)
{
    return role_parse(text, role) || fail(error, FAIL_NEVER, "\"%s\" is no role; there are member, owner, moderator "
                                          "and nonmember", text);
}

typedef struct ListMemberWalk {
    ListReaderEach *each;
    void *data;
} ListMemberWalk;

static bool show(const Member *member, void *data)
{
    const ListMemberWalk *walk = data;
    const ListReaderMember shown = {
        .address = member->address,
        .display_name = member->display_name ? member->display_name : "",
        .gets_posts = member->effective.delivery_status == DELIVERY_ENABLED &&
                      member->effective.delivery_mode == MODE_REGULAR,
    };
    return walk->each(&shown, walk->data);
}

bool list_reader_members(ListReader *reader, const char *list_id, const char *role, ListReaderEach *each, void *data,
                         GError **error)
{
    Role found;
    ListMemberWalk walk = {each, data};
    g_autoptr(List) list = find_role(role, &found, error) ? list_by_id(reader->store, list_id, error) : NULL;
    return list && member_each(reader->store, list_id, found, show, &walk, error);
}

bool list_reader_is_member(ListReader *reader, const char *list_id, const char *role, const char *address, bool *is,
                           GError **error)
{
    Role found;
    g_autoptr(GError) fault = NULL;
    g_autoptr(List) list = find_role(role, &found, error) ? list_by_id(reader->store, list_id, error) : NULL;
    if (!list)
        return false;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    g_autoptr(Member) member = member_find(reader->store, list_id, found, mailbox, &fault);
    *is = member != NULL;
    return member || fail_unless(error, FAIL_MISSING, &fault);
}
