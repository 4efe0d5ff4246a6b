/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Domains, people and members of Mailman 3. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/mailman3_internal.h"
#include "store/lists/list_setting.h"

/* In the order in which the store keeps addresses: by domain, then local part. */
#define ORDER_OF(a) \
    "`lower(substr(" a ".email, @position@(" a ".email, '@') + 1))` @bytes@, `lower(" a ".email)` @bytes@"
#define BY_ADDRESS ORDER_OF("a")
/* As it was first written. */
#define EMAIL_OF(a) "`COALESCE(NULLIF(" a "._original, ''), " a ".email)`"
#define EMAIL EMAIL_OF("a")
#define FIRST_EMAIL \
    "(SELECT " EMAIL_OF("b") " FROM address b WHERE b.user_id = u.id ORDER BY " ORDER_OF("b") " LIMIT 1)"

/* ---- domains ---- */

static bool take_domain(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *name = foreign_text(rows, 0), *alias = foreign_text(rows, 2), *url = foreign_text(rows, 3);
    (void)data;
    if (!name)
        return true;
    if (url && *url)
        moving_tell(from->moving, MOVING_LOST, name, "base_url",
                    "%s: all domains have the pages of web_url in the section [site]", url);
    return moving_domain(from->moving, &(MovingDomain){name, foreign_text(rows, 1), alias && *alias ? alias : NULL},
                         error);
}

bool mm_domains(Mailman3 *from, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "domains", NULL, MOVING_AT_ONCE, &whole, error) &&
           (whole || (mm_each(from,
                              from->lacks & LACKS_BASE_URL
                                  ? "SELECT `mail_host`, `description`, `alias_domain`, NULL FROM domain ORDER BY id"
                                  : "SELECT `mail_host`, `description`, `alias_domain`, `base_url` FROM domain "
                                    "ORDER BY id",
                              NULL, take_domain, NULL, error) &&
                      moving_end(from->moving, error)));
}

static bool take_owner(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *host = foreign_text(rows, 0), *address = foreign_text(rows, 1);
    (void)data;
    if (host && address)
        return moving_domain_owner(from->moving, host, address, error);
    moving_tell(from->moving, MOVING_LEFT_OUT, host, "owner", "the user has no address");
    return true;
}

bool mm_domain_owners(Mailman3 *from, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "owners of domains", NULL, MOVING_AT_ONCE, &whole, error) &&
           (whole || (mm_each(from,
                              "SELECT `d.mail_host`, `(SELECT min(a.email) FROM address a WHERE "
                              "a.user_id = o.user_id)` FROM domain_owner o JOIN domain d ON d.id = o.domain_id "
                              "ORDER BY o.domain_id, o.user_id",
                              NULL, take_owner, NULL, error) &&
                      moving_end(from->moving, error)));
}

/* ---- people ---- */

enum PeopleColumn {
    EMAIL_,
    NAME,
    VERIFIED,
    REGISTERED,
    USER,
    USER_NAME,
    PASSWORD,
    CREATED,
    SERVER_OWNER,
    PREFERRED,
    FIRST, /* the first address of the user in this order */
    OF_ADDRESS,
    OF_USER = OF_ADDRESS + MM_PREFERENCE_COUNT,
};

/* clang-format off */
/* Whom a post alone made known comes with the list, as a nonmember (moving_member()). */
static const char people_sql[] =
    "SELECT " EMAIL ", `a.display_name`, `a.verified_on`, `a.registered_on`, `u.id`, `u.display_name`, `u.password`, "
    "`u._created_on`, `u.is_server_owner`, CASE WHEN u._preferred_address_id = a.id THEN '1' ELSE '0' END, "
    FIRST_EMAIL ", " MM_PREFERENCES("pa") ", " MM_PREFERENCES("pu") " "
    "FROM address a LEFT JOIN \"user\" u ON u.id = a.user_id LEFT JOIN preferences pa ON pa.id = a.preferences_id "
    "LEFT JOIN preferences pu ON pu.id = u.preferences_id "
    "WHERE a.user_id IS NOT NULL OR a.verified_on IS NOT NULL OR EXISTS (SELECT 1 FROM member m "
    "WHERE m.address_id = a.id AND m.role <> 4) ORDER BY " BY_ADDRESS;
