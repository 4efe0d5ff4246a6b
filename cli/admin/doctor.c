/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/doctor.h"

static void finding_free(void *data)
{
    DoctorFinding *finding = data;
    g_free(finding->text);
    g_free(finding->mend);
    g_free(finding);
}

void doctor_init(Doctor *doctor, const char *config_path, void (*tell)(const DoctorFinding *finding))
{
    *doctor = (Doctor){
        .config_path = config_path, .findings = g_ptr_array_new_with_free_func(finding_free), .tell = tell};
}

void doctor_clear(Doctor *doctor)
{
    g_clear_pointer(&doctor->findings, g_ptr_array_unref);
}

void doctor_find(Doctor *doctor, const char *subject, DoctorState state, char *mend, const char *format, ...)
{
    va_list arguments;
    DoctorFinding *finding = g_new0(DoctorFinding, 1);
    *finding = (DoctorFinding){.subject = subject, .state = state, .mend = mend};
    va_start(arguments, format);
    finding->text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_ptr_array_add(doctor->findings, finding);
    doctor->tell(finding);
}

void doctor_find_well(Doctor *doctor, const char *subject, guint before, const char *text)
{
    if (doctor->findings->len == before)
        doctor_find(doctor, subject, DOCTOR_OK, NULL, "%s", text);
}
