-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- Parts of messages that are put together (message/partial). A set is kept
-- for a while after it has ended, so that what comes late is known.

CREATE TABLE fragment_set (
    key @text@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    sender @text@ NOT NULL,
    id @text@ NOT NULL,
    host @text@ NOT NULL,
    state @integer@ NOT NULL,
    settled @integer@ NOT NULL,
    total @integer@ NOT NULL,
    parts @integer@ NOT NULL,
    octets @integer@ NOT NULL,
    opened_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    ended_at @integer@ NOT NULL,
    joined_by @text@,
    reason @text@
) @clustered@;
-- For the limits: state 0 is open. Each has what its question asks for.
CREATE INDEX fragment_set_host ON fragment_set (host, state, octets, parts, opened_at);
CREATE INDEX fragment_set_list ON fragment_set (list, state);
CREATE INDEX fragment_set_sender ON fragment_set (sender, state);
CREATE INDEX fragment_set_ended ON fragment_set (state, ended_at);

CREATE TABLE fragment_part (
    fragment_set @text@ NOT NULL REFERENCES fragment_set (key) ON DELETE CASCADE,
    number @integer@ NOT NULL,
    entry @text@ NOT NULL UNIQUE,
    octets @integer@ NOT NULL,
    digest @text@ NOT NULL,
    PRIMARY KEY (fragment_set, number)
) @clustered@;
