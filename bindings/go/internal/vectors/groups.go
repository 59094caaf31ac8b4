// SPDX-License-Identifier: Apache-2.0

package main

// ray-core: the arguments of placement_group(), its refusals, and the order in which bundles are placed.

import (
	"strconv"

	"quoit/ray"
)

func toBundles(value any) ([]ray.Bundle, error) {
	given, ok := value.([]any)
	if !ok {
		return nil, skip("Go requires bundles, and the value has another type")
	}
	bundles := make([]ray.Bundle, len(given))
	for index, one := range given {
		amounts, err := toResources(one)
		if err != nil {
			return nil, err
		}
		if amounts == nil {
			return nil, skip("Go requires resources, and the value has another type")
		}
		bundles[index].Amounts = amounts
	}
	return bundles, nil
}

// addSelectors sets the selectors of bundles. null for a bundle means {}.
func addSelectors(bundles []ray.Bundle, value any) error {
	if value == nil {
		return nil
	}
	given, ok := value.([]any)
	if !ok || len(given) != len(bundles) {
		return skip("selectors that are not a list with one entry per bundle")
	}
	for index, one := range given {
		selector, err := toLabels(one)
		if err != nil {
			return err
		}
		bundles[index].Selectors = selector
	}
	return nil
}

func toLevels(value any) ([]ray.Level, error) {
	if value == nil {
		return nil, nil
	}
	given, ok := value.(*object)
	if !ok {
		return nil, skip("Go requires a topology, and the value has another type")
	}
	var levels []ray.Level
	for _, key := range given.keys {
		name, ok := given.values[key].(string)
		if !ok {
			return nil, skip("Go requires a strategy, and the value has another type")
		}
		strategy, err := ray.ParseStrategy(name)
		if err != nil {
			return nil, err
		}
		levels = append(levels, ray.Level{Key: key, Strategy: strategy})
	}
	return levels, nil
}

// validatePlacementGroup reads the arguments in Ray's order, so that a value that Go cannot express does not matter if
// Ray refuses an earlier argument.
func validatePlacementGroup(in, _ any) (any, error) {
	given := newReader(in, "name", "bundles", "strategy", "topology_strategy", "lifetime", "_soft_target_node_id",
		"bundle_label_selector")
	strategy := given.textOrNil("strategy")
	target, lifetime := given.textOrNil("_soft_target_node_id"), given.textOrNil("lifetime")
	if target != nil && *target == "" || lifetime != nil && *lifetime == "" {
		given.fail("an empty text, which Go treats as no text")
	}
	if given.err != nil {
		return nil, given.err
	}
	group := ray.Group{SoftTarget: given.textOr("_soft_target_node_id", ""), Lifetime: given.textOr("lifetime", "")}
	var err error
	if strategy != nil {
		parsed, err := ray.ParseStrategy(*strategy)
		if err != nil {
			return nil, err
		}
		group.Strategy = &parsed
	}
	if group.Topology, err = toLevels(given.values["topology_strategy"]); err != nil {
		return nil, err
	}
	if group.Bundles, err = toBundles(given.values["bundles"]); err != nil {
		return nil, err
	}
	if err := addSelectors(group.Bundles, given.values["bundle_label_selector"]); err != nil {
		return nil, err
	}
	return nil, group.Check()
}

func resourceID(in, _ any) (any, error) {
	return textArgument(func(name string) (any, error) {
		id, err := ray.ResourceID(name)
		return strconv.FormatInt(id, 10), err
	})(in)
}

func bundleOrder(in, _ any) (any, error) {
	bundles, err := toBundles(in)
	if err != nil {
		return nil, err
	}
	order, err := (&ray.Group{Bundles: bundles}).BundleOrder()
	answer := []any{}
	for _, bundle := range order {
		answer = append(answer, int64(bundle))
	}
	return answer, err
}

var groupOps = map[string]op{
	"bundle_order":             {answer: bundleOrder},
	"resource_id":              {answer: resourceID},
	"validate_placement_group": {answer: validatePlacementGroup},
}
