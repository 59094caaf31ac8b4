/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of a pod template: containers, resource claims, and variables that the webhook would have set. */
#include "formats/check-rules.h"

#include <string.h>

static void
check_containers (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  JsonNode *node = quoit_tree_member (group->pod, "containers");

  (void) cluster;
  /* A list of another type is said already. */
  if (group->containers->len == 0 && (node == NULL || JSON_NODE_HOLDS_ARRAY (node)))
    quoit_check_report (checker, rule, node != NULL ? node : group->node,
                        node != NULL ? "no container" : "no 'template.spec.containers'",
                        "at least one, KubeRay refuses groups without");
}

/* --- claims --- */

static void
check_source (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *claim, const char *member, GHashTable *names,
              const char *kind)
{
  JsonNode *node = quoit_check_member (checker, claim, member);
  const char *name;

  if (quoit_check_text (checker, node, member, &name) && !g_hash_table_contains (names, name))
    quoit_check_report (checker, rule, node, member, "the name of a %s in this file, unless the cluster has it", kind);
}

static JsonArray *
claims_of (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  return quoit_check_array (checker, quoit_check_member (checker, group->pod, "resourceClaims"), "resourceClaims");
}

static void
check_templates (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group)
{
  JsonArray *claims = claims_of (checker, group);

  (void) cluster;
  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *claim = json_array_get_element (claims, i);

      check_source (checker, rule, claim, "resourceClaimTemplateName", checker->templates, "ResourceClaimTemplate");
      check_source (checker, rule, claim, "resourceClaimName", checker->claims, "ResourceClaim");
    }
}

/* The names that the pod gives its claims; NULL where one of them cannot be read. */
static GHashTable *
names_of_claims (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  JsonArray *claims = claims_of (checker, group);

  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *node = quoit_check_member (checker, json_array_get_element (claims, i), "name");
      const char *name;

      if (!quoit_check_text (checker, node, "name", &name))
        return NULL;
      g_hash_table_add (names, (char *) name);
    }
  return g_steal_pointer (&names);
}

static void
check_use (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *container, GHashTable *names)
{
  JsonNode *node = quoit_check_member (checker, quoit_check_member (checker, container, "resources"), "claims");
  JsonArray *uses = quoit_check_array (checker, node, "claims");

  for (guint i = 0; uses != NULL && i < json_array_get_length (uses); i++)
    {
      JsonNode *use = quoit_check_member (checker, json_array_get_element (uses, i), "name");
      const char *name;

      if (quoit_check_text (checker, use, "claim", &name) && !g_hash_table_contains (names, name))
        quoit_check_report (checker, rule, use, "claim", "the name of one of the pod's 'resourceClaims'");
    }
}

static void
check_uses (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  g_autoptr (GHashTable) names = names_of_claims (checker, group);

  (void) cluster;
  for (guint i = 0; names != NULL && i < group->containers->len; i++)
    check_use (checker, rule, g_ptr_array_index (group->containers, i), names);
}

/* --- variables --- */

typedef enum {
  OF_ONE_SLICE, /* the same in all slices of a group */
  OF_ONE_HOST   /* the same in all hosts */
} Sameness;

/* What the webhook sets in each pod, and leaves as it is where it has a value. */
static const struct {
  const char *name;
  Sameness is;
  const char *harmless; /* a value that the webhook replaces; or NULL */
} variables[] = {
  { "TPU_NAME", OF_ONE_SLICE, NULL },
  { "MEGASCALE_SLICE_ID", OF_ONE_SLICE, NULL },
  { "TPU_WORKER_HOSTNAMES", OF_ONE_SLICE, "localhost" },
  { "TPU_WORKER_ID", OF_ONE_HOST, NULL },
};

/* @index: of the container among those with chips, which the webhook takes for a default of TPU_WORKER_ID; what is in
 * others it leaves as it is. */
static gboolean
is_kept (guint variable, const char *value, guint index)
{
  g_autofree char *id = g_strdup_printf ("%u", index);

  if (variables[variable].is == OF_ONE_HOST && strcmp (value, id) == 0)
    return FALSE;
  return *value != '\0' && g_strcmp0 (value, variables[variable].harmless) != 0;
}

static void
check_variable (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckGroup *group, JsonNode *entry,
                guint index)
{
  JsonNode *node = quoit_check_member (checker, entry, "value");
  const char *name, *value;

  if (node == NULL || !quoit_check_text (checker, quoit_check_member (checker, entry, "name"), "name", &name))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    if (strcmp (name, variables[i].name) == 0 && (variables[i].is == OF_ONE_HOST || group->n_slices > 1)
        && quoit_check_text (checker, node, name, &value) && is_kept (i, value, index))
      quoit_check_report (checker, rule, node, name, "no value: the TPU webhook keeps it, in every %s of the group",
                          variables[i].is == OF_ONE_HOST ? "host" : "slice");
}

static gboolean
has_chips (const QuoitCheckChips *chips)
{
  return chips->limit.e4 != 0 || chips->request.e4 != 0;
}

static void
check_variables (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group)
{
  guint n = 0;

  (void) cluster;
  for (guint i = 0; i < group->chips->len; i++)
    {
      const QuoitCheckChips *chips = &g_array_index (group->chips, QuoitCheckChips, i);
      guint index = has_chips (chips) ? n++ : G_MAXUINT;
      JsonNode *container = chips->node;
      JsonArray *env = quoit_check_array (checker, quoit_check_member (checker, container, "env"), "env");

      for (guint k = 0; env != NULL && k < json_array_get_length (env); k++)
        check_variable (checker, rule, group, json_array_get_element (env, k), index);
    }
}

/* Of generations before tpu7x the webhook gives a pod one worker id, however many of its containers have chips. */
static void
check_worker_ids (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  guint n = 0;

  (void) cluster;
  if (group->accelerator.text == NULL || g_str_has_prefix (group->accelerator.text, "tpu7x"))
    return;
  for (guint i = 0; i < group->chips->len; i++)
    {
      const QuoitCheckChips *chips = &g_array_index (group->chips, QuoitCheckChips, i);

      if (has_chips (chips) && n++ > 0)
        quoit_check_report (checker, rule, chips->limit_node != NULL ? chips->limit_node : chips->request_node,
                            "google.com/tpu",
                            "no second container with chips: the TPU webhook gives both the same TPU_WORKER_ID");
    }
}

const QuoitCheckRule quoit_check_pod_rules[] = {
  { "containers", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_containers },
  { "claim-template", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_templates },
  { "claim-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_uses },
  { "pod-variable", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_variables },
  { "worker-id-twice", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_worker_ids },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
