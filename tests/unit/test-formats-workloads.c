/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that make pods without Ray, as sources of nodes. */
#include "claims-suite.h"

#define TPU(selectors, chips)                                                                                          \
  "{nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice" selectors "}, containers: [{name: a, "         \
  "resources: {limits: {google.com/tpu: " chips "}}}]}"
#define TPU_4X4 TPU (", cloud.google.com/gke-tpu-topology: 4x4", "4")
#define TPU_2X2 TPU (", cloud.google.com/gke-tpu-topology: 2x2", "4")
#define CPU "{containers: [{name: a, resources: {limits: {cpu: 2}}}]}"
#define OBJECT(kind, spec) "apiVersion: any/v1\nkind: " kind "\nmetadata: {name: t}\nspec: " spec "\n"
#define JOB(n, pod) "{parallelism: " n ", template: {spec: " pod "}}"

static QuoitClaims *
read_text (const char *text, const char *const *set, GError **error)
{
  return quoit_read_raycluster (text, strlen (text), NULL, set, error);
}

static const struct {
  const char *text, *nodes;
} objects[] = {
  { OBJECT ("JobSet", "{replicatedJobs: [{name: w, replicas: 2, template: {spec: " JOB ("4", TPU_4X4) "}}]}"),
    "w:t-w-0-0@t-w-0.0 w:t-w-0-1@t-w-0.1 w:t-w-0-2@t-w-0.2 w:t-w-0-3@t-w-0.3 "
    "w:t-w-1-0@t-w-1.0 w:t-w-1-1@t-w-1.1 w:t-w-1-2@t-w-1.2 w:t-w-1-3@t-w-1.3" },
  { OBJECT ("JobSet", "{replicatedJobs: [{name: d, template: {spec: " JOB ("1", CPU) "}}, "
                                                                                     "{name: w, template: {spec: " JOB (
                                                                                         "1", TPU_2X2) "}}]}"),
    "d:t-d-0-0 w:t-w-0-0@t-w-0.0" },
  { OBJECT ("JobSet", "{suspend: true, replicatedJobs: [{name: w, template: {spec: " JOB ("4", TPU_4X4) "}}]}"), "" },
  { OBJECT ("JobSet",
            "{replicatedJobs: [{name: w, template: {spec: {parallelism: 2, template: {metadata: {annotations: "
            "{cloud.google.com/gke-tpu-slice-topology: 2x4}}, spec: " TPU ("", "4") "}}}}]}"),
    "w:t-w-0-0@t-w-0.0 w:t-w-0-1@t-w-0.1" },
  { OBJECT ("Job", JOB ("4", TPU_4X4)), "t:t-0@t.0 t:t-1@t.1 t:t-2@t.2 t:t-3@t.3" },
  { OBJECT ("Job", "{template: {spec: " TPU_2X2 "}}"), "t:t-0@t.0" },
  { OBJECT ("Pod", TPU_2X2), "t:t@t.0" },
  { OBJECT ("StatefulSet", "{replicas: 2, template: {spec: " TPU_2X2 "}}"), "t:t-0@t-0.0 t:t-1@t-1.0" },
  { OBJECT ("LeaderWorkerSet", "{replicas: 2, leaderWorkerTemplate: {size: 4, workerTemplate: {spec: " TPU_4X4 "}}}"),
    "t:t-0@t-0.0 t:t-0-1@t-0.1 t:t-0-2@t-0.2 t:t-0-3@t-0.3 t:t-1@t-1.0 t:t-1-1@t-1.1 t:t-1-2@t-1.2 t:t-1-3@t-1.3" },
  { OBJECT ("LeaderWorkerSet",
            "{leaderWorkerTemplate: {size: 5, leaderTemplate: {spec: " CPU "}, workerTemplate: {spec: " TPU_4X4 "}}}"),
    "leaders:t-0 t:t-0-1@t-0.0 t:t-0-2@t-0.1 t:t-0-3@t-0.2 t:t-0-4@t-0.3" },
  { OBJECT ("Job", JOB ("2", TPU_2X2)), "t:t-0@t-0.0 t:t-1@t-1.0" },
  { OBJECT ("JobSet", "{replicatedJobs: [{name: w, replicas: 2, template: {spec: " JOB ("2", TPU_2X2) "}}]}"),
    "w:t-w-0-0@t-w-0-0.0 w:t-w-0-1@t-w-0-1.0 w:t-w-1-0@t-w-1-0.0 w:t-w-1-1@t-w-1-1.0" },
  { OBJECT ("CronJob", "{jobTemplate: {spec: " JOB ("4", TPU_4X4) "}}"),
    "t:t-xxxxxxxx-0@t-xxxxxxxx.0 t:t-xxxxxxxx-1@t-xxxxxxxx.1 t:t-xxxxxxxx-2@t-xxxxxxxx.2 "
    "t:t-xxxxxxxx-3@t-xxxxxxxx.3" },
  { OBJECT ("Deployment", "{replicas: 2, template: {spec: " TPU_2X2 "}}"), "t:t-0@t-0.0 t:t-1@t-1.0" },
  { OBJECT ("ReplicaSet", "{template: {spec: " TPU_2X2 "}}"), "t:t-0@t-0.0" },
  { OBJECT ("Deployment", "{template: {spec: " CPU "}}") "---\n" OBJECT ("Pod", TPU_2X2) "---\n" OBJECT (
        "Deployment", "{template: {spec: " CPU "}}"),
    "t:t@t.0" },
  { OBJECT ("LeaderWorkerSet", "{replicas: 2, leaderWorkerTemplate: {size: 8, subGroupPolicy: {subGroupSize: 4}, "
                               "workerTemplate: {spec: " TPU_4X4 "}}}"),
    "t:t-0@t-0-subgroup-0.0 t:t-0-1@t-0-subgroup-0.1 t:t-0-2@t-0-subgroup-0.2 t:t-0-3@t-0-subgroup-0.3 "
    "t:t-0-4@t-0-subgroup-1.0 t:t-0-5@t-0-subgroup-1.1 t:t-0-6@t-0-subgroup-1.2 t:t-0-7@t-0-subgroup-1.3 "
    "t:t-1@t-1-subgroup-0.0 t:t-1-1@t-1-subgroup-0.1 t:t-1-2@t-1-subgroup-0.2 t:t-1-3@t-1-subgroup-0.3 "
    "t:t-1-4@t-1-subgroup-1.0 t:t-1-5@t-1-subgroup-1.1 t:t-1-6@t-1-subgroup-1.2 t:t-1-7@t-1-subgroup-1.3" },
  { OBJECT ("LeaderWorkerSet",
            "{leaderWorkerTemplate: {size: 3, subGroupPolicy: {subGroupSize: 1, subGroupPolicyType: LeaderExcluded}, "
            "leaderTemplate: {spec: " CPU "}, workerTemplate: {spec: " TPU_2X2 "}}}"),
    "leaders:t-0 t:t-0-1@t-0-subgroup-0.0 t:t-0-2@t-0-subgroup-1.0" },
  { "kind: Service\n---\n" OBJECT ("Pod", TPU_2X2) "---\nkind: ConfigMap\n", "t:t@t.0" },
};

