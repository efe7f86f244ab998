/// What was measured, printed in the formats of llama-bench; and llama-bench itself, run in turns.
package dev.tenon.platform.bench.output;
