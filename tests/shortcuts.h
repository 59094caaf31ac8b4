/* SPDX-License-Identifier: Apache-2.0 */
/* Short forms of common public API calls for tests and benchmarks. */
#pragma once

#include <string.h>

#include <quoit/quoit.h>

/* Imports @text as source @source, or the default source of its kind if @source is NULL. NULL on failure; free the
   result with quoit_import_free(). */
static inline QuoitImport *
import_as (QuoitLedger *ledger, QuoitSourceKind kind, const char *text, const char *source, int64_t now_ms,
           GError **error)
{
  QuoitInput *input = quoit_input_new (kind, text, strlen (text));
  QuoitImport *import;

  if (source != NULL)
    quoit_input_set_source (input, source);
  import = quoit_ledger_import (ledger, input, now_ms, error);
  quoit_input_free (input);
  return import;
}

/* The processes of @group in @profile, one per host. NULL on failure; free the result with quoit_topology_unref(). */
static inline QuoitTopology *
topology_in (const QuoitGroup *group, QuoitProfile profile, GError **error)
{
  QuoitLaunch *launch = quoit_launch_new (profile);
  QuoitTopology *topology = quoit_topology_new (group, launch, error);

  quoit_launch_free (launch);
  return topology;
}
