/// Text on both sides of the model: tokenizers, chat templates and samplers.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.6.0")
@Export
package dev.tenon.api.text;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
