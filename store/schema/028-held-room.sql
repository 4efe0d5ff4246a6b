-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- How much room a held post takes, and whether its sender is a stranger to the list (store/posts/held.h). An older program
-- writes 0 for both.
ALTER TABLE held ADD COLUMN room @integer@ NOT NULL DEFAULT 0;
ALTER TABLE held ADD COLUMN stranger @integer@ NOT NULL DEFAULT 0;
UPDATE held SET room = length(message) + 1024; -- HELD_ROW_BYTES
CREATE INDEX held_room ON held (list, stranger, room);
