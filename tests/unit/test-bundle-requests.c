/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for bundles: valid settings, and refusals of contradictory ones. */
#include <quoit/models.h>
#include <string.h>

#include "placement/request.h"
#include "suite.h"

static const struct {
  const char *amounts;
  const char *text; /* the parsed text; NULL: refused */
  const char *part;
} amounts[] = {
  { "TPU=4", "TPU=4", NULL },
  { "TPU=4,CPU=8", "CPU=8,TPU=4", NULL },
  { "TPU=1.5", "TPU=1.5", NULL },
  { "CPU=0.0001", "CPU=0.0001", NULL },
  { "CPU=1.00000", "CPU=1", NULL },
  { "memory=900000000000000", "memory=900000000000000", NULL },
  { "TPU-v6e-16-head=1,tpu-group-0=1", "TPU-v6e-16-head=1,tpu-group-0=1", NULL },
  { "node:__internal_implicit_resource_x=0.5", "node:__internal_implicit_resource_x=0.5", NULL },
  { "google.com/tpu=1,my_group_a=1", "google.com/tpu=1,my_group_a=1", NULL },
  { "\"CPU\"=1", "CPU=1", NULL },
  { "\"a,b=c\"=1", "\"a,b=c\"=1", NULL },
  { "\"a\\\"b\"=1", "\"a\\\"b\"=1", NULL },
  { "a{};b=1", "\"a{};b\"=1", NULL },
  { "\303\244=1", "\"\\303\\244\"=1", NULL },
  { "Bundle=1,bundles=2", "Bundle=1,bundles=2", NULL },

  { "", NULL, "bundle 0: '': expected RESOURCE=AMOUNT" },
  { "TPU", NULL, "bundle 0: 'TPU': expected RESOURCE=AMOUNT" },
  { "TPU=4,", NULL, "bundle 0: '': expected RESOURCE=AMOUNT" },
  { "TPU=4,,CPU=1", NULL, "bundle 0: ',CPU=1': expected RESOURCE=AMOUNT" },
  { "TPU:4", NULL, "bundle 0: 'TPU:4': expected RESOURCE=AMOUNT" },
  { "\"TPU=4", NULL, "bundle 0: '\"TPU=4': expected RESOURCE=AMOUNT" },
  { "\"TPU\"4", NULL, "expected RESOURCE=AMOUNT" },
  { "\"a\\", NULL, "expected RESOURCE=AMOUNT" },
  { "=4", NULL, "bundle 0: resource '': expected a name of 1 to 253 bytes" },
  { "\"\"=4", NULL, "bundle 0: resource '': expected a name of 1 to 253 bytes" },
  { "a\nb=4", NULL, "expected printable UTF-8 text" },
  { "a\xff=4", NULL, "expected printable UTF-8 text" },
  { "\"a\\377\"=4", NULL, "expected printable UTF-8 text" },
  { "bundle=1", NULL, "bundle 0: resource 'bundle' is created by placement groups" },
  { "TPU_group_0_0123456789abcdef0123456789abcdef0123=1", NULL, "is created by placement groups" },
  { "CPU_group_0123456789abcdef0123456789abcdef0123=1", NULL, "is created by placement groups" },
  { "TPU=", NULL, "bundle 0: resource 'TPU': amount '': expected" },
  { "TPU=four", NULL, "bundle 0: resource 'TPU': amount 'four': expected" },
  { "TPU=0", NULL, "bundle 0: resource 'TPU': amount '0': expected more than 0" },
  { "TPU=-1", NULL, "bundle 0: resource 'TPU': amount '-1': expected a number that is not negative" },
  { "TPU=1e3", NULL, "amount '1e3'" },
  { "TPU=nan", NULL, "amount 'nan'" },
  { "TPU=inf", NULL, "amount 'inf'" },
  { "TPU= 4", NULL, "amount ' 4'" },
  { "TPU=4 ", NULL, "amount '4 '" },
  { "TPU=4;CPU=1", NULL, "bundle 0: ';CPU=1' after an amount" },
  { "TPU=4}", NULL, "bundle 0: '}' after an amount" },
  { "TPU=0.00001", NULL, "no part finer than 0.0001" },
  { "memory=900000000000000.0001", NULL, "at most 900000000000000" },
  { "memory=99999999999999999999", NULL, "resource 'memory': amount '99999999999999999999': expected less" },
  { "TPU=1,CPU=1,TPU=2", NULL, "bundle 0: resource 'TPU' is given twice" },
};

