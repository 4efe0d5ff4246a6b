-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- What somebody asked for and what waits for an answer: of the person (token is SHA-256 of what was sent, in hex) or of
-- a moderator (token is NULL). One row for a person, a list and what is asked.
CREATE TABLE pending (
    number @integer@ NOT NULL PRIMARY KEY,
    kind @integer@ NOT NULL,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    address @text@ NOT NULL,
    display_name @text@,
    facts @integer@ NOT NULL,
    waits_for @integer@ NOT NULL,
    token @text@ UNIQUE,
    made_at @integer@ NOT NULL,
    asked_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    UNIQUE (list, kind, folded)
) @table@;
CREATE INDEX pending_expires_at ON pending (expires_at);

-- Entries that a decision leaves behind, until they are in their queues. entry is NULL, or names the entry of a runner
-- whose hop brings them there. touched is 1 when somebody else than who left the row began to store it.
CREATE TABLE outbox (
    number @integer@ NOT NULL PRIMARY KEY,
    entry @text@,
    queue @text@ NOT NULL,
    meta @text@ NOT NULL,
    recipients @text@ NOT NULL,
    message @blob@ NOT NULL,
    made_at @integer@ NOT NULL,
    touched @integer@ NOT NULL
) @table@;
CREATE INDEX outbox_entry ON outbox (entry);

INSERT INTO counter (name, value) VALUES ('pending', 0) ON CONFLICT (name) DO NOTHING;
INSERT INTO counter (name, value) VALUES ('outbox', 0) ON CONFLICT (name) DO NOTHING;
