/// The computation graph: immutable core ops, composite ops that expand into them, and pure fusion passes.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.15.0")
@Export
@NullMarked
package dev.tenon.api.graph;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
