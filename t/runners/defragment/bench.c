/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/defragment/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fs.h"
#include "store/lists/domain.h"

static void configure(Bench *bench, const char *more)
{
    g_autofree char *text = g_strdup_printf("[site]\nhostname = lists.example.com\nsite_owner = root@example.com\n"
                                            "[spool]\ndirectory = %s\n[store]\npath = %s\n%s\n",
                                            bench->fixture.path, bench->database, more);
    g_assert_true(g_file_set_contents(bench->config, text, -1, NULL));
}

/* With a hook, syncs are made in the thread that asks for them: who forks must have no other threads. */
static int let_pass(const FsEvent *event, void *data)
{
    (void)event;
    (void)data;
    return 0;
}

void bench_set_up(Bench *bench, const char *more)
{
    fs_set_hook(let_pass, NULL);
    g_autoptr(GError) error = NULL;
    *bench = (Bench){0};
    fixture_set_up(&bench->fixture, NULL);
    bench->config = g_strdup_printf("%s.conf", bench->fixture.path);
    bench->database = g_strdup_printf("%s.db", bench->fixture.path);
    g_autoptr(Store) store = store_open("sqlite", bench->database, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(store, "example.com", NULL, &error));
    g_autoptr(List) list = list_create(store, "test@example.com", &error);
    g_assert_no_error(error);
    g_assert_true(list_set(store, BENCH_LIST, "defragment", "on", &error));
    configure(bench, more);
}

void bench_tear_down(Bench *bench)
{
    g_free(bench->config);
    g_free(bench->database);
    fixture_tear_down(&bench->fixture, NULL);
}

Store *bench_store(const Bench *bench)
{
    g_autoptr(GError) error = NULL;
    Store *store = store_open("sqlite", bench->database, false, &error);
    g_assert_no_error(error);
    return store;
}

void bench_setting(Bench *bench, const char *name, const char *value)
{
    g_autoptr(Store) store = bench_store(bench);
    g_autoptr(GError) error = NULL;
    list_set(store, BENCH_LIST, name, value, &error);
    g_assert_no_error(error);
}

char *bench_part(const char *id, int number, int total, const char *body)
{
    g_autofree char *said = total > 0 ? g_strdup_printf("; total=%d", total) : g_strdup("");
    return g_strdup_printf("From: anne@example.org\r\nTo: test@example.com\r\nSubject: part %d\r\n"
                           "Message-ID: <%s-%d@parts>\r\nMIME-Version: 1.0\r\n"
                           "Content-Type: message/partial; id=\"%s\"; number=%d%s\r\n\r\n%s",
                           number, id, number, id, number, said, body);
}

bool bench_put(Bench *bench, Spool *spool, const char *sender, const char *octets)
{
    g_autoptr(GBytes) bytes = g_bytes_new(octets, strlen(octets));
    g_autoptr(Message) message = message_new(bytes);
    g_auto(Partial) partial = {0};
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, BENCH_LIST);
    meta_set_string(meta, KEY_SENDER, sender);
    meta_set_string(meta, KEY_TO, TO_POSTING);
    meta_set_string(meta, KEY_RECIPIENT, "test@example.com");
    meta_set_integer(meta, META_ARRIVAL, bench->arrival ? bench->arrival++ : clock_unique());
    if (partial_read(message, &partial) && !partial.fault) {
        g_autofree char *key = partial_set_key(BENCH_LIST, partial_sender(&partial, sender), partial.id);
        meta_set_string(meta, META_SHARD, key);
    }
    g_autoptr(Draft) draft = draft_new("defragment", meta);
    draft_add_message(draft, bytes);
    Intake intake = {.draft = draft};
    bool stored = intake_store(spool, &intake, 1, false);
    g_clear_error(&intake.error);
    return stored;
}

void bench_send(Bench *bench, const char *id, int number, int total, const char *body)
{
    g_autofree char *octets = bench_part(id, number, total, body);
    g_assert_true(bench_put(bench, bench->fixture.spool, BENCH_SENDER, octets));
}

/* ---- in the child ---- */

static const BenchRun *running;
static RunnerSpec spec;
static unsigned moment;
static int refusal;

static void pass_moment(void)
{
    if (++moment == running->kill_at)
        kill(getpid(), SIGKILL);
    if (running->moments)
        *running->moments = MAX(*running->moments, moment);
}

static int on_call(const FsEvent *event, void *data)
{
    pass_moment();
    if (event->call != FS_CREATE || event->name[0] == '.') /* one that a start makes in a new spool is no mail */
        return 0;
    int result = refusal;
    refusal = 0;
    return result;
}

/* Moments around the transaction, too. */
static bool end_batch(Runner *runner, GError **error)
{
    pass_moment();
    bool done = defragment_spec.end_batch(runner, error);
    pass_moment();
    return done;
}

static int64_t idle(Runner *runner)
{
    defragment_spec.idle(runner);
    if (running->feed && running->feed(running->data))
        return 0;
    child_stop();
    return 0;
}

