/// `run` and `chat`: prompts, conversations, and what is reported of a generation.
package dev.tenon.platform.cli.chat;
