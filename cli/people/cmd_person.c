/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner person: where an address stands, and a pseudonym in its place. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "base/trail/trail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/progress.h"
#include "cli/queues/queue_select.h"
#include "cli/work_site.h"
#include "lists/archive/archive_pseudonym.h"
#include "lists/people/own_address.h"
#include "lists/people/people.h"
#include "lists/posts/refused.h"
#include "store/people/mention.h"
#include "store/people/user.h"
#include "store/secret.h"

#define DIGITS 10

static gboolean yes;

/* Hunt is the search that both verbs make and show. */
typedef struct Hunt {
    Pseudonym names;
    Listing *listing; /* NULL: nothing is shown */
    Progress progress;
    uint64_t places;
    uint64_t replaced;  /* mails of archives */
    uint64_t removed;   /* refused mails */
    GPtrArray *changes; /* of Change: texts in the database to be replaced; NULL: none is gathered */
} Hunt;

typedef struct PersonEdit {
    const char *place;
    int64_t number;
    GBytes *text;
} PersonEdit;

static void change_free(PersonEdit *change)
{
    g_bytes_unref(change->text);
    g_free(change);
}

static void show(Hunt *hunt, const char *place, const char *list, const char *detail, size_t count)
{
    hunt->places++;
    if (hunt->listing)
        listing_row(hunt->listing, json_pack("{ss so so sI}", "place", place, "list", listing_text(list), "detail",
                                             listing_text(detail), "count", (json_int_t)count));
}

static Listing *open_listing(void)
{
    static const Column columns[] = {{"place", "PLACE", COLUMN_TEXT},
                                     {"list", "LIST", COLUMN_TEXT},
                                     {"detail", "DETAIL", COLUMN_TEXT},
                                     {"count", "COUNT", COLUMN_NUMBER},
                                     {NULL, NULL, COLUMN_TEXT}};
    return listing_new(columns, json_option);
}

/* ---- the database ---- */

static bool take_mention(const Mention *mention, void *data)
{
    Hunt *hunt = data;
    size_t length, count = 1;
    const char *octets = mention->text ? g_bytes_get_data(mention->text, &length) : NULL;
    GString *text = hunt->changes ? g_string_new(NULL) : NULL;
    if (octets)
        count = (mention->kind == MENTION_MESSAGE ? pseudonym_mail : pseudonym_text)(&hunt->names, octets, length,
                                                                                     text);
    g_autoptr(GBytes) changed = text ? g_string_free_to_bytes(text) : NULL;
    if (count == 0)
        return true;
    show(hunt, mention->place, mention->list_id, mention->detail, count);
    if (changed) {
        PersonEdit *change = g_new(PersonEdit, 1);
        *change = (PersonEdit){mention->place, mention->number, g_steal_pointer(&changed)};
        g_ptr_array_add(hunt->changes, change);
    }
    return true;
}

/* ---- queues ---- */

static bool hunt_queues(Hunt *hunt, Spool *spool, GError **error)
{
    g_auto(GStrv) queues = queue_files_choose(spool, 0, NULL, error);
    g_autoptr(GArray) targets = queues ? queue_select_targets(spool, queues, 0, NULL, error) : NULL;
    for (guint at = 0; targets && at < targets->len; at++) {
        const QueueTarget *target = &g_array_index(targets, QueueTarget, at);
        QueueState state;
        Recipient recipient;
        size_t length, count = 0;
        char name[NAME_SIZE];
        g_autoptr(Entry) entry = queue_files_open(target->queue, &target->file, &state, NULL);
        if (!entry) /* it has gone on */
            continue;
        for (size_t next = 0; entry_next_recipient(entry, next, &recipient); next = recipient.next)
            count += pseudonym_text(&hunt->names, recipient.address, recipient.length, NULL);
        g_autofree char *meta = json_dumps(entry_meta(entry), JSON_COMPACT);
        g_autoptr(GBytes) message = entry_message(entry);
        const char *octets = g_bytes_get_data(message, &length);
        count += pseudonym_text(&hunt->names, meta ? meta : "", meta ? strlen(meta) : 0, NULL);
        count += pseudonym_mail(&hunt->names, octets ? octets : "", length, NULL);
        name_format(&target->file.name, name);
        g_autofree char *place = g_strdup_printf("queue %s", queue_name(target->queue));
        if (count > 0)
            show(hunt, place, entry_list(entry), name, count);
    }
    return targets != NULL;
}

/* ---- archives, trail ---- */

static void take_archived(const char *place, const char *detail, size_t count, void *data)
{
    Hunt *hunt = data;
    if (count == 0) {
        progress_end(&hunt->progress);
        fprintf(stderr, "listrunner person: [%s] of type %s was not looked through: another program keeps it\n", place,
                detail);
        return;
    }
    hunt->replaced++;
    show(hunt, "archive", place, detail, count);
}

