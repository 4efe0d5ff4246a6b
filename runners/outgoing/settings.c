/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner out, section [out], its ways out, sections [transport.NAME], and refusals, sections [reply.NAME]. */
#include "base/config_table.h"

#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey out_keys[] = {
    {"default_transport", STRING("relay"),
     .about = "The NAME of the [transport.NAME] that outgoing mail takes.",
     .readers = "defragment lmtp"},
    {"transport_table", LIST(NULL),
     .about = "Which transport a recipient's domain takes: DOMAIN:NAME or .DOMAIN:NAME (what ends so), NAME that of "
      "a [transport.NAME]. The longest match counts; other domains take the transport of their list, else "
      "default_transport.",
     .example = "example.com:relay .example.com:relay"},
    {"message_active_limit", INTEGER("20000", 1, 50000, "entries"),
     .about = "The most entries that one instance holds at a time. Each costs a descriptor, of which they have "
      "half, and a few kilobytes."},
    {"recipients_per_entry", INTEGER("50000", 1, 10000000, "recipients"),
     .about = "The most recipients in one entry of the queue out; a larger list gets several.",
     .readers = "door handover"},
    {"minimal_backoff_time", DURATION("300s", SECOND, 7 * DAY),
     .about = "The shortest wait after a temporary refusal."},
    {"maximal_backoff_time", DURATION("4000s", SECOND, 30 * DAY),
     .about = "The longest wait after a temporary refusal."},
    {"backoff_schedule", LIST(NULL),
     .about = "Instead of these two: how long mail waits after the first temporary refusal, after the second and so "
      "on, the last one for all further ones. Unset: it waits as long as it is old, within the two.",
     .example = "5m 15m 1h 4h"},
    {"maximal_queue_lifetime", DURATION("5d", 0, 100 * DAY),
     .about = "How long delivery is tried before the recipient counts as bounced.", .readers = "task"},
    {"delay_warning_time", DURATION("0", 0, 100 * DAY),
     .about = "When the owners of a list are told, once, that a message is still not delivered to some; 0: never."},
    {"backoff_jitter", INTEGER("10", 0, 50, "percent"),
     .about = "How much longer a wait may be by chance, so that deferred mail does not come back all at once."},
    {"clog_warn_time", DURATION("300s", 0, DAY),
     .about = "How often at most a line in the log tells that one destination takes up more than a fifth of "
      "message_active_limit, so that other mail may have to wait; 0: never."},
    {"recipient_limit", INTEGER("20000", 1, 10000000, "recipients"),
     .about = "The most recipients that one instance holds in memory."},
    {"extra_recipient_limit", INTEGER("1000", 0, 1000000, "recipients"),
     .about = "What there is beyond recipient_limit for mail that overtakes a large list."},
    {"message_recipient_minimum", INTEGER("10", 1, 100000, "recipients"),
     .about = "What each entry may have in memory in any case."},
    {"recipient_refill_limit", INTEGER("100", 1, 100000, "recipients"),
     .about = "An entry reads more of its recipients when there is room for so many."},
    {"recipient_refill_delay", DURATION("5s", SECOND / 1000, HOUR),
     .about = "An entry that has read none for so long reads more when there is room for any."},
    {"own_names", LIST(NULL),
     .about = "Further names and addresses of this host beside hostname: type = mx does not deliver to ourselves.",
     .example = "mail.example.org 192.0.2.1"},
    {"mx_private_addresses", BOOL("no"),
     .about = "Whether type = mx delivers to loopback, link-local, private and other addresses that are not of the "
      "public Internet. Whoever writes a domain's records chooses its addresses, so a site says yes only where mail "
      "hosts of its own are at such ones."},
    {"inet_protocols", CHOICE("all", "all|ipv4|ipv6"),
     .about = "The kinds of address that type = mx looks for."},
    {"log_recipients", BOOL("yes"),
     .about = "Whether each recipient of each attempt gets a line in the log; else one line tells of all in a "
      "transaction that met the same fate. A service manager may drop lines of large lists: see its rate limits."},
    {.name = NULL},
};

