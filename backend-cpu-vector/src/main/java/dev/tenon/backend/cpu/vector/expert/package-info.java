/// Layers of experts: the matrices of those that tokens have chosen, and tokens by expert.
package dev.tenon.backend.cpu.vector.expert;
