/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner doctor: what is wrong with a site and around it, and what mends it. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>

#include "base/auto.h"
#include "base/certificate.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/ip.h"
#include "base/secret.h"
#include "cli/admin/probe.h"
#include "cli/admin/setup_dkim.h"
#include "cli/admin/setup_mta.h"
#include "cli/admin/status.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "lists/sources/source.h"
#include "mail/auth/dkim.h"
#include "mail/domain_name.h"
#include "net/dns.h"
#include "store/lists/domain.h"

typedef enum DoctorState {
    DOCTOR_OK,
    DOCTOR_WARNING, /* mail flows, and somebody should see to it */
    DOCTOR_FAULT,   /* mail is refused here, or lost on its way, or will be */
} DoctorState;

/* The examination of a site. Each part adds findings, and shows them at once, since the next part may take a minute. */
typedef struct Doctor {
    const Config *config;
    const char *config_path;
    unsigned findings; /* number */
    DoctorState worst;
} Doctor;

/* Show a finding. The subject is a word ("dns"), the text a sentence. mend is a command, or a line for a zone, and is
 * taken; NULL: none is needed, or the text says it. */
G_GNUC_PRINTF(5, 6)
static void doctor_find(Doctor *doctor, const char *subject, DoctorState state, char *mend, const char *format, ...)
{
    static const char *const words[] = {[DOCTOR_OK] = "ok", [DOCTOR_WARNING] = "warning", [DOCTOR_FAULT] = "fault"};
    va_list arguments;
    g_autofree char *owned = mend;
    va_start(arguments, format);
    g_autofree char *sentence = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    doctor->findings++;
    doctor->worst = MAX(doctor->worst, state);
    if (json_option) {
        json_t *row = json_pack("{ss ss so so}", "subject", subject, "state", words[state], "text",
                                listing_text(sentence), "mend", listing_text(mend));
        listing_json(row);
        json_decref(row);
    } else {
        g_autofree char *text = plain_text(sentence), *command = mend ? plain_text(mend) : NULL;
        printf("%-8s %-14s %s\n", words[state], subject, text);
        if (command)
            printf("%24s%s\n", "", command);
    }
    fflush(stdout); /* also into a pipe, whose reader is to see it before the next one is known */
}

/* Add a finding that all is well, but only if none was added since there were `before` findings. */
static void doctor_find_well(Doctor *doctor, const char *subject, unsigned before, const char *text)
{
    if (doctor->findings == before)
        doctor_find(doctor, subject, DOCTOR_OK, NULL, "%s", text);
}

/* ---- permissions ---- */

static void look_at_owner(Doctor *doctor, const struct passwd *account, const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0) {
        if (errno != ENOENT)
            doctor_find(doctor, "permissions", DOCTOR_WARNING, NULL, "%s cannot be looked at: %s", path,
                        g_strerror(errno));
    } else if (status.st_uid != account->pw_uid) {
        doctor_find(doctor, "permissions", DOCTOR_FAULT, g_strdup_printf("chown -R %s: %s", account->pw_name, path),
                    "%s does not belong to the user %s of [site] user, and Listrunner must write there", path,
                    account->pw_name);
    } else if (status.st_mode & S_IWOTH) {
        doctor_find(doctor, "permissions", DOCTOR_FAULT, g_strdup_printf("chmod o-w %s", path),
                    "anybody on this system can write to %s", path);
    }
}

/* Examine who may read and write the configuration, the spool and the database. Call it as root, before the process
 * becomes another user. */
