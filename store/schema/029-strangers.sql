-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Nonmembers who are known only because a post of theirs was held, and when the last one was; and addresses that were
-- written down for that alone (store/people/stranger.h).
CREATE TABLE stranger (
    member @integer@ NOT NULL PRIMARY KEY REFERENCES member (key) ON DELETE CASCADE,
    seen_at @integer@ NOT NULL
) @table@;
CREATE INDEX stranger_seen_at ON stranger (seen_at);
CREATE TABLE stranger_address (
    address @integer@ NOT NULL PRIMARY KEY REFERENCES address (key) ON DELETE CASCADE
) @table@;
CREATE INDEX held_sender ON held (list, lower(sender));
