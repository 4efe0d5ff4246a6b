/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Families: styles (lists/making/style.h) that go on to hold for the lists that were made in them. A section
 * [style.NAME] makes its style a family by naming settings that its lists may not change, or only to some values:
 *
 *   fixed = archive_policy, subscription_policy
 *   limited = default_member_action=defer|hold, max_message_size=40|100
 *
 * A list has the name of its family in its setting `family`. Each door refuses a value that the family does not allow,
 * whoever asks; a changed section is brought to all lists of the family at once. What a family fixes is known from its
 * section alone. So a list whose family is no longer in the configuration keeps all settings that a family can fix, and
 * refuses to change them. That ends when the section is back or an administrator detaches the list. Only `emergency`
 * can be changed meanwhile, since moderators need it at once.
 */
#include "base/config.h"
#include "lists/work.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

/* May a list have this value (as list_get() writes it) of a setting? FAIL_NEVER: its family does not allow it; the
 * sentence names the family, and what is allowed. */
bool family_allows(const Config *config, const List *list, const ListSetting *setting, const char *value,
                   GError **error);

/* A setting of a list that is not as its family wants it. */
typedef struct FamilyDifference {
    const ListSetting *setting;
    char *before, *after; /* as list_get() writes them */
} FamilyDifference;

/* Return every such setting of the list, of FamilyDifference, freed with the array; empty where the configuration has
 * no such family. NULL with FAIL_NEVER: the section has a value that the list cannot have. */
GPtrArray *family_differences(const Config *config, const List *list, GError **error);

/* Give each setting of family_differences() its value `after`, by change_setting(), which also logs it. */
bool family_apply(Work *work, const List *list, const GPtrArray *differences, GError **error);
