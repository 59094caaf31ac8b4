/* SPDX-License-Identifier: Apache-2.0 */
/* Short formats: quantities, labels, variables, fleet text; and reading a file. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "claims-suite.h"
#include "formats/json.h"
#include "formats/quantity.h"
#include "formats/variables.h"
#include "formats/writer.h"
#include "models/ray/label-syntax.h"

static const struct {
  const char *text, *amount;
} quantities[] = {
  { "0", "0" },
  { "8", "8" },
  { "+8", "8" },
  { "0.5", "0.5" },
  { ".5", "0.5" },
  { "5.", "5" },
  { "500m", "0.5" },
  { "1500m", "1.5" },
  { "100u", "0.0001" },
  { "100000n", "0.0001" },
  { "1e3", "1000" },
  { "1E3", "1000" },
  { "1.5e-3", "0.0015" },
  { "200G", "200000000000" },
  { "16Gi", "17179869184" },
  { "1579277216Ki", "1617179869184" },
  { "0.5Ki", "512" },
  { "1.1Ki", "1126.4" },
  { "1.23456Gi", "1325598706.2375" },
  { "1k", "1000" },
  { "2M", "2000000" },
  { "3T", "3000000000000" },
  { "1Ti", "1099511627776" },
  { "0Ei", "0" },
  { "0e400", "0" },
  { "00000000000000000000000000000000000000008", "8" },
  { "922337203685477.5807", "922337203685477.5807" },
};

static const struct {
  const char *text, *message;
} bad_quantities[] = {
  { "", "quantity '': expected a quantity such as" },
  { "-1", "'-1': expected one that is not negative" },
  { "-.5", "expected one that is not negative" },
  { "NaN", "'NaN': expected a quantity such as" },
  { "inf", "expected a quantity" },
  { "0.00001", "'0.00001': expected no part finer than 0.0001" },
  { "1n", "expected no part finer than 0.0001" },
  { "99u", "expected no part finer than 0.0001" },
  { "1e400", "'1e400': expected less than 922337203685477.5808" },
  { "1e-400", "expected no part finer than 0.0001" },
  { "1E", "expected less than" },
  { "1Ei", "expected less than" },
  { "922337203685477.5808", "expected less than" },
  { "8 ", "expected a quantity" },
  { " 8", "expected a quantity" },
  { "8g", "expected a quantity" },
  { "8K", "expected a quantity" },
  { "8Gib", "expected a quantity" },
  { "8e", "expected a quantity" },
  { "8e1.5", "expected a quantity" },
  { "1.2.3", "expected a quantity" },
  { "0x10", "expected a quantity" },
  { ".", "expected a quantity such as" },
  { "1234567890123456789012345678901", "expected at most 30 digits" },
  { "${N}", "expected a quantity" },
};

START_TEST (a_quantity_is_read_exactly)
{
  GError *error = NULL;
  QuoitAmount amount;

  quoit_quantity_parse (quantities[_i].text, &amount, &error);
  ck_assert_ok (error);
  ck_assert_text (quoit_amount_format (amount), quantities[_i].amount);
}
END_TEST

START_TEST (inexact_quantity_is_refused)
{
  GError *error = NULL;
  QuoitAmount amount = { 77 };

  ck_assert (!quoit_quantity_parse (bad_quantities[_i].text, &amount, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_quantities[_i].message);
  ck_assert_int_eq (amount.e4, 77);
}
END_TEST

START_TEST (amounts_are_rounded_up_to_whole_units)
{
  static const struct {
    int64_t e4, up;
  } rows[]
      = { { 0, 0 }, { 1, 10000 }, { 9999, 10000 }, { 10000, 10000 }, { 10001, 20000 }, { G_MAXINT64, G_MAXINT64 } };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    ck_assert_int_eq (quoit_quantity_round_up ((QuoitAmount) { rows[i].e4 }).e4, rows[i].up);
}
END_TEST

START_TEST (rays_memory_text_is_whole_bytes)
{
  static const struct {
    const char *text, *amount;
  } rows[] = { { "1.000 GiB", "1073741824" },   { "80.000 MiB", "83886080" },
               { "0.001 MiB", "1048" },         { "5.000 B", "5" },
               { "1.5 KiB", "1536" },           { "0.000 MiB", "0" },
               { "2.000 TiB", "2199023255552" } };
  static const char *const bad[]
      = { "", "1", "1GiB", "1.000 GB", "-1.000 GiB", "1.000  GiB", "x GiB", "99999999999.0 TiB" };
  QuoitAmount amount = { 77 };
  GError *error = NULL;

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ck_assert (quoit_memory_text_parse (rows[i].text, &amount, &error));
      ck_assert_text (quoit_amount_format (amount), rows[i].amount);
    }
  amount.e4 = 77;
  for (unsigned i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      ck_assert_msg (!quoit_memory_text_parse (bad[i], &amount, &error), "%s", bad[i]);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected");
      ck_assert_int_eq (amount.e4, 77);
    }
}
END_TEST

START_TEST (label_keys_and_values_are_checked_as_in_ray)
{
  static const char *const keys[]
      = { "a", "a.b-c_d", "ray.io/tpu-slice-name", "/x", ".a/x", "a./x", "a..b/x", "a_b.c/x", "A/1" };
  static const char *const bad_keys[]
      = { "", "a/b/x", "prefix_/x", "-a/x", "x/", "-x", "x-", "a b", "x\n", "a/x\n", "\xc3\xa9" };
  static const char *const values[] = { "", "a", "4x4", "v6e-16", "a.b_c-d" };
  static const char *const bad_values[] = { "-a", "a-", "a b", "a\n", "$(id)", "'", "a/b", "!a" };
  g_autofree char *token = g_strnfill (63, 'a'), *longer = g_strnfill (64, 'a');
  g_autofree char *prefix = g_strnfill (253, 'a'), *segments = NULL, *key = NULL, *too_long = NULL;
  GError *error = NULL;

  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    ck_assert_msg (quoit_label_check_key (keys[i], NULL), "%s", keys[i]);
  for (unsigned i = 0; i < G_N_ELEMENTS (bad_keys); i++)
    {
      ck_assert_msg (!quoit_label_check_key (bad_keys[i], &error), "%s", bad_keys[i]);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected [PREFIX/]NAME");
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (values); i++)
    ck_assert_msg (quoit_label_check_value (values[i], NULL), "%s", values[i]);
  for (unsigned i = 0; i < G_N_ELEMENTS (bad_values); i++)
    {
      ck_assert_msg (!quoit_label_check_value (bad_values[i], &error), "%s", bad_values[i]);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected at most 63");
    }
  ck_assert (quoit_label_check_key (token, NULL) && quoit_label_check_value (token, NULL));
  ck_assert (!quoit_label_check_key (longer, NULL) && !quoit_label_check_value (longer, NULL));

  /* A prefix of 253 bytes is valid if dots divide it into parts of at most 63. */
  prefix[60] = prefix[120] = prefix[180] = prefix[240] = '.';
  key = g_strconcat (prefix, "/x", NULL);
  ck_assert (quoit_label_check_key (key, NULL));
  prefix[60] = 'a';
  segments = g_strconcat (prefix, "/x", NULL);
  ck_assert (!quoit_label_check_key (segments, NULL));
  prefix[60] = '.';
  too_long = g_strconcat (".", prefix, "/x", NULL);
  ck_assert (!quoit_label_check_key (too_long, NULL));
}
END_TEST

