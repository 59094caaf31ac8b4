/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that pods claim: a node's devices, warnings, and refusals. */
#include "claims-suite.h"

/* A cluster of one CPU group with the given pod and container. */
#define CLUSTER(group, pod, container)                                                                                 \
  "kind: RayCluster\nmetadata: {name: c, namespace: lab}\nspec:\n"                                                     \
  "  headGroupSpec: {template: {spec: {containers: [{}]}}}\n"                                                          \
  "  workerGroupSpecs: [{groupName: w, " group ", template: {spec: {" pod ", containers: [{resources: {limits: "       \
  "{cpu: 8}, " container "}}, {}]}}}]\n"
#define ONE "replicas: 1"
#define POD "resourceClaims: [{name: net, resourceClaimTemplateName: two}]"
#define USE "claims: [{name: net}]"
#define TEMPLATE(request)                                                                                              \
  "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: two}\n"                          \
  "spec: {spec: {devices: {requests: [" request "]}}}\n"
#define NETDEV "{name: r, exactly: {deviceClassName: netdev.google.com, allocationMode: ExactCount, count: 2}}"
#define USUAL CLUSTER (ONE, POD, USE) TEMPLATE (NETDEV)

static const struct {
  const char *text, *resources;
  const char *warning; /* NULL: none */
} accepted[] = {
  { USUAL, "CPU=8 netdev.google.com=2", NULL },
  /* The defaults are count 1 and mode exact. */
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d}}"), "CPU=8 d=1", NULL },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, count: 3}}"), "CPU=8 d=3", NULL },
  /* The request's form until v1beta1. */
  { CLUSTER (ONE, POD, USE) "---\napiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimTemplate\nmetadata: {name: "
                            "two}\nspec: {spec: {devices: {requests: [{name: r, deviceClassName: d, count: 4}]}}}\n",
    "CPU=8 d=4", NULL },
  { "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: two}\nspec: {spec: {devices: "
    "{requests: [" NETDEV "]}}}\n---\n" CLUSTER (ONE, POD, USE),
    "CPU=8 netdev.google.com=2", NULL },
  /* Several requests and claims add up; two containers with one claim share it. */
  { CLUSTER (ONE, POD, USE) TEMPLATE (NETDEV ", {name: s, exactly: {deviceClassName: netdev.google.com}}, {name: t, "
                                             "exactly: {deviceClassName: d}}"),
    "CPU=8 d=1 netdev.google.com=3", NULL },
  { CLUSTER (ONE,
             "resourceClaims: [{name: a, resourceClaimTemplateName: two}, {name: b, resourceClaimTemplateName: two}]",
             "claims: [{name: a}, {name: b}]") TEMPLATE (NETDEV),
    "CPU=8 netdev.google.com=4", NULL },
  { CLUSTER (ONE, POD, USE "}}, {resources: {" USE) TEMPLATE (NETDEV), "CPU=8 netdev.google.com=2", NULL },
  /* A container may use some of a claim's requests. */
  { CLUSTER (ONE, POD, "claims: [{name: net, request: s}]") TEMPLATE (NETDEV ", {name: s, exactly: {deviceClassName: "
                                                                             "d}}"),
    "CPU=8 d=1", NULL },
  { CLUSTER (ONE, POD, "claims: [{name: net, request: s}, {name: net, request: r}]")
        TEMPLATE (NETDEV ", {name: s, exactly: {deviceClassName: d}}"),
    "CPU=8 d=1 netdev.google.com=2", NULL },
  /* The group's own value for Ray takes precedence. */
  { CLUSTER (ONE ", rayStartParams: {resources: '{\"netdev.google.com\": 1}'}", POD, USE) TEMPLATE (NETDEV),
    "CPU=8 netdev.google.com=1", NULL },
  { CLUSTER (ONE ", resources: {netdev.google.com: 5}", POD, USE) TEMPLATE (NETDEV), "CPU=8 netdev.google.com=5",
    NULL },
  { CLUSTER (ONE, POD, USE) TEMPLATE (""), "CPU=8", NULL },
  { CLUSTER (ONE, "resourceClaims: []", "claims: []"), "CPU=8", NULL },
  /* A claim that exists already. */
  { CLUSTER (ONE, "resourceClaims: [{name: net, resourceClaimName: mine}]",
             USE) "---\nkind: ResourceClaim\nmetadata: {name: mine}\nspec: {devices: {requests: [" NETDEV "]}}\n",
    "CPU=8 netdev.google.com=2", NULL },
  { CLUSTER ("replicas: 3", "resourceClaims: [{name: net, resourceClaimName: mine}]",
             USE) "---\nkind: ResourceClaim\nmetadata: {name: mine}\nspec: {devices: {requests: [" NETDEV "]}}\n",
    "CPU=8 netdev.google.com=2",
    "resourceClaims[0].resourceClaimName: 3 pods share ResourceClaim 'mine': its devices are counted on each node" },
  { CLUSTER (ONE, POD, USE), "CPU=8",
    "line 5: spec.workerGroupSpecs[0].template.spec.resourceClaims[0].resourceClaimTemplateName: no "
    "ResourceClaimTemplate 'two' in the file: its devices are unknown and not counted" },
  { CLUSTER (ONE, "resourceClaims: [{name: net, resourceClaimName: two}]", USE) TEMPLATE (NETDEV), "CPU=8",
    "resourceClaims[0].resourceClaimName: no ResourceClaim 'two' in the file" },
  { CLUSTER (ONE, POD, USE) "---\napiVersion: example.com/v1\nkind: ResourceClaimTemplate\nmetadata: {name: two}\n",
    "CPU=8", "no ResourceClaimTemplate 'two' in the file" },
  { CLUSTER (ONE, POD, USE) "---\nkind: ResourceClaimTemplate\nmetadata: {name: two, namespace: other}\n", "CPU=8",
    "no ResourceClaimTemplate 'two' in the file" },
  { CLUSTER (ONE, POD,
             USE) "---\nkind: ResourceClaimTemplate\nmetadata: {name: two, namespace: other}\n" TEMPLATE (NETDEV),
    "CPU=8 netdev.google.com=2", NULL },
  { CLUSTER (ONE, POD, USE)
        TEMPLATE ("{name: r, exactly: {deviceClassName: netdev.google.com, allocationMode: All}}, {name: s, exactly: "
                  "{deviceClassName: d}}"),
    "CPU=8 d=1",
    "line 10: spec.spec.devices.requests[0].exactly.allocationMode: 'All': the number of devices depends on the "
    "node, so they are not counted" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, adminAccess: true}}"), "CPU=8",
    "requests[0].exactly: 'adminAccess': other pods use these devices too, so they are not counted" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, firstAvailable: [{name: a, deviceClassName: d}]}"), "CPU=8",
    "requests[0].firstAvailable: it is not known which alternative the pod will get, so they are not counted" },
  { CLUSTER (ONE, POD, "x: []") TEMPLATE (NETDEV), "CPU=8",
    "resourceClaims[0]: no container uses claim 'net': its devices are not counted" },
  { "kind: List\nitems:\n- {kind: ResourceClaimTemplate, metadata: {name: two}, spec: {spec: {devices: {requests: "
    "[" NETDEV "]}}}}\n---\n" CLUSTER (ONE, POD, USE),
    "CPU=8 netdev.google.com=2", NULL },
  /* Invalid but unused. */
  { CLUSTER (ONE, "x: 1", "x: 1") TEMPLATE ("7"), "CPU=8", NULL },
};