START_TEST (a_bundle_takes_exact_amounts_of_named_resources)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_autofree char *text = NULL, *expected = NULL;
  GError *error = NULL;
  bool ok = quoit_request_add_bundles (request, amounts[_i].amounts, 1, &error);

  ck_assert_msg (ok == (amounts[_i].text != NULL), "%s", amounts[_i].amounts);
  if (!ok)
    {
      ck_assert_refused (error, QUOIT_ERROR_INVALID, amounts[_i].part);
      ck_assert_uint_eq (request->bundles->len + request->resources->len, 0);
      return;
    }
  ck_assert_ok (error);
  text = quoit_request_format_canonical (request);
  expected = g_strdup_printf ("PACK 1x{%s}", amounts[_i].text);
  ck_assert_str_eq (text, expected);
}
END_TEST

/* The settings of a request, and the result: its text, or the refusal when it is used. */
static const struct {
  const char *actions, *text, *part;
} uses[] = {
  { "b:TPU=4 4:TPU=4 s:SPREAD", "SPREAD 5x{TPU=4}", NULL },
  { "b:TPU=4 b:CPU=1 b:TPU=4", "PACK 1x{TPU=4} 1x{CPU=1} 1x{TPU=4}", NULL },
  { "4:TPU=4 on1:k=v", "PACK 1x{TPU=4} 1x{TPU=4;k=v} 2x{TPU=4}", NULL },
  { "2:TPU=4 on0:k=v on0:a=!b on1:a=!b on1:k=v", "PACK 2x{TPU=4;a=!b;k=v}", NULL },
  { "b:TPU=4 on0:k=v on0:k=v", "PACK 1x{TPU=4;k=v}", NULL },
  { "b:TPU=4 on0:k=v on0:k=w", "PACK 1x{TPU=4;k=v;k=w}", NULL },
  { "10000:CPU=1 s:STRICT_SPREAD policy", "STRICT_SPREAD 10000x{CPU=1} policy=ray", NULL },
  { "4:TPU=4 label2:k s:STRICT_SPREAD", "STRICT_SPREAD 4x{TPU=4} topology-label=k values=2", NULL },
  { "4:TPU=4 label1:k policy", "PACK 4x{TPU=4} policy=ray topology-label=k values=1", NULL },
  { "4:TPU=4 label2:k label0", "PACK 4x{TPU=4}", NULL },
  { "2:CPU=1 s:STRICT_PACK soft:n", "STRICT_PACK 2x{CPU=1} soft-target=n", NULL },
  { "2:CPU=1 pool:p", "PACK 2x{CPU=1} pool=p", NULL },

  { "4:TPU=4 label2:k policy", NULL, "topology label 'k' of '2' values: policy 'ray' supports one" },
  { "4:TPU=4 label3:k", NULL, "topology label 'k' of '3' values: expected a number that divides the 4 bundles" },
  { "2:CPU=1 soft:n", NULL, "soft target 'n': expected strategy 'STRICT_PACK', not 'PACK'" },
  { "b:TPU=4 gen:v6e", NULL, "the request has bundles, and accelerator 'v6e'" },
  { "b:TPU=4 shape:4x4", NULL, "the request has bundles, and topology '4x4'" },
  { "b:TPU=4 slices:2", NULL, "the request has bundles, and slices '2'" },
  { "b:TPU=4 hosts:8", NULL, "the request has bundles, and chips per host '8'" },
  { "b:TPU=4 tpu:0.5", NULL, "the request has bundles, and TPU per bundle '0.5'" },
  { "gen:v6e shape:4x4 slices:2 s:PACK", NULL, "strategy 'PACK' is for bundles" },
  { "gen:v6e shape:4x4 slices:2 policy", NULL, "policy 'ray' is for bundles" },
  { "gen:v6e shape:4x4 slices:2 label1:k", NULL, "topology label 'k' is for bundles" },
  { "gen:v6e shape:4x4 slices:2 soft:n", NULL, "soft target 'n' is for bundles" },
  { "pool:p", NULL, "names no accelerator" },
};

