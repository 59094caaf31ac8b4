/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the public API that tests and benchmarks make often, in one line. */
#pragma once

#include <string.h>

#include <quoit/quoit.h>

/* Imports @text as source @source (NULL: the usual name of its kind). NULL on failure; quoit_import_free() the result.
 */
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

/* The processes of @group in @profile, one per host. NULL on failure; quoit_topology_unref() the result. */
static inline QuoitTopology *
topology_in (const QuoitGroup *group, QuoitProfile profile, GError **error)
{
  QuoitLaunch *launch = quoit_launch_new (profile);
  QuoitTopology *topology = quoit_topology_new (group, launch, error);

  quoit_launch_free (launch);
  return topology;
}
