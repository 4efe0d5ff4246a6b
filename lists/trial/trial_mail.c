/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/trial_mail.h"

#include <string.h>

#include "base/fail.h"
#include "lists/archive/archive_maildir.h"
#include "lists/archive/archive_mark.h"
#include "lists/archive/archive_place.h"
#include "lists/keys.h"
#include "lists/posts/injection.h"
#include "mail/header.h"
#include "mail/loop_mark.h"
#include "mail/message.h"
#include "mail/text/subject.h"
#include "mail/transfer.h"
#include "posting/chain.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/posts/held.h"
#include "switchboard/meta.h"

#define SLACK (3600 * CLOCK_SECOND) /* between the acceptance of a post and its arrival, as the archive has it */

/* A held post, before it is read. */
typedef struct TrialWaiting {
    int64_t arrival, number;
} TrialWaiting;

struct TrialMails {
    const Trial *trial;
    const List *list;
    TrialTally *tally;
    const char *directory; /* of the archiver; borrowed from the configuration */
    char *place;           /* of the list there */
    ArchiveFiles *files;   /* NULL: there is no archive */
    GArray *waiting;       /* of Waiting, by arrival */
    GPtrArray *refused;    /* of char*, names of refused.h, by arrival */
    size_t file, held;     /* the next of each, */
    guint at_refused;      /* and of these */
};

void trial_mail_clear(TrialMail *mail)
{
    g_clear_pointer(&mail->file, g_free);
    refused_clear(&mail->refused);
    g_clear_pointer(&mail->octets, g_bytes_unref);
    g_clear_pointer(&mail->meta, json_decref);
}

void trial_mails_free(TrialMails *mails)
{
    if (!mails)
        return;
    archive_files_free(mails->files);
    g_array_unref(mails->waiting);
    if (mails->refused)
        g_ptr_array_unref(mails->refused);
    g_free(mails->place);
    g_free(mails);
}

/* ---- the archive ---- */

static char *day_of(int64_t time)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(date, "%Y-%m-%d");
}

static int64_t arrival_at(const TrialMails *mails, size_t at)
{
    int64_t arrival;
    g_free(archive_files_name(mails->files, at, &arrival));
    return arrival;
}

/* Tell from when to when the archive has posts, where it lacks some that the list has accepted. */
static char *find_gap(const TrialMails *mails)
{
    const List *list = mails->list;
    size_t count = archive_files_count(mails->files);
    g_autofree char *last = day_of(list->last_post_at);
    if (count == 0)
        return list->post_id > 1
                   ? g_strdup_printf("The archive of the list is empty, though it has accepted %" G_GINT64_FORMAT
                                     " posts, the last on %s.",
                                     list->post_id - 1, last)
                   : NULL;
    int64_t oldest = arrival_at(mails, 0), newest = arrival_at(mails, count - 1);
    g_autofree char *begins = day_of(oldest), *ends = day_of(newest);
    if (list->last_post_at >= mails->trial->since && newest < list->last_post_at - SLACK)
        return g_strdup_printf("The newest post in the archive is of %s, though the list accepted one on %s.", ends,
                               last);
    if (oldest > mails->trial->since && (uint64_t)list->post_id - 1 > count)
        return g_strdup_printf("The archive begins on %s and has %zu of the %" G_GINT64_FORMAT
                               " posts that the list has accepted.",
                               begins, count, list->post_id - 1);
    return NULL;
}

static bool open_archive(TrialMails *mails, GError **error)
{
    const List *list = mails->list;
    const char *archiver;
    mails->directory = archive_place_indexed(mails->trial->config, NULL, &archiver);
    if (!mails->directory) {
        mails->tally->gap = g_strdup("No section [archiver.NAME] is enabled, of type maildir, and has index = yes, "
                                     "so there is no archive to replay.");
        return true;
    }
    const char *host = archive_place_host(mails->trial->config, archiver);
    if (host) {
        mails->tally->gap = g_strdup_printf("The archive is kept by the host %s: try this there to replay it.", host);
        return true;
    }
    g_autofree char *name = list_archive_name(list->list_id, list->archive);
    mails->place = archive_file_name(name);
    g_autofree char *path = g_build_filename(mails->directory, mails->place, NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        mails->tally->gap = g_strdup_printf("The list has no archive: there is no directory %s.", path);
        return true;
    }
    mails->files = archive_files_read(mails->directory, mails->place, error);
    if (!mails->files) {
        g_prefix_error(error, "the archive cannot be read: ");
        return false;
    }
    mails->tally->gap = find_gap(mails);
    while (mails->file < archive_files_count(mails->files) && arrival_at(mails, mails->file) < mails->trial->since)
        mails->file++;
    return true;
}