static const ConfigKey transport_keys[] = {
    {"type", CHOICE("smtp", "smtp|lmtp|mx"),
     .about = "How mail leaves: smtp and lmtp hand it to one relay, mx to the MX hosts of each recipient's domain."},
    {"host", STRING("127.0.0.1"),
     .about = "The relay's name or address, or unix:PATH for a socket of this host."},
    {"port", INTEGER("25", 1, 65535, "number of a TCP port"),
     .about = "The relay's port, or that of the MX hosts; LMTP must not be spoken on 25."},
    {"concurrency", INTEGER("20", 1, 65536, "sessions"),
     .about = "The most transactions under way at once to one destination. The instances of out share them, but "
      "each has at least one; with group_by_mx = no and type = mx each has all, since a domain is one instance's."},
    {"initial_destination_concurrency", INTEGER("5", 1, 65536, "sessions"),
     .about = "Transactions that may be under way at once to a destination of which nothing is known yet. From "
      "there the number follows what the destination does with them."},
    {"destination_concurrency_positive_feedback", FEEDBACK("1"),
     .about = "How far each success raises that number: x, x/y, x/concurrency or x/sqrt_concurrency, x from 0 to 1."},
    {"destination_concurrency_negative_feedback", FEEDBACK("1"),
     .about = "How far each failure of the destination lowers it, in the same forms."},
    {"destination_concurrency_failed_cohort_limit", INTEGER("1", 0, 1000000, "windows of failures"),
     .about = "After so many times the number of transactions in a row have failed, the destination is dead for a "
      "time; 0: never."},
    {"destination_dead_min", DURATION("0", 0, 7 * DAY),
     .about = "How long a destination is dead the first time; each further time doubles it. 0: one second for a "
      "relay, else minimal_backoff_time. One that refused, rather than be silent, is tried after 1 s, 2 s, up to "
      "a minute, unless this or destination_dead_max is set."},
    {"destination_dead_max", DURATION("0", 0, 30 * DAY),
     .about = "The longest time that a destination is dead. 0: one minute for a relay, else maximal_backoff_time."},
    {"destination_rate", RATE("0"),
     .about = "The most recipients that a destination gets in a time: 0.5/s, 30/m, 1000/h, 20000/d; 0: no limit. "
      "The instances of out share it, unless group_by_mx = no."},
    {"destination_burst", INTEGER("1", 1, 1000000, "recipients"),
     .about = "How many recipients may go at once after a pause, where destination_rate limits them."},
    {"transport_rate", RATE("0"),
     .about = "The same for the transport, all its destinations together. The instances of out always share it."},
    {"transport_burst", INTEGER("1", 1, 1000000, "recipients"),
     .about = "How many recipients may go at once after a pause, where transport_rate limits them."},
    {"minimal_backoff_time", DURATION("0", 0, 7 * DAY),
     .about = "As in [out], for the mail of this transport; 0: as it is there."},
    {"maximal_backoff_time", DURATION("0", 0, 30 * DAY),
     .about = "As in [out], for the mail of this transport; 0: as it is there."},
    {"backoff_schedule", LIST(NULL),
     .about = "As in [out], for the mail of this transport; it counts before the two. Unset: as it is there, unless "
      "one of the two is set here.",
     .example = "5m 15m 1h 4h"},
    {"group_by_mx", BOOL("yes"),
     .about = "With type = mx: whether domains with the same MX hosts count as one destination."},
    {"process_limit", INTEGER("500", 1, 65536, "sessions"),
     .about = "The most connections of this transport, to all destinations; the instances of out share them."},
    {"delivery_slot_cost", INTEGER("5", 0, 1000000, "transactions"),
     .about = "After so many transactions of a large entry, one of a small entry may overtake it; 0 and 1: none "
      "ever does."},
    {"delivery_slot_loan", INTEGER("3", 0, 1000000, "transactions"),
     .about = "How many transactions may overtake before they are earned."},
    {"delivery_slot_discount", INTEGER("50", 0, 100, "percent"),
     .about = "How much of the price of overtaking need not be earned before."},
    {"minimum_delivery_slots", INTEGER("3", 0, 1000000, "times delivery_slot_cost"),
     .about = "Entries of fewer than so many times delivery_slot_cost transactions are not overtaken."},
    {"xverp", BOOL("no"),
     .about = "Whether the relay makes the envelope senders of each recipient (XVERP of Postfix), where it offers "
      "to: copies that do not differ otherwise go out together. Such senders are not signed."},
    {"recipients_per_transaction", INTEGER("0", 0, 100000, "recipients"),
     .about = "The most recipients of one message in one transaction. 0: 500, with type = mx 50."},
    {"transactions_per_connection", INTEGER("100", 0, 1000000, "transactions"),
     .about = "After so many transactions a connection is closed and a new one made; 0: no limit."},
    {"pipelined_transactions", INTEGER("0", 0, 100, "transactions"),
     .about = "How many transactions may go out together over a connection, before the first of them is answered, "
      "while more waits for the destination than its concurrency allows; together they have no more recipients "
      "than recipients_per_transaction. Needs a server with PIPELINING and CHUNKING. What is out together is in "
      "doubt together after a crash. 0: four with type = smtp, as long as no answer has come within 5 ms lately, "
      "else one."},
    {"connection_idle", DURATION("5s", 0, HOUR),
     .about = "How long a connection is kept open for more mail."},
    {"connection_reuse_time_limit", DURATION("300s", 0, DAY),
     .about = "After so long a connection is closed and a new one made; 0: no limit."},
    {"connect_timeout", DURATION("30s", SECOND, HOUR),
     .about = "How long the connection may take."},
    {"starttls_timeout", DURATION("300s", SECOND, DAY),
     .about = "How long STARTTLS and the TLS handshake may take."},
    {"helo_timeout", DURATION("300s", SECOND, DAY),
     .about = "How long the greeting, and the answer to EHLO, may take."},
    {"mail_timeout", DURATION("300s", SECOND, DAY),
     .about = "How long the answer to MAIL may take."},
    {"rcpt_timeout", DURATION("300s", SECOND, DAY),
     .about = "How long the answer to RCPT may take."},
    {"data_init_timeout", DURATION("120s", SECOND, DAY),
     .about = "How long the answer to DATA may take."},
    {"data_block_timeout", DURATION("180s", SECOND, DAY),
     .about = "How long sending one block of the message may take."},
    {"data_done_timeout", DURATION("600s", SECOND, DAY),
     .about = "How long the answer to the final dot may take."},
    {"rset_timeout", DURATION("20s", SECOND, DAY),
     .about = "How long the answer to RSET may take."},
    {"quit_timeout", DURATION("300s", SECOND, DAY),
     .about = "How long sending QUIT may take. The connection is closed without waiting for the answer."},
    {"helo_name", STRING(CONFIG_HOSTNAME),
     .about = "The name given in EHLO.",
     .example = "lists.example.org"},
    {"tls_level", CHOICE("may", "none|may|require|verify"),
     .about = "TLS by STARTTLS. may: where the server offers it, and in clear text if it fails. require: no mail "
      "without it. verify: no mail unless the server has a valid certificate in its name."},
    {"tls_at_once", BOOL("no"),
     .about = "Whether TLS begins before the greeting (port 465), not by STARTTLS."},
    {"tls_ca_file", PATH(NULL),
     .about = "Certificates in PEM that may sign a server's; unset: those that the system trusts.",
     .example = "/etc/ssl/certs/ca-certificates.crt", .opens = "out",
     .certificates = CERTIFICATES_OF_AUTHORITIES},
    {"tls_verify_name", STRING(NULL),
     .about = "The name that the server's certificate must have, also given as SNI; unset: that of the host.",
     .example = "mail.example.net"},
    {"auth_user", STRING(NULL),
     .about = "The name to authenticate with; unset: no AUTH. Mail waits while the relay does not accept it. With "
      "tls_level = may or require any certificate will do, so whoever answers in the place of the relay would get "
      "the password: verify is needed, unless the relay is on this host, only scram mechanisms are allowed (which "
      "do not tell the password), or auth_in_clear says that it does not matter.",
     .example = "lists"},
    {"auth_password_file", PATH(NULL),
     .about = "The file whose first line is the password. It must be the user's, and nobody else may read it (mode "
      "600).",
     .example = "/etc/listrunner/relay.password", .opens = "out"},
    {"auth_mechanisms", LIST("scram-sha-256 scram-sha-1 plain login"),
     .about = "The mechanisms that may be used; the strongest that the relay offers is, and no weaker one after it."},
    {"auth_in_clear", BOOL("no"),
     .about = "Whether a password may be sent without TLS."},
    {"dsn", BOOL("yes"),
     .about = "Whether servers that offer DSN (RFC 3461) are asked to report failures alone (NOTIFY=FAILURE), "
      "without the text (RET=HDRS), and to name in reports the trace of the mail (ENVID) and the address as the "
      "member gave it (ORCPT). For mail without a sender they are asked for no report."},
    {"pipelining", BOOL("yes"),
     .about = "Whether commands go out before the answers to earlier ones have come, where the server offers "
      "PIPELINING."},
    {"chunking", BOOL("yes"),
     .about = "Whether messages are sent by BDAT where the server offers CHUNKING; a small one then goes out "
      "together with its commands."},
    {"defragment", BOOL("no"),
     .about = "Whether parts of messages (message/partial) are put together for lists that use this transport and "
      "do not say themselves. The keywords defragment and nodefragment, alone on a line, say the same.",
     .readers = "defragment lmtp"},
    {.name = NULL},
};

