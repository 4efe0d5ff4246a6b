/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/workflow.h"

#define PERSON WORKFLOW_ASK_PERSON
#define MODERATOR WORKFLOW_ASK_MODERATOR
#define DO WORKFLOW_DO

/* An address that nobody has shown to be his own is asked in any case, and before a moderator is troubled. */
static const WorkflowStep table[][WORKFLOW_FACTS] = {
    /* known:                        -       V       C          V C        A       A V     A C  A V C */
    [POLICY_OPEN] =                 {PERSON, DO,     DO,        DO,        PERSON, DO,     DO,  DO},
    [POLICY_CONFIRM] =              {PERSON, PERSON, DO,        DO,        PERSON, PERSON, DO,  DO},
    [POLICY_MODERATE] =             {PERSON, MODERATOR, MODERATOR, MODERATOR, PERSON, DO,  DO,  DO},
    [POLICY_CONFIRM_THEN_MODERATE] = {PERSON, PERSON, MODERATOR, MODERATOR, PERSON, PERSON, DO, DO},
};

WorkflowStep workflow_next(SubscriptionPolicy policy, unsigned facts)
{
    if ((facts & (FACT_INVITED | FACT_CONFIRMED)) == FACT_INVITED)
        return WORKFLOW_ASK_PERSON;
    WorkflowStep step = table[policy][facts % WORKFLOW_FACTS];
    bool braked = (facts & FACT_BRAKED) && !(facts & (FACT_ANSWERED | FACT_APPROVED));
    return braked && step == WORKFLOW_DO ? WORKFLOW_ASK_MODERATOR : step;
}
