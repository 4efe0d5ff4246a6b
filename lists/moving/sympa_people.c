/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Users, owners, editors and members of a list of Sympa: from its database, or from the files that it dumps. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/moving/sympa_internal.h"
#include "store/language.h"

/* The settings of members that cannot be taken over as they are. Of each the import tells how many members had it. */
typedef enum SympaCount {
    COUNT_NOTICE,
    COUNT_SHAPE,
    COUNT_UNTIL,
    COUNT_LATER,
    COUNT_SOURCE,
    COUNT_TOPICS,
    COUNT_ATTRIBUTES,
    COUNT_BOUNCES,
    COUNT_PASSWORDS,
    COUNT_SILENT,
    COUNTS
} SympaCount;

static const struct {
    MovingNote note;
    const char *key, *text;
} counted[COUNTS] = {
    [COUNT_NOTICE] = {MOVING_CHANGED, "reception notice", "members got subjects alone, and get whole posts"},
    [COUNT_SHAPE] = {MOVING_CHANGED, "reception txt, urlize", "members get posts as they are"},
    [COUNT_UNTIL] = {MOVING_CHANGED, "suspend_end_date", "members get no mail until they ask for it again"},
    [COUNT_LATER] = {MOVING_LOST, "suspend_start_date", "members wanted no mail from a later day on"},
    [COUNT_SOURCE] = {MOVING_CHANGED, "inclusion", "members came from a source outside, and are like all others"},
    [COUNT_TOPICS] = {MOVING_LOST, "topics", "members chose topics"},
    [COUNT_ATTRIBUTES] = {MOVING_LOST, "custom_attribute", "members have attributes"},
    [COUNT_BOUNCES] = {MOVING_LOST, "bounce_score", "members whose mail came back begin anew"},
    [COUNT_PASSWORDS] = {MOVING_LOST, "password", "hashes are not of bcrypt, so these people set a new password"},
    [COUNT_SILENT] = {MOVING_CHANGED, "reception nomail", "owners and editors wanted no letters, and get them"},
};

typedef struct People {
    const SympaList *list;
    uint64_t counts[COUNTS];
    GHashTable *free; /* keys of addresses of the staff who may post where members may not; NULL: members may */
} People;

/* ---- rows ---- */

typedef bool TakeRow(People *people, ForeignRows *rows, void *data, GError **error);

static bool each_row(People *people, const char *sql, TakeRow *take, void *data, GError **error)
{
    bool more = true;
    const SympaList *list = people->list;
    g_autoptr(ForeignRows) rows = foreign_query(list->sympa->database, sql, list->address, error);
    while (rows && more)
        if (!foreign_next(rows, &more, error) || (more && !take(people, rows, data, error)))
            return false;
    return rows != NULL;
}

/* Of the list whose address is $1; Sympa writes these names in lower case. The columns stand alone, so that an index
 * on them is used: Sympa's primary key has them, in an order that differs from site to site. */
#define OF_ROBOT(table) "robot_" table " = substr(`$1`, @position@(`$1`, '@') + 1)"
#define OF_LIST(table) "list_" table " = substr(`$1`, 1, @position@(`$1`, '@') - 1) AND " OF_ROBOT(table)

bool sympa_check_database(Foreign *database, GError **error)
{
    static const char *const columns[][2] = {
        {"subscriber_table", "user_subscriber"},
        {"subscriber_table", "list_subscriber"},
        {"subscriber_table", "robot_subscriber"},
        {"subscriber_table", "reception_subscriber"},
        {"admin_table", "user_admin"},
        {"admin_table", "role_admin"},
        {"user_table", "email_user"},
        {"user_table", "password_user"},
    };
    if (!foreign_verify(database, error))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        bool has;
        if (!foreign_has(database, columns[i][0], columns[i][1], &has, error))
            return false;
        if (!has)
            return fail(error, FAIL_CONFIG, "%s has no %s.%s: it is damaged, or no database of Sympa",
                        foreign_shown(database), columns[i][0], columns[i][1]);
    }
    return true;
}

/* ---- users ---- */