static const ConfigKey reply_keys[] = {
    {"match", REGEX(NULL),
     .about = "A regular expression (PCRE, case is ignored) over temporary refusals such as \"450 4.7.1 Too fast\".",
     .example = "too fast"},
    {"scope", CHOICE("group", "site|group|recipient|message|session|transaction|connections"),
     .about = "What such a refusal is about. site: the server is in trouble, as when a connection is lost. group: "
      "we are too fast for the server and all domains that it serves; slower from now on (toward a relay, at the "
      "connection alone). recipient, message: only these wait. session: a new connection is made at once. "
      "transaction: it has as many recipients as it may. connections: there are as many as there may be."},
    {.name = NULL},
};

static const ConfigKeyword keywords[] = {
    {"defragment", "defragment = yes"},
    {"nodefragment", "defragment = no"},
    {NULL, NULL},
};

static const ConfigTable tables[] = {
    {"out", .about = "How outgoing mail is tried.", .keys = out_keys, .readers = "in pipeline"},
    {"transport.*", .about = "One section a way out; built in is {members}.", .keys = transport_keys,
     .keywords = keywords, .readers = "in out pipeline"},
    {"reply.*", .about = "One section a kind of temporary refusal, the first that matches counts; none is built in, "
       "but the usual texts are known.", .keys = reply_keys, .readers = "out"},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.out", .readers = "in pipeline"},
    {.section = "transport.relay"},
    {.section = NULL},
};
/* clang-format on */

