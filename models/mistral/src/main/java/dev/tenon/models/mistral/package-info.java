/// The architecture of Ministral 3 as a graph builder.
package dev.tenon.models.mistral;
