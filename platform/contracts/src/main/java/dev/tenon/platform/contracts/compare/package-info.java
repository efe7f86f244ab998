/// Finds the op at which two backends, or a backend and the reference, give different outputs.
package dev.tenon.platform.contracts.compare;