static void doctor_permissions(Doctor *doctor)
{
    unsigned before = doctor->findings;
    const char *user = config_string(doctor->config, "site", "user"), *name;
    const struct passwd *account = getpwnam(user);
    struct stat status;
    if (!account)
        return; /* the check of the configuration has told it */
    if (stat(doctor->config_path, &status) == 0 && status.st_mode & S_IWOTH)
        doctor_find(doctor, "permissions", DOCTOR_FAULT, g_strdup_printf("chmod o-w %s", doctor->config_path),
                    "anybody on this system can change %s", doctor->config_path);
    /* The spool and its queues; what is in a queue was written by who owns it. */
    const char *spool = config_string(doctor->config, "spool", "directory");
    look_at_owner(doctor, account, spool);
    g_autoptr(GDir) directory = g_dir_open(spool, 0, NULL);
    while (directory && (name = g_dir_read_name(directory))) {
        g_autofree char *path = g_build_filename(spool, name, NULL);
        if (strcmp(name, "lost+found") != 0) /* the file system's own, and root's */
            look_at_owner(doctor, account, path);
    }
    if (config_bool(doctor->config, "trail", "enabled"))
        look_at_owner(doctor, account, config_string(doctor->config, "trail", "directory"));
    const char *refused = config_string(doctor->config, "refused", "directory");
    if (config_duration(doctor->config, "refused", "keep") > 0 && g_file_test(refused, G_FILE_TEST_EXISTS))
        look_at_owner(doctor, account, refused); /* it is made with the first mail */
    if (strcmp(config_string(doctor->config, "store", "driver"), "sqlite") == 0) {
        static const char *const suffixes[] = {"", "-wal", "-shm"};
        for (unsigned at = 0; at < G_N_ELEMENTS(suffixes); at++) {
            g_autofree char *path = g_strconcat(config_string(doctor->config, "store", "path"), suffixes[at], NULL);
            look_at_owner(doctor, account, path);
        }
    }
    doctor_find_well(doctor, "permissions", before, "Spool, trail and database belong to the user of [site] user.");
}

/* ---- disks ---- */

static void look_at_room(Doctor *doctor, const char *path, uint64_t least, const char *what)
{
    uint64_t room;
    auto_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || !fs_free_space(fd, &room, NULL))
        return; /* told elsewhere: it is missing, or not ours */
    if (room < least)
        doctor_find(doctor, "disk", DOCTOR_FAULT, g_strdup_printf("du -xsh %s; df -h -i %s", path, path),
                    "the file system of %s has %" G_GUINT64_FORMAT " MiB or less than 100 inodes left, and %s", path,
                    room >> 20, what);
    else if (room < 4 * least)
        doctor_find(doctor, "disk", DOCTOR_WARNING, g_strdup_printf("du -xsh %s; df -h -i %s", path, path),
                    "the file system of %s has only %" G_GUINT64_FORMAT " MiB left; below %" G_GUINT64_FORMAT
                    " MiB, %s",
                    path, room >> 20, least >> 20, what);
}

/* Examine the file systems of the spool and the database: their kind, and how much room they have. */
static void doctor_disks(Doctor *doctor)
{
    unsigned before = doctor->findings;
    const char *spool = config_string(doctor->config, "spool", "directory");
    g_autofree char *state = g_path_get_dirname(config_string(doctor->config, "store", "path"));
    bool file = strcmp(config_string(doctor->config, "store", "driver"), "sqlite") == 0;
    g_autofree char *fault = mount_fault(spool);
    g_autofree char *network = file ? mount_network_fault(state) : NULL;
    if (fault)
        doctor_find(doctor, "disk", DOCTOR_WARNING, NULL, "%s", fault);
    if (network)
        doctor_find(doctor, "disk", DOCTOR_WARNING, NULL, "%s", network);
    look_at_room(doctor, spool, config_size(doctor->config, "spool", "min_free"), "mail is refused for now (4xx)");
    if (file)
        look_at_room(doctor, state, UINT64_C(16) << 20, "the database cannot grow");
    doctor_find_well(doctor, "disk", before, "Spool and database are on sound file systems with room.");
}

/* ---- certificates ---- */

/* Examine whether the certificates in files of the configuration expire soon. */
static void doctor_certificates(Doctor *doctor)
{
    unsigned before = doctor->findings;
    g_autoptr(GPtrArray) files = certificate_files(doctor->config);
    for (guint at = 0; at < files->len; at++) {
        const CertificateFile *file = files->pdata[at];
        int64_t end, now = clock_now();
        g_autoptr(GError) fault = NULL;
        if (!certificate_end(file, &end, &fault)) {
            doctor_find(doctor, "certificates", DOCTOR_FAULT, NULL, "%s", fault->message);
        } else if (end - now <= CERTIFICATE_TOLD) {
            g_autofree char *text = certificate_text(file->setting, file->path, end, now);
            doctor_find(doctor, "certificates", end > now ? DOCTOR_WARNING : DOCTOR_FAULT,
                        certificate_mend(file->readers), "%s", text);
        }
    }
    if (files->len > 0)
        doctor_find_well(doctor, "certificates", before, "No certificate of the configuration expires within 14 days.");
}

