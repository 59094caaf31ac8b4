/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the axes of MaxText's meshes, and the setting keys of their sizes. */
#include <string.h>

#include "models/maxtext/maxtext.h"

static const QuoitMaxtextAxisName axes[] = {
  { "diloco", "diloco" },
  { "data", "data" },
  { "stage", "pipeline" },
  { "fsdp", "fsdp" },
  { "fsdp_transpose", "fsdp_transpose" },
  { "sequence", "sequence" },
  { "context", "context" },
  { "context_usp_ulysses", "context_usp_ulysses" },
  { "context_autoregressive", "context_autoregressive" },
  { "tensor", "tensor" },
  { "tensor_sequence", "tensor_sequence" },
  { "model", "tensor" },
  { "expert", "expert" },
  { "autoregressive", "autoregressive" },
  { "attn_dp", NULL },
  { "attn_dp_expert", NULL },
};

const char *const quoit_maxtext_default_axes[] = {
  "diloco",
  "data",
  "stage",
  "fsdp",
  "fsdp_transpose",
  "context",
  "context_usp_ulysses",
  "context_autoregressive",
  "tensor",
  "tensor_sequence",
  "expert",
  "autoregressive",
  NULL,
};

const QuoitMaxtextAxisName *
quoit_maxtext_axis_find (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (axes); i++)
    if (strcmp (axes[i].name, name) == 0)
      return &axes[i];

  return NULL;
}

const QuoitMaxtextAxisName *
quoit_maxtext_axis_row (unsigned index)
{
  return index < G_N_ELEMENTS (axes) ? &axes[index] : NULL;
}
