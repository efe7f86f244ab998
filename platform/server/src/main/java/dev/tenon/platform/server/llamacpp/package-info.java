/// The end points that llama.cpp's server has besides those of OpenAI's wire.
package dev.tenon.platform.server.llamacpp;
