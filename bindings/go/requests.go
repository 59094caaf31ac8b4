// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"

	"quoit/internal/cconv"
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
	return nameOf(nil, s)
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
func (p Policy) String() string { return nameOf(policyNames, p) }

// Domain is a kind of place that several slices share.
type Domain int

// The domains.
const (
	NoDomain   Domain = C.QUOIT_DOMAIN_NONE
	PoolDomain Domain = C.QUOIT_DOMAIN_POOL // a pool of one source
	ZoneDomain Domain = C.QUOIT_DOMAIN_ZONE // an availability zone
)

var domainNames = map[Domain]string{NoDomain: "NONE", PoolDomain: "POOL", ZoneDomain: "ZONE"}

// String returns the name of the domain.
func (d Domain) String() string { return nameOf(domainNames, d) }

// Selector selects nodes by a label. The value has Ray's grammar: "v", "!v", "in(a,b)" or "!in(a,b)". Blanks are not
// trimmed.
type Selector struct {
	Key, Value string
}

// BundleRequest requests one or more equal bundles. A bundle is a set of resources on one node.
type BundleRequest struct {
	// Amounts is the resources of each bundle, in any order: "TPU=4,CPU=8". A name with a ',', '=' or '"' must be
	// in double quotes, with C's escapes. Amounts are decimal text and converted like in Ray: 0.57 becomes 0.5699.
	Amounts string
	// Count is the number of bundles; 0 stands for 1. A request can have up to 10,000 bundles.
	Count int64
	// Selectors apply to each of these bundles, in addition to those of the request.
	Selectors []Selector
}

// Request is a request for whole slices of one accelerator and topology, or for bundles of resources. quoit allocates
// all of them or none. A Request is a plain value: fields are validated on use, and an empty field means that the field
// is not set. Calls keep no reference to a Request, and goroutines can share one that does not change.
type Request struct {
	// Name is the name of the new group: 1 to 253 bytes of printable UTF-8 without '@' or '/'.
	Name string
	// Key is the request key, which makes retries safe: a second request with the same key returns the group of the
	// first one, even after its release, and reserves nothing. A different request with the same key fails with
	// Conflict.
	Key string
	// Owner is the owner of the group, with the same syntax as Name.
	Owner string
	// Lease is the lease of a group that Reserve makes, in whole milliseconds; 0 means that the group stays until
	// it is released. A retry with the same Key can have another Lease.
	Lease time.Duration

	// ExpectedRuntime is how long the job is expected to run, in whole milliseconds; 0 means unknown. The group gets the
	// expected end that follows, which ends nothing.
	ExpectedRuntime time.Duration
	// Priority is any number; a greater one is more important. quoit itself prefers no group.
	Priority int32
	// Labels is data of the caller that quoit only keeps, at most 64 labels. A key has 1 to 253 bytes, a value 1 to 512,
	// both of UTF-8 without control characters, and a key has no '='. Ledger.SetLabels can change them later. A retry
	// with the same Key can have other Labels.
	Labels map[string]string

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
	// ExcludedNodes are nodes that the request must not use, nor their slices.
	ExcludedNodes []string
	// Cut allows that the slices of the group are cut from larger ones, in this way. It is not for bundles, and not
	// together with TPUPerBundle, KeepTo, SpreadOver or Near. For tpu7x only CutPartition is accepted.
	Cut Cut
	// Cubes makes each slice of the group from cubes of one block. It is not for bundles, and not together with Cut,
	// TPUPerBundle, KeepTo, SpreadOver or Near. All sides of the topology are multiples of 4.
	Cubes Cubes
	// Place is which places the parts get, or which blocks the cubes are from. Other than PlaceBest, it needs Cut or
	// Cubes.
	Place PlacePolicy
	// KeepTo requires that all slices are in one pool, or in one zone, whichever has enough. With ZoneDomain, only slices
	// whose nodes all have the same zone are used. It is not for bundles.
	KeepTo Domain
	// SpreadOver distributes the slices over pools or zones, as evenly as the free slices allow. A domain may have at
	// most MaxSkew slices more than the one with the fewest, like in Kubernetes. All domains count that have a slice
	// which the request could use if it were free. It is not for bundles, and not together with KeepTo.
	SpreadOver Domain
	// MaxSkew is for SpreadOver; 0 stands for 1.
	MaxSkew int64
	// MinDomains is for SpreadOver: with fewer domains, none may have more than MaxSkew slices. 0 stands for 1.
	MinDomains int64
	// Near is a group, NAME or NAME@ID. Slices in its pools are preferred, then those in its zones. A group that does not
	// exist is NotFound. It is not for bundles.
	Near string

	// Alternatives are at most 16 other requests for the same group, which are tried in order if this one cannot be
	// granted; GroupInfo.Alternative is the one that the group got. An alternative states slices or bundles, where they
	// may be, and if wanted its own ExpectedRuntime. Its Name, Key, Owner, Lease, Priority and Labels are those of this
	// request; leave them empty, or set them to the same. It has no Alternatives. A repeated request with the same Key
	// has the same Alternatives in the same order.
	Alternatives []Request
}

