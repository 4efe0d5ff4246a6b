/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/template_name.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

const char template_common[] = LIST_PLACEHOLDERS " list_requests site_address site_email";

#define DECORATION LIST_POST_PLACEHOLDERS
/* The digest runner fills these in (runners/digest/issue_build.c). */
#define DIGEST LIST_PLACEHOLDERS " got_list_email got_owner_email got_request_email prefix volume issue"
#define PERSON "address user_address user_email user_name member"
#define TOKEN PERSON " token confirm_email mark days asked page"
#define POST_VALUES "subject reasons sender sender_email"
#define HELD POST_VALUES " number size"
#define BOUNCE PERSON " sender_email status reason reasons outcome text score threshold next removal warnings_left"

const TemplateName template_table[] = {
    {"list_created", "domain:admin:notice:new-list", TEMPLATE_OF_DOMAIN, "",
     "tells the owners that their list was made"},
    {"held_moderators", "list:admin:action:post", TEMPLATE_OF_LIST, HELD " attached mark days page",
     "a post waits for a moderator"},
    {"request_join", "list:admin:action:subscribe", TEMPLATE_OF_LIST, PERSON " number mark days page",
     "somebody wants to join and waits for a moderator"},
    {"request_leave", "list:admin:action:unsubscribe", TEMPLATE_OF_LIST, PERSON " number mark days page",
     "somebody wants to leave and waits for a moderator"},
    {"bounce_owner_disabled", "list:admin:notice:disable", TEMPLATE_OF_LIST, BOUNCE,
     "a member gets no more mail because of bounces"},
    {"bounce_owner_score", "list:admin:notice:increment", TEMPLATE_OF_LIST, BOUNCE, "a member's mail came back"},
    {"reminder", "list:admin:notice:pending", TEMPLATE_OF_LIST,
     "count requests items request_items data mark days page",
     "the daily reminder of what waits for the moderators"},
    {"bounce_owner_removed", "list:admin:notice:removal", TEMPLATE_OF_LIST, BOUNCE,
     "a member was removed because of bounces"},
    {"member_joined", "list:admin:notice:subscribe", TEMPLATE_OF_LIST, PERSON " number",
     "tells the owners that somebody joined"},
    {"bounce_unrecognized", "list:admin:notice:unrecognized", TEMPLATE_OF_LIST, "why", "a bounce that names nobody"},
    {"member_left", "list:admin:notice:unsubscribe", TEMPLATE_OF_LIST, PERSON " number",
     "tells the owners that somebody left"},
    {"digest_footer", "list:member:digest:footer", TEMPLATE_OF_LIST, DIGEST, "stands below digests"},
    {NULL, "list:member:digest:header", TEMPLATE_OF_LIST, DIGEST, "stands above digests, below the masthead"},
    {"digest_masthead", "list:member:digest:masthead", TEMPLATE_OF_LIST, DIGEST, "begins digests"},
    {NULL, "list:member:regular:footer", TEMPLATE_OF_LIST, DECORATION,
     "stands below posts, unless the list has msg_footer"},
    {NULL, "list:member:regular:header", TEMPLATE_OF_LIST, DECORATION,
     "stands above posts, unless the list has msg_header"},
    {"invitation", "list:user:action:invite", TEMPLATE_OF_LIST, TOKEN, "invites somebody to join"},
    {"confirm_join", "list:user:action:subscribe", TEMPLATE_OF_LIST, TOKEN, "asks whether somebody wants to join"},
    {"confirm_leave", "list:user:action:unsubscribe", TEMPLATE_OF_LIST, TOKEN, "asks whether somebody wants to leave"},
    {"goodbye", "list:user:notice:goodbye", TEMPLATE_OF_LIST, PERSON " undo how mark",
     "says that somebody has left, and how to undo that"},
    {"held_poster", "list:user:notice:hold", TEMPLATE_OF_LIST, HELD, "tells an author that the post waits"},
    {"no_more_today", "list:user:notice:no-more-today", TEMPLATE_OF_LIST, PERSON " sender_email number count",
     "the last answer that an address gets today"},
    {"post_acknowledged", "list:user:notice:post", TEMPLATE_OF_LIST, POST_VALUES,
     "tells a member that the post was distributed"},
    {"bounce_probe", "list:user:notice:probe", TEMPLATE_OF_LIST, BOUNCE, "asks whether an address works"},
    {"join_rejected", "list:user:notice:refuse", TEMPLATE_OF_LIST, PERSON " request reason reasons",
     "a request to join was refused"},
    {"rejected", "list:user:notice:rejected", TEMPLATE_OF_LIST, POST_VALUES,
     "tells an author that the post was rejected"},
    {"bounce_warning", "list:user:notice:warning", TEMPLATE_OF_LIST, BOUNCE,
     "tells a member that mail came back too often"},
    {"welcome", "list:user:notice:welcome", TEMPLATE_OF_LIST, PERSON, "welcomes a new member"},
    /* Mailman 3.3.8 has none of these; they are named in its way. */
    {"post_undelivered", "list:user:notice:undelivered", TEMPLATE_OF_LIST, POST_VALUES,
     "tells an author, or the owners, that a post could be delivered to nobody"},
    {"post_scheduled", "list:user:notice:scheduled", TEMPLATE_OF_LIST, "subject time number what",
     "tells an author about a post that is to be sent at a time"},
    {NULL, "list:member:generic:footer", TEMPLATE_OF_LIST, DECORATION,
     "stands below posts where no other footer is set"},
    {"held_many", "list:admin:action:posts", TEMPLATE_OF_LIST, "count items attached mark days page",
     "several posts wait for a moderator"},
    {"archived_posts", "list:user:notice:archived-posts", TEMPLATE_OF_LIST, "first last count",
     "brings posts that somebody asked for"},
    {"held_forward", "list:admin:notice:forward", TEMPLATE_OF_LIST, HELD, "brings a held post to somebody"},
    {"bounce_owner_complaint", "list:admin:notice:complaint", TEMPLATE_OF_LIST, BOUNCE,
     "a member reported a post as spam"},
    {"bounce_unreachable", "domain:admin:notice:unreachable", TEMPLATE_OF_DOMAIN, BOUNCE,
     "owners of a list cannot be reached"},
    {"confirm_change_old", "list:user:action:change", TEMPLATE_OF_SITE, TOKEN " new_address",
     "asks the old address whether another takes its place"},
    {"confirm_change_new", "list:user:action:change-new", TEMPLATE_OF_SITE, TOKEN " new_address",
     "asks the new address whether it takes the place of another"},
    {"sign_in", "list:user:action:sign-in", TEMPLATE_OF_SITE, TOKEN " minutes",
     "brings a link to sign in on the pages"},
    {"confirm_post", "list:user:action:post", TEMPLATE_OF_LIST, TOKEN " subject",
     "asks a stranger to confirm the address of a post"},
    {"confirm_set", "list:user:action:set", TEMPLATE_OF_LIST, TOKEN " options",
     "asks whether somebody wants to change settings"},
    {"role_kept", "list:admin:notice:role-kept", TEMPLATE_OF_LIST, PERSON " new_address",
     "tells the owners that an address was changed by mail, and keeps its role"},
    {"address_changed", "list:user:notice:change", TEMPLATE_OF_SITE, PERSON " new_address",
     "says that an address took another's place"},
    {"address_taken", "list:user:notice:change-taken", TEMPLATE_OF_SITE, PERSON " new_address",
     "says that an address does not take another's place, since it has an account of its own"},
    {"left", "list:user:notice:left", TEMPLATE_OF_LIST, PERSON " undo how mark",
     "the same, where the list sends no goodbye"},
    {"leave_brake", "list:admin:notice:leave-brake", TEMPLATE_OF_LIST, "domain left waiting",
     "tells the owners that too many left at once, and further ones wait"},
    {"leave_rejected", "list:user:notice:refuse-leave", TEMPLATE_OF_LIST, PERSON " request reason reasons",
     "a request to leave was refused"},
    {"source_failed", "list:admin:notice:source-failed", TEMPLATE_OF_LIST, "source kind place fault",
     "tells the owners that members from outside cannot be read"},
    {"source_works", "list:admin:notice:source-works", TEMPLATE_OF_LIST, "source kind place given",
     "tells the owners that members from outside are read again"},
    {"autoresponse", "list:user:notice:autoresponse", TEMPLATE_OF_LIST, "text subject",
     "an automatic answer of the list"},
    {"commands", "list:user:notice:commands", TEMPLATE_OF_LIST, "answers", "answers commands by mail"},
    {"help", "list:user:notice:help", TEMPLATE_OF_LIST, "", "tells which commands there are, in an answer to one"},
    {NULL, NULL, TEMPLATE_OF_LIST, NULL, NULL},
};

