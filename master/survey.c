/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/survey.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define STEP (CLOCK_SECOND / 500)  /* read so long in one turn of the loop, */
#define PAUSE (CLOCK_SECOND / 25)  /* and then rest for so long when nobody waits */
#define NAMES_AT_ONCE 256          /* between two looks at the clock */

/* QueueRole says what a queue is to the person who runs the site. */
typedef enum QueueRole { ROLE_UNWORKED, ROLE_WORKED, ROLE_SHUNT, ROLE_HOLD, ROLE_CORRUPT } QueueRole;

/* These queues can have no runner of their own. */
static const struct {
    const char *queue;
    QueueRole role;
    const char *worked_by; /* the queue whose runner works this one as well */
} special_queues[] = {
    {"shunt", ROLE_SHUNT, NULL}, {"hold", ROLE_HOLD, NULL},   {"corrupt", ROLE_CORRUPT, NULL},
    {"retry", ROLE_WORKED, "out"}, {"notice", ROLE_WORKED, "out"},
};

static const char *const kinds[] = {
    [ROLE_UNWORKED] = "unworked", [ROLE_SHUNT] = "shunt", [ROLE_HOLD] = "hold", [ROLE_CORRUPT] = "corrupt",
};

/* Files of one sort in a queue. */
typedef struct SurveyTally {
    uint64_t count;
    char *first;   /* the name that sorts first, which is the oldest */
    int64_t since; /* when that was written; 0: unknown */
} SurveyTally;

/* QueueView holds what is known of a queue. */
typedef struct QueueView {
    SurveyTally entries, preserved, strange;
    uint64_t look; /* that counted it */
} QueueView;

struct Survey {
    const Master *master;
    struct event *turn;
    GHashTable *views;  /* queue -> QueueView */
    GPtrArray *wishes;  /* of SurveyWish, owned */
    GQueue *names;      /* of char *, owned: queues that this look has not come to */
    uint64_t look;      /* the one under way, or the last */
    bool looking;
    int64_t took;       /* it, so far: microseconds */
    int64_t rest_until; /* monotonic: what it found is good enough for those who look on */
    char *name;         /* of the queue being read */
    DIR *directory;     /* NULL: none is being read */
    QueueView *view;    /* what was found in it so far */
};

struct SurveyWish {
    SurveyDone *done;
    void *data;
    int64_t until; /* monotonic */
};

static void tally_clear(SurveyTally *tally)
{
    g_clear_pointer(&tally->first, g_free);
    *tally = (SurveyTally){0};
}

static void view_free(void *data)
{
    QueueView *view = data;
    tally_clear(&view->entries);
    tally_clear(&view->preserved);
    tally_clear(&view->strange);
    g_free(view);
}

static void tally_add(SurveyTally *tally, const char *name)
{
    tally->count++;
    if (tally->first && strcmp(tally->first, name) <= 0)
        return;
    g_free(tally->first);
    tally->first = g_strdup(name);
}

static void tally_date(SurveyTally *tally, int directory)
{
    struct stat status;
    if (tally->first && fstatat(directory, tally->first, &status, AT_SYMLINK_NOFOLLOW) == 0)
        tally->since = (int64_t)status.st_mtime * CLOCK_SECOND;
}

static QueueRole role_of(const Survey *survey, const char *queue)
{
    for (size_t i = 0; i < G_N_ELEMENTS(special_queues); i++)
        if (strcmp(special_queues[i].queue, queue) == 0 && special_queues[i].role != ROLE_WORKED)
            return special_queues[i].role;
        else if (strcmp(special_queues[i].queue, queue) == 0)
            queue = special_queues[i].worked_by;
    for (guint i = 0; i < survey->master->groups->len; i++) {
        const PlanRunner *goal = supervisor_goal(g_ptr_array_index(survey->master->groups, i));
        if (goal && strcmp(goal->queue, queue) == 0)
            return ROLE_WORKED;
    }
    return ROLE_UNWORKED;
}

static void add_waiting(json_t *waiting, const char *kind, const char *queue, const SurveyTally *tally)
{
    g_autofree char *since = tally->since ? clock_text(tally->since) : NULL;
    int64_t age = tally->since ? MAX(clock_now() - tally->since, 0) : 0;
    if (tally->count > 0)
        json_array_append_new(waiting, json_pack("{s:s,s:s,s:I,s:s?,s:I}", "kind", kind, "queue", queue, "count",
                                                 (json_int_t)tally->count, "since", since, "age",
                                                 (json_int_t)(age / CLOCK_SECOND)));
}

static json_t *waiting_json(const Survey *survey)
{
    json_t *waiting = json_array();
    g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(survey->views), (GCompareFunc)strcmp);
    for (const GList *at = names; at; at = at->next) {
        const QueueView *view = g_hash_table_lookup(survey->views, at->data);
        QueueRole role = role_of(survey, at->data);
        if (role != ROLE_WORKED)
            add_waiting(waiting, kinds[role], at->data, &view->entries);
        add_waiting(waiting, "preserved", at->data, &view->preserved);
        add_waiting(waiting, "strange", at->data, &view->strange);
    }
    return waiting;
}

/* A queue that another look counted is not there any more. */
static gboolean is_old(gpointer name, gpointer view, gpointer survey)
{
    return ((const QueueView *)view)->look != ((const Survey *)survey)->look;
}

