/* SPDX-License-Identifier: Apache-2.0 */
/* The axes of a job's mesh, while it is looked at. */
#pragma once

#include "models/maxtext/maxtext.h"

typedef enum { QUOIT_LINK_ICI, QUOIT_LINK_DCN, QUOIT_N_MAXTEXT_LINKS } QuoitMaxtextLink;

/* The axes that have sizes, in the order of the mesh. */
typedef struct {
  const QuoitMaxtextAxisName **names;
  unsigned n;
  int64_t *sizes[QUOIT_N_MAXTEXT_LINKS];
} QuoitMaxtextMesh;

/* "ici_fsdp_parallelism" */
char *quoit_maxtext_size_key (QuoitMaxtextLink links, const char *axis_key);
int64_t quoit_maxtext_size_unless_given (QuoitMaxtextLink links, const char *axis_key);
gboolean quoit_maxtext_size_is_given (const QuoitMaxtextLook *look, QuoitMaxtextLink links, const char *axis_key);

/* Fills in what is -1; FALSE where that cannot be, which is reported with what could. */
gboolean quoit_maxtext_mesh_fill (QuoitMaxtextLook *look, QuoitMaxtextMesh *mesh, QuoitMaxtextLink links,
                                  int64_t target);
/* The devices in a row of a block of the ring @name, when MaxText has it for these sizes; else INVALID. */
gboolean quoit_maxtext_ring_of (const char *name, const int64_t *ici, unsigned n_axes, unsigned *columns,
                                GError **error);
/* Whether JAX, or a ring of MaxText's, can lay out the report's axes, which are filled within a slice. */
void quoit_maxtext_look_layout (QuoitMaxtextLook *look, int64_t n_slices);
