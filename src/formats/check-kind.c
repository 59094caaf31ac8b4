/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the schema of an object by its apiVersion and kind, and checks its name. */
#include "formats/check-schema.h"

#include <string.h>

#include "base/dns.h"
#include "base/text.h"
#include "formats/ray-kinds.h"
#include "formats/schema/value.h"

/* In the order of QuoitCheckSchemaRule. */
const QuoitCheckRule quoit_check_schema_rules[] = {
  { "field-unknown", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "field-missing", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "field-value", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "field-range", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "pod-field", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "kind-unknown", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { "object-name", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_READING, NULL },
};

static const QuoitCheckRule *
rule (QuoitCheckSchemaRule index)
{
  return &quoit_check_schema_rules[index];
}

/* --- kinds --- */

static const QuoitSchemaKind *
find_kind (const char *version, const char *kind)
{
  guint low = 0, high = quoit_schema_n_kinds;

  while (low < high)
    {
      guint middle = (low + high) / 2;
      const QuoitSchemaKind *row = &quoit_schema_kinds[middle];
      int order = strcmp (version, quoit_schema_text (row->version));

      order = order != 0 ? order : strcmp (kind, quoit_schema_text (row->kind));
      if (order == 0)
        return row;
      if (order < 0)
        high = middle;
      else
        low = middle + 1;
    }
  return NULL;
}

/* Returns whether kinds of the version are known. */
static gboolean
has_version (const char *version)
{
  for (guint i = 0; i < quoit_schema_n_kinds; i++)
    if (strcmp (version, quoit_schema_text (quoit_schema_kinds[i].version)) == 0)
      return TRUE;
  return FALSE;
}

/* Returns the length of the group in "GROUP/VERSION". The group of "v1" is empty. */
static gsize
group_length (const char *version)
{
  const char *slash = strchr (version, '/');

  return slash == NULL ? 0 : (gsize) (slash - version);
}

static gboolean
same_group (const char *a, const char *b)
{
  return group_length (a) == group_length (b) && strncmp (a, b, group_length (a)) == 0;
}

/* Reports a kind that the version of the API does not have. Returns FALSE if the version is not known here: then the
 * kind may be that of a CustomResourceDefinition. */
static gboolean
report_kind (QuoitChecker *checker, JsonNode *node, const char *version, const char *kind)
{
  const char *nearest = NULL;
  unsigned least = G_MAXUINT;

  for (guint i = 0; i < quoit_schema_n_kinds; i++)
    {
      const char *name = quoit_schema_text (quoit_schema_kinds[i].kind);
      unsigned distance;

      if (strcmp (version, quoit_schema_text (quoit_schema_kinds[i].version)) != 0)
        continue;
      distance = quoit_text_distance (kind, name);
      if (nearest == NULL || distance < least)
        {
          nearest = name;
          least = distance;
        }
    }
  if (nearest == NULL)
    return FALSE;
  quoit_check_report (checker, rule (QUOIT_CHECK_RULE_KIND_UNKNOWN), node, "kind", "a kind of '%s', such as '%s'",
                      version, nearest);
  return TRUE;
}

/* Returns whether the text is "VERSION" or "GROUP/VERSION". */
static gboolean
is_version (const char *version)
{
  const char *slash = strchr (version, '/');
  g_autofree char *group = slash == NULL ? NULL : g_strndup (version, (gsize) (slash - version));

  return quoit_dns_is_label (slash == NULL ? version : slash + 1, QUOIT_MAX_DNS_LABEL_BYTES)
         && (group == NULL || quoit_is_dns_subdomain (group));
}

/* Reports a version that does not have the kind, if another version of the same group has it, or one whose name is
 * similar. The kind of another group is none that is known here. */
static void
report_version (QuoitChecker *checker, JsonNode *node, const char *version, const char *kind)
{
  if (!is_version (version))
    {
      quoit_check_report (checker, rule (QUOIT_CHECK_RULE_KIND_UNKNOWN), node, "apiVersion",
                          "a version such as 'v1' or 'ray.io/v1'");
      return;
    }
  for (guint i = 0; i < quoit_schema_n_kinds; i++)
    {
      const QuoitSchemaKind *row = &quoit_schema_kinds[i];
      const char *other = quoit_schema_text (row->version);

      if (row->reader == QUOIT_SCHEMA_KNOWN || strcmp (kind, quoit_schema_text (row->kind)) != 0
          || (!same_group (version, other) && quoit_text_distance (version, other) > 2))
        continue;
      quoit_check_report (checker, rule (QUOIT_CHECK_RULE_KIND_UNKNOWN), node, "apiVersion",
                          "'%s', a version of the API that has a %s", other, kind);
      return;
    }
}

/* Reads apiVersion or kind. Reports it if it is missing or not text, unless a rule about Ray's kinds does. Returns NULL
 * if it is not known. */
static const char *
read_word (QuoitChecker *checker, JsonNode *object, const char *name, gboolean has_own_rule)
{
  JsonNode *node = quoit_tree_member (object, name);
  QuoitScalar scalar;
  g_autofree char *what = g_strdup_printf ("the object has no '%s'", name);

  if (node == NULL)
    {
      if (!has_own_rule)
        quoit_check_report_part (checker, rule (QUOIT_CHECK_RULE_FIELD_MISSING), object, what, "this field");
      return NULL;
    }
  scalar = quoit_scalar_read (&checker->manifest, node);
  if (scalar.type == QUOIT_SCALAR_STRING && *scalar.text != '\0')
    return scalar.text;
  if (scalar.type != QUOIT_SCALAR_UNKNOWN && !has_own_rule)
    quoit_check_report (checker, &quoit_check_reading_rules[QUOIT_CHECK_RULE_FIELD], node, name, "text");
  return NULL;
}

/* Returns the schema of the object, or NULL. */
static const QuoitSchemaKind *
find_schema (QuoitChecker *checker, JsonNode *object)
{
  const char *version, *kind;
  const QuoitSchemaKind *found;
  QuoitRayKind ray_kind;
  gboolean is_ray;

  if (!JSON_NODE_HOLDS_OBJECT (object)
      || (quoit_tree_member (object, "apiVersion") == NULL && quoit_tree_member (object, "kind") == NULL))
    return NULL;
  kind = read_word (checker, object, "kind", FALSE);
  is_ray = quoit_ray_kind_find (kind, &ray_kind);
  version = read_word (checker, object, "apiVersion", is_ray);
  if (version == NULL || kind == NULL)
    return NULL;

  found = find_kind (version, kind);
  if (found != NULL)
    return found->reader == QUOIT_SCHEMA_KNOWN ? NULL : found;
  if (!report_kind (checker, quoit_tree_member (object, "kind"), version, kind) && !is_ray)
    report_version (checker, quoit_tree_member (object, "apiVersion"), version, kind);
  return NULL;
}

/* --- names --- */

static gboolean
is_path_segment (const char *name)
{
  return *name != '\0' && strcmp (name, ".") != 0 && strcmp (name, "..") != 0 && strpbrk (name, "/%") == NULL;
}

/* Returns what Kubernetes expects as the name of an object of the kind, or NULL if @name is such a name. */
static const char *
expected_name (const QuoitSchemaKind *kind, const char *name)
{
  const char *group = quoit_schema_text (kind->version), *word = quoit_schema_text (kind->kind);

  if (g_str_has_prefix (group, "rbac."))
    return is_path_segment (name) ? NULL : "a name without '/' and '%'";
  if (strcmp (word, "Service") == 0)
    return quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES) && g_ascii_islower (*name)
               ? NULL
               : "a DNS label that begins with a letter: at most 63 lower-case letters, digits and '-'";
  if (strcmp (word, "Namespace") == 0)
    return quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES)
               ? NULL
               : "a DNS label: at most 63 lower-case letters, digits and '-'";
  return quoit_is_dns_subdomain (name)
             ? NULL
             : "a DNS name: at most 253 lower-case letters, digits, '-' and '.', with a letter "
               "or digit at both ends of each part";
}

