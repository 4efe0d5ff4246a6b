-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- A held post whose sender was asked to confirm the address: the SHA-256, in hex, of the token that the answer brings,
-- and until when it is good. NULL and 0: the post waits for a moderator.
ALTER TABLE held ADD COLUMN token @text@;
ALTER TABLE held ADD COLUMN asked_until @integer@ NOT NULL DEFAULT 0;
CREATE INDEX held_token ON held (token) WHERE token IS NOT NULL;
