/* SPDX-License-Identifier: Apache-2.0 */
/* `env --manifest`: the pods that a manifest will make, before it is applied. */
#pragma once

#include "session.h"

typedef struct {
  char *manifest, *group;
  char **variables, **steps;
} ManifestOptions;

void manifest_options_clear (ManifestOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ManifestOptions, manifest_options_clear)

/* Every pod of @replica and @host, -1 being any; or, where there are steps, what these change. */
bool manifest_env (Session *session, const ManifestOptions *options, gint64 replica, gint64 host, GError **error);

/* Nothing for -1, which is no index. */
void manifest_add_index (Table *table, gint64 index);

/* What the operator does pass by pass as each of @steps happens to @group, which every pass has come to an end of. */
bool manifest_steps (Session *session, QuoitKuberay *kuberay, uint32_t group, char **steps, GError **error);
