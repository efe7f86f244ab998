/// The gemma3 architecture as a graph builder.
package org.example.gemma3;
