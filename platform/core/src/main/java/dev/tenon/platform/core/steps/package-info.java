/// Runs batch steps: one loop a model, sequences over a paged KV cache.
package dev.tenon.platform.core.steps;