/* The API server's admission reads these labels of a namespace. */
static void
check_pod_security (QuoitChecker *checker, JsonNode *labels)
{
  static const char *const names[]
      = { "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/warn" };
  static const char *const levels[] = { "privileged", "baseline", "restricted", NULL };

  for (guint i = 0; labels != NULL && JSON_NODE_HOLDS_OBJECT (labels) && i < G_N_ELEMENTS (names); i++)
    {
      JsonNode *node = json_object_get_member (json_node_get_object (labels), names[i]);
      QuoitScalar level = node == NULL ? (QuoitScalar) { 0 } : quoit_scalar_read (&checker->manifest, node);

      if (level.type == QUOIT_SCALAR_NULL
          || (level.type == QUOIT_SCALAR_STRING && !g_strv_contains (levels, level.text)))
        quoit_check_report (checker, rule (QUOIT_CHECK_RULE_FIELD_VALUE), node, names[i],
                            "'privileged', 'baseline' or 'restricted'");
    }
}

static void
check_name (QuoitChecker *checker, JsonNode *object, const QuoitSchemaKind *kind)
{
  JsonNode *metadata = quoit_tree_member (object, "metadata");
  JsonNode *node = quoit_tree_member (metadata, "name"), *namespace = quoit_tree_member (metadata, "namespace");
  QuoitScalar name;
  QuoitRayKind ray_kind;
  const char *expected;

  if (strcmp (quoit_schema_text (kind->kind), "Namespace") == 0)
    check_pod_security (checker, quoit_tree_member (metadata, "labels"));
  if (namespace != NULL)
    {
      name = quoit_scalar_read (&checker->manifest, namespace);
      if (name.type == QUOIT_SCALAR_STRING && *name.text != '\0'
          && !quoit_dns_is_label (name.text, QUOIT_MAX_DNS_LABEL_BYTES))
        quoit_check_report (checker, rule (QUOIT_CHECK_RULE_OBJECT_NAME), namespace, "namespace",
                            "a DNS label: at most 63 lower-case letters, digits and '-'");
    }
  /* The rule cluster-name checks the names of Ray's kinds, which are shorter. */
  if (quoit_ray_kind_find (quoit_schema_text (kind->kind), &ray_kind)
      || (metadata != NULL && !JSON_NODE_HOLDS_OBJECT (metadata)))
    return;
  if (node == NULL)
    {
      if (quoit_tree_member (metadata, "generateName") == NULL)
        quoit_check_report_part (checker, rule (QUOIT_CHECK_RULE_OBJECT_NAME), metadata != NULL ? metadata : object,
                                 "no 'metadata.name'", "a name");
      return;
    }
  name = quoit_scalar_read (&checker->manifest, node);
  if (name.type != QUOIT_SCALAR_STRING)
    return;
  expected = expected_name (kind, name.text);
  if (expected != NULL)
    quoit_check_report (checker, rule (QUOIT_CHECK_RULE_OBJECT_NAME), node, "name", "%s", expected);
}

