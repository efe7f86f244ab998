/// Pictures and sounds in prompts: an encoder that is placed as a model makes rows of them, which stand where tokens
/// stand.
package dev.tenon.platform.core.media;
