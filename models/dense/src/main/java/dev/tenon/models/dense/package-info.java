/// Decoders whose makers have no other family here, as graph builders.
package dev.tenon.models.dense;
