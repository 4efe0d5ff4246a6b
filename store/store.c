/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/store.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "store/schema/migrate.h"
#include "store/store_internal.h"

#define KEYS_KEPT 10000
#define KEYS_TRUSTED CLOCK_SECOND

static const StoreDriver *const drivers[] = {&store_sqlite, &store_pgsql};

struct Store {
    const StoreDriver *driver;
    void *connection;
    GHashTable *idle;   /* statements by the address of their text */
    GPtrArray *soon;    /* of Soon */
    int depth;          /* of store_begin() */
    bool doomed;        /* the transaction can only be rolled back */
    bool durable;       /* store_begin_durable() began it */
    unsigned savepoints; /* how many are open */
    unsigned streams;   /* how many are open */
    bool changed;       /* store_changed() in this transaction */
    bool commit_unknown; /* store_commit_unknown() */
    bool of_lists;      /* store_begin_lists() began it */
    bool site_locked;   /* and a part of it that belongs to the site was written */
    int64_t unknown;    /* versions handed out while the real one cannot be read */
    GHashTable *keys;   /* of lists by their ids, as of this version */
    int64_t version, version_at; /* the last that was read, and when */
};

struct Query {
    Store *store;
    const char *sql;
    void *statement;
    bool stream;
};

/* A query that was said to follow. */
typedef struct Soon {
    Query *query;
    GArray *values; /* of Value, which own their memory */
    bool asked;
} Soon;

#define SOON_MOST 1000 /* more are asked one by one */

static void soon_free(void *data)
{
    Soon *soon = data;
    if (!soon)
        return;
    query_free(soon->query);
    for (guint i = 0; i < soon->values->len; i++)
        g_free((void *)g_array_index(soon->values, Value, i).data);
    g_array_unref(soon->values);
    g_free(soon);
}

const StoreDriver *store_driver_find(const char *name, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drivers); i++)
        if (strcmp(drivers[i]->name, name) == 0)
            return drivers[i];
    fail(error, FAIL_CONFIG, "there is no store driver \"%s\"; there are sqlite and postgresql", name);
    return NULL;
}

bool store_fail_missing(const char *where, const char *what, GError **error)
{
    return fail(error, FAIL_MISSING, "the database %s %s: mount or restore it if there was one; "
                "\"listrunner store create\" makes a new one", where, what);
}

bool store_find(const char *driver, const char *where, GError **error)
{
    const StoreDriver *found = store_driver_find(driver, error);
    return found && found->find(where, error);
}

bool store_present(Store *store, GError **error)
{
    return store->driver->present(store->connection, error);
}

void store_expect_bulk(Store *store)
{
    if (store->driver->expect_bulk)
        store->driver->expect_bulk(store->connection);
}

void store_set_deadline(Store *store, int64_t us)
{
    if (store->driver->deadline)
        store->driver->deadline(store->connection, us);
}

static int64_t opening_deadline;

void store_set_opening_deadline(int64_t us)
{
    opening_deadline = us;
}

int64_t store_opening_deadline(void)
{
    return opening_deadline;
}

bool store_reachable(Store *store)
{
    return !store->driver->reachable || store->driver->reachable(store->connection);
}

bool store_script(Store *store, const char *sql, GError **error)
{
    g_autofree char *translated = migrate_words(store->driver, sql);
    return store->driver->script(store->connection, translated, error);
}

static Store *open_by(const StoreDriver *found, const char *where, MigrateWish wish, const struct Migration *schema,
                      GError **error)
{
    g_autofree char *shown = found->shown(where, error); /* where may hold a password */
    void *connection = shown ? found->open(where, wish == MIGRATE_CREATE, error) : NULL;
    if (!connection)
        return NULL;
    if (schema ? !migrate_to(found, connection, shown, schema, error)
               : !migrate(found, connection, shown, wish, error)) {
        found->close(connection);
        return NULL;
    }
    Store *store = g_new0(Store, 1);
    store->driver = found;
    store->connection = connection;
    store_set_deadline(store, opening_deadline);
    store->idle = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, found->finalize);
    store->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    store->soon = g_ptr_array_new_with_free_func(soon_free);
    return store;
}

