/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list_setting.h"

#include <string.h>

#include "base/config.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "base/text.h"
#include "store/language.h"
#include "store/lists/list.h"
#include "store/store_internal.h"

#define DAY INT64_C(86400000000)
#define INTERVAL_MAX (3650 * DAY)
#define PATTERNS "patterns"
#define ADDRESS "address"
#define LANGUAGE "language"
#define NEWSGROUP "newsgroup"
#define POLICIES "open|confirm|moderate|confirm_then_moderate"
#define AUTORESPOND "none|respond_and_discard|respond_and_continue"
#define TOPICS_MAX 100

/* Each row says what the setting reaches: the list's own matters (OF_LIST), or what the site answers for (OF_SITE).
 * Settings that GNU Mailman has not begin with OWN_. Behind the text come further fields: .unit = "days",
 * .example = "...". */
#define OF_LIST(...) SETTING(REACHES_LIST, __VA_ARGS__)
#define OF_SITE(...) SETTING(REACHES_SITE, __VA_ARGS__)
#define OWN_OF_LIST(...) OF_LIST(__VA_ARGS__, .own = true)
#define OWN_OF_SITE(...) OF_SITE(__VA_ARGS__, .own = true)
#define SETTING(how_far, field, setting_type, value, allowed, ...)                                       \
    {                                                                                                    \
        .reach = how_far, .name = #field, .type = setting_type, .offset = offsetof(ListSettings, field), \
        .fallback = value, .choices = allowed, .about = __VA_ARGS__                                      \
    }

