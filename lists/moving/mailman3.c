/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/mailman3.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/mailman3_internal.h"
#include "lists/moving/moving_internal.h"
#include "store/language.h"
#include "store/lists/list_setting.h"

/* ---- values ---- */

bool mm_flag(const char *text)
{
    return text && (strcmp(text, "1") == 0 || g_ascii_strcasecmp(text, "true") == 0 || strcmp(text, "t") == 0);
}

int64_t mm_integer(const char *text, int64_t fallback)
{
    char *end = NULL;
    int64_t number = text ? g_ascii_strtoll(text, &end, 10) : 0;
    return text && end != text ? number : fallback;
}

int64_t mm_time(const char *text)
{
    if (!text || !*text)
        return 0;
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(text, utc);
    if (!date)
        return 0;
    int64_t seconds = g_date_time_to_unix(date);
    return seconds > 0 ? seconds * CLOCK_SECOND + g_date_time_get_microsecond(date) : 0;
}

static int preference_flag(const char *text)
{
    return text ? mm_flag(text) : -1;
}

static Preferences mm_preferences(Mailman3 *from, ForeignRows *rows, int column, const char *place)
{
    Preferences own = preferences_unset;
    own.acknowledge_posts = preference_flag(foreign_text(rows, column));
    own.hide_address = preference_flag(foreign_text(rows, column + 1));
    own.receive_list_copy = preference_flag(foreign_text(rows, column + 2));
    own.receive_own_postings = preference_flag(foreign_text(rows, column + 3));
    int64_t mode = mm_integer(foreign_text(rows, column + 4), 0),
            status = mm_integer(foreign_text(rows, column + 5), 0);
    if (mode >= 1 && mode <= MODE_SUMMARY_DIGESTS + 1)
        own.delivery_mode = (int)mode - 1;
    else if (mode != 0)
        moving_tell(from->moving, MOVING_LEFT_OUT, place, "delivery_mode", "%" G_GINT64_FORMAT " is no mode", mode);
    if (status >= 1 && status <= DELIVERY_UNKNOWN + 1)
        own.delivery_status = (int)status - 1;
    else if (status != 0)
        moving_tell(from->moving, MOVING_LEFT_OUT, place, "delivery_status", "%" G_GINT64_FORMAT " is no status",
                    status);
    const char *language = foreign_text(rows, column + 6);
    g_autoptr(GError) unknown = NULL;
    if (language && *language && language_check("preferred_language", language, &unknown))
        g_strlcpy(own.preferred_language, language, sizeof own.preferred_language);
    else if (unknown)
        moving_tell(from->moving, MOVING_LEFT_OUT, place, "preferred_language", "%s", unknown->message);
    return own;
}

bool mm_each(Mailman3 *from, const char *sql, const char *argument, Mailman3Row *each, void *data, GError **error)
{
    bool more = true;
    g_autoptr(ForeignRows) rows = foreign_query(from->database, sql, argument, error);
    while (rows && more) {
        if (!foreign_next(rows, &more, error) || (more && !each(from, rows, data, error)))
            return false;
    }
    return rows != NULL;
}

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

