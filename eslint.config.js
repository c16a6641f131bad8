// What Prettier and tsc do not see: sizes, dead code, who may import whom, and no way for text to
// become markup or code.

import { readdirSync } from "node:fs";

import js from "@eslint/js";
import globals from "globals";

const PARTS = readdirSync("viz/kit/parts")
  .filter((name) => name.endsWith(".js"))
  .map((name) => name.slice(0, -".js".length));
// The strip is Home's diagram, small.
const LENDERS = { strip: ["home"] };
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "createContextualFragment"];

/** No imports from the page's own code, nor those of this form. */
function never(...forms) {
  const patterns = [{ group: ["**/live/*"] }, ...forms.map((regex) => ({ regex }))];
  return { "no-restricted-imports": ["error", { patterns }] };
}

/** A part's file and its folder import no other part. */
function alone(name) {
  const lenders = [name, ...(LENDERS[name] ?? [])];
  const others = PARTS.filter((other) => !lenders.includes(other)).join("|");
  return [
    { files: [`viz/kit/parts/${name}.js`], rules: never(`^\\./(${others})(\\.js|/)`) },
    { files: [`viz/kit/parts/${name}/**`], rules: never(`^\\.\\./(${others})(\\.js|/)`) },
  ];
}

export default [
  { ignores: ["node_modules/", ".venv/"] },
  js.configs.recommended,
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { files: ["**/*.js"], languageOptions: { ecmaVersion: 2024, sourceType: "module" } },
  { files: ["{viz,tests/viz}/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["scripts/**/*.js", "*.js"], languageOptions: { globals: globals.node } },
  {
    rules: {
      complexity: ["error", 12],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-depth": ["error", 4],
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 50],
      "max-params": ["error", 7],
      "no-console": ["error", { allow: ["warn", "error"] }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": [
        "error",
        ...MARKUP.map((property) => ({ property, message: "Text is data: build elements." })),
      ],
      "no-shadow": ["error", { allow: ["_"] }],
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  // The kit knows no host's page; parts do not know each other.
  { files: ["viz/kit/**"], rules: never() },
  ...PARTS.flatMap(alone),
  // Timers and observers end with their part: only the lifetime starts them. The address, a
  // tour and the watch on what is under way are no parts and outlive them all.
  {
    files: ["viz/{kit,live}/**/*.js"],
    ignores: ["kit/lifetime", "live/address", "live/settled", "live/tour"].map(
      (name) => `viz/${name}.js`,
    ),
    rules: {
      "no-restricted-globals": [
        "error",
        ...["setTimeout", "setInterval", "requestAnimationFrame", "ResizeObserver"].map((name) => ({
          name,
          message: "Take the part's lifetime, which ends it.",
        })),
      ],
    },
  },
];
