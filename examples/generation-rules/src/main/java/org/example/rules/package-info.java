/// Rules for generations that requests choose by name.
package org.example.rules;
