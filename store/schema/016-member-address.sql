-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- An address that goes is looked for among the members: without this, all members of all lists are read.
CREATE INDEX member_address ON member (address);

-- The requests of a list in the order of their numbers, and those that moderators are asked about.
CREATE INDEX pending_list ON pending (list, number);
CREATE INDEX pending_moderator ON pending (made_at, expires_at) WHERE waits_for = 1;
