/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config_internal.h"
#include "base/fail.h"
#include "t/suite.h"

static char *place; /* a directory for all tests of this run */

/* The first two sections stand for all that are allowed, because others come with each runner. */
static void shorten_sections(GString *told)
{
    const char *first_two = "[site], [trail], ", *found = strstr(told->str, first_two);
    if (!found)
        return;
    size_t from = (size_t)(found - told->str) + strlen(first_two), length = strcspn(told->str + from, "\n");
    g_string_erase(told, (gssize)from, (gssize)length);
    g_string_insert(told, (gssize)from, "and so on");
}

/* Loads text as a file; the faults come back as text, with the file's path as FILE. */
static Config *load(const char *text, bool offline, char **faults)
{
    g_autofree char *path = g_build_filename(place, "listrunner.conf", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Config *config = config_load(path, offline, &error);
    g_assert_true((config == NULL) == (error != NULL));
    if (error) {
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_autoptr(GString) told = g_string_new(error->message);
        g_string_replace(told, path, "FILE", 0);
        shorten_sections(told);
        *faults = g_string_free(g_steal_pointer(&told), FALSE);
    } else {
        *faults = NULL;
    }
    return config;
}

static Config *accept(const char *text)
{
    g_autofree char *faults = NULL;
    Config *config = load(text, true, &faults);
    g_assert_cmpstr(faults, ==, NULL);
    return config;
}

static void refuse(const char *text, const char *expected)
{
    g_autofree char *faults = NULL;
    g_autoptr(Config) config = load(text, true, &faults);
    g_assert_cmpstr(faults, ==, expected);
}

/* ---- what is accepted ---- */

static void test_defaults(void)
{
    g_autoptr(Config) config = accept("");
    g_assert_cmpstr(config_string(config, "site", "user"), ==, "listrunner");
    g_assert_cmpstr(config_string(config, "site", "hostname"), ==, g_get_host_name());
    g_autofree char *owner = g_strconcat("postmaster@", g_get_host_name(), NULL);
    g_assert_cmpstr(config_string(config, "site", "site_owner"), ==, owner);
    g_assert_cmpstr(config_string(config, "spool", "directory"), ==, LOCALSTATEDIR "/spool/listrunner");
    g_assert_cmpuint(config_size(config, "spool", "min_free"), ==, 100u << 20);
    g_assert_cmpint(config_duration(config, "spool", "tmp_lifetime"), ==, INT64_C(36) * 3600 * 1000000);
    g_assert_cmpint(config_duration(config, "out", "maximal_queue_lifetime"), ==, INT64_C(5) * 86400 * 1000000);
    g_assert_cmpint(config_integer(config, "transport.relay", "port"), ==, 25);
    g_assert_false(config_bool(config, "site", "verbose"));
    g_assert_true(config_bool(config, "runner.in", "start"));
    g_assert_cmpstr(config_string(config, "runner.in", "command"), ==, LIBEXECDIR "/in");
    g_assert_cmpstr(config_string(config, "runner.in", "queue"), ==, "in");
    g_assert_cmpstr(config_string(config, "runner.lmtp", "queue"), ==, NULL);
    g_assert_cmpstr(config_list(config, "runner.lmtp", "listen")[0], ==, "127.0.0.1:8024");
    g_assert_null(config_list(config, "runner.lmtp", "listen")[1]);
    g_assert_null(config_list(config, "runner.in", "listen")[0]);
    g_assert_false(config_has_section(config, "runner.count"));
    g_assert_true(g_strv_contains(config_family(config, "runner"), "archive"));
    g_assert_true(g_strv_contains(config_family(config, "transport"), "relay"));
    g_assert_null(config_family(config, "archiver")[0]);
}

static void test_keywords(void)
{
    g_autoptr(Config) config = accept("[transport.a]\ndefragment\n[transport.b]\ndefragment ; as the Sun has it\n"
                                      "[transport.c]\n  nodefragment\t# not\n[transport.d]\ndefragment = on\n"
                                      "[transport.e]\n");
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *section = g_strconcat("transport.", names[i], NULL);
        g_assert_cmpint(config_bool(config, section, "defragment"), ==, strchr("abd", *names[i]) != NULL);
    }
}

