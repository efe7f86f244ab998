/// The end points of Anthropic's wire.
package dev.tenon.platform.server.anthropic;
