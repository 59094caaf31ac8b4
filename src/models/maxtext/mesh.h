/* SPDX-License-Identifier: Apache-2.0 */
/* The axes of a job's mesh while the job is checked. */
#pragma once

#include "models/maxtext/maxtext.h"

typedef enum { QUOIT_LINK_ICI, QUOIT_LINK_DCN, QUOIT_N_MAXTEXT_LINKS } QuoitMaxtextLink;

/* The axes that have sizes, in the order of the mesh. */
typedef struct {
  const QuoitMaxtextAxisName **names;
  unsigned n;
  int64_t *sizes[QUOIT_N_MAXTEXT_LINKS];
} QuoitMaxtextMesh;

/* Returns a key such as "ici_fsdp_parallelism"; free it with g_free(). */
char *quoit_maxtext_size_key (QuoitMaxtextLink link, const char *axis_key);
/* Returns the size of an axis that the settings do not give: -1 for one axis, 1 for the others. */
int64_t quoit_maxtext_default_size (QuoitMaxtextLink link, const char *axis_key);
gboolean quoit_maxtext_size_is_given (const QuoitMaxtextCheck *check, QuoitMaxtextLink link, const char *axis_key);

/* Fills in -1. If that is impossible, returns FALSE and reports sizes that would work. */
gboolean quoit_maxtext_mesh_fill (QuoitMaxtextCheck *check, QuoitMaxtextMesh *mesh, QuoitMaxtextLink link,
                                  int64_t target);
/* Sets *@columns to the number of devices in a row of a block of the ring @name. Returns FALSE if MaxText does not have
 * that ring for these sizes, and sets *@expected to what works, owned by the caller. */
gboolean quoit_maxtext_find_ring (const char *name, const int64_t *ici, unsigned n_axes, unsigned *columns,
                                  char **expected);
/* Like quoit_maxtext_find_ring(), but fails with INVALID. */
gboolean quoit_maxtext_lookup_ring (const char *name, const int64_t *ici, unsigned n_axes, unsigned *columns,
                                    GError **error);
/* Checks whether JAX, or a ring of MaxText, can arrange the report's axes. Their sizes within a slice must be
 * filled. */
void quoit_maxtext_check_layout (QuoitMaxtextCheck *check, int64_t n_slices);
