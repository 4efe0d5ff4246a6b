/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Numbers, structs and writes by the helpers that the tables share; the rows are jobs of the timer. */
#include "store/row.h"
#include "t/store/fixture.h"
#include "t/suite.h"

typedef struct Job {
    char *name;
    int64_t runs;
    bool failed;
    GBytes *message;
} Job;

static const RowField job_row[] = {ROW(Job, name), ROW(Job, runs), ROW(Job, failed), ROW(Job, message)};

static void job_free(Job *job)
{
    row_free(job_row, job);
}

static bool add_job(Store *store, const char *name, int64_t runs, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO job (name, started_at, ended_at, due_at, done, runs, failures, fault) "
                     "VALUES ($1, 0, 0, 0, 0, $2, 0, '')",
                     TEXT(name), INTEGER(runs));
}

static int64_t count_jobs(Store *store)
{
    GError *error = NULL;
    int64_t count = -1;
    assert_ok(query_number_all(store, &error, &count, "SELECT count(*) FROM job", NULL, 0), error);
    return count;
}

static void test_number(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Store *store = fixture->store;
    int64_t runs = 7;
    bool exists = true;
    static const char find[] = "SELECT runs FROM job WHERE name = $1";
    assert_ok(query_number(store, &error, &runs, find, TEXT("a")), error);
    g_assert_cmpint(runs, ==, 7);
    assert_ok(query_exists(store, &error, &exists, find, TEXT("a")), error);
    g_assert_false(exists);
    assert_ok(add_job(store, "a", 3, &error), error);
    assert_ok(query_number(store, &error, &runs, find, TEXT("a")), error);
    g_assert_cmpint(runs, ==, 3);
    assert_ok(query_exists(store, &error, &exists, find, TEXT("a")), error);
    g_assert_true(exists);
    g_assert_false(query_number(store, &error, &runs, "SELECT nothing FROM job WHERE name = $1", TEXT("a")));
    assert_failed(FAIL_LATER, error);
    g_assert_false(query_exists(store, &error, &exists, "SELECT nothing FROM job WHERE name = $1", TEXT("a")));
    assert_failed(FAIL_LATER, error);
    g_assert_false(exists);
    g_assert_cmpint(query_step(NULL, &error), ==, STEP_FAILED);
}

static bool is_missing(int *asked, GError **error)
{
    ++*asked;
    return fail(error, FAIL_MISSING, "there is no job");
}

static void test_change_one(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Store *store = fixture->store;
    int asked = 0;
    static const char change[] = "UPDATE job SET runs = runs + 1 WHERE name = $1";
    g_assert_false(query_change_one(store, &error, is_missing(&asked, &error), change, TEXT("a")));
    assert_failed(FAIL_MISSING, error);
    assert_ok(add_job(store, "a", 3, &error), error);
    assert_ok(query_change_one(store, &error, is_missing(&asked, &error), change, TEXT("a")), error);
    g_assert_cmpint(asked, ==, 1);
}

static Job *find_job(Store *store, const char *name, int *asked, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT name, runs, failures, $2 FROM job WHERE name = $1",
                                        TEXT(name), BLOB("\0x", 2));
    return row_find(query, Job, job_row, is_missing(asked, error), error);
}

static void test_find(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int asked = 0;
    g_assert_null(find_job(fixture->store, "a", &asked, &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(add_job(fixture->store, "a", 3, &error), error);
    Job *job = find_job(fixture->store, "a", &asked, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(job->name, ==, "a");
    g_assert_cmpint(job->runs, ==, 3);
    g_assert_false(job->failed);
    g_assert_cmpmem(g_bytes_get_data(job->message, NULL), g_bytes_get_size(job->message), "\0x", 2);
    g_assert_cmpint(asked, ==, 1);
    job_free(job);
    job_free(NULL);
}

static bool take_job(const Job *job, GString *names)
{
    g_assert_null(job->message); /* no such column */
    g_string_append(names, job->name);
    return *job->name != 'b';
}

static void test_each(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Store *store = fixture->store;
    g_autoptr(GString) names = g_string_new(NULL);
    for (const char *name = "cba"; *name; name++)
        assert_ok(add_job(store, (char[]){*name, '\0'}, 1, &error), error);
    static const char behind[] = "SELECT name, runs, failures FROM job WHERE name > $1 ORDER BY name";
    g_autoptr(Query) some = query_open(store, &error, behind, TEXT(""));
    assert_ok(row_each(some, Job, job_row, take_job, job_free, names, &error), error);
    g_assert_cmpstr(names->str, ==, "ab");
    g_autoptr(Query) last = query_open(store, &error, behind, TEXT("b"));
    assert_ok(row_each(last, Job, job_row, take_job, job_free, names, &error), error);
    g_assert_cmpstr(names->str, ==, "abc");
    g_autoptr(Query) none = query_open(store, &error, behind, TEXT("c"));
    assert_ok(row_each(none, Job, job_row, take_job, job_free, names, &error), error);
    g_autoptr(Query) all = query_open(store, &error, behind, TEXT(""));
    g_autoptr(GPtrArray) jobs = row_all(all, Job, job_row, job_free, &error);
    g_assert_cmpuint(jobs->len, ==, 3);
    Query *bad = query_open(store, &error, "SELECT nothing FROM job WHERE name > $1", TEXT("b"));
    g_assert_false(row_each(bad, Job, job_row, take_job, job_free, names, &error));
    assert_failed(FAIL_LATER, error);
    query_free(bad);
    g_assert_cmpstr(names->str, ==, "abc");
}

/* Adds the job unless it is there, and then another one; the second may be refused before or after it wrote. */
static bool write_jobs(Store *store, const char *first, const char *second, GError **error)
{
    int64_t runs = 0;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || (*first && !add_job(store, first, 1, error)))
        return false;
    if (!second)
        return fail(error, FAIL_NEVER, "no second job");
    return add_job(store, second, 1, error) &&
           query_number(store, error, &runs, "UPDATE job SET runs = runs + 1 WHERE name = $1 RETURNING runs",
                        TEXT(second)) &&
           runs == 2 && write_end(&write, error);
}

static void test_write(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Store *store = fixture->store;
    g_assert_false(write_jobs(store, "a", NULL, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(store_is_transaction_open(store));
    g_assert_cmpint(count_jobs(store), ==, 0);
    assert_ok(write_jobs(store, "a", "b", &error), error);
    g_assert_cmpint(count_jobs(store), ==, 2);

    /* Within a transaction: a refusal that wrote nothing leaves it usable, one that did dooms it. */
    assert_ok(store_begin(store, &error), error);
    g_assert_false(write_jobs(store, "", NULL, &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(write_jobs(store, "c", "d", &error), error);
    assert_ok(store_commit(store, &error), error);
    g_assert_cmpint(count_jobs(store), ==, 4);
    assert_ok(store_begin(store, &error), error);
    g_assert_false(write_jobs(store, "e", NULL, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(write_jobs(store, "f", "g", &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(store_commit(store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(count_jobs(store), ==, 4);
}

SUITE("row")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/row/number", test_number);
    TEST("/row/change-one", test_change_one);
    TEST("/row/find", test_find);
    TEST("/row/each", test_each);
    TEST("/row/write", test_write);
    return g_test_run();
}
