-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- How often somebody began to decide about a held post: what was never begun left nothing in a queue.
CREATE TABLE held_attempt (
    number @integer@ NOT NULL PRIMARY KEY REFERENCES held (number) ON DELETE CASCADE,
    attempts @integer@ NOT NULL
) @table@;

-- An older program counted none: one of its attempts may have been cut short.
INSERT INTO held_attempt (number, attempts) SELECT number, 1 FROM held;
