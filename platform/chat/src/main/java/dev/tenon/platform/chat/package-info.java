/// Conversations: messages become a prompt by the model's template; a reply is split into reasoning, content and calls
/// of tools.
@Version("0.1.0")
@Export
package dev.tenon.platform.chat;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