static void check_certificates(const ConfigCheck *check, const char *section)
{
    const ConfigValue *file = config_usable(check, section, "tls_ca_file");
    struct stat status;
    if (!file || !config_check_file(check, section, file->name, &status))
        return;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    if (!g_file_get_contents(file->text, &text, NULL, &error))
        config_complain(check, section, file->name, "found %s, which cannot be read (%s); allowed is a file of "
                        "certificates in PEM", file->text, error->message);
    else if (!strstr(text, "-----BEGIN "))
        config_complain(check, section, file->name, "found %s, which holds no certificate; allowed is a file of "
                        "certificates in PEM", file->text);
}

/* AUTH needs both halves, one relay to give them to, and TLS or the site's word. */
static void check_auth(const ConfigCheck *check, const char *section, const char *type)
{
    const ConfigValue *user = config_usable(check, section, "auth_user");
    const ConfigValue *password = config_usable(check, section, "auth_password_file");
    const ConfigValue *tls = config_usable(check, section, "tls_level");
    const ConfigValue *clear = config_usable(check, section, "auth_in_clear");
    const ConfigValue *mechanisms = config_usable(check, section, "auth_mechanisms");
    static const char *const known[] = {"plain", "login", "scram-sha-1", "scram-sha-256", NULL};
    if (user && !password)
        config_complain(check, section, user->name, "found \"%s\" without auth_password_file; allowed are both or none",
                        user->text);
    if (password && !user)
        config_complain(check, section, password->name, "found %s without auth_user; allowed are both or none",
                        password->text);
    if (user && g_str_equal(type, "mx"))
        config_complain(check, section, user->name, "found \"%s\"; allowed with type = mx is none: a password is for "
                        "one relay", user->text);
    if (user && tls && g_str_equal(tls->text, "none") && clear && !clear->number)
        config_complain(check, section, user->name, "found \"%s\" with tls_level = none; allowed is that only with "
                        "auth_in_clear = yes", user->text);
    for (char **word = mechanisms ? mechanisms->words : NULL; word && *word; word++)
        if (!g_strv_contains(known, *word))
            config_complain(check, section, mechanisms->name, "found \"%s\"; allowed are plain, login, scram-sha-1 "
                            "and scram-sha-256", *word);
}