// requestBuilder sets the fields of a C request until the first error.
type requestBuilder struct {
	c         *C.QuoitRequest
	arguments cconv.Arguments
	err       error
	bundles   int64 // the number of bundles so far
}

// toC converts the request to a C object. The caller frees it.
func (r *Request) toC() (*C.QuoitRequest, error) {
	if r == nil {
		return nil, cconv.InvalidError("request: expected a Request, found nil")
	}
	b := &requestBuilder{}
	name := b.text("name", r.Name)
	if b.err = b.arguments.Err(); b.err != nil {
		return nil, b.err
	}
	var gerror *C.GError
	b.c = C.quoit_request_new(name, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	b.setIdentity(r)
	b.setSlices(r)
	b.setBundles(r)
	b.setPlacement(r)
	b.addAlternatives(r)
	if b.err != nil {
		C.quoit_request_free(b.c)
		return nil, b.err
	}
	return b.c, nil
}

func (b *requestBuilder) addAlternatives(r *Request) {
	for index := range r.Alternatives {
		alternative := r.Alternatives[index]
		if !b.ready() {
			return
		}
		// Slices of requests can contain themselves.
		if len(alternative.Alternatives) > 0 {
			b.err = cconv.InvalidError("alternative: expected none of its own; add each of them to the request itself")
			return
		}
		if alternative.Name == "" {
			alternative.Name = r.Name
		}
		c, err := alternative.toC()
		if err != nil {
			b.err = err
			return
		}
		var gerror *C.GError
		C.quoit_request_add_alternative(b.c, c, &gerror)
		C.quoit_request_free(c)
		b.err = errorFromC(gerror)
	}
}

func (b *requestBuilder) text(what, value string) *C.char {
	return (*C.char)(b.arguments.Text(what, value))
}

// ready reports whether no error has occurred, so that the next setter can be called. If an argument could not be
// converted, it sets the error.
func (b *requestBuilder) ready() bool {
	if b.err == nil {
		b.err = b.arguments.Err()
	}
	return b.err == nil
}

func (b *requestBuilder) setIdentity(r *Request) {
	var gerror *C.GError
	if r.Key != "" {
		if text := b.text("key", r.Key); b.ready() {
			C.quoit_request_set_key(b.c, text, &gerror)
			b.err = errorFromC(gerror)
		}
	}
	if r.Owner != "" {
		if text := b.text("owner", r.Owner); b.ready() {
			C.quoit_request_set_owner(b.c, text, &gerror)
			b.err = errorFromC(gerror)
		}
	}
	if r.Lease != 0 && b.ready() {
		C.quoit_request_set_lease_ms(b.c, C.int64_t(durationMs(r.Lease)), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.ExpectedRuntime != 0 && b.ready() {
		C.quoit_request_set_expected_runtime_ms(b.c, C.int64_t(durationMs(r.ExpectedRuntime)), &gerror)
		b.err = errorFromC(gerror)
	}
	if b.ready() {
		C.quoit_request_set_priority(b.c, C.int32_t(r.Priority))
	}
	for _, key := range sortedKeys(r.Labels) {
		if text, value := b.text("label key", key), b.text("label", r.Labels[key]); b.ready() {
			C.quoit_request_set_label(b.c, text, value, &gerror)
			b.err = errorFromC(gerror)
		}
		if b.err != nil {
			return
		}
	}
}

func (b *requestBuilder) setSlices(r *Request) {
	var gerror *C.GError
	if r.Accelerator != "" {
		if text := b.text("accelerator", r.Accelerator); b.ready() {
			C.quoit_request_set_accelerator(b.c, text, &gerror)
			b.err = errorFromC(gerror)
		}
	}
	if r.Topology != "" {
		if text := b.text("topology", r.Topology); b.ready() {
			C.quoit_request_set_topology(b.c, text, &gerror)
			b.err = errorFromC(gerror)
		}
	}
	if r.SlicesAtLeast != 0 && b.ready() {
		C.quoit_request_set_slice_range(b.c, C.int64_t(r.SlicesAtLeast), C.int64_t(r.Slices), &gerror)
		b.err = errorFromC(gerror)
	} else if r.Slices != 0 && b.ready() {
		C.quoit_request_set_slices(b.c, C.int64_t(r.Slices), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.ChipsPerHost != 0 && b.ready() {
		C.quoit_request_set_chips_per_host(b.c, C.int64_t(r.ChipsPerHost), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.TPUPerBundle != "" {
		if text := b.text("TPU per bundle", r.TPUPerBundle); b.ready() {
			C.quoit_request_set_tpu_per_bundle(b.c, text, &gerror)
			b.err = errorFromC(gerror)
		}
	}
}

func (b *requestBuilder) setBundles(r *Request) {
	var gerror *C.GError
	for index := range r.Bundles {
		b.addBundles(&r.Bundles[index])
	}
	if r.BundlesFile != nil {
		if data, length := b.arguments.Bytes(r.BundlesFile); b.ready() {
			C.quoit_request_read_bundles(b.c, (*C.char)(data), C.size_t(length), &gerror)
			b.err = errorFromC(gerror)
		}
	}
	if r.Strategy != Pack && b.ready() {
		C.quoit_request_set_strategy(b.c, C.QuoitStrategy(r.Strategy), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.Policy != Best && b.ready() {
		C.quoit_request_set_policy(b.c, C.QuoitPolicy(r.Policy), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.TopologyLabel != "" || r.TopologyValues != 0 {
		values := r.TopologyValues
		if values == 0 {
			values = 1
		}
		if key := b.text("topology label", r.TopologyLabel); b.ready() {
			C.quoit_request_set_topology_label(b.c, key, C.int64_t(values), &gerror)
			b.err = errorFromC(gerror)
		}
	}
	if r.SoftTarget != "" {
		if text := b.text("soft target", r.SoftTarget); b.ready() {
			C.quoit_request_set_soft_target(b.c, text)
		}
	}
}

func (b *requestBuilder) addBundles(request *BundleRequest) {
	var gerror *C.GError
	text := b.text("amounts", request.Amounts)
	count := request.Count
	if count == 0 {
		count = 1
	}
	if !b.ready() {
		return
	}
	C.quoit_request_add_bundles(b.c, text, C.int64_t(count), &gerror)
	if b.err = errorFromC(gerror); b.err != nil {
		return
	}
	for bundle := b.bundles; bundle < b.bundles+count; bundle++ {
		for _, one := range request.Selectors {
			key, value := b.text("selector", one.Key), b.text("selector", one.Value)
			if !b.ready() {
				return
			}
			C.quoit_request_select_bundle(b.c, C.uint32_t(bundle), key, value, &gerror)
			if b.err = errorFromC(gerror); b.err != nil {
				return
			}
		}
	}
	b.bundles += count
}

func (b *requestBuilder) setPlacement(r *Request) {
	var gerror *C.GError
	if r.Pool != "" {
		if text := b.text("pool", r.Pool); b.ready() {
			C.quoit_request_set_pool(b.c, text)
		}
	}
	if r.Zone != "" {
		if text := b.text("zone", r.Zone); b.ready() {
			C.quoit_request_set_zone(b.c, text)
		}
	}
	for _, one := range r.Selectors {
		key, value := b.text("selector", one.Key), b.text("selector", one.Value)
		if !b.ready() {
			return
		}
		C.quoit_request_add_selector(b.c, key, value, &gerror)
		b.err = errorFromC(gerror)
	}
	for _, slice := range r.OnlySlices {
		if text := b.text("slice", slice); b.ready() {
			C.quoit_request_add_slice(b.c, text)
		}
	}
	for _, slice := range r.ExcludedSlices {
		if text := b.text("slice", slice); b.ready() {
			C.quoit_request_exclude_slice(b.c, text)
		}
	}
	for _, node := range r.ExcludedNodes {
		if text := b.text("node", node); b.ready() {
			C.quoit_request_exclude_node(b.c, text)
		}
	}
	b.setDomains(r)
}

func (b *requestBuilder) setDomains(r *Request) {
	var gerror *C.GError
	if r.Cut != CutWhole && b.ready() {
		C.quoit_request_set_cut(b.c, C.QuoitCut(r.Cut), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.Cubes != CubesNone && b.ready() {
		C.quoit_request_set_cubes(b.c, C.QuoitCubes(r.Cubes), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.Place != PlaceBest && b.ready() {
		C.quoit_request_set_place(b.c, C.QuoitPlacePolicy(r.Place), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.KeepTo != NoDomain && b.ready() {
		C.quoit_request_keep_to(b.c, C.QuoitDomain(r.KeepTo), &gerror)
		b.err = errorFromC(gerror)
	}
	if (r.SpreadOver != NoDomain || r.MaxSkew != 0 || r.MinDomains != 0) && b.ready() {
		C.quoit_request_spread_over(b.c, C.QuoitDomain(r.SpreadOver), C.int64_t(orOne(r.MaxSkew)),
			C.int64_t(orOne(r.MinDomains)), &gerror)
		b.err = errorFromC(gerror)
	}
	if r.Near != "" {
		if text := b.text("near", r.Near); b.ready() {
			C.quoit_request_set_near(b.c, text, &gerror)
			b.err = errorFromC(gerror)
		}
	}
}

// orOne returns the number, or 1 if it is not set.
func orOne(number int64) int64 {
	if number == 0 {
		return 1
	}
	return number
}

// Check validates each field of the request. Snapshot.Explain also checks combinations of fields, and compares the
// request with a fleet.
//
// It fails with Invalid if a field is not valid.
func (r *Request) Check() error {
	c, err := r.toC()
	if err != nil {
		return err
	}
	C.quoit_request_free(c)
	return nil
}
