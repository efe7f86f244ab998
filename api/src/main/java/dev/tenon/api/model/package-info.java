/// Model architectures: from GGUF metadata to a configuration and a graph.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.0,1.1)`.
@Version("1.6.0")
@Export
package dev.tenon.api.model;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
