// SPDX-License-Identifier: Apache-2.0

package main

// ray-core and ray-tpu: labels and selectors. Rows of ray-core have a function's argument, rows of ray-tpu an object of
// arguments.

import "quoit/ray"

// argumentOps returns two ops for one function with one argument. In ray-core "in" is the argument, in ray-tpu it is an
// object with the argument as a member.
func argumentOps(name, member string, answer func(any) (any, error), refusals bool) map[string]op {
	return map[string]op{
		name: {answer: func(in, _ any) (any, error) { return answer(in) }, refusals: refusals},
		"ray._private.label_utils." + name: {answer: func(in, _ any) (any, error) {
			given := newReader(in, member)
			if given.err != nil {
				return nil, given.err
			}
			return answer(given.values[member])
		}, refusals: refusals},
	}
}

func textArgument(run func(string) (any, error)) func(any) (any, error) {
	return func(in any) (any, error) {
		text, ok := in.(string)
		if !ok {
			return nil, skip("Go requires a text, and the value has another type")
		}
		return run(text)
	}
}

func checkOf(check func(string) error) func(any) (any, error) {
	return textArgument(func(text string) (any, error) { return nil, check(text) })
}

func checkSelector(in any) (any, error) {
	labels, err := toLabels(in)
	if err != nil {
		return nil, err
	}
	return nil, ray.CheckSelector(labels)
}

func parseText(text string) (any, error) {
	labels, err := ray.ParseLabels(text)
	return labelsToJSON(labels), err
}

func parseJSON(text string) (any, error) {
	labels, err := ray.ParseLabelsJSON([]byte(text))
	return labelsToJSON(labels), err
}

func checkFallback(in, _ any) (any, error) {
	return nil, ray.CheckFallback([]byte(jsonText(in)))
}

func readSelector(in, _ any) (any, error) {
	return textArgument(func(value string) (any, error) {
		operator := "IN"
		if ray.SelectorIsNegated(value) {
			operator = "NOT_IN"
		}
		values, err := ray.SelectorValues(value)
		return []any{(&object{}).set("operator", operator).set("values", textsToJSON(values))}, err
	})(in)
}

func match(in, _ any) (any, error) {
	given := newReader(in, "labels", "selector")
	selector, labels := given.labels("selector"), given.labels("labels")
	if given.err != nil {
		return nil, given.err
	}
	return toResult(ray.SelectorHolds(selector, labels))
}

var labelOps = mergeOps(
	map[string]op{
		"label_selector.match":       {answer: match},
		"label_selector.parse":       {answer: readSelector},
		"validate_fallback_strategy": {answer: checkFallback, refusals: true},
	},
	argumentOps("validate_label_key", "key", checkOf(ray.CheckLabelKey), true),
	argumentOps("validate_label_selector", "label_selector", checkSelector, true),
	argumentOps("validate_label_selector_value", "selector", checkOf(ray.CheckSelectorValue), true),
	argumentOps("validate_label_value", "value", checkOf(ray.CheckLabelValue), true),
	argumentOps("parse_node_labels_json", "labels_json", textArgument(parseJSON), false),
	argumentOps("parse_node_labels_string", "labels_str", textArgument(parseText), false),
)

func mergeOps(tables ...map[string]op) map[string]op {
	all := map[string]op{}
	for _, table := range tables {
		for name, one := range table {
			all[name] = one
		}
	}
	return all
}
