/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_internal.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* A type, and what goes with it. */
#define STRING(fallback) CONFIG_STRING, fallback, 0, 0, NULL, NULL
#define PATH(fallback) CONFIG_PATH, fallback, 0, 0, NULL, NULL
#define LIST(fallback) CONFIG_LIST, fallback, 0, 0, NULL, NULL
#define BOOL(fallback) CONFIG_BOOL, fallback, 0, 0, NULL, NULL
#define COUNT(fallback) CONFIG_COUNT, fallback, 1, 256, NULL, "a power of two"
#define RATE(fallback) CONFIG_RATE, fallback, 0, 0, NULL, NULL
#define FEEDBACK(fallback) CONFIG_FEEDBACK, fallback, 0, 0, NULL, NULL
#define REGEX(fallback) CONFIG_REGEX, fallback, 0, 0, NULL, NULL
#define CHOICE(fallback, words) CONFIG_CHOICE, fallback, 0, 0, words, NULL
#define INTEGER(fallback, min, max, unit) CONFIG_INTEGER, fallback, min, max, NULL, unit
#define DURATION(fallback, min, max) CONFIG_DURATION, fallback, min, max, NULL, NULL
#define SIZE(fallback, min, max) CONFIG_SIZE, fallback, min, max, NULL, NULL

const char *const config_built_in[] = {
    "runner.lmtp", "runner.in",      "runner.pipeline", "runner.virgin",
    "runner.out",  "runner.bounces", "runner.archive",  "runner.defragment",
    "runner.command", "transport.relay", NULL,
};

const ConfigOverride config_overrides[] = {
    {"runner.lmtp", "queue", NULL},
    {"runner.lmtp", "listen", "127.0.0.1:8024"},
    {NULL, NULL, NULL},
};

const ConfigKeyword config_keywords[] = {
    {"transport.*", "defragment", "defragment = yes"},
    {"transport.*", "nodefragment", "defragment = no"},
    {NULL, NULL, NULL},
};

