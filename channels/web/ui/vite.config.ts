import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * Writes parts.json: for each part of the page that is loaded on use, by the name of its module in small letters, the
 * files it needs beside those in index.html. The server names them to the browser where a part is about to be shown.
 */
const parts: Plugin = {
  name: "parts",
  enforce: "post", // when chunks that were styles only have become files of styles
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
    const needs = (name: string, seen: Set<string>): Set<string> => {
      const chunk = chunks.find((one) => one.fileName === name);
      if (!chunk || seen.has(name)) return seen;
      seen.add(name);
      for (const style of chunk.viteMetadata?.importedCss ?? []) seen.add(style);
      for (const other of chunk.imports) needs(other, seen);
      return seen;
    };
    const first = needs(chunks.find((chunk) => chunk.isEntry && chunk.name === "index")!.fileName, new Set());
    const later = chunks.filter((chunk) => chunk.isDynamicEntry).sort((one, other) => (one.name < other.name ? -1 : 1));
    const files = (name: string): string[] => [...needs(name, new Set())].filter((file) => !first.has(file)).sort();
    const named = Object.fromEntries(later.map((chunk) => [chunk.name.toLowerCase(), files(chunk.fileName)]));
    const source = JSON.stringify(named, null, 1);
    this.emitFile({ type: "asset", fileName: "parts.json", source: `${source}\n` });
  },
};

// Each file is a request of its own: what three parts or more have in common is one file of the first load, and so are
// the styles of the shell, the chat and what they share with other pages.
const ON_USE = /marked|dompurify|markdown|formulas|highlight|lib\/(?:blocks|notes|tables|csv|passkeys)|ToolTabs|Conflict|Findings|src\/app\/|wizard\/|models\/(?!first)|words\/(?!own)/;
const STYLE =
  /src\/(app\.css|([A-Z]\w+|chat\/(Chat|List|Composer|Line|Steps|Files|Below)|lib\/(Rows|Icon|Unread|Confirm)|context\/(Meter|Bar)|pages\/Head)\.svelte\?.*lang\.css)$/;
const GROUPS = [
  { name: "style", test: STYLE, priority: 2 },
  { name: "settings", test: /pages\/Setting\w*\.svelte\?.*lang\.css$/, priority: 2 },
  { name: "common", minShareCount: 3, test: (id: string) => !ON_USE.test(id), priority: 1 },
  { name: "tools", test: /ToolTabs\.svelte$|words\/tools/ },
  { name: "textfile", test: /lib\/(Conflict|Merge|merge|textfile)\.|words\/merge/ },
  { name: "context", minShareCount: 2, test: /src\/context\/(?!Bar|Meter|parts)|words\/context/ },
];

export default defineConfig({
  base: "/static/",
  plugins: [svelte(), parts],
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy allows no data: address but those of images
    reportCompressedSize: false,
    rollupOptions: {
      checks: { pluginTimings: false },
      // Markdown is a file of its own with its names, so that a test of the browser can load it.
      input: { index: "index.html", markdown: "src/lib/markdown.svelte.ts" },
      preserveEntrySignatures: "exports-only",
      output: { codeSplitting: { groups: GROUPS } },
    },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