Store *store_open(const char *driver, const char *where, bool create, GError **error)
{
    const StoreDriver *found = store_driver_find(driver, error);
    return found ? open_by(found, where, create ? MIGRATE_CREATE : MIGRATE_NOT, NULL, error) : NULL;
}

Store *store_open_older(const char *driver, const char *where, bool upgrade, GError **error)
{
    const StoreDriver *found = store_driver_find(driver, error);
    return found ? open_by(found, where, upgrade ? MIGRATE_OLDER : MIGRATE_AS_IT_IS, NULL, error) : NULL;
}

Store *store_open_by(const StoreDriver *found, const char *where, bool create, const struct Migration *schema,
                     GError **error)
{
    return open_by(found, where, create ? MIGRATE_CREATE : MIGRATE_NOT, schema, error);
}

void store_free(Store *store)
{
    if (!store)
        return;
    g_ptr_array_unref(store->soon);
    g_hash_table_destroy(store->idle);
    g_hash_table_destroy(store->keys);
    store->driver->close(store->connection);
    g_free(store);
}

void *store_connection(Store *store)
{
    return store->connection;
}

const StoreDriver *store_driver(const Store *store)
{
    return store->driver;
}

bool store_is_transaction_open(const Store *store)
{
    return store->depth > 0;
}

/* ---- statements ---- */

Value store_text(const char *text)
{
    return (Value){.type = VALUE_TEXT, .null = !text, .data = text, .length = text ? strlen(text) : 0};
}

static bool bind(const Query *query, const Value *values, size_t count, GError **error)
{
    for (size_t i = 0; i < count; i++)
        if (!query->store->driver->bind(query->statement, (int)i + 1, &values[i], error))
            return false;
    return true;
}

static Query *start(Store *store, bool stream, const char *sql, const Value *values, size_t count, GError **error)
{
    /* A transaction that was lost with its connection: nothing may become one of its own. */
    if (store->depth > 0 && !store->driver->in_transaction(store->connection))
        store->doomed = true;
    if (store->doomed) {
        fail(error, FAIL_LATER, "the transaction failed earlier and will be rolled back");
        return NULL;
    }
    void *statement = NULL;
    if (!g_hash_table_steal_extended(store->idle, sql, NULL, &statement))
        statement = store->driver->prepare(store->connection, sql, values, count, stream, error);
    if (!statement)
        return NULL;
    g_autoptr(Query) query = g_new0(Query, 1);
    *query = (Query){store, sql, statement, stream};
    store->streams += stream;
    return bind(query, values, count, error) ? g_steal_pointer(&query) : NULL;
}

static bool is_same(const Soon *soon, const char *sql, const Value *values, size_t count)
{
    if (soon->query->sql != sql || soon->values->len != count)
        return false;
    for (guint i = 0; i < count; i++) {
        const Value *one = &g_array_index(soon->values, Value, i), *other = &values[i];
        if (one->type != other->type || one->null != other->null || one->integer != other->integer ||
            one->length != other->length || (one->length > 0 && memcmp(one->data, other->data, one->length) != 0))
            return false;
    }
    return true;
}

/* The query that was said to follow, if it was, bound to these values, since it may have to be run yet. */
static Query *take_soon(Store *store, const char *sql, const Value *values, size_t count)
{
    Soon *found = NULL;
    for (guint at = 0; store->depth == 0 && !found && at < store->soon->len; at++) {
        Soon *soon = store->soon->pdata[at];
        if (!is_same(soon, sql, values, count))
            continue;
        if (!soon->asked) { /* with all others, in one round trip */
            g_autoptr(GPtrArray) statements = g_ptr_array_new();
            for (guint i = 0; i < store->soon->len; i++) {
                Soon *one = store->soon->pdata[i];
                if (!one->asked)
                    g_ptr_array_add(statements, one->query->statement);
                one->asked = true;
            }
            store->driver->together(statements->pdata, statements->len);
        }
        found = g_ptr_array_steal_index(store->soon, at);
    }
    Query *query = found ? g_steal_pointer(&found->query) : NULL;
    if (query && !bind(query, values, count, NULL))
        g_clear_pointer(&query, query_free);
    soon_free(found);
    return query;
}

