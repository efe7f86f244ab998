/// The bench command: prefill and decode speed with llama-bench's semantics.
package dev.tenon.platform.bench;
