/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/desk_group.h"

#include "runners/web/theme.h"

const DeskGroup desk_groups[] = {
    {"about", N_("About the list"),
     "display_name description info preferred_language advertised member_roster_visibility"},
    {"joining", N_("Joining and leaving"),
     "subscription_policy unsubscription_policy send_welcome_message send_goodbye_message admin_notify_mchanges"},
    {"moderation", N_("Who may post, and which posts wait"),
     "default_member_action default_nonmember_action accept_these_nonmembers hold_these_nonmembers "
     "reject_these_nonmembers discard_these_nonmembers sender_confirmation emergency administrivia "
     "require_explicit_destination acceptable_aliases max_message_size refuse_message_size max_num_recipients "
     "bounce_matching_headers burst_factor burst_least moderator_password"},
    {"waiting", N_("Posts that wait"),
     "admin_immed_notify admin_notify_held_with_attachment respond_to_post_requests max_days_to_hold max_held_size"},
    {"posts", N_("How posts look"),
     "subject_prefix msg_header msg_footer personalize anonymous_list reply_goes_to_list reply_to_address "
     "first_strip_reply_to include_rfc2369_headers allow_list_posts"},
    {"content", N_("What is taken out of posts"),
     "filter_content filter_types pass_types filter_extensions pass_extensions collapse_alternatives "
     "convert_html_to_plaintext filter_action filter_report"},
    {"dmarc", N_("Senders whose domain has a DMARC policy"),
     "dmarc_mitigate_action dmarc_mitigate_unconditionally dmarc_addresses dmarc_keep_signed dmarc_without_answer "
     "dmarc_moderation_notice dmarc_wrapped_message_text"},
    {"digests", N_("Digests"),
     "digests_enabled digest_is_default digest_send_periodic digest_period digest_hour digest_size_threshold "
     "digest_post_threshold digest_volume_frequency"},
    {"topics", N_("Topics"), "topics_enabled topics topics_bodylines_limit"},
    {"archive", N_("Archive"), "archive_policy archivers archive_rendering_mode"},
    {"bounces", N_("Mail that comes back"),
     "process_bounces bounce_score_threshold bounce_temporary_weight bounce_info_stale_after "
     "bounce_you_are_disabled_warnings bounce_you_are_disabled_warnings_interval bounce_complaint_action "
     "bounce_notify_owner_on_bounce_increment bounce_notify_owner_on_disable bounce_notify_owner_on_removal "
     "forward_unrecognized_bounces_to probe_add_dsn"},
    {"answers", N_("Automatic answers"),
     "autorespond_postings autoresponse_postings_text autorespond_owner autoresponse_owner_text autorespond_requests "
     "autoresponse_request_text autoresponse_grace_period"},
    {"news", N_("News group"),
     "linked_newsgroup gateway_to_mail gateway_to_news nntp_prefix_subject_too newsgroup_moderation"},
    {"delivery", N_("Rules, handlers and delivery"),
     "posting_chain posting_pipeline owner_chain owner_pipeline family transport defragment partial_action "
     "fragment_expiry "
     "notices"},
    {NULL, NULL, NULL},
};

const DeskGroup *desk_group_find(const char *path)
{
    for (const DeskGroup *group = desk_groups; group->path; group++)
        if (g_str_equal(group->path, path))
            return group;
    return NULL;
}

char **desk_group_names(const DeskGroup *group)
{
    return g_strsplit(group->names, " ", -1);
}
