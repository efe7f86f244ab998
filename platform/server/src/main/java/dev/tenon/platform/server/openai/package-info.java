/// The end points of OpenAI's wire.
package dev.tenon.platform.server.openai;
