/// The engine: loading, placement, batched steps over paged KV caches, sessions.
package dev.tenon.platform.core.engine;