static void
apply_action (QuoitRequest *request, const char *action)
{
  g_auto (GStrv) words = g_strsplit (action, ":", 2);
  const char *verb = words[0], *value = words[1];
  g_autofree char *key = value == NULL ? NULL : g_strndup (value, strcspn (value, "="));
  QuoitStrategy strategy = QUOIT_STRATEGY_PACK;
  bool ok = true;

  if (strcmp (verb, "b") == 0)
    ok = quoit_request_add_bundles (request, value, 1, NULL);
  else if (g_ascii_isdigit (*verb))
    ok = quoit_request_add_bundles (request, value, g_ascii_strtoll (verb, NULL, 10), NULL);
  else if (g_str_has_prefix (verb, "on"))
    ok = quoit_request_select_bundle (request, (guint32) g_ascii_strtoull (verb + 2, NULL, 10), key,
                                      strchr (value, '=') + 1, NULL);
  else if (strcmp (verb, "s") == 0)
    ok = quoit_strategy_parse (value, &strategy, NULL) && quoit_request_set_strategy (request, strategy, NULL);
  else if (strcmp (verb, "policy") == 0)
    ok = quoit_request_set_policy (request, QUOIT_POLICY_RAY, NULL);
  else if (g_str_has_prefix (verb, "label"))
    ok = quoit_request_set_topology_label (request, value, g_ascii_strtoll (verb + 5, NULL, 10), NULL);
  else if (strcmp (verb, "soft") == 0)
    quoit_request_set_soft_target (request, value);
  else if (strcmp (verb, "pool") == 0)
    quoit_request_set_pool (request, value);
  else if (strcmp (verb, "gen") == 0)
    ok = quoit_request_set_accelerator (request, value, NULL);
  else if (strcmp (verb, "shape") == 0)
    ok = quoit_request_set_topology (request, value, NULL);
  else if (strcmp (verb, "slices") == 0)
    ok = quoit_request_set_slices (request, g_ascii_strtoll (value, NULL, 10), NULL);
  else if (strcmp (verb, "hosts") == 0)
    ok = quoit_request_set_chips_per_host (request, g_ascii_strtoll (value, NULL, 10), NULL);
  else if (strcmp (verb, "tpu") == 0)
    ok = quoit_request_set_tpu_per_bundle (request, value, NULL);
  else
    ck_abort_msg ("no deed: %s", action);
  ck_assert_msg (ok, "%s", action);
}

START_TEST (request_is_for_bundles_or_slices)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_auto (GStrv) actions = g_strsplit (uses[_i].actions, " ", -1);
  g_autofree char *text = NULL;
  GError *error = NULL;

  for (char **action = actions; *action != NULL; action++)
    apply_action (request, *action);
  if (uses[_i].text == NULL)
    {
      ck_assert (!quoit_request_check_complete (request, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, uses[_i].part);
      return;
    }
  ck_assert (quoit_request_check_complete (request, &error));
  text = quoit_request_format_canonical (request);
  ck_assert_str_eq (text, uses[_i].text);
}
END_TEST