START_TEST (variables_are_replaced_or_refused_by_name)
{
  static const char *const set[] = { "A=1", "B_2=x=${A}", "EMPTY=", NULL };
  static const struct {
    const char *const set[3];
    const char *message;
  } bad[] = { { { "A" }, "variable 'A': expected NAME=value" },
              { { "=1" }, "variable '=1': expected NAME=value" },
              { { "1A=1" }, "expected NAME=value" },
              { { "A B=1" }, "expected NAME=value" },
              { { "A=1", "A=2" }, "variable 'A=1': expected each name once" },
              { { "A=\xff" }, "expected UTF-8" } };
  static const char *const open[] = { "${", "${}", "${A", "${A:-1}", "${1}", "x ${A b}" };
  GError *error = NULL;

  ck_assert (quoit_variables_check (NULL, NULL) && quoit_variables_check (set, NULL));
  ck_assert_text (quoit_variables_expand ("$A ${A}${A} $(A) ${B_2}${EMPTY}.", set, NULL, NULL), "$A 11 $(A) x=${A}.");
  ck_assert_ptr_null (quoit_variables_expand ("${NOT_SET}", set, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "variable '${NOT_SET}' has no value: expected --set NOT_SET=VALUE");
  ck_assert_ptr_null (quoit_variables_expand ("${A}", NULL, NULL, NULL));
  for (unsigned i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      ck_assert (!quoit_variables_check (bad[i].set, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, bad[i].message);
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (open); i++)
    {
      ck_assert_ptr_null (quoit_variables_expand (open[i], set, NULL, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected ${NAME}");
    }
}
END_TEST

static const struct {
  const char *fleet, *nodes;
} fleets[] = {
  { "v6e 2x4", "v6e-2x4:v6e-2x4-0-0@v6e-2x4-0.0" },
  { "v6e 2x4 hostchips=4", "v6e-2x4:v6e-2x4-0-0@v6e-2x4-0.0 v6e-2x4:v6e-2x4-0-1@v6e-2x4-0.1" },
  { "v6e 2x2 x2 pool=p", "p:p-0-0@p-0.0 p:p-1-0@p-1.0" },
  { "  v6e\n2x2\tx 2  pool=p  ", "p:p-0-0@p-0.0 p:p-1-0@p-1.0" },
  { "v6e 2x2 pool=p;v6e 2x2 x2 pool=p busy=2", "p:p-0-0@p-0.0 p:p-1-0@p-1.0 p:p-2-0@p-2.0!busy" },
  { "v6e 2x2; v5p 2x2x1 pool=b", "v6e-2x2:v6e-2x2-0-0@v6e-2x2-0.0 b:b-0-0@b-0.0" },
  { "v5p 2x2x2 x3 pool=p busy=0-1 dead=2.1",
    "p:p-0-0@p-0.0!busy p:p-0-1@p-0.1!busy p:p-1-0@p-1.0!busy p:p-1-1@p-1.1!busy p:p-2-0@p-2.0 p:p-2-1@p-2.1!dead" },
  { "v5p 2x2x2 x2 pool=p draining=0.0-1,1.0 busy=0", "p:p-0-0@p-0.0!draining!busy p:p-0-1@p-0.1!draining!busy "
                                                     "p:p-1-0@p-1.0!draining p:p-1-1@p-1.1" },
};

static const struct {
  const char *fleet, *message;
} bad_fleets[] = {
  { "", "byte 0: the end: expected a TPU generation" },
  { "v6e", "byte 3: the end: expected a topology" },
  { "v6e 4x4;", "byte 8: the end: expected a TPU generation" },
  { "; v6e 4x4", "byte 0: ';': expected a TPU generation" },
  { "v9 4x4", "byte 0: " },
  { "v6e-16 4x4", "byte 0: " },
  { "tpu8t 4x4", "byte 0: " },
  { "v6e 4X4", "byte 4: " },
  { "v6e 4x", "byte 4: " },
  { "v6e 0x4", "byte 4: " },
  { "v6e 4x4x", "byte 4: " },
  { "v6e 5x5", "byte 4: " },
  { "v6e 2x2x2", "byte 4: " },
  { "v6e 99999x99999", "byte 4: " },
  { "v6e 4x4 x0", "byte 9: '0': expected how many slices" },
  { "v6e 4x4 x-1", "byte 9: '-1': expected how many slices" },
  { "v6e 4x4 x", "expected how many slices" },
  { "v6e 4x4 x1x", "expected how many slices" },
  { "v6e 4x4 x2 x3", "byte 11: 'x3': expected the number of slices once" },
  { "v6e 4x4 x99999999", "byte 9: 99999999 slices of 4 nodes: expected at most 4000000" },
  { "v6e 4x4 x4294967296", "expected how many slices" },
  { "v6e 4x4 x99999999999999999999", "expected how many slices" },
  { "v6e 4x4 x999999; v6e 4x4 x2", "byte 26: 2 slices of 4 nodes: expected at most 4000000" },
  { "v6e 4x4 3", "byte 8: '3': expected key=value" },
  { "v6e 4x4 colour=red", "byte 8: 'colour': expected one of pool, zone" },
  { "v6e 4x4 pool=", "expected a value behind '='" },
  { "v6e 4x4 pool=a pool=b", "byte 15: 'pool=b': expected each key once" },
  { "v6e 4x4 pool=a/b", "byte 13: label value 'a/b'" },
  { "v6e 4x4 zone=$(id)", "byte 13: label value '$(id)'" },
  { "v6e 4x4 hostchips=3", "byte 18: " },
  { "v6e 4x4 hostchips=0", "byte 18: '0': expected the chips of a host" },
  { "v6e 4x4 hostchips=x", "byte 18: 'x': expected the chips of a host" },
  { "v6e 4x4 busy=1", "byte 13: '1': expected slices of this item: 0 to 0" },
  { "v6e 4x4 x2 busy=1-0", "expected slices of this item: 0 to 1, the lower one first" },
  { "v6e 4x4 busy=0.4", "byte 15: '4': expected worker ids of this item: 0 to 3" },
  { "v6e 4x4 busy=0.3-2", "expected worker ids of this item" },
  { "v6e 4x4 x2 busy=0-1.2", "byte 19: '.2': expected a reference" },
  { "v6e 4x4 busy=0,", "expected a reference" },
  { "v6e 4x4 busy=,0", "expected a reference" },
  { "v6e 4x4 busy=0;", "byte 15: the end" },
  { "v6e 4x4 busy=a", "byte 13: 'a': expected slices" },
  { "v6e 4x4 busy=99999999999", "expected slices of this item" },
  { "v6e 4x4 x2 pool=p; v6e 4x4 pool=p dead=0", "byte 39: '0': expected slices of this item: 2 to 2" },
  { "v6e 4x4 x2 dead=1.2 draining=0-1",
    "byte 16: '1.2': expected no other state for dead nodes: worker 2 of slice 1 is also draining" },
  { "v6e 4x4 dead=0 busy=0.3", "worker 3 of slice 0 is also busy" },
  { "v6e 4x4 pool=\xff", "byte 13: '\\xff': expected UTF-8" },
};

START_TEST (fleet_text_gives_the_expected_nodes)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_fleet_text (fleets[_i].fleet, strlen (fleets[_i].fleet), NULL, &error);

  ck_assert_ok (error);
  ck_assert_text (nodes_as_text (claims), fleets[_i].nodes);
  ck_assert_str_eq (quoit_claims_source (claims), "fleet");
}
END_TEST

START_TEST (invalid_fleet_text_is_refused_with_the_byte)
{
  GError *error = NULL;

  ck_assert_msg (quoit_read_fleet_text (bad_fleets[_i].fleet, strlen (bad_fleets[_i].fleet), NULL, &error) == NULL,
                 "%s", bad_fleets[_i].fleet);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_fleets[_i].message);
  ck_assert_ptr_null (quoit_read_fleet_text (bad_fleets[_i].fleet, strlen (bad_fleets[_i].fleet), NULL, NULL));
}
END_TEST

START_TEST (a_fleets_nodes_have_the_labels_that_ray_would_show)
{
  static const char text[] = "v5e 2x4 zone=us-east5-b hostchips=4";
  g_autoptr (QuoitClaims) claims = quoit_read_fleet_text (text, strlen (text), "mine", NULL);
  const QuoitNodeKind *kind = quoit_claims_kind_at (claims, 0);

  ck_assert_str_eq (quoit_claims_source (claims), "mine");
  ck_assert_uint_eq (quoit_claims_n_kinds (claims), 1);
  ck_assert_text (labels_as_text (claims, 0),
                  "ray.io/accelerator-type=TPU-V5LITEPOD ray.io/availability-zone=us-east5-b ray.io/node-group=v5e-2x4 "
                  "ray.io/tpu-pod-type=v5litepod-8 ray.io/tpu-topology=2x4");
  ck_assert_text (resources_as_text (claims, 0), "TPU=4");
  ck_assert_int_eq (kind->generation, QUOIT_GENERATION_V5E);
  ck_assert_str_eq (kind->topology, "2x4");
  ck_assert_str_eq (kind->pod_type, "v5litepod-8");
  ck_assert_uint_eq (kind->chips, 4);
}
END_TEST

START_TEST (claims_are_written_as_one_document)
{
  static const char text[] = "v6e 2x2 x11 pool=p dead=1";
  g_autoptr (QuoitClaims) claims = quoit_read_fleet_text (text, strlen (text), "\x01\"\n$(id)\xc3\xa9", NULL);
  g_autofree char *json = quoit_write_claims_json (claims), *again = quoit_write_claims_json (claims);
  g_autoptr (JsonNode) root = quoit_json_parse (json, strlen (json), NULL);
  JsonObject *object, *node;

  ck_assert_str_eq (json, again);
  ck_assert_msg (root != NULL, "%s", json);
  object = json_node_get_object (root);
  ck_assert_str_eq (json_object_get_string_member (object, "schema"), "quoit/1");
  ck_assert_str_eq (json_object_get_string_member (object, "source"), "\x01\"\n$(id)\xc3\xa9");
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (object, "nodes")), 11);
  node = json_array_get_object_element (json_object_get_array_member (object, "nodes"), 1);
  ck_assert_str_eq (json_object_get_string_member (node, "name"), "p-1-0");
  ck_assert_str_eq (json_object_get_string_member (node, "state"), "dead");
  ck_assert_str_eq (json_object_get_string_member (json_object_get_object_member (node, "resources"), "TPU"), "4");
}
END_TEST