static void take_looked(uint64_t mails, void *data)
{
    progress_show(&((Hunt *)data)->progress, mails, mails);
}

static bool hunt_archives(Hunt *hunt, const Config *config, bool replace, GError **error)
{
    ArchivePseudonym run = {
        .names = &hunt->names, .replace = replace, .found = take_archived, .looked = take_looked, .data = hunt};
    bool done = archive_pseudonym_run(&run, config, error);
    progress_end(&hunt->progress);
    return done;
}

typedef struct RefusedHunt {
    Hunt *hunt;
    bool removes;
} RefusedHunt;

static void look_at_refused(const Refused *mail, bool *gone, void *data)
{
    const RefusedHunt *look = data;
    const Pseudonym *names = &look->hunt->names;
    size_t length;
    const char *octets = g_bytes_get_data(mail->octets, &length);
    g_autofree char *meta = mail->meta ? json_dumps(mail->meta, JSON_COMPACT) : NULL;
    size_t count = pseudonym_mail(names, octets ? octets : "", length, NULL) +
                   pseudonym_text(names, meta ? meta : "", meta ? strlen(meta) : 0, NULL) +
                   pseudonym_text(names, mail->reasons, strlen(mail->reasons), NULL);
    if (count == 0)
        return;
    *gone = look->removes;
    look->hunt->removed += look->removes;
    show(look->hunt, "refused mail", mail->list_id, mail->name, count);
}

/* Mail that is kept for trials alone goes as a whole. */
static bool hunt_refused(Hunt *hunt, const Config *config, bool removes, GError **error)
{
    RefusedHunt look = {hunt, removes};
    return refused_each(config, look_at_refused, &look, error);
}

typedef struct TrailCount {
    const Pseudonym *names;
    uint64_t lines;
} TrailCount;

static void count_line(const TrailLine *line, void *data)
{
    TrailCount *count = data;
    count->lines += pseudonym_text(count->names, line->text, strlen(line->text), NULL) > 0;
}

static bool hunt_trail(Hunt *hunt, const Config *config, GError **error)
{
    const char *directory = config_string(config, "trail", "directory");
    TrailCount count = {.names = &hunt->names};
    if (!directory || !trail_find(directory, NULL, count_line, &count, NULL, error))
        return !directory;
    if (count.lines > 0)
        show(hunt, "trail", NULL, "lines of the log, kept for traces", count.lines);
    return true;
}

/* ---- verbs ---- */

static bool check_address(const char *address, GError **error)
{
    return mailbox_valid(address) || fail(error, FAIL_NEVER, "\"%s\" is no mail address", address);
}

static int run_find(Site *site, int argc, char **argv, GError **error)
{
    (void)argc;
    Hunt hunt = {.names = {argv[0], argv[0]}, .progress = {.what = "posts"}};
    const Config *config = check_address(argv[0], error) ? site_config(site, error) : NULL;
    Store *store = config ? site_store(site, false, error) : NULL;
    Spool *spool = store ? site_spool(site, error) : NULL;
    if (!spool)
        return TOOL_LATER;
    g_autoptr(Listing) listing = hunt.listing = open_listing();
    g_autoptr(Mailbox) address = mailbox_new(argv[0]);
    if (!mention_each(store, address, UINT_MAX, take_mention, &hunt, error) || !hunt_queues(&hunt, spool, error) ||
        !hunt_archives(&hunt, config, false, error) || !hunt_refused(&hunt, config, false, error) ||
        !hunt_trail(&hunt, config, error))
        return TOOL_LATER;
    return hunt.places > 0 ? TOOL_OK : TOOL_NOT_SO;
}

/* The same for the same address each time, so that a call that was interrupted goes on; nobody without the site's
 * secret can tell of which address it is. g_free() */
static char *make_pseudonym(Store *store, const char *address, GError **error)
{
    g_autoptr(GPtrArray) secrets = secret_all(store, error);
    g_autofree char *key = mailbox_key(address);
    if (!secrets)
        return NULL;
    size_t length;
    const guchar *secret = g_bytes_get_data(secrets->pdata[secrets->len - 1], &length); /* the oldest */
    g_autofree char *sum = g_compute_hmac_for_string(G_CHECKSUM_SHA256, secret, length, key, -1);
    return g_strdup_printf("person-%.*s@pseudonym.invalid", DIGITS, sum);
}

