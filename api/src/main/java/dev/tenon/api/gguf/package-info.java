/// GGUF files: metadata with typed look-up, tensor descriptions and read-only mapped tensor data.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.2.0")
@Export
@NullMarked
package dev.tenon.api.gguf;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
