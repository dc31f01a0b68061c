import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Wherever the API is: relative to `/ui`.
  base: '/ui/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: true,
    modulePreload: { polyfill: false },
  },
});
