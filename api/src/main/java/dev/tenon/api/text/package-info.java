/// Text on both sides of the model: tokenizers, chat templates and samplers.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.5,1.6)`.
@Version("1.5.0")
@Export
package dev.tenon.api.text;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