START_TEST (object_has_the_nodes_of_its_pods)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = read_text (objects[_i].text, NULL, &error);
  g_autofree char *nodes = NULL;

  ck_assert_msg (claims != NULL, "%s", error == NULL ? "" : error->message);
  nodes = nodes_as_text (claims);
  ck_assert_str_eq (nodes, objects[_i].nodes);
  check_only_warning (claims, NULL);
}
END_TEST

START_TEST (nodes_have_the_class_of_their_slice)
{
  g_autoptr (QuoitClaims) claims = read_text (objects[0].text, NULL, NULL);
  g_autofree char *resources = resources_as_text (claims, 0);
  guint32 n_nodes;
  const QuoitNodeKind *kind = quoit_claims_kind_at (claims, quoit_claims_nodes (claims, &n_nodes)[0].kind);

  ck_assert_uint_eq (kind->generation, QUOIT_GENERATION_V6E);
  ck_assert_str_eq (kind->topology, "4x4");
  ck_assert_uint_eq (kind->chips, 4);
  ck_assert_msg (strstr (resources, "TPU=4") != NULL, "%s", resources);
}
END_TEST

static const struct {
  const char *text, *part;
} wrongs[] = {
  { OBJECT ("Job", JOB ("3", TPU_4X4)), "parallelism 3: expected 4, the hosts of topology '4x4' with 4 chips per pod" },
  { OBJECT ("Job", "{template: {spec: " TPU_4X4 "}}"), "no 'parallelism', which means 1: expected 4" },
  { OBJECT ("Pod", TPU_4X4), "topology '4x4' has 4 hosts with 4 chips per pod: expected 1" },
  { OBJECT ("StatefulSet", "{replicas: 4, template: {spec: " TPU_4X4 "}}"),
    "expected 1, because the slice is one pod" },
  { OBJECT ("LeaderWorkerSet", "{leaderWorkerTemplate: {size: 5, workerTemplate: {spec: " TPU_4X4 "}}}"),
    "size 5: expected 4" },
  { OBJECT ("LeaderWorkerSet", "{leaderWorkerTemplate: {size: 5}}"), "no 'workerTemplate'" },
  { OBJECT ("LeaderWorkerSet", "{leaderWorkerTemplate: {size: 2, workerTemplate: {spec: " TPU_2X2 "}}}"),
    "size 2: expected 1" },
  { OBJECT ("LeaderWorkerSet", "{leaderWorkerTemplate: {size: 5, subGroupPolicy: {subGroupSize: 4}, workerTemplate: "
                               "{spec: " TPU_4X4 "}}}"),
    "subGroupSize 4: expected a number that divides the 5 pods with chips of a replica" },
  { OBJECT ("LeaderWorkerSet", "{leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 0}, workerTemplate: "
                               "{spec: " TPU_4X4 "}}}"),
    "subGroupSize 0: expected a number" },
  { OBJECT ("LeaderWorkerSet", "{leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 2}, workerTemplate: "
                               "{spec: " TPU_4X4 "}}}"),
    "subGroupSize 2: expected 4, the hosts of topology '4x4'" },
  { OBJECT ("LeaderWorkerSet",
            "{leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 4, subGroupPolicyType: LeaderExcluded}, "
            "workerTemplate: {spec: " TPU_4X4 "}}}"),
    "'LeaderExcluded': expected LeaderWorker, because the leader requests chips" },
  { OBJECT ("LeaderWorkerSet", "{replicas: 65536, leaderWorkerTemplate: {size: 2147483647, subGroupPolicy: "
                               "{subGroupSize: 1}, workerTemplate: {spec: " TPU_2X2 "}}}"),
    "expected at most" },
  { OBJECT ("CronJob", "{}"), "no 'jobTemplate.spec'" },
  { OBJECT ("Deployment", "{template: {spec: " CPU "}}") "---\n" OBJECT ("ReplicaSet", "{template: {spec: " CPU "}}"),
    "a second object that makes pods, ReplicaSet, after Deployment" },
  { OBJECT ("JobSet", "{}"), "no 'replicatedJobs'" },
  { OBJECT ("JobSet", "{replicatedJobs: [{template: {spec: {}}}]}"),
    "no 'name': expected the name of the replicated job" },
  { OBJECT ("JobSet", "{replicatedJobs: [{name: w}]}"), "no 'template.spec': expected the spec of the jobs" },
  { OBJECT ("JobSet", "{replicatedJobs: {}}"), "expected a list" },
  { OBJECT ("Job", JOB ("9999999", CPU)), "expected at most" },
  { OBJECT ("JobSet",
            "{replicatedJobs: [{name: w, replicas: 2147483647, template: {spec: " JOB ("2147483647", CPU) "}}]}"),
    "expected at most" },
  { OBJECT ("Job", JOB ("-1", CPU)), "'-1': expected a whole number" },
  { "kind: Job\nspec: {}\n", "no 'name': expected the name of the Job" },
  { "kind: Job\nmetadata: {name: a}\n", "no 'spec': expected the spec of the Job" },
  { OBJECT ("Deployment", "{template: {spec: " CPU "}}") "---\n" OBJECT ("Pod", TPU_2X2) "---\n" OBJECT ("Pod",
                                                                                                         TPU_2X2),
    "a second object that makes pods, Pod, after Pod in line 7" },
  { OBJECT ("Pod", TPU_2X2) "---\n" OBJECT ("Job", JOB ("4", TPU_4X4)),
    "a second object that makes pods, Job, after Pod in line 2: expected one per file" },
  { OBJECT ("Pod", TPU ("", "4")), "chips without a node selector 'cloud.google.com/gke-tpu-topology'" },
};

