/// Places a model: finds architecture, formats and backend, and compiles the graph there.
package dev.tenon.platform.core.placement;
