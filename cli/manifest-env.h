/* SPDX-License-Identifier: Apache-2.0 */
/* `env --manifest`: shows the pods that KubeRay will create for a manifest, before it is applied. */
#pragma once

#include <quoit/models.h>

#include "session.h"

typedef struct {
  char *manifest, *group;
  char **variables, **steps;
} ManifestOptions;

void manifest_options_clear (ManifestOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ManifestOptions, manifest_options_clear)

/* Prints the pods with index @replica and @host, -1: any. With --then, prints the effects of the steps instead. */
bool manifest_env (Session *session, const ManifestOptions *options, gint64 replica, gint64 host, GError **error);

/* If the manifest @text has no Ray object, but another object that makes pods, such as a JobSet, prints its pods and
 * sets *@is_printed. Sets @reason if the manifest makes no nodes, which is no failure. */
bool manifest_print_jobs (Session *session, const ManifestOptions *options, const char *text, gsize length,
                          gint64 slice_id, gint64 worker_id, bool *is_printed, GError **reason, GError **error);

/* The pods of a manifest, and the conditions for a pod to be selected. */
typedef struct {
  QuoitKuberay *kuberay;
  gint64 group, replica, host; /* indices; -1: any */
  gsize n_bytes;               /* the size of the variables printed so far */
} ManifestView;

bool manifest_is_chosen (const ManifestView *view, uint32_t pod);

/* A reason why a manifest cannot run although its pods can be computed. */
typedef struct {
  char *group; /* NULL: not specific to one group */
  const char *rule;
  GError *why;
} ManifestProblem;

GPtrArray *manifest_problems (const QuoitKuberay *kuberay); /* of ManifestProblem; g_ptr_array_unref() it */
Table *manifest_list_problems (const GPtrArray *problems);
/* Prints the problems on stderr, and sets the exit status to the code of the first one. */
void manifest_report_problems (Session *session, const GPtrArray *problems);

/* Returns a sentence about the assumed cluster name of a RayJob or RayService; NULL if the name is known. g_free()
 * it. */
char *manifest_assumption (const QuoitKuberay *kuberay);

/* Prints the selected pods. */
bool manifest_print_pods (Session *session, ManifestView *view, const char *manifest, const GPtrArray *problems,
                          GError **error);

/* Adds an index; -1 becomes an empty cell. */
void manifest_add_index (Table *table, gint64 index);

/* Prints the actions of KubeRay's operator, pass by pass, after each of @steps happens to @group. After a step,
 * passes run until one changes nothing. */
bool manifest_print_steps (Session *session, QuoitKuberay *kuberay, uint32_t group, char **steps,
                           const GPtrArray *problems, GError **error);
