/* SPDX-License-Identifier: Apache-2.0 */
/* Slices that are joined from cubes: which cubes they get, and what the job sees. */
#include <stdio.h>
#include <string.h>

#include <quoit/models.h>

#include "slices.h"

static const gint64 now_ms = 1800000000000;

static QuoitRequest *
cubes_request (const char *name, const char *topology, gint64 n_slices, QuoitCubes cubes)
{
  QuoitRequest *request = slices_request (name, "v5p", topology, n_slices);

  ck_assert (quoit_request_set_cubes (request, cubes, NULL));
  return request;
}

/* Returns the cubes of the group: "a-0 a-1; b-0 b-1", those of each slice in the order of its box. */
static char *
list_cubes (const QuoitGroup *group)
{
  GString *text = g_string_new (NULL);

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    {
      g_autoptr (GPtrArray) seen = g_ptr_array_new_with_free_func (g_free);

      g_string_append (text, s == 0 ? "" : ";");
      for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
        {
          g_autofree char *cube = quoit_group_dup_worker_slice (group, s, w);

          if (g_ptr_array_find_with_equal_func (seen, cube, g_str_equal, NULL))
            continue;
          g_string_append_printf (text, "%s%s", text->len == 0 ? "" : " ", cube);
          g_ptr_array_add (seen, g_steal_pointer (&cube));
        }
    }
  return g_string_free (text, FALSE);
}

/* --- the choice --- */

typedef struct {
  const char *behaviour, *fleet, *topology;
  gint64 n_slices;
  QuoitCubes cubes;
  QuoitPlacePolicy place;
  const char *expected; /* NULL: not now */
} Choice;

static const Choice choices[] = {
  { "takes the smallest sufficient block", "v5p 4x4x4 x8 pool=a block=a; v5p 4x4x4 x4 pool=b block=b", "4x8x8", 1,
    QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, "b-0 b-1 b-2 b-3" },
  { "uses fragments of blocks first", "v5p 4x4x4 x8 pool=a block=a busy=0-3; v5p 4x4x4 x8 pool=b block=b busy=0-5",
    "4x4x8", 1, QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, "b-6 b-7" },
  { "joins no cubes of two blocks", "v5p 4x4x4 x1 pool=a block=a; v5p 4x4x4 x1 pool=b block=b; v5p 4x4x4 x2 pool=c",
    "4x4x8", 1, QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, NULL },
  { "joins cubes of several pools of a block",
    "v5p 4x4x4 pool=a block=x; v5p 4x4x4 pool=b block=x; v5p 4x4x4 pool=c block=x", "4x4x12", 1, QUOIT_CUBES_ANY,
    QUOIT_PLACE_BEST, "a-0 b-0 c-0" },
  { "uses only intact, undrained and unused cubes", "v5p 4x4x4 x6 pool=a block=a dead=0.3 draining=1.0 busy=2.15",
    "4x4x12", 1, QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, "a-3 a-4 a-5" },
  { "divides slices over blocks", "v5p 4x4x4 x3 pool=a block=a; v5p 4x4x4 x3 pool=b block=b", "4x4x8", 2,
    QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, "a-0 a-1; b-0 b-1" },
  { "joins one cube", "v5p 4x4x4 x1 pool=a block=a", "4x4x4", 1, QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, "a-0" },
  { "leaves adjacent cubes to others", "v5p 4x4x4 x5 pool=a block=a grid=1x1x5 busy=1", "4x4x4", 1, QUOIT_CUBES_ANY,
    QUOIT_PLACE_BEST, "a-0" },
  { "uses cubes without a position first", "v5p 4x4x4 x2 pool=a block=a grid=1x1x2; v5p 4x4x4 pool=b block=a", "4x4x4",
    1, QUOIT_CUBES_ANY, QUOIT_PLACE_BEST, "b-0" },
  { "takes adjacent cubes", "v5p 4x4x4 x5 pool=a block=a grid=1x1x5 busy=1", "4x4x8", 1, QUOIT_CUBES_ADJACENT,
    QUOIT_PLACE_BEST, "a-2 a-3" },
  { "turns adjacent cubes if that is a topology", "v5p 4x4x4 x2 pool=a block=a grid=2x1x1", "4x4x8", 1,
    QUOIT_CUBES_ADJACENT, QUOIT_PLACE_BEST, "a-0 a-1" },
  { "joins no cubes that are apart", "v5p 4x4x4 x3 pool=a block=a grid=1x1x3 busy=1", "4x4x8", 1, QUOIT_CUBES_ADJACENT,
    QUOIT_PLACE_BEST, NULL },
  { "knows no wraparound of a block", "v5p 4x4x4 x4 pool=a block=a grid=1x1x4 busy=1-2", "4x4x8", 1,
    QUOIT_CUBES_ADJACENT, QUOIT_PLACE_BEST, NULL },
  { "packs adjacent slices anew if one place is in the way", "v5p 4x4x4 x6 pool=a block=a grid=2x3x1 busy=3,5", "4x4x8",
    2, QUOIT_CUBES_ADJACENT, QUOIT_PLACE_FIRST, "a-0 a-1; a-2 a-4" },
  { "takes the first block", "v5p 4x4x4 x8 pool=a block=a; v5p 4x4x4 x4 pool=b block=b", "4x4x4", 1, QUOIT_CUBES_ANY,
    QUOIT_PLACE_FIRST, "a-0" },
  { "takes the fullest block", "v5p 4x4x4 x8 pool=a block=a; v5p 4x4x4 x4 pool=b block=b", "4x4x4", 1, QUOIT_CUBES_ANY,
    QUOIT_PLACE_PACK, "b-0" },
  { "takes the emptiest block", "v5p 4x4x4 x2 pool=a block=a; v5p 4x4x4 x4 pool=b block=b", "4x4x4", 1, QUOIT_CUBES_ANY,
    QUOIT_PLACE_SPREAD, "b-0" },
};

