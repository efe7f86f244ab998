/// The end points of Ollama's wire.
package dev.tenon.platform.server.ollama;
