/* SPDX-License-Identifier: Apache-2.0 */
/* `env --manifest`: the pods that a manifest will make, before it is applied. */
#pragma once

#include <quoit/models.h>

#include "session.h"

typedef struct {
  char *manifest, *group;
  char **variables, **steps;
} ManifestOptions;

void manifest_options_clear (ManifestOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ManifestOptions, manifest_options_clear)

/* Every pod of @replica and @host, -1 being any; or, where there are steps, what these change. */
bool manifest_env (Session *session, const ManifestOptions *options, gint64 replica, gint64 host, GError **error);

/* Which pods. */
typedef struct {
  QuoitKuberay *kuberay;
  gint64 group, replica, host; /* -1: any */
  gsize n_bytes;               /* of the variables shown so far */
} ManifestView;

bool manifest_is_chosen (const ManifestView *view, uint32_t pod);

/* Why a manifest cannot run although its pods are known: the problems of manifest_problems(). */
typedef struct {
  char *group; /* NULL: it is not one group's */
  const char *rule;
  GError *why;
} ManifestProblem;

GPtrArray *manifest_problems (const QuoitKuberay *kuberay); /* of ManifestProblem; g_ptr_array_unref() it */
Table *manifest_list_problems (const GPtrArray *problems);
/* On stderr; and the exit status is that of the first. */
void manifest_warn (Session *session, const GPtrArray *problems);

/* The facts of a RayJob's or RayService's cluster that are unknown before it runs; NULL if all are known. g_free()
 * it. */
char *manifest_assumption (const QuoitKuberay *kuberay);

/* Those that are chosen. */
bool manifest_pods (Session *session, ManifestView *view, const char *manifest, const GPtrArray *problems,
                    GError **error);

/* Nothing for -1, which is no index. */
void manifest_add_index (Table *table, gint64 index);

/* The actions of the operator, pass by pass, as each of @steps happens to @group. Each step runs until a pass
 * changes nothing. */
bool manifest_steps (Session *session, QuoitKuberay *kuberay, uint32_t group, char **steps, const GPtrArray *problems,
                     GError **error);