/* "may" and "require" take any certificate, so whoever answers gets the password; unless there is nobody between. */
static void check_auth_peer(const ConfigCheck *check, const char *section)
{
    const ConfigValue *user = config_usable(check, section, "auth_user");
    const ConfigValue *tls = config_usable(check, section, "tls_level");
    const ConfigValue *host = config_usable(check, section, "host");
    const ConfigValue *clear = config_usable(check, section, "auth_in_clear");
    const ConfigValue *mechanisms = config_usable(check, section, "auth_mechanisms");
    static const char *const here[] = {"localhost", "::1", NULL};
    if (!user || !tls || g_str_equal(tls->text, "verify") || g_str_equal(tls->text, "none") || !host || !clear ||
        clear->number || g_str_has_prefix(host->text, "unix:") || g_str_has_prefix(host->text, "127.") ||
        g_strv_contains(here, host->text))
        return;
    bool told = !mechanisms; /* SCRAM does not tell the password */
    for (char **word = mechanisms ? mechanisms->words : NULL; word && *word; word++)
        told = told || !g_str_has_prefix(*word, "scram-");
    const ConfigValue *culprit = tls->line > 0 ? tls : user;
    if (told)
        config_complain(check, section, culprit->name, "found \"%s\"%s: whoever answers as %s would get the password "
                        "of auth_user; allowed is tls_level = verify, or auth_mechanisms of scram-sha-256 and "
                        "scram-sha-1 alone, or auth_in_clear = yes", culprit->text,
                        tls->line > 0 ? "" : " with tls_level = may", host->text);
}

static void check_relay(const ConfigCheck *check, const char *section, const char *type)
{
    static const char *const names[] = {"helo_name", "tls_verify_name"};
    const ConfigValue *host = config_usable(check, section, "host");
    const ConfigValue *port = config_usable(check, section, "port");
    bool path = host && g_str_has_prefix(host->text, "unix:");
    if (path && !config_socket_path_valid(host->text + 5))
        config_complain(check, section, host->name, "found %s; allowed after unix: is an absolute path of at most %zu "
                        "bytes", host->text, sizeof((struct sockaddr_un *)NULL)->sun_path - 1);
    if (host && !path && !config_host_valid(host->text) && !config_address_valid(host->text))
        config_complain(check, section, host->name, "found \"%s\"; allowed is a host name, an IPv4 or IPv6 address "
                        "without brackets, or unix:/PATH; the port has a line of its own", host->text);
    if (host && port && g_str_equal(type, "lmtp") && !path && port->number == 25)
        config_complain(check, section, "port", "found 25; allowed with type = lmtp is any other (RFC 2033), 24 for "
                        "one");
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const ConfigValue *name = config_usable(check, section, names[i]);
        if (name && name->line > 0 && !config_host_valid(name->text) && !config_address_valid(name->text) &&
            *name->text != '[')
            config_complain(check, section, name->name, "found \"%s\"; allowed is a host name", name->text);
    }
}