/* ---- pages ---- */

/* Is it on this host alone: loopback, or a UNIX socket ("127.0.0.1:8002", "[::1]", "unix", "unix:/run/x")? */
static bool is_local(const char *place)
{
    const char *address = place + (*place == '[');
    return g_str_has_prefix(address, "unix") || g_str_has_prefix(address, "127.") ||
           g_str_has_prefix(address, "localhost") || g_str_has_prefix(address, "::1");
}

static bool all_local(const Config *config, const char *section, const char *key)
{
    const char *const *words = config_list(config, section, key);
    for (; words && *words; words++)
        if (!is_local(*words))
            return false;
    return true;
}

/* Pages know no TLS, so https means that there is a proxy. Where it can reach them over the network, and none of that
 * kind is named, all its visitors are one. */
static void doctor_proxies(Doctor *doctor)
{
    const char *url = config_string(doctor->config, "site", "web_url");
    if (!url || !g_str_has_prefix(url, "https:") || !config_bool(doctor->config, "runner.web", "start"))
        return;
    if (!all_local(doctor->config, "runner.web", "listen") && all_local(doctor->config, "web", "proxies"))
        doctor_find(doctor, "pages", DOCTOR_WARNING, g_strdup("[web] proxies = ADDRESS OF THE PROXY"),
                    "[runner.web] listen is open to the network, and [web] proxies names no proxy there: behind one, "
                    "visitors cannot be told apart, and limits for each network do not work");
    else
        doctor_find(doctor, "pages", DOCTOR_OK, NULL, "The proxy before the pages is named.");
}

/* ---- time ---- */

/* Examine whether the system keeps its clock right. */
static void doctor_time(Doctor *doctor)
{
    struct timex state = {0};
    if (adjtimex(&state) == TIME_ERROR || state.status & STA_UNSYNC)
        doctor_find(doctor, "time", DOCTOR_WARNING, g_strdup("timedatectl set-ntp true"),
                    "nothing keeps the clock of this system right: Date fields, signatures and deadlines follow it");
    else
        doctor_find(doctor, "time", DOCTOR_OK, NULL, "The clock is kept right.");
}

/* ---- the DNS ---- */

#define TIMEOUT INT64_C(3000000) /* us, of the first try */
#define TRIES 2

#define GOOD_BITS 2048 /* of an RSA key (RFC 8301) */

typedef struct Examination {
    Doctor *doctor;
    DnsWait *dns;
    GPtrArray *seen; /* borrowed names of the sections [dkim.NAME] that were looked at */
} Examination;

static void answer_clear(DnsAnswer *answer)
{
    if (answer->records)
        dns_answer_clear(answer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DnsAnswer, answer_clear)

/* Ask; where no server answers, that is the finding, and the result is false. */
static bool ask(const Examination *it, const char *name, DnsType type, DnsAnswer *answer)
{
    dns_wait_ask(it->dns, name, type, answer);
    if (answer->status != DNS_TROUBLE)
        return true;
    doctor_find(it->doctor, "dns", DOCTOR_WARNING, NULL, "nothing is known of %s: %s", name, answer->problem);
    return false;
}

static bool has_record(const Examination *it, const char *name, DnsType type)
{
    g_auto(DnsAnswer) answer = {0};
    dns_wait_ask(it->dns, name, type, &answer);
    return answer.status == DNS_FOUND;
}

/* How many TXT records of the name begin with this. -1: not known. */
static int count_texts(const Examination *it, const char *name, const char *start)
{
    int count = 0;
    g_auto(DnsAnswer) answer = {0};
    if (!ask(it, name, DNS_TXT, &answer))
        return -1;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++)
        count += g_ascii_strncasecmp(g_array_index(answer.records, DnsRecord, at).text, start, strlen(start)) == 0;
    return count;
}

