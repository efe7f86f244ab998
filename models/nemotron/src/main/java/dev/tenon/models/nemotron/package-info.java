/// The hybrid Nemotron architectures as graph builders.
package dev.tenon.models.nemotron;
