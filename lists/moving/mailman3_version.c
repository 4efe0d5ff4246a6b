/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which Mailman 3 a database is of, and what an older one does not have. */
#include "base/fail.h"
#include "lists/moving/mailman3_internal.h"

/* Heads of Mailman's schema, by their names in its table alembic_version, in their order. Those without a version of
 * their own were there between two of them. */
static const struct {
    const char *head, *of;
} versions[] = {
    {"b2e694dfde35", "3.2.0"}, {"15401063d4e3", "3.2.1"}, {"2d2d0ef0828f", NULL},
    {"83339e4039da", "3.3.0"}, {"d151c0b8d6f7", "3.3.1"}, {"9735f5e5dbdb", "3.3.2"},
    {"2b73fbcc97c9", "3.3.3"}, /* and 3.3.4 */
    {"472e6d713047", NULL},    {"ec5fe422e27c", NULL},    {"bc0c49c6dda2", NULL},
    {"98224512c9c2", "3.3.5"}, /* to 3.3.8 */
    {"2156fc3f6f7d", "3.3.9"},
    {"729a8f2045da", NULL},
    {"8cc1f79f4459", "3.3.10"},
    {"bf4cf66cf589", "3.3.11"},
};

/* Columns that came later, with the default that Mailman gives them, which is ours, too. Without a text nothing is told
 * of them. */
static const struct {
    const char *table, *column, *key, *then;
    Mailman3Lack lack;
} later[] = {
    {"mailinglist", "member_roster_visibility", "member_roster_visibility", "it is \"moderators\"", 0},
    {"mailinglist", "archive_rendering_mode", "archive_rendering_mode", "it is \"text\"", 0},
    {"mailinglist", "bounce_notify_owner_on_bounce_increment", "bounce_notify_owner_on_bounce_increment", "it is off",
     0},
    {"mailinglist", "usenet_watermark", "usenet_watermark", "gateways begin with the articles that come next",
     LACKS_WATERMARK},
    {"member", "bounce_score", "bounce scores", "members begin without", LACKS_SCORES},
    {"headermatch", "tag", "tags of header matches", "they have none", LACKS_TAGS},
    {"domain", "base_url", NULL, NULL, LACKS_BASE_URL},
};

static char *known_heads(void)
{
    g_autoptr(GString) heads = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(versions); i++)
        if (versions[i].of)
            g_string_append_printf(heads, "%s%s (%s)", i > 0 ? ", " : "", versions[i].head, versions[i].of);
    return g_string_free(g_steal_pointer(&heads), FALSE);
}

bool mm_version_check(Foreign *database, GError **error)
{
    g_autofree char *head = NULL;
    bool has;
    if (!foreign_has(database, "alembic_version", "version_num", &has, error))
        return false;
    if (!has)
        return fail(error, FAIL_CONFIG, "%s is no database of GNU Mailman 3: it has no table alembic_version",
                    foreign_shown(database));
    if (!mm_first_text(database, "SELECT `version_num` FROM alembic_version", &head, error))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(versions); i++)
        if (g_strcmp0(versions[i].head, head) == 0)
            return true;
    g_autofree char *known = known_heads();
    return fail(error, FAIL_CONFIG,
                "%s: the version \"%s\" of its schema (alembic_version) is not known; known are those of Mailman 3.2.0 "
                "to 3.3.11, which are %s. Bring an older Mailman up to date first",
                foreign_shown(database), head ? head : "", known);
}

bool mm_version_lacks(Mailman3 *from, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(later); i++) {
        bool has;
        if (!foreign_has(from->database, later[i].table, later[i].column, &has, error))
            return false;
        if (has)
            continue;
        from->lacks |= later[i].lack;
        if (later[i].then)
            moving_tell(from->moving, MOVING_CHANGED, "", later[i].key, "this Mailman is too old to have that; %s",
                        later[i].then);
    }
    return true;
}
