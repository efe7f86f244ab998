/// Decoders without experts of makers with a single family, as graph builders.
package dev.tenon.models.dense;
