-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Posts that the rules have let pass and that are to be sent at a time (store/posts/scheduled.h). author is the owner or
-- moderator on whose word one waits; NULL: somebody else's, who was asked for no standing.
CREATE TABLE scheduled (
    number @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    message_id @text@,
    subject @text@,
    sender @text@,
    author @text@,
    meta @text@,
    made_at @integer@ NOT NULL,
    due_at @integer@ NOT NULL,
    message @blob@ NOT NULL
) @table@;
CREATE INDEX scheduled_list ON scheduled (list, due_at);
CREATE INDEX scheduled_due_at ON scheduled (due_at);
INSERT INTO counter (name, value) VALUES ('scheduled', 0) ON CONFLICT (name) DO NOTHING;

-- A program that does not know of the table can work; it takes no post for a time.
INSERT INTO schema_least (number, least) VALUES (43, 40);