START_TEST (a_node_has_the_devices_that_its_pod_claims)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims
      = quoit_read_raycluster (accepted[_i].text, strlen (accepted[_i].text), NULL, NULL, &error);

  ck_assert_ok (error);
  ck_assert_text (resources_as_text (claims, 1), accepted[_i].resources);
  ck_assert_text (resources_as_text (claims, 0), "");
  check_only_warning (claims, accepted[_i].warning);
}
END_TEST

#define AT "line 5: spec.workerGroupSpecs[0].template.spec."

static const struct {
  const char *text, *message;
} refused[] = {
  { CLUSTER (ONE, POD, "claims: [{name: nets}]") TEMPLATE (NETDEV),
    AT "containers[0].resources.claims[0].name: 'nets': expected the name of one of the pod's resourceClaims" },
  { CLUSTER (ONE, "x: 1", USE), AT "containers[0].resources.claims[0].name: 'net': expected the name of one" },
  { CLUSTER (ONE, POD, "claims: {name: net}"), AT "containers[0].resources.claims: a map: expected a list" },
  { CLUSTER (ONE, POD, "claims: [net]"), AT "containers[0].resources.claims[0]: 'net': expected a map" },
  { CLUSTER (ONE, POD, "claims: [{}]"), AT "containers[0].resources.claims[0]: no 'name': expected a name" },
  { CLUSTER (ONE, POD, "claims: [{name: net, request: 7}]"), "claims[0].request: '7': expected text" },
  { CLUSTER (ONE, POD, "claims: [{name: net, request: q}]") TEMPLATE (NETDEV),
    AT "resourceClaims[0]: request 'q', which a container uses: expected one of ResourceClaimTemplate 'two'" },
  { CLUSTER (ONE, "resourceClaims: 1", "x: 1"), AT "resourceClaims: '1': expected a list" },
  { CLUSTER (ONE, "resourceClaims: [1]", "x: 1"), AT "resourceClaims[0]: '1': expected a map" },
  { CLUSTER (ONE, "resourceClaims: [{resourceClaimName: a}]", "x: 1"), AT "resourceClaims[0]: no 'name'" },
  { CLUSTER (ONE, "resourceClaims: [{name: '', resourceClaimName: a}]", "x: 1"),
    AT "resourceClaims[0].name: '': expected a name" },
  { CLUSTER (ONE, "resourceClaims: [{name: net}]", "x: 1"),
    AT "resourceClaims[0]: no claim: expected one of 'resourceClaimName' and 'resourceClaimTemplateName'" },
  { CLUSTER (ONE, "resourceClaims: [{name: net, resourceClaimName: a, resourceClaimTemplateName: b}]", "x: 1"),
    AT "resourceClaims[0]: both names of claims: expected one of" },
  { CLUSTER (ONE, "resourceClaims: [{name: net, resourceClaimName: a}, {name: net, resourceClaimName: a}]", "x: 1"),
    AT "resourceClaims[1].name: 'net': expected each name once" },
  { USUAL "---\nkind: ResourceClaimTemplate\nmetadata: {name: two}\n",
    "line 13: metadata: a second ResourceClaimTemplate 'two': expected each name once" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{exactly: {deviceClassName: d}}"),
    "line 10: spec.spec.devices.requests[0]: no 'name': expected a name" },
  { CLUSTER (ONE, POD, USE) TEMPLATE (NETDEV ", " NETDEV), "requests[1].name: 'r': expected each name once" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r}"), "requests[0]: no 'deviceClassName'" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {}}"), "requests[0].exactly: no 'deviceClassName'" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: 'A b'}}"),
    "exactly.deviceClassName: 'A b': expected the name of a device class" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: memory}}"),
    "exactly.deviceClassName: 'memory': expected another name: this is Ray's name for the node's memory" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, allocationMode: Some}}"),
    "exactly.allocationMode: 'Some': expected ExactCount or All" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, count: 0}}"),
    "exactly.count: '0': expected at least 1 device" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, count: -1}}"),
    "exactly.count: '-1': expected a whole number" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, count: '2'}}"),
    "exactly.count: '2': expected a whole number of 0 to 2147483647, without quotes" },
  { CLUSTER (ONE, POD, USE) TEMPLATE ("{name: r, exactly: {deviceClassName: d, adminAccess: 1}}"),
    "exactly.adminAccess: '1': expected true or false" },
  { CLUSTER (ONE, POD, USE) "---\nkind: ResourceClaimTemplate\nmetadata: {name: two}\nspec: {spec: {devices: 1}}\n",
    "line 9: spec.spec.devices: '1': expected a map" },
  { CLUSTER (ONE, POD, USE) "---\nkind: ResourceClaimTemplate\nmetadata: two\n", "metadata: 'two': expected a map" },
};

