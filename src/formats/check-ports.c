/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the ports of containers, of variables and of Ray. */
#include "formats/check-rules.h"

#include <string.h>

enum { LAST_PORT = 65535 };

/* Ports where Ray listens. The default is KubeRay's. */
static const struct {
  const char *param;   /* in rayStartParams */
  const char *name[2]; /* of the port of the head's container; NULL: none */
  gint64 default_port; /* 0: none */
} ray_ports[] = {
  { "dashboard-port", { "dashboard", NULL }, 8265 },
  { "port", { "gcs-server", "redis" }, 6379 },
  { "ray-client-server-port", { "client", NULL }, 10001 },
  { "metrics-export-port", { "metrics", NULL }, 8080 },
  { "dashboard-agent-listen-port", { "dashboard-agent", NULL }, 52365 },
  { "node-manager-port", { NULL, NULL }, 0 },
  { "object-manager-port", { NULL, NULL }, 0 },
  { "runtime-env-agent-port", { NULL, NULL }, 0 },
  { "min-worker-port", { NULL, NULL }, 0 },
  { "max-worker-port", { NULL, NULL }, 0 },
};

/* Variables whose value is a port. */
static const char *const port_variables[]
    = { "MEGASCALE_PORT", "JAX_COORDINATOR_PORT", "TPU_PROCESS_PORT", "RAY_SERVE_HTTP_PORT" };

static gboolean
parse_port (const char *text, gint64 least, gint64 *port)
{
  g_autofree char *stripped = g_strstrip (g_strdup (text));

  return g_ascii_string_to_signed (stripped, 10, least, LAST_PORT, port, NULL);
}

/* --- values --- */

static void
check_port_text (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what, gint64 least)
{
  const char *text;
  gint64 port;

  if (quoit_check_text (checker, node, what, &text) && *text != '\0' && !parse_port (text, least, &port))
    quoit_check_report (checker, rule, node, what, "a port from %" G_GINT64_FORMAT " to %d", least, LAST_PORT);
}

/* The port of "HOST:PORT". */
static void
check_address (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what)
{
  const char *text, *colon;
  gint64 port;

  if (!quoit_check_text (checker, node, what, &text))
    return;
  colon = strchr (text, ':');
  /* An IPv6 address has several colons. */
  if (colon != NULL && colon == strrchr (text, ':') && !parse_port (colon + 1, 1, &port))
    quoit_check_report (checker, rule, node, what, "an address whose port is from 1 to %d", LAST_PORT);
}

static void
check_container_port (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *entry, const char *member)
{
  JsonNode *node = quoit_check_member (checker, entry, member);
  gint64 port;

  if (quoit_check_count (checker, node, member, &port)
      && (port > LAST_PORT || (port == 0 && strcmp (member, "containerPort") == 0)))
    quoit_check_report (checker, rule, node, member, "a port from 1 to %d", LAST_PORT);
}

static JsonArray *
read_ports (QuoitChecker *checker, JsonNode *container)
{
  return quoit_check_array (checker, quoit_check_member (checker, container, "ports"), "ports");
}

static void
check_container (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *container)
{
  JsonArray *ports = read_ports (checker, container);

  for (guint i = 0; ports != NULL && i < json_array_get_length (ports); i++)
    {
      check_container_port (checker, rule, json_array_get_element (ports, i), "containerPort");
      check_container_port (checker, rule, json_array_get_element (ports, i), "hostPort");
    }
  for (guint i = 0; i < G_N_ELEMENTS (port_variables); i++)
    check_port_text (checker, rule, quoit_check_find_variable (checker, container, port_variables[i]),
                     port_variables[i], 1);
  check_address (checker, rule, quoit_check_find_variable (checker, container, "MEGASCALE_COORDINATOR_ADDRESS"),
                 "MEGASCALE_COORDINATOR_ADDRESS");
}

static JsonNode *
ray_param (const QuoitCheckGroup *group, const char *name)
{
  return quoit_tree_member (quoit_tree_member (group->node, "rayStartParams"), name);
}