/* ---- a domain ---- */

/* A key of the configuration whose public half the DNS must have. Of its records the best counts, and more than one is
 * a warning. */
static void look_at_key(const Examination *it, const char *section)
{
    static const struct {
        DoctorState state;
        const char *text; /* of the name in the DNS and the section */
    } words[] = {
        [DKIM_RECORD_TESTING] = {DOCTOR_WARNING, "the key at %s says by t=y that it is only tried: signatures of [%s] "
                                                 "count for nothing"},
        [DKIM_RECORD_UNFIT] = {DOCTOR_FAULT, "the record at %s has the right key, and other tags that forbid "
                                             "signatures of [%s]"},
        [DKIM_RECORD_OTHER] = {DOCTOR_FAULT, "the DNS has another key at %s than that of [%s], whose signatures fail "
                                             "everywhere"},
        [DKIM_RECORD_REVOKED] = {DOCTOR_FAULT, "the key at %s was revoked (p= is empty), so signatures of [%s] fail "
                                               "everywhere"},
        [DKIM_RECORD_NONE] = {DOCTOR_FAULT, "the DNS has no key at %s, so signatures of [%s] fail everywhere"},
    };
    g_autoptr(GError) fault = NULL;
    g_auto(DnsAnswer) answer = {0};
    Doctor *doctor = it->doctor;
    const Config *config = doctor->config;
    const char *domain = config_string(config, section, "domain"), *file = config_string(config, section, "key_file");
    const char *selector = config_string(config, section, "selector"), *path = file ? file : "FILE";
    g_autofree char *name = g_strdup_printf("%s._domainkey.%s", selector, domain);
    g_autofree char *pem = file ? secret_file_read(file, SECRET_FILE_MAX, &fault) : NULL;
    g_autoptr(DkimKey) key = pem ? dkim_key_new(&(DkimKeyPlace){domain, selector, DKIM_USE_SIGN}, pem, &fault) : NULL;
    if (!key) {
        doctor_find(doctor, "dns", DOCTOR_FAULT,
                    g_strdup_printf("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:%d -out %s && chown %s "
                                    "%s && chmod 600 %s && listrunner reload",
                                    GOOD_BITS, path, config_string(config, "site", "user"), path, path),
                    "[%s] signs nothing: %s", section, fault ? fault->message : "it has no key_file");
        return;
    }
    if (strcmp(dkim_key_algorithm(key), "rsa-sha256") == 0 && dkim_key_bits(key) < GOOD_BITS)
        doctor_find(doctor, "dns", DOCTOR_WARNING,
                    g_strdup_printf("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:%d -out FILE    # for a "
                                    "[dkim.NAME] of its own, beside [%s] until the DNS has it",
                                    GOOD_BITS, section),
                    "the key of [%s] has %d bits; %d are advised (RFC 8301)", section, dkim_key_bits(key), GOOD_BITS);
    if (!ask(it, name, DNS_TXT, &answer))
        return;
    unsigned count = 0;
    DkimRecord best = DKIM_RECORD_NONE;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        DkimRecord one = dkim_key_judge(key, g_array_index(answer.records, DnsRecord, at).text);
        count += one != DKIM_RECORD_NONE;
        best = MIN(best, one);
    }
    if (words[best].text) {
        g_autofree char *text = g_strdup_printf(words[best].text, name, section);
        doctor_find(doctor, "dns", words[best].state, setup_dkim_line(key), "%s", text);
    } else if (count > 1) {
        doctor_find(doctor, "dns", DOCTOR_WARNING, setup_dkim_line(key),
                    "the DNS has %u keys at %s, and receivers may take any of them; leave that of [%s] alone", count,
                    name, section);
    }
}

