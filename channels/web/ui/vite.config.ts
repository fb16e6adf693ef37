import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "/static/",
  plugins: [svelte()],
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
    },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
