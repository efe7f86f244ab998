/// The architectures of the Gemma family.
package dev.tenon.models.gemma;
