/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/nntp_client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "t/suite.h"

/* A server that follows a script in a thread of its own: "< line" is what the client must say, "> line" is said to it;
 * at the end it hangs up. */
typedef struct Server {
    int fd;
    const char *const *script;
    GThread *thread;
    char port[8];
    NntpSettings settings;
} Server;

static gpointer serve(gpointer data)
{
    const Server *server = data;
    int fd = accept(server->fd, NULL, NULL);
    FILE *in = fdopen(fd, "r+");
    char line[1000];
    for (const char *const *at = server->script; *at; at++) {
        if (**at == '>') {
            g_assert_cmpint(dprintf(fd, "%s\r\n", *at + 2), >, 0);
            continue;
        }
        g_assert_nonnull(fgets(line, sizeof line, in));
        line[strcspn(line, "\r\n")] = '\0';
        g_assert_cmpstr(line, ==, *at + 2);
    }
    fclose(in);
    return NULL;
}

static void server_start(Server *server, const char *const *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    *server = (Server){.fd = socket(AF_INET, SOCK_STREAM, 0), .script = script};
    g_assert_cmpint(bind(server->fd, (struct sockaddr *)&address, length), ==, 0);
    g_assert_cmpint(listen(server->fd, 5), ==, 0);
    g_assert_cmpint(getsockname(server->fd, (struct sockaddr *)&address, &length), ==, 0);
    g_snprintf(server->port, sizeof server->port, "%u", ntohs(address.sin_port));
    server->settings = (NntpSettings){.host = "127.0.0.1", .port = server->port, .user = "anne", .password = "secret",
                                      .timeout = 5000000, .article_most = 100};
    server->thread = g_thread_new("server", serve, server);
}

static void server_stop(Server *server)
{
    g_thread_join(server->thread);
    close(server->fd);
}

#define HELLO \
    "> 200 hi", "< MODE READER", "> 200 ok", "< AUTHINFO USER anne", "> 381 more", "< AUTHINFO PASS secret", "> 281 ok"