/* ---- what is held ---- */

static bool note_waiting(const Held *held, void *data)
{
    TrialMails *mails = data;
    const TrialWaiting waiting = {held->held_at, held->number};
    if (held->held_at >= mails->trial->since)
        g_array_append_val(mails->waiting, waiting);
    return true;
}

static int compare_waiting(gconstpointer one, gconstpointer other)
{
    const TrialWaiting *a = one, *b = other;
    return a->arrival != b->arrival ? (a->arrival < b->arrival ? -1 : 1)
                                    : (a->number > b->number) - (a->number < b->number);
}

TrialMails *trial_mails_open(const Trial *trial, const List *list, TrialTally *tally, GError **error)
{
    g_autoptr(TrialMails) mails = g_new0(TrialMails, 1);
    mails->trial = trial;
    mails->list = list;
    mails->tally = tally;
    mails->waiting = g_array_new(FALSE, FALSE, sizeof(TrialWaiting));
    if (!open_archive(mails, error) || !held_each(trial->store, list->list_id, note_waiting, mails, error))
        return NULL;
    g_array_sort(mails->waiting, compare_waiting);
    /* Not what another list of that name refused. */
    mails->refused = refused_names(trial->config, list->list_id, MAX(trial->since, list->created_at), error);
    return mails->refused ? g_steal_pointer(&mails) : NULL;
}

uint64_t trial_mails_count(const TrialMails *mails)
{
    size_t files = mails->files ? archive_files_count(mails->files) - mails->file : 0;
    return files + mails->waiting->len - mails->held + mails->refused->len - mails->at_refused;
}

/* ---- a mail as it came ---- */

/* Take off what the handlers put on; what they took away nobody has. */
static GBytes *restore(const TrialMails *mails, GBytes *octets)
{
    static const char *const added[] = {
        "List-Id",       "List-Help",    "List-Owner",  "List-Subscribe", "List-Unsubscribe", "List-Unsubscribe-Post",
        "List-Post",     "List-Archive", "Archived-At", "X-BeenThere",    "X-Topics",         "X-Content-Filtered-By",
        LOOP_MARK_FIELD,
    };
    g_autoptr(Message) message = message_new(octets);
    g_auto(Post) post = {0};
    bool passed = false; /* does a field say that the mail has passed this list? */
    post_init(&post);
    post.list = mails->list;
    post.message = message;
    if (!(rule_loop.check(&post, &passed, NULL) && passed) && !message_has(message, LOOP_MARK_FIELD))
        return g_bytes_ref(octets);
    for (size_t at = 0; at < G_N_ELEMENTS(added); at++)
        message_remove(message, added[at]);
    g_autofree char *precedence = message_value(message, "Precedence");
    if (g_strcmp0(precedence, "list") == 0)
        message_remove(message, "Precedence");

    /* The prefix of the list, as handler subject-prefix puts it on. */
    const char *set = mails->list->settings->subject_prefix;
    g_autofree char *pattern = g_strstrip(g_strdup(set ? set : ""));
    const Field *field = message_find(message, "Subject", NULL);
    g_autofree char *value = field && *pattern ? field_value_folded(field) : NULL;
    size_t length = value ? subject_prefix_length(value, pattern) : 0;
    const char *rest = length > 0 ? value + length + strspn(value + length, " \t\r\n") : NULL;
    g_autofree char *own = g_strdup(rest);
    if (own && strcmp(own, "(no subject)") == 0)
        message_remove(message, "Subject");
    else if (own)
        message_set(message, "Subject", own);
    return message_octets(message);
}

/* As a mail is given to the runner in; one without a Message-ID is called by its file. */
static json_t *meta_of(const TrialMails *mails, const char *file, GBytes *octets)
{
    const Injection injection = {.list = mails->list, .to = TO_POSTING, .host = "", .door = "trial"};
    json_t *meta = injection_meta(&injection, octets);
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *id = message_id_brief(message);
    if (!id)
        meta_set_string(meta, KEY_MESSAGE_ID, file);
    return meta;
}

static void tell_unreadable(TrialTally *tally, const char *file, const char *why)
{
    tally->unreadable++;
    if (!tally->problem)
        tally->problem = g_strdup_printf("%s: %s", file, why);
}

