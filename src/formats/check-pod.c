/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the rest of a pod template: containers, resource claims, and variables that the webhook normally sets. */
#include "formats/check-rules.h"

#include <string.h>

#include "base/label-names.h"
#include "base/name-hash.h"
#include "models/webhook/containers.h"
#include "models/webhook/names.h"

static void
check_containers (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  JsonNode *node = quoit_tree_member (group->pod, "containers");

  (void) cluster;
  /* A value that is not a list was already reported. */
  if (group->containers->len == 0 && (node == NULL || JSON_NODE_HOLDS_ARRAY (node)))
    quoit_check_report (checker, rule, node != NULL ? node : group->node,
                        node != NULL ? "no container" : "no 'template.spec.containers'",
                        "at least one: KubeRay refuses groups without containers");
}

/* --- claims --- */

static void
check_source (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *claim, const char *member, const char *kind)
{
  JsonNode *node = quoit_check_member (checker, claim, member);
  const char *name;

  if (quoit_check_text (checker, node, member, &name)
      && !g_hash_table_contains (quoit_check_objects (checker, kind), name))
    quoit_check_report (checker, rule, node, member,
                        "the name of a %s in this file, or of one that the cluster already has", kind);
}

static JsonArray *
read_claims (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  return quoit_check_array (checker, quoit_check_member (checker, group->pod, "resourceClaims"), "resourceClaims");
}

static void
check_templates (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group)
{
  JsonArray *claims = read_claims (checker, group);

  (void) cluster;
  for (guint i = 0; claims != NULL && i < json_array_get_length (claims); i++)
    {
      JsonNode *claim = json_array_get_element (claims, i);

      check_source (checker, rule, claim, "resourceClaimTemplateName", "ResourceClaimTemplate");
      check_source (checker, rule, claim, "resourceClaimName", "ResourceClaim");
    }
}

/* Returns the names of the pod's claims, or NULL if one of them cannot be read. */
static GHashTable *
claim_names (QuoitChecker *checker, const QuoitCheckGroup *group)
{
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  JsonArray *claims = read_claims (checker, group);

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
  g_autoptr (GHashTable) names = claim_names (checker, group);

  (void) cluster;
  for (guint i = 0; names != NULL && i < group->containers->len; i++)
    check_use (checker, rule, g_ptr_array_index (group->containers, i), names);
}

/* --- variables --- */

/* Which hosts need the same value of a variable: those of one slice, or none. */
typedef enum { VALUE_PER_SLICE, VALUE_PER_HOST } ValueScope;

/* Variables that the webhook sets in each pod unless they have a value. */
static const struct {
  const char *name;
  ValueScope scope;
  const char *replaced_value; /* a value that the webhook replaces; or NULL */
} variables[] = {
  { "TPU_NAME", VALUE_PER_SLICE, NULL },
  { "MEGASCALE_SLICE_ID", VALUE_PER_SLICE, NULL },
  { "TPU_WORKER_HOSTNAMES", VALUE_PER_SLICE, "localhost" },
  { "TPU_WORKER_ID", VALUE_PER_HOST, NULL },
};

/* Returns whether the webhook keeps the value. @index is the container's index among the containers with chips. The
 * webhook takes a TPU_WORKER_ID that equals this index for a default, and replaces it. */
static gboolean
webhook_keeps (guint variable, const char *value, guint index)
{
  g_autofree char *id = g_strdup_printf ("%u", index);

  if (variables[variable].scope == VALUE_PER_HOST && strcmp (value, id) == 0)
    return FALSE;
  return *value != '\0' && g_strcmp0 (value, variables[variable].replaced_value) != 0;
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
    if (strcmp (name, variables[i].name) == 0 && (variables[i].scope == VALUE_PER_HOST || group->n_slices > 1)
        && quoit_check_text (checker, node, name, &value) && webhook_keeps (i, value, index))
      quoit_check_report (checker, rule, node, name, "no value: the TPU webhook would keep it in every %s of the group",
                          variables[i].scope == VALUE_PER_HOST ? "host" : "slice");
}

static gboolean
has_chip_amount (const QuoitCheckChips *chips)
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
      guint index = has_chip_amount (chips) ? n++ : G_MAXUINT;
      JsonNode *container = chips->node;
      JsonArray *env = quoit_check_array (checker, quoit_check_member (checker, container, "env"), "env");

      for (guint k = 0; env != NULL && k < json_array_get_length (env); k++)
        check_variable (checker, rule, group, json_array_get_element (env, k), index);
    }
}

/* --- worker ids --- */

/* Limits the containers that are compared. A host has at most eight chips, so another rule reports a pod with more
 * containers that have chips. */
enum { MOST_CONTAINERS = 64 };

typedef struct {
  GArray *containers;               /* of QuoitWebhookContainer */
  JsonNode *nodes[MOST_CONTAINERS]; /* NULL: already reported */
  gboolean has_process_addresses;
} ChipContainers;

