/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/net/peer.h"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- the peer ----------------------------------------------------------- */

static bool read_octet(Peer *peer, char *octet)
{
    return (peer->ssl ? SSL_read(peer->ssl, octet, 1) : (int)read(peer->fd, octet, 1)) == 1;
}

static void say(Peer *peer, const char *text, const char *end)
{
    g_autofree char *line = g_strconcat(text, end, NULL);
    int length = (int)strlen(line);
    if (peer->ssl)
        g_assert_cmpint(SSL_write(peer->ssl, line, length), ==, length);
    else if (send(peer->fd, line, (size_t)length, MSG_NOSIGNAL) != length)
        g_error("the client has gone before %s", line);
}

static void expect_octets(Peer *peer, const char *wanted, const char *end)
{
    g_autofree char *text = g_strconcat(wanted, end, NULL);
    g_autoptr(GString) seen = g_string_new(NULL);
    size_t length = strlen(text);
    char octet;
    while (seen->len < length && read_octet(peer, &octet)) {
        g_string_append_c(seen, octet);
        if (octet != text[seen->len - 1])
            break;
    }
    g_assert_cmpstr(seen->str, ==, text);
}

static void start_tls(Peer *peer, bool succeeds)
{
    SSL *ssl = SSL_new(peer->context);
    SSL_set_fd(ssl, peer->fd);
    bool done = SSL_accept(ssl) == 1;
    char octet; /* in TLS 1.3 a client's refusal comes after what the server takes for the end */
    if (!succeeds && done)
        done = SSL_read(ssl, &octet, 1) == 1;
    g_assert_true(done == succeeds);
    peer->ssl = ssl;
}

static void shut(Peer *peer)
{
    SSL_free(g_steal_pointer(&peer->ssl));
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
}

static void take_next(Peer *peer)
{
    shut(peer);
    peer->fd = accept(peer->listener, NULL, NULL);
    g_assert_cmpint(peer->fd, >=, 0);
}

static void follow(Peer *peer, const char *step)
{
    char octet;
    if (g_str_has_prefix(step, "< "))
        expect_octets(peer, step + 2, "\r\n");
    else if (g_str_has_prefix(step, "= "))
        expect_octets(peer, step + 2, "");
    else if (g_str_has_prefix(step, "> "))
        say(peer, step + 2, "\r\n");
    else if (g_str_has_prefix(step, "+ "))
        say(peer, step + 2, "");
    else if (strcmp(step, "accept") == 0)
        take_next(peer);
    else if (strcmp(step, "wait") == 0)
        g_assert_false(read_octet(peer, &octet));
    else if (strcmp(step, "drain") == 0)
        while (read_octet(peer, &octet))
            ;
    else if (strcmp(step, "close") == 0)
        shut(peer);
    else if (g_str_has_prefix(step, "tls"))
        start_tls(peer, strcmp(step, "tls fails") != 0);
    else
        g_error("no step of a script: %s", step);
}

static gpointer peer_thread(gpointer data)
{
    Peer *peer = data;
    for (const char *const *step = peer->script; *step; step++)
        follow(peer, *step);
    shut(peer);
    return NULL;
}

/* --- the owner ---------------------------------------------------------- */

static const char *const verdicts[] = {[SMTP_SENT] = "sent", [SMTP_LATER] = "later", [SMTP_NEVER] = "never"};

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    Owner *owner = data;
    *length = strlen(owner->recipients[index]);
    return owner->recipients[index];
}

static void on_ready(SmtpClient *client, void *data)
{
    Owner *owner = data;
    g_free(owner->tls);
    owner->tls = g_strdup(smtp_client_tls(client));
    if (owner->transactions == 0) {
        smtp_client_quit(client);
        return;
    }
    owner->transactions--;
    SmtpTransaction transaction = owner->transaction;
    transaction.sender = owner->sender;
    transaction.count = g_strv_length((char **)owner->recipients);
    transaction.recipient = recipient_of;
    transaction.data = owner;
    transaction.body = owner->body;
    smtp_client_send(client, &transaction);
    for (unsigned i = 0; i < owner->behind; i++)
        if (!smtp_client_send_behind(client, &transaction))
            g_string_append(owner->report, "alone\n");
}

static const char *const fallbacks[] = {
    [SMTP_FALLBACK_NONE] = "", [SMTP_FALLBACK_CHUNKING] = " without chunking",
    [SMTP_FALLBACK_PIPELINING] = " without pipelining", [SMTP_FALLBACK_EHLO] = " without ehlo"};

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    (void)client;
    Owner *owner = data;
    g_assert_true(result->status[0] == (result->verdict == SMTP_SENT ? '2' :
                                        result->verdict == SMTP_LATER ? '4' : '5'));
    g_string_append_printf(owner->report, "%zu %s %s %s%s%s%s%s%s\n", index, verdicts[result->verdict], result->status,
                           result->reply, result->connection ? " connection" : "", result->in_doubt ? " in doubt" : "",
                           result->unstarted ? " unstarted" : "", result->behind ? " behind" : "",
                           fallbacks[result->fallback]);
}

