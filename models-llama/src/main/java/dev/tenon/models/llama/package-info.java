/// The architectures of Llama and SmolLM3 as graph builders.
package dev.tenon.models.llama;
