// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"

	"quoit/internal/door"
)

// Strategy is how the bundles of a request are placed relative to each other. The strategies and their numbers are
// Ray's.
type Strategy int

// The strategies.
const (
	Pack         Strategy = C.QUOIT_STRATEGY_PACK          // on few nodes
	Spread       Strategy = C.QUOIT_STRATEGY_SPREAD        // on many nodes
	StrictPack   Strategy = C.QUOIT_STRATEGY_STRICT_PACK   // all on one node
	StrictSpread Strategy = C.QUOIT_STRATEGY_STRICT_SPREAD // each on a different node
)

// String returns Ray's name of the strategy.
func (s Strategy) String() string {
	if name := C.quoit_ray_strategy_get_name(C.QuoitStrategy(s)); name != nil {
		return C.GoString(name)
	}
	return named(nil, s)
}

// Policy is the rule by which bundles are placed.
type Policy int

// The policies.
const (
	Best      Policy = C.QUOIT_POLICY_BEST // quoit's own: finds a placement whenever one exists
	RayPolicy Policy = C.QUOIT_POLICY_RAY  // the decisions of Ray 2.60's control plane
)

var policyNames = map[Policy]string{Best: "BEST", RayPolicy: "RAY"}

// String returns the name of the policy.
func (p Policy) String() string { return named(policyNames, p) }

// Selector selects nodes by a label. The value has Ray's grammar: "v", "!v", "in(a,b)" or "!in(a,b)". Blanks are not
// trimmed.
type Selector struct {
	Key, Value string
}

// BundleRequest is one or more equal bundles, each an amount of resources on one node.
type BundleRequest struct {
	// Amounts is the resources of each bundle, in any order: "TPU=4,CPU=8". A name with a ',', '=' or '"' must be
	// in double quotes, with C's escapes. Amounts are decimal text and converted like in Ray: 0.57 becomes 0.5699.
	Amounts string
	// Count is the number of bundles; 0 stands for 1. A request can have up to 10,000 bundles.
	Count int64
	// Selectors apply to each of these bundles, in addition to those of the request.
	Selectors []Selector
}

// Request is a request for whole slices of one accelerator and topology, or for bundles of resources. It gets all of
// them or none. It is a plain value: fields are validated on use, and an empty field means that the field is not set.
// Calls keep no reference to it; goroutines can share a Request that does not change.
type Request struct {
	// Name is the name of the new group: 1 to 253 bytes of printable UTF-8 without '@' or '/'.
	Name string
	// Key is the request key, which makes retries safe: a second request with the same key returns the first one's
	// group, even after its release, and reserves nothing. A different request with the key fails with Conflict.
	Key string
	// Owner is the owner of the group, with the same syntax as Name.
	Owner string
	// Lease is the lease of a group that Reserve makes; 0 means that the group stays until it is released. It is
	// counted in milliseconds. A retry with the same Key can have another Lease.
	Lease time.Duration

	// Accelerator is a generation in any system's spelling: "v6e", "v5litepod", "TPU-V4", "tpu-v5p-slice", "tpu7x".
	Accelerator string
	// Topology is the shape of each slice in chips, x first: "4x4", "2x2x4".
	Topology string
	// Slices is the number of slices: 1 to 1,000,000.
	Slices int64
	// SlicesAtLeast is for elastic jobs: the smallest acceptable number of slices. Ledger.Resize can later change
	// the number within SlicesAtLeast and Slices. 0 means that all Slices are needed.
	SlicesAtLeast int64
	// ChipsPerHost is 1, 2, 4 or 8; 0 stands for Ray's default for the topology.
	ChipsPerHost int64
	// TPUPerBundle divides each host of the slices into bundles of that much TPU, as decimal text: "1" is one
	// bundle per chip.
	TPUPerBundle string

	// Bundles are the requested bundles, in order. Use either Bundles or Slices.
	Bundles []BundleRequest
	// BundlesFile adds bundles in the form of Ray's placement_group() arguments, as JSON or YAML: a list of maps,
	// or a map of the arguments bundles, strategy, bundle_label_selector and topology_strategy.
	BundlesFile []byte
	// Strategy is the placement strategy of the bundles.
	Strategy Strategy
	// Policy is the placement policy of the bundles.
	Policy Policy
	// TopologyLabel is the key of a label that must have the same value on the nodes of all bundles.
	TopologyLabel string
	// TopologyValues is the number of different values of TopologyLabel over which the bundles are distributed,
	// evenly and in order; 0 stands for 1.
	TopologyValues int64
	// SoftTarget is the node that StrictPack prefers if the bundles fit there, by short or full name.
	SoftTarget string

	// Pool restricts the request to slices or nodes of pools of that name. An unknown pool is NotFound.
	Pool string
	// Zone restricts the request to slices whose alive nodes are all in that availability zone, and bundles to
	// nodes in it.
	Zone string
	// Selectors must match all alive nodes of a slice, or the node of a bundle.
	Selectors []Selector
	// OnlySlices restricts the request to these slices, by short or full name, and bundles to their nodes.
	OnlySlices []string
	// ExcludedSlices are slices that the request must not use.
	ExcludedSlices []string
}

