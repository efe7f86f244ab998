/// The gpt-oss architecture as a graph builder.
package dev.tenon.models.gpt.oss;
