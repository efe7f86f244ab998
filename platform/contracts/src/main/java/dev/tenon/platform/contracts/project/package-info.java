/// Makes projects for bundles of other authors: the archetypes' templates, filled in, and what a build of them needs.
package dev.tenon.platform.contracts.project;
