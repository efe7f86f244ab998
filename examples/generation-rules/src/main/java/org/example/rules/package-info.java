/// Rules and samplers for generations that are chosen by name.
package org.example.rules;