static bool take_user(People *people, ForeignRows *rows, void *data, GError **error)
{
    (void)data;
    Moving *moving = people->list->sympa->moving;
    const char *email = foreign_text(rows, 0), *name = foreign_text(rows, 1), *hash = foreign_text(rows, 2),
               *lang = foreign_text(rows, 3), *login = foreign_text(rows, 4);
    g_autofree char *key = email ? mailbox_key(email) : NULL;
    if (!key || g_hash_table_contains(people->list->sympa->addresses, key))
        return true; /* it is told as a member */
    bool usable = hash &&
                  (g_str_has_prefix(hash, "$2a$") || g_str_has_prefix(hash, "$2b$") || g_str_has_prefix(hash, "$2y$"));
    people->counts[COUNT_PASSWORDS] += hash && *hash && !usable;
    CarryUser user = {.display_name = name ? name : "",
                        .password = usable ? hash : NULL,
                        .created_at = clock_now(),
                        .preferences = preferences_unset};
    g_autofree char *code = sympa_language(lang ? lang : "");
    g_autoptr(GError) unknown = NULL;
    if (*code && language_check("lang_user", code, &unknown))
        g_strlcpy(user.preferences.preferred_language, code, sizeof user.preferences.preferred_language);
    else if (unknown)
        moving_tell(moving, MOVING_LEFT_OUT, email, "lang_user", "%s", unknown->message);
    const int64_t seen = login ? g_ascii_strtoll(login, NULL, 10) : 0;
    const CarryAddress address = {.email = email,
                                    .display_name = user.display_name,
                                    .verified_at = CLAMP(seen, 0, INT32_MAX) * CLOCK_SECOND,
                                    .preferred = true,
                                    .preferences = preferences_unset,
                                    .user = &user};
    return moving_address(moving, &address, error);
}

static bool take_users(People *people, GError **error)
{
    bool has;
    if (!foreign_has(people->list->sympa->database, "user_table", "last_login_date_user", &has, error))
        return false;
    g_autofree char *sql = g_strdup_printf(
        "SELECT `email_user`, `gecos_user`, `password_user`, `lang_user`, %s FROM user_table WHERE email_user IN "
        "(SELECT user_subscriber FROM subscriber_table WHERE " OF_LIST(
            "subscriber") ") OR email_user IN "
                          "(SELECT user_admin FROM admin_table WHERE " OF_LIST(
                              "admin") ") ORDER BY `email_user` @bytes@",
        has ? "`last_login_date_user`" : "NULL");
    return each_row(people, sql, take_user, NULL, error);
}

/* ---- owners and editors ---- */

static bool take_staff(People *people, ForeignRows *rows, void *data, GError **error)
{
    (void)people, (void)error;
    if (foreign_text(rows, 0))
        g_ptr_array_add(data, g_strdup(foreign_text(rows, 0)));
    return true;
}

/* Paragraphs of the config of that name, or all of a dump where name is NULL. */
static void add_paragraphs(GPtrArray *staff, const GPtrArray *config, const char *name)
{
    for (guint i = 0; i < config->len; i++) {
        const SympaParagraph *paragraph = config->pdata[i];
        bool wanted = !name || g_ascii_strcasecmp(paragraph->name, name) == 0;
        const char *email = !name && strcmp(paragraph->name, "email") == 0 ? paragraph->value
                                                                           : sympa_config_value(paragraph, "email");
        if (wanted && email && *email)
            g_ptr_array_add(staff, g_strdup(email));
    }
}

GPtrArray *sympa_staff(const SympaList *list, Role role, GError **error)
{
    People people = {.list = list};
    GPtrArray *dump = NULL;
    const char *name = role == ROLE_OWNER ? "owner" : "editor";
    g_autoptr(GPtrArray) staff = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *file = g_strconcat(name, ".dump", NULL);
    g_autofree char *sql = g_strdup_printf("SELECT `user_admin` FROM admin_table WHERE role_admin = '%s' AND " OF_LIST(
                                               "admin") " ORDER BY `user_admin` @bytes@",
                                           name);
    if (list->sympa->database ? !each_row(&people, sql, take_staff, staff, error)
                              : !sympa_read_config(list, file, SYMPA_CONFIG_MAX, &dump, error))
        return NULL;
    if (dump)
        add_paragraphs(staff, dump, NULL);
    g_clear_pointer(&dump, g_ptr_array_unref);
    if (staff->len == 0 && list->config) /* where Sympa had them before 6.2.33 */
        add_paragraphs(staff, list->config, name);
    return g_steal_pointer(&staff);
}

