/// The llama architecture as a graph builder.
package dev.tenon.models.llama;
