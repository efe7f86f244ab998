/// Weight formats: block layout, scalar decoding and scalar encoding.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.2,1.3)`.
@Version("1.2.0")
@Export
package dev.tenon.api.quant;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