const ListSetting list_settings[] = {
    OF_LIST(accept_these_nonmembers, SETTING_WORDS, "", PATTERNS,
            "Addresses, or patterns that begin with ^, of strangers whose posts are taken as those of members: only "
            "what holds these (size, number of recipients and such) holds them. A word @LIST means the members of "
            "that list of this site, by its address or List-Id.",
            .example = "friend@example.org,^.*@example\\.net$"),
    OF_LIST(acceptable_aliases, SETTING_WORDS, "", PATTERNS,
            "Addresses, or patterns that begin with ^, that count as the list's own in To and Cc.",
            .example = "^list@.*\\.example\\.org$"),
    OF_LIST(admin_immed_notify, SETTING_BOOL, "yes", NULL,
            "Tell the owners at once when a post, or a request to join or leave, waits for them."),
    OWN_OF_LIST(admin_notify_held_with_attachment, SETTING_BOOL, "yes", NULL,
                "Attach held posts to the letters that tell the owners of them."),
    OF_LIST(admin_notify_mchanges, SETTING_BOOL, "no", NULL, "Tell the owners when somebody joins or leaves."),
    OF_LIST(administrivia, SETTING_BOOL, "yes", NULL, "Hold posts that look like commands."),
    OF_LIST(advertised, SETTING_BOOL, "yes", NULL, "Show the list where lists are listed."),
    OF_LIST(allow_list_posts, SETTING_BOOL, "yes", NULL,
            "Name the posting address in List-Post; else List-Post says NO."),
    OF_LIST(anonymous_list, SETTING_BOOL, "no", NULL, "Hide who wrote a post."),
    OF_LIST(archive_policy, SETTING_CHOICE, "public", "never|private|public",
            "Who may read the archive; never: there is none."),
    OF_LIST(archive_rendering_mode, SETTING_CHOICE, "text", "text|markdown",
            "How HyperKitty shows the text of posts; it asks for this over REST."),
    OWN_OF_LIST(archivers, SETTING_WORDS, "", NULL,
                "Names of the archivers that get the posts; none: none of them; empty: all that are "
                "configured.",
                .example = "local"),
    OF_LIST(autorespond_owner, SETTING_CHOICE, "none", AUTORESPOND,
            "Whether a program answers mail to the owners with autoresponse_owner_text: not at all; it does, and the "
            "mail is thrown away; it does, and the mail goes on."),
    OF_LIST(autorespond_postings, SETTING_CHOICE, "none", AUTORESPOND,
            "The same for posts, with autoresponse_postings_text. Posts that are rejected or discarded get none."),
    OF_LIST(autorespond_requests, SETTING_CHOICE, "none", AUTORESPOND,
            "The same for mail to the -request address, with autoresponse_request_text."),
    OF_LIST(autoresponse_grace_period, SETTING_INTERVAL, "90d", NULL,
            "Nobody gets the same automatic answer again before so much time has passed; 0: each mail is answered."),
    OF_LIST(autoresponse_owner_text, SETTING_TEXT, "", NULL,
            "The answer to mail to the owners; empty: a sentence of ours.", .placeholders = LIST_PLACEHOLDERS,
            .example = "We answer within a week. For help, write to $request_address"),
    OF_LIST(autoresponse_postings_text, SETTING_TEXT, "", NULL, "The answer to posts; empty: a sentence of ours.",
            .placeholders = LIST_PLACEHOLDERS, .example = "Your message goes to everybody on $display_name."),
    OF_LIST(autoresponse_request_text, SETTING_TEXT, "", NULL,
            "The answer to mail to the -request address; empty: a sentence of ours.", .placeholders = LIST_PLACEHOLDERS,
            .example = "To join, write to $join_address"),
    OWN_OF_LIST(
        bounce_complaint_action, SETTING_CHOICE, "unsubscribe", "unsubscribe|disable|ignore",
        "What happens to members who report a post as spam. Who is unsubscribed gets a letter by which it can be "
        "undone."),
    OF_LIST(bounce_info_stale_after, SETTING_INTERVAL, "7d", NULL,
            "A member who did not bounce for so long has a clean slate."),
    OWN_OF_LIST(bounce_matching_headers, SETTING_TEXT, "", NULL,
                "Lines FIELD: PATTERN; posts with such a field are held. Lines that begin with # are comments.",
                .max = LIST_PATTERNS_MAX, .example = "X-Spam-Flag: ^yes"),
    OF_LIST(bounce_notify_owner_on_bounce_increment, SETTING_BOOL, "no", NULL,
            "Tell the owners each time a member's bounce score grows."),
    OF_LIST(bounce_notify_owner_on_disable, SETTING_BOOL, "yes", NULL,
            "Tell the owners when a member gets no more mail because of bounces."),
    OF_LIST(bounce_notify_owner_on_removal, SETTING_BOOL, "yes", NULL,
            "Tell the owners when a member is removed because of bounces."),
    OF_LIST(bounce_score_threshold, SETTING_INTEGER, "5", NULL,
            "At so many points (one a day at most) a member is probed and gets no more mail; 0: never.",
            .unit = "points"),
    OWN_OF_LIST(bounce_temporary_weight, SETTING_INTEGER, "25", NULL,
                "What a failure that may pass (a full mailbox) counts; 0: nothing.", .unit = "hundredths of a point"),
    OF_LIST(bounce_you_are_disabled_warnings, SETTING_INTEGER, "3", NULL,
            "How often a member who gets no more mail is told so before being removed; 0: removed at once.",
            .unit = "mails"),
    OF_LIST(bounce_you_are_disabled_warnings_interval, SETTING_INTERVAL, "7d", NULL,
            "The time between these warnings, and from the last one to the removal."),
    OWN_OF_LIST(
        burst_factor, SETTING_INTEGER, "0", NULL,
        "Hold posts of somebody, and posts to the list, beyond so many times as many within an hour as in the "
        "busiest hour before; 0: their number does not matter. The list itself is judged when it was watched for a "
        "week.",
        .unit = "times"),
    OWN_OF_LIST(burst_least, SETTING_INTEGER, "10", NULL,
                "With burst_factor: so many posts within an hour are never too many.", .unit = "posts"),
    OF_LIST(collapse_alternatives, SETTING_BOOL, "yes", NULL,
            "With filter_content: of parts that say the same in several ways, keep the first."),
    OF_LIST(convert_html_to_plaintext, SETTING_BOOL, "no", NULL, "With filter_content: make text of HTML."),
    OF_LIST(default_member_action, SETTING_CHOICE, "defer", ACTION_WORDS("|"),
            "What happens to members' posts; defer: what the other rules say, in the end accepted."),
    OF_LIST(default_nonmember_action, SETTING_CHOICE, "hold", ACTION_WORDS("|"), "What happens to posts of others."),
    OWN_OF_LIST(defragment, SETTING_CHOICE, "default", "default|off|on",
                "Put the parts of a message (message/partial) together; default: as the list's transport says."),
    OF_LIST(description, SETTING_LINE, "", NULL, "One line about the list.", .example = "News of the choir"),
    OWN_OF_LIST(digest_hour, SETTING_CHOICE, "12", "0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23",
                "The hour of the day, in local time, at which the digest is sent."),
    OWN_OF_LIST(digest_is_default, SETTING_BOOL, "no", NULL,
                "Give new members who chose no delivery mode MIME digests in place of each post."),
    OWN_OF_LIST(digest_period, SETTING_CHOICE, "daily", "daily|weekly|monthly",
                "How often the digest is sent by time: each day, on Mondays, or on the first day of a month."),
    OWN_OF_LIST(digest_post_threshold, SETTING_INTEGER, "0", NULL,
                "Send the digest as soon as so many posts wait for it; 0: their number does not matter.",
                .unit = "posts"),
    OF_LIST(digest_send_periodic, SETTING_BOOL, "yes", NULL,
            "Send the digest by time, if posts wait for it; else only by size or number."),
    OF_LIST(digest_size_threshold, SETTING_INTEGER, "30", NULL,
            "Send the digest as soon as the posts that wait for it have this many KiB; 0: their size does not matter.",
            .unit = "KiB"),
    OF_LIST(digest_volume_frequency, SETTING_CHOICE, "monthly", "yearly|monthly|quarterly|weekly|daily",
            "How often the digest begins a new volume, with issue 1."),
    OF_LIST(digests_enabled, SETTING_BOOL, "yes", NULL,
            "Collect posts for members who want digests; no: such members get each post."),
    OF_LIST(discard_these_nonmembers, SETTING_WORDS, "", PATTERNS,
            "Addresses, patterns that begin with ^, and @LIST for the members of a list, whose posts are dropped "
            "without a word.",
            .example = "^.*@spam\\.example$"),
    OF_LIST(display_name, SETTING_LINE, "$Name", NULL, "The list's name for people.", .example = "Choir"),
    OWN_OF_LIST(dmarc_addresses, SETTING_WORDS, "", PATTERNS,
                "Addresses, or patterns that begin with ^, of authors to whom dmarc_mitigate_action always applies.",
                .example = "^.*@bank\\.example$"),
    OWN_OF_LIST(
        dmarc_keep_signed, SETTING_BOOL, "no", NULL,
        "With munge_from and wrap_message: leave posts as they are whose author's domain signed them (DKIM), where "
        "the signature still holds in the copies; subject_prefix, msg_header and msg_footer break most."),
    OF_LIST(dmarc_mitigate_action, SETTING_CHOICE, "no_mitigation",
            "no_mitigation|munge_from|wrap_message|reject|discard",
            "What happens to posts from a domain whose DMARC policy (RFC 9989) is reject or quarantine, and to those "
            "whose From cannot be read with certainty: the copies come from the list's address, the post goes inside a "
            "message of the list, it is sent back, or dropped without a word."),
    OF_LIST(dmarc_mitigate_unconditionally, SETTING_BOOL, "no", NULL,
            "Do so (munge_from, wrap_message) with all posts, whatever the policy is."),
    OF_LIST(dmarc_moderation_notice, SETTING_TEXT, "", NULL,
            "The reason that is given for a post that dmarc_mitigate_action sends back; empty: a sentence of ours.",
            .example = "Please write from another address."),
    OWN_OF_LIST(
        dmarc_without_answer, SETTING_CHOICE, "mitigate", "mitigate|pass|wait",
        "What happens to a post when no name server tells the policy: as if there were one (but never sent back or "
        "dropped), as if there were none, or it waits, for up to a day."),
    OF_LIST(dmarc_wrapped_message_text, SETTING_TEXT, "", NULL, "Text before a post that wrap_message put inside.",
            .example = "The author’s post is attached."),
    OF_LIST(emergency, SETTING_BOOL, "no", NULL, "Hold every post."),
    OWN_OF_SITE(family, SETTING_LINE, "", NULL,
                "Name of the section style.NAME, with fixed or limited settings, whose values the list keeps; empty: "
                "it is free. A list that is made in such a style gets it by itself.",
                .example = "students"),
    OF_LIST(filter_action, SETTING_CHOICE, "discard", "discard|reject|forward|preserve",
            "What happens to posts of which filter_content leaves nothing: dropped without a word, sent back, sent to "
            "the owners, or kept in the queue shunt for the people who run the site."),
    OF_LIST(filter_content, SETTING_BOOL, "no", NULL,
            "Take out of posts what filter_types, pass_types and the others say."),
    OF_LIST(filter_extensions, SETTING_WORDS, "", NULL,
            "Endings of file names (exe, bat) whose parts are taken out. Any name counts that a mail program may give "
            "the file.",
            .example = "exe,bat,scr"),
    OWN_OF_LIST(filter_report, SETTING_BOOL, "no", NULL, "Say below the text of a post which parts were taken out."),
    OF_LIST(filter_types, SETTING_WORDS, "", NULL, "Types of parts (image, application/pdf) that are taken out.",
            .example = "image,application/pdf"),
    OF_LIST(first_strip_reply_to, SETTING_BOOL, "no", NULL, "Remove the Reply-To that a post comes with."),
    OF_LIST(forward_unrecognized_bounces_to, SETTING_CHOICE, "administrators", "discard|administrators|site_owner",
            "Who gets bounces that name no recipient."),
    OWN_OF_LIST(fragment_expiry, SETTING_CHOICE, "hold", "hold|pass",
                "What happens to parts whose message did not become complete: held, or passed on as they are."),
    OF_LIST(gateway_to_mail, SETTING_BOOL, "no", NULL,
            "Put new articles of linked_newsgroup on the list; the first look only notes where the group stands."),
    OF_LIST(gateway_to_news, SETTING_BOOL, "no", NULL, "Post to linked_newsgroup what is posted to the list."),
    OF_LIST(hold_these_nonmembers, SETTING_WORDS, "", PATTERNS,
            "Addresses, patterns that begin with ^, and @LIST for the members of a list, whose posts are held.",
            .example = "newcomer@example.org"),
    OF_LIST(include_rfc2369_headers, SETTING_BOOL, "yes", NULL, "Add List-Help, List-Post and the others of RFC 2369."),
    OF_LIST(info, SETTING_TEXT, "", NULL, "More about the list, several lines.",
            .example = "For the choir, its friends and neighbours."),
    OF_SITE(linked_newsgroup, SETTING_LINE, "", NEWSGROUP, "The news group that belongs to the list; empty: none.",
            .example = "comp.mail.lists"),
    OF_LIST(max_days_to_hold, SETTING_INTEGER, "0", NULL,
            "Posts that nobody decided about are discarded when they were held for so long; 0: never.", .unit = "days"),
    OWN_OF_SITE(
        max_held_size, SETTING_INTEGER, "100", NULL,
        "Room for posts that wait for the moderators. What would be held beyond is rejected, and its sender told "
        "to post it later; posts of strangers get half of the room, so that they never keep out those of members. "
        "0: no limit.",
        .unit = "MiB"),
    OF_LIST(max_message_size, SETTING_INTEGER, "40", NULL, "Hold posts larger than this; 0: no limit.", .unit = "KiB"),
    OF_LIST(max_num_recipients, SETTING_INTEGER, "10", NULL,
            "Hold posts with as many recipients in To and Cc, or more; 0: no limit.", .unit = "recipients"),
    OF_LIST(member_roster_visibility, SETTING_CHOICE, "moderators", "moderators|members|public",
            "Who may see who is on the list; addresses are shown of those who do not hide theirs."),
    OF_LIST(moderator_password, SETTING_PASSWORD, "", NULL,
            "A post with this password in a field Approved, or in its first line as \"Approved: PASSWORD\", passes "
            "without moderation. The password is taken out of it, kept only as a hash, and never shown; empty: none.",
            .example = "a-long-phrase-of-yours"),
    OWN_OF_LIST(msg_footer, SETTING_TEXT, "", NULL,
                "Text behind every copy of a post; $user_... only with personalize.",
                .placeholders = LIST_POST_PLACEHOLDERS, .example = "To leave: mail to $list_name-leave@$mail_host"),
    OWN_OF_LIST(msg_header, SETTING_TEXT, "", NULL,
                "Text before every copy of a post; $user_... only with personalize.",
                .placeholders = LIST_POST_PLACEHOLDERS, .example = "A post to $display_name"),
    OF_SITE(newsgroup_moderation, SETTING_CHOICE, "none", "none|open_moderated|moderated",
            "Whether the news group of the list is moderated: with both words articles are posted as approved by the "
            "list; moderated: all posts are held, too."),
    OF_LIST(nntp_prefix_subject_too, SETTING_BOOL, "yes", NULL,
            "Post to the news group with subject_prefix, too; else under the author's Subject."),
    OWN_OF_LIST(notices, SETTING_INTEGER, "0", NULL,
                "Parts of a message wait for the others for half of this time; 0: as the site says.", .unit = "days"),
    OWN_OF_LIST(owner_chain, SETTING_LINE, "default-owner-chain", NULL,
                "The rules for mail to the owners: default-owner-chain, or the NAME of a section [chain.NAME].",
                .example = "scanned"),
    OWN_OF_LIST(
        owner_pipeline, SETTING_LINE, "default-owner-pipeline", NULL,
        "The handlers for mail to the owners: default-owner-pipeline, or the NAME of a section [pipeline.NAME].",
        .example = "scanned"),
    OWN_OF_LIST(partial_action, SETTING_CHOICE, "hold", "hold|refuse|pass",
                "What happens to parts of messages (message/partial) when they are not put together."),
    OF_LIST(pass_extensions, SETTING_WORDS, "", NULL,
            "Endings of file names that alone may stay; empty: all that are not in filter_extensions.",
            .example = "txt,pdf"),
    OF_LIST(pass_types, SETTING_WORDS, "", NULL,
            "Types that alone may stay (multipart is one, too); empty: all that are not in filter_types.",
            .example = "multipart,text/plain"),
    OF_LIST(personalize, SETTING_CHOICE, "none", "none|individual|full",
            "Whether each member gets a copy of their own, with their name and address in msg_header and msg_footer; "
            "full: also in To."),
    OWN_OF_LIST(posting_chain, SETTING_LINE, "default-posting-chain", NULL,
                "The rules for posts: default-posting-chain, or the NAME of a section [chain.NAME].",
                .example = "strict"),
    OF_LIST(posting_pipeline, SETTING_LINE, "default-posting-pipeline", NULL,
            "The handlers for posts: default-posting-pipeline, or the NAME of a section [pipeline.NAME].",
            .example = "plain"),
    OF_LIST(preferred_language, SETTING_LINE, "en", LANGUAGE,
            "The language of what the list says, one that GNU Mailman knows.", .example = "de"),
    OWN_OF_LIST(probe_add_dsn, SETTING_BOOL, "yes", NULL,
                "Attach to a probe the mail that came back, or its header where it is large."),
    OF_LIST(process_bounces, SETTING_BOOL, "yes", NULL, "Count bounces against members."),
    OWN_OF_LIST(refuse_message_size, SETTING_INTEGER, "5120", NULL,
                "Refuse posts larger than this at the door, in place of holding them; less than twice max_message_size "
                "counts as that. 0, or without max_message_size: take all that the site takes.",
                .unit = "KiB"),
    OF_LIST(reject_these_nonmembers, SETTING_WORDS, "", PATTERNS,
            "Addresses, patterns that begin with ^, and @LIST for the members of a list, whose posts are sent back.",
            .example = "^.*@shop\\.example$"),
    OF_LIST(reply_goes_to_list, SETTING_CHOICE, "no_munging",
            "no_munging|point_to_list|explicit_header|explicit_header_only",
            "Where replies go besides the author's own Reply-To (first_strip_reply_to takes that out): nowhere, to the "
            "list, or to reply_to_address; explicit_header_only: so, and personalize = full adds no Cc to the list."),
    OF_LIST(reply_to_address, SETTING_LINE, "", ADDRESS, "The address for explicit_header and explicit_header_only.",
            .example = "office@example.org"),
    OF_LIST(require_explicit_destination, SETTING_BOOL, "yes", NULL,
            "Hold posts that do not name the list in To or Cc."),
    OF_LIST(respond_to_post_requests, SETTING_BOOL, "yes", NULL, "Tell authors when their post is held."),
    OF_LIST(send_goodbye_message, SETTING_BOOL, "yes", NULL,
            "Write to members who leave. Where this is "
            "off, those who left by mail, a link or a complaint get a short letter by which they can undo it."),
    OF_LIST(send_welcome_message, SETTING_BOOL, "yes", NULL, "Write to new members."),
    OWN_OF_LIST(
        sender_confirmation, SETTING_BOOL, "no", NULL,
        "Ask strangers whose posts would be held, accepted or deferred (default_nonmember_action) to confirm the "
        "address in From by an answer to a letter, which sends the post to the list; without an answer it is "
        "discarded after pending_request_life."),
    OF_LIST(subject_prefix, SETTING_LINE, "[$Name] ", NULL,
            "Put before the Subject of posts; empty: nothing. %d is the number of the post, %05d with zeros before it.",
            .example = "[test] "),
    OF_LIST(subscription_policy, SETTING_CHOICE, "confirm", POLICIES,
            "What joining needs: open, only that the address was confirmed once; confirm, a confirmation by mail each "
            "time; moderate, a moderator's consent; or both."),
    OWN_OF_LIST(topics, SETTING_WORDS, "", NULL,
                "Topics, NAME: PATTERN; posts whose Subject or Keywords fit get the name in X-Topics, and members who "
                "chose topics get the posts of those alone.",
                .max = TOPICS_MAX, .example = "concerts: concert|rehearsal"),
    OWN_OF_LIST(topics_bodylines_limit, SETTING_INTEGER, "5", NULL,
                "Look for Subject: and Keywords: in so many first lines of the text, too.", .unit = "lines"),
    OWN_OF_LIST(topics_enabled, SETTING_BOOL, "no", NULL, "Mark posts by topic, and let members choose topics."),
    OWN_OF_SITE(transport, SETTING_LINE, "", NULL, "Name of the transport that delivers; empty: the default one.",
                .example = "relay"),
    OF_LIST(unsubscription_policy, SETTING_CHOICE, "confirm", POLICIES,
            "What leaving needs: open, nothing; confirm, a confirmation by mail, which a signed link or address is "
            "too; moderate, a moderator's consent; or both. When too many of one mail domain leave at once by links or "
            "complaints, further ones wait for a moderator in any case (listrunner-command(8))."),
    {.name = NULL},
};

