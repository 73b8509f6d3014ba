import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

const at = (path: string) => new URL(path, import.meta.url).pathname;

/** What the built page may do: nothing from elsewhere, nothing inline. The server of `vite` itself needs more. */
const policy = {
  name: 'content-security-policy',
  apply: 'build' as const,
  transformIndexHtml: () => [
    {
      tag: 'meta',
      injectTo: 'head-prepend' as const,
      attrs: {
        'http-equiv': 'Content-Security-Policy',
        content:
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src ipc: http://ipc.localhost; base-uri 'none'; form-action 'none'",
      },
    },
  ],
};

export default defineConfig({
  plugins: [svelte(), svelteTesting(), policy],
  resolve: { alias: { $lib: at('./src/lib'), $pages: at('./src/pages') } },
  clearScreen: false,
  server: { port: 1420, strictPort: true },
  build: {
    target: 'safari16.4',
    // The content security policy forbids data: addresses and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  test: {
    environment: 'jsdom',
    setupFiles: ['./tests/setup.ts'],
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    env: { TZ: 'UTC' },
    pool: 'forks',
    maxWorkers: 2,
    restoreMocks: true,
    // Only a test that hangs takes so long; on a busy machine a scan of a whole page is slow.
    testTimeout: 120_000,
  },
});
