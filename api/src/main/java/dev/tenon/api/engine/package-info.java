/// The engine that loads models and generates text: what an embedding program calls.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.10.0")
@Export
package dev.tenon.api.engine;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