START_TEST (cubes_are_chosen)
{
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    {
      const Choice *choice = &choices[i];
      g_autoptr (QuoitLedger) ledger = ledger_with (choice->fleet, now_ms);
      g_autoptr (QuoitRequest) request = cubes_request ("g", choice->topology, choice->n_slices, choice->cubes);
      g_autoptr (QuoitGroup) group = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *cubes = NULL;

      ck_assert (quoit_request_set_place (request, choice->place, NULL));
      group = quoit_ledger_reserve (ledger, request, now_ms, NULL, &error);
      cubes = group == NULL ? NULL : list_cubes (group);
      ck_assert_msg (g_strcmp0 (cubes, choice->expected) == 0, "%s: %s, expected %s (%s)", choice->behaviour, cubes,
                     choice->expected, error == NULL ? "" : error->message);
    }
}
END_TEST

/* Both blocks have one free cube of two. That of block b stays alone, so it is worth less to later requests. */
START_TEST (blocks_are_compared_over_time)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x2 pool=a block=a; v5p 4x4x4 x2 pool=b block=b", now_ms);
  g_autoptr (QuoitRequest) soon = slices_request ("soon", "v5p", "4x4x4", 1),
                           never = slices_request ("never", "v5p", "4x4x4", 1),
                           request = cubes_request ("g", "4x4x4", 1, QUOIT_CUBES_ANY);
  g_autoptr (QuoitGroup) first = NULL, second = NULL, group = NULL;
  g_autofree char *cubes = NULL;

  quoit_request_set_pool (soon, "a");
  quoit_request_set_pool (never, "b");
  ck_assert (quoit_request_set_lease_ms (soon, 1000, NULL));
  first = quoit_ledger_reserve (ledger, soon, now_ms, NULL, NULL);
  second = quoit_ledger_reserve (ledger, never, now_ms, NULL, NULL);
  ck_assert (first != NULL && second != NULL);
  ck_assert (quoit_request_set_expected_runtime_ms (request, 3600000, NULL));
  group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
  cubes = list_cubes (group);
  ck_assert_str_eq (cubes, "b-1");
}
END_TEST

/* --- what the job sees --- */

