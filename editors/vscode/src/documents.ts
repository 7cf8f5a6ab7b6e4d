// Which documents the server gets. No part of the editor is used here, so that tests can use this.

export const CONFIGURATIONS =
  "**/{probity.toml,.tally.toml,tally.toml,pyproject.toml,.hadolint.yaml,.hadolint.yml}";

export const SELECTOR = [
  { language: "dockerfile" },
  { scheme: "file", pattern: "**/{Dockerfile,Containerfile}*" },
  { scheme: "file", pattern: "**/*.{Dockerfile,dockerfile,Containerfile,containerfile}" },
  { scheme: "file", pattern: "**/*.dockerignore" },
  { scheme: "file", pattern: CONFIGURATIONS },
];

/** The kind of the actions that ask an agent. */
export const AI_KIND = "quickfix.ai.probity";

/** The rule that a diagnostic's code names. */
export function ruleOf(code: unknown): string | undefined {
  if (typeof code === "string") return code;
  if (typeof code === "object" && code !== null && "value" in code) return String(code.value);
  return undefined;
}