static void test_read(void)
{
    static const char *const script[] = {
        HELLO, "< GROUP local.test", "> 211 2 3 7 local.test", "< ARTICLE 3", "> 423 gone", "< ARTICLE 4",
        "> 220 4 <a@b>", "> Subject: x", "> ", "> ..", "> .", "< ARTICLE 5", "> 220 5 <a@b>",
        "> X: 01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "> .", "< HEAD <a@b>", "> 221 0 <a@b>", "> Newsgroups: local.test", "> .", "< GROUP none", "> 411 no", NULL};
    Server server;
    server_start(&server, script);
    GError *error = NULL;
    NntpClient *client = nntp_client_open(&server.settings, &error);
    g_assert_no_error(error);
    NntpGroup group;
    GBytes *article;
    bool large;
    g_assert_true(nntp_client_group(client, "local.test", &group, &error));
    g_assert_cmpint(group.count, ==, 2);
    g_assert_cmpint(group.first, ==, 3);
    g_assert_cmpint(group.last, ==, 7);
    g_assert_true(nntp_client_article(client, 3, &article, &large, &error));
    g_assert_null(article);
    g_assert_true(nntp_client_article(client, 4, &article, &large, &error));
    g_assert_cmpmem(g_bytes_get_data(article, NULL), g_bytes_get_size(article), "Subject: x\r\n\r\n.\r\n", 17);
    g_bytes_unref(article);
    g_assert_true(nntp_client_article(client, 5, &article, &large, &error));
    g_assert_true(!article && large);
    g_assert_true(nntp_client_head(client, "a@b", &article, &error));
    g_assert_nonnull(article);
    g_bytes_unref(article);
    g_assert_false(nntp_client_group(client, "none", &group, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    g_thread_join(server.thread);
    g_assert_false(nntp_client_group(client, "none", &group, &error)); /* it has hung up */
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    nntp_client_free(client);
    close(server.fd);
}

/* ---- which articles there are ---- */

#define RANGE_1 "< LISTGROUP g 11-1010"
#define RANGE_2 "< LISTGROUP g 1011-17010"
#define RANGE_3 "< LISTGROUP g 17011-273010"

static void test_numbers(void)
{
    static const struct {
        int64_t last, known; /* the first is 11 */
        const char *numbers, *script[16];
    } cases[] = {
        {20, 20, " 12 19", {"< LISTGROUP g 11-20", "> 211 5 1 20 g", "> 12", "> 19", "> ."}},
        {20, 20, "", {"< LISTGROUP g 11-20", "> 211 5 1 20 g", "> ."}},
        {20, 20, "", {"< LISTGROUP g 11-20", "> 423 none"}},
        /* A gap costs the logarithm of its length. */
        {2147483647, 273010, " 200000",
         {RANGE_1, "> 211 5 1 20 g", "> .", RANGE_2, "> 211 5 1 20 g", "> .", RANGE_3, "> 211 5 1 20 g", "> 200000",
          "> ."}},
        {20000, 20000, "",
         {RANGE_1, "> 211 5 1 20 g", "> .", RANGE_2, "> 211 5 1 20 g", "> .", "< LISTGROUP g 17011-20000",
          "> 211 5 1 20 g", "> ."}},
        /* The server knows none, or not with a range. */
        {20, 20, " 13",
         {"< LISTGROUP g 11-20", "> 501 what", "< OVER 11-20", "> 224 here", "> 13\tSubject\t\t", "> ."}},
        {20, 20, "", {"< LISTGROUP g 11-20", "> 500 what", "< OVER 11-20", "> 423 none"}},
        {20, 20, " 13 14",
         {"< LISTGROUP g 11-20", "> 211 2 1 2 g", "> 1", "> 2", "> .", "< OVER 11-20", "> 500 what", "< XOVER 11-20",
          "> 224 here", "> 13\tSubject", "> 14\tSubject", "> ."}},
        {20, 14, " 14",
         {"< LISTGROUP g 11-20", "> 500 x", "< OVER 11-20", "> 500 x", "< XOVER 11-20", "> 500 x", "< STAT 10",
          "> 223 10 <a@b>", "< NEXT", "> 223 14 <c@d>"}},
        {20, 20, "",
         {"< LISTGROUP g 11-20", "> 500 x", "< OVER 11-20", "> 500 x", "< XOVER 11-20", "> 500 x", "< STAT 10",
          "> 223 10 <a@b>", "< NEXT", "> 421 no more"}},
        {20, 10, "",
         {"< LISTGROUP g 11-20", "> 500 x", "< OVER 11-20", "> 500 x", "< XOVER 11-20", "> 500 x", "< STAT 10",
          "> 423 none"}},
        /* Numbers that cannot be. */
        {20, 20, " 12 13", {"< LISTGROUP g 11-20", "> 211 5 1 20 g", "> 12", "> 12", "> x", "> -5", "> 3", "> 13",
                            "> 99999999999999999999", "> 21", "> ."}},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        static const char *const hello[] = {HELLO};
        const char *script[G_N_ELEMENTS(hello) + 17] = {NULL};
        memcpy(script, hello, sizeof hello);
        memcpy(script + G_N_ELEMENTS(hello), cases[at].script, sizeof cases[at].script);
        Server server;
        server_start(&server, script);
        GError *error = NULL;
        NntpClient *client = nntp_client_open(&server.settings, &error);
        g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
        const NntpGroup wanted = {.first = 11, .last = cases[at].last};
        int64_t known;
        g_test_message("%zu", at);
        g_assert_true(nntp_client_numbers(client, "g", &wanted, numbers, &known, &error));
        g_autoptr(GString) all = g_string_new(NULL);
        for (guint number = 0; number < numbers->len; number++)
            g_string_append_printf(all, " %" G_GINT64_FORMAT, g_array_index(numbers, int64_t, number));
        g_assert_cmpstr(all->str, ==, cases[at].numbers);
        g_assert_cmpint(known, ==, cases[at].known);
        nntp_client_free(client);
        server_stop(&server);
    }
}

/* A server that has an article for each number tells no more of them than there is room for. */
static void test_many_numbers(void)
{
    const char *script[10 + 3010] = {HELLO, "< LISTGROUP g 1-1000", "> 211 3000 1 3000 g"};
    size_t count = 0;
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    while (script[count])
        count++;
    for (int number = 1; number <= 3000; number++) {
        g_ptr_array_add(lines, g_strdup_printf("> %d", number));
        script[count++] = lines->pdata[lines->len - 1];
    }
    script[count] = "> .";
    Server server;
    server_start(&server, script);
    GError *error = NULL;
    NntpClient *client = nntp_client_open(&server.settings, &error);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const NntpGroup wanted = {.first = 1, .last = 3000};
    int64_t known;
    g_assert_true(nntp_client_numbers(client, "g", &wanted, numbers, &known, &error));
    g_assert_cmpuint(numbers->len, ==, NNTP_NUMBERS_MOST);
    g_assert_cmpint(known, ==, 1000);
    nntp_client_free(client);
    server_stop(&server);
}

static void test_groups(void)
{
    static const struct {
        const char *reply;
        bool known;
        NntpGroup group;
    } cases[] = {
        {"> 211 0 0 0 g", true, {0, 0, 0}},
        {"> 211 0 5 4 g", true, {0, 5, 4}},
        {"> 211 0007 01 9999999999999999 g", true, {7, 1, 9999999999999999}},
        {"> 211 7 1 10000000000000000 g", false, {0}},
        {"> 211 7 1 -5 g", false, {0}},
        {"> 211 7 1", false, {0}},
        {"> 211 g", false, {0}},
        {"> 480 log in", false, {0}},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        const char *const script[] = {HELLO, "< GROUP g", cases[at].reply, NULL};
        Server server;
        NntpGroup group;
        server_start(&server, script);
        GError *error = NULL;
        NntpClient *client = nntp_client_open(&server.settings, &error);
        g_test_message("%s", cases[at].reply);
        g_assert_cmpint(nntp_client_group(client, "g", &group, &error), ==, cases[at].known);
        if (cases[at].known)
            g_assert_cmpmem(&group, sizeof group, &cases[at].group, sizeof group);
        else
            g_assert_error(error, FAIL, FAIL_LATER);
        g_clear_error(&error);
        nntp_client_free(client);
        server_stop(&server);
    }
}

#define POST "< POST", "> 340 go", "< Subject: x", "< ", "< ..", "< ..x", "< ."

static void test_post(void)
{
    static const char *const script[] = {
        HELLO, POST, "> 240 ok", POST, "> 441 435 Duplicate", POST, "> 441 437 no such group", POST,
        "> 441 436 try later", NULL};
    static const NntpVerdict verdicts[] = {NNTP_POSTED, NNTP_KNOWN, NNTP_REFUSED};
    Server server;
    server_start(&server, script);
    GError *error = NULL;
    NntpClient *client = nntp_client_open(&server.settings, &error);
    g_assert_no_error(error);
    g_autoptr(GBytes) article = g_bytes_new_static("Subject: x\r\n\r\n.\r\n.x\r\n", 21);
    NntpVerdict verdict;
    for (size_t at = 0; at < G_N_ELEMENTS(verdicts); at++) {
        g_autofree char *reply = NULL;
        g_assert_true(nntp_client_post(client, article, &verdict, &reply, &error));
        g_assert_cmpint(verdict, ==, verdicts[at]);
        g_assert_nonnull(strchr(reply, ' '));
    }
    char *reply = NULL;
    g_assert_false(nntp_client_post(client, article, &verdict, &reply, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    nntp_client_free(client);
    server_stop(&server);
}

/* None of these is a reason to lose a post: FAIL_LATER, with the server's words or what became of it. */
static void test_unable(void)
{
    static const char *const cases[][8] = {
        {"> 400 not now", NULL},
        {"> SSH-2.0-x", NULL},
        {NULL},
        {"> 200 hi", "< MODE READER", "> 200 ok", "< AUTHINFO USER anne", "> 381 more", "< AUTHINFO PASS secret",
         "> 481 wrong", NULL},
    };
    static const char *const words[] = {"400 not now", "is no news server", "closed the connection", "481 wrong"};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        Server server;
        server_start(&server, cases[at]);
        GError *error = NULL;
        g_assert_null(nntp_client_open(&server.settings, &error));
        g_assert_error(error, FAIL, FAIL_LATER);
        g_assert_nonnull(strstr(error->message, words[at]));
        g_assert_nonnull(strstr(error->message, "127.0.0.1:"));
        g_clear_error(&error);
        server_stop(&server);
    }
    const NntpSettings nobody = {.host = "127.0.0.1", .port = "1", .timeout = 5000000};
    GError *error = NULL;
    g_assert_null(nntp_client_open(&nobody, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
}

SUITE("nntp_client")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/net/nntp client/reads", test_read);
    g_test_add_func("/net/nntp client/groups", test_groups);
    g_test_add_func("/net/nntp client/numbers", test_numbers);
    g_test_add_func("/net/nntp client/many numbers", test_many_numbers);
    g_test_add_func("/net/nntp client/posts", test_post);
    g_test_add_func("/net/nntp client/servers that are none", test_unable);
    return g_test_run();
}
