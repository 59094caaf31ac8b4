/* SPDX-License-Identifier: Apache-2.0 */
/* `env GROUP`: the processes of a group, which of them are wanted, and the forms that they are shown in. */
#pragma once

#include <quoit/quoit.h>

#include "session.h"

typedef struct {
  const QuoitSnapshot *snapshot;
  const QuoitGroup *group;
  QuoitTopology *topology;
  const char *profile;    /* its name */
  gint64 *slices;         /* of the snapshot, by process; -1: in none, or gone since */
  bool has_all_variables; /* for a shell: those of no family that is known, too */
} EnvView;

void env_view_clear (EnvView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (EnvView, env_view_clear)

/* Where the processes of the topology are. */
void env_view_find_slices (EnvView *view);

/* The name of the slice as the user can type it; "" without a slice. g_free() it. */
char *env_slice_name (const EnvView *view, uint32_t process);

/* Whether it is of a bundle without chips. */
bool env_lacks_chips (const EnvView *view, uint32_t process);

/* --- which of them --- */

typedef struct {
  char *slice, *slice_id, *worker, *process, *bundle; /* as they were given; NULL: any */
} EnvChoiceOptions;

void env_choice_options_clear (EnvChoiceOptions *options);

typedef struct {
  gint64 slice;               /* of the snapshot; -1: any, as all that follow */
  gint64 slice_id, worker_id; /* of a slice's workers */
  gint64 process, bundle;
} EnvChoice;

/* All but the slice's name, which wants a snapshot. */
bool env_choice_read (const EnvChoiceOptions *options, EnvChoice *choice, GError **error);

/* The process ids (uint32_t), one or more: NOT_FOUND names those that there are. */
GArray *env_choose (const EnvView *view, const EnvChoiceOptions *options, EnvChoice *choice, GError **error);

/* The options that distinguish the chosen processes, apart from --process: "--slice and --worker, or by "; "" if no
 * option does. g_free() it. */
char *env_differing_options (const EnvView *view, const GArray *chosen);

/* --- the forms --- */

typedef bool (*EnvForm) (Session *session, const EnvView *view, const GArray *chosen, GError **error);

/* NAME='value' lines of one process, for a POSIX shell. Variables that are left out are named on stderr. */
bool env_print_for_shell (Session *session, const EnvView *view, const GArray *chosen, GError **error);
/* Why a shell does not get the variable, in a few words; NULL: it does. */
const char *env_omission_reason (const EnvView *view, const char *name);
bool env_print_document (Session *session, const EnvView *view, const GArray *chosen, GError **error);
/* As for a shell, with headers, and safe to look at: a value with control bytes is escaped, and would not survive a
 * shell. */
bool env_print_for_people (Session *session, const EnvView *view, const GArray *chosen, GError **error);
bool env_print_jax_view (Session *session, const EnvView *view, const GArray *chosen, GError **error);