static void *field(const List *list, const ListSetting *setting)
{
    return (void *)list_value(list->settings, setting);
}

const ListSetting *list_setting_find(const char *name, GError **error)
{
    for (const ListSetting *setting = list_settings; setting->name; setting++)
        if (strcmp(setting->name, name) == 0)
            return setting;
    fail(error, FAIL_MISSING, "there is no list setting \"%s\"", name);
    return NULL;
}

char *list_setting_fallback(const ListSetting *setting, const char *list_name)
{
    g_autoptr(GString) text = g_string_new(setting->fallback);
    g_autofree char *first = g_utf8_strup(list_name, g_utf8_next_char(list_name) - list_name);
    g_autofree char *name = g_strconcat(first, g_utf8_next_char(list_name), NULL);
    g_string_replace(text, "$Name", name, 0);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- words ---- */

static void add_word(GPtrArray *words, GString *word)
{
    g_autofree char *trimmed = g_strstrip(g_strdup(word->str));
    if (*trimmed)
        g_ptr_array_add(words, g_steal_pointer(&trimmed));
    g_string_truncate(word, 0);
}

char **list_setting_words(const char *text)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) word = g_string_new(NULL);
    for (const char *at = text; *at; at++) {
        if (at[0] == '\\' && at[1] == ',')
            g_string_append_c(word, *++at);
        else if (*at == ',' || *at == '\n' || *at == '\r')
            add_word(words, word);
        else
            g_string_append_c(word, *at);
    }
    add_word(words, word);
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

