-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Events that programs outside are told, in the order in which the runner hooks took them. body is what they get.
CREATE TABLE event (
    number @integer@ NOT NULL PRIMARY KEY,
    id @text@ NOT NULL UNIQUE,
    type @text@ NOT NULL,
    list_id @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    body @text@ NOT NULL
) @table@;
CREATE INDEX event_made_at ON event (made_at);
INSERT INTO counter (name, value) VALUES ('event', 0) ON CONFLICT (name) DO NOTHING;
