/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the resource claims of pods, such as those for networks (DRANET), and about their templates. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/name-hash.h"

/* Returns the claim's requests of devices, or NULL if the object is not in the file or has none. */
static JsonArray *
find_requests (QuoitChecker *checker, JsonNode *claim)
{
  static const struct {
    const char *member, *kind;
    gboolean is_template;
  } sources[] = { { "resourceClaimTemplateName", "ResourceClaimTemplate", TRUE },
                  { "resourceClaimName", "ResourceClaim", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      JsonNode *node = quoit_check_member (checker, claim, sources[i].member), *object, *spec;
      const char *name;

      if (!quoit_check_text (checker, node, sources[i].member, &name))
        continue;
      object = g_hash_table_lookup (quoit_check_objects (checker, sources[i].kind), name);
      spec = quoit_check_member (checker, object, "spec");
      if (sources[i].is_template)
        spec = quoit_check_member (checker, spec, "spec");
      return quoit_check_array (
          checker, quoit_check_member (checker, quoit_check_member (checker, spec, "devices"), "requests"), "requests");
    }
  return NULL;
}

/* Returns whether the request names a device class for TPUs. Before resource.k8s.io/v1beta2, the class is a member of
 * the request itself. */
static gboolean
names_chips (QuoitChecker *checker, JsonNode *request)
{
  JsonNode *exactly = quoit_check_member (checker, request, "exactly");
  JsonNode *node = quoit_check_member (checker, exactly != NULL ? exactly : request, "deviceClassName");
  const char *name;

  return quoit_check_text (checker, node, "deviceClassName", &name) && strstr (name, "tpu") != NULL;
}

gboolean
quoit_check_claim_may_have_chips (QuoitChecker *checker, JsonNode *claim)
{
  JsonArray *requests = find_requests (checker, claim);

  /* The claim of another file may be for anything. */
  if (requests == NULL)
    return TRUE;
  for (guint i = 0; i < json_array_get_length (requests); i++)
    if (names_chips (checker, json_array_get_element (requests, i)))
      return TRUE;
  return FALSE;
}

static JsonArray *
read_claims (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  return quoit_check_array (checker, quoit_check_member (checker, group->pod, "resourceClaims"), "resourceClaims");
}

static void
check_sources (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
               const QuoitCheckGroup *group)
{
  JsonArray *claims = read_claims (checker, group);

  (void) cluster;
  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *claim = json_array_get_element (claims, i);
      gboolean has_template = quoit_check_member (checker, claim, "resourceClaimTemplateName") != NULL;
      gboolean has_name = quoit_check_member (checker, claim, "resourceClaimName") != NULL;

      if (JSON_NODE_HOLDS_OBJECT (claim) && has_template == has_name)
        quoit_check_report (checker, rule, claim,
                            has_name ? "both 'resourceClaimName' and 'resourceClaimTemplateName'"
                                     : "a claim without a source",
                            "one of 'resourceClaimName' and 'resourceClaimTemplateName'");
    }
}

static void
check_names (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  JsonArray *claims = read_claims (checker, group);

  (void) cluster;
  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *node = quoit_check_member (checker, json_array_get_element (claims, i), "name");
      const char *name;

      if (quoit_check_text (checker, node, "name", &name) && !g_hash_table_add (names, (char *) name))
        quoit_check_report (checker, rule, node, "name", "each claim of a pod once");
    }
}

/* A claim with a name of its own exists once, and its devices are on one node (gke-kuberay-jax 10.4). */
static void
check_shared (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
              const QuoitCheckGroup *group)
{
  JsonArray *claims = read_claims (checker, group);

  (void) cluster;
  if (group->n_chips == 0 || group->n_slices * group->hosts.number < 2)
    return;
  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *claim = json_array_get_element (claims, i);
      JsonNode *node = quoit_check_member (checker, claim, "resourceClaimName");
      const char *name;

      if (quoit_check_text (checker, node, "resourceClaimName", &name) && find_requests (checker, claim) != NULL)
        quoit_check_report (checker, rule, node, "resourceClaimName",
                            "a 'resourceClaimTemplateName', which makes a claim for each pod: one claim has devices of "
                            "one node, but the group has %" G_GINT64_FORMAT " pods",
                            group->n_slices * group->hosts.number);
    }
}

/* Returns the claim of the pod with that name, or NULL. */
static JsonNode *
find_claim (JsonArray *claims, const char *name)
{
  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *node = quoit_tree_member (json_array_get_element (claims, i), "name");

      if (node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
          && strcmp (json_node_get_string (node), name) == 0)
        return json_array_get_element (claims, i);
    }
  return NULL;
}

