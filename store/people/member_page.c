/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Pages of members. All members of a list and role lie in one range of the table, in order of address, so a page is
 * read from the place where the last one ended. A person's memberships are few, and are sorted here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/user_internal.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/store_internal.h"

#define CHUNK 1000   /* members that are read at once where they are only counted or passed over */
#define ROLES 4
#define LAST_KEY "\364\217\277\277" /* U+10FFFF: behind every List-Id and folded address */

static const Role by_rank[ROLES] = {ROLE_OWNER, ROLE_MODERATOR, ROLE_MEMBER, ROLE_NONMEMBER};
static const int rank_of[ROLES] = {[ROLE_MEMBER] = 2, [ROLE_OWNER] = 0, [ROLE_MODERATOR] = 1, [ROLE_NONMEMBER] = 3};

/* A member's place in the order: where it lies. All are below one of which list_id is NULL. */
typedef struct PagePlace {
    char *list_id, *folded;
    Role role;
    bool as_user;
} PagePlace;

static void place_clear(PagePlace *place)
{
    g_clear_pointer(&place->list_id, g_free);
    g_clear_pointer(&place->folded, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PagePlace, place_clear)

static PagePlace place_of(const Member *member)
{
    return (PagePlace){g_strdup(member->list_id), mailbox_folded(member->address), member->role, member->as_user};
}

static bool place_parse(const char *text, PagePlace *place, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, "/", 3);
    if (g_strv_length(parts) != 3 || strlen(parts[1]) != 2 || strspn(parts[1], "0123") != 2)
        return fail(error, FAIL_NEVER, "'%s' is no place in a list of members", text);
    *place = (PagePlace){g_strdup(parts[0]), g_strdup(parts[2]), (Role)(parts[1][0] - '0'), parts[1][1] == '1'};
    return true;
}

static int compare_places(const PagePlace *one, const PagePlace *other, bool by_address)
{
    int lists = strcmp(one->list_id, other->list_id), addresses = strcmp(one->folded, other->folded);
    int roles = by_address ? (int)one->role - (int)other->role : rank_of[one->role] - rank_of[other->role];
    if (lists != 0)
        return lists;
    if (by_address && addresses != 0)
        return addresses;
    if (roles != 0)
        return roles;
    return addresses != 0 ? addresses : one->as_user - other->as_user;
}

static int compare_members(const void *one, const void *other, void *by_address)
{
    g_auto(PagePlace) first = place_of(*(const Member *const *)one), second = place_of(*(const Member *const *)other);
    return compare_places(&first, &second, by_address != NULL);
}

/* ---- one page ---- */

typedef struct PageSearch {
    Store *store;
    const MemberCriteria *criteria;
    const char *address;   /* whose memberships are wanted; NULL: anybody's */
    GPatternSpec *pattern; /* of lower-case text; NULL: none */
    const char *contains;  /* "%smith%": for the database, what each match must contain; "": nothing */
    PagePlace *after;          /* NULL: from the first */
    unsigned limit;
    GPtrArray *found;
} PageSearch;

static bool has_role(const MemberCriteria *criteria, Role role)
{
    return criteria->roles == 0 || criteria->roles & 1u << role;
}

Action member_action(Role role, Action own)
{
    return own == ACTION_UNSET && (role == ROLE_OWNER || role == ROLE_MODERATOR) ? ACTION_ACCEPT : own;
}

static bool suits(const PageSearch *search, const Member *member)
{
    const MemberCriteria *criteria = search->criteria;
    if (search->after) {
        g_auto(PagePlace) place = place_of(member);
        if (compare_places(&place, search->after, criteria->by_address) <= 0)
            return false;
    }
    if (!has_role(criteria, member->role) ||
        (criteria->list_id && strcmp(criteria->list_id, member->list_id) != 0) ||
        (criteria->moderation_action >= 0 &&
         (int)member_action(member->role, member->moderation_action) != criteria->moderation_action) ||
        (criteria->delivery_mode >= 0 && member->effective.delivery_mode != criteria->delivery_mode) ||
        (criteria->delivery_status >= 0 && member->effective.delivery_status != criteria->delivery_status))
        return false;
    if (!search->pattern)
        return true;
    g_autofree char *address = g_utf8_strdown(member->address, -1);
    g_autofree char *name = g_utf8_strdown(criteria->given_names ? member->given_name : member->display_name, -1);
    return g_pattern_spec_match_string(search->pattern, address) || g_pattern_spec_match_string(search->pattern, name);
}