static void look_at_dkim(const Examination *it, const char *domain)
{
    bool signs = false;
    const Config *config = it->doctor->config;
    g_autofree const char **sections = config_family_sections(config, "dkim");
    for (const char **section = sections; *section; section++) {
        const char *own = config_string(config, *section, "domain");
        if (!own || !config_bool(config, *section, "enabled") || !domain_name_within(domain, own))
            continue;
        signs = true;
        if (!g_ptr_array_find_with_equal_func(it->seen, *section, g_str_equal, NULL)) /* by a domain before */
            look_at_key(it, *section);
        g_ptr_array_add(it->seen, (char *)*section);
    }
    if (!signs)
        doctor_find(it->doctor, "dns", DOCTOR_WARNING,
                    g_strdup_printf("listrunner setup --dkim --domain %s --owner %s    # makes key and section, "
                                    "reloads, and shows the record",
                                    domain, config_string(config, "site", "site_owner")),
                    "no [dkim.NAME] signs mail of %s; unless the mail server does, large sites distrust it", domain);
}

/* MX, SPF, DKIM and DMARC. */
static void look_at_domain(const Examination *it, const char *domain)
{
    g_auto(DnsAnswer) answer = {0};
    const char *host = config_string(it->doctor->config, "site", "hostname");
    bool known = ask(it, domain, DNS_MX, &answer);
    if (known && answer.status != DNS_FOUND) {
        bool address = has_record(it, domain, DNS_A) || has_record(it, domain, DNS_AAAA);
        doctor_find(it->doctor, "dns", address ? DOCTOR_WARNING : DOCTOR_FAULT,
                    g_strdup_printf("%s. MX 10 %s.", domain, host),
                    address ? "%s has no MX record; mail goes to its address"
                            : "%s has neither MX record nor address: nobody can write to its lists",
                    domain);
    }
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        const DnsRecord *record = &g_array_index(answer.records, DnsRecord, at);
        if (!*record->host)
            doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("%s. MX 10 %s.", domain, host),
                        "%s says by its MX record that it takes no mail", domain);
        else if (!has_record(it, record->host, DNS_A) && !has_record(it, record->host, DNS_AAAA))
            doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("%s. A ADDRESS", record->host),
                        "%s, the MX of %s, has no address", record->host, domain);
    }
    int count = count_texts(it, domain, "v=spf1");
    if (count == 0)
        doctor_find(it->doctor, "dns", DOCTOR_WARNING, g_strdup_printf("%s. TXT \"v=spf1 mx -all\"", domain),
                    "%s has no SPF record, which says who may send its mail: large sites distrust it", domain);
    else if (count > 1)
        doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("dig %s TXT", domain),
                    "%s has %d SPF records; with more than one, none counts (RFC 7208)", domain, count);
    look_at_dkim(it, domain);
    count = 0;
    /* A record of the domain above counts for those below it. */
    for (const char *above = domain; count == 0 && above && strchr(above, '.'); above = strchr(above, '.') + 1) {
        g_autofree char *name = g_strconcat("_dmarc.", above, NULL);
        count = count_texts(it, name, "v=DMARC1");
    }
    if (count == 0)
        doctor_find(it->doctor, "dns", DOCTOR_WARNING,
                    g_strdup_printf("_dmarc.%s. TXT \"v=DMARC1; p=none; rua=mailto:%s\"", domain,
                                    config_string(it->doctor->config, "site", "site_owner")),
                    "%s has no DMARC record: large sites distrust it", domain);
}

/* ---- the host that sends ---- */

/* Does the name lead back to the address? */
static bool leads_back(const Examination *it, const char *name, const char *address)
{
    bool back = false;
    const DnsType type = strchr(address, ':') ? DNS_AAAA : DNS_A;
    g_auto(DnsAnswer) answer = {0};
    dns_wait_ask(it->dns, name, type, &answer);
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        char text[INET6_ADDRSTRLEN];
        const DnsRecord *record = &g_array_index(answer.records, DnsRecord, at);
        inet_ntop(type == DNS_AAAA ? AF_INET6 : AF_INET, &record->address, text, sizeof text);
        back |= strcmp(text, address) == 0;
    }
    return back;
}

