/// Tiny models: random graphs and weights, formats and files for them, what an architecture sees of one, its
/// graph as text, and a driver that feeds a plan of one.
@Version("1.1.0")
@Export
package dev.tenon.itest.testkit.models;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
