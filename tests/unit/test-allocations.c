/* SPDX-License-Identifier: Apache-2.0 */
/* quoit_snapshot_test() allocates no memory for a request without constraints, nor for most others when it is
 * repeated; and refusals do not repeat the search for what a waiting reservation lacks. The program counts the calls of
 * malloc() and its relatives, also those of the library. */
#include <quoit/quoit.h>
#include <string.h>

#include "suite.h"

/* Sanitizers have their own functions. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define CAN_COUNT 1
#else
#define CAN_COUNT 0
#endif

/* The libraries call the functions of the program only if it exports them. */
#define EXPORTED __attribute__ ((visibility ("default")))

static guint n_allocations;

#if CAN_COUNT
extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *block, size_t size);

EXPORTED void *
malloc (size_t size)
{
  n_allocations++;
  return __libc_malloc (size);
}

EXPORTED void *
calloc (size_t n, size_t size)
{
  n_allocations++;
  return __libc_calloc (n, size);
}

EXPORTED void *
realloc (void *block, size_t size)
{
  n_allocations++;
  return __libc_realloc (block, size);
}
#endif

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000);

static QuoitRequest *
request_new (const char *accelerator, const char *topology, gint64 n_slices)
{
  QuoitRequest *request = quoit_request_new ("request", NULL);

  ck_assert (quoit_request_set_accelerator (request, accelerator, NULL));
  ck_assert (quoit_request_set_topology (request, topology, NULL));
  ck_assert (quoit_request_set_slices (request, n_slices, NULL));
  return request;
}

/* Returns the number of allocations of one call. The calls before it fill what is remembered. */
static guint
count_allocations (const QuoitSnapshot *snapshot, const QuoitRequest *request)
{
  QuoitVerdict verdict;
  guint n = 0;

  for (guint i = 0; i < 3; i++)
    {
      const guint before = n_allocations;
      const bool ok = quoit_snapshot_test (snapshot, request, &verdict, NULL, NULL);

      n = n_allocations - before;
      ck_assert (ok);
    }
  return n;
}

static QuoitSnapshot *
snapshot_new (void)
{
  static const char text[] = "v6e 4x4 x40 pool=a zone=z1; v6e 4x4 x40 pool=b zone=z2; v5p 2x2x2 x20 pool=c";
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, first_ms, NULL);

  ck_assert_ptr_nonnull (import);
  return quoit_ledger_snapshot (ledger);
}

START_TEST (test_without_constraints_allocates_nothing)
{
  static const gint64 numbers[] = { 1, 80, 81, 100 };
  g_autoptr (QuoitSnapshot) snapshot = snapshot_new ();

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autoptr (QuoitRequest) request = request_new ("v6e", "4x4", numbers[i]),
                               other = request_new ("v5p", "2x2x2", 21);

      ck_assert_uint_eq (count_allocations (snapshot, request), 0);
      ck_assert (quoit_request_add_alternative (request, other, NULL));
      ck_assert_uint_eq (count_allocations (snapshot, request), 0);
    }
}
END_TEST

START_TEST (repeated_test_with_constraints_allocates_nothing)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_new ();
  g_autoptr (QuoitRequest) pool = request_new ("v6e", "4x4", 3), zone = request_new ("v6e", "4x4", 3);
  g_autoptr (QuoitRequest) kept = request_new ("v6e", "4x4", 3), in_zone = request_new ("v6e", "4x4", 3);
  g_autoptr (QuoitRequest) spread = request_new ("v6e", "4x4", 3), selected = request_new ("v6e", "4x4", 3);
  g_autoptr (QuoitRequest) named = request_new ("v6e", "4x4", 1), without = request_new ("v6e", "4x4", 3);

  quoit_request_set_pool (pool, "a");
  quoit_request_set_zone (zone, "z2");
  ck_assert (quoit_request_keep_to (kept, QUOIT_DOMAIN_POOL, NULL));
  ck_assert (quoit_request_keep_to (in_zone, QUOIT_DOMAIN_ZONE, NULL));
  ck_assert (quoit_request_spread_over (spread, QUOIT_DOMAIN_POOL, 1, 2, NULL));
  ck_assert (quoit_request_add_selector (selected, "ray.io/tpu-slice-name", "!in(a-0)", NULL));
  quoit_request_add_slice (named, "a-3");
  quoit_request_exclude_slice (without, "a-3");
  ck_assert_uint_eq (count_allocations (snapshot, pool), 0);
  ck_assert_uint_eq (count_allocations (snapshot, zone), 0);
  ck_assert_uint_eq (count_allocations (snapshot, selected), 0);
  ck_assert_uint_eq (count_allocations (snapshot, named), 0);
  ck_assert_uint_eq (count_allocations (snapshot, without), 0);
  ck_assert_uint_eq (count_allocations (snapshot, kept), 0);
  ck_assert_uint_eq (count_allocations (snapshot, in_zone), 0);
  ck_assert_uint_eq (count_allocations (snapshot, spread), 0);
}
END_TEST

START_TEST (allocations_are_counted)
{
  const guint before = n_allocations;
  g_autoptr (QuoitRequest) request = quoit_request_new ("request", NULL);
  const guint after = n_allocations;

  ck_assert_ptr_nonnull (request);
  ck_assert (after > before);
}
END_TEST

/* Requests more slices of another class than are free, and returns the number of allocations. */
static guint
count_of_refusal (QuoitLedger *ledger)
{
  g_autoptr (QuoitRequest) request = request_new ("v5p", "2x2x2", 20);
  g_autoptr (GError) error = NULL;
  guint before = n_allocations;
  QuoitGroup *group = quoit_ledger_reserve (ledger, request, first_ms, NULL, &error);

  before = n_allocations - before;
  ck_assert_ptr_null (group);
  return before;
}

START_TEST (refusals_do_not_repeat_the_search_for_a_waiting_reservation)
{
  static const char text[] = "v6e 4x4 x1 pool=a; v5p 2x2x2 x20 pool=c";
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, first_ms, NULL);
  g_autoptr (QuoitRequest) request = request_new ("v6e", "4x4", 1);
  g_autoptr (QuoitGroup) ahead = NULL;
  guint plain, searching, repeated;

  ck_assert_ptr_nonnull (import);
  ahead = quoit_ledger_reserve_at (ledger, request, first_ms + 60000, 0, first_ms, NULL, NULL);
  ck_assert_ptr_nonnull (ahead);
  ck_assert (quoit_ledger_set_node_state (ledger, "c-0-0", QUOIT_NODE_DRAINING, first_ms, NULL));
  count_of_refusal (ledger);
  plain = count_of_refusal (ledger);
  ck_assert (quoit_ledger_set_node_state (ledger, "a-0-0", QUOIT_NODE_DEAD, first_ms, NULL));
  searching = count_of_refusal (ledger);
  repeated = count_of_refusal (ledger);
  ck_assert_uint_eq (repeated, plain);
  ck_assert (searching > plain + 10);
}
END_TEST

int
main (void)
{
  Suite *suite;
  TCase *tcase;

  if (!CAN_COUNT)
    return 77; /* skipped: each count would be 0 */
  suite = suite_create ("allocations");
  tcase = tcase_create ("allocations");
  tcase_add_test (tcase, allocations_are_counted);
  tcase_add_test (tcase, test_without_constraints_allocates_nothing);
  tcase_add_test (tcase, repeated_test_with_constraints_allocates_nothing);
  tcase_add_test (tcase, refusals_do_not_repeat_the_search_for_a_waiting_reservation);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