Query *query_start(Store *store, GError **error, const char *sql, const Value *values, size_t count)
{
    Query *query = take_soon(store, sql, values, count);
    return query ? query : start(store, false, sql, values, count, error);
}

Query *query_stream_start(Store *store, GError **error, const char *sql, const Value *values, size_t count)
{
    Query *query = take_soon(store, sql, values, count);
    return query ? query : start(store, true, sql, values, count, error);
}

void query_soon_all(Store *store, bool stream, const char *sql, const Value *values, size_t count)
{
    if (!store->driver->together || store->depth > 0 || store->soon->len >= SOON_MOST)
        return;
    for (guint at = store->soon->len; at-- > 0;) /* an earlier answer to the same may be old by now */
        if (is_same(store->soon->pdata[at], sql, values, count))
            g_ptr_array_remove_index(store->soon, at);
    Soon *soon = g_new0(Soon, 1);
    soon->values = g_array_new(FALSE, FALSE, sizeof(Value));
    for (size_t i = 0; i < count; i++) {
        Value value = values[i];
        char *own = g_malloc0(value.length + 1); /* text is ended by a zero byte */
        if (value.length > 0)
            memcpy(own, value.data, value.length);
        value.data = own;
        g_array_append_val(soon->values, value);
    }
    soon->query = start(store, stream, sql, (const Value *)(void *)soon->values->data, count, NULL);
    if (soon->query)
        g_ptr_array_add(store->soon, soon);
    else
        soon_free(soon);
}

void store_soon_forget(Store *store)
{
    g_ptr_array_set_size(store->soon, 0);
}

/* Back to the idle ones; a twin that was made meanwhile goes. */
void query_free(Query *query)
{
    if (!query)
        return;
    query->store->streams -= query->stream;
    query->store->driver->reset(query->statement);
    g_hash_table_replace(query->store->idle, (gpointer)query->sql, query->statement);
    g_free(query);
}

Step query_step(Query *query, GError **error)
{
    if (!query)
        return STEP_FAILED;
    Store *store = query->store;
    if (store->doomed) {
        fail(error, FAIL_LATER, "the transaction failed earlier and will be rolled back");
        return STEP_FAILED;
    }
    Step step = store->driver->step(query->statement, error);
    if (step == STEP_FAILED && store->depth > 0 && !store->driver->is_sound(store->connection))
        store->doomed = true; /* what follows must not become transactions of its own */
    return step;
}

char **query_texts(Query *query, GError **error)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(texts, g_strdup(query_text(query, 0)));
    if (step != STEP_DONE)
        return NULL;
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&texts), FALSE);
}

bool query_is_null(Query *query, int column)
{
    return query->store->driver->is_null(query->statement, column);
}

int64_t query_integer(Query *query, int column)
{
    return query->store->driver->integer(query->statement, column);
}

int query_choice(Query *query, int column)
{
    return query_is_null(query, column) ? -1 : (int)query_integer(query, column);
}

const char *query_text(Query *query, int column)
{
    return query->store->driver->octets(query->statement, column, NULL);
}

GBytes *query_blob(Query *query, int column)
{
    size_t length = 0;
    const void *bytes = query_bytes(query, column, &length);
    return g_bytes_new(bytes, length);
}

const void *query_bytes(Query *query, int column, size_t *length)
{
    return query->store->driver->octets(query->statement, column, length);
}

int query_columns(Query *query)
{
    return query->store->driver->columns(query->statement);
}