/* Worker @worker of a box is the host at its place, in the cube at its place. */
static void
check_workers (const QuoitGroup *group, const uint32_t shape[3])
{
  const guint box[3] = { shape[0] / 4, shape[1] / 4, shape[2] / 4 };
  uint32_t found[3];

  ck_assert (quoit_group_find_joined (group, 0, found));
  ck_assert_mem_eq (found, shape, sizeof found);
  for (uint32_t w = 0; w < quoit_group_get_n_workers (group, 0); w++)
    {
      const guint x = w % (2 * box[0]), y = w / (2 * box[0]) % (2 * box[1]), z = w / (4 * box[0] * box[1]);
      const guint cube = (z / 4 * box[1] + y / 2) * box[0] + x / 2, host = z % 4 * 4 + y % 2 * 2 + x % 2;
      guint own, worker;

      ck_assert_int_eq (sscanf (quoit_group_get_worker_name (group, 0, w), "a-%u-%u", &own, &worker), 2);
      ck_assert_uint_eq (own, cube);
      ck_assert_uint_eq (worker, host);
    }
}

START_TEST (workers_are_in_the_order_of_the_joined_box)
{
  static const struct {
    const char *grid, *topology;
    QuoitCubes cubes;
    uint32_t shape[3];
    guint n;
  } boxes[] = { { "1x1x2", "4x4x8", QUOIT_CUBES_ANY, { 4, 4, 8 }, 2 },
                { "2x2x2", "8x8x8", QUOIT_CUBES_ANY, { 8, 8, 8 }, 8 },
                { "1x2x3", "4x8x12", QUOIT_CUBES_ADJACENT, { 4, 8, 12 }, 6 },
                { "3x2x1", "4x8x12", QUOIT_CUBES_ADJACENT, { 12, 8, 4 }, 6 },
                { "2x1x1", "4x4x8", QUOIT_CUBES_ADJACENT, { 8, 4, 4 }, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    {
      g_autofree char *fleet = g_strdup_printf ("v5p 4x4x4 x%u pool=a block=a grid=%s", boxes[i].n, boxes[i].grid);
      g_autoptr (QuoitLedger) ledger = ledger_with (fleet, now_ms);
      g_autoptr (QuoitRequest) request = cubes_request ("g", boxes[i].topology, 1, boxes[i].cubes);
      g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);

      ck_assert_ptr_nonnull (group);
      check_workers (group, boxes[i].shape);
    }
}
END_TEST

/* Returns the form of an axis that runs along one side of the slice. @axis: 0 for x. */
static QuoitMeshForm
find_form (const char *fleet, const char *topology, QuoitCubes cubes, guint axis)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet, now_ms);
  g_autoptr (QuoitRequest) request = cubes_request ("g", topology, 1, cubes);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
  g_autoptr (QuoitDevices) devices = quoit_devices_new_group (group, NULL);
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;
  uint32_t shape[3];
  int64_t sizes[3];

  ck_assert_ptr_nonnull (devices);
  ck_assert (quoit_group_find_joined (group, 0, shape));
  for (guint i = 0; i < 3; i++)
    sizes[i] = shape[i];
  mesh = quoit_mesh_new (devices, sizes, 3, 0, NULL);
  ck_assert_ptr_nonnull (mesh);
  links = quoit_mesh_links_new (devices, mesh, NULL);
  return quoit_mesh_links_get_form (links, axis);
}

START_TEST (meshes_have_the_wraparound_links_of_the_joined_slice)
{
  const char *cubes = "v5p 4x4x4 x4 pool=a block=a grid=1x1x4", *spanned = "v5p 4x4x4 x2 pool=a block=a grid=1x1x2";

  ck_assert_int_eq (find_form (cubes, "4x4x8", QUOIT_CUBES_ANY, 2), QUOIT_MESH_FORM_RING);
  ck_assert_int_eq (find_form (cubes, "4x4x8", QUOIT_CUBES_ANY, 0), QUOIT_MESH_FORM_RING);
  /* Static cabling closes a ring only where the slice spans the block. */
  ck_assert_int_eq (find_form (cubes, "4x4x8", QUOIT_CUBES_ADJACENT, 2), QUOIT_MESH_FORM_LINE);
  ck_assert_int_eq (find_form (cubes, "4x4x8", QUOIT_CUBES_ADJACENT, 0), QUOIT_MESH_FORM_RING);
  ck_assert_int_eq (find_form (spanned, "4x4x8", QUOIT_CUBES_ADJACENT, 2), QUOIT_MESH_FORM_RING);
  /* The closing links of the short sides are shifted along the long one. */
  ck_assert_int_eq (find_form (cubes, "4x4x8", QUOIT_CUBES_ANY_TWISTED, 2), QUOIT_MESH_FORM_RING);
  ck_assert_int_eq (find_form (cubes, "4x4x8", QUOIT_CUBES_ANY_TWISTED, 0), QUOIT_MESH_FORM_LINE);
}
END_TEST