/* clang-format on */

static bool take_address(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *email = foreign_text(rows, EMAIL_), *number = foreign_text(rows, USER);
    (void)data;
    if (!email) {
        moving_tell(from->moving, MOVING_LEFT_OUT, "", "address", "it is empty");
        return true;
    }
    const char *first = foreign_text(rows, FIRST), *with = first && strcmp(first, email) != 0 ? first : NULL;
    CarryUser user = {.display_name = foreign_text(rows, USER_NAME),
                        .server_owner = mm_flag(foreign_text(rows, SERVER_OWNER)),
                        .created_at = mm_time(foreign_text(rows, CREATED))};
    if (number && !with) {
        /* Hashes are of crypt(5), such as Mailman makes; it also reads others, of which nothing here knows. */
        const char *hash = foreign_text(rows, PASSWORD);
        user.password = hash && *hash == '$' ? hash : NULL;
        if (hash && *hash && *hash != '$')
            moving_tell(from->moving, MOVING_LEFT_OUT, email, "password", "its hash is not one of crypt(5)");
        user.preferences = mm_preferences(from, rows, OF_USER, email);
    }
    const CarryAddress address = {.email = email,
                                    .display_name = foreign_text(rows, NAME),
                                    .registered_at = mm_time(foreign_text(rows, REGISTERED)),
                                    .verified_at = mm_time(foreign_text(rows, VERIFIED)),
                                    .preferred = mm_flag(foreign_text(rows, PREFERRED)),
                                    .preferences = mm_preferences(from, rows, OF_ADDRESS, email),
                                    .user = number ? &user : NULL,
                                    .with = with};
    return moving_address(from->moving, &address, error);
}

static bool tell_homeless(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    (void)data, (void)error;
    int64_t count = mm_integer(foreign_text(rows, 0), 0);
    if (count > 0)
        moving_tell(from->moving, MOVING_LOST, "", "users",
                    "%" G_GINT64_FORMAT " have no address, so nobody can be "
                    "written to",
                    count);
    return true;
}

bool mm_people(Mailman3 *from, GError **error)
{
    bool whole;
    return moving_begin(from->moving, "people", NULL, MOVING_IN_PORTIONS, &whole, error) &&
           (whole || (mm_each(from, people_sql, NULL, take_address, NULL, error) &&
                      mm_each(from,
                              "SELECT `count(*)` FROM \"user\" u WHERE NOT EXISTS "
                              "(SELECT 1 FROM address a WHERE a.user_id = u.id)",
                              NULL, tell_homeless, NULL, error) &&
                      moving_end(from->moving, error)));
}

/* ---- members ---- */

enum MemberColumn {
    M_ROLE,
    M_ACTION,
    M_AS_USER,
    M_EMAIL,
    M_NAME,
    M_SCORE,
    M_BOUNCED,
    M_WARNED,
    M_WARNINGS,
    M_STATUS,
    M_NUMBER,
    M_OWN,
};

#define SCORES "`m.bounce_score`, `m.last_bounce_received`, `m.last_warning_sent`, `m.total_warnings_sent`, "
#define NO_SCORES "NULL, NULL, NULL, NULL, "
/* clang-format off */
static const char members_sql[] =
    "SELECT `m.role`, `m.moderation_action`, CASE WHEN m.user_id IS NULL THEN '0' ELSE '1' END, " EMAIL ", "
    "`COALESCE(NULLIF(a.display_name, ''), o.display_name)`, %s"
    "`COALESCE(pm.delivery_status, pa.delivery_status, po.delivery_status)`, `m.id`, %s "
    "FROM member m LEFT JOIN \"user\" u ON u.id = m.user_id "
    "LEFT JOIN address a ON a.id = COALESCE(m.address_id, u._preferred_address_id) "
    "LEFT JOIN \"user\" o ON o.id = a.user_id LEFT JOIN preferences pm ON pm.id = m.preferences_id "
    "LEFT JOIN preferences pa ON pa.id = a.preferences_id LEFT JOIN preferences po ON po.id = o.preferences_id "
    "WHERE m.list_id = $1 ORDER BY m.role, " BY_ADDRESS;
