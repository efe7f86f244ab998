/// Conversations: messages become a prompt by the model's template; a reply is split into reasoning, content and calls
/// of
/// tools.
package dev.tenon.platform.server.chat;
