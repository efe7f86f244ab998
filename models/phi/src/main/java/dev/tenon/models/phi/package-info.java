/// The architecture of Phi 3 and 4 as a graph builder.
package dev.tenon.models.phi;
