/// The qwen3 architecture as a graph builder.
package dev.tenon.models.qwen3;
