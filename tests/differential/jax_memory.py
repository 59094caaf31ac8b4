# SPDX-License-Identifier: Apache-2.0
"""Compiles training steps of small decoders with JAX, and prints the memory that XLA plans for them.

The decoder is that of MaxText's block llama2: grouped attention, a gated MLP, layers in a scan, each of them recomputed
in the backward pass, softmax cross entropy, and Adam. Attention goes block by block, like flash attention. Prints one
JSON object per case.
"""

import functools
import json
import sys

import jax
import jax.numpy as jnp

BLOCK = 128


def shapes(case):
    """Return the shapes of the weights."""
    emb, q, kv = case["emb"], case["heads"] * case["head_dim"], case["kv_heads"] * case["head_dim"]
    layers = {
        "q": (emb, q),
        "k": (emb, kv),
        "v": (emb, kv),
        "o": (q, emb),
        "gate": (emb, case["mlp"]),
        "up": (emb, case["mlp"]),
        "down": (case["mlp"], emb),
        "norm1": (emb,),
        "norm2": (emb,),
    }
    weights = {name: (case["layers"], *shape) for name, shape in layers.items()}
    return {
        "layers": {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in weights.items()},
        "embedding": jax.ShapeDtypeStruct((case["vocab"], emb), jnp.float32),
        "logits": jax.ShapeDtypeStruct((emb, case["vocab"]), jnp.float32),
        "norm": jax.ShapeDtypeStruct((emb,), jnp.float32),
    }


def norm(x, scale):
    """Normalize by the root mean square."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attention(q, k, v):
    """Attend block by block, and recompute the scores of a block in the backward pass."""
    groups = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, groups, axis=2), jnp.repeat(v, groups, axis=2)
    length = q.shape[1]
    blocks = q.reshape(q.shape[0], length // BLOCK, BLOCK, *q.shape[2:]).swapaxes(0, 1)

    @jax.checkpoint
    def one(block):
        at, rows = block
        scores = jnp.einsum("bqhd,bkhd->bhqk", rows, k)
        mask = at * BLOCK + jnp.arange(BLOCK)[:, None] >= jnp.arange(length)[None, :]
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1), v)

    out = jax.lax.map(one, (jnp.arange(length // BLOCK), blocks))
    return out.swapaxes(0, 1).reshape(q.shape)


def layer(case, x, w):
    """Apply one layer."""
    rows, length = x.shape[:2]
    y = norm(x, w["norm1"])
    q = (y @ w["q"]).reshape(rows, length, case["heads"], case["head_dim"])
    k = (y @ w["k"]).reshape(rows, length, case["kv_heads"], case["head_dim"])
    v = (y @ w["v"]).reshape(rows, length, case["kv_heads"], case["head_dim"])
    x = x + attention(q, k, v).reshape(rows, length, -1) @ w["o"]
    y = norm(x, w["norm2"])
    return x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]


def loss(case, weights, tokens):
    """Return the mean cross entropy."""
    body = jax.checkpoint(functools.partial(layer, case))
    x = weights["embedding"][tokens]
    x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), x, weights["layers"])
    logits = norm(x, weights["norm"]) @ weights["logits"]
    targets = jax.nn.one_hot(jnp.roll(tokens, -1, axis=1), case["vocab"])
    return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1))


def step(case, state, tokens):
    """Clip the gradients by their norm, and take a step of Adam."""
    grads = jax.grad(functools.partial(loss, case))(state["weights"], tokens)
    scale = jnp.minimum(1.0, 1 / jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads))))
    grads = jax.tree.map(lambda g: g * scale, grads)
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], grads)
    nu = jax.tree.map(lambda n, g: 0.95 * n + 0.05 * g * g, state["nu"], grads)
    weights = jax.tree.map(lambda w, m, n: w - 1e-3 * m / (jnp.sqrt(n) + 1e-8), state["weights"], mu, nu)
    return {"weights": weights, "mu": mu, "nu": nu}


def measure(case):
    """Compile a step, and return XLA's plan."""
    weights = shapes(case)
    state = {"weights": weights, "mu": weights, "nu": weights}
    tokens = jax.ShapeDtypeStruct((case["rows"], case["length"]), jnp.int32)
    compiled = jax.jit(functools.partial(step, case), donate_argnums=0).lower(state, tokens).compile()
    plan = compiled.memory_analysis()
    return {
        **case,
        "n_parameters": sum(w.size for w in jax.tree.leaves(weights)),
        "state_bytes": sum(w.size * w.dtype.itemsize for w in jax.tree.leaves(state)),
        "argument_bytes": plan.argument_size_in_bytes,
        "temporary_bytes": plan.temp_size_in_bytes,
        "new_bytes": plan.output_size_in_bytes - plan.alias_size_in_bytes,
    }


NAMES = ("emb", "heads", "kv_heads", "head_dim", "mlp", "layers", "vocab", "rows", "length")
CASES = (
    (512, 8, 8, 64, 1408, 8, 8192, 4, 512),
    (512, 8, 2, 64, 1408, 8, 8192, 4, 512),
    (1024, 16, 4, 64, 2816, 12, 16384, 2, 1024),
    (1024, 8, 8, 128, 4096, 16, 32000, 1, 512),
    (512, 8, 8, 64, 2048, 24, 32000, 8, 512),
    (2048, 16, 8, 128, 5632, 8, 32000, 2, 512),
    (512, 8, 8, 64, 1408, 32, 2048, 8, 512),
    (256, 4, 4, 64, 8192, 8, 2048, 4, 1024),
)

if __name__ == "__main__":
    for values in CASES:
        json.dump(measure(dict(zip(NAMES, values, strict=True))), sys.stdout)
        print(flush=True)