static void test_types(void)
{
    g_autoptr(Config) config = accept(
        "\xEF\xBB\xBF; a comment\r\n# another\n\n"
        "[site]\nverbose = On ; because\r\nhostname=lists.example.org\nsite_owner: me@example.org\n"
        "[spool]\nmin_free = 2 G\npoll_interval = 250ms\ntmp_lifetime = 7200\nbatch_limit=1\n"
        "[runner.out]\ninstances = 256\n"
        "[runner.lmtp]\nlisten = 10.0.0.1:24,[::1]:24\n   unix:/run/x ; and\n\tlocalhost:1\n"
        "[site]\nlog = syslog\n"
        "[runner.count]\ncommand = /bin/count\nx_file = a b=c\n"
        "[archiver.a]\ntype = mbox\npath = /a\nlist_url = https://x/$list_id;x\n[out]");
    g_assert_true(config_bool(config, "site", "verbose"));
    g_assert_cmpstr(config_string(config, "site", "site_owner"), ==, "me@example.org");
    g_assert_cmpstr(config_string(config, "site", "log"), ==, "syslog");
    g_assert_cmpstr(config_string(config, "transport.relay", "helo_name"), ==, "lists.example.org");
    g_assert_cmpuint(config_size(config, "spool", "min_free"), ==, UINT64_C(2) << 30);
    g_assert_cmpint(config_duration(config, "spool", "poll_interval"), ==, 250000);
    g_assert_cmpint(config_duration(config, "spool", "tmp_lifetime"), ==, INT64_C(7200) * 1000000);
    unsigned most;
    g_assert_cmpint(config_instances(config, "out", &most), ==, 256);
    g_assert_cmpint(most, ==, 256);
    g_autofree char *listen = g_strjoinv("|", (char **)config_list(config, "runner.lmtp", "listen"));
    g_assert_cmpstr(listen, ==, "10.0.0.1:24|[::1]:24|unix:/run/x|localhost:1");
    g_assert_cmpstr(config_string(config, "runner.count", "queue"), ==, "count");
    g_assert_cmpstr(config_extra(config, "runner.count", "x_file"), ==, "a b=c");
    g_assert_cmpstr(config_extra(config, "runner.count", "x_none"), ==, NULL);
    g_assert_cmpstr(config_extra(config, "runner.count", "command"), ==, NULL);
    g_assert_cmpstr(config_extra(config, "runner.none", "x_file"), ==, NULL);
    g_assert_cmpstr(config_string(config, "archiver.a", "list_url"), ==, "https://x/$list_id;x");
    g_assert_cmpstr(config_family(config, "archiver")[0], ==, "a");
    const char *const *runners = config_family(config, "runner");
    g_assert_cmpstr(runners[g_strv_length((char **)runners) - 1], ==, "count");
}

/* ---- what is refused: one fault each ---- */

typedef struct Refusal {
    const char *name, *text, *faults;
} Refusal;

#define ENDPOINT_ALLOWED "HOST:PORT or [IPv6]:PORT, with a port from 1 to 65535, or unix:/PATH"
#define HOST_ALLOWED \
    "a host name, an IPv4 or IPv6 address without brackets, or unix:/PATH; the port has a line of its own"
#define AUTH_ALLOWED \
    ": whoever answers as mail.example.com would get the password of auth_user; allowed is tls_level = verify, or " \
    "auth_mechanisms of scram-sha-256 and scram-sha-1 alone, or auth_in_clear = yes"
#define DURATION_ALLOWED "a time such as 500ms, 30s, 5m, 36h, 5d (a number alone is seconds)"
#define SECTIONS "[site], [trail], and so on"
#define RUNNER_KEYS "start, instances, min_instances, max_instances, command, confine, queue, listen, socket_mode"