static void become_runner(const Bench *bench)
{
    char slice[12], slices[12];
    g_snprintf(slice, sizeof slice, "%u", running->slice);
    g_snprintf(slices, sizeof slices, "%u", MAX(running->slices, 1));
    g_setenv(CHILD_ENV_CONFIG, bench->config, TRUE);
    g_setenv(CHILD_ENV_RUNNER, "defragment", TRUE);
    g_setenv(CHILD_ENV_OUTSIDE, "1", TRUE); /* kills are not counted */
    g_setenv(CHILD_ENV_INSTANCE, slice, TRUE);
    g_setenv(CHILD_ENV_INSTANCES, slices, TRUE);
    if (!g_getenv("BENCH_VERBOSE")) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
    }
    moment = 0;
    refusal = running->refusal;
    spec = defragment_spec;
    spec.idle = idle;
    spec.end_batch = end_batch;
    fs_set_hook(on_call, NULL);
    char *argv[] = {(char *)"defragment", NULL};
    _exit(runner_main(&spec, 1, argv));
}

bool bench_run(const Bench *bench, const BenchRun *run)
{
    running = run;
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0)
        become_runner(bench);
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && run->kill_at > 0)
        return false;
    g_assert_cmpint(status, ==, 0);
    return true;
}

void bench_work(const Bench *bench)
{
    BenchRun run = {0};
    g_assert_true(bench_run(bench, &run));
}

/* ---- looking ---- */

unsigned bench_count(Bench *bench, const char *queue)
{
    return fixture_count(&bench->fixture, queue, "");
}

Entry *bench_only(Bench *bench, const char *queue)
{
    g_assert_cmpuint(fixture_count(&bench->fixture, queue, ".msg"), ==, 1);
    return fixture_open(&bench->fixture, queue);
}

char *bench_body(Entry *entry)
{
    g_autofree char *text = fixture_text(entry);
    const char *body = strstr(text, "\r\n\r\n");
    g_assert_nonnull(body);
    return g_strdup(body + 4);
}

static bool keep_set(const FragmentSet *set, void *data)
{
    char **key = data;
    g_assert_null(*key);
    *key = g_strdup(set->key);
    return true;
}

FragmentSet *bench_set(const Bench *bench)
{
    g_autoptr(Store) store = bench_store(bench);
    g_autoptr(GError) error = NULL;
    g_autofree char *key = NULL;
    g_assert_true(fragment_each(store, &(FragmentChoice){.every_state = true}, keep_set, &key, &error));
    g_assert_nonnull(key);
    FragmentSet *set = fragment_find(store, key, &error);
    g_assert_no_error(error);
    return set;
}

void bench_join(const Bench *bench, const char *file, int number)
{
    EntryName name;
    char digits[HASH_DIGITS + 1];
    g_assert_true(name_parse(file, &name, NULL));
    name_hash_format(name.hash, digits);
    g_autoptr(FragmentSet) set = bench_set(bench);
    g_autoptr(Store) store = bench_store(bench);
    FragmentPart part = {.number = number, .octets = 5, .entry = digits, .digest = (char *)"d"};
    const FragmentEnd joined = {.state = FRAGMENT_JOINED, .time = clock_now(), .joined_by = digits};
    g_assert_true(fragment_add(store, set->key, &part, number, NULL));
    g_assert_true(fragment_end(store, set->key, &joined, NULL));
}

void bench_assert_joined(Bench *bench, const char *body)
{
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 0);
    g_autoptr(Entry) entry = bench_only(bench, "in");
    g_autofree char *got = bench_body(entry);
    g_assert_cmpstr(got, ==, body);
    g_assert_null(meta_string(entry_meta(entry), KEY_LEFT, NULL));
    g_assert_null(meta_string(entry_meta(entry), META_SHARD, NULL));
}

void bench_assert_state(const Bench *bench, FragmentState state, bool settled, int64_t parts)
{
    g_autoptr(FragmentSet) set = bench_set(bench);
    g_assert_cmpint(set->state, ==, state);
    g_assert_cmpint(set->settled, ==, settled);
    g_assert_cmpint(set->parts, ==, parts);
}

/* How many wait, and that all do so until about then. */
void bench_assert_waiting(Bench *bench, unsigned count, int64_t from, int64_t to)
{
    g_autofree char *files = fixture_files(&bench->fixture, "defragment", ".msg");
    g_auto(GStrv) names = g_strsplit(files, ",", -1);
    unsigned seen = 0;
    for (char **name = names; *name && **name; name++, seen++) {
        EntryName parsed;
        g_assert_true(name_parse(*name, &parsed, NULL));
        g_assert_cmpint(parsed.due, >=, clock_now() + from);
        g_assert_cmpint(parsed.due, <=, clock_now() + to);
    }
    g_assert_cmpuint(seen, ==, count);
}
