/// The engine that loads models and generates text: what an embedding program calls.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.9,1.10)`.
@Version("1.9.0")
@Export
package dev.tenon.api.engine;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
