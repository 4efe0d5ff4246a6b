/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/rights.h"

const MailRight mail_rights[COMMAND_WORDS] = {
    [COMMAND_JOIN] = {"join", MAY_ANYBODY, MAY_DECIDE,
                      "the address answers a letter, unless it did so once and subscription_policy is open; then a "
                      "moderator, where the policy says so"},
    [COMMAND_LEAVE] = {"leave", MAY_ANYBODY, MAY_DECIDE,
                       "the address answers a letter, or mail comes to an address that we signed for it; then a "
                       "moderator, where unsubscription_policy says so"},
    [COMMAND_CONFIRM] = {"confirm", MAY_ANYBODY, BY_PERSON,
                         "whoever brings the token, for the address that it was sent to, once"},
    [COMMAND_HELP] = {"help", MAY_ANYBODY, MAY_ANYBODY, "the commands are no secret"},
    [COMMAND_ECHO] = {"echo", MAY_ANYBODY, MAY_ANYBODY, "the text goes back if From names the sender of the envelope"},
    [COMMAND_SET] = {"set", MAY_ANYBODY, MAY_PERSON, "the member answers a letter; what is set is shown to it alone"},
    [COMMAND_CHANGE] = {"change", MAY_ANYBODY, BY_SITE | BY_PERSON, "both addresses answer letters"},
    [COMMAND_WHO] = {"who", MAY_ANYBODY, MAY_ANYBODY,
                     "the address in From gets it, if member_roster_visibility shows members to that address"},
    [COMMAND_INFO] = {"info", MAY_ANYBODY, MAY_ANYBODY, "description and info of the list"},
    [COMMAND_LISTS] = {"lists", MAY_ANYBODY, MAY_ANYBODY, "advertised lists of the domain"},
    [COMMAND_GET] = {"get", MAY_ANYBODY, MAY_ANYBODY,
                     "the address in From gets posts of the archive; with archive_policy private if it is a member's"},
};

_Static_assert(G_N_ELEMENTS(mail_rights) == COMMAND_WORDS, "each command has a row");