static const Refusal refusals[] = {
    {"section-near", "\n[sppol]\nx = 1\ny = 2\n",
     "FILE:2: [sppol]: found an unknown section; allowed is [spool], perhaps?"},
    {"section-empty-near", "[runer.in]",
     "FILE:1: [runer.in]: found an unknown section; allowed is [runner.in], perhaps?"},
    {"section-far", "[somethingelse]", "FILE:1: [somethingelse]: found an unknown section; allowed are " SECTIONS},
    {"section-open", "[spool\ndirectory = x", "FILE:1: found \"[spool\"; allowed is [SECTION], at most 48 characters"},
    {"section-trailing", "[spool] directory = /x",
     "FILE:1: found \"[spool] directory = /x\"; allowed is [SECTION], at most 48 characters"},
    {"member-name", "[runner.In/x]\n",
     "FILE:1: [runner.In/x]: found \"In/x\"; allowed is a name of small letters, digits, _ and -"},
    {"member-empty", "[runner.]\n",
     "FILE:1: [runner.]: found \"\"; allowed is a name of small letters, digits, _ and -"},
    {"key-near", "[site]\nhostnam = x", "FILE:2: [site] hostnam: found an unknown key; allowed is hostname, perhaps?"},
    {"key-far", "[runner.in]\n\nzzzzzzzz = x",
     "FILE:3: [runner.in] zzzzzzzz: found an unknown key; allowed are " RUNNER_KEYS},
    {"key-free-elsewhere", "[store]\nx_a = 1",
     "FILE:2: [store] x_a: found an unknown key; allowed are driver, path, url, password_file, remember"},
    {"key-twice", "[site]\nlog = stderr\n[store]\n[site]\nlog = stderr",
     "FILE:5: [site] log: found a second time, first in line 2; allowed once"},
    {"keyword-twice", "[transport.a]\ndefragment\nnodefragment\n",
     "FILE:3: [transport.a] defragment: found a second time, first in line 2; allowed once"},
    {"keyword-elsewhere", "[out]\ndefragment\n",
     "FILE:2: found \"defragment\"; allowed is KEY = VALUE, [SECTION] or a comment"},
    {"key-outside", "log = stderr", "FILE:1: found log before any section; allowed after [SECTION]"},
    {"no-key", "[site]\nlog", "FILE:2: found \"log\"; allowed is KEY = VALUE, [SECTION] or a comment"},
    {"indented", "[site]\nlog = stderr\n  user = me",
     "FILE:3: [site] log: found an indented line, which would continue it; allowed only after a list "
     "(a key begins in the first column)"},
    {"not-utf8", "[site]\n# \xff", "FILE:2: found byte 0xff; allowed is text in UTF-8"},
    {"path", "[spool]\ndirectory = spool", "FILE:2: [spool] directory: found \"spool\"; allowed is an absolute path"},
    {"bool", "[site]\nverbose = maybe", "FILE:2: [site] verbose: found \"maybe\"; allowed is yes or no"},
    {"choice", "[spool]\nsync = never", "FILE:2: [spool] sync: found \"never\"; allowed is one of fsync, syncfs"},
    {"choice-of-words", "[store]\ndriver = oracle",
     "FILE:2: [store] driver: found \"oracle\"; allowed is one of sqlite, postgresql"},
    {"integer", "[transport.relay]\nport = smtp",
     "FILE:2: [transport.relay] port: found \"smtp\"; allowed is a whole number, from 1 to 65535"},
    {"integer-range", "[transport.relay]\nport = 65536",
     "FILE:2: [transport.relay] port: found \"65536\"; allowed is a whole number, from 1 to 65535"},
    {"integer-negative", "[out]\nbackoff_jitter = -1",
     "FILE:2: [out] backoff_jitter: found \"-1\"; allowed is a whole number, from 0 to 50"},
    {"integer-huge", "[out]\nbackoff_jitter = 99999999999999999999999",
     "FILE:2: [out] backoff_jitter: found \"99999999999999999999999\"; allowed is a whole number, from 0 to 50"},
    {"duration", "[master]\nstop_timeout = 30 seconds",
     "FILE:2: [master] stop_timeout: found \"30 seconds\"; allowed is " DURATION_ALLOWED ", from 0 to 1h"},
    {"duration-overflow", "[master]\nstop_timeout = 99999999999999999w",
     "FILE:2: [master] stop_timeout: found \"99999999999999999w\"; allowed is " DURATION_ALLOWED ", from 0 to 1h"},
    {"comment-for-value", "[site]\nuser =;me",
     "FILE:2: [site] user: found ;me right behind the equals sign; allowed is a value that does not begin with ;"},
    {"comment-hash", "[master]\nstop_timeout = 30s # half a minute",
     "FILE:2: [master] stop_timeout: found \"30s # half a minute\"; allowed is " DURATION_ALLOWED
     ", from 0 to 1h (a comment behind a value begins with \" ;\")"},
    {"size", "[spool]\nmin_free = 10T",
     "FILE:2: [spool] min_free: found \"10T\"; allowed is bytes, with K, M or G as powers of 1024"},
    {"size-range", "[lmtp]\nmax_message_size = 10",
     "FILE:2: [lmtp] max_message_size: found \"10\"; allowed is bytes, with K, M or G as powers of 1024, "
     "from 1K to 2047M"},
    {"count-between", "[runner.in]\ninstances = 6",
     "FILE:2: [runner.in] instances: found \"6\"; allowed is auto, or a power of two from 1 to 256; "
     "the nearest are 4 and 8"},
    {"count-auto", "[runner.in]\ninstances = auto\nmin_instances = auto",
     "FILE:3: [runner.in] min_instances: found \"auto\"; allowed is a power of two from 1 to 256"},
    {"count-auto-beside", "[runner.in]\ninstances = 2\nmax_instances = 4",
     "FILE:3: [runner.in] max_instances: found 4 beside instances = 2; allowed is instances = auto"},
    {"count-auto-order", "[runner.in]\ninstances = auto\nmin_instances = 4\nmax_instances = 2",
     "FILE:4: [runner.in] max_instances: found 2; allowed is at least min_instances = 4"},
    {"count-auto-one", "[runner.watch]\ninstances = auto",
     "FILE:2: [runner.watch] instances: found auto; allowed is 1"},
    {"canary-list", "[watch]\ncanary = canary@example.com",
     "FILE:2: [watch] canary: found \"canary@example.com\"; allowed is a mail domain of the site, such as example.com"},
    {"count-auto-listener", "[runner.lmtp]\ninstances = auto",
     "FILE:2: [runner.lmtp] instances: found auto, which goes by the entries that wait in a queue, and a listener has "
     "none; allowed is a power of two from 1 to 256"},
    {"count-three", "[runner.in]\ninstances = 3",
     "FILE:2: [runner.in] instances: found \"3\"; allowed is auto, or a power of two from 1 to 256; "
     "the nearest are 2 and 4"},
    {"count-zero", "[runner.in]\ninstances = 0",
     "FILE:2: [runner.in] instances: found \"0\"; allowed is auto, or a power of two from 1 to 256; the nearest is 1"},
    {"count-large", "[runner.in]\ninstances = 512",
     "FILE:2: [runner.in] instances: found \"512\"; allowed is auto, or a power of two from 1 to 256; "
     "the nearest is 256"},
    {"count-word", "[runner.in]\ninstances = two",
     "FILE:2: [runner.in] instances: found \"two\"; allowed is auto, or a power of two from 1 to 256"},
    {"empty", "[runner.in]\nqueue =", "FILE:2: [runner.in] queue: found \"\"; allowed is a value, or no such line"},
    {"hostname", "[site]\nhostname = a b", "FILE:2: [site] hostname: found \"a b\"; allowed is a host name"},
    {"site-owner", "[site]\nsite_owner = me",
     "FILE:2: [site] site_owner: found \"me\"; allowed is a mail address without a name"},
    {"verp", "[lmtp]\nverp_delimiter = ++",
     "FILE:2: [lmtp] verp_delimiter: found \"++\"; allowed is one of + - = # % * /"},
    {"order-low", "[out]\nminimal_backoff_time = 2h",
     "FILE:2: [out] minimal_backoff_time: found 2h; allowed is at most maximal_backoff_time = 4000s"},
    {"order-high", "[out]\nminimal_backoff_time = 1h\nmaximal_backoff_time = 1m",
     "FILE:3: [out] maximal_backoff_time: found 1m; allowed is at least minimal_backoff_time = 1h"},
    {"order-restart", "[master]\nrestart_delay_min = 2m",
     "FILE:2: [master] restart_delay_min: found 2m; allowed is at most restart_delay_max = 1m"},
    {"memory-low", "[lmtp]\nmemory_limit = 63M",
     "FILE:2: [lmtp] memory_limit: found 63M; allowed is at least twice max_message_size = 32M"},
    {"message-large", "[lmtp]\nmax_message_size = 200M",
     "FILE:2: [lmtp] max_message_size: found 200M; allowed is at most half of memory_limit = 256M"},
    {"outside-command", "[runner.count]\nx_a = 1",
     "FILE:1: [runner.count] command: found no value; allowed is the absolute path of the program, "
     "because this runner does not come with Listrunner"},
    {"listen-port", "[runner.lmtp]\nlisten = localhost:0",
     "FILE:2: [runner.lmtp] listen: found \"localhost:0\"; allowed is " ENDPOINT_ALLOWED},
    {"listen-relative", "[runner.lmtp]\nlisten = unix:sock",
     "FILE:2: [runner.lmtp] listen: found \"unix:sock\"; allowed is " ENDPOINT_ALLOWED},
    {"listen-v6", "[runner.lmtp]\nlisten = ::1:24",
     "FILE:2: [runner.lmtp] listen: found \"::1:24\"; allowed is " ENDPOINT_ALLOWED},
    {"listen-twice",
     "[runner.lmtp]\nlisten = localhost:8001 unix:/s\n[runner.rest]\nstart = yes\n"
     "listen = localhost:8001\n[runner.mta]\nstart = no\nlisten = localhost:8001",
     "FILE:5: [runner.rest] listen: found \"localhost:8001\", where [runner.lmtp] listens; allowed is a place of its "
     "own"},
    {"listen-range", "[runner.lmtp]\nlisten = *:24 a*b:24 localhost:65536 localhost: 1.2.3.999:24 [1.2.3.4]:24 [::1",
     "FILE:2: [runner.lmtp] listen: found \"a*b:24\"; allowed is " ENDPOINT_ALLOWED "\n"
     "FILE:2: [runner.lmtp] listen: found \"localhost:65536\"; allowed is " ENDPOINT_ALLOWED "\n"
     "FILE:2: [runner.lmtp] listen: found \"localhost:\"; allowed is " ENDPOINT_ALLOWED "\n"
     "FILE:2: [runner.lmtp] listen: found \"1.2.3.999:24\"; allowed is " ENDPOINT_ALLOWED "\n"
     "FILE:2: [runner.lmtp] listen: found \"[1.2.3.4]:24\"; allowed is " ENDPOINT_ALLOWED "\n"
     "FILE:2: [runner.lmtp] listen: found \"[::1\"; allowed is " ENDPOINT_ALLOWED},
    {"host-half-bracket", "[transport.relay]\nhost = [::1",
     "FILE:2: [transport.relay] host: found \"[::1\"; allowed is " HOST_ALLOWED},
    {"host-brackets", "[transport.relay]\nhost = [::1]",
     "FILE:2: [transport.relay] host: found \"[::1]\"; allowed is " HOST_ALLOWED},
    {"host-port", "[transport.relay]\nhost = mail.example.com:587",
     "FILE:2: [transport.relay] host: found \"mail.example.com:587\"; allowed is " HOST_ALLOWED},
    {"host-number", "[transport.relay]\nhost = 192.0.2.256",
     "FILE:2: [transport.relay] host: found \"192.0.2.256\"; allowed is " HOST_ALLOWED},
    {"helo-name", "[transport.relay]\nhelo_name = a b\ntls_verify_name = .example.com",
     "FILE:2: [transport.relay] helo_name: found \"a b\"; allowed is a host name\n"
     "FILE:3: [transport.relay] tls_verify_name: found \".example.com\"; allowed is a host name"},
    {"own-names", "[out]\nown_names = a.example.com ::1 http://x 192.0.2.1",
     "FILE:2: [out] own_names: found \"http://x\"; allowed are host names, and addresses without brackets"},
    {"auth-may", "[transport.a]\nhost = mail.example.com\nauth_user = u\nauth_password_file = /p",
     "FILE:3: [transport.a] auth_user: found \"u\" with tls_level = may" AUTH_ALLOWED},
    {"auth-require",
     "[transport.a]\nhost = mail.example.com\nauth_user = u\nauth_password_file = /p\n"
     "tls_level = require\nauth_mechanisms = scram-sha-1 plain",
     "FILE:5: [transport.a] tls_level: found \"require\"" AUTH_ALLOWED},
    {"queue-name", "[runner.in]\nqueue = ../in",
     "FILE:2: [runner.in] queue: found \"../in\"; allowed are 1 to 32 small letters, digits and -, with a letter first "
     "and no - at the end"},
    {"queue-of-name", "[runner.my_own]\ncommand = /bin/true",
     "FILE:1: [runner.my_own] queue: found \"my_own\"; allowed are 1 to 32 small letters, digits and -, with a letter "
     "first and no - at the end"},
    {"queue-digit", "[runner.own]\ncommand = /bin/true\nqueue = 2nd",
     "FILE:3: [runner.own] queue: found \"2nd\"; allowed are 1 to 32 small letters, digits and -, with a letter first "
     "and no - at the end"},
    {"queue-reserved", "[runner.in]\nqueue = retry",
     "FILE:2: [runner.in] queue: found \"retry\", which no runner may have; allowed is any other"},
    {"queue-shared", "[runner.count]\ncommand = /x\nqueue = in",
     "FILE:3: [runner.count] queue: found \"in\", the queue of [runner.in]; allowed is a queue of its own "
     "(more processes: instances)"},
    {"copy-to", "[pipeline]\ncopy_to = archive, nowhere",
     "FILE:2: [pipeline] copy_to: found \"nowhere\"; allowed are the queues of [runner.NAME] sections"},
    {"transport", "[out]\ndefault_transport = reley",
     "FILE:2: [out] default_transport: found \"reley\"; allowed is the NAME of a section [transport.NAME], "
     "such as relay"},
    {"regex", "[reply.a]\nscope = site\nmatch = too (fast",
     "FILE:3: [reply.a] match: found \"too (fast\"; allowed is a regular expression (PCRE), but: Error while compiling "
     "regular expression \342\200\230too (fast\342\200\231 at char 9: missing terminating )"},
    {"regex-none", "[reply.a]\nscope = site",
     "FILE:1: [reply.a] match: found no value; allowed is a regular expression (PCRE)"},
    {"rate", "[transport.a]\ndestination_rate = 10/fortnight",
     "FILE:2: [transport.a] destination_rate: found \"10/fortnight\"; allowed is a count and a unit such as 0.5/s, "
     "30/m, 1000/h or 20000/d, or none (0 is the same) for no limit"},
    {"feedback", "[transport.relay]\ndestination_concurrency_negative_feedback = 2/concurrency",
     "FILE:2: [transport.relay] destination_concurrency_negative_feedback: found \"2/concurrency\"; allowed is a "
     "number from 0 to 1, alone or as x/y, x/concurrency or x/sqrt_concurrency"},
    {"table-unknown", "[out]\ntransport_table = example.com:relay,\n  .example.net:reley",
     "FILE:2: [out] transport_table: found \".example.net:reley\"; allowed after the colon is the NAME of a section "
     "[transport.NAME], such as relay"},
    {"table-form", "[out]\ntransport_table = relay a@b:relay :relay a..b:relay example.com:",
     "FILE:2: [out] transport_table: found \"relay\"; allowed is DOMAIN:NAME or .DOMAIN:NAME\n"
     "FILE:2: [out] transport_table: found \"a@b:relay\"; allowed is DOMAIN:NAME or .DOMAIN:NAME\n"
     "FILE:2: [out] transport_table: found \":relay\"; allowed is DOMAIN:NAME or .DOMAIN:NAME\n"
     "FILE:2: [out] transport_table: found \"a..b:relay\"; allowed is DOMAIN:NAME or .DOMAIN:NAME\n"
     "FILE:2: [out] transport_table: found \"example.com:\"; allowed is DOMAIN:NAME or .DOMAIN:NAME"},
    {"name-server", "[dns]\nservers = 127.0.0.1 [::1]:53 ::1 192.0.2.1:5353 ns.example.com [::1]:0",
     "FILE:2: [dns] servers: found \"ns.example.com\"; allowed is an address (names cannot be looked up there), "
     "ADDRESS:PORT or [IPv6]:PORT\n"
     "FILE:2: [dns] servers: found \"[::1]:0\"; allowed is an address (names cannot be looked up there), "
     "ADDRESS:PORT or [IPv6]:PORT"},
    {"schedule", "[out]\nbackoff_schedule = 5m 0 1h\n[transport.a]\nbackoff_schedule = 31d, soon",
     "FILE:2: [out] backoff_schedule: found \"0\"; allowed are times such as 5m 30m 4h, from 1s to 30d\n"
     "FILE:4: [transport.a] backoff_schedule: found \"31d\"; allowed are times such as 5m 30m 4h, from 1s to 30d\n"
     "FILE:4: [transport.a] backoff_schedule: found \"soon\"; allowed are times such as 5m 30m 4h, from 1s to 30d"},
    {"backoff-low", "[transport.a]\nminimal_backoff_time = 2h",
     "FILE:2: [transport.a] minimal_backoff_time: found 2h; allowed is at most maximal_backoff_time = 4000s"},
    {"backoff-high", "[transport.a]\nmaximal_backoff_time = 1m",
     "FILE:2: [transport.a] maximal_backoff_time: found 1m; allowed is at least minimal_backoff_time = 300s"},
    {"archiver-path", "[archiver.a]\n",
     "FILE:1: [archiver.a] path: found no value; allowed is an absolute path, because type = maildir"},
    {"archiver-command", "[archiver.a]\ntype = command",
     "FILE:1: [archiver.a] command: found no value; allowed is a program and its arguments, because type = command"},
    {"archiver-twice",
     "[archiver.a]\ntype = mbox\npath = /x/y\n[archiver.b]\npath = /x/y\n"
     "[archiver.c]\ntype = mbox\npath = /x/y\nenabled = no\n[archiver.d]\ntype = mbox\npath = /x//y/",
     "FILE:12: [archiver.d] path: found \"/x//y/\", the path of [archiver.a]; allowed is a directory of its own"},
    {"archiver-relative", "[archiver.a]\ntype = command\ncommand = cat -n",
     "FILE:3: [archiver.a] command: found \"cat -n\"; allowed is the absolute path of a program and its arguments"},
    {"all-at-once", "[site]\nlog = x\nlgo = x\n[runner.in]\ninstances = 5\n[nothing.at.all]\n",
     "FILE:2: [site] log: found \"x\"; allowed is one of stderr, syslog\n"
     "FILE:3: [site] lgo: found an unknown key; allowed is log, perhaps?\n"
     "FILE:5: [runner.in] instances: found \"5\"; allowed is auto, or a power of two from 1 to 256; "
     "the nearest are 4 and 8\n"
     "FILE:6: [nothing.at.all]: found an unknown section; allowed are " SECTIONS},
};