static void
clear_chip_containers (ChipContainers *processes)
{
  g_clear_pointer (&processes->containers, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ChipContainers, clear_chip_containers)

static void
add_worker_id (QuoitChecker *checker, JsonNode *entry, GArray *containers)
{
  JsonNode *node = quoit_check_member (checker, entry, "value");
  const char *name, *value = "";

  if (!quoit_check_text (checker, quoit_check_member (checker, entry, "name"), "name", &name)
      || strcmp (name, "TPU_WORKER_ID") != 0 || (node != NULL && !quoit_check_text (checker, node, name, &value)))
    return;
  if (node == NULL && quoit_check_member (checker, entry, "valueFrom") != NULL)
    value = NULL;
  quoit_webhook_add_variable (containers, containers->len - 1,
                              (QuoitWebhookVariable) { g_strdup (name), g_strdup (value), NULL, QUOIT_WEBHOOK_OWN });
}

static void
add_container (QuoitChecker *checker, const QuoitCheckChips *chips, ChipContainers *processes)
{
  JsonArray *env = quoit_check_array (checker, quoit_check_member (checker, chips->node, "env"), "env");

  processes->nodes[processes->containers->len] = chips->limit_node != NULL ? chips->limit_node : chips->request_node;
  quoit_webhook_add_container (processes->containers, chips->request, chips->limit);
  for (guint i = 0; env != NULL && i < json_array_get_length (env); i++)
    add_worker_id (checker, json_array_get_element (env, i), processes->containers);
}

/* Returns the TPU_WORKER_ID that a container gets on the given host; free it with g_free(). NULL: it is not known,
 * because the value comes from another object (valueFrom). */
static char *
worker_id_on_host (const ChipContainers *processes, guint index, gint64 host)
{
  const QuoitWebhookContainer *container = quoit_webhook_container (processes->containers, index);
  const QuoitWebhookVariable *own = quoit_webhook_last_variable (container, "TPU_WORKER_ID");
  char *written
      = quoit_webhook_worker_id (container, index, processes->containers->len, processes->has_process_addresses, host);

  return written != NULL || own == NULL ? written : g_strdup (own->value);
}

/* Returns the hosts on which two containers of a pod may get the same worker id. Checking these is enough: two ids
 * that the webhook writes are equal on one of the first three hosts or on none, and an id that a container sets
 * itself can be equal to a written id only on the host with that id. */
static GArray *
hosts_to_check (const ChipContainers *processes, gint64 n_hosts)
{
  GArray *hosts = g_array_new (FALSE, FALSE, sizeof (gint64));
  guint n = processes->containers->len;

  for (gint64 host = 0; host < MIN (n_hosts, 3); host++)
    g_array_append_val (hosts, host);
  for (guint i = 0; i < n; i++)
    {
      const QuoitWebhookVariable *own
          = quoit_webhook_last_variable (quoit_webhook_container (processes->containers, i), "TPU_WORKER_ID");
      gint64 host;

      if (own == NULL || own->value == NULL || !g_ascii_string_to_signed (own->value, 10, 0, G_MAXINT64, &host, NULL))
        continue;
      host /= processes->has_process_addresses ? n : 1;
      if (host < n_hosts)
        g_array_append_val (hosts, host);
    }
  return hosts;
}

/* Compares the ids of the containers on @host, and reports each container with the id of an earlier one. A container
 * that was reported for another host is not reported again. */
static void
check_host (QuoitChecker *checker, const QuoitCheckRule *rule, ChipContainers *processes, gint64 host)
{
  g_autoptr (GHashTable) seen_ids = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);

  for (guint i = 0; i < processes->containers->len; i++)
    {
      g_autofree char *id = worker_id_on_host (processes, i, host), *quoted = NULL;

      if (id == NULL || !g_hash_table_contains (seen_ids, id))
        {
          if (id != NULL)
            g_hash_table_add (seen_ids, g_steal_pointer (&id));
          continue;
        }
      if (processes->nodes[i] == NULL)
        continue;
      quoted = quoit_quote (id);
      quoit_check_report (checker, rule, processes->nodes[i], QUOIT_K8S_TPU_RESOURCE,
                          "a TPU_WORKER_ID that no other container has: on host %" G_GINT64_FORMAT
                          " the TPU webhook leaves two with %s",
                          host, quoted);
      processes->nodes[i] = NULL;
    }
}

static void
check_worker_ids (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  g_auto (ChipContainers) processes
      = { .has_process_addresses = quoit_webhook_has_process_addresses (group->accelerator.text) };
  g_autoptr (GArray) hosts = NULL;

  (void) cluster;
  if (group->accelerator.node != NULL && group->accelerator.text == NULL)
    return;
  processes.containers = quoit_webhook_containers_new ();
  for (guint i = 0; i < group->chips->len && processes.containers->len < MOST_CONTAINERS; i++)
    if (has_chip_amount (&g_array_index (group->chips, QuoitCheckChips, i)))
      add_container (checker, &g_array_index (group->chips, QuoitCheckChips, i), &processes);
  hosts = hosts_to_check (&processes, MAX (group->hosts.number, 1));
  for (guint i = 0; i < hosts->len; i++)
    check_host (checker, rule, &processes, g_array_index (hosts, gint64, i));
}

const QuoitCheckRule quoit_check_pod_rules[] = {
  { "containers", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_containers },
  { "claim-template", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_templates },
  { "claim-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_uses },
  { "pod-variable", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_variables },
  { "worker-id-twice", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_worker_ids },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
