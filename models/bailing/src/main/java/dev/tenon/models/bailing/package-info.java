/// The architecture of Ling and Ring as a graph builder.
package dev.tenon.models.bailing;