/* Is there a mail in the file, and not only the beginning of one? */
static const char *fault_of(GBytes *octets)
{
    g_autoptr(Message) message = message_new(octets);
    return g_bytes_get_size(octets) == 0       ? "the file is empty"
           : message_field_count(message) == 0 ? "there is no mail in it"
                                               : NULL;
}

/* True with mail->octets NULL: it is passed over. */
static bool read_file(TrialMails *mails, TrialMail *mail, GError **error)
{
    size_t at = mails->file++;
    g_autoptr(GError) fault = NULL;
    bool removed = false;
    mail->file = archive_files_name(mails->files, at, &mail->arrival);
    if (!archive_mark_is_removed(mails->directory, mails->place, mail->file, &removed, error))
        return false;
    mails->tally->removed += removed;
    if (removed)
        return true;
    g_autoptr(GBytes) octets = archive_files_load(mails->files, at, &fault);
    const char *wrong = octets ? fault_of(octets) : NULL;
    if (!octets && g_error_matches(fault, FAIL, FAIL_MISSING)) /* it was moved or deleted meanwhile */
        return true;
    if (!octets || wrong) {
        tell_unreadable(mails->tally, mail->file, wrong ? wrong : fault->message);
        return true;
    }
    size_t length;
    const char *text = g_bytes_get_data(octets, &length);
    g_autoptr(GBytes) wire = wire_text(text, length); /* files of a maildir have other line ends than mail that comes */
    mail->octets = restore(mails, wire);
    mail->meta = meta_of(mails, mail->file, mail->octets);
    mails->tally->archived++;
    return true;
}

/* The same for a held post, which somebody may have decided about. */
static bool read_held(TrialMails *mails, TrialMail *mail, GError **error)
{
    g_autoptr(GError) fault = NULL;
    const TrialWaiting *waiting = &g_array_index(mails->waiting, TrialWaiting, mails->held++);
    g_autoptr(Held) held = held_find(mails->trial->store, waiting->number, &fault);
    if (!held && g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    if (!held)
        return fail_with(error, &fault);
    g_autoptr(json_t) meta = held->meta ? meta_parse(held->meta, strlen(held->meta), error) : json_object();
    if (!meta)
        return false;
    if (!g_str_equal(meta_string(meta, KEY_TO, TO_POSTING), TO_POSTING))
        return true;
    mail->held = held->number;
    mail->arrival = held->held_at;
    mail->octets = g_bytes_ref(held->message);
    mail->meta = g_steal_pointer(&meta);
    mails->tally->held++;
    return true;
}

/* The same for a refused one, which the timer may have removed. */
static bool read_refused(TrialMails *mails, TrialMail *mail, GError **error)
{
    g_autoptr(GError) fault = NULL;
    const char *name = mails->refused->pdata[mails->at_refused++];
    g_auto(Refused) found = {0};
    const char *wrong = refused_read(mails->trial->config, mails->list->list_id, name, &found, &fault)
                            ? fault_of(found.octets)
                            : fault->message;
    if (g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    if (wrong) {
        tell_unreadable(mails->tally, name, wrong);
        return true;
    }
    mail->arrival = found.arrival;
    mail->octets = g_bytes_ref(found.octets);
    mail->meta = json_is_object(found.meta) ? json_incref(found.meta) : meta_of(mails, name, found.octets);
    mail->refused = found;
    found = (Refused){0};
    mails->tally->refused++;
    return true;
}

bool trial_mails_next(TrialMails *mails, TrialMail *mail, bool *more, GError **error)
{
    while ((*more = trial_mails_count(mails) > 0)) {
        /* The next to arrive; of one time, a file of the archive goes first, and what was refused last. */
        int64_t earliest = G_MAXINT64;
        bool (*next)(TrialMails *, TrialMail *, GError **) = NULL;
        if (mails->files && mails->file < archive_files_count(mails->files)) {
            next = read_file;
            earliest = arrival_at(mails, mails->file);
        }
        if (mails->held < mails->waiting->len) {
            const int64_t arrival = g_array_index(mails->waiting, TrialWaiting, mails->held).arrival;
            next = !next || arrival < earliest ? read_held : next;
            earliest = MIN(arrival, earliest);
        }
        if (mails->at_refused < mails->refused->len) {
            const char *name = mails->refused->pdata[mails->at_refused];
            next = !next || g_ascii_strtoll(name, NULL, 10) < earliest ? read_refused : next;
        }
        trial_mail_clear(mail);
        *mail = (TrialMail){0};
        if (!next(mails, mail, error))
            return false;
        if (mail->octets)
            return true;
    }
    return true;
}
