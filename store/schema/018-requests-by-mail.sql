-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- A notice to a moderator may be about requests as well: those with numbers from first_request to last_request; 0: none.
ALTER TABLE ticket ADD COLUMN first_request @integer@ NOT NULL DEFAULT 0;
ALTER TABLE ticket ADD COLUMN last_request @integer@ NOT NULL DEFAULT 0;

-- Tokens of requests (SHA-256, in hex) that are good no more, and why: 1 used, 2 too old or withdrawn, 3 replaced by
-- that of a newer letter. Whoever brings one is told.
CREATE TABLE spent_token (
    token @text@ NOT NULL PRIMARY KEY,
    fate @integer@ NOT NULL,
    spent_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX spent_token_spent_at ON spent_token (spent_at);

-- How many unknown tokens a source (an address, or a host) brought within an hour.
CREATE TABLE guess (
    hour @integer@ NOT NULL,
    source @text@ NOT NULL,
    guesses @integer@ NOT NULL,
    PRIMARY KEY (hour, source)
) @clustered@;