const char *query_column(Query *query, int column, ValueType *type)
{
    return query->store->driver->column(query->statement, column, type);
}

bool query_all(Store *store, GError **error, int64_t *changed, const char *sql, const Value *values, size_t count)
{
    g_autoptr(Query) query = query_start(store, error, sql, values, count);
    if (!query)
        return false;
    Step step;
    do
        step = query_step(query, error);
    while (step == STEP_ROW);
    if (changed)
        *changed = step == STEP_DONE ? store->driver->changed(store->connection) : 0;
    return step == STEP_DONE;
}

bool query_number_all(Store *store, GError **error, int64_t *number, const char *sql, const Value *values, size_t count)
{
    g_autoptr(Query) query = query_start(store, error, sql, values, count);
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *number = query_integer(query, 0);
    return step != STEP_FAILED;
}

bool query_exists_all(Store *store, GError **error, bool *exists, const char *sql, const Value *values, size_t count)
{
    g_autoptr(Query) query = query_start(store, error, sql, values, count);
    Step step = query_step(query, error);
    *exists = step == STEP_ROW;
    return step != STEP_FAILED;
}

bool query_later_all(Store *store, GError **error, const char *sql, const Value *values, size_t count)
{
    if (store->depth == 0)
        log_panic("query_later outside a transaction: nobody would be told of a failure");
    if (!store->driver->later)
        return query_all(store, error, NULL, sql, values, count);
    g_autoptr(Query) query = query_start(store, error, sql, values, count);
    if (!query || store->driver->later(query->statement, error))
        return query != NULL;
    store->doomed = true;
    return false;
}

/* ---- transactions ---- */

static bool no_stream(const Store *store, GError **error)
{
    return store->streams == 0 || fail(error, FAIL_LATER, "rows of the database are still being read");
}

bool store_begin(Store *store, GError **error)
{
    store_soon_forget(store);
    if (store->depth == 0 && (!no_stream(store, error) || !store->driver->begin(store->connection, error))) {
        g_prefix_error(error, "begin: ");
        return false;
    }
    store->depth++;
    return true;
}

static int compare_keys(gconstpointer one, gconstpointer other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static bool begin_narrow(Store *store, const GPtrArray *list_ids, bool people, GError **error)
{
    if (store->depth > 0)
        log_panic("a transaction with locks of its own inside another, whose locks are taken");
    store_soon_forget(store);
    /* The keys of those lists that are there, in ascending order, so that two who lock the same do not wait for each
     * other. */
    g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < list_ids->len; i++) {
        int64_t key;
        g_autoptr(GError) fault = NULL;
        if (list_key(store, list_ids->pdata[i], &key, &fault))
            g_array_append_val(keys, key);
        else if (!g_error_matches(fault, FAIL, FAIL_MISSING))
            return fail_with(error, &fault);
    }
    g_array_sort(keys, compare_keys);
    for (guint i = keys->len; i-- > 1;)
        if (g_array_index(keys, int64_t, i) == g_array_index(keys, int64_t, i - 1))
            g_array_remove_index(keys, i);
    if (!no_stream(store, error))
        return false;
    const int64_t *lists = (const int64_t *)(void *)keys->data;
    if (store->driver->begin_lists ? !store->driver->begin_lists(store->connection, lists, keys->len, people, error)
                                   : !store->driver->begin(store->connection, error)) {
        g_prefix_error(error, "begin: ");
        return false;
    }
    store->of_lists = true;
    store->site_locked = people;
    store->depth++;
    return true;
}

bool store_begin_lists(Store *store, const GPtrArray *list_ids, GError **error)
{
    return begin_narrow(store, list_ids, false, error);
}

bool store_begin_people(Store *store, const char *list_id, GError **error)
{
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    if (list_id)
        g_ptr_array_add(lists, (gpointer)list_id);
    return begin_narrow(store, lists, true, error);
}