/* Does a word of listen ("127.0.0.1:8024", "[::1]:8024", "unix:/PATH") name the place where the transport delivers?
 * "*" and its like listen at each address of this host. */
static bool is_own_door(const char *word, const char *host, int64_t port, const char *hostname)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "::1", NULL};
    static const char *const all[] = {"*", "0.0.0.0", "::", NULL};
    const char *colon = strrchr(word, ':');
    if (g_str_has_prefix(host, "unix:") || g_str_has_prefix(word, "unix:"))
        return g_str_equal(host, word);
    if (!colon) /* it is refused for that where it stands */
        return false;
    bool brackets = *word == '[' && colon[-1] == ']';
    g_autofree char *listening = g_strndup(word + brackets, (size_t)(colon - word) - 2 * brackets);
    bool at_us = g_strv_contains(own, host) || (hostname && g_ascii_strcasecmp(host, hostname) == 0);
    bool same = g_str_equal(host, listening) ||
                (at_us && (g_strv_contains(own, listening) || g_strv_contains(all, listening)));
    return same && g_ascii_strtoll(colon + 1, NULL, 10) == port;
}

/* A transport that delivers to one of our own runners sends each mail round and round. */
static void check_own_doors(const ConfigCheck *check, const char *section)
{
    const ConfigValue *host = config_usable(check, section, "host"), *port = config_usable(check, section, "port");
    const ConfigValue *hostname = config_usable(check, "site", "hostname");
    g_autofree const char **runners = config_family_sections(check->config, "runner");
    for (const char **runner = runners; host && port && *runner; runner++) {
        const ConfigValue *listen = config_usable(check, *runner, "listen");
        const ConfigValue *start = config_usable(check, *runner, "start");
        for (char **word = listen && start && start->number ? listen->words : NULL; word && *word; word++)
            if (is_own_door(*word, host->text, port->number, hostname ? hostname->text : NULL))
                config_complain(check, section, port->line > 0 ? "port" : "host",
                                "found %s, port %s, where [%s] listens: mail would come back; allowed is the place of "
                                "the mail server",
                                host->text, port->text, *runner);
    }
}

static void check_schedule(const ConfigCheck *check, const char *section)
{
    const ConfigValue *schedule = config_usable(check, section, "backoff_schedule");
    for (char **word = schedule ? schedule->words : NULL; word && *word; word++) {
        int64_t wait;
        if (!config_duration_parse(*word, &wait) || wait < SECOND || wait > 30 * DAY)
            config_complain(check, section, schedule->name, "found \"%s\"; allowed are times such as 5m 30m 4h, from "
                            "1s to 30d", *word);
    }
}

/* 0: what [out] says. */
static const ConfigValue *backoff_in_force(const ConfigCheck *check, const char *section, const char *name)
{
    const ConfigValue *own = config_usable(check, section, name);
    return own && own->number > 0 ? own : config_usable(check, "out", name);
}

static void check_backoff(const ConfigCheck *check, const char *section)
{
    const ConfigValue *low = backoff_in_force(check, section, "minimal_backoff_time");
    const ConfigValue *high = backoff_in_force(check, section, "maximal_backoff_time");
    const ConfigValue *own = low && low == config_usable(check, section, "minimal_backoff_time") ? low : high;
    check_schedule(check, section);
    if (!low || !high || low->number <= high->number || own != config_usable(check, section, own->name))
        return;
    config_complain(check, section, own->name, "found %s; allowed is %s %s = %s", own->text,
                    own == low ? "at most" : "at least", own == low ? high->name : low->name,
                    own == low ? high->text : low->text);
}