static char *words_join(char *const *words)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (; words && *words; words++) {
        g_autoptr(GString) word = g_string_new(*words);
        g_string_replace(word, ",", "\\,", 0);
        g_string_append_printf(text, "%s%s", text->len ? "," : "", word->str);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- checking ---- */

static bool refuse(const ListSetting *setting, const char *value, const char *allowed, GError **error)
{
    return fail(error, FAIL_NEVER, "%s: \"%s\" is not allowed; allowed: %s", setting->name, value, allowed);
}

static char *canonical_bool(const ListSetting *setting, const char *value, GError **error)
{
    static const char *const yes[] = {"yes", "true", "on", "1", NULL}, *const no[] = {"no", "false", "off", "0", NULL};
    g_autofree char *lower = g_ascii_strdown(value, -1);
    if (g_strv_contains(yes, lower))
        return g_strdup("yes");
    if (g_strv_contains(no, lower))
        return g_strdup("no");
    refuse(setting, value, "yes, no", error);
    return NULL;
}

static char *canonical_integer(const ListSetting *setting, const char *value, GError **error)
{
    int64_t number, max = setting->max > 0 ? setting->max : LIST_INTEGER_MAX;
    if (g_ascii_string_to_signed(value, 10, setting->min, max, &number, NULL))
        return g_strdup_printf("%" G_GINT64_FORMAT, number);
    g_autofree char *allowed =
        g_strdup_printf("a whole number%s%s from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                        setting->unit ? " of " : "", setting->unit ? setting->unit : "", setting->min, max);
    refuse(setting, value, allowed, error);
    return NULL;
}

/* In days rather than weeks, as Mailman writes them. */
static char *interval_text(int64_t us)
{
    return us > 0 && us % DAY == 0 ? g_strdup_printf("%" G_GINT64_FORMAT "d", us / DAY) : config_duration_text(us);
}

static char *canonical_interval(const ListSetting *setting, const char *value, GError **error)
{
    int64_t us;
    if (config_duration_parse(value, &us) && us <= INTERVAL_MAX)
        return interval_text(us);
    refuse(setting, value, "a time such as 30m, 36h, 7d, at most 3650d (a number alone is seconds)", error);
    return NULL;
}

static int choice_number(const ListSetting *setting, const char *value)
{
    g_auto(GStrv) choices = g_strsplit(setting->choices, "|", -1);
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], value) == 0)
            return i;
    return -1;
}