/* A range is read in portions, each by a statement of its own: a cursor would be planned by the server each time, and a
 * LIMIT that is a parameter would be planned without knowing how few rows it asks for. */
#define PORTION(rows)                                                                                \
    rows, MEMBER_COLUMNS "WHERE m.list = $1 AND m.role = $2 AND (m.folded, m.by_person) > ($3, $4) " \
                         "AND ($5 < 0 OR $5 = COALESCE(m.moderation_action, $8)) "                   \
                         "AND ($6 < 0 OR $6 = " EFFECTIVE_DELIVERY_MODE ") "                         \
                         "AND ($7 < 0 OR $7 = " EFFECTIVE_DELIVERY_STATUS ") "                       \
                         "AND ($9 = '' OR m.folded LIKE $9 OR lower(m.given_name) LIKE $9) "         \
                         "ORDER BY m.list, m.role, m.folded, m.by_person LIMIT " G_STRINGIFY(rows)
static const struct {
    unsigned rows;
    const char *sql;
} portions[] = {{PORTION(10)}, {PORTION(50)}, {PORTION(250)}, {PORTION(1000)}};

/* Adds at most limit members of one list and role, those behind the place to go on at where begun. */
static bool read_range(const PageSearch *search, int64_t list, Role role, bool begun, GPtrArray *into, GError **error)
{
    const MemberCriteria *criteria = search->criteria;
    const unsigned most = into->len + search->limit;
    bool exact = begun && search->after->role == role; /* else the row of its address may come behind it or not */
    int by_person = exact ? search->after->as_user : -1; /* -1: before both rows of the address */
    g_autofree char *folded = g_strdup(begun ? search->after->folded : "");
    size_t size = 0;
    while (size + 1 < G_N_ELEMENTS(portions) && portions[size].rows < search->limit)
        size++;
    for (bool more = true; more && into->len < most; size = MIN(size + 1, G_N_ELEMENTS(portions) - 1)) {
        unsigned rows = 0;
        Step step;
        g_autofree char *from = g_strdup(folded);
        const Value values[] = {INTEGER(list),
                                INTEGER(role),
                                TEXT(from),
                                INTEGER(by_person),
                                INTEGER(criteria->moderation_action),
                                INTEGER(criteria->delivery_mode),
                                INTEGER(criteria->delivery_status),
                                INTEGER(member_action(role, ACTION_UNSET)),
                                TEXT(search->contains)};
        g_autoptr(Query) query = query_start(search->store, error, portions[size].sql, values, G_N_ELEMENTS(values));
        while ((step = query_step(query, error)) == STEP_ROW) {
            g_autoptr(Member) member = member_read_row(query);
            if (++rows == portions[size].rows) {
                g_free(folded);
                folded = mailbox_folded(member->address);
                by_person = member->as_user;
            }
            if (suits(search, member))
                g_ptr_array_add(into, g_steal_pointer(&member));
        }
        if (step == STEP_FAILED)
            return false;
        more = rows == portions[size].rows;
    }
    if (into->len > most)
        g_ptr_array_set_size(into, (int)most);
    return true;
}

/* The members of one list, as far as the page goes. here: the place to go on at lies in this list. */
static bool read_list(const PageSearch *search, int64_t list, bool here, GError **error)
{
    bool by_address = search->criteria->by_address;
    unsigned before = search->found->len;
    for (int rank = 0; rank < ROLES; rank++) {
        Role role = by_rank[rank];
        bool begun = here && (by_address || role == search->after->role);
        if (!has_role(search->criteria, role) ||
            (here && !by_address && rank < rank_of[search->after->role]))
            continue;
        if (!by_address && search->found->len >= search->limit)
            return true;
        if (!read_range(search, list, role, begun, search->found, error))
            return false;
    }
    if (by_address && search->found->len > before)
        qsort_r(search->found->pdata + before, search->found->len - before, sizeof(void *), compare_members,
                GINT_TO_POINTER(1));
    return true;
}

