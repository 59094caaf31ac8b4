/* SPDX-License-Identifier: Apache-2.0 */
/* Every verb, each in a file of its own: cmd-NAME.c. */
#pragma once

#include "session.h"

extern const Verb verb_backup, verb_catalogue, verb_check, verb_confirm, verb_drain, verb_env, verb_explain,
    verb_export, verb_fits, verb_forget, verb_groups, verb_hold, verb_import, verb_init, verb_journal, verb_map,
    verb_mesh, verb_nodes, verb_owner, verb_release, verb_renew, verb_repair, verb_reserve, verb_resize, verb_restore,
    verb_set_clock, verb_set_state, verb_show, verb_slices, verb_slots, verb_status, verb_sync, verb_undrain,
    verb_verify, verb_who_holds;

/* For verbs that have no options and no forms of output of their own. */
extern const char *const usual_outputs[];
bool session_begin (Session *session, GError **error);