static void check_transports(const ConfigCheck *check)
{
    g_autofree const char **sections = config_family_sections(check->config, "transport");
    for (const char **section = sections; *section; section++) {
        const ConfigValue *type = config_usable(check, *section, "type");
        if (!type)
            continue;
        check_relay(check, *section, type->text);
        if (!g_str_equal(type->text, "mx"))
            check_own_doors(check, *section);
        check_auth(check, *section, type->text);
        check_auth_peer(check, *section);
        check_backoff(check, *section);
        if (!check->offline) {
            struct stat status;
            if (config_check_file(check, *section, "auth_password_file", &status))
                config_check_secret(check, *section, "auth_password_file");
            check_certificates(check, *section);
        }
    }
}

static bool transport_known(const ConfigCheck *check, const char *name)
{
    g_autofree char *section = g_strconcat("transport.", name, NULL);
    return config_has_section(check->config, section);
}

/* "example.com" or ".example.com", in any case. */
static bool domain_valid(const char *domain, size_t length)
{
    size_t dot = *domain == '.' ? 1 : 0;
    for (size_t i = 0; i < length; i++)
        if (domain[i] == '@' || (domain[i] == '.' && i > 0 && domain[i - 1] == '.'))
            return false;
    return length > dot && domain[length - 1] != '.';
}

static void check_outgoing(const ConfigCheck *check)
{
    const ConfigValue *transport = config_usable(check, "out", "default_transport");
    if (transport && !transport_known(check, transport->text))
        config_complain(check, "out", transport->name, "found \"%s\"; allowed is the NAME of a section "
                        "[transport.NAME], such as relay", transport->text);
    const ConfigValue *table = config_usable(check, "out", "transport_table");
    for (char **word = table ? table->words : NULL; word && *word; word++) {
        const char *colon = strrchr(*word, ':');
        if (!colon || !colon[1] || !domain_valid(*word, (size_t)(colon - *word)))
            config_complain(check, "out", table->name, "found \"%s\"; allowed is DOMAIN:NAME or .DOMAIN:NAME", *word);
        else if (!transport_known(check, colon + 1))
            config_complain(check, "out", table->name, "found \"%s\"; allowed after the colon is the NAME of a "
                            "section [transport.NAME], such as relay", *word);
    }
    const ConfigValue *own = config_usable(check, "out", "own_names");
    for (char **word = own ? own->words : NULL; word && *word; word++)
        if (!config_host_valid(*word) && !config_address_valid(*word))
            config_complain(check, "out", own->name, "found \"%s\"; allowed are host names, and addresses without "
                            "brackets", *word);
}

static void check(const ConfigCheck *check)
{
    config_check_order(check, "out", "minimal_backoff_time", "maximal_backoff_time");
    check_schedule(check, "out");
    check_outgoing(check);
    check_transports(check);
    g_autofree const char **replies = config_family_sections(check->config, "reply");
    for (const char **section = replies; *section; section++)
        if (config_unset(check, *section, "match"))
            config_complain(check, *section, "match", "found no value; allowed is a regular expression (PCRE)");
}

/* Relays whose names have no address. */
static void doubt(const Config *config, GString *lines)
{
    g_autofree const char **sections = config_family_sections(config, "transport");
    for (const char **section = sections; *section; section++) {
        const char *host = config_string(config, *section, "host");
        bool named = !g_str_equal(config_string(config, *section, "type"), "mx") && !g_str_has_prefix(host, "unix:");
        const char *why = named ? config_unresolved(host, 0) : NULL;
        if (why)
            g_string_append_printf(lines, "%s[%s] host: %s has no address now (%s); mail waits until it has one",
                                   lines->len ? "\n" : "", *section, host, why);
    }
}

const ConfigSettings out_settings = {.tables = tables, .members = members, .check = check, .doubt = doubt};