/* --- refusals --- */

START_TEST (bad_requests_are_refused)
{
  static const struct {
    const char *accelerator, *topology;
    QuoitCubes cubes;
    const char *message;
  } requests[] = {
    { "v6e", "4x4", QUOIT_CUBES_ANY, "cubes 'any': expected a generation with cubes, v6e has none" },
    { "v5p", "2x4x4", QUOIT_CUBES_ANY, "topology '2x4x4' with cubes 'any': expected three sides that are multiples" },
    { "v5p", "8x8x8", QUOIT_CUBES_ANY_TWISTED, "topology '8x8x8' with cubes 'any-twisted': expected k k 2k" },
    { "tpu7x", "4x4x8", QUOIT_CUBES_ANY_TWISTED, "cubes 'any-twisted': expected v4 or v5p, no public page says" },
    { "v5p", "8x4x4", QUOIT_CUBES_ANY_TWISTED, "topology '8x4x4' with cubes 'any-twisted': expected k k 2k" },
  };
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x8 pool=a block=a", now_ms);
  g_autoptr (QuoitRequest) unknown = slices_request ("g", "v5p", "4x4x8", 1);
  GError *error = NULL;

  ck_assert (!quoit_request_set_cubes (unknown, (QuoitCubes) 4, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "cubes '4': expected a value of QuoitCubes, 0 to 3");
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++)
    {
      g_autoptr (QuoitRequest) request = slices_request ("g", requests[i].accelerator, requests[i].topology, 1);

      ck_assert (quoit_request_set_cubes (request, requests[i].cubes, NULL));
      ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, NULL, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, requests[i].message);
    }
}
END_TEST

START_TEST (settings_that_contradict_cubes_are_refused)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x8 pool=a block=a", now_ms);
  GError *error = NULL;

  for (guint i = 0; i < 6; i++)
    {
      static const char *const messages[] = { "and cut 'any'",        "and TPU per bundle", "with domains or near",
                                              "with domains or near", "for bundles",        "chips per host '8'" };
      g_autoptr (QuoitRequest) request = cubes_request ("g", "4x4x8", 1, QUOIT_CUBES_ANY);

      ck_assert (i != 0 || quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL));
      ck_assert (i != 1 || quoit_request_set_tpu_per_bundle (request, "1", NULL));
      ck_assert (i != 2 || quoit_request_keep_to (request, QUOIT_DOMAIN_POOL, NULL));
      ck_assert (i != 3 || quoit_request_set_near (request, "x", NULL));
      if (i == 4)
        {
          quoit_request_free (request);
          request = quoit_request_new ("g", NULL);
          ck_assert (quoit_request_set_cubes (request, QUOIT_CUBES_ANY, NULL));
          ck_assert (quoit_request_add_bundles (request, "TPU=4", 1, NULL));
        }
      ck_assert (i != 5 || quoit_request_set_chips_per_host (request, 8, NULL));
      ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, NULL, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, messages[i]);
    }
}
END_TEST

START_TEST (refusals_name_the_block)
{
  g_autoptr (QuoitLedger) ledger
      = ledger_with ("v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x9 pool=b; v6e 4x4 x1 pool=c", now_ms);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitRequest) request = cubes_request ("g", "8x8x16", 1, QUOIT_CUBES_ANY);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  g_autoptr (QuoitRequest) smaller = cubes_request ("g", "8x8x8", 1, QUOIT_CUBES_ANY);
  g_autoptr (QuoitReport) unlabelled = quoit_snapshot_explain (snapshot, smaller, NULL);

  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NEVER);
  ck_assert_int_eq (quoit_report_get_reason_constraint (report, 0), QUOIT_CONSTRAINT_BLOCK);
  ck_assert_uint_eq (quoit_report_get_reason_before (report, 0), 13);
  ck_assert_uint_eq (quoit_report_get_reason_after (report, 0), 0);
  /* With the label, the cubes without a block would be enough. */
  ck_assert_int_eq (quoit_report_get_verdict (unlabelled), QUOIT_VERDICT_NEVER);
  ck_assert_int_eq (quoit_report_get_reason_constraint (unlabelled, 0), QUOIT_CONSTRAINT_CUBE_LABEL);
  ck_assert_uint_eq (quoit_report_get_reason_before (unlabelled, 0), 13);
  ck_assert_uint_eq (quoit_report_get_reason_after (unlabelled, 0), 4);
}
END_TEST