/* The first list from list_id on (exclusive or not); *key 0: there is none. */
static bool next_list(Store *store, char **list_id, bool inclusive, int64_t *key, GError **error)
{
    g_autoptr(Query) query =
        inclusive
            ? query_open(store, error, "SELECT key, list_id FROM list WHERE list_id >= $1 ORDER BY list_id LIMIT 1",
                         TEXT(*list_id))
            : query_open(store, error, "SELECT key, list_id FROM list WHERE list_id > $1 ORDER BY list_id LIMIT 1",
                         TEXT(*list_id));
    Step step = query_step(query, error);
    *key = step == STEP_ROW ? query_integer(query, 0) : 0;
    if (step == STEP_ROW) {
        char *found = g_strdup(query_text(query, 1));
        g_free(*list_id);
        *list_id = found;
    }
    return step != STEP_FAILED;
}

static bool read_lists(const PageSearch *search, GError **error)
{
    const MemberCriteria *criteria = search->criteria;
    int64_t key;
    if (criteria->list_id) {
        if (!list_key(search->store, criteria->list_id, &key, error))
            return false;
        int order = search->after ? strcmp(search->after->list_id, criteria->list_id) : -1;
        return order > 0 || read_list(search, key, order == 0, error);
    }
    g_autofree char *list_id = g_strdup(search->after ? search->after->list_id : "");
    for (bool first = true; search->found->len < search->limit; first = false) {
        if (!next_list(search->store, &list_id, first, &key, error))
            return false;
        bool here = first && search->after && key != 0 && strcmp(list_id, search->after->list_id) == 0;
        if (key == 0 || !read_list(search, key, here, error))
            return key == 0;
    }
    return true;
}

/* All memberships of a person, by any address or the one given. */
static bool read_person(const PageSearch *search, GError **error)
{
    const MemberCriteria *criteria = search->criteria;
    int64_t person = 0;
    g_autoptr(Mailbox) address = mailbox_new(search->address);
    if (criteria->user_id && !store_id_key(criteria->user_id, &person))
        return true; /* nobody has it */
    if (!criteria->user_id) {
        g_autoptr(GError) unknown = NULL;
        g_auto(Email) known = {0};
        if (!email_find(search->store, address, &known, &unknown))
            return fail_unless(error, FAIL_MISSING, &unknown);
        person = known.person;
    }
    g_autoptr(Query)
        query = query_open(search->store, error, MEMBER_COLUMNS "WHERE m.person = $1 AND ($2 = '' OR m.folded = $2)",
                           INTEGER(person), TEXT(address ? address->folded : ""));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_autoptr(Member) member = member_read_row(query);
        if (suits(search, member))
            g_ptr_array_add(search->found, g_steal_pointer(&member));
    }
    if (search->found->len > 0)
        qsort_r(search->found->pdata, search->found->len, sizeof(void *), compare_members,
                criteria->by_address ? GINT_TO_POINTER(1) : NULL);
    return step == STEP_DONE;
}

static bool is_pattern(const char *subscriber)
{
    return subscriber && (strchr(subscriber, '*') || !strchr(subscriber, '@'));
}

/* The address whose memberships are wanted; NULL: anybody's. */
static const char *address_of(const MemberCriteria *criteria)
{
    return criteria->address || is_pattern(criteria->subscriber) ? criteria->address : criteria->subscriber;
}

/* The longest run of a pattern that every database compares alike, as LIKE has it, so that rows which cannot match are
 * passed over there; "" where names are compared that are not in the member's row. g_free() */
static char *must_contain(const MemberCriteria *criteria, const char *pattern)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789.-+";
    const char *best = "";
    size_t most = 0;
    for (const char *at = criteria->given_names && pattern ? pattern : ""; *at;) {
        size_t length = strspn(at, plain);
        if (length > most) {
            best = at;
            most = length;
        }
        at += length + strcspn(at + length, plain);
    }
    return most > 0 ? g_strdup_printf("%%%.*s%%", (int)most, best) : g_strdup("");
}

/* after NULL: from the first. */
static GPtrArray *read_page(Store *store, const MemberCriteria *criteria, PagePlace *after, unsigned limit,
                            GError **error)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)member_free);
    g_autofree char *lower = criteria->subscriber ? g_utf8_strdown(criteria->subscriber, -1) : NULL;
    const char *address = address_of(criteria);
    GPatternSpec *pattern = is_pattern(lower) ? g_pattern_spec_new(lower) : NULL;
    g_autofree char *contains = must_contain(criteria, pattern ? lower : NULL);
    PageSearch search = {store, criteria, address, pattern, contains, after, limit, found};
    bool done = criteria->user_id || address ? read_person(&search, error) : read_lists(&search, error);
    g_clear_pointer(&search.pattern, g_pattern_spec_free);
    if (!done)
        return NULL;
    if (found->len > limit)
        g_ptr_array_set_size(found, (int)limit);
    return g_steal_pointer(&found);
}