// making is a C request that is filled until the first error.
type making struct {
	c         *C.QuoitRequest
	arguments door.Arguments
	err       error
	bundles   int64
}

// opened converts the request to a C object; close frees it.
func (r *Request) opened() (*making, error) {
	if r == nil {
		return nil, door.Invalid("request: expected one, not nil")
	}
	m := &making{}
	name := m.text("name", r.Name)
	if m.err = m.arguments.Err(); m.err != nil {
		return nil, m.err
	}
	m.c = C.quoit_request_new(name)
	r.fill(m)
	if m.err != nil {
		m.close()
		return nil, m.err
	}
	return m, nil
}

func (m *making) close() {
	C.quoit_request_free(m.c)
}

func (m *making) text(what, value string) *C.char {
	return (*C.char)(m.arguments.Text(what, value))
}

// ready reports whether the next setter can be called. It also picks up errors of converted arguments.
func (m *making) ready() bool {
	if m.err == nil {
		m.err = m.arguments.Err()
	}
	return m.err == nil
}

func (r *Request) fill(m *making) {
	r.fillWho(m)
	r.fillSlices(m)
	r.fillBundles(m)
	r.fillWhere(m)
}

func (r *Request) fillWho(m *making) {
	var gerror *C.GError
	if r.Key != "" {
		if text := m.text("key", r.Key); m.ready() {
			C.quoit_request_set_key(m.c, text)
		}
	}
	if r.Owner != "" {
		if text := m.text("owner", r.Owner); m.ready() {
			C.quoit_request_set_owner(m.c, text)
		}
	}
	if r.Lease != 0 && m.ready() {
		C.quoit_request_set_lease_ms(m.c, C.int64_t(milliseconds(r.Lease)), &gerror)
		m.err = take(gerror)
	}
}

func (r *Request) fillSlices(m *making) {
	var gerror *C.GError
	if r.Accelerator != "" {
		if text := m.text("accelerator", r.Accelerator); m.ready() {
			C.quoit_request_set_accelerator(m.c, text, &gerror)
			m.err = take(gerror)
		}
	}
	if r.Topology != "" {
		if text := m.text("topology", r.Topology); m.ready() {
			C.quoit_request_set_topology(m.c, text, &gerror)
			m.err = take(gerror)
		}
	}
	if r.SlicesAtLeast != 0 && m.ready() {
		C.quoit_request_set_slices_between(m.c, C.int64_t(r.SlicesAtLeast), C.int64_t(r.Slices), &gerror)
		m.err = take(gerror)
	} else if r.Slices != 0 && m.ready() {
		C.quoit_request_set_slices(m.c, C.int64_t(r.Slices), &gerror)
		m.err = take(gerror)
	}
	if r.ChipsPerHost != 0 && m.ready() {
		C.quoit_request_set_chips_per_host(m.c, C.int64_t(r.ChipsPerHost), &gerror)
		m.err = take(gerror)
	}
	if r.TPUPerBundle != "" {
		if text := m.text("TPU per bundle", r.TPUPerBundle); m.ready() {
			C.quoit_request_set_tpu_per_bundle(m.c, text, &gerror)
			m.err = take(gerror)
		}
	}
}