/* False: there is none left. */
static bool next_queue(Survey *survey)
{
    g_clear_pointer(&survey->name, g_free);
    while ((survey->name = g_queue_pop_head(survey->names)) != NULL) {
        g_autofree char *path = g_build_filename(survey->master->plan->spool, survey->name, NULL);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        survey->directory = fd >= 0 ? fdopendir(fd) : NULL;
        if (survey->directory) {
            survey->view = g_new0(QueueView, 1);
            return true;
        }
        if (fd >= 0)
            close(fd);
        g_free(survey->name);
    }
    return false;
}

/* Reads for as long as a turn may take. False: the look is at its end. */
static bool read_on(Survey *survey)
{
    int64_t until = clock_monotonic() + STEP;
    do {
        if (!survey->directory && !next_queue(survey))
            return false;
        QueueView *view = survey->view;
        bool any = role_of(survey, survey->name) == ROLE_CORRUPT; /* in corrupt a file may have any name */
        for (int i = 0; survey->directory && i < NAMES_AT_ONCE; i++) {
            const struct dirent *found = readdir(survey->directory);
            if (!found) {
                int fd = dirfd(survey->directory);
                tally_date(&view->entries, fd);
                tally_date(&view->preserved, fd);
                tally_date(&view->strange, fd);
                view->look = survey->look;
                g_hash_table_replace(survey->views, g_steal_pointer(&survey->name), g_steal_pointer(&survey->view));
                closedir(survey->directory);
                survey->directory = NULL;
                break;
            }
            const char *name = found->d_name;
            bool file = found->d_type == DT_REG || found->d_type == DT_UNKNOWN;
            if (*name == '.' || g_str_has_suffix(name, ".tmp")) /* one that is being written is nobody's yet */
                continue;
            if (g_str_has_suffix(name, ".psv"))
                tally_add(file ? &view->preserved : &view->strange, name);
            else if (any || g_str_has_suffix(name, ".msg") || g_str_has_suffix(name, ".bak"))
                tally_add(&view->entries, name);
        }
    } while (clock_monotonic() < until);
    return true;
}

static void on_turn(evutil_socket_t fd, short what, void *data)
{
    Survey *survey = data;
    int64_t begun = clock_monotonic();
    bool ends = survey->looking && !read_on(survey);
    survey->took += clock_monotonic() - begun;
    if (ends) {
        survey->looking = false;
        survey->rest_until = clock_monotonic() + SURVEY_REST * survey->took;
        g_hash_table_foreach_remove(survey->views, is_old, survey);
    }
    /* Everybody is answered at the end, and before it those whose patience is at its end. They are told, too, how many
     * queues no look has been through: all of them, in the first one. */
    int64_t now = clock_monotonic();
    bool all = !survey->looking; /* who is answered may ask again, which begins the next look */
    for (guint i = survey->wishes->len; i-- > 0;) {
        SurveyWish *wish = survey->wishes->pdata[i];
        if (!all && wish->until > now)
            continue;
        g_ptr_array_steal_index_fast(survey->wishes, i);
        unsigned pending = survey->name && !g_hash_table_contains(survey->views, survey->name);
        for (const GList *at = survey->names->head; at; at = at->next)
            pending += !g_hash_table_contains(survey->views, at->data);
        wish->done(wish->data, waiting_json(survey), pending);
        g_free(wish);
    }
    struct timeval pause = {0, survey->wishes->len > 0 ? 0 : PAUSE};
    if (survey->looking)
        evtimer_add(survey->turn, &pause);
}

Survey *survey_new(const Master *master)
{
    Survey *survey = g_new0(Survey, 1);
    survey->master = master;
    survey->turn = evtimer_new(master->base, on_turn, survey);
    survey->views = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, view_free);
    survey->wishes = g_ptr_array_new_with_free_func(g_free);
    survey->names = g_queue_new();
    return survey;
}

void survey_free(Survey *survey)
{
    event_free(survey->turn);
    g_hash_table_unref(survey->views);
    g_ptr_array_unref(survey->wishes);
    g_queue_free_full(survey->names, g_free);
    g_free(survey->name);
    if (survey->directory)
        closedir(survey->directory);
    if (survey->view)
        view_free(survey->view);
    g_free(survey);
}

SurveyWish *survey_ask(Survey *survey, bool old, SurveyDone *done, void *data)
{
    SurveyWish *wish = NULL;
    if (done) {
        wish = g_new0(SurveyWish, 1);
        *wish = (SurveyWish){.done = done, .data = data, .until = clock_monotonic() + SURVEY_WAIT};
        g_ptr_array_add(survey->wishes, wish);
    }
    if (!survey->looking && (!old || clock_monotonic() >= survey->rest_until)) {
        survey->look++;
        survey->took = 0;
        DIR *directory = opendir(survey->master->plan->spool);
        survey->looking = directory != NULL;
        if (!directory)
            log_warn("what waits in the queues is not known: list %s: %s", survey->master->plan->spool,
                     g_strerror(errno));
        /* Queues that wait for a person come first: most of them are short. */
        for (const struct dirent *found; directory && (found = readdir(directory)) != NULL;) {
            if (*found->d_name == '.' || (found->d_type != DT_DIR && found->d_type != DT_UNKNOWN))
                continue;
            if (role_of(survey, found->d_name) == ROLE_WORKED)
                g_queue_push_tail(survey->names, g_strdup(found->d_name));
            else
                g_queue_push_head(survey->names, g_strdup(found->d_name));
        }
        if (directory)
            closedir(directory);
    }
    struct timeval at_once = {0, 0};
    evtimer_add(survey->turn, &at_once);
    return wish;
}

void survey_forget(Survey *survey, SurveyWish *wish)
{
    g_ptr_array_remove_fast(survey->wishes, wish);
}