static void look_at_address(const Examination *it, const char *host, const char *address)
{
    g_auto(DnsAnswer) answer = {0};
    if (!ip_public_text(address) || !dns_wait_ask_names(it->dns, address, &answer))
        return;
    if (answer.status == DNS_TROUBLE) {
        doctor_find(it->doctor, "dns", DOCTOR_WARNING, NULL, "the name of %s is not known: %s", address,
                    answer.problem);
        return;
    }
    bool back = false;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++)
        back |= leads_back(it, g_array_index(answer.records, DnsRecord, at).host, address);
    if (!back)
        doctor_find(it->doctor, "dns", DOCTOR_FAULT,
                    g_strdup_printf("%s PTR %s.    # whoever gave you the address sets it", address, host),
                    answer.status == DNS_FOUND
                        ? "the name that the DNS gives to %s, an address of %s, does not lead back to it: large sites "
                          "refuse its mail"
                        : "%s, an address of %s, has no PTR record: large sites refuse its mail",
                    address, host);
}

static guint look_at_addresses(const Examination *it, const char *host, DnsType type)
{
    g_auto(DnsAnswer) answer = {0};
    if (!ask(it, host, type, &answer))
        return 1;
    for (guint at = 0; answer.status == DNS_FOUND && at < answer.records->len; at++) {
        char text[INET6_ADDRSTRLEN];
        const DnsRecord *record = &g_array_index(answer.records, DnsRecord, at);
        inet_ntop(type == DNS_AAAA ? AF_INET6 : AF_INET, &record->address, text, sizeof text);
        look_at_address(it, host, text);
    }
    return answer.status == DNS_FOUND ? answer.records->len : 0;
}

/* The relay, or this host where the relay is on it. */
static void look_at_sender(const Examination *it)
{
    const char *relay = config_string(it->doctor->config, "transport.relay", "host");
    const char *own = config_string(it->doctor->config, "site", "hostname");
    struct in6_addr address;
    bool literal = relay && (inet_pton(AF_INET, relay, &address) == 1 || inet_pton(AF_INET6, relay, &address) == 1);
    bool here = !relay || strcmp(relay, "localhost") == 0 || (literal && !ip_public_text(relay));
    if (literal && !here) {
        look_at_address(it, relay, relay);
        return;
    }
    const char *host = here ? own : relay;
    if (look_at_addresses(it, host, DNS_A) + look_at_addresses(it, host, DNS_AAAA) == 0)
        doctor_find(it->doctor, "dns", DOCTOR_FAULT, g_strdup_printf("%s. A ADDRESS", host),
                    "%s, the host that sends, has no address in the DNS: large sites refuse its mail", host);
}

/* Examine the DNS records MX, SPF, DKIM, DMARC and PTR of the domains (of Domain) and of the host that sends. The name
 * servers of the system are asked, or those of [dns] servers. */
static void doctor_dns(Doctor *doctor, const GPtrArray *domains)
{
    g_autoptr(GError) fault = NULL;
    unsigned before = doctor->findings;
    g_autofree char *servers = config_list_joined(doctor->config, "dns", "servers");
    g_autoptr(DnsWait) dns = dns_wait_new(servers, TIMEOUT, TRIES, &fault);
    if (!dns) {
        doctor_find(doctor, "dns", DOCTOR_WARNING, NULL, "%s", fault->message);
        return;
    }
    g_autoptr(GPtrArray) seen = g_ptr_array_new();
    const Examination it = {doctor, dns, seen};
    for (guint at = 0; at < domains->len; at++) {
        g_autofree char *domain = domain_name_ascii(((const Domain *)domains->pdata[at])->mail_host);
        look_at_domain(&it, domain);
    }
    look_at_sender(&it);
    doctor_find_well(doctor, "dns", before, "The DNS knows the domains, and the host that sends.");
}

/* ---- the examination ---- */

/* The most domains of which each gets a probe: one may take a minute. */
#define PROBES_MAX 10

static gboolean no_probe, no_dns;
static int patience = 30; /* seconds, of a probe */