static char *choice_text(const ListSetting *setting, int number)
{
    g_auto(GStrv) choices = g_strsplit(setting->choices, "|", -1);
    return number >= 0 && number < (int)g_strv_length(choices) ? g_strdup(choices[number]) : g_strdup("");
}

static char *canonical_choice(const ListSetting *setting, const char *value, GError **error)
{
    g_autofree char *lower = g_ascii_strdown(value, -1);
    if (choice_number(setting, lower) >= 0)
        return g_steal_pointer(&lower);
    g_auto(GStrv) choices = g_strsplit(setting->choices, "|", -1);
    g_autofree char *allowed = g_strjoinv(", ", choices);
    refuse(setting, value, allowed, error);
    return NULL;
}

size_t list_setting_longest(const ListSetting *setting)
{
    return setting->type == SETTING_TEXT                                         ? LIST_TEXT_MAX
           : setting->type == SETTING_LINE || setting->type == SETTING_PASSWORD ? LIST_LINE_MAX
           : setting->type == SETTING_WORDS                                      ? LIST_WORD_MAX
                                                                                 : 0;
}

/* Of a value, or of one of its words. */
static bool length_allowed(const ListSetting *setting, const char *value, GError **error)
{
    size_t length = strlen(value), longest = list_setting_longest(setting);
    return longest == 0 || length <= longest ||
           fail(error, FAIL_NEVER, "%s: %zu bytes%s are not allowed; allowed: up to %zu", setting->name, length,
                setting->type == SETTING_WORDS ? " in a word" : "", longest);
}

