package dev.tenon.platform.templates.values;

import java.util.List;

/// Keys, values or items of a dictionary: they have a length, but no places.
///
/// @param type Python's name of its type
/// @param items what it holds; not changed afterwards
record View(String type, List<Object> items) {}
