package dev.tenon.platform.chat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/// Which ids of calls a template takes. The id that a reply gets is one of them, and other ones in a conversation are
/// written as such: the same id always in the same way, so that prompts of later requests begin alike.
enum CallIds {
    /// Any text.
    ANY,
    /// Nine letters and digits.
    NINE;

    private static final int LENGTH = 9;
    private static final Pattern NINE_LETTERS = Pattern.compile("[A-Za-z0-9]{9}");
    private static final String DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    /// {@return whether the template takes an id}
    boolean takes(String id) {
        return this == ANY || NINE_LETTERS.matcher(id).matches();
    }

    /// {@return a new id}
    String fresh() {
        return this == ANY ? ReplyParser.newId() : digest(UUID.randomUUID().toString());
    }

    /// {@return an id as the template takes it}
    ///
    /// @param id the id
    /// @param known the ids of this conversation and what they are written as; this one is added
    String written(String id, Map<String, String> known) {
        String before = known.get(id);
        if (before != null) {
            return before;
        }
        String written = id;
        for (int salt = 0; !takes(written) || known.containsValue(written); salt++) {
            written = digest(id + "#" + salt);
        }
        known.put(id, written);
        return written;
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            long rest = ByteBuffer.wrap(hash).getLong();
            StringBuilder id = new StringBuilder();
            for (int i = 0; i < LENGTH; i++) {
                id.append(DIGITS.charAt((int) Long.remainderUnsigned(rest, DIGITS.length())));
                rest = Long.divideUnsigned(rest, DIGITS.length());
            }
            return id.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java platform has SHA-256", e);
        }
    }
}