gboolean
quoit_check_has_schema (QuoitChecker *checker, JsonNode *object)
{
  JsonNode *version_node = quoit_tree_member (object, "apiVersion"), *kind_node = quoit_tree_member (object, "kind");
  QuoitScalar version, kind;
  const QuoitSchemaKind *found;

  checker->is_native = FALSE;
  if (version_node == NULL || kind_node == NULL)
    return FALSE;
  version = quoit_scalar_read (&checker->manifest, version_node);
  kind = quoit_scalar_read (&checker->manifest, kind_node);
  if (version.type != QUOIT_SCALAR_STRING || kind.type != QUOIT_SCALAR_STRING)
    return FALSE;
  found = find_kind (version.text, kind.text);
  checker->is_native = found != NULL && found->reader == QUOIT_SCHEMA_NATIVE;
  return found != NULL ? found->reader != QUOIT_SCHEMA_KNOWN : has_version (version.text);
}

/* The parts with a schema of kinds without one. */
static const struct {
  const char *group, *kind, *path;
  gboolean is_job; /* the templates there are of jobs, and otherwise of pods */
} templates[] = {
  { "jobset.x-k8s.io/", "JobSet", "spec.replicatedJobs[].template", TRUE },
  { "jobset.x-k8s.io/", "JobSet", "spec.replicatedJobs[].template.spec.template", FALSE },
  { "leaderworkerset.x-k8s.io/", "LeaderWorkerSet", "spec.leaderWorkerTemplate.leaderTemplate", FALSE },
  { "leaderworkerset.x-k8s.io/", "LeaderWorkerSet", "spec.leaderWorkerTemplate.workerTemplate", FALSE },
  { "kueue.x-k8s.io/", "Workload", "spec.podSets[].template", FALSE },
};

static void
check_parts (QuoitChecker *checker, JsonNode *object)
{
  JsonNode *version_node = quoit_tree_member (object, "apiVersion"), *kind_node = quoit_tree_member (object, "kind");
  QuoitScalar version, kind;

  if (version_node == NULL || kind_node == NULL)
    return;
  version = quoit_scalar_read (&checker->manifest, version_node);
  kind = quoit_scalar_read (&checker->manifest, kind_node);
  if (version.type != QUOIT_SCALAR_STRING || kind.type != QUOIT_SCALAR_STRING)
    return;
  quoit_check_compare_metadata (checker, object);
  for (guint i = 0; i < G_N_ELEMENTS (templates); i++)
    {
      if (!g_str_has_prefix (version.text, templates[i].group) || strcmp (kind.text, templates[i].kind) != 0)
        continue;
      if (templates[i].is_job)
        quoit_check_compare_jobs (checker, object, templates[i].path, find_kind ("batch/v1", "CronJob"));
      else
        quoit_check_compare_pods (checker, object, templates[i].path);
    }
}

void
quoit_check_schema (QuoitChecker *checker, JsonNode *object)
{
  const QuoitSchemaKind *kind = find_schema (checker, object);

  if (kind == NULL)
    {
      check_parts (checker, object);
      return;
    }
  check_name (checker, object, kind);
  quoit_check_compare (checker, object, kind);
}
