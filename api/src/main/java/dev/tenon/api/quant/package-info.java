/// Weight formats: block layout, scalar decoding and scalar encoding.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.2.0")
@Export
@NullMarked
package dev.tenon.api.quant;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