START_TEST (request_has_at_most_ten_thousand_bundles)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_autofree char *text = NULL;
  GError *error = NULL;

  ck_assert (!quoit_request_add_bundles (request, "CPU=1", 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundles '0': expected 1 to 10000 in total, 0 were added before");
  ck_assert (!quoit_request_add_bundles (request, "CPU=1", G_MAXINT64, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundles '9223372036854775807': expected 1 to 10000");
  ck_assert (quoit_request_add_bundles (request, "CPU=1", 9999, NULL));
  ck_assert (!quoit_request_add_bundles (request, "CPU=1", 2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundles '2': expected 1 to 10000 in total, 9999 were added before");
  ck_assert (quoit_request_add_bundles (request, "CPU=1", 1, NULL));
  ck_assert (!quoit_request_add_bundles (request, "CPU=1", 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundles '1'");
  text = quoit_request_format_canonical (request);
  ck_assert_str_eq (text, "PACK 10000x{CPU=1}");
}
END_TEST

START_TEST (refused_bundle_setting_leaves_the_request_unchanged)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_autofree char *text = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_add_bundles (request, "CPU=1", 2, NULL));
  ck_assert (!quoit_request_select_bundle (request, 2, "k", "v", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle '2': expected the index of one that was added, below 2");
  ck_assert (!quoit_request_select_bundle (request, UINT32_MAX, "k", "v", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle '4294967295'");
  ck_assert (!quoit_request_select_bundle (request, 1, "k/", "v", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle 1: label key 'k/'");
  ck_assert (!quoit_request_select_bundle (request, 1, "k", "in(a", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle 1: selector 'k=' 'in(a'");
  ck_assert (!quoit_request_set_strategy (request, (QuoitStrategy) 4, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "strategy '4': expected PACK");
  ck_assert (!quoit_request_set_policy (request, (QuoitPolicy) 2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "policy '2': expected best or ray");
  ck_assert (!quoit_request_set_topology_label (request, "k", 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology label 'k' of '0' values: expected 1 to 10000");
  ck_assert (!quoit_request_set_topology_label (request, "", 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology label key ''");
  text = quoit_request_format_canonical (request);
  ck_assert_str_eq (text, "PACK 2x{CPU=1}");
}
END_TEST

START_TEST (number_of_resources_and_selectors_is_limited)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  GError *error = NULL;

  for (guint i = 0; i < QUOIT_MAX_RESOURCES; i++)
    {
      g_autofree char *amount = g_strdup_printf ("r%u=1", i);

      ck_assert (quoit_request_add_bundles (request, amount, 1, NULL));
    }
  ck_assert (!quoit_request_add_bundles (request, "one=1", 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle 256: expected at most 256 different resources");
  ck_assert (quoit_request_add_bundles (request, "r0=2,r255=3", 1, &error));
  for (guint i = 0; i < QUOIT_MAX_BUNDLE_SELECTORS; i++)
    ck_assert (quoit_request_select_bundle (request, 0, "k", "v", NULL));
  ck_assert (!quoit_request_select_bundle (request, 0, "k", "v", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle 0: selector 'k': expected at most 1000 per bundle");
  ck_assert (quoit_request_select_bundle (request, 1, "k", "v", NULL));
}
END_TEST

START_TEST (copy_requests_the_same_bundles_under_a_different_name)
{
  QuoitRequest *request = quoit_request_new ("g", NULL);
  g_autoptr (QuoitRequest) copy = NULL;
  g_autofree char *before = NULL, *after = NULL;

  ck_assert (quoit_request_add_bundles (request, "CPU=1,a b=2", 3, NULL));
  ck_assert (quoit_request_add_bundles (request, "CPU=1", 2, NULL));
  for (guint i = 0; i < 3; i++)
    ck_assert (quoit_request_select_bundle (request, i, "zone", "!x", NULL));
  ck_assert (quoit_request_set_strategy (request, QUOIT_STRATEGY_STRICT_SPREAD, NULL)
             && quoit_request_set_policy (request, QUOIT_POLICY_RAY, NULL)
             && quoit_request_set_topology_label (request, "rack", 2, NULL));
  quoit_request_set_soft_target (request, "n");
  before = quoit_request_format_canonical (request);
  copy = quoit_request_copy (request, "h", NULL);
  ck_assert (quoit_request_add_bundles (request, "TPU=1", 1, NULL));
  quoit_request_free (request);
  after = quoit_request_format_canonical (copy);
  ck_assert_str_eq (before, after);
  ck_assert_ptr_nonnull (strstr (before, "3x{CPU=1,"));
  ck_assert_str_eq (copy->name, "h");
  ck_assert (copy->has_strategy && copy->policy == QUOIT_POLICY_RAY && copy->n_selectors == 3);
  ck_assert_ptr_eq (quoit_request_bundle (copy, 3)->takes, quoit_request_bundle (copy, 4)->takes);
  /* A repeated resource is not added to the list again. */
  ck_assert (quoit_request_add_bundles (copy, "CPU=2", 1, NULL));
  ck_assert_uint_eq (copy->resources->len, 2);
}
END_TEST

static const char *const bad_names[]
    = { "", "a@b", "a/b", "a@/b", "a\nb", "\xff\xfe", "o\tp", "\xe2\x80", "a\x7f", "\xe2\x80\xae" };

START_TEST (invalid_name_key_or_owner_is_refused_when_it_is_set)
{
  const char *bad = bad_names[_i];
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_autofree char *long_name = g_strnfill (254, 'x'), *longest = g_strnfill (253, 'x');
  GError *error = NULL;

  ck_assert (quoit_request_set_key (request, longest, NULL) && quoit_request_set_owner (request, "owner", NULL));
  ck_assert_ptr_null (quoit_request_new (bad, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group name '");
  ck_assert_ptr_null (quoit_request_copy (request, bad, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group name '");
  ck_assert (!quoit_request_set_key (request, bad, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "request key '");
  ck_assert (!quoit_request_set_key (request, long_name, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 1 to 253 bytes, got 254");
  ck_assert (!quoit_request_set_owner (request, bad, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "owner '");
  ck_assert_str_eq (request->key, longest);
  ck_assert_str_eq (request->owner, "owner");
  ck_assert (quoit_request_set_key (request, NULL, NULL) && quoit_request_set_owner (request, NULL, NULL));
  ck_assert_ptr_null (request->key);
  ck_assert_ptr_null (request->owner);
}
END_TEST

START_TEST (copy_requests_the_same_slices_under_a_different_name)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", NULL);
  g_autoptr (QuoitRequest) copy = NULL;
  g_autofree char *before = NULL, *after = NULL;

  ck_assert (
      quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "2x4", NULL)
      && quoit_request_set_slice_range (request, 1, 3, NULL) && quoit_request_set_chips_per_host (request, 4, NULL)
      && quoit_request_set_tpu_per_bundle (request, "0.5", NULL)
      && quoit_request_add_selector (request, "k", "in(a,b)", NULL) && quoit_request_set_lease_ms (request, 5, NULL));
  quoit_request_set_key (request, "key", NULL);
  quoit_request_set_owner (request, "owner", NULL);
  quoit_request_set_pool (request, "pool");
  quoit_request_set_zone (request, "zone");
  quoit_request_add_slice (request, "s-1");
  quoit_request_exclude_slice (request, "s-3");
  before = quoit_request_format_canonical (request);
  copy = quoit_request_copy (request, "h", NULL);
  quoit_request_exclude_slice (request, "s-4");
  quoit_request_set_key (request, "another", NULL);
  after = quoit_request_format_canonical (copy);
  ck_assert_str_eq (after, before);
  ck_assert_str_eq (copy->name, "h");
  ck_assert_str_eq (copy->key, "key");
  ck_assert_str_eq (copy->owner, "owner");
  ck_assert_int_eq (copy->lease_ms, 5);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bundle-requests");
  TCase *tcase = tcase_create ("bundle-requests");

  tcase_add_loop_test (tcase, a_bundle_takes_exact_amounts_of_named_resources, 0, G_N_ELEMENTS (amounts));
  tcase_add_loop_test (tcase, request_is_for_bundles_or_slices, 0, G_N_ELEMENTS (uses));
  tcase_add_test (tcase, request_has_at_most_ten_thousand_bundles);
  tcase_add_test (tcase, refused_bundle_setting_leaves_the_request_unchanged);
  tcase_add_test (tcase, number_of_resources_and_selectors_is_limited);
  tcase_add_loop_test (tcase, invalid_name_key_or_owner_is_refused_when_it_is_set, 0, G_N_ELEMENTS (bad_names));
  tcase_add_test (tcase, copy_requests_the_same_bundles_under_a_different_name);
  tcase_add_test (tcase, copy_requests_the_same_slices_under_a_different_name);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
