-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- What counts where neither member, address nor user prefers anything: at most one row, NULL where nothing was set.
CREATE TABLE site_preference (
    one @integer@ NOT NULL PRIMARY KEY CHECK (one = 1),
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    preferred_language @text@
) @clustered@;
-- When the member was last warned that mail bounces; 0: never.
ALTER TABLE bounce_score ADD COLUMN warned_at @integer@ NOT NULL DEFAULT 0;