/* clang-format on */

static bool take_member(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const List *list = data;
    int64_t role = mm_integer(foreign_text(rows, M_ROLE), 0), action = mm_integer(foreign_text(rows, M_ACTION), -1);
    const char *email = foreign_text(rows, M_EMAIL), *number = foreign_text(rows, M_NUMBER);
    bool as_user = mm_flag(foreign_text(rows, M_AS_USER));
    g_autofree char *key = g_strdup_printf("member %s", number);
    if (role < 1 || role > ROLE_NONMEMBER + 1 || !email) {
        moving_tell(from->moving, MOVING_LEFT_OUT, list->list_id, key, "%s",
                    email     ? "its role is none of the four"
                    : as_user ? "its user is not there, or prefers no address"
                              : "its address is not there");
        return true;
    }
    if (action < -1 || action > ACTION_DEFER)
        moving_tell(from->moving, MOVING_LEFT_OUT, list->list_id, key, "%" G_GINT64_FORMAT " is no moderation_action",
                    action);
    CarryMember member = {.list_id = list->list_id,
                            .address = email,
                            .display_name = foreign_text(rows, M_NAME),
                            .role = (Role)(role - 1),
                            .as_user = as_user,
                            .moderation_action = action >= 0 && action <= ACTION_DEFER ? (Action)action : ACTION_UNSET,
                            .preferences = mm_preferences(from, rows, M_OWN, email),
                            .score = MAX(mm_integer(foreign_text(rows, M_SCORE), 0), 0) * 100,
                            .bounced_at = mm_time(foreign_text(rows, M_BOUNCED)),
                            .warned_at = mm_time(foreign_text(rows, M_WARNED)),
                            .warnings = MAX(mm_integer(foreign_text(rows, M_WARNINGS), 0), 0)};
    /* When the bounce runner has to look at the member again (runners/bounces/score.h). */
    if (mm_integer(foreign_text(rows, M_STATUS), 0) == DELIVERY_BY_BOUNCES + 1) {
        member.score = 0;
        member.disabled_at = MAX(member.bounced_at, 1);
        member.next_at = MAX(member.warned_at + list->settings->bounce_you_are_disabled_warnings_interval, clock_now());
    } else if (member.score > 0) {
        member.next_at = member.bounced_at + list->settings->bounce_info_stale_after + 1;
    }
    return moving_member(from->moving, &member, error);
}

/* Mailman's kinds of automatic answers, of which the first, to held posts, is counted by day alone. */
static bool take_answer(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    static const char *const kinds[] = {NULL, NULL, "requests", "owner", "postings"};
    const List *list = data;
    int64_t kind = mm_integer(foreign_text(rows, 0), 0);
    g_autofree char *date = g_strdup_printf("%s 00:00:00", foreign_text(rows, 2));
    const char *address = foreign_text(rows, 1);
    if (kind < 2 || kind > 4 || !address)
        return true;
    return moving_answered(from->moving, list->list_id, kinds[kind], address, mm_time(date), error);
}

bool mm_members(Mailman3 *from, const List *list, GError **error)
{
    bool whole;
    g_autofree char *sql = g_strdup_printf(members_sql, from->lacks & LACKS_SCORES ? NO_SCORES : SCORES,
                                           from->chosen ? MM_PREFERENCES_OF_ALL : MM_PREFERENCES("pm"));
    return moving_begin(from->moving, "members", list->list_id, MOVING_IN_PORTIONS, &whole, error) &&
           (whole ||
            (mm_each(from, sql, list->list_id, take_member, (void *)list, error) &&
             mm_each(from,
                     "SELECT `r.response_type`, `a.email`, `max(r.date_sent)`"
                     " FROM autoresponserecord r JOIN address a ON a.id = r.address_id "
                     "JOIN mailinglist l ON l.id = r.mailing_list_id WHERE l.list_id = $1 AND r.response_type > 1 "
                     "GROUP BY r.response_type, a.email",
                     list->list_id, take_answer, (void *)list, error) &&
             moving_end(from->moving, error)));
}