/* --- the ledger --- */

START_TEST (a_lost_cube_is_replaced_in_its_block)
{
  g_autoptr (QuoitLedger) ledger
      = ledger_with ("v5p 4x4x4 x5 pool=a block=a; v5p 4x4x4 x4 pool=b block=b busy=3", now_ms);
  g_autoptr (QuoitRequest) request = cubes_request ("g", "4x8x8", 1, QUOIT_CUBES_ANY);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
  g_autofree char *cubes = NULL;
  QuoitGroupChange *change;
  GError *error = NULL;

  ck_assert_ptr_nonnull (group);
  ck_assert (quoit_ledger_set_node_state (ledger, "a-1-7", QUOIT_NODE_DEAD, now_ms, NULL));
  change = quoit_ledger_repair (ledger, "g", now_ms, NULL, &error);
  ck_assert_ok (error);
  cubes = list_cubes (quoit_group_change_get_after (change));
  ck_assert_str_eq (cubes, "a-0 a-4 a-2 a-3");
  quoit_group_change_free (change);
  ck_assert (quoit_ledger_set_node_state (ledger, "a-0-7", QUOIT_NODE_DEAD, now_ms, NULL));
  ck_assert_ptr_null (quoit_ledger_repair (ledger, "g", now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now, 0 of 1 slice free");
}
END_TEST

/* The processes of the group are in the lists of its cluster as use that no group explains, once it has left them. */
START_TEST (repair_keeps_the_cubes_that_its_processes_use)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x3 pool=a block=a", now_ms);
  g_autoptr (QuoitRequest) request = cubes_request ("g", "4x4x8", 1, QUOIT_CUBES_ANY);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
  const char *const busy = "v5p 4x4x4 x3 pool=a block=a busy=0-1";
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, busy, strlen (busy));
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, now_ms, NULL);
  g_autofree char *cubes = NULL;
  QuoitGroupChange *change;
  GError *error = NULL;

  ck_assert (group != NULL && import != NULL);
  ck_assert (quoit_ledger_set_node_state (ledger, "a-1-7", QUOIT_NODE_DEAD, now_ms, NULL));
  change = quoit_ledger_repair (ledger, "g", now_ms, NULL, &error);
  ck_assert_ok (error);
  cubes = list_cubes (quoit_group_change_get_after (change));
  ck_assert_str_eq (cubes, "a-0 a-2");
  quoit_group_change_free (change);
}
END_TEST

