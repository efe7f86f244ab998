/// Published contracts for formats, architectures and backends: JUnit tests that a bundle of any
/// author runs against itself.
///
/// Extend [QuantFormatContract], [ArchitectureContract] or [BackendContract], implement the hooks,
/// and run the class with JUnit Jupiter 6. [dev.tenon.itest.testkit.reference.Reference] is the
/// truth that numbers are compared with, [PlainAttention] that of attention kernels;
/// [RandomModels], [PlanDriver], [ReferenceBackend] and [TinyGguf] serve tests of a bundle's own.
@Version("1.0.0")
@Export
package dev.tenon.itest.testkit;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
