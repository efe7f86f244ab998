/// Chat templates rendered by a Jinja engine. `JinjaMends` says what is mended around the engine, and why.
package dev.tenon.platform.templates;