START_TEST (quotas_count_the_class_that_was_requested)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x8 pool=a block=a", now_ms);
  g_autoptr (QuoitRequest) request = owned_request ("g", "v5p", "4x4x8", 2, "ana"),
                           range = owned_request ("h", "v5p", "4x4x8", 1, "ana");
  g_autoptr (QuoitGroup) elastic = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_set_cubes (request, QUOIT_CUBES_ANY, NULL));
  ck_assert (quoit_request_set_cubes (range, QUOIT_CUBES_ANY, NULL)
             && quoit_request_set_slice_range (range, 1, 3, NULL));
  ck_assert (quoit_ledger_set_quota (ledger, "cubes", NULL, "ana", "v5p", "4x4x4", 0, -1, NULL, now_ms, NULL));
  ck_assert (quoit_ledger_set_quota (ledger, "joined", NULL, "ana", "v5p", "4x4x8", 200, -1, NULL, now_ms, NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "over the quota of 'joined: at most 200 chips'");
  elastic = quoit_ledger_reserve (ledger, range, now_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_group_get_n_slices (elastic), 1);
  ck_assert (quoit_request_set_slices (request, 1, NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "over the quota of 'joined");
}
END_TEST

/* Four cubes, of which ana and bob have some, and a quota for ana: each reason of each refusal removes slices. */
static void
check_reasons (gint64 n_of_ana, gint64 n_of_bob, gint64 n_admitted, gint64 n_wanted)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x4 pool=a block=a", now_ms);
  g_autoptr (QuoitRequest) ana = owned_request ("of-ana", "v5p", "4x4x8", MAX (n_of_ana, 1), "ana"),
                           bob = owned_request ("of-bob", "v5p", "4x4x8", MAX (n_of_bob, 1), "bob"),
                           request = owned_request ("g", "v5p", "4x4x8", n_wanted, "ana");
  g_autoptr (QuoitGroup) first = NULL, second = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL;

  ck_assert (quoit_request_set_cubes (ana, QUOIT_CUBES_ANY, NULL)
             && quoit_request_set_cubes (bob, QUOIT_CUBES_ANY, NULL)
             && quoit_request_set_cubes (request, QUOIT_CUBES_ANY, NULL));
  first = n_of_ana == 0 ? NULL : quoit_ledger_reserve (ledger, ana, now_ms, NULL, NULL);
  second = n_of_bob == 0 ? NULL : quoit_ledger_reserve (ledger, bob, now_ms, NULL, NULL);
  ck_assert ((first != NULL) == (n_of_ana > 0) && (second != NULL) == (n_of_bob > 0));
  ck_assert (
      quoit_ledger_set_quota (ledger, "joined", NULL, "ana", "v5p", "4x4x8", 128 * n_admitted, -1, NULL, now_ms, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  report = quoit_snapshot_explain (snapshot, request, NULL);
  ck_assert_int_eq (quoit_report_get_verdict (report),
                    n_wanted > MIN (n_admitted, 2)                                             ? QUOIT_VERDICT_NEVER
                    : n_wanted > MIN (MAX (n_admitted - n_of_ana, 0), 2 - n_of_ana - n_of_bob) ? QUOIT_VERDICT_NOT_NOW
                                                                                               : QUOIT_VERDICT_FITS);
  for (uint32_t r = 0; r < quoit_report_get_n_reasons (report); r++)
    {
      g_autofree char *text = quoit_report_dup_reason_text (report, r);

      ck_assert_msg (quoit_report_get_reason_after (report, r) < quoit_report_get_reason_before (report, r),
                     "%d of ana, %d of bob, %d admitted, %d wanted: '%s'", (int) n_of_ana, (int) n_of_bob,
                     (int) n_admitted, (int) n_wanted, text);
      if (r == 0 && quoit_report_get_verdict (report) == QUOIT_VERDICT_NOT_NOW && n_admitted - n_of_ana < n_wanted)
        ck_assert_int_eq (quoit_report_get_reason_constraint (report, r), QUOIT_CONSTRAINT_QUOTA);
    }
}

START_TEST (each_reason_of_a_quota_removes_slices)
{
  for (gint64 n_of_ana = 0; n_of_ana <= 2; n_of_ana++)
    for (gint64 n_of_bob = 0; n_of_ana + n_of_bob <= 2; n_of_bob++)
      for (gint64 n_admitted = 0; n_admitted <= 3; n_admitted++)
        for (gint64 n_wanted = 1; n_wanted <= 3; n_wanted++)
          check_reasons (n_of_ana, n_of_bob, n_admitted, n_wanted);
}
END_TEST

START_TEST (cubes_are_queued_preempted_and_reserved_ahead)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x4 pool=a block=a", now_ms);
  g_autoptr (QuoitRequest) low = cubes_request ("low", "4x4x8", 2, QUOIT_CUBES_ANY),
                           high = cubes_request ("high", "4x4x8", 1, QUOIT_CUBES_ANY),
                           later = cubes_request ("later", "4x8x8", 1, QUOIT_CUBES_ANY);
  const QuoitRequest *requests[] = { high, later };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  g_autoptr (QuoitStart) start = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitQueuePlan) plan = NULL;
  g_autoptr (QuoitGroup) ahead = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_set_lease_ms (low, 1000, NULL));
  ck_assert (quoit_request_set_expected_runtime_ms (high, 60000, NULL));
  quoit_request_set_priority (high, 1);
  quoit_group_unref (quoit_ledger_reserve (ledger, low, now_ms, NULL, &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, high, now_ms, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_start_get_time_ms (start), now_ms + 1000);
  preemption = quoit_snapshot_find_preemption (snapshot, high, now_ms, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 1);
  fork = quoit_snapshot_fork (snapshot);
  plan = quoit_fork_plan_queue (fork, requests, 2, QUOIT_BACKFILL_EASY, now_ms, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_WAITS);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 0), now_ms + 1000);
  ahead = quoit_ledger_reserve_at (ledger, later, now_ms + 2000, now_ms + 3000, now_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (ahead), QUOIT_GROUP_AHEAD);
  /* Its cubes would still be in use when the reservation begins. */
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, high, now_ms + 1500, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now");
  ck_assert (quoit_ledger_release (ledger, "later", now_ms + 2500, &error));
  ck_assert_ok (error);
  quoit_group_unref (quoit_ledger_reserve (ledger, high, now_ms + 2600, NULL, &error));
  ck_assert_ok (error);
}
END_TEST

