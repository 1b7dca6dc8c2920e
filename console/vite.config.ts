// How the console is built: static files with hashed names under /console/, nothing inline, since the page's policy allows
// no inline script or style.

import { resolve } from 'node:path';
import { defineConfig } from 'vite';

/** Of `npm run console`: where the API listens. */
const api = process.env.API_URL ?? 'http://127.0.0.1:8053';

export default defineConfig({
  base: '/console/',
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    rollupOptions: {
      input: {
        index: resolve(import.meta.dirname, 'index.html'),
      },
      output: {
        // What most screens share is one file: each file more is a round trip, and some hundred octets of heads.
        codeSplitting: {
          groups: [
            { name: 'parts', test: /\/src\/(api|parts)\//, minShareCount: 5 },
            { name: 'app', test: /\/src\/app\//, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    // The API takes writes from PUBLIC_URL only, which is its own address unless it is set.
    proxy: {
      '^/(?!console/)': { target: api, headers: { origin: process.env.PUBLIC_URL ?? api } },
    },
  },
});
