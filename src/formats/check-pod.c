/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the rest of a pod template: containers, resource claims, and variables that the webhook normally sets. */
#include "formats/check-rules.h"

#include <string.h>

#include "models/webhook/containers.h"
#include "models/webhook/names.h"

static void
check_containers (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  JsonNode *node = quoit_tree_member (group->pod, "containers");

  (void) cluster;
  /* If it is not a list, that was already reported. */
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

/* Returns the names of the pod's claims, or NULL if one of them cannot be read. */
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
  OF_ONE_SLICE, /* the same value in all slices of a group */
  OF_ONE_HOST   /* the same value on all hosts */
} Sameness;

/* Variables that the webhook sets in each pod unless they have a value. */
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

/* Returns whether the webhook keeps the value. @index is the number of the container among the containers with
 * chips; the webhook treats a TPU_WORKER_ID of this value as a default and replaces it. */
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

/* --- worker ids --- */

/* A host has at most eight chips, so other rules report a pod with more containers that have chips. */
enum { MOST_IDENTIFIED = 64 };

typedef struct {
  GArray *containers;               /* of QuoitWebhookContainer */
  JsonNode *nodes[MOST_IDENTIFIED]; /* NULL: already reported */
  gboolean is_tpu7x;
} Processes;

static void
clear_processes (Processes *processes)
{
  g_clear_pointer (&processes->containers, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Processes, clear_processes)

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
add_process (QuoitChecker *checker, const QuoitCheckChips *chips, Processes *processes)
{
  JsonArray *env = quoit_check_array (checker, quoit_check_member (checker, chips->node, "env"), "env");

  processes->nodes[processes->containers->len] = chips->limit_node != NULL ? chips->limit_node : chips->request_node;
  quoit_webhook_add_container (processes->containers, chips->request, chips->limit);
  for (guint i = 0; env != NULL && i < json_array_get_length (env); i++)
    add_worker_id (checker, json_array_get_element (env, i), processes->containers);
}

/* Returns the TPU_WORKER_ID of a container on the given host; free it with g_free(). NULL: the value comes from
 * elsewhere. */
static char *
worker_id_of (const Processes *processes, guint index, gint64 host)
{
  const QuoitWebhookContainer *container = quoit_webhook_container (processes->containers, index);
  const QuoitWebhookVariable *own = quoit_webhook_last_variable (container, "TPU_WORKER_ID");
  char *written = quoit_webhook_worker_id (container, index, processes->containers->len, processes->is_tpu7x, host);

  return written != NULL || own == NULL ? written : g_strdup (own->value);
}

/* Selects the hosts that are enough to find every collision of worker ids. Ids that the webhook writes differ from
 * host to host, except where it keeps a container's own correct id, so two written ids collide on one of the first
 * three hosts. An id that the webhook keeps collides on the host that has this id. */
static GArray *
hosts_that_matter (const Processes *processes, gint64 n_hosts)
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
      host /= processes->is_tpu7x ? n : 1;
      if (host < n_hosts)
        g_array_append_val (hosts, host);
    }
  return hosts;
}

/* Reports each container only once, for the first host on which an earlier container has its id. */
static void
check_host (QuoitChecker *checker, const QuoitCheckRule *rule, Processes *processes, gint64 host)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < processes->containers->len; i++)
    {
      g_autofree char *id = worker_id_of (processes, i, host), *quoted = NULL;

      if (id == NULL || !g_hash_table_contains (taken, id))
        {
          if (id != NULL)
            g_hash_table_add (taken, g_steal_pointer (&id));
          continue;
        }
      if (processes->nodes[i] == NULL)
        continue;
      quoted = quoit_quote (id);
      quoit_check_report (checker, rule, processes->nodes[i], "google.com/tpu",
                          "no second container with the same TPU_WORKER_ID: in host %" G_GINT64_FORMAT
                          " the TPU webhook leaves two with %s",
                          host, quoted);
      processes->nodes[i] = NULL;
    }
}

static void
check_worker_ids (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  g_auto (Processes) processes = { .is_tpu7x = quoit_webhook_is_tpu7x (group->accelerator.text) };
  g_autoptr (GArray) hosts = NULL;

  (void) cluster;
  if (group->accelerator.node != NULL && group->accelerator.text == NULL)
    return;
  processes.containers = quoit_webhook_containers_new ();
  for (guint i = 0; i < group->chips->len && processes.containers->len < MOST_IDENTIFIED; i++)
    if (has_chips (&g_array_index (group->chips, QuoitCheckChips, i)))
      add_process (checker, &g_array_index (group->chips, QuoitCheckChips, i), &processes);
  hosts = hosts_that_matter (&processes, MAX (group->hosts.number, 1));
  for (guint i = 0; i < hosts->len; i++)
    check_host (checker, rule, &processes, g_array_index (hosts, gint64, i));
}

const QuoitCheckRule quoit_check_pod_rules[] = {
  { "containers", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_containers },
  { "claim-template", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_templates },
  { "claim-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, check_uses },
  { "pod-variable", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_variables },
  { "worker-id-twice", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_worker_ids },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
