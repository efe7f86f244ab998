/// Language models in a Java program.
///
/// ```java
/// try (Model model = Tenon.load("Qwen/Qwen3-0.6B-GGUF:Q8_0")) {
///     System.out.println(model.message("Why is the sky blue?").text());
/// }
/// ```
///
/// A [Model] is safe for any thread. It makes [TextRequest]s, of which each is for one answer, and
/// [Chat]s. What these do not reach is there below them: [Model#loaded()].
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