/* The outermost level ends here, one way or the other. A connection that goes on waiting for the disk is slower. */
static void forget_transaction(Store *store)
{
    if (store->durable && store->driver->wait)
        store->driver->wait(store->connection, false, NULL);
    store->durable = false;
    store->depth = 0;
    store->doomed = false;
    store->savepoints = 0;
    store->changed = false;
    store->of_lists = store->site_locked = false;
}

static bool wait_for_disk(Store *store, GError **error)
{
    if (store->depth > 0)
        log_panic("a durable transaction inside another: its commit would not be durable");
    return store->durable = !store->driver->wait || store->driver->wait(store->connection, true, error);
}

static bool begun(Store *store, bool begun)
{
    if (!begun)
        forget_transaction(store);
    return begun;
}

bool store_begin_durable(Store *store, GError **error)
{
    return begun(store, wait_for_disk(store, error) && store_begin(store, error));
}

bool store_begin_people_durable(Store *store, const char *list_id, GError **error)
{
    return begun(store, wait_for_disk(store, error) && store_begin_people(store, list_id, error));
}

bool store_begin_rows_durable(Store *store, GError **error)
{
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    return begun(store, wait_for_disk(store, error) && store_begin_lists(store, none, error));
}

static void roll_back(Store *store)
{
    if (store->driver->in_transaction(store->connection))
        store->driver->rollback(store->connection);
    forget_transaction(store);
}

void store_changed(Store *store)
{
    if (store->depth == 0)
        log_panic("store_changed outside a transaction: the change would be seen before it is there");
    if (store->of_lists && !store->site_locked)
        log_panic("store_changed in a transaction of some lists: others do not wait for it");
    store->changed = true;
    store->version_at = 0;
}

bool store_commit(Store *store, GError **error)
{
    if (store->depth == 0)
        log_panic("store_commit without store_begin");
    store->commit_unknown = false;
    if (store->depth > 1) {
        store->depth--;
        return !store->doomed || fail(error, FAIL_LATER, "the transaction failed earlier and will be rolled back");
    }
    if (store->doomed) {
        roll_back(store);
        return fail(error, FAIL_LATER, "a part of the transaction failed: all of it was rolled back");
    }
    bool ready = no_stream(store, error) &&
                 (!store->changed ||
                  query_all(store, error, NULL, "UPDATE store_version SET value = value + 1", NULL, 0));
    if (ready && store->driver->commit(store->connection, error)) {
        forget_transaction(store);
        return true;
    }
    store->commit_unknown = ready && store->driver->commit_unknown && store->driver->commit_unknown(store->connection);
    g_prefix_error(error, "commit: ");
    roll_back(store);
    return false;
}

bool store_commit_unknown(const Store *store)
{
    return store->commit_unknown;
}

void store_rollback(Store *store)
{
    if (store->depth == 0)
        log_panic("store_rollback without store_begin");
    if (store->depth == 1) {
        roll_back(store);
    } else {
        store->depth--;
        store->doomed = true;
    }
}

bool store_leave_sync(Store *store, int *fd, GError **error)
{
    *fd = -1;
    return !store->driver->leave_sync || store->driver->leave_sync(store->connection, fd, error);
}

/* All savepoints have one name, and the innermost hides the others: so the
 * statements stay prepared. */
bool store_savepoint(Store *store, GError **error)
{
    if (store->depth == 0)
        log_panic("store_savepoint outside a transaction");
    if (!query_later_all(store, error, "SAVEPOINT entry", NULL, 0))
        return false;
    store->savepoints++;
    return true;
}

void store_savepoint_end(Store *store, bool keep)
{
    if (store->savepoints == 0)
        log_panic("store_savepoint_end without store_savepoint");
    store->savepoints--;
    if (!store->driver->in_transaction(store->connection)) {
        store->doomed = true;
        return;
    }
    bool doomed = store->doomed && keep;
    store->site_locked = store->site_locked && keep; /* it may be from before the savepoint; asked for twice is once */
    store->doomed = false; /* it was sound when the savepoint was set, and is again once that is undone */
    bool ended = (keep || query_all(store, NULL, NULL, "ROLLBACK TO SAVEPOINT entry", NULL, 0)) &&
                 query_later_all(store, NULL, "RELEASE SAVEPOINT entry", NULL, 0);
    store->doomed = doomed || !ended;
}

