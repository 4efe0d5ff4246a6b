/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/sympa.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/bytes.h"
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

static bool sympa_check_database(Foreign *database, GError **error)
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

static bool sympa_people(const SympaList *list, GError **error)
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

/* ---- files ---- */

static int open_below(int fd, const char *name, int flags)
{
    return openat(fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags);
}

/* The folder of a list, of which each part is a directory and no link; -1 with errno. */
static int open_folder(const Sympa *sympa, const char *place)
{
    g_auto(GStrv) parts = g_strsplit(place, "/", 2);
    int fd = open_below(sympa->fd, parts[0], O_DIRECTORY);
    if (fd < 0 || !parts[1])
        return fd;
    auto_fd outer = fd;
    return open_below(outer, parts[1], O_DIRECTORY);
}

bool sympa_read(const SympaList *list, const char *name, size_t most, GBytes **bytes, GError **error)
{
    struct stat status;
    *bytes = NULL;
    auto_fd folder = open_folder(list->sympa, list->place);
    auto_fd file = folder < 0 ? -1 : open_below(folder, name, 0);
    const char *wrong = NULL;
    if (file < 0 && errno == ENOENT)
        return true;
    if (file < 0)
        wrong = errno == ELOOP ? "it is a symbolic link, which is not followed" : g_strerror(errno);
    else if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        wrong = "it is no file";
    else if ((uint64_t)status.st_size > most)
        wrong = "it is too large";
    if (wrong) {
        moving_tell(list->sympa->moving, MOVING_LEFT_OUT, list->list_id, name, "%s", wrong);
        return true;
    }
    size_t have = 0, length = (size_t)status.st_size;
    ssize_t got = 1;
    g_autofree char *octets = g_malloc(length + 1);
    while (have < length && (got = read(file, octets + have, length - have)) > 0)
        have += (size_t)got;
    if (got < 0)
        return fail_errno(error, FAIL_LATER, "%s/%s/%s", list->sympa->directory, list->place, name);
    *bytes = g_bytes_new_take(g_steal_pointer(&octets), have);
    return true;
}

typedef struct FaultPlace {
    const SympaList *list;
    const char *name;
} FaultPlace;

static void tell_fault(unsigned line, const char *text, void *data)
{
    const FaultPlace *fault = data;
    if (fault->list->quiet)
        return;
    g_autofree char *key = g_strdup_printf("%s line %u", fault->name, line);
    moving_tell(fault->list->sympa->moving, MOVING_LEFT_OUT, fault->list->list_id, key, "%s", text);
}

bool sympa_read_config(const SympaList *list, const char *name, size_t most, GPtrArray **config, GError **error)
{
    gsize length;
    GBytes *read = NULL;
    FaultPlace fault = {list, name};
    *config = NULL;
    if (!sympa_read(list, name, most, &read, error))
        return false;
    g_autoptr(GBytes) bytes = read;
    const char *octets = bytes ? g_bytes_get_data(bytes, &length) : NULL;
    if (bytes)
        *config = sympa_config_read(octets ? octets : "", length, tell_fault, &fault);
    return true;
}

/* ---- which lists there are ---- */

static void list_free_one(gpointer data)
{
    SympaList *list = data;
    g_free(list->domain);
    g_free(list->name);
    g_free(list->address);
    g_free(list->list_id);
    g_free(list->place);
    g_clear_pointer(&list->config, g_ptr_array_unref);
    g_free(list);
}

/* The names in a directory, sorted, without those that begin with a dot. fd is taken. NULL with errno. */
static GPtrArray *names_in(int fd)
{
    DIR *open = fd < 0 ? NULL : fdopendir(fd);
    if (!open) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (struct dirent *entry; (entry = readdir(open));)
        if (*entry->d_name != '.')
            g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(open);
    g_ptr_array_sort(names, bytes_compare_texts);
    return names;
}

