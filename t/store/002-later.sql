-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- The step of a later version, as tests have it: it adds what README.md of store/ allows it to add beside the version
-- before, which knows the first step alone.

ALTER TABLE member ADD COLUMN later_member @integer@ NOT NULL DEFAULT 7;
CREATE TABLE later (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    posts @integer@ NOT NULL
) @clustered@;
INSERT INTO later (list, posts) SELECT key, post_id FROM list;
CREATE INDEX later_member_joined_at ON member (joined_at);

INSERT INTO schema_least (number, least) VALUES (2, 1);