static char *folder;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("quoit-formats-XXXXXX", NULL);
  ck_assert_ptr_nonnull (folder);
}

static void
remove_folder (void)
{
  static const char *const names[] = { "file", "pipe", "secret" };

  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
  g_clear_pointer (&folder, g_free);
}

static void
refuse_file (const char *path, QuoitErrorCode code, const char *message)
{
  GError *error = NULL;
  gsize length = 77;
  char *text = (char *) message;

  ck_assert (!quoit_read_file (path, &text, &length, &error));
  ck_assert_msg (g_str_has_prefix (error->message, path), "%s", error->message);
  ck_assert_refused (error, code, message);
  ck_assert_ptr_eq (text, message);
  ck_assert_uint_eq (length, 77);
}

START_TEST (a_file_is_read_whole)
{
  static const char *const contents[] = { "", "x", "a\0b" };
  static const gsize lengths[] = { 0, 1, 3 };
  g_autofree char *path = g_build_filename (folder, "file", NULL);

  for (unsigned i = 0; i < G_N_ELEMENTS (contents); i++)
    {
      g_autofree char *text = NULL;
      gsize length;

      ck_assert (g_file_set_contents (path, contents[i], (gssize) lengths[i], NULL));
      ck_assert (quoit_read_file (path, &text, &length, NULL));
      ck_assert_uint_eq (length, lengths[i]);
      ck_assert_int_eq (memcmp (text, contents[i], length + 1), 0);
    }
}
END_TEST

