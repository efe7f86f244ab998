/// The nemotron_h_moe architecture as a graph builder.
package dev.tenon.models.nemotron;
