# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a composite GitHub Action as GitHub's runner does.

run-action.py FOLDER [INPUT=VALUE...]: reads FOLDER/action.yml, gives each input its value or default, and runs the
steps in the current folder until one fails, with the exit status of that step.
"""

import os
import re
import subprocess
import sys
import tempfile


def scalar(text):
    """Return the value of a plain or quoted scalar."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text and text[0] in "\"'|>&*!%@`{[":
        raise ValueError(f"'{text}': expected a plain scalar, or one in single quotes")
    return text


def read(path):
    """Read the subset of YAML that the action uses: maps, and one list of maps."""
    root = {}
    stack = [(-1, root)]
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found = re.fullmatch(r"( *)(- )?([a-z_A-Z]+):(?: (.+))?\n", line)
            if found is None:
                raise ValueError(f"{path}:{number}: expected 'name: value'")
            depth, dash, name, value = len(found[1]), found[2], found[3], found[4]
            while stack[-1][0] >= depth:
                stack.pop()
            parent = stack[-1][1]
            if dash:
                item = {}
                if not isinstance(parent.get("items"), list):
                    parent["items"] = []
                parent["items"].append(item)
                stack.append((depth, item))
                depth, parent = depth + 2, item
            if value is None:
                parent[name] = {}
                stack.append((depth, parent[name]))
            else:
                parent[name] = scalar(value)
    return root


def expand(text, inputs, outputs):
    """Replace ${{ inputs.NAME }} and ${{ steps.ID.outputs.NAME }}, as the runner does."""

    def value(found):
        words = found[1].split(".")
        if words[0] == "inputs" and len(words) == 2:
            return inputs[words[1]]
        if words[0] == "steps" and words[2] == "outputs" and len(words) == 4:
            return outputs[words[1]].get(words[3], "")
        raise ValueError(f"'{found[1]}': expected inputs.NAME or steps.ID.outputs.NAME")

    return re.sub(r"\$\{\{ *([^ }]+) *\}\}", value, text)


def main(folder, *given):
    """Run the action."""
    action = read(os.path.join(folder, "action.yml"))
    inputs = dict(word.split("=", 1) for word in given)
    unknown = set(inputs) - set(action["inputs"])
    assert not unknown, f"the action has no inputs {unknown}"
    for name, facts in action["inputs"].items():
        if facts.get("required") == "true":
            assert name in inputs, f"the input {name} is required"
        else:
            inputs.setdefault(name, facts["default"])
    assert action["runs"]["using"] == "composite"
    outputs = {}
    for step in action["runs"]["steps"]["items"]:
        assert step["shell"] == "bash"
        with tempfile.NamedTemporaryFile("r") as output:
            environment = {name: expand(text, inputs, outputs) for name, text in step.get("env", {}).items()}
            environment |= {"GITHUB_ACTION_PATH": os.path.abspath(folder), "GITHUB_OUTPUT": output.name}
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
            status = subprocess.run(command, env=os.environ | environment, check=False).returncode
            if "id" in step:
                outputs[step["id"]] = dict(line.rstrip("\n").split("=", 1) for line in output)
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
