-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Sessions of people on the pages, and the mailed links that begin them (store/people/session.h). token is the SHA-256 of what
-- a browser or a letter has, in hex. kind is 0 for a link and 1 for a session. agent is what the browser says it is.
CREATE TABLE session (
    key @integer@ NOT NULL PRIMARY KEY,
    token @text@ NOT NULL,
    kind @integer@ NOT NULL,
    folded @text@ NOT NULL,
    address @text@ NOT NULL,
    agent @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    seen_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL
) @table@;
CREATE UNIQUE INDEX session_token ON session (token);
CREATE INDEX session_who ON session (folded, kind);
CREATE INDEX session_expires_at ON session (expires_at);
