/// Conversations with models: a [ChatRequest] becomes tokens, and what a model generates becomes
/// [ChatEvents]: text, reasoning and calls of tools.
///
/// May change incompatibly until 1.0: import `[0.6,0.7)`.
@Version("0.6.0")
@Export
@NullMarked
package dev.tenon.api.chat;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