/* ---- passing over ---- */

/* No criteria but list and roles. */
static bool is_plain(const MemberCriteria *criteria)
{
    return !criteria->address && !criteria->subscriber && !criteria->user_id && criteria->moderation_action < 0 &&
           criteria->delivery_mode < 0 && criteria->delivery_status < 0;
}

typedef struct Skip {
    Store *store;
    const MemberCriteria *criteria;
    int64_t left; /* members to be passed over yet */
    PagePlace after;  /* where they end */
} Skip;

static bool skip_list(Skip *skip, int64_t list, const char *list_id, GError **error)
{
    for (int rank = 0; rank < ROLES && skip->left > 0; rank++) {
        int64_t total;
        if (!has_role(skip->criteria, by_rank[rank]))
            continue;
        if (!member_count(skip->store, list_id, by_rank[rank], &total, error))
            return false;
        if (total < skip->left) {
            skip->left -= total;
            continue;
        }
        /* They end within this range: its spans and the keys alone tell where. */
        Role role = by_rank[rank];
        g_autofree char *begins = NULL;
        int64_t within;
        if (!span_seek(skip->store, SPAN_MEMBERS(list, role), skip->left - 1, &begins, &within, error))
            return false;
        g_autoptr(Query) query = query_open(skip->store, error,
                                            "SELECT folded, by_person FROM member WHERE list = $1 AND role = $2 "
                                            "AND folded >= $3 ORDER BY folded, by_person LIMIT 1 OFFSET $4",
                                            INTEGER(list), INTEGER(role), TEXT(begins), INTEGER(within));
        Step step = query_step(query, error);
        skip->left = 0;
        if (step == STEP_FAILED)
            return false;
        skip->after = (PagePlace){g_strdup(list_id), g_strdup(step == STEP_ROW ? query_text(query, 0) : LAST_KEY), role,
                                  step == STEP_ROW && query_integer(query, 1)};
    }
    return true;
}

static bool skip_plain(Skip *skip, GError **error)
{
    int64_t key;
    if (skip->criteria->list_id)
        return list_key(skip->store, skip->criteria->list_id, &key, error) &&
               skip_list(skip, key, skip->criteria->list_id, error);
    g_autofree char *list_id = g_strdup("");
    for (bool more = true; more && skip->left > 0;) {
        if (!next_list(skip->store, &list_id, false, &key, error) ||
            (key != 0 && !skip_list(skip, key, list_id, error)))
            return false;
        more = key != 0;
    }
    return true;
}

/* Reads and drops them. */
static bool skip_slowly(Skip *skip, GError **error)
{
    for (bool more = true; more && skip->left > 0;) {
        unsigned most = (unsigned)MIN(skip->left, CHUNK);
        g_autoptr(GPtrArray) page =
            read_page(skip->store, skip->criteria, skip->after.list_id ? &skip->after : NULL, most, error);
        if (!page)
            return false;
        if (page->len > 0) {
            place_clear(&skip->after);
            skip->after = place_of(page->pdata[page->len - 1]);
        }
        skip->left -= page->len;
        more = page->len == most;
    }
    return true;
}

/* With one role both orders are the same. */
static bool is_by_role(const MemberCriteria *criteria)
{
    return !criteria->by_address || (criteria->roles != 0 && (criteria->roles & (criteria->roles - 1)) == 0);
}

/* Begins behind criteria->skip members. Whole lists and roles are passed over by their totals, and the rest by the keys
 * alone, where the criteria allow it. */
static bool skip_members(Store *store, const MemberCriteria *criteria, PagePlace *after, GError **error)
{
    Skip skip = {.store = store, .criteria = criteria, .left = criteria->skip};
    bool done = is_plain(criteria) && is_by_role(criteria) ? skip_plain(&skip, error) : skip_slowly(&skip, error);
    if (done && skip.left > 0) { /* there are not so many */
        place_clear(&skip.after);
        skip.after = (PagePlace){g_strdup(LAST_KEY), g_strdup(LAST_KEY), ROLE_NONMEMBER, true};
    }
    *after = skip.after;
    return done;
}