START_TEST (preemption_counts_the_chips_of_cubes)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x2 pool=b block=b", now_ms);
  g_autoptr (QuoitRequest) large = cubes_request ("large", "4x8x8", 1, QUOIT_CUBES_ANY),
                           small = cubes_request ("small", "4x4x8", 1, QUOIT_CUBES_ANY),
                           high = cubes_request ("high", "4x4x8", 1, QUOIT_CUBES_ANY);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  g_autoptr (QuoitGroup) victim = NULL;

  quoit_group_unref (quoit_ledger_reserve (ledger, large, now_ms, NULL, NULL));
  quoit_group_unref (quoit_ledger_reserve (ledger, small, now_ms, NULL, NULL));
  quoit_request_set_priority (high, 1);
  snapshot = quoit_ledger_snapshot (ledger);
  preemption = quoit_snapshot_find_preemption (snapshot, high, now_ms + 5000, NULL);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 1);
  victim = quoit_preemption_dup_group (preemption, 0);
  ck_assert_str_eq (quoit_group_get_name (victim), "small");
}
END_TEST

START_TEST (positions_survive_a_round_trip_of_fleet_text)
{
  static const char *const texts[] = {
    "v5p 4x4x4 x4 pool=p block=a grid=2x2x1 at=0-0-0\n",
    "v5p 4x4x4 x2 pool=p block=a grid=2x2x2 at=1-0-1;\nv5p 4x4x4 x1 pool=p block=a grid=2x2x2 at=0-0-0\n",
    "v5p 4x4x4 x2 pool=p block=a;\nv5p 4x4x4 x1 pool=p\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (QuoitLedger) ledger = ledger_with (texts[i], now_ms);
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
      g_autofree char *text = quoit_snapshot_dup_fleet_text (snapshot, NULL);

      ck_assert_str_eq (text, texts[i]);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("cubes");
  TCase *tcase = tcase_create ("cubes");

  tcase_add_test (tcase, cubes_are_chosen);
  tcase_add_test (tcase, blocks_are_compared_over_time);
  tcase_add_test (tcase, workers_are_in_the_order_of_the_joined_box);
  tcase_add_test (tcase, meshes_have_the_wraparound_links_of_the_joined_slice);
  tcase_add_test (tcase, bad_requests_are_refused);
  tcase_add_test (tcase, settings_that_contradict_cubes_are_refused);
  tcase_add_test (tcase, refusals_name_the_block);
  tcase_add_test (tcase, a_lost_cube_is_replaced_in_its_block);
  tcase_add_test (tcase, repair_keeps_the_cubes_that_its_processes_use);
  tcase_add_test (tcase, quotas_count_the_class_that_was_requested);
  tcase_add_test (tcase, each_reason_of_a_quota_removes_slices);
  tcase_add_test (tcase, cubes_are_queued_preempted_and_reserved_ahead);
  tcase_add_test (tcase, preemption_counts_the_chips_of_cubes);
  tcase_add_test (tcase, positions_survive_a_round_trip_of_fleet_text);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
