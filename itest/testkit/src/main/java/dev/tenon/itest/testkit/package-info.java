/// Published contracts for what bundles offer: JUnit tests that a bundle of any author runs against
/// itself.
///
/// Extend the contract of a service, such as [QuantFormatContract], implement the hooks, and run the
/// class with JUnit Jupiter 6. The package `reference` holds the truth that numbers are compared with,
/// and `models` the tiny models that they are computed of; both serve tests of a bundle's own, as [FakeExchange] and
/// [ByteTokenizer] do.
@Version("1.4.0")
@Export
package dev.tenon.itest.testkit;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
