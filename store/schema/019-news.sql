-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- Where a list stands in its news group (store/lists/news.h): all articles up to number watermark are on the list, or were left
-- out for good. A row of another news group than the list's setting names says nothing.

CREATE TABLE news (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    newsgroup @text@ NOT NULL,
    watermark @integer@ NOT NULL,
    looked_at @integer@ NOT NULL,
    fault @text@ NOT NULL
) @clustered@;

-- For the few lists that have a news group, among many that have none.
CREATE INDEX list_setting_newsgroup ON list_setting (list) WHERE name = 'linked_newsgroup';