const TemplateName *template_name_find(const char *text)
{
    for (const TemplateName *name = template_table; name->mailman; name++)
        if (strcmp(name->mailman, text) == 0 || g_strcmp0(name->file, text) == 0)
            return name;
    return NULL;
}

bool template_place_allowed(const TemplateName *name, const char *place, GError **error)
{
    TemplateOwner asks = !*place ? TEMPLATE_OF_SITE : *place == '@' ? TEMPLATE_OF_DOMAIN : TEMPLATE_OF_LIST;
    if (asks >= name->owner)
        return true;
    return name->owner == TEMPLATE_OF_SITE
               ? fail(error, FAIL_NEVER, "%s is the site's alone to set, for its answer concerns more than one list",
                      name->mailman)
               : fail(error, FAIL_NEVER, "%s is not a list's to set; set it for the domain or the site", name->mailman);
}

/* The placeholders of the template; g_free() */
static char *known_of(const TemplateName *name)
{
    bool decoration = !name->file || g_str_has_prefix(name->file, "digest_");
    return decoration      ? g_strdup(name->values)
           : *name->values ? g_strconcat(name->values, " ", template_common, NULL)
                           : g_strdup(template_common);
}

char *template_keep_unknown(const TemplateName *name, const char *text, char **unknown)
{
    g_autofree char *known = known_of(name);
    return placeholder_keep_unknown(text, known, unknown);
}

bool template_check(const TemplateName *name, const char *text, GError **error)
{
    g_autofree char *known = known_of(name);
    if (!g_utf8_validate(text, -1, NULL))
        return fail(error, FAIL_NEVER, "%s: the text is not UTF-8", name->mailman);
    size_t length = strlen(text);
    if (length > LIST_TEXT_MAX)
        return fail(error, FAIL_NEVER, "%s: %zu bytes are not allowed; allowed: up to %d", name->mailman, length,
                    LIST_TEXT_MAX);
    return placeholder_check(name->mailman, text, known, error);
}