static bool take_owner(Mailman3 *from, ForeignRows *rows, void *data, GError **error)
{
    const char *host = foreign_text(rows, 0), *address = foreign_text(rows, 1);
    (void)data;
    if (host && address)
        return moving_domain_owner(from->moving, host, address, error);
    moving_tell(from->moving, MOVING_LEFT_OUT, host, "owner", "the user has no address");
    return true;
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

/* ---- which Mailman it is of, and what an older one does not have ---- */

/* Heads of Mailman's schema, by their names in its table alembic_version, in their order. Those without a version of
 * their own were there between two of them. */
static const struct {
    const char *head, *of;
} versions[] = {
    {"b2e694dfde35", "3.2.0"}, {"15401063d4e3", "3.2.1"}, {"2d2d0ef0828f", NULL},
    {"83339e4039da", "3.3.0"}, {"d151c0b8d6f7", "3.3.1"}, {"9735f5e5dbdb", "3.3.2"},
    {"2b73fbcc97c9", "3.3.3"}, /* and 3.3.4 */
    {"472e6d713047", NULL},    {"ec5fe422e27c", NULL},    {"bc0c49c6dda2", NULL},
    {"98224512c9c2", "3.3.5"}, /* to 3.3.8 */
    {"2156fc3f6f7d", "3.3.9"},
    {"729a8f2045da", NULL},
    {"8cc1f79f4459", "3.3.10"},
    {"bf4cf66cf589", "3.3.11"},
};

/* Columns that came later, with the default that Mailman gives them, which is ours, too. Without a text nothing is told
 * of them. */
static const struct {
    const char *table, *column, *key, *then;
    Mailman3Lack lack;
} later[] = {
    {"mailinglist", "member_roster_visibility", "member_roster_visibility", "it is \"moderators\"", 0},
    {"mailinglist", "archive_rendering_mode", "archive_rendering_mode", "it is \"text\"", 0},
    {"mailinglist", "bounce_notify_owner_on_bounce_increment", "bounce_notify_owner_on_bounce_increment", "it is off",
     0},
    {"mailinglist", "usenet_watermark", "usenet_watermark", "gateways begin with the articles that come next",
     LACKS_WATERMARK},
    {"member", "bounce_score", "bounce scores", "members begin without", LACKS_SCORES},
    {"headermatch", "tag", "tags of header matches", "they have none", LACKS_TAGS},
    {"domain", "base_url", NULL, NULL, LACKS_BASE_URL},
};

/* Set *text (g_free()) to the first column of the first row of sql; NULL, with true, where there is no row. */
static bool first_text(Foreign *database, const char *sql, char **text, GError **error)
{
    bool more;
    g_autoptr(ForeignRows) rows = foreign_query(database, sql, NULL, error);
    if (!rows || !foreign_next(rows, &more, error))
        return false;
    *text = more ? g_strdup(foreign_text(rows, 0)) : NULL;
    return true;
}

/* Is it a database of a known version? */
static bool check_version(Foreign *database, GError **error)
{
    g_autofree char *head = NULL;
    bool has;
    if (!foreign_has(database, "alembic_version", "version_num", &has, error))
        return false;
    if (!has)
        return fail(error, FAIL_CONFIG, "%s is no database of GNU Mailman 3: it has no table alembic_version",
                    foreign_shown(database));
    if (!first_text(database, "SELECT `version_num` FROM alembic_version", &head, error))
        return false;
    g_autoptr(GString) known = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(versions); i++) {
        if (g_strcmp0(versions[i].head, head) == 0)
            return true;
        if (versions[i].of)
            g_string_append_printf(known, "%s%s (%s)", i > 0 ? ", " : "", versions[i].head, versions[i].of);
    }
    return fail(error, FAIL_CONFIG,
                "%s: the version \"%s\" of its schema (alembic_version) is not known; known are those of Mailman 3.2.0 "
                "to 3.3.11, which are %s. Bring an older Mailman up to date first",
                foreign_shown(database), head ? head : "", known->str);
}

/* Set from->lacks to the columns that the database lacks, and tell what is imported in place of their values. */
static bool find_lacks(Mailman3 *from, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(later); i++) {
        bool has;
        if (!foreign_has(from->database, later[i].table, later[i].column, &has, error))
            return false;
        if (has)
            continue;
        from->lacks |= later[i].lack;
        if (later[i].then)
            moving_tell(from->moving, MOVING_CHANGED, "", later[i].key, "this Mailman is too old to have that; %s",
                        later[i].then);
    }
    return true;
}

char *mailman3_source(Foreign *database, GError **error)
{
    static const char *const tables[] = {
        "domain",  "mailinglist", "user",          "address",         "member",       "preferences",
        "ban",     "headermatch", "contentfilter", "acceptablealias", "listarchiver", "template",
        "message", "_request",    "pended",        "pendedkeyvalue",  "workflowstate"};
    g_autofree char *first = NULL;
    if (!foreign_verify(database, error) || !check_version(database, error))
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        bool has;
        if (!foreign_has(database, tables[i], NULL, &has, error))
            return NULL;
        if (!has) {
            fail(error, FAIL_CONFIG, "%s has no table %s: it is damaged, or no database of GNU Mailman 3",
                 foreign_shown(database), tables[i]);
            return NULL;
        }
    }
    if (!first_text(database,
                    "SELECT COALESCE((SELECT `_user_id` FROM \"user\" ORDER BY id LIMIT 1), "
                    "(SELECT `list_id` FROM mailinglist ORDER BY id LIMIT 1), 'empty')",
                    &first, error))
        return NULL;
    return g_strdup_printf("mailman3 %s", first);
}

/* ---- all ---- */

bool mm_wants(const Mailman3 *from, const char *list_id)
{
    return !from->chosen || g_hash_table_contains(from->chosen, list_id);
}

