/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas of Kubernetes objects, as tables that generate.py writes from the files that Kubernetes and KubeRay
 * publish. Numbers refer from table to table; a text is a number of bytes into quoit_schema_texts. */
#pragma once

#include <glib.h>

/* What a value is. */
typedef enum {
  QUOIT_SCHEMA_ANY,
  QUOIT_SCHEMA_OBJECT, /* a map with the fields of the type */
  QUOIT_SCHEMA_MAP,    /* a map with any keys, and values of the item's type */
  QUOIT_SCHEMA_LIST,   /* a list with elements of the item's type */
  QUOIT_SCHEMA_STRING,
  QUOIT_SCHEMA_BOOLEAN,
  QUOIT_SCHEMA_INTEGER,
  QUOIT_SCHEMA_INT32,
  QUOIT_SCHEMA_NUMBER,
  QUOIT_SCHEMA_INT_OR_STRING,
  QUOIT_SCHEMA_QUANTITY,
  QUOIT_SCHEMA_TIME,
  QUOIT_SCHEMA_BYTES /* Base64 */
} QuoitSchemaForm;

/* What else is true of a value. @n and @argument of the constraint: */
typedef enum {
  QUOIT_SCHEMA_ENUM,    /* one of n texts of a list */
  QUOIT_SCHEMA_PATTERN, /* a text with a regular expression */
  QUOIT_SCHEMA_MINIMUM, /* an index into quoit_schema_values, as for the next ones */
  QUOIT_SCHEMA_MAXIMUM,
  QUOIT_SCHEMA_MIN_LENGTH, /* in characters */
  QUOIT_SCHEMA_MAX_LENGTH,
  QUOIT_SCHEMA_MIN_ITEMS,
  QUOIT_SCHEMA_MAX_ITEMS,
  QUOIT_SCHEMA_KEYS,      /* elements differ in the n members of a list, each "NAME" or "NAME=DEFAULT" */
  QUOIT_SCHEMA_SET,       /* elements differ */
  QUOIT_SCHEMA_REQUIRED,  /* not the empty text */
  QUOIT_SCHEMA_NOT_EMPTY, /* the same, but the field may be missing */
  /* Texts. The text of a PORT_NAME may also be a number. */
  QUOIT_SCHEMA_DNS_LABEL,
  QUOIT_SCHEMA_SUBDOMAIN,
  QUOIT_SCHEMA_PORT_NAME,
  QUOIT_SCHEMA_ENV_NAME,
  QUOIT_SCHEMA_CONFIG_KEY,
  QUOIT_SCHEMA_LABEL_KEY,
  QUOIT_SCHEMA_SCHEDULE,
  /* Maps: their keys or values. */
  QUOIT_SCHEMA_LABEL_KEYS,
  QUOIT_SCHEMA_LABEL_VALUES,
  QUOIT_SCHEMA_CONFIG_KEYS,
  /* Members of an object, from a list of n names. */
  QUOIT_SCHEMA_NOT_BOTH,
  QUOIT_SCHEMA_ONE_OF,   /* one of them, or more */
  QUOIT_SCHEMA_NOT_WITH, /* the first one without the others */
  QUOIT_SCHEMA_ALL_OR,   /* the first one, or all others */
  QUOIT_SCHEMA_AT_MOST_ONE,
  QUOIT_SCHEMA_EXACTLY_ONE,
  /* Members of an object of one type. */
  QUOIT_SCHEMA_VALUE_FROM,   /* of a variable: value or valueFrom */
  QUOIT_SCHEMA_REQUIREMENT,  /* of a selector: operator and values */
  QUOIT_SCHEMA_TOLERATION,   /* key, operator, value, effect */
  QUOIT_SCHEMA_POD,          /* volumes, claims, amounts */
  QUOIT_SCHEMA_SELECTOR,     /* of a workload: its selector and the labels of its pods */
  QUOIT_SCHEMA_JOB,          /* restartPolicy, completions */
  QUOIT_SCHEMA_DEVICE_COUNT, /* allocationMode and count */
  QUOIT_SCHEMA_DEVICE_NAMES, /* requests that constraints name */
  QUOIT_SCHEMA_STORAGE,      /* the size of a volume */
  QUOIT_SCHEMA_SERVICE,      /* ports and clusterIP */
  QUOIT_SCHEMA_ROLLING,      /* maxSurge and maxUnavailable */
  QUOIT_SCHEMA_POLICY,       /* of a role: groups and resources, or URLs */
  QUOIT_SCHEMA_SUBJECT,      /* of a binding: kind, name, namespace */
  QUOIT_SCHEMA_POD_TEMPLATE  /* Kubernetes makes pods from the object: the argument is their type */
} QuoitSchemaConstraintKind;

typedef struct {
  guint8 kind, n;
  guint16 argument;
} QuoitSchemaConstraint;

enum {
  QUOIT_SCHEMA_NULLABLE = 1,   /* flag of a type: null is a value */
  QUOIT_SCHEMA_OPEN = 2,       /* flag of a type: fields that it does not have are kept */
  QUOIT_SCHEMA_NEEDED = 0x8000 /* bit of the type of a field: the field is required */
};

typedef struct {
  guint16 name;
  guint16 type; /* and NEEDED */
} QuoitSchemaField;

typedef struct {
  guint16 first_field, item, first_constraint;
  guint8 n_fields, n_constraints, form, flags;
} QuoitSchemaType;

/* Who reads an object. */
typedef enum {
  QUOIT_SCHEMA_KNOWN,  /* the kind exists, but has no schema here */
  QUOIT_SCHEMA_NATIVE, /* Kubernetes itself, which decodes it into types of Go */
  QUOIT_SCHEMA_CUSTOM  /* a CustomResourceDefinition, whose schema is checked value by value */
} QuoitSchemaReader;

typedef struct {
  guint16 version, kind; /* texts: "ray.io/v1", "RayCluster" */
  guint16 type;
  guint8 reader;
} QuoitSchemaKind;

extern const char quoit_schema_texts[];
extern const guint16 quoit_schema_lists[]; /* of texts */
extern const gint64 quoit_schema_values[];
extern const QuoitSchemaConstraint quoit_schema_constraints[];
extern const QuoitSchemaField quoit_schema_fields[]; /* those of a type are sorted by name */
extern const QuoitSchemaType quoit_schema_types[];
extern const QuoitSchemaKind quoit_schema_kinds[]; /* sorted by version and kind */
extern const guint16 quoit_schema_n_kinds;
extern const guint16 quoit_schema_meta_type, quoit_schema_pod_template_type; /* Kubernetes' own */

static inline const char *
quoit_schema_text (guint16 text)
{
  return quoit_schema_texts + text;
}
