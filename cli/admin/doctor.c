/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>

#include "base/auto.h"
#include "base/certificate.h"
#include "base/clock.h"
#include "base/fs.h"

static void finding_free(void *data)
{
    DoctorFinding *finding = data;
    g_free(finding->text);
    g_free(finding->mend);
    g_free(finding);
}

void doctor_init(Doctor *doctor, const char *config_path, void (*tell)(const DoctorFinding *finding))
{
    *doctor = (Doctor){
        .config_path = config_path, .findings = g_ptr_array_new_with_free_func(finding_free), .tell = tell};
}

void doctor_clear(Doctor *doctor)
{
    g_clear_pointer(&doctor->findings, g_ptr_array_unref);
}

void doctor_find(Doctor *doctor, const char *subject, DoctorState state, char *mend, const char *format, ...)
{
    va_list arguments;
    DoctorFinding *finding = g_new0(DoctorFinding, 1);
    *finding = (DoctorFinding){.subject = subject, .state = state, .mend = mend};
    va_start(arguments, format);
    finding->text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_ptr_array_add(doctor->findings, finding);
    doctor->tell(finding);
}

void doctor_find_well(Doctor *doctor, const char *subject, guint before, const char *text)
{
    if (doctor->findings->len == before)
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

void doctor_permissions(Doctor *doctor)
{
    guint before = doctor->findings->len;
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

void doctor_disks(Doctor *doctor)
{
    guint before = doctor->findings->len;
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

void doctor_certificates(Doctor *doctor)
{
    guint before = doctor->findings->len;
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
void doctor_proxies(Doctor *doctor)
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

void doctor_time(Doctor *doctor)
{
    struct timex state = {0};
    if (adjtimex(&state) == TIME_ERROR || state.status & STA_UNSYNC)
        doctor_find(doctor, "time", DOCTOR_WARNING, g_strdup("timedatectl set-ntp true"),
                    "nothing keeps the clock of this system right: Date fields, signatures and deadlines follow it");
    else
        doctor_find(doctor, "time", DOCTOR_OK, NULL, "The clock is kept right.");
}
