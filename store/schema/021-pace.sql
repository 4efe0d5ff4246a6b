-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- How much somebody, or with an empty address everybody, posts to a list (store/posts/pace.h): the posts of the hour that
-- began_at, and those of the busiest hour before, in thousandths.
CREATE TABLE pace (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    address @text@ NOT NULL,
    first_at @integer@ NOT NULL,
    began_at @integer@ NOT NULL,
    posts @integer@ NOT NULL,
    past @integer@ NOT NULL,
    PRIMARY KEY (list, address)
) @clustered@;
CREATE INDEX pace_began_at ON pace (began_at);