static gboolean
has_request (QuoitChecker *checker, JsonArray *requests, const char *name)
{
  for (guint i = 0; i < json_array_get_length (requests); i++)
    {
      const char *other;

      if (!quoit_check_text (checker, quoit_check_member (checker, json_array_get_element (requests, i), "name"),
                             "name", &other)
          || strcmp (other, name) == 0)
        return TRUE;
    }
  return FALSE;
}

static void
check_request (QuoitChecker *checker, const QuoitCheckRule *rule, JsonArray *claims, JsonNode *use)
{
  JsonNode *node = quoit_check_member (checker, use, "request"), *claim;
  JsonArray *requests;
  const char *name, *request;

  if (!quoit_check_text (checker, quoit_check_member (checker, use, "name"), "claim", &name)
      || !quoit_check_text (checker, node, "request", &request))
    return;
  claim = find_claim (claims, name);
  requests = claim == NULL ? NULL : find_requests (checker, claim);
  if (requests != NULL && !has_request (checker, requests, request))
    quoit_check_report (checker, rule, node, "request",
                        "the name of a request of that claim, or none, for all of them");
}

static void
check_requests (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                const QuoitCheckGroup *group)
{
  JsonArray *claims = read_claims (checker, group);

  (void) cluster;
  for (guint i = 0; i < group->containers->len; i++)
    {
      JsonNode *resources = quoit_check_member (checker, group->containers->pdata[i], "resources");
      JsonArray *uses = quoit_check_array (checker, quoit_check_member (checker, resources, "claims"), "claims");

      for (guint k = 0; uses != NULL && k < json_array_get_length (uses); k++)
        check_request (checker, rule, claims, json_array_get_element (uses, k));
    }
}

/* --- ResourceClaims and ResourceClaimTemplates --- */

static void
check_mode (QuoitChecker *checker, JsonNode *request)
{
  JsonNode *exactly = quoit_check_member (checker, request, "exactly"), *from = exactly != NULL ? exactly : request;
  JsonNode *node = quoit_check_member (checker, from, "allocationMode");
  JsonNode *count = quoit_check_member (checker, from, "count");
  const char *mode;
  gint64 n;

  /* An empty mode is the default, and a count of 0 is none. */
  if (!quoit_check_text (checker, node, "allocationMode", &mode) || *mode == '\0')
    return;
  if (strcmp (mode, "All") != 0 && strcmp (mode, "ExactCount") != 0)
    quoit_check_report (checker, quoit_check_find_rule (quoit_check_claim_rules, "claim-devices"), node,
                        "allocationMode", "All or ExactCount");
  else if (strcmp (mode, "All") == 0 && quoit_check_count (checker, count, "count", &n) && n > 0)
    quoit_check_report (checker, quoit_check_find_rule (quoit_check_claim_rules, "claim-devices"), count, "count",
                        "none with allocationMode All, or ExactCount: Kubernetes refuses both together");
}

static void
check_devices (QuoitChecker *checker, JsonNode *spec)
{
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  JsonNode *node = quoit_check_member (checker, quoit_check_member (checker, spec, "devices"), "requests");
  JsonArray *requests = quoit_check_array (checker, node, "requests");

  for (guint i = 0; requests != NULL && i < json_array_get_length (requests); i++)
    {
      JsonNode *request = json_array_get_element (requests, i),
               *name_node = quoit_check_member (checker, request, "name");
      const char *name;

      if (quoit_check_text (checker, name_node, "name", &name) && !g_hash_table_add (names, (char *) name))
        quoit_check_report (checker, quoit_check_find_rule (quoit_check_claim_rules, "claim-devices"), name_node,
                            "name", "each request of a claim once");
      check_mode (checker, request);
    }
}

gboolean
quoit_check_claim_object (QuoitChecker *checker, JsonNode *object, const char *kind)
{
  JsonNode *spec = quoit_check_member (checker, object, "spec");

  if (strcmp (kind, "ResourceClaimTemplate") == 0)
    spec = quoit_check_member (checker, spec, "spec");
  else if (strcmp (kind, "ResourceClaim") != 0)
    return FALSE;
  check_devices (checker, spec);
  return TRUE;
}

const QuoitCheckRule quoit_check_claim_rules[] = {
  { "claim-source", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_sources },
  { "claim-twice", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_names },
  { "claim-shared", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_shared },
  { "claim-request", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_requests },
  { "claim-devices", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