static bool move_staff(People *people, Role role, bool free, GError **error)
{
    g_autoptr(GPtrArray) staff = sympa_staff(people->list, role, error);
    for (guint i = 0; staff && i < staff->len; i++) {
        const CarryMember member = {.list_id = people->list->list_id,
                                      .address = staff->pdata[i],
                                      .role = role,
                                      .moderation_action = ACTION_UNSET,
                                      .preferences = preferences_unset};
        char *key = free && people->free ? mailbox_key(member.address) : NULL;
        if (key)
            g_hash_table_add(people->free, key);
        if (!moving_member(people->list->sympa->moving, &member, error))
            return false;
    }
    return staff != NULL;
}

static bool count_row(People *people, ForeignRows *rows, void *data, GError **error)
{
    (void)rows, (void)data, (void)error;
    people->counts[COUNT_SILENT]++;
    return true;
}

/* Count owners and editors who get no letters of the list there. All get them here. */
static bool count_silent(People *people, GError **error)
{
    bool has;
    static const char *const dumps[] = {"owner.dump", "editor.dump"};
    if (people->list->sympa->database)
        return foreign_has(people->list->sympa->database, "admin_table", "reception_admin", &has, error) &&
               (!has || each_row(people,
                                 "SELECT `user_admin` FROM admin_table WHERE reception_admin = 'nomail' AND "
                                 "role_admin IN ('owner', 'editor') AND " OF_LIST("admin"),
                                 count_row, NULL, error));
    for (size_t i = 0; i < G_N_ELEMENTS(dumps); i++) {
        GPtrArray *read = NULL;
        if (!sympa_read_config(people->list, dumps[i], SYMPA_CONFIG_MAX, &read, error))
            return false;
        g_autoptr(GPtrArray) dump = read;
        for (guint at = 0; dump && at < dump->len; at++)
            people->counts[COUNT_SILENT] += g_strcmp0(sympa_config_value(dump->pdata[at], "reception"), "nomail") == 0;
    }
    return true;
}

/* ---- members ---- */

/* As the database and the dump call it. */
typedef enum SympaField {
    EMAIL,
    GECOS,
    RECEPTION,
    VISIBILITY,
    SUSPEND,
    START,
    END,
    INCLUSION,
    TOPICS,
    ATTRIBUTES,
    SCORE,
    FIELDS
} SympaField;

static const struct {
    const char *column, *key;
} fields[FIELDS] = {
    {"user_subscriber", "email"},
    {"comment_subscriber", "gecos"},
    {"reception_subscriber", "reception"},
    {"visibility_subscriber", "visibility"},
    {"suspend_subscriber", "suspend"},
    {"suspend_start_date_subscriber", "startdate"},
    {"suspend_end_date_subscriber", "enddate"},
    {"inclusion_subscriber", "inclusion"},
    {"topics_subscriber", "topics"},
    {"custom_attribute_subscriber", "custom_attribute"},
    {"bounce_score_subscriber", "bounce_score"},
};

static bool is_set(const char *text)
{
    return text && *text && strcmp(text, "0") != 0;
}

