/// A decoder with dynamic tanh in place of norms: an op of its own.
package org.example.dyt;
