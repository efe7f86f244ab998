/// The sandwich architecture as a graph builder.
package org.example.sandwich;