static void set_reception(People *people, const char *const *values, Preferences *own)
{
    const char *reception = values[RECEPTION] ? values[RECEPTION] : "mail";
    if (strcmp(reception, "digest") == 0)
        own->delivery_mode = MODE_MIME_DIGESTS;
    else if (strcmp(reception, "digestplain") == 0)
        own->delivery_mode = MODE_PLAINTEXT_DIGESTS;
    else if (strcmp(reception, "summary") == 0)
        own->delivery_mode = MODE_SUMMARY_DIGESTS;
    else if (strcmp(reception, "nomail") == 0)
        own->delivery_status = DELIVERY_BY_USER;
    else if (strcmp(reception, "not_me") == 0)
        own->receive_own_postings = 0;
    else if (strcmp(reception, "notice") == 0)
        people->counts[COUNT_NOTICE]++;
    else if (strcmp(reception, "txt") == 0 || strcmp(reception, "urlize") == 0)
        people->counts[COUNT_SHAPE]++;
    else if (*reception && strcmp(reception, "mail") != 0 && strcmp(reception, "html") != 0)
        moving_tell(people->list->sympa->moving, MOVING_LEFT_OUT, people->list->list_id, values[EMAIL],
                    "\"%s\" is no reception, so whole posts are sent", reception);
}

static bool take_member(People *people, const char *const *values, GError **error)
{
    Preferences own = preferences_unset;
    set_reception(people, values, &own);
    const int64_t now = clock_now() / CLOCK_SECOND;
    const int64_t start = values[START] ? g_ascii_strtoll(values[START], NULL, 10) : 0,
                  end = values[END] ? g_ascii_strtoll(values[END], NULL, 10) : 0;
    bool suspended = is_set(values[SUSPEND]) && (end <= 0 || end >= now), later = suspended && start > now;
    if (suspended && !later)
        own.delivery_status = DELIVERY_BY_USER;
    people->counts[COUNT_LATER] += later;
    people->counts[COUNT_UNTIL] += suspended && !later && end > 0;
    if (g_strcmp0(values[VISIBILITY], "conceal") == 0)
        own.hide_address = 1;
    people->counts[COUNT_SOURCE] += is_set(values[INCLUSION]);
    people->counts[COUNT_TOPICS] += is_set(values[TOPICS]);
    people->counts[COUNT_ATTRIBUTES] += is_set(values[ATTRIBUTES]);
    people->counts[COUNT_BOUNCES] += is_set(values[SCORE]);
    g_autofree char *key = people->free ? mailbox_key(values[EMAIL]) : NULL;
    bool free = key && g_hash_table_contains(people->free, key);
    const CarryMember member = {.list_id = people->list->list_id,
                                  .address = values[EMAIL],
                                  .display_name = values[GECOS],
                                  .role = ROLE_MEMBER,
                                  .moderation_action = free ? ACTION_ACCEPT : ACTION_UNSET,
                                  .preferences = own};
    return moving_member(people->list->sympa->moving, &member, error);
}

static bool take_row(People *people, ForeignRows *rows, void *data, GError **error)
{
    (void)data;
    const char *values[FIELDS];
    for (int field = 0; field < FIELDS; field++)
        values[field] = foreign_text(rows, field);
    if (!values[EMAIL])
        moving_tell(people->list->sympa->moving, MOVING_LEFT_OUT, people->list->list_id, "member", "it has no address");
    return !values[EMAIL] || take_member(people, values, error);
}

/* Columns that an older Sympa has not are NULL. */
static bool take_rows(People *people, GError **error)
{
    g_autoptr(GString) sql = g_string_new("SELECT ");
    for (int field = 0; field < FIELDS; field++) {
        bool has;
        if (!foreign_has(people->list->sympa->database, "subscriber_table", fields[field].column, &has, error))
            return false;
        g_string_append(sql, field > 0 ? ", " : "");
        if (has)
            g_string_append_printf(sql, "`%s`", fields[field].column);
        else
            g_string_append(sql, "NULL");
    }
    g_string_append(sql, " FROM subscriber_table WHERE " OF_LIST("subscriber") " ORDER BY `user_subscriber` @bytes@");
    return each_row(people, sql->str, take_row, NULL, error);
}