/* Does the master run, and are its processes well? False: nothing can be sent. */
static bool look_at_service(Doctor *doctor, Site *site)
{
    g_autoptr(GError) fault = NULL;
    json_t *status = status_ask(site, &fault);
    if (!status) {
        doctor_find(doctor, "service", DOCTOR_FAULT,
                    g_strdup("systemctl enable --now listrunner    # or: listrunner start"),
                    "Listrunner does not run: %s", fault->message);
        return false;
    }
    if (!json_is_true(json_object_get(status, "healthy")))
        doctor_find(doctor, "service", DOCTOR_FAULT, g_strdup("listrunner status"), "not every process is well");
    else if (status_waits(status))
        doctor_find(doctor, "service", DOCTOR_WARNING, g_strdup("listrunner status"),
                    "all processes are well, and something waits for a person");
    else
        doctor_find(doctor, "service", DOCTOR_OK, NULL, "All processes are well.");
    g_auto(GStrv) free_ones = status_unconfined(status);
    for (char **sentence = free_ones; *sentence; sentence++)
        doctor_find(doctor, "service", DOCTOR_OK, NULL, "%s", *sentence);
    json_decref(status);
    return true;
}

/* Find the lines that Postfix lacks, for all domains together: each command names the whole value of a parameter, so
 * that one for each domain would undo those before. */
static void look_at_mta(Doctor *doctor, const GPtrArray *domains)
{
    g_autoptr(GError) unfit = NULL, contrary = NULL;
    g_auto(SetupDoors) doors = {0};
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    unsigned before = doctor->findings;
    if (!(setup_mta_find() & 1u << SETUP_POSTFIX))
        return;
    if (!setup_doors_read(doctor->config, &doors, &unfit)) {
        doctor_find(doctor, "mta", DOCTOR_WARNING, NULL, "Postfix was not asked: %s", unfit->message);
        return;
    }
    SetupWiring wiring = {.mta = SETUP_POSTFIX, .lmtp = doors.lmtp, .ask = doors.ask};
    for (guint at = 0; at < domains->len; at++) {
        g_autoptr(GError) fault = NULL;
        char *name = ((const Domain *)domains->pdata[at])->mail_host;
        if (setup_postfix_is_free(&wiring, name, &fault))
            g_ptr_array_add(names, name);
        else
            doctor_find(doctor, "mta", DOCTOR_FAULT, NULL, "%s", fault->message);
    }
    g_ptr_array_add(names, NULL);
    wiring.domains = (const char *const *)names->pdata;
    g_autoptr(GPtrArray) lines = *wiring.domains ? setup_postfix_plan(&wiring, &contrary) : NULL;
    if (contrary)
        doctor_find(doctor, "mta", DOCTOR_FAULT, NULL, "%s", contrary->message);
    if (lines && lines->len > 0) {
        g_autofree char *lacking = g_strjoinv(", ", (char **)wiring.domains);
        doctor_find(doctor, "mta", DOCTOR_WARNING, setup_postfix_command(lines),
                    "Postfix lacks lines for %s that \"listrunner setup\" would add: it may have others that do the "
                    "same, as a probe shows",
                    lacking);
    }
    doctor_find_well(doctor, "mta", before, "Postfix has the lines that Listrunner needs.");
}

static void send_probe(Doctor *doctor, Site *site, const char *domain)
{
    ProbeResult result = {0};
    g_autoptr(GError) fault = NULL;
    if (!probe_run(site, domain, patience, &result, &fault)) {
        doctor_find(doctor, "probe", DOCTOR_WARNING, NULL, "no probe could be sent to %s: %s", domain, fault->message);
        return;
    }
    g_autofree char *text = probe_text(&result, doctor->config, domain);
    char *mend = result.end == PROBE_BACK ? NULL
                 : result.end == PROBE_NOT_SENT
                     ? g_strdup("listrunner dest show relay    # and start the mail server, if it does not run")
                     : g_strdup_printf("listrunner setup --domain %s --owner %s --apply", domain,
                                       config_string(doctor->config, "site", "site_owner"));
    doctor_find(doctor, "probe", result.end == PROBE_BACK ? DOCTOR_OK : DOCTOR_FAULT, mend, "%s", text);
}