func (r *Request) fillBundles(m *making) {
	var gerror *C.GError
	for index := range r.Bundles {
		m.addBundles(&r.Bundles[index])
	}
	if r.BundlesFile != nil {
		if data, length := m.arguments.Document(r.BundlesFile); m.ready() {
			C.quoit_request_read_bundles(m.c, (*C.char)(data), C.size_t(length), &gerror)
			m.err = take(gerror)
		}
	}
	if r.Strategy != Pack && m.ready() {
		C.quoit_request_set_strategy(m.c, C.QuoitStrategy(r.Strategy), &gerror)
		m.err = take(gerror)
	}
	if r.Policy != Best && m.ready() {
		C.quoit_request_set_policy(m.c, C.QuoitPolicy(r.Policy), &gerror)
		m.err = take(gerror)
	}
	if r.TopologyLabel != "" || r.TopologyValues != 0 {
		values := r.TopologyValues
		if values == 0 {
			values = 1
		}
		if key := m.text("topology label", r.TopologyLabel); m.ready() {
			C.quoit_request_set_topology_label(m.c, key, C.int64_t(values), &gerror)
			m.err = take(gerror)
		}
	}
	if r.SoftTarget != "" {
		if text := m.text("soft target", r.SoftTarget); m.ready() {
			C.quoit_request_set_soft_target(m.c, text)
		}
	}
}

func (m *making) addBundles(b *BundleRequest) {
	var gerror *C.GError
	text := m.text("amounts", b.Amounts)
	count := b.Count
	if count == 0 {
		count = 1
	}
	if !m.ready() {
		return
	}
	C.quoit_request_add_bundles(m.c, text, C.int64_t(count), &gerror)
	if m.err = take(gerror); m.err != nil {
		return
	}
	for bundle := m.bundles; bundle < m.bundles+count; bundle++ {
		for _, one := range b.Selectors {
			key, value := m.text("selector", one.Key), m.text("selector", one.Value)
			if !m.ready() {
				return
			}
			C.quoit_request_select_bundle(m.c, C.int64_t(bundle), key, value, &gerror)
			if m.err = take(gerror); m.err != nil {
				return
			}
		}
	}
	m.bundles += count
}

func (r *Request) fillWhere(m *making) {
	var gerror *C.GError
	if r.Pool != "" {
		if text := m.text("pool", r.Pool); m.ready() {
			C.quoit_request_set_pool(m.c, text)
		}
	}
	if r.Zone != "" {
		if text := m.text("zone", r.Zone); m.ready() {
			C.quoit_request_set_zone(m.c, text)
		}
	}
	for _, one := range r.Selectors {
		key, value := m.text("selector", one.Key), m.text("selector", one.Value)
		if !m.ready() {
			return
		}
		C.quoit_request_add_selector(m.c, key, value, &gerror)
		m.err = take(gerror)
	}
	for _, slice := range r.OnlySlices {
		if text := m.text("slice", slice); m.ready() {
			C.quoit_request_add_slice(m.c, text)
		}
	}
	for _, slice := range r.ExcludedSlices {
		if text := m.text("slice", slice); m.ready() {
			C.quoit_request_exclude_slice(m.c, text)
		}
	}
}

// Check validates each field before the request is used. Snapshot.Explain also checks combinations of fields, and the
// request against a fleet.
//
// It fails with Invalid.
func (r *Request) Check() error {
	m, err := r.opened()
	if err != nil {
		return err
	}
	m.close()
	return nil
}