/* A user with other addresses stays. */
static bool forget(Work *work, const Mailbox *address, GError **error)
{
    KnownAddress *found;
    Store *store = work_store(work);
    if (!address_look_up(store, address, &found, error))
        return false;
    g_autoptr(KnownAddress) known = found;
    bool user = known && *known->user_id, owns = false;
    if (user && !user_owns_place(store, known->user_id, &owns, error))
        return false;
    if (owns)
        return fail(error, FAIL_NEVER, "%s owns the site or a domain of it; take that away first", address->text);
    g_autoptr(GPtrArray) all = user ? address_page(store, known->user_id, NULL, 0, 2, error) : NULL;
    return (!user || all) && people_forget(work, all && all->len == 1 ? known->user_id : "", address, error);
}

/* One transaction. */
static bool replace_stored(Hunt *hunt, Work *work, GError **error)
{
    g_autoptr(Mailbox) address = mailbox_new(hunt->names.address);
    g_autoptr(GPtrArray) changes = hunt->changes = g_ptr_array_new_with_free_func((GDestroyNotify)change_free);
    bool done = forget(work, address, error) &&
                mention_each(work_store(work), address, 1u << MENTION_MESSAGE | 1u << MENTION_WORDS, take_mention, hunt,
                             error);
    for (guint at = 0; done && at < changes->len; at++) {
        const PersonEdit *change = changes->pdata[at];
        done = mention_put(work_store(work), change->place, change->number, change->text, error);
    }
    hunt->changes = NULL;
    return done;
}

static int run_replace(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    Hunt hunt = {.names = {.address = argv[0]}, .progress = {.what = "posts"}};
    if (!yes)
        return command_usage(error, "this removes the address from all lists, and changes archived posts for good; say "
                                    "--yes when that is meant (listrunner person find shows each place)");
    if (!check_address(argv[0], error) || (argc > 1 && !check_address(argv[1], error)))
        return TOOL_LATER;
    if (argc > 1 && mailbox_same(argv[0], argv[1]))
        return command_usage(error, "the pseudonym is the address");
    const Config *config = site_config(site, error);
    g_autoptr(Work) work = config ? work_place_begin_spooled(&place, site, error) : NULL;
    g_autofree char *pseudonym = !work      ? NULL
                                 : argc > 1 ? g_strdup(argv[1])
                                            : make_pseudonym(work_store(work), argv[0], error);
    hunt.names.pseudonym = pseudonym;
    if (!pseudonym || (argc > 1 && !own_address_check_person(work, pseudonym, error)) ||
        !replace_stored(&hunt, work, error) || !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    uint64_t stored = hunt.places;
    if (!hunt_archives(&hunt, config, true, error) || !hunt_refused(&hunt, config, true, error))
        return TOOL_LATER;
    if (!json_option)
        printf("%s is %s now, in %" G_GUINT64_FORMAT " archived posts and %" G_GUINT64_FORMAT
               " texts of the database; it is on no list\n",
               argv[0], pseudonym, hunt.replaced, stored);
    if (!json_option && hunt.removed > 0)
        printf("removed with it, of refused mail: %" G_GUINT64_FORMAT "\n", hunt.removed);
    /* Show the data that stay, with the reason below. */
    Store *store = site_store(site, false, error);
    Spool *spool = store ? site_spool(site, error) : NULL;
    g_autoptr(Listing) listing = hunt.listing = open_listing();
    g_autoptr(Mailbox) address = mailbox_new(argv[0]);
    return spool && mention_each(store, address, 1u << MENTION_KEPT | 1u << MENTION_TEXT, take_mention, &hunt, error) &&
                   hunt_queues(&hunt, spool, error) && hunt_trail(&hunt, config, error)
               ? TOOL_OK
               : TOOL_LATER;
}

static const GOptionEntry replace_options[] = {
    JSON_ROWS_OPTION,
    {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "it is meant", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command find = {
    .name = "find",
    .arguments = "ADDRESS",
    .summary = "Show each place where an address stands",
    .least = 1,
    .most = 1,
    .options = json_rows_options,
    .run = run_find,
    .details = "Looks through the database, queues, archives and the trail. Exits 1 when it stands nowhere.",
};

static const Command replace = {
    .name = "replace",
    .arguments = "ADDRESS [PSEUDONYM]",
    .summary = "Forget an address, and put a pseudonym in its place where it cannot be left out",
    .least = 1,
    .most = 2,
    .options = replace_options,
    .run = run_replace,
    .details = "Shows afterwards where the address still stands. Without PSEUDONYM one is made of the site's secret. "
               "Interrupted, it goes on when it is called again.",
};

static const Command *const verbs[] = {&find, &replace, NULL};

const Command cmd_person = {
    .name = "person",
    .arguments = "",
    .summary = "Find an address everywhere, or put a pseudonym in its place",
    .verbs = verbs,
};