/* Is there something of the name config, whatever it be? */
static bool has_config(int folder)
{
    struct stat status;
    return folder >= 0 && fstatat(folder, "config", &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static void add_list(Sympa *sympa, const char *domain, const char *name, char *place)
{
    SympaList *list = g_new0(SympaList, 1);
    list->sympa = sympa;
    list->domain = g_ascii_strdown(domain, -1);
    list->name = g_ascii_strdown(name, -1);
    list->address = g_strdup_printf("%s@%s", list->name, list->domain);
    list->list_id = g_strdup_printf("%s.%s", list->name, list->domain);
    list->place = place;
    g_ptr_array_add(sympa->lists, list);
    char *key = mailbox_key(list->address);
    if (key)
        g_hash_table_add(sympa->addresses, key);
}

static bool look_into(Sympa *sympa, const char *name, const char *domain, GError **error)
{
    auto_fd folder = open_below(sympa->fd, name, O_DIRECTORY);
    if (folder < 0)
        return errno == ENOTDIR || errno == ELOOP || fail_errno(error, FAIL_LATER, "%s/%s", sympa->directory, name);
    if (has_config(folder)) {
        if (!domain)
            return fail(error, FAIL_CONFIG,
                        "%s has lists of one domain, whose folders do not say which: name it with --domain, or the "
                        "directory above in place of this one where that has a folder for each domain",
                        sympa->directory);
        add_list(sympa, domain, name, g_strdup(name));
        return true;
    }
    if (domain && g_ascii_strcasecmp(domain, name) != 0)
        return true;
    g_autoptr(GPtrArray) names = names_in(open_below(folder, ".", O_DIRECTORY));
    if (!names)
        return fail_errno(error, FAIL_LATER, "%s/%s", sympa->directory, name);
    for (guint i = 0; i < names->len; i++) {
        auto_fd inner = open_below(folder, names->pdata[i], O_DIRECTORY);
        if (has_config(inner))
            add_list(sympa, name, names->pdata[i], g_build_filename(name, names->pdata[i], NULL));
    }
    return true;
}

/* Is there a list so many folders below? */
static bool has_list(int folder, unsigned depth)
{
    if (depth == 0 || folder < 0)
        return has_config(folder);
    g_autoptr(GPtrArray) names = names_in(open_below(folder, ".", O_DIRECTORY));
    bool found = false;
    for (guint i = 0; names && i < names->len && !found; i++) {
        auto_fd inner = open_below(folder, names->pdata[i], O_DIRECTORY);
        found = has_list(inner, depth - 1);
    }
    return found;
}

static bool find_lists(Sympa *sympa, const char *domain, GError **error)
{
    const char *directory = sympa->directory;
    g_autoptr(GPtrArray) names = names_in(open_below(sympa->fd, ".", O_DIRECTORY));
    if (!names)
        return fail_errno(error, FAIL_LATER, "%s", directory);
    for (guint i = 0; i < names->len; i++)
        if (!look_into(sympa, names->pdata[i], domain, error))
            return false;
    if (sympa->lists->len > 0)
        return true;
    /* Which directory would have been right? */
    if (has_config(sympa->fd))
        return fail(error, FAIL_MISSING,
                    "%s is one list of Sympa; name the directory that has all lists, as DOMAIN/LIST/config", directory);
    for (guint i = 0; i < names->len; i++) {
        auto_fd inner = open_below(sympa->fd, names->pdata[i], O_DIRECTORY);
        if (has_list(inner, 2))
            return fail(error, FAIL_MISSING,
                        "%s: there is no list of Sympa (DOMAIN/LIST/config), but there are in %s/%s", directory,
                        directory, (const char *)names->pdata[i]);
    }
    return fail(error, FAIL_MISSING, "%s: there is no list of Sympa (DOMAIN/LIST/config)", directory);
}

Sympa *sympa_open(const char *directory, Foreign *database, const char *domain, GError **error)
{
    g_autoptr(Sympa) sympa = g_new0(Sympa, 1);
    sympa->directory = g_strdup(directory);
    sympa->database = database;
    sympa->lists = g_ptr_array_new_with_free_func(list_free_one);
    sympa->addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sympa->fd = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (sympa->fd < 0) {
        fail_errno(error, errno == ENOENT || errno == ENOTDIR ? FAIL_MISSING : FAIL_LATER, "%s", directory);
        return NULL;
    }
    if (!find_lists(sympa, domain, error) || (database && !sympa_check_database(database, error)))
        return NULL;
    return g_steal_pointer(&sympa);
}

void sympa_free(Sympa *sympa)
{
    if (!sympa)
        return;
    if (sympa->fd >= 0)
        close(sympa->fd);
    g_ptr_array_unref(sympa->lists);
    g_hash_table_unref(sympa->addresses);
    g_free(sympa->directory);
    g_free(sympa);
}

/* ---- a list ---- */

static bool describe(void *data, List **made, GError **error)
{
    const SympaList *list = data;
    GBytes *read = NULL;
    Moving *moving = list->sympa->moving;
    g_autoptr(GPtrArray) settings = moving_settings_new();
    const char *created = sympa_config_value(sympa_config_find(list->config, "creation"), "date_epoch");
    const MovingDomain domain = {list->domain, NULL, NULL};
    if (!sympa_read(list, "stats", SYMPA_LINE_MAX, &read, error))
        return false;
    g_autoptr(GBytes) stats = read;
    if (!sympa_settings(list, settings, error))
        return false;
    /* The first number of stats tells how many posts the list had. */
    g_autofree char *text = stats ? g_strndup(g_bytes_get_data(stats, NULL) ?: "", g_bytes_get_size(stats)) : NULL;
    const int64_t posts = text ? g_ascii_strtoll(text, NULL, 10) : 0;
    const int64_t seconds = created ? g_ascii_strtoll(created, NULL, 10) : 0;
    const MovingList from = {.list = {.address = list->address,
                                      .list_id = list->list_id,
                                      .created_at = CLAMP(seconds, 0, INT32_MAX) * CLOCK_SECOND,
                                      .post_id = CLAMP(posts, 0, INT32_MAX - 1) + 1,
                                      .archive = -1},
                             .settings = settings,
                             .volume = 1,
                             .next_digest = 1,
                             .watermark = -1};
    return moving_domain(moving, &domain, error) && moving_list(moving, &from, made, error);
}

/* Files and folders of a list that are read, or that Sympa makes for itself. */
static const char *const of_list[] = {
    "archives",     "arctxt", "config",     "config.bin",   "config.dump",    "config_changes",
    "editor.dump",  "info",   "member.dump", "message_footer", "message_header", "msg_count",
    "owner.dump",   "stats",  "stats.bin",  "subscribers",  "topics",         NULL,
};

/* Make the list, whose config was read. */
static bool make_list(SympaList *list, GError **error)
{
    bool in;
    Moving *moving = list->sympa->moving;
    if (!mailbox_valid(list->address)) {
        moving_tell(moving, MOVING_LEFT_OUT, list->place, "", "%s is no address", list->address);
        return true;
    }
    const SympaParagraph *status = sympa_config_find(list->config, "status");
    if (status && strcmp(status->value, "open") != 0) { /* it takes no mail there, and stays away */
        moving_tell(moving, MOVING_LOST, list->list_id, "status",
                    "the list is %s, so it does not come: open it in Sympa first if it shall", status->value);
        return true;
    }
    /* Texts, scenarios, documents and such that the list has of its own. */
    g_autoptr(GPtrArray) names = names_in(open_folder(list->sympa, list->place));
    for (guint i = 0; names && i < names->len; i++) {
        const char *name = names->pdata[i];
        if (!g_strv_contains(of_list, name) && !strstr(name, ".old") && !g_str_has_prefix(name, "config."))
            moving_tell(moving, MOVING_LOST, list->list_id, name, "it stays behind");
    }
    return moving_make(moving, list->list_id, describe, list, &in, error);
}

bool sympa_move(Sympa *sympa, Moving *moving, GError **error)
{
    sympa->moving = moving;
    for (guint i = 0; i < sympa->lists->len; i++) {
        SympaList *list = sympa->lists->pdata[i];
        if (!sympa_read_config(list, "config", SYMPA_CONFIG_MAX, &list->config, error) ||
            (list->config && !make_list(list, error)))
            return false;
        g_clear_pointer(&list->config, g_ptr_array_unref);
    }
    for (guint i = 0; i < sympa->lists->len; i++) {
        SympaList *list = sympa->lists->pdata[i];
        List *found = NULL;
        if (!moving_find_list(moving, list->list_id, &found, error))
            return false;
        g_autoptr(List) there = found;
        if (!there)
            continue;
        list->quiet = true; /* what is wrong with the config was told in the first pass */
        if (!sympa_read_config(list, "config", SYMPA_CONFIG_MAX, &list->config, error))
            return false;
        list->quiet = false;
        if (list->config && !sympa_people(list, error))
            return false;
        g_clear_pointer(&list->config, g_ptr_array_unref);
    }
    return moving_finish(moving, error);
}
