/* SPDX-License-Identifier: Apache-2.0 */
/* `env GROUP`: selects processes of a group, and prints their environments in several forms. */
#pragma once

#include <quoit/quoit.h>

#include "session.h"

typedef struct {
  const QuoitSnapshot *snapshot;
  const QuoitGroup *group;
  QuoitTopology *topology;
  const char *profile;    /* the name of the profile */
  gint64 *slices;         /* the slice of each process, an index in the snapshot; -1: none, or no longer in the fleet */
  bool has_all_variables; /* -o env also writes variables that are not for TPU jobs */
} EnvView;

void env_view_clear (EnvView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (EnvView, env_view_clear)

/* Fills in the slices of @view. */
void env_view_find_slices (EnvView *view);

/* Returns a name of the slice that the user can type; "" without a slice. g_free() it. */
char *env_slice_name (const EnvView *view, uint32_t process);

/* Whether the process belongs to a bundle without chips. */
bool env_lacks_chips (const EnvView *view, uint32_t process);

/* --- selection --- */

typedef struct {
  char *slice, *slice_id, *worker, *process, *bundle; /* the values of the options; NULL: not given */
} EnvChoiceOptions;

void env_choice_options_clear (EnvChoiceOptions *options);

/* The conditions for a process to be selected. -1: no condition. */
typedef struct {
  gint64 slice; /* an index in the snapshot */
  gint64 slice_id, worker_id;
  gint64 process, bundle;
} EnvChoice;

/* Parses all options but --slice, because the name of a slice requires a snapshot. */
bool env_choice_parse (const EnvChoiceOptions *options, EnvChoice *choice, GError **error);

/* Returns the ids (uint32_t) of the selected processes. If there are none, fails with NOT_FOUND and a message that
 * lists possible values. */
GArray *env_choose (const EnvView *view, const EnvChoiceOptions *options, EnvChoice *choice, GError **error);

/* Returns the options that distinguish the chosen processes, as text before "--process" in a message, for example
 * "--slice and --worker, or with ". It is "" if there is no other option. g_free() it. */
char *env_differing_options (const EnvView *view, const GArray *chosen);

/* --- output --- */

typedef bool (*EnvPrintFunc) (Session *session, const EnvView *view, const GArray *chosen, GError **error);

/* Prints lines NAME='value' of one process for a POSIX shell. Reports omitted variables on stderr. */
bool env_print_for_shell (Session *session, const EnvView *view, const GArray *chosen, GError **error);
/* Returns why env_print_for_shell() omits the variable, in a few words; NULL: it does not. */
const char *env_omission_reason (const EnvView *view, const char *name);
bool env_print_document (Session *session, const EnvView *view, const GArray *chosen, GError **error);
/* Prints the lines of several processes with headers. Control bytes are escaped, so a shell must not read this form. */
bool env_print_for_people (Session *session, const EnvView *view, const GArray *chosen, GError **error);
bool env_print_jax_view (Session *session, const EnvView *view, const GArray *chosen, GError **error);
