/* SPDX-License-Identifier: Apache-2.0 */
/* Claims as text for tests: one word per node, in the reader's order. */
#pragma once

#include <string.h>

#include "suite.h"
#include "formats/formats.h"

/* "POOL:NAME[@SLICE.WORKER][!draining|!dead][!busy][!head][!assumed] ..." */
static inline char *
nodes_as_text (const QuoitClaims *claims)
{
  static const char *const states[] = { "", "!draining", "!dead" };
  GString *text = g_string_new (NULL);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    {
      g_string_append_printf (text, "%s%s:%s", i > 0 ? " " : "", quoit_claims_pool_at (claims, nodes[i].pool)->name,
                              nodes[i].name);
      if (nodes[i].slice != NULL)
        g_string_append_printf (text, "@%s.%d", nodes[i].slice, nodes[i].worker_id);
      g_string_append_printf (text, "%s%s%s%s", states[nodes[i].state],
                              (nodes[i].flags & QUOIT_NODE_EXTERNAL) != 0 ? "!busy" : "",
                              (nodes[i].flags & QUOIT_NODE_RAY_HEAD) != 0 ? "!head" : "",
                              (nodes[i].flags & QUOIT_NODE_ASSUMED_NAME) != 0 ? "!assumed" : "");
    }
  return g_string_free (text, FALSE);
}

/* "TPU=4 CPU=8" and "key=value ..." of a node's class. */
static inline char *
resources_as_text (const QuoitClaims *claims, guint32 node)
{
  GString *text = g_string_new (NULL);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);
  const QuoitNodeKind *kind;

  g_assert (node < n_nodes);
  kind = quoit_claims_kind_at (claims, nodes[node].kind);
  for (unsigned i = 0; i < kind->n_resources; i++)
    {
      g_autofree char *amount = quoit_amount_format (kind->resources[i].amount);

      g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", kind->resources[i].name, amount);
    }
  return g_string_free (text, FALSE);
}

static inline char *
labels_as_text (const QuoitClaims *claims, guint32 node)
{
  GString *text = g_string_new (NULL);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);
  const QuoitNodeKind *kind;

  g_assert (node < n_nodes);
  kind = quoit_claims_kind_at (claims, nodes[node].kind);
  for (unsigned i = 0; i < kind->n_labels; i++)
    g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", kind->labels[i].key, kind->labels[i].value);
  return g_string_free (text, FALSE);
}

/* @part is in the only warning; NULL: no warning. */
static inline void
check_only_warning (const QuoitClaims *claims, const char *part)
{
  const char *const *warnings = quoit_claims_warnings (claims);

  if (part == NULL)
    {
      ck_assert_msg (warnings[0] == NULL, "warns: %s", warnings[0]);
      return;
    }
  ck_assert_msg (warnings[0] != NULL && strstr (warnings[0], part) != NULL, "warns: %s, expected: %s", warnings[0],
                 part);
  ck_assert_ptr_null (warnings[1]);
}

#define ck_assert_text(function, expected)                                                                             \
  do                                                                                                                   \
    {                                                                                                                  \
      g_autofree char *seen_text = function;                                                                           \
      ck_assert_str_eq (seen_text, expected);                                                                          \
    }                                                                                                                  \
  while (0)
