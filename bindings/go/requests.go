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

// Strategy is how the bundles of a request stand to each other: Ray's four strategies, with Ray's numbers.
type Strategy int

// The strategies.
const (
	Pack         Strategy = C.QUOIT_STRATEGY_PACK          // on few nodes
	Spread       Strategy = C.QUOIT_STRATEGY_SPREAD        // on many nodes
	StrictPack   Strategy = C.QUOIT_STRATEGY_STRICT_PACK   // all on one node
	StrictSpread Strategy = C.QUOIT_STRATEGY_STRICT_SPREAD // each on another node
)

// String is Ray's name for it.
func (s Strategy) String() string {
	if name := C.quoit_ray_strategy_get_name(C.QuoitStrategy(s)); name != nil {
		return C.GoString(name)
	}
	return named(nil, s)
}

// Policy is who decides where bundles go.
type Policy int

// The policies.
const (
	Best      Policy = C.QUOIT_POLICY_BEST // quoit: a placement whenever there is one
	RayPolicy Policy = C.QUOIT_POLICY_RAY  // what Ray 2.60's control plane answers
)

var policyNames = map[Policy]string{Best: "BEST", RayPolicy: "RAY"}

// String is the name of the policy.
func (p Policy) String() string { return named(policyNames, p) }

// Selector narrows nodes down by a label. The value is of Ray's grammar: "v", "!v", "in(a,b)", "!in(a,b)"; nothing is
// trimmed.
type Selector struct {
	Key, Value string
}

// BundleRequest asks for one or more equal bundles, each an amount of resources on one node.
type BundleRequest struct {
	// Amounts is what each of them takes of its node: "TPU=4,CPU=8", in any order. A name with a ',', '=' or '"' in it
	// stands in double quotes, with C's escapes; an amount is decimal text, counted as Ray counts what it is given.
	Amounts string
	// Count is how many there are: 1 to 10,000 in all; 0 stands for 1.
	Count int64
	// Selectors of each of them, beside those of the request.
	Selectors []Selector
}

// Request is what is wanted: a number of whole slices of one accelerator and topology, or bundles of resources, all or
// none. It is a value: what a field says is checked when the request is used, and the empty value of a field is as good
// as not setting it. A call keeps nothing of it; goroutines may share one that nobody changes.
type Request struct {
	// Name of the group that is to be made: 1 to 253 bytes of printable UTF-8 without '@' or '/'.
	Name string
	// Key is the request key, with which a retry is safe: a second request with the key returns the group that the first
	// one made, also after it has been released, and never reserves again. Another request with it is Conflict.
	Key string
	// Owner is who will hold the group; text as of a name.
	Owner string
	// Lease is how long a group that Reserve makes lives unless it is renewed; 0: until it is released. It is counted in
	// milliseconds, and is not part of what makes two requests the same.
	Lease time.Duration

	// Accelerator is a generation in any system's spelling: "v6e", "v5litepod", "TPU-V4", "tpu-v5p-slice", "tpu7x".
	Accelerator string
	// Topology is the shape of each slice in chips, x first: "4x4", "2x2x4".
	Topology string
	// Slices is how many are wanted: 1 to 1,000,000.
	Slices int64
	// SlicesAtLeast is how few will do, for elastic jobs, as Ledger.Resize moves the group later; 0: not fewer than Slices.
	SlicesAtLeast int64
	// ChipsPerHost is 1, 2, 4 or 8; 0 is Ray's default for the topology.
	ChipsPerHost int64
	// TPUPerBundle takes each host of the slices as bundles of that much TPU, decimal text: "1" is a bundle a chip.
	TPUPerBundle string

	// Bundles that are asked for, in their order; instead of slices.
	Bundles []BundleRequest
	// BundlesFile adds the bundles of a file as Ray's placement_group() is given them, JSON or YAML: a list of maps, or a
	// map of its arguments bundles, strategy, bundle_label_selector and topology_strategy.
	BundlesFile []byte
	// Strategy of the bundles.
	Strategy Strategy
	// Policy of the bundles.
	Policy Policy
	// TopologyLabel is a label of which all bundles go to nodes of one value.
	TopologyLabel string
	// TopologyValues is how many values share out the bundles, evenly and in order; 0 stands for 1.
	TopologyValues int64
	// SoftTarget is the node that StrictPack takes if it has room: its short or full name.
	SoftTarget string

	// Pool allows only slices or nodes of pools of that name; it is NotFound where there is none.
	Pool string
	// Zone allows only slices whose alive nodes all have that availability zone; for bundles, nodes that have it.
	Zone string
	// Selectors that all alive nodes of a slice satisfy; for bundles, its node.
	Selectors []Selector
	// OnlySlices are the slices that will do, by short or full name; for bundles, nodes of those.
	OnlySlices []string
	// ExcludedSlices will not do.
	ExcludedSlices []string
}

// making is a request of C that is being filled, until something fails.
type making struct {
	c         *C.QuoitRequest
	arguments door.Arguments
	err       error
	bundles   int64
}

// opened is the request as C has it; close frees it.
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

// ready says whether the next setter may be called; arguments that were made for it are looked at.
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

// Check says what is wrong with the fields themselves, before the request is used; nil where each is right. Whether they
// go together, and with a fleet, Snapshot.Explain says.
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