START_TEST (invalid_device_claim_is_refused_with_line_and_field)
{
  GError *error = NULL;

  ck_assert_msg (quoit_read_raycluster (refused[_i].text, strlen (refused[_i].text), NULL, NULL, &error) == NULL,
                 "was accepted: %s", refused[_i].text);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

START_TEST (more_than_256_claims_are_refused)
{
  g_autoptr (GString) list = g_string_new ("resourceClaims: [");
  g_autofree char *text = NULL;
  GError *error = NULL;

  for (unsigned i = 0; i < 257; i++)
    g_string_append_printf (list, "{name: n%u, resourceClaimName: a},", i);
  text = g_strdup_printf ("kind: RayCluster\nmetadata: {name: c}\nspec:\n  headGroupSpec: {template: {spec: "
                          "{containers: [{}], %s]}}}\n",
                          list->str);
  ck_assert_ptr_null (quoit_read_raycluster (text, strlen (text), NULL, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "257 resourceClaims: expected at most 256");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-devices");
  TCase *devices = tcase_create ("devices");

  tcase_add_loop_test (devices, a_node_has_the_devices_that_its_pod_claims, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (devices, invalid_device_claim_is_refused_with_line_and_field, 0, G_N_ELEMENTS (refused));
  tcase_add_test (devices, more_than_256_claims_are_refused);
  suite_add_tcase (suite, devices);
  return suite_main (suite);
}