static bool lock_site(Store *store, GError **error)
{
    if (!store->of_lists || store->site_locked || !store->driver->lock_site)
        return true;
    store->site_locked = store->driver->lock_site(store->connection, error);
    store->doomed = store->doomed || !store->site_locked;
    return store->site_locked;
}

Write write_begin(Store *store, WriteScope scope, GError **error)
{
    Write write = {store, false, store->depth == 0, store->driver->changed_ever(store->connection)};
    if (store->doomed)
        fail(error, FAIL_LATER, "the transaction failed earlier and will be rolled back");
    else if (write.own && scope == WRITE_PEOPLE)
        write.begun = store_begin_people(store, NULL, error);
    else
        write.begun = (scope == WRITE_LIST || lock_site(store, error)) && store_begin(store, error);
    return write;
}

bool write_end(Write *write, GError **error)
{
    write->begun = false;
    return store_commit(write->store, error);
}

void write_undo(Write *write)
{
    if (!write->begun)
        return;
    Store *store = write->store;
    write->begun = false;
    if (write->own || store->driver->changed_ever(store->connection) != write->changed_ever)
        store_rollback(store);
    else
        store->depth--;
}

/* ---- ids ---- */

int64_t store_key_new(Store *store, GError **error)
{
    int64_t key = 0;
    if (store->depth == 0)
        log_panic("store_key_new outside a transaction: the key might be handed out again");
    return store->driver->key(store->connection, &key, error) ? key : 0;
}

/* The finaliser of SplitMix64. */
static uint64_t mixed(uint64_t key)
{
    key += UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return key ^ key >> 31;
}

void store_key_id(int64_t key, char id[STORE_ID_SIZE])
{
    g_snprintf(id, STORE_ID_SIZE, "%016" PRIx64 "%016" PRIx64, (uint64_t)key, mixed((uint64_t)key));
}

bool store_id_key(const char *id, int64_t *key)
{
    char again[STORE_ID_SIZE];
    if (strlen(id) != STORE_ID_SIZE - 1)
        return false;
    g_autofree char *half = g_strndup(id, 16);
    *key = (int64_t)g_ascii_strtoull(half, NULL, 16);
    store_key_id(*key, again);
    return strcmp(id, again) == 0;
}

bool store_next_number(Store *store, const char *counter, int64_t *number, GError **error)
{
    return query_number(store, error, number, "UPDATE counter SET value = value + 1 WHERE name = $1 RETURNING value",
                        TEXT(counter));
}

static const char version_sql[] = "SELECT value FROM store_version";

void store_version_soon(Store *store)
{
    query_soon_all(store, false, version_sql, NULL, 0);
}

bool store_read_version(Store *store, int64_t *version, GError **error)
{
    g_autoptr(Query) query = query_start(store, error, version_sql, NULL, 0);
    Step step = query_step(query, error);
    *version = step == STEP_ROW ? query_integer(query, 0) : 0;
    return step == STEP_ROW || (step == STEP_DONE && fail(error, FAIL_LATER, "the database has no version"));
}

int64_t store_version(Store *store)
{
    int64_t version;
    if (!store_read_version(store, &version, NULL))
        version = --store->unknown; /* never the same twice: nothing is trusted */
    if (version != store->version || g_hash_table_size(store->keys) > KEYS_KEPT)
        g_hash_table_remove_all(store->keys);
    store->version = version;
    store->version_at = clock_monotonic();
    return version;
}

GHashTable *store_list_keys(Store *store)
{
    return store->version_at != 0 && clock_monotonic() - store->version_at < KEYS_TRUSTED ? store->keys : NULL;
}

GHashTable *store_list_keys_old(Store *store)
{
    return store->keys;
}
