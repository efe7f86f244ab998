/// The architecture of Command R7B and its like as a graph builder.
package dev.tenon.models.cohere;