static void examine(Doctor *doctor, Site *site)
{
    g_autoptr(GError) fault = NULL;
    doctor_permissions(doctor);
    doctor_disks(doctor);
    doctor_proxies(doctor);
    doctor_time(doctor);
    doctor_certificates(doctor);
    /* From here on as [site] user. */
    Store *store = site_store(site, false, &fault);
    g_autoptr(GPtrArray) domains = store ? domain_all(store, &fault) : NULL;
    if (!domains) {
        bool gone = g_error_matches(fault, FAIL, FAIL_MISSING); /* then the text says what to do */
        doctor_find(doctor, "database", DOCTOR_FAULT, gone ? NULL : g_strdup("listrunner store check"), "%s",
                    fault->message);
        return;
    }
    doctor_find(doctor, "database", DOCTOR_OK, NULL, "The database can be opened.");
    bool runs = look_at_service(doctor, site);
    if (domains->len == 0)
        doctor_find(doctor, "database", DOCTOR_FAULT, g_strdup("listrunner setup"), "there is no domain");
    g_autoptr(GError) unread = NULL;
    g_autoptr(GPtrArray) sources = source_all(store, NULL, &unread);
    if (!sources)
        doctor_find(doctor, "sources", DOCTOR_FAULT, NULL, "%s", unread->message);
    for (guint at = 0; sources && at < sources->len; at++) {
        const MemberSource *source = sources->pdata[at];
        if (source_is_plain(source))
            doctor_find(doctor, "sources", DOCTOR_WARNING,
                        g_strdup_printf("listrunner list source set %s %s --place=%s", source->list_id, source->name,
                                        source->kind == SOURCE_LDAP ? "ldaps://..." : "https://..."),
                        "The password of the source %s of %s goes to the server in plain text.", source->name,
                        source->list_id);
    }
    look_at_mta(doctor, domains);
    if (!no_dns)
        doctor_dns(doctor, domains);
    for (guint at = 0; runs && !no_probe && at < MIN(domains->len, PROBES_MAX); at++)
        send_probe(doctor, site, ((const Domain *)domains->pdata[at])->mail_host);
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    Doctor doctor = {.config_path = site_config_path(site), .worst = DOCTOR_OK};
    g_autoptr(GError) faults = NULL;
    if (!json_option) {
        printf("Examining the site of %s: files, clock, database, processes and mail server%s", doctor.config_path,
               no_dns ? "" : "; then the DNS, where a question without an answer takes some seconds");
        if (!no_probe)
            printf("; then a probe for each domain, which may take %d s", patience);
        puts(".");
        fflush(stdout);
    }
    g_autoptr(Config) config = config_load(doctor.config_path, false, &faults);
    doctor.config = config;
    g_autofree char *doubts = config ? config_doubts(config) : NULL;
    g_auto(GStrv) lines = g_strsplit(faults ? faults->message : doubts ? doubts : "", "\n", -1);
    for (char **line = lines; *line; line++)
        doctor_find(&doctor, "configuration", faults ? DOCTOR_FAULT : DOCTOR_WARNING,
                    faults ? g_strdup("listrunner config check") : NULL, "%s", *line);
    if (config) {
        doctor_find_well(&doctor, "configuration", 0, "The configuration is in order.");
        examine(&doctor, site);
    }
    return doctor.worst == DOCTOR_OK ? TOOL_OK : doctor.worst == DOCTOR_WARNING ? TOOL_WAITING : TOOL_NOT_SO;
}

static const GOptionEntry options[] = {
    {"no-dns", 0, 0, G_OPTION_ARG_NONE, &no_dns, "ask no name servers", NULL},
    {"no-probe", 0, 0, G_OPTION_ARG_NONE, &no_probe, "send no mail", NULL},
    {"timeout", 0, 0, G_OPTION_ARG_INT, &patience, "how long to wait for each probe (default 30)", "SECONDS"},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command cmd_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "Examine the site and what it depends on, and say what mends each fault",
    .details =
        "Configuration, permissions, file systems, the proxy before the pages, clock, certificates, database,\n"
        "processes, Postfix's lines, the DNS, and a probe for each domain. Changes nothing. Each finding is shown at\n"
        "once; below it stands the command, or the line of a zone, that mends it. Exit codes: 1 there are faults; 2\n"
        "there are only warnings.",
    .options = options,
    .run = run,
};