static bool take_dump(People *people, GError **error)
{
    const SympaList *list = people->list;
    Moving *moving = list->sympa->moving;
    GPtrArray *read = NULL;
    if (!sympa_read_config(list, "member.dump", SYMPA_DUMP_MAX, &read, error) ||
        (!read && !sympa_read_config(list, "subscribers", SYMPA_DUMP_MAX, &read, error)))
        return false;
    g_autoptr(GPtrArray) dump = read;
    if (!dump)
        moving_tell(moving, MOVING_LEFT_OUT, list->list_id, "members",
                    "there is no member.dump: name Sympa's database with --db");
    for (guint i = 0; dump && i < dump->len; i++) {
        const SympaParagraph *paragraph = dump->pdata[i];
        const char *values[FIELDS];
        for (int field = 0; field < FIELDS; field++)
            values[field] = strcmp(paragraph->name, fields[field].key) == 0
                                ? paragraph->value
                                : sympa_config_value(paragraph, fields[field].key);
        g_autofree char *key = g_strdup_printf("line %u of its members", paragraph->line);
        if (!values[EMAIL])
            moving_tell(moving, MOVING_LEFT_OUT, list->list_id, key, "it has no email");
        else if (!take_member(people, values, error))
            return false;
    }
    return true;
}

/* ---- all ---- */

/* Keep out of the list's sources an address that left the list, or the family that the list is of. */
static bool take_exclusion(People *people, ForeignRows *rows, void *data, GError **error)
{
    const char *address = foreign_text(rows, 0), *seconds = foreign_text(rows, 1);
    int64_t left_at = seconds ? g_ascii_strtoll(seconds, NULL, 10) : 0;
    (void)data;
    return !is_set(address) || moving_kept_out(people->list->sympa->moving, people->list->list_id, address,
                                               CLAMP(left_at, 0, G_MAXINT32) * CLOCK_SECOND, error);
}

static bool take_exclusions(People *people, GError **error)
{
    static const char *const times[] = {"date_exclusion", "date_epoch_exclusion"};
    Foreign *database = people->list->sympa->database;
    /* A name that Sympa does not allow is none, and so stands in no statement. */
    const SympaParagraph *paragraph = sympa_config_find(people->list->config, "family_name");
    const char *time = NULL, *family = paragraph ? paragraph->value : "";
    bool has, has_family, named = *family && !family[strspn(family, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-.+_")];
    if (!foreign_has(database, "exclusion_table", "list_exclusion", &has, error))
        return false;
    if (!has)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
        if (!foreign_has(database, "exclusion_table", times[i], &has, error))
            return false;
        time = has ? times[i] : time;
    }
    if (!foreign_has(database, "exclusion_table", "family_exclusion", &has_family, error))
        return false;
    g_autofree char *or_family = named && has_family
                                     ? g_strdup_printf(" OR (family_exclusion = '%s' AND " OF_ROBOT("exclusion") ")",
                                                       family)
                                     : g_strdup("");
    g_autofree char *sql = g_strdup_printf("SELECT `user_exclusion`, `max(%s)` FROM exclusion_table WHERE " OF_LIST(
                                               "exclusion") "%s GROUP BY user_exclusion "
                                                            "ORDER BY `user_exclusion` @bytes@",
                                           time ? time : "NULL", or_family);
    return each_row(people, sql, take_exclusion, NULL, error);
}

bool sympa_people(const SympaList *list, GError **error)
{
    bool whole, with_database = list->sympa->database != NULL;
    Moving *moving = list->sympa->moving;
    const SympaSend send = sympa_send(list->config);
    bool few = strcmp(send.member, "defer") != 0;
    g_autoptr(GHashTable) free = few ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    People people = {.list = list, .free = free};
    if (!moving_begin(moving, "members", list->list_id, MOVING_IN_PORTIONS, &whole, error))
        return false;
    if (whole)
        return true;
    if ((with_database && !take_users(&people, error)) || !move_staff(&people, ROLE_OWNER, send.owners, error) ||
        !move_staff(&people, ROLE_MODERATOR, send.editors, error) || !count_silent(&people, error) ||
        !(with_database ? take_rows(&people, error) && take_exclusions(&people, error) : take_dump(&people, error)))
        return false;
    for (int i = 0; i < COUNTS; i++)
        if (people.counts[i] > 0)
            moving_tell(moving, counted[i].note, list->list_id, counted[i].key, "%" G_GUINT64_FORMAT " %s",
                        people.counts[i], counted[i].text);
    return moving_end(moving, error);
}
