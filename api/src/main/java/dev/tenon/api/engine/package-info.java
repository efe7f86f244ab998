/// The engine that loads models and generates text: what an embedding program calls.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.12.0")
@Export
@NullMarked
package dev.tenon.api.engine;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