static void test_refused(gconstpointer data)
{
    const Refusal *refusal = data;
    refuse(refusal->text, refusal->faults);
}

/* However long a value is, and whatever stands where inih's own limit falls, it is what the file says. */
static void test_long_line(void)
{
    static const char *const fills[] = {"x", "x ", "ab;c#d ", "\303\274", "[a] = b: ", " ;# x"};
    for (size_t i = 0; i < G_N_ELEMENTS(fills); i++)
        for (size_t before = 150; before < 210; before++) {
            g_autoptr(GString) value = g_string_new(NULL);
            while (value->len < before)
                g_string_append_c(value, 'y');
            while (value->len < 1000 && i < G_N_ELEMENTS(fills) - 1)
                g_string_append(value, fills[i]);
            g_string_append(value, "end");
            g_autofree char *text = g_strdup_printf("[handlers]\nhtml_to_plain_text_command = %s ; a comment%s\n"
                                                    "[site]\nuser = me\n", value->str, fills[i]);
            g_autoptr(Config) config = accept(text);
            g_assert_cmpstr(config_string(config, "handlers", "html_to_plain_text_command"), ==,
                            value->str);
            g_assert_cmpstr(config_string(config, "site", "user"), ==, "me");
        }
    g_autoptr(GString) list = g_string_new("[out]\nown_names = a.example\n ");
    for (int i = 0; i < 100; i++)
        g_string_append_printf(list, " host%d.example", i);
    g_autoptr(Config) config = accept(list->str);
    g_assert_cmpuint(g_strv_length((char **)config_list(config, "out", "own_names")), ==, 101);
}