/* ---- the contract ---- */

GPtrArray *member_page(Store *store, const MemberCriteria *criteria, const char *after, unsigned limit, char **next,
                       GError **error)
{
    g_auto(PagePlace) place = {0};
    if (next)
        *next = NULL;
    if (after && !place_parse(after, &place, error))
        return NULL;
    if (!after && criteria->skip > 0 && !skip_members(store, criteria, &place, error))
        return NULL;
    GPtrArray *page = read_page(store, criteria, place.list_id ? &place : NULL, limit, error);
    if (page && next && page->len == limit && limit > 0) {
        g_auto(PagePlace) last = place_of(page->pdata[page->len - 1]);
        *next = g_strdup_printf("%s/%d%d/%s", last.list_id, last.role, last.as_user, last.folded);
    }
    return page;
}

char **member_lists(Store *store, const MemberCriteria *criteria, GError **error)
{
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);
    g_auto(PagePlace) behind = {0}; /* the last list found */
    /* A person's memberships are few, and are read at once. */
    unsigned limit = criteria->user_id || address_of(criteria) ? G_MAXINT : 1, found;
    do {
        g_autoptr(GPtrArray) page = read_page(store, criteria, behind.list_id ? &behind : NULL, limit, error);
        if (!page)
            return NULL;
        found = page->len;
        for (unsigned at = 0; at < found; at++) {
            const Member *member = page->pdata[at];
            if (behind.list_id && strcmp(member->list_id, behind.list_id) == 0)
                continue;
            g_ptr_array_add(lists, g_strdup(member->list_id));
            place_clear(&behind);
            behind = (PagePlace){g_strdup(member->list_id), g_strdup(LAST_KEY), ROLE_NONMEMBER, true};
        }
    } while (found == limit);
    g_ptr_array_add(lists, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&lists), FALSE);
}

GPtrArray *member_running_at(Store *store, const char *domain, const char *start, GError **error)
{
    g_autofree char *address = g_strconcat(start, "@", domain, NULL), *plain = mailbox_folded(address);
    g_autofree char *quoted = g_strdup(plain), *plain_end = g_strconcat(plain, LAST_KEY, NULL);
    char *local = strchr(plain, ' ') + 1;
    quoted[local - plain] = '\0';
    g_autofree char *in_quotes = g_strconcat(quoted, "\"", local, NULL);
    g_autofree char *in_quotes_end = g_strconcat(in_quotes, LAST_KEY, NULL);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)member_free);
    g_autoptr(Query) query = query_open(
        store, error,
        MEMBER_COLUMNS "WHERE m.role IN ($5, $6) AND m.address IN (SELECT key FROM address WHERE "
                       "(folded >= $1 AND folded < $2) OR (folded >= $3 AND folded < $4)) ORDER BY l.list_id, m.email",
        TEXT(plain), TEXT(plain_end), TEXT(in_quotes), TEXT(in_quotes_end), INTEGER(ROLE_OWNER),
        INTEGER(ROLE_MODERATOR));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(found, member_read_row(query));
    return step == STEP_DONE ? g_steal_pointer(&found) : NULL;
}

bool member_matching(Store *store, const MemberCriteria *criteria, int64_t *count, GError **error)
{
    MemberCriteria all = *criteria;
    all.skip = 0;
    all.by_address = false;
    *count = 0;
    if (!is_plain(criteria)) {
        g_autofree char *after = NULL;
        do {
            char *next;
            g_autoptr(GPtrArray) page = member_page(store, &all, after, CHUNK, &next, error);
            if (!page)
                return false;
            *count += page->len;
            g_free(after);
            after = next;
        } while (after);
        return true;
    }
    for (Role role = ROLE_MEMBER; role <= ROLE_NONMEMBER; role++) {
        int64_t total = 0;
        if (!has_role(criteria, role))
            continue;
        if (criteria->list_id) {
            if (!member_count(store, criteria->list_id, role, &total, error))
                return false;
        } else {
            if (!query_number(store, error, &total, "SELECT COALESCE(sum(total), 0) FROM span WHERE kind = $1",
                              INTEGER(role)))
                return false;
        }
        *count += total;
    }
    return true;
}