static void
check_ports (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  (void) cluster;
  for (guint i = 0; i < group->containers->len; i++)
    check_container (checker, rule, group->containers->pdata[i]);
  /* For Ray, port 0 is any free port. */
  for (guint i = 0; i < G_N_ELEMENTS (ray_ports); i++)
    check_port_text (checker, rule, ray_param (group, ray_ports[i].param), ray_ports[i].param, 0);
}

/* --- ports that two programs use --- */

/* Sets *@port to the port of a parameter of Ray, or its default. FALSE: there is none, or it cannot be read. */
static gboolean
read_ray_port (QuoitChecker *checker, const QuoitCheckGroup *group, guint index, gint64 *port)
{
  JsonNode *node = ray_param (group, ray_ports[index].param);
  const char *text;

  *port = ray_ports[index].default_port;
  if (node == NULL)
    return *port > 0;
  return quoit_check_text (checker, node, ray_ports[index].param, &text) && parse_port (text, 1, port);
}

/* Every host of a slice listens on MEGASCALE_PORT, and Ray on each node exports metrics and has an agent. */
static void
check_twice (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
             const QuoitCheckGroup *group)
{
  static const char *const of_workers[] = { "metrics-export-port", "dashboard-agent-listen-port", "node-manager-port",
                                            "object-manager-port", "runtime-env-agent-port" };

  (void) cluster;
  for (guint i = 0; i < group->containers->len && !group->is_head; i++)
    {
      JsonNode *node = quoit_check_find_variable (checker, group->containers->pdata[i], "MEGASCALE_PORT");
      const char *text;
      gint64 port, other;

      if (!quoit_check_text (checker, node, "MEGASCALE_PORT", &text) || !parse_port (text, 1, &port))
        continue;
      for (guint k = 0; k < G_N_ELEMENTS (ray_ports); k++)
        for (guint w = 0; w < G_N_ELEMENTS (of_workers); w++)
          if (strcmp (ray_ports[k].param, of_workers[w]) == 0 && read_ray_port (checker, group, k, &other)
              && other == port)
            quoit_check_report (checker, rule, node, "MEGASCALE_PORT", "another port: Ray uses this one for %s",
                                of_workers[w]);
    }
}

/* --- ports of the head --- */

static gboolean
is_port_of (guint index, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (ray_ports[index].name); i++)
    if (g_strcmp0 (ray_ports[index].name[i], name) == 0)
      return TRUE;
  return FALSE;
}

/* KubeRay gives the head's service the ports of its first container, or all default ports if it states none
 * (gke-kuberay-jax 10.1). RayJobs and RayServices reach the dashboard by the port of that name. */
static void
check_head (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
            const QuoitCheckGroup *group)
{
  JsonArray *ports
      = group->is_head && group->containers->len > 0 ? read_ports (checker, group->containers->pdata[0]) : NULL;
  gboolean has_dashboard = FALSE;

  if (ports == NULL || json_array_get_length (ports) == 0)
    return;
  for (guint i = 0; i < json_array_get_length (ports); i++)
    {
      JsonNode *entry = json_array_get_element (ports, i), *node = quoit_check_member (checker, entry, "containerPort");
      const char *name;
      gint64 port, asked;

      if (!quoit_check_text (checker, quoit_check_member (checker, entry, "name"), "name", &name))
        continue;
      has_dashboard |= strcmp (name, "dashboard") == 0;
      if (!quoit_check_count (checker, node, "containerPort", &port))
        continue;
      for (guint k = 0; k < G_N_ELEMENTS (ray_ports); k++)
        if (is_port_of (k, name) && read_ray_port (checker, group, k, &asked) && asked != port)
          quoit_check_report (checker, rule, node, "containerPort",
                              "%" G_GINT64_FORMAT ", where Ray listens: set '%s' in rayStartParams to change that",
                              asked, ray_ports[k].param);
    }
  if (!has_dashboard && strcmp (cluster->kind, "RayCluster") != 0)
    quoit_check_report (checker, rule, quoit_tree_member (group->containers->pdata[0], "ports"),
                        "no port named 'dashboard'",
                        "one, or no list of ports: KubeRay sends the %s to that port of the head", cluster->kind);
}

const QuoitCheckRule quoit_check_port_rules[] = {
  { "port", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_ports },
  { "port-twice", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_twice },
  { "head-port", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_GROUP, check_head },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_GROUP, NULL },
};