static void test_long_wrong_line(void)
{
    g_autofree char *word = g_strnfill(300, 'x'), *blanks = g_strnfill(300, ' ');
    g_autofree char *text = g_strconcat("[site]\nuser = ", word, "\nlgo = ", word, "\n", word, "\nlog = x\n", NULL);
    g_autofree char *faults = g_strconcat("FILE:3: [site] lgo: found an unknown key; allowed is log, perhaps?\n"
                                          "FILE:4: found \"", word, "\"; allowed is KEY = VALUE, [SECTION] or a "
                                          "comment\nFILE:5: [site] log: found \"x\"; allowed is one of stderr, "
                                          "syslog", NULL);
    refuse(text, faults);
    g_autofree char *apart = g_strconcat("[site]\nuser = x", blanks, "x\n", NULL);
    refuse(apart, "FILE:2: [site]: found 99 blanks, ; and # or more in a row; allowed are fewer");
    g_autofree char *name = g_strnfill(60, 'x');
    g_autofree char *section = g_strdup_printf("[runner.%s]\n", name);
    g_autofree char *fault =
        g_strdup_printf("FILE:1: found \"[runner.%s]\"; allowed is [SECTION], at most 48 characters", name);
    refuse(section, fault);
}

static void test_no_file(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(config_load("/no/such/file", true, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_true(g_str_has_prefix(error->message, "/no/such/file: found no readable file"));
    g_assert_null(strchr(error->message, '\n')); /* nothing about defaults, which nobody chose */
}

/* ---- the system ---- */

static void online(const char *text, const char *expected)
{
    g_autofree char *path = g_build_filename(place, "store.db", NULL);
    g_autofree char *whole = g_strdup_printf("[site]\nuser = root\n[store]\npath = %s\n[spool]\n%s", path, text);
    g_autofree char *faults = NULL;
    g_autoptr(Config) config = load(whole, false, &faults);
    g_assert_cmpstr(faults, ==, expected);
}

static void test_system(void)
{
    g_autofree char *good = g_strdup_printf("directory = %s\n[runner.x]\ncommand = /bin/sh", place);
    online(good, NULL);
    online("directory = /no/such",
           "FILE:6: [spool] directory: found /no/such: no such directory; allowed is a directory that exists");
    online("directory = /bin/sh",
           "FILE:6: [spool] directory: found /bin/sh: not a directory; allowed is a directory that exists");
    g_autofree char *commands = g_strdup_printf("directory = %s\n[runner.x]\ncommand = /no/such\n[runner.y]\n"
                                                "command = /etc/passwd\n[store]\n[site]\n", place);
    online(commands,
           "FILE:8: [runner.x] command: found /no/such, which is no program; allowed is an executable file\n"
           "FILE:10: [runner.y] command: found /etc/passwd, which is no program; allowed is an executable file");
    g_autofree char *faults = NULL;
    g_autofree char *text =
        g_strdup_printf("[site]\nuser = no-such-user\n[spool]\ndirectory = %s\n[store]\npath = /no/x\n", place);
    g_autoptr(Config) config = load(text, false, &faults);
    g_assert_cmpstr(faults, ==,
                    "FILE:2: [site] user: found \"no-such-user\", which does not exist; "
                    "allowed is a user of this system (adduser --system --group no-such-user)\n"
                    "FILE:6: [store] path: found /no: no such directory; allowed is a directory that exists");
}

/* Root is refused whatever it is called, unless the tests' variable says otherwise. */
static void test_root(void)
{
    g_autofree char *before = g_strdup(g_getenv(CONFIG_ENV_ALLOW_ROOT));
    g_autofree char *faults = NULL, *none = NULL;
    g_autofree char *text =
        g_strdup_printf("[site]\nuser = root\n[spool]\ndirectory = %s\n[store]\npath = %s/x\n", place, place);
    g_unsetenv(CONFIG_ENV_ALLOW_ROOT);
    g_autoptr(Config) refused = load(text, false, &faults);
    g_assert_true(g_str_has_prefix(faults, "FILE:2: [site] user: found \"root\", who may do everything"));
    g_setenv(CONFIG_ENV_ALLOW_ROOT, "yes", TRUE);
    g_autoptr(Config) allowed = load(text, false, &none);
    g_assert_null(none);
    g_unsetenv(CONFIG_ENV_ALLOW_ROOT);
    if (before)
        g_setenv(CONFIG_ENV_ALLOW_ROOT, before, TRUE);
}

static void test_other_file_system(void)
{
    struct stat here, there;
    g_assert_cmpint(stat(place, &here), ==, 0);
    if (stat("/proc", &there) != 0 || here.st_dev == there.st_dev) {
        g_test_skip("no second file system");
        return;
    }
    g_autofree char *spool = g_build_filename(place, "spool", NULL);
    g_autofree char *queue = g_build_filename(spool, "in", NULL);
    g_assert_cmpint(g_mkdir(spool, 0700), ==, 0);
    g_assert_cmpint(symlink("/proc", queue), ==, 0);
    g_autofree char *text = g_strdup_printf("directory = %s", spool);
    g_autofree char *expected = g_strdup_printf(
        "FILE:6: [spool] directory: found %s on another file system; allowed is one file system for all queues", queue);
    online(text, expected);
    g_unlink(queue);
    online(text, NULL);
    g_rmdir(spool);
}

/* ---- getters, printing ---- */

static void test_default_path(void)
{
    g_unsetenv("LISTRUNNER_CONFIG");
    g_assert_cmpstr(config_default_path(NULL), ==, CONFIG_FILE);
    g_setenv("LISTRUNNER_CONFIG", "/from/environment", TRUE);
    g_assert_cmpstr(config_default_path(NULL), ==, "/from/environment");
    g_assert_cmpstr(config_default_path("/given"), ==, "/given");
    g_unsetenv("LISTRUNNER_CONFIG");
}

static void test_misspelt(void)
{
    if (g_test_subprocess()) {
        g_autoptr(Config) config = accept("");
        config_string(config, "site", "usr");
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*panic: configuration: no ?site? usr of this type*");
}

static void test_wrong_getter(void)
{
    if (g_test_subprocess()) {
        g_autoptr(Config) config = accept("");
        config_integer(config, "site", "user");
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*panic: configuration: no ?site? user of this type*");
}

static void test_print(void)
{
    g_autoptr(Config) config =
        accept("[runner.count]\ncommand = /x\nx_password = hush\nx_file = f\n[site]\nuser = me\n");
    g_autofree char *given = config_print(config, false);
    g_assert_cmpstr(given, ==, "[site]\nuser = me\n\n[runner.count]\ncommand = /x\nx_password = ***\nx_file = f\n");
    g_autofree char *all = config_print(config, true);
    g_assert_nonnull(strstr(all, "\nuser = me\n"));
    g_assert_nonnull(strstr(all, "\nlog = stderr ; default\n"));
    g_assert_nonnull(strstr(all, "\n; queue is not set\n"));
    g_assert_null(strstr(all, "hush"));
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        bool has_member = !g_str_has_suffix(table->section, ".*") || g_str_equal(table->section, "runner.*") ||
                          g_str_equal(table->section, "transport.*");
        for (const ConfigKey *key = table->keys; has_member && key->name; key++)
            g_assert_nonnull(strstr(all, key->name));
    }
    /* The printed text is a configuration again, of the same meaning. */
    g_autoptr(Config) again = accept(all);
    g_auto(GStrv) unmarked = g_strsplit(all, " ; default", -1);
    g_autofree char *first = g_strjoinv("", unmarked);
    g_autofree char *second = config_print(again, true);
    g_assert_cmpstr(second, ==, first);
}

static void test_print_long_list(void)
{
    g_autoptr(GString) text = g_string_new("[runner.lmtp]\nlisten =");
    for (int i = 1; i <= 40; i++)
        g_string_append_printf(text, "\n host%d.example.org:%d", i, i);
    g_autoptr(Config) config = accept(text->str);
    g_autofree char *printed = config_print(config, false);
    g_autoptr(Config) again = accept(printed);
    g_autofree char *before = g_strjoinv(" ", (char **)config_list(config, "runner.lmtp", "listen"));
    g_autofree char *after = g_strjoinv(" ", (char **)config_list(again, "runner.lmtp", "listen"));
    g_assert_cmpuint(g_strv_length((char **)config_list(again, "runner.lmtp", "listen")), ==, 40);
    g_assert_cmpstr(after, ==, before);
}

SUITE("config")
{
    g_test_init(&argc, &argv, NULL);
    g_setenv(CONFIG_ENV_ALLOW_ROOT, "yes", TRUE); /* whoever runs the tests */
    place = g_dir_make_tmp("config-XXXXXX", NULL);
    g_test_add_func("/config/defaults", test_defaults);
    g_test_add_func("/config/keywords", test_keywords);
    g_test_add_func("/config/types", test_types);
    for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autofree char *path = g_strconcat("/config/refused/", refusals[i].name, NULL);
        g_test_add_data_func(path, &refusals[i], test_refused);
    }
    g_test_add_func("/config/long-line", test_long_line);
    g_test_add_func("/config/long-line/wrong", test_long_wrong_line);
    g_test_add_func("/config/no-file", test_no_file);
    g_test_add_func("/config/system", test_system);
    g_test_add_func("/config/root", test_root);
    g_test_add_func("/config/other-file-system", test_other_file_system);
    g_test_add_func("/config/default-path", test_default_path);
    g_test_add_func("/config/misspelt", test_misspelt);
    g_test_add_func("/config/wrong-getter", test_wrong_getter);
    g_test_add_func("/config/print", test_print);
    g_test_add_func("/config/print-long-list", test_print_long_list);
    int result = g_test_run();
    g_autofree char *file = g_build_filename(place, "listrunner.conf", NULL);
    g_unlink(file);
    g_rmdir(place);
    g_free(place);
    return result;
}