static void on_done(SmtpClient *client, void *data)
{
    (void)client;
    Owner *owner = data;
    g_string_append(owner->report, "done\n");
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    (void)client;
    Owner *owner = data;
    g_string_append_printf(owner->report, "closed %s %s%s\n", verdicts[why->verdict],
                           why->verdict == SMTP_SENT ? "" : why->text, fallbacks[why->fallback]);
    owner->client = NULL;
}

const SmtpHandler owner_handler = {on_ready, on_result, on_done, on_closed};
static const char *const two[] = {"a@example.com", "b@example.com", NULL};

Owner *owner_new(const char *message)
{
    signal(SIGPIPE, SIG_IGN); /* as child_init() does */
    Owner *owner = g_new0(Owner, 1);
    owner->base = event_base_new();
    owner->settings = (SmtpSettings){.server = "peer", .helo_name = "me.example"};
    for (int i = 0; i < SMTP_PHASES; i++)
        owner->settings.timeouts[i] = 20 * CLOCK_SECOND;
    owner->recipients = two;
    owner->sender = "list@example.com";
    owner->transactions = 1;
    owner->report = g_string_new(NULL);
    g_autoptr(GBytes) octets = g_bytes_new(message, strlen(message));
    owner->body = smtp_body_new(octets);
    owner->peer.listener = -1;
    return owner;
}

void owner_free(Owner *owner)
{
    smtp_body_unref(owner->body);
    event_base_free(owner->base);
    g_string_free(owner->report, TRUE);
    SSL_CTX_free(owner->peer.context);
    g_free(owner->tls);
    g_free(owner);
}

void owner_run(Owner *owner, const char *const *script)
{
    int pair[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    owner->peer.fd = pair[1];
    owner->peer.script = script;
    owner->peer.thread = g_thread_new("peer", peer_thread, &owner->peer);
    owner->client = smtp_client_adopt(owner->base, pair[0], &owner->settings, &owner_handler, owner);
    event_base_dispatch(owner->base);
    g_thread_join(owner->peer.thread);
    g_assert_null(owner->client);
}

void owner_run_tcp(Owner *owner, const char *const *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    owner->peer.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (owner->peer.window > 0)
        setsockopt(owner->peer.listener, SOL_SOCKET, SO_RCVBUF, &owner->peer.window, sizeof owner->peer.window);
    g_assert_cmpint(bind(owner->peer.listener, (struct sockaddr *)&address, length), ==, 0);
    g_assert_cmpint(listen(owner->peer.listener, 8), ==, 0);
    g_assert_cmpint(getsockname(owner->peer.listener, (struct sockaddr *)&address, &length), ==, 0);
    owner->peer.fd = -1;
    owner->peer.script = script;
    owner->peer.thread = g_thread_new("peer", peer_thread, &owner->peer);
    owner->client = smtp_client_new(owner->base, (struct sockaddr *)&address, length, &owner->settings, &owner_handler,
                                    owner);
    event_base_dispatch(owner->base);
    g_thread_join(owner->peer.thread);
    close(owner->peer.listener);
    g_assert_null(owner->client);
}

void expect(const char *const *script, const char *report)
{
    g_autoptr(Owner) owner = owner_new("x\r\n.y\r\n");
    owner_run(owner, script);
    g_assert_cmpstr(owner->report->str, ==, report);
}

/* --- certificates ------------------------------------------------------- */

static X509 *make_certificate(EVP_PKEY *key, const char *name, int first_day, int last_day)
{
    X509 *certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), first_day * 86400L);
    X509_gmtime_adj(X509_getm_notAfter(certificate), last_day * 86400L);
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, subject);
    X509_set_pubkey(certificate, key);
    g_autofree char *names = g_strdup_printf("DNS:%s", name);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    g_assert_cmpint(X509_sign(certificate, key, EVP_sha256()), >, 0);
    return certificate;
}

char *owner_certify(Owner *owner, const char *name, int first_day, int last_day)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = make_certificate(key, name, first_day, last_day);
    owner->peer.context = SSL_CTX_new(TLS_server_method());
    g_assert_cmpint(SSL_CTX_use_certificate(owner->peer.context, certificate), ==, 1);
    g_assert_cmpint(SSL_CTX_use_PrivateKey(owner->peer.context, key), ==, 1);
    g_autoptr(GError) error = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("peer-XXXXXX.pem", &path, &error);
    g_assert_no_error(error);
    FILE *file = fdopen(fd, "w");
    PEM_write_X509(file, certificate);
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return path;
}
