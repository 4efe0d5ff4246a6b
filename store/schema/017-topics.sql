-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Which of the list's topics the member wants, one name a line, NULL: all posts; and whether posts of no topic come to who
-- chose some (store/lists/topic.h).
ALTER TABLE member ADD COLUMN topics @text@;
ALTER TABLE member ADD COLUMN topics_unmatched @integer@;
