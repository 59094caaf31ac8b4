/* SPDX-License-Identifier: Apache-2.0 */
/* reserve LEDGER MANIFEST JOB: reserves two v6e 4x4 slices. If you run it again after a crash, it finds the group of
   JOB by its key. It creates a missing LEDGER so that you can try it. In your own program, create the ledger once, with
   "quoit init", because a ledger that is missing later was lost. */
#include <quoit/quoit.h>
#include <stdio.h>
#include <stdlib.h>
#define TRY(call) ((call) ? (void) 0 : (fprintf (stderr, "reserve: %s\n", error->message), exit (error->code)))
int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *yaml = NULL;
  gsize length;
  int64_t now_ms = g_get_real_time () / 1000; /* the library reads no clock */
  if (argc != 4 || !g_file_get_contents (argv[2], &yaml, &length, NULL))
    return fprintf (stderr, "usage: reserve LEDGER MANIFEST JOB\n"), 2;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (argv[1], 5000, &error);
  if (g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    ledger = (g_clear_error (&error), quoit_ledger_create (argv[1], 5000, &error));
  TRY (ledger);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_RAYCLUSTER, yaml, length);
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, now_ms, &error);
  TRY (import);
  g_autoptr (QuoitRequest) two = quoit_request_new (argv[3], &error);
  TRY (two && quoit_request_set_key (two, argv[3], &error));
  TRY (quoit_request_set_accelerator (two, "v6e", &error) && quoit_request_set_topology (two, "4x4", &error));
  TRY (quoit_request_set_slices (two, 2, &error));
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, two, now_ms, NULL, &error);
  TRY (group); /* it is on the disk now */
  g_autoptr (QuoitTopology) all = quoit_topology_new (group, NULL, &error);
  TRY (all);
  for (uint32_t p = 0; p < quoit_topology_get_n_processes (all); p++)
    for (uint32_t v = 0; v < quoit_topology_get_n_variables (all, p); v++)
      printf ("%s: %s=%s\n", quoit_topology_get_node_name (all, p), quoit_topology_get_variable_name (all, p, v),
              quoit_topology_get_variable_value (all, p, v));
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, two, &error);
  TRY (report);
  g_autofree char *refusal = quoit_report_dup_summary (report, "two slices more");
  TRY (quoit_ledger_release (ledger, argv[3], now_ms, &error) && quoit_ledger_verify (ledger, &error));
  return printf ("%s\nreleased, and verified\n", refusal) < 0;
}
