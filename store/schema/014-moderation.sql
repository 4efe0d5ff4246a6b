-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Who was told of a held post: 0 no moderator yet, 1 they got a notice about it alone, 2 one about several.
ALTER TABLE held ADD COLUMN told @integer@ NOT NULL DEFAULT 0;
UPDATE held SET told = 2;
CREATE INDEX held_untold ON held (list, number) WHERE told = 0;
-- Nothing is outside the store while somebody decides: lists/work.h makes both or neither.
DROP TABLE held_attempt;

-- When the moderators of a list were last told of a held post.
CREATE TABLE held_notice (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    told_at @integer@ NOT NULL
) @table@;

-- A notice to a moderator: who answers it has its token (this is the SHA-256, in hex) and may decide about the list's
-- held posts with numbers from first to last.
CREATE TABLE ticket (
    token @text@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    moderator @text@ NOT NULL,
    first @integer@ NOT NULL,
    last @integer@ NOT NULL,
    expires_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX ticket_list ON ticket (list);

-- When an address last got the automatic answer of a list (kind: owner, postings, requests), and for which entry: that
-- entry may come again after a crash, and then gets it again.
CREATE TABLE autoresponse (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    kind @text@ NOT NULL,
    address @text@ NOT NULL,
    entry @text@ NOT NULL,
    answered_at @integer@ NOT NULL,
    PRIMARY KEY (list, kind, address)
) @clustered@;

-- What the timer does: one row a job, written at its end.
CREATE TABLE job (
    name @text@ NOT NULL PRIMARY KEY,
    started_at @integer@ NOT NULL,
    ended_at @integer@ NOT NULL,
    due_at @integer@ NOT NULL,
    done @integer@ NOT NULL,
    runs @integer@ NOT NULL,
    failures @integer@ NOT NULL,
    fault @text@ NOT NULL
) @clustered@;

-- Texts of letters of a list (place is its List-Id), a domain (its name) or the site (""), by Mailman's names. uri says
-- where the text comes from, and text is what was there when it was fetched; without uri, text is all there is.
CREATE TABLE template (
    name @text@ NOT NULL,
    place @text@ NOT NULL,
    language @text@ NOT NULL,
    uri @text@ NOT NULL,
    username @text@ NOT NULL,
    password @text@ NOT NULL,
    text @text@,
    fetched_at @integer@ NOT NULL,
    fault @text@ NOT NULL,
    PRIMARY KEY (place, name, language)
) @clustered@;