/* A word must come back from words_join() and list_setting_words() as it was, and reach a terminal well. */
static bool word_allowed(const ListSetting *setting, const char *word, GError **error)
{
    if (!length_allowed(setting, word, error))
        return false;
    for (const char *at = word; *at; at = g_utf8_next_char(at))
        if (g_unichar_iscntrl(g_utf8_get_char(at)))
            return fail(error, FAIL_NEVER, "%s: control characters are not allowed", setting->name);
    if (g_str_has_suffix(word, "\\"))
        return refuse(setting, word, "words that do not end in a backslash ([\\] is one in a pattern)", error);
    if (g_strcmp0(setting->choices, PATTERNS) != 0 || *word == '@')
        return true;
    if (*word != '^')
        return mailbox_legible(word) || refuse(setting, word,
                                             "an address, a pattern that begins with ^, or @ and the address or "
                                             "List-Id of another list",
                                             error);
    g_autoptr(GError) broken = NULL;
    g_autoptr(GRegex) regex = g_regex_new(word, G_REGEX_CASELESS, 0, &broken);
    return regex ||
           fail(error, FAIL_NEVER, "%s: \"%s\" is no regular expression: %s", setting->name, word, broken->message);
}

/* Are there not too many? of: what is counted, for people. */
static bool number_allowed(const ListSetting *setting, int64_t number, int64_t most, const char *of, GError **error)
{
    return number <= most ||
           fail(error, FAIL_NEVER, "%s: %" G_GINT64_FORMAT " %s are too many; allowed: up to %" G_GINT64_FORMAT,
                setting->name, number, of, most);
}