static gpointer
write_to_pipe (gpointer path)
{
  g_autofree char *block = g_strnfill (3000000, 'y');
  int fd = open (path, O_WRONLY);

  for (gsize n = 0; n < 3000000;)
    {
      gssize wrote = write (fd, block + n, 3000000 - n);

      ck_assert_int_gt (wrote, 0);
      n += (gsize) wrote;
    }
  close (fd);
  return NULL;
}

START_TEST (a_pipe_is_read_to_its_end)
{
  g_autofree char *path = g_build_filename (folder, "pipe", NULL), *text = NULL;
  GThread *writer;
  gsize length;

  ck_assert_int_eq (mkfifo (path, 0600), 0);
  writer = g_thread_new ("writer", write_to_pipe, path);
  ck_assert (quoit_read_file (path, &text, &length, NULL));
  g_thread_join (writer);
  ck_assert_uint_eq (length, 3000000);
}
END_TEST

START_TEST (unreadable_file_is_refused_with_its_path)
{
  g_autofree char *path = g_build_filename (folder, "file", NULL), *secret = g_build_filename (folder, "secret", NULL);
  g_autofree char *below = g_build_filename (folder, "file", "below", NULL);
  int fd;

  refuse_file (folder, QUOIT_ERROR_INVALID, "is a directory: expected a file");
  refuse_file (path, QUOIT_ERROR_NOT_FOUND, "No such file");
  refuse_file ("/dev/zero", QUOIT_ERROR_INVALID, "is a device or socket");

  /* 1 GiB of zeros, which needs no disk space and is not read. */
  fd = g_open (path, O_CREAT | O_WRONLY, 0600);
  ck_assert_int_eq (ftruncate (fd, 1 << 30), 0);
  close (fd);
  refuse_file (path, QUOIT_ERROR_INVALID, "has 1073741824 bytes: expected at most 256 MiB");
  refuse_file (below, QUOIT_ERROR_NOT_FOUND, "Not a directory");

  /* Root may read all files. */
  ck_assert (g_file_set_contents (secret, "x", 1, NULL));
  ck_assert_int_eq (g_chmod (secret, 0), 0);
  if (geteuid () != 0)
    refuse_file (secret, QUOIT_ERROR_STORE, "Permission denied");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-text");
  TCase *words = tcase_create ("words"), *fleet = tcase_create ("fleet"), *files = tcase_create ("files");

  tcase_add_loop_test (words, a_quantity_is_read_exactly, 0, G_N_ELEMENTS (quantities));
  tcase_add_loop_test (words, inexact_quantity_is_refused, 0, G_N_ELEMENTS (bad_quantities));
  tcase_add_test (words, amounts_are_rounded_up_to_whole_units);
  tcase_add_test (words, rays_memory_text_is_whole_bytes);
  tcase_add_test (words, label_keys_and_values_are_checked_as_in_ray);
  tcase_add_test (words, variables_are_replaced_or_refused_by_name);
  suite_add_tcase (suite, words);
  tcase_set_timeout (fleet, 60);
  tcase_add_loop_test (fleet, fleet_text_gives_the_expected_nodes, 0, G_N_ELEMENTS (fleets));
  tcase_add_loop_test (fleet, invalid_fleet_text_is_refused_with_the_byte, 0, G_N_ELEMENTS (bad_fleets));
  tcase_add_test (fleet, a_fleets_nodes_have_the_labels_that_ray_would_show);
  tcase_add_test (fleet, claims_are_written_as_one_document);
  suite_add_tcase (suite, fleet);
  tcase_add_checked_fixture (files, make_folder, remove_folder);
  tcase_add_test (files, a_file_is_read_whole);
  tcase_add_test (files, a_pipe_is_read_to_its_end);
  tcase_add_test (files, unreadable_file_is_refused_with_its_path);
  suite_add_tcase (suite, files);
  return suite_main (suite);
}
