/// GGUF files: metadata with typed look-up, tensor descriptions and read-only mapped tensor data.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.1,1.2)`.
@Version("1.1.0")
@Export
package dev.tenon.api.gguf;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