static char *canonical_words(const ListSetting *setting, const char *value, GError **error)
{
    g_auto(GStrv) words = list_setting_words(value);
    int64_t patterns = 0;
    for (char **word = words; *word; word++)
        patterns += **word == '^' || **word == '@'; /* both are looked at for each post */
    if (!number_allowed(setting, g_strv_length(words), setting->max > 0 ? setting->max : LIST_WORDS_MAX, "words",
                        error) ||
        (g_strcmp0(setting->choices, PATTERNS) == 0 &&
         !number_allowed(setting, patterns, LIST_PATTERNS_MAX, "patterns and words @LIST", error)))
        return NULL;
    for (char **word = words; *word; word++)
        if (!word_allowed(setting, *word, error))
            return NULL;
    return words_join(words);
}

/* Check the rules of the setting's own form. */
static bool form_allowed(const ListSetting *setting, const char *value, GError **error)
{
    if (*value && g_strcmp0(setting->choices, ADDRESS) == 0 && !mailbox_legible(value))
        return refuse(setting, value, "an address, or nothing", error);
    if (*value && g_strcmp0(setting->choices, NEWSGROUP) == 0 &&
        (value[strspn(value, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "+-_.")] || *value == '.' || strstr(value, "..") ||
         g_str_has_suffix(value, ".")))
        return refuse(setting, value, "the name of a news group such as comp.mail.lists, or nothing", error);
    return g_strcmp0(setting->choices, LANGUAGE) != 0 || language_check(setting->name, value, error);
}