START_TEST (object_that_contradicts_itself_is_refused)
{
  GError *error = NULL;

  ck_assert_ptr_null (read_text (wrongs[_i].text, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, wrongs[_i].part);
}
END_TEST

START_TEST (jobs_next_to_a_ray_object_are_not_nodes)
{
  static const char text[]
      = OBJECT ("Job", JOB ("1", CPU)) "---\napiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\n"
                                       "spec: {headGroupSpec: {template: {spec: " CPU "}}}\n---\n" OBJECT ("Pod", CPU);
  g_autoptr (QuoitClaims) claims = read_text (text, NULL, NULL);
  g_autofree char *nodes = nodes_as_text (claims);

  ck_assert_str_eq (nodes, "headgroup:r-head!head");
}
END_TEST

START_TEST (variables_are_replaced)
{
  static const char *const set[] = { "HOSTS=4", NULL };
  g_autoptr (QuoitClaims) claims
      = read_text (OBJECT ("Job", "{parallelism: \"${HOSTS}\", template: {spec: " TPU_4X4 "}}"), set, NULL);
  GError *error = NULL;
  guint32 n_nodes;

  ck_assert_ptr_null (
      read_text (OBJECT ("Job", "{parallelism: \"${HOSTS}\", template: {spec: " TPU_4X4 "}}"), NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "HOSTS");
  if (claims == NULL)
    return;
  quoit_claims_nodes (claims, &n_nodes);
  ck_assert_uint_eq (n_nodes, 4);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-workloads");
  TCase *tcase = tcase_create ("workloads");

  tcase_add_loop_test (tcase, object_has_the_nodes_of_its_pods, 0, G_N_ELEMENTS (objects));
  tcase_add_test (tcase, nodes_have_the_class_of_their_slice);
  tcase_add_loop_test (tcase, object_that_contradicts_itself_is_refused, 0, G_N_ELEMENTS (wrongs));
  tcase_add_test (tcase, jobs_next_to_a_ray_object_are_not_nodes);
  tcase_add_test (tcase, variables_are_replaced);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
