/// The architectures of Qwen 2 and 3 as graph builders.
package dev.tenon.models.qwen3;