static char *canonical_text(const ListSetting *setting, const char *value, GError **error)
{
    if (!length_allowed(setting, value, error))
        return NULL;
    for (const char *at = value; *at; at = g_utf8_next_char(at)) {
        bool control = g_unichar_iscntrl(g_utf8_get_char(at));
        bool fine = setting->type == SETTING_TEXT && (*at == '\n' || *at == '\t' || *at == '\r');
        if (control && !fine) {
            fail(error, FAIL_NEVER, "%s: control characters%s are not allowed", setting->name,
                 setting->type == SETTING_LINE ? " and line ends" : "");
            return NULL;
        }
    }
    if (setting->placeholders && !placeholder_check(setting->name, value, setting->placeholders, error))
        return NULL;
    int64_t lines = 1;
    for (const char *at = value; (at = strchr(at, '\n')); at++)
        lines++;
    if (setting->max > 0 && !number_allowed(setting, lines, setting->max, "lines", error))
        return NULL;
    return form_allowed(setting, value, error) ? g_strdup(value) : NULL;
}

char *list_setting_canonical(const ListSetting *setting, const char *value, GError **error)
{
    if (!g_utf8_validate(value, -1, NULL)) {
        fail(error, FAIL_NEVER, "%s: the value is not UTF-8", setting->name);
        return NULL;
    }
    switch (setting->type) {
    case SETTING_BOOL:
        return canonical_bool(setting, value, error);
    case SETTING_INTEGER:
        return canonical_integer(setting, value, error);
    case SETTING_INTERVAL:
        return canonical_interval(setting, value, error);
    case SETTING_CHOICE:
        return canonical_choice(setting, value, error);
    case SETTING_WORDS:
        return canonical_words(setting, value, error);
    default:
        return canonical_text(setting, value, error);
    }
}

/* Line ends count for nothing: a form on a page sends CRLF. */
static char *without_cr(const char *text)
{
    g_autoptr(GString) bare = g_string_new(text);
    g_string_replace(bare, "\r", "", 0);
    return g_string_free(g_steal_pointer(&bare), FALSE);
}

bool list_setting_stays(const ListSetting *setting, const char *before, const char *value)
{
    if (setting->type == SETTING_WORDS) {
        g_auto(GStrv) old = list_setting_words(before), new = list_setting_words(value);
        return g_strv_equal((const char *const *)old, (const char *const *)new);
    }
    g_autofree char *old = without_cr(before), *new = without_cr(value);
    return (setting->type == SETTING_TEXT || setting->type == SETTING_LINE) && strcmp(old, new) == 0;
}

/* ---- in and out of the struct ---- */

static void put(List *list, const ListSetting *setting, const char *value)
{
    void *at = field(list, setting);
    switch (setting->type) {
    case SETTING_BOOL:
        *(bool *)at = strcmp(value, "yes") == 0;
        break;
    case SETTING_INTEGER:
        *(int64_t *)at = g_ascii_strtoll(value, NULL, 10);
        break;
    case SETTING_INTERVAL:
        config_duration_parse(value, at);
        break;
    case SETTING_CHOICE:
        *(int *)at = MAX(choice_number(setting, value), 0);
        break;
    case SETTING_WORDS:
        g_strfreev(*(char ***)at);
        *(char ***)at = list_setting_words(value);
        break;
    default:
        g_free(*(char **)at);
        *(char **)at = g_strdup(value);
    }
}

void list_settings_default(List *list)
{
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        g_autofree char *value = list_setting_fallback(setting, list->list_name);
        put(list, setting, value);
    }
}

void list_setting_apply(List *list, const char *name, const char *value)
{
    const ListSetting *setting = list_setting_find(name, NULL);
    if (setting)
        put(list, setting, value);
}

void list_settings_clear(List *list)
{
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        if (setting->type == SETTING_WORDS)
            g_strfreev(*(char ***)field(list, setting));
        else if (setting->type == SETTING_TEXT || setting->type == SETTING_LINE || setting->type == SETTING_PASSWORD)
            g_free(*(char **)field(list, setting));
    }
}

char *list_get(const List *list, const char *name, GError **error)
{
    const ListSetting *setting = list_setting_find(name, error);
    if (!setting)
        return NULL;
    const void *at = field(list, setting);
    switch (setting->type) {
    case SETTING_BOOL:
        return g_strdup(*(const bool *)at ? "yes" : "no");
    case SETTING_INTEGER:
        return g_strdup_printf("%" G_GINT64_FORMAT, *(const int64_t *)at);
    case SETTING_INTERVAL:
        return interval_text(*(const int64_t *)at);
    case SETTING_CHOICE:
        return choice_text(setting, *(const int *)at);
    case SETTING_WORDS:
        return words_join(*(char **const *)at);
    case SETTING_PASSWORD:
        return g_strdup("");
    default:
        return g_strdup(*(char *const *)at);
    }
}