/* Find the lists of these names, List-Ids or addresses; *chosen is NULL where names is, for all of them. */
static bool choose(Foreign *database, char *const *names, GHashTable **chosen, GError **error)
{
    bool more = true;
    *chosen = NULL;
    if (!names)
        return true;
    g_autoptr(GHashTable) all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree bool *found = g_new0(bool, g_strv_length((char **)names));
    g_autoptr(ForeignRows) rows =
        foreign_query(database, "SELECT `list_id`, `list_name`, `mail_host` FROM mailinglist", NULL, error);
    while (rows && more) {
        if (!foreign_next(rows, &more, error))
            return false;
        const char *list_id = more ? foreign_text(rows, 0) : NULL;
        if (!list_id)
            continue;
        g_autofree char *address = g_strdup_printf("%s@%s", foreign_text(rows, 1), foreign_text(rows, 2));
        for (size_t at = 0; names[at]; at++)
            if (g_ascii_strcasecmp(names[at], list_id) == 0 || g_ascii_strcasecmp(names[at], address) == 0) {
                found[at] = true;
                g_hash_table_add(all, g_strdup(list_id));
            }
    }
    for (size_t at = 0; rows && names[at]; at++)
        if (!found[at])
            return fail(error, FAIL_MISSING, "Mailman has no list %s; wanted: a List-Id or an address", names[at]);
    *chosen = rows ? g_steal_pointer(&all) : NULL;
    return rows != NULL;
}

bool mailman3_each_list(Foreign *database, char *const *lists, Mailman3List *each, void *data, GError **error)
{
    bool more = true;
    GHashTable *found;
    if (!choose(database, lists, &found, error))
        return false;
    g_autoptr(GHashTable) chosen = found;
    g_autoptr(ForeignRows)
        rows = foreign_query(database, "SELECT `list_id` FROM mailinglist ORDER BY list_id", NULL, error);
    while (rows && more) {
        if (!foreign_next(rows, &more, error))
            return false;
        const char *list_id = more ? foreign_text(rows, 0) : NULL;
        if (list_id && (!chosen || g_hash_table_contains(chosen, list_id)) && !each(list_id, data, error))
            return false;
    }
    return rows != NULL;
}

/* Import what belongs to no list: the domains, all people, and who owns which domain. */
static bool import_site(Mailman3 *from, GError **error)
{
    const struct {
        const char *part, *sql;
        Mailman3Row *take;
        MovingWay way;
        const char *then; /* a second query, or NULL */
        Mailman3Row *take_then;
    } parts[] = {
        {"domains",
         from->lacks & LACKS_BASE_URL
             ? "SELECT `mail_host`, `description`, `alias_domain`, NULL FROM domain ORDER BY id"
             : "SELECT `mail_host`, `description`, `alias_domain`, `base_url` FROM domain ORDER BY id",
         take_domain, MOVING_AT_ONCE, NULL, NULL},
        {"people", people_sql, take_address, MOVING_IN_PORTIONS,
         "SELECT `count(*)` FROM \"user\" u WHERE NOT EXISTS (SELECT 1 FROM address a WHERE a.user_id = u.id)",
         tell_homeless},
        {"owners of domains",
         "SELECT `d.mail_host`, `(SELECT min(a.email) FROM address a WHERE a.user_id = o.user_id)` "
         "FROM domain_owner o JOIN domain d ON d.id = o.domain_id ORDER BY o.domain_id, o.user_id",
         take_owner, MOVING_AT_ONCE, NULL, NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(parts); at++) {
        bool whole;
        if (!moving_begin(from->moving, parts[at].part, NULL, parts[at].way, &whole, error))
            return false;
        if (!whole && (!mm_each(from, parts[at].sql, NULL, parts[at].take, NULL, error) ||
                       (parts[at].then && !mm_each(from, parts[at].then, NULL, parts[at].take_then, NULL, error)) ||
                       !moving_end(from->moving, error)))
            return false;
    }
    return true;
}

bool mailman3_move(Foreign *database, const char *var, char *const *lists, Moving *moving, GError **error)
{
    Mailman3 from = {.database = database, .var = var, .moving = moving};
    if (!choose(database, lists, &from.chosen, error))
        return false;
    bool done = find_lacks(&from, error);
    if (done && moving->site.of_site) /* people, and what is the site's */
        done = import_site(&from, error) && mm_site(&from, error);
    done = done && mm_lists(&from, error) && mm_requests(&from, error) && (lists || mm_left_behind(&from, error)) &&
           moving_finish(moving, error);
    g_clear_pointer(&from.chosen, g_hash_table_unref);
    return done;
}