/* clang-format off */
const ConfigKey config_schema[] = {
{"site", "user", STRING("listrunner"),
 "The system user that every part runs as, not root. A master started as root changes to it; started as anybody else "
 "it stays who it is."},
{"site", "hostname", STRING(CONFIG_TOKEN_SYSTEM),
 "The name of this host in greetings, message ids and trace fields."},
{"site", "site_owner", STRING("postmaster@" CONFIG_TOKEN_HOSTNAME),
 "The mail address of the people who run the site."},
{"site", "template_directory", PATH(DATADIR "/templates"),
 "Where the texts of notices are found, one directory a language."},
{"site", "max_autoresponses_per_day", INTEGER("10", 0, 1000000, "mails"),
 "The most notices (your post is held, was rejected) that one address gets on a day, because senders can be forged; "
 "0 is no limit."},
{"site", "pending_request_life", DURATION("3d", DAY, 365 * DAY),
 "How long somebody who asked to join or leave a list may take to confirm it."},
{"site", "moderator_request_life", DURATION("180d", DAY, 3650 * DAY),
 "How long a request to join or leave waits for a moderator before it is dropped."},
{"site", "log", CHOICE("stderr", "stderr|syslog"),
 "Where the log goes: standard error (a service manager keeps it) or syslog, facility mail."},
{"site", "verbose", BOOL("no"),
 "Whether debug lines are logged."},

{"spool", "directory", PATH(LOCALSTATEDIR "/spool/listrunner"),
 "The directory of all queues. It must exist, belong to the user, and be one file system with a journal."},
{"spool", "min_free", SIZE("100M", 0, 0),
 "With less free space than this in the spool, LMTP answers 452 and takes no mail."},
{"spool", "sync", CHOICE("fsync", "fsync|syncfs"),
 "How a batch is made durable: one fsync a file, or one syncfs for all, which pays only where the spool has a "
 "file system of its own."},
{"spool", "wakeup", CHOICE("inotify", "inotify|poll"),
 "How runners learn of new entries. Where inotify is refused they poll in any case."},
{"spool", "poll_interval", DURATION("1s", SECOND / 100, HOUR),
 "How often a runner that polls looks."},
{"spool", "tmp_lifetime", DURATION("36h", HOUR, 365 * DAY),
 "When a file that its writer never finished is removed."},
{"spool", "batch_limit", INTEGER("256", 1, 65536, "entries"),
 "The most entries that a runner takes at once and makes durable together. It never waits for a batch to fill. "
 "One that uses the database ends a batch sooner, so that others need not wait: at 16 MiB of messages, or after a "
 "second."},

{"store", "driver", CHOICE("sqlite", "sqlite"),
 "The database."},
{"store", "path", PATH(LOCALSTATEDIR "/lib/listrunner/listrunner.db"),
 "The database file. Its directory must exist and belong to the user."},
{"store", "remember", DURATION("30d", DAY, 3650 * DAY),
 "How long the Message-IDs of posts are kept, by which a post that comes again is known, and the records of work that "
 "was done, by which none is done twice."},

{"master", "runtime_directory", PATH(RUNSTATEDIR "/listrunner"),
 "Where the control sockets and the configuration in force are; made for the user at the start if it is missing. One "
 "that is there must be the user's to write in."},
{"master", "log_file", PATH(LOCALSTATEDIR "/log/listrunner/listrunner.log"),
 "Where the log of a master goes that listrunner start has started, unless it goes to syslog. The directory is made "
 "for the user if it is missing. The file is opened anew at each reload, after it was rotated."},
{"master", "heartbeat_interval", DURATION("10s", SECOND / 10, HOUR),
 "How often a runner reports to the master at least."},
{"master", "stall_timeout", DURATION("5m", SECOND, DAY),
 "A runner that has work and shows no progress for so long is killed and started again."},
{"master", "stop_timeout", DURATION("30s", 0, HOUR),
 "How long runners may take to finish their entry before they are killed."},
{"master", "restart_delay_min", DURATION("1s", SECOND / 100, HOUR),
 "The pause before a runner that keeps dying young is started again; it doubles each time."},
{"master", "restart_delay_max", DURATION("1m", SECOND / 100, DAY),
 "The longest such pause."},
{"master", "restart_quiet", DURATION("1h", SECOND, 30 * DAY),
 "A runner that lived for so long starts again without a pause."},

{"runner.*", "start", BOOL("yes"),
 "Whether the master starts this runner."},
{"runner.*", "instances", COUNT("1"),
 "How many processes share the queue, each with its own part."},
{"runner.*", "command", PATH(LIBEXECDIR "/" CONFIG_TOKEN_NAME),
 "The program. A runner that does not come with Listrunner must have it."},
{"runner.*", "queue", STRING(CONFIG_TOKEN_NAME),
 "The queue that it works. A listener has none."},
{"runner.*", "listen", LIST(NULL),
 "Addresses that the master binds for a listener: HOST:PORT, [IPv6]:PORT or unix:PATH. A host name "
 "stands for all its addresses, * for all of the machine, IPv4 and IPv6."},

{"lmtp", "max_sessions", INTEGER("200", 1, 65536, "sessions"),
 "Sessions at one time in each instance; further clients are answered 421."},
{"lmtp", "max_recipients", INTEGER("1000", 1, 1000000, "recipients"),
 "Recipients in one transaction; further ones are answered 452."},
{"lmtp", "max_message_size", SIZE("32M", 1 * KIB, 2047 * MIB),
 "The largest message; a larger one is answered 552."},
{"lmtp", "memory_limit", SIZE("256M", 2 * KIB, 1024 * GIB),
 "Memory for messages that are being received, in each instance; at least twice max_message_size. Up to half of it "
 "may hold recipients. Beyond it the answer is 452."},
{"lmtp", "command_timeout", DURATION("5m", SECOND, DAY),
 "How long a client may be silent."},
{"lmtp", "session_timeout", DURATION("30m", SECOND, 7 * DAY),
 "How long a session may last in all."},
{"lmtp", "line_length", INTEGER("2048", 512, 65536, "octets"),
 "The longest command line, its end included."},
{"lmtp", "verp_delimiter", STRING("+"),
 "What separates the parts of a bounce address: list-bounces+member=example.org@lists.example.com."},

{"pipeline", "copy_to", LIST(NULL),
 "Queues that get a copy of each accepted post, as the members do: for runners of the site's own."},
{"pipeline", "verp_delivery_interval", INTEGER("0", 0, 1000000, "posts"),
 "Every so many posts of a list, each recipient gets a transaction and an envelope sender of their own, by which a "
 "bounce tells who it was; 1 is every post, 0 none."},
{"pipeline", "verp_personalized_deliveries", BOOL("yes"),
 "The same for every post whose copies are personal."},
{"pipeline", "unsubscribe_url", STRING(NULL),
 "For List-Unsubscribe in copies that go out one by one, with one click (RFC 8058): an https URL with $token, and "
 "if wanted $list_id. What answers there gets a token that is good for that member only."},

{"out", "default_transport", STRING("relay"),
 "The NAME of the [transport.NAME] that outgoing mail takes."},
{"out", "transport_table", LIST(NULL),
 "Which transport a recipient's domain takes: DOMAIN:NAME or .DOMAIN:NAME (what ends so), NAME that of a "
 "[transport.NAME]. The longest match counts; other domains take the transport of their list, else "
 "default_transport."},
{"out", "message_active_limit", INTEGER("20000", 1, 50000, "entries"),
 "The most entries that one instance holds at a time. Each costs a descriptor, of which they have half, "
 "and a few kilobytes."},
{"out", "recipients_per_entry", INTEGER("50000", 1, 10000000, "recipients"),
 "The most recipients in one entry of the queue out; a larger list gets several."},
{"out", "minimal_backoff_time", DURATION("300s", SECOND, 7 * DAY),
 "The shortest wait after a temporary refusal."},
{"out", "maximal_backoff_time", DURATION("4000s", SECOND, 30 * DAY),
 "The longest wait after a temporary refusal."},
{"out", "backoff_schedule", LIST(NULL),
 "Instead of these two: how long mail waits after the first temporary refusal, after the second and so on, the last "
 "one for all further ones. Unset: it waits as long as it is old, within the two."},
{"out", "maximal_queue_lifetime", DURATION("5d", 0, 100 * DAY),
 "How long delivery is tried before the recipient counts as bounced."},
{"out", "delay_warning_time", DURATION("0", 0, 100 * DAY),
 "When the owners of a list are told, once, that a message is still not delivered to some; 0: never."},
{"out", "backoff_jitter", INTEGER("10", 0, 50, "percent"),
 "How far a wait may differ by chance, so that deferred mail does not come back all at once."},
{"out", "clog_warn_time", DURATION("300s", 0, DAY),
 "How often at most a line in the log tells that one destination takes up more than a fifth of message_active_limit, "
 "so that other mail may have to wait; 0: never."},
{"out", "recipient_limit", INTEGER("20000", 1, 10000000, "recipients"),
 "The most recipients that one instance holds in memory."},
{"out", "extra_recipient_limit", INTEGER("1000", 0, 1000000, "recipients"),
 "What there is beyond recipient_limit for mail that overtakes a large list."},
{"out", "message_recipient_minimum", INTEGER("10", 1, 100000, "recipients"),
 "What each entry may have in memory in any case."},
{"out", "recipient_refill_limit", INTEGER("100", 1, 100000, "recipients"),
 "An entry reads more of its recipients when there is room for so many."},
{"out", "recipient_refill_delay", DURATION("5s", SECOND / 1000, HOUR),
 "An entry that has read none for so long reads more when there is room for any."},
{"out", "name_servers", LIST(NULL),
 "The name servers that type = mx asks, ADDRESS, ADDRESS:PORT or [IPv6]:PORT; unset: those of the system."},
{"out", "own_names", LIST(NULL),
 "Further names and addresses of this host beside hostname: type = mx does not deliver to ourselves."},
{"out", "inet_protocols", CHOICE("all", "all|ipv4|ipv6"),
 "The kinds of address that type = mx looks for."},
{"out", "log_recipients", BOOL("yes"),
 "Whether each recipient of each attempt gets a line in the log; else one line tells of all in a transaction that met "
 "the same fate. A service manager may drop lines of large lists: see its rate limits."},

{"transport.*", "type", CHOICE("smtp", "smtp|lmtp|mx"),
 "How mail leaves: smtp and lmtp hand it to one relay, mx to the MX hosts of each recipient's domain."},
{"transport.*", "host", STRING("127.0.0.1"),
 "The relay's name or address, or unix:PATH for a socket of this host."},
{"transport.*", "port", INTEGER("25", 1, 65535, NULL),
 "The relay's port, or that of the MX hosts; LMTP must not be spoken on 25."},
{"transport.*", "concurrency", INTEGER("20", 1, 65536, "sessions"),
 "The most transactions under way at once to one destination. The instances of out share them, but each has at least "
 "one; with group_by_mx = no and type = mx each has all, since a domain is one instance's."},
{"transport.*", "initial_destination_concurrency", INTEGER("5", 1, 65536, "sessions"),
 "Transactions that may be under way at once to a destination of which nothing is known yet. From there the number "
 "follows what the destination does with them."},
{"transport.*", "destination_concurrency_positive_feedback", FEEDBACK("1"),
 "How far each success raises that number: x, x/y, x/concurrency or x/sqrt_concurrency, x from 0 to 1."},
{"transport.*", "destination_concurrency_negative_feedback", FEEDBACK("1"),
 "How far each failure of the destination lowers it, in the same forms."},
{"transport.*", "destination_concurrency_failed_cohort_limit", INTEGER("1", 0, 1000000, NULL),
 "After so many times the number of transactions in a row have failed, the destination is dead for a time; 0: never."},
{"transport.*", "destination_dead_min", DURATION("0", 0, 7 * DAY),
 "How long a destination is dead the first time; each further time doubles it. 0: one second for a relay, else "
 "minimal_backoff_time. One that refused, rather than be silent, is tried after 1 s, 2 s, up to a minute, unless this "
 "or destination_dead_max is set."},
{"transport.*", "destination_dead_max", DURATION("0", 0, 30 * DAY),
 "The longest time that a destination is dead. 0: one minute for a relay, else maximal_backoff_time."},
{"transport.*", "destination_rate", RATE("0"),
 "The most recipients that a destination gets in a time: 0.5/s, 30/m, 1000/h, 20000/d; 0: no limit. The instances of "
 "out share it, unless group_by_mx = no."},
{"transport.*", "destination_burst", INTEGER("1", 1, 1000000, "recipients"),
 "How many recipients may go at once after a pause, where destination_rate limits them."},
{"transport.*", "transport_rate", RATE("0"),
 "The same for the transport, all its destinations together. The instances of out always share it."},
{"transport.*", "transport_burst", INTEGER("1", 1, 1000000, "recipients"),
 "How many recipients may go at once after a pause, where transport_rate limits them."},
{"transport.*", "minimal_backoff_time", DURATION("0", 0, 7 * DAY),
 "As in [out], for the mail of this transport; 0: as it is there."},
{"transport.*", "maximal_backoff_time", DURATION("0", 0, 30 * DAY),
 "As in [out], for the mail of this transport; 0: as it is there."},
{"transport.*", "backoff_schedule", LIST(NULL),
 "As in [out], for the mail of this transport; it counts before the two. Unset: as it is there, unless one of the two "
 "is set here."},
{"transport.*", "group_by_mx", BOOL("yes"),
 "With type = mx: whether domains with the same MX hosts count as one destination."},
{"transport.*", "process_limit", INTEGER("500", 1, 65536, "sessions"),
 "The most connections of this transport, to all destinations; the instances of out share them."},
{"transport.*", "delivery_slot_cost", INTEGER("5", 0, 1000000, "transactions"),
 "After so many transactions of a large entry, one of a small entry may overtake it; 0 and 1: none ever does."},
{"transport.*", "delivery_slot_loan", INTEGER("3", 0, 1000000, "transactions"),
 "How many transactions may overtake before they are earned."},
{"transport.*", "delivery_slot_discount", INTEGER("50", 0, 100, "percent"),
 "How much of the price of overtaking need not be earned before."},
{"transport.*", "minimum_delivery_slots", INTEGER("3", 0, 1000000, NULL),
 "Entries of fewer than so many times delivery_slot_cost transactions are not overtaken."},
{"transport.*", "xverp", BOOL("no"),
 "Whether the relay makes the envelope senders of each recipient (XVERP of Postfix), where it offers to: copies that "
 "do not differ otherwise go out together. Such senders are not signed."},
{"transport.*", "recipients_per_transaction", INTEGER("0", 0, 100000, "recipients"),
 "The most recipients of one message in one transaction. 0: 500, with type = mx 50."},
{"transport.*", "transactions_per_connection", INTEGER("100", 0, 1000000, "transactions"),
 "After so many transactions a connection is closed and a new one made; 0: no limit."},
{"transport.*", "pipelined_transactions", INTEGER("0", 0, 100, "transactions"),
 "How many transactions may go out together over a connection, before the first of them is answered, while more "
 "waits for the destination than its concurrency allows; together they have no more recipients than "
 "recipients_per_transaction. Needs a server with PIPELINING and CHUNKING. What is out together is in doubt "
 "together after a crash. 0: four with type = smtp, as long as no answer has come within 5 ms lately, else one."},
{"transport.*", "connection_idle", DURATION("5s", 0, HOUR),
 "How long a connection is kept open for more mail."},
{"transport.*", "connection_reuse_time_limit", DURATION("300s", 0, DAY),
 "After so long a connection is closed and a new one made; 0: no limit."},
{"transport.*", "connect_timeout", DURATION("30s", SECOND, HOUR),
 "How long the connection may take."},
{"transport.*", "starttls_timeout", DURATION("300s", SECOND, DAY),
 "How long STARTTLS and the TLS handshake may take."},
{"transport.*", "helo_timeout", DURATION("300s", SECOND, DAY),
 "How long the greeting, and the answer to EHLO, may take."},
{"transport.*", "mail_timeout", DURATION("300s", SECOND, DAY),
 "How long the answer to MAIL may take."},
{"transport.*", "rcpt_timeout", DURATION("300s", SECOND, DAY),
 "How long the answer to RCPT may take."},
{"transport.*", "data_init_timeout", DURATION("120s", SECOND, DAY),
 "How long the answer to DATA may take."},
{"transport.*", "data_block_timeout", DURATION("180s", SECOND, DAY),
 "How long sending one block of the message may take."},
{"transport.*", "data_done_timeout", DURATION("600s", SECOND, DAY),
 "How long the answer to the final dot may take."},
{"transport.*", "rset_timeout", DURATION("20s", SECOND, DAY),
 "How long the answer to RSET may take."},
{"transport.*", "quit_timeout", DURATION("300s", SECOND, DAY),
 "How long the answer to QUIT may take."},
{"transport.*", "helo_name", STRING(CONFIG_TOKEN_HOSTNAME),
 "The name given in EHLO."},
{"transport.*", "tls_level", CHOICE("may", "none|may|require|verify"),
 "TLS by STARTTLS. may: where the server offers it, and in clear text if it fails. require: no mail without it. "
 "verify: no mail unless the server has a valid certificate in its name."},
{"transport.*", "tls_at_once", BOOL("no"),
 "Whether TLS begins before the greeting (port 465), not by STARTTLS."},
{"transport.*", "tls_ca_file", PATH(NULL),
 "Certificates in PEM that may sign a server's; unset: those that the system trusts."},
{"transport.*", "tls_verify_name", STRING(NULL),
 "The name that the server's certificate must have, also given as SNI; unset: that of the host."},
{"transport.*", "auth_user", STRING(NULL),
 "The name to authenticate with; unset: no AUTH. Mail waits while the relay does not accept it. With tls_level = may "
 "or require any certificate will do, so whoever answers in the place of the relay would get the password: verify is "
 "needed, unless the relay is on this host, only scram mechanisms are allowed (which do not tell the password), or "
 "auth_in_clear says that it does not matter."},
{"transport.*", "auth_password_file", PATH(NULL),
 "The file whose first line is the password. It must be the user's, and nobody else may read it (mode 600)."},
{"transport.*", "auth_mechanisms", LIST("scram-sha-256 scram-sha-1 plain login"),
 "The mechanisms that may be used; the strongest that the relay offers is, and no weaker one after it."},
{"transport.*", "auth_in_clear", BOOL("no"),
 "Whether a password may be sent without TLS."},
{"transport.*", "dsn", BOOL("yes"),
 "Whether servers that offer DSN (RFC 3461) are asked to report failures alone (NOTIFY=FAILURE), without the text "
 "(RET=HDRS), and to name in reports the trace of the mail (ENVID) and the address as the member gave it (ORCPT). "
 "For mail without a sender they are asked for no report."},
{"transport.*", "pipelining", BOOL("yes"),
 "Whether commands go out before the answers to earlier ones have come, where the server offers PIPELINING."},
{"transport.*", "chunking", BOOL("yes"),
 "Whether messages are sent by BDAT where the server offers CHUNKING; a small one then goes out together with "
 "its commands."},

{"transport.*", "defragment", BOOL("no"),
 "Whether parts of messages (message/partial) are put together for lists that use this transport and do not say "
 "themselves. The keywords defragment and nodefragment, alone on a line, say the same."},

{"defragment", "notices", INTEGER("4", 1, 730, "days"),
 "Parts wait for the others for half of this time. A list may say another."},
{"defragment", "max_parts", INTEGER("1000", 1, 100000, "parts"),
 "The most parts of one message; a part with a higher number or total is refused."},
{"defragment", "max_size", SIZE("32M", 1 * KIB, 2047 * MIB),
 "The largest message that is put together; the parts of a larger one are held."},
{"defragment", "sets_per_sender", INTEGER("10", 1, 1000000, "messages"),
 "Messages of one sender that may wait for parts; the first part of a further one is answered 452."},
{"defragment", "sets_per_list", INTEGER("100", 1, 1000000, "messages"),
 "The same for one list."},
{"defragment", "sets_per_host", INTEGER("10000", 1, 10000000, "messages"),
 "The same for this host."},
{"defragment", "max_waiting", SIZE("1G", 1 * MIB, 1024 * GIB),
 "Octets of parts that may wait on this host; beyond it first parts are answered 452."},
{"defragment", "hosts", LIST(NULL),
 "With several hosts that share the store: NAME=ADDRESS for each, its hostname and where its LMTP listens, HOST:PORT "
 "or unix:PATH. A part whose message waits on another host is handed to it."},
{"defragment", "host_timeout", DURATION("30s", SECOND, HOUR),
 "How long another host may take for each step when it is handed a part."},

{"reply.*", "match", REGEX(NULL),
 "A regular expression (PCRE, case is ignored) over temporary refusals such as \"450 4.7.1 Too fast\"."},
{"reply.*", "scope", CHOICE("group", "site|group|recipient|message|session|transaction|connections"),
 "What such a refusal is about. site: the server is in trouble, as when a connection is lost. group: we are too fast "
 "for the server and all domains that it serves; slower from now on (toward a relay, at the connection alone). "
 "recipient, message: only these wait. session: a new connection is made at once. transaction: it has as many "
 "recipients as it may. connections: there are as many as there may be."},

{"bounces", "probes", BOOL("yes"),
 "Whether a member whose bounce score reaches the list's threshold gets a probe first, and no more mail only when that "
 "comes back; else it gets no more mail at once."},
{"bounces", "check_interval", DURATION("1m", SECOND / 10, DAY),
 "How often members are looked for who are to be warned or removed, or whose score is too old to count."},
{"bounces", "remember", DURATION("90d", DAY, 3650 * DAY),
 "How long it is kept who bounced on which day and why."},
{"bounces", "max_owner_notices_per_day", INTEGER("50", 0, 1000000, "mails"),
 "The most mails about bounces that the owners of a list get on a day; 0 is no limit."},
{"bounces", "max_unsigned_per_day", INTEGER("10000", 0, 1000000000, "mails"),
 "The most mails to the plain -bounces address of a list that are looked at on a day, because anybody can send them; "
 "further ones are discarded. Reports about copies with a signed sender do not count. 0 is no limit."},
{"bounces", "max_unsigned_recipients", INTEGER("100", 0, 1000000, "recipients"),
 "The most failed recipients of one such mail that cost members points; the log tells how many more it names. 0 is no "
 "limit."},

{"archive", "command_timeout", DURATION("5m", SECOND, DAY),
 "How long the program of an archiver may take for one message, from its start to its end, whatever it writes. Then it "
 "is killed, and tried again later."},

{"archiver.*", "enabled", BOOL("yes"),
 "Whether it gets messages."},
{"archiver.*", "type", CHOICE("maildir", "maildir|mbox|command"),
 "maildir: one maildir a list below path. mbox: one file LIST.mbox a list below path. command: a program is run "
 "for each message."},
{"archiver.*", "path", PATH(NULL),
 "The directory of a maildir or mbox archiver; no two of one type share it."},
{"archiver.*", "command", STRING(NULL),
 "The program and its arguments; the message is its standard input. No shell is involved."},
{"archiver.*", "list_url", STRING(NULL),
 "The address of the list's archive on the web, for List-Archive. $list_id, $list_name and $mail_host are replaced."},
{"archiver.*", "permalink", STRING(NULL),
 "The address of one message on the web, for Archived-At; as list_url, and $hash is replaced with the "
 "Message-ID-Hash."},

{NULL, NULL, STRING(NULL), NULL},
};
/* clang-format on */
