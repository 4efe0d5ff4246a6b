-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- By which way who asked to leave goes (a number of lists/people/leave.h). 0, in requests from before: by mail.
ALTER TABLE pending ADD COLUMN way @integer@ NOT NULL DEFAULT 0;

-- Who left a list by a way that can be undone, when, and with which options (store/people/departure.h). token is the SHA-256 of
-- what undoes it, in hex; NULL: nothing does. An address that was a member twice, by itself and as its user's, has two
-- rows with the same token. counts is 1 where a program may have done it.
CREATE TABLE departure (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    domain @text@ NOT NULL,
    address @text@ NOT NULL,
    way @integer@ NOT NULL,
    counts @integer@ NOT NULL,
    left_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    token @text@,
    by_person @integer@ NOT NULL,
    given_name @text@,
    moderation_action @integer@,
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    preferred_language @text@,
    topics @text@,
    topics_unmatched @integer@,
    vacation_begins_at @integer@,
    vacation_ends_at @integer@,
    vacation_begun @integer@
) @table@;
CREATE INDEX departure_counts ON departure (list, domain, left_at) WHERE counts = 1;
CREATE INDEX departure_list ON departure (list, folded);
CREATE INDEX departure_who ON departure (folded);
CREATE INDEX departure_token ON departure (token);
CREATE INDEX departure_expires_at ON departure (expires_at);

-- Of which mail domain too many left a list at once (store/people/leave_brake.h): until closed_until further ones wait. waiting
-- is how many wait since closed_at. told_at: when the owners were last told; 0: not yet.
CREATE TABLE leave_brake (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    domain @text@ NOT NULL,
    closed_at @integer@ NOT NULL,
    closed_until @integer@ NOT NULL,
    gone @integer@ NOT NULL,
    waiting @integer@ NOT NULL,
    told_at @integer@ NOT NULL,
    PRIMARY KEY (list, domain)
) @clustered@;
CREATE INDEX leave_brake_closed_until ON leave_brake (closed_until);
