/// Model architectures: from GGUF metadata to a configuration and a graph.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.9.0")
@Export
@NullMarked
package dev.tenon.api.model;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
