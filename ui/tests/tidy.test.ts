import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(svelte|ts|css)$/.test(name))
  .map((name) => ({ name, text: readFileSync(join('src', name), 'utf8') }));
const without = (text: string, from: RegExp) => text.replace(from, '');

describe('the tree', () => {
  it('components have at most 200 lines beside their looks', () => {
    for (const { name, text } of files.filter((file) => file.name.endsWith('.svelte'))) {
      expect(without(text, /<style>[\s\S]*<\/style>/).split('\n').length, name).toBeLessThanOrEqual(200);
    }
  });

  it('other files have at most 400 lines, words apart', () => {
    for (const { name, text } of files.filter(
      (file) => !/words\/|design\/base\.css|glyphs|api\/types/.test(file.name),
    )) {
      expect(text.split('\n').length, name).toBeLessThanOrEqual(400);
    }
  });

  it('only lib/api talks to the bridge', () => {
    const outside = files.filter((file) => !file.name.startsWith('lib/api/'));
    for (const { name, text } of outside) expect(text, name).not.toMatch(/@tauri-apps|__TAURI|\.invoke\(/);
  });

  it('pages import no other page and not the shell', () => {
    for (const { name, text } of files.filter((file) => file.name.startsWith('pages/'))) {
      expect(text, name).not.toMatch(/from '\$pages|from '\.\.\/|shell\//);
    }
  });

  it('the design knows nothing of mail', () => {
    for (const { name, text } of files.filter((file) => file.name.startsWith('lib/design/'))) {
      expect(text, name).not.toMatch(/from '(\$lib\/(api|mail|words|keys)|\$pages|\.\.)/);
    }
  });

  it('mail text is only ever text, and no style stands in the markup', () => {
    for (const { name, text } of files) {
      expect(text, name).not.toMatch(/\{@html|innerHTML|outerHTML|insertAdjacentHTML|eval\(|new Function/);
      expect(text, name).not.toMatch(/\sstyle="/);
    }
  });

  it('colours come only from the tokens', () => {
    const exempt = /tokens\.css$|design\/(Qr|Mark)\.svelte$/;
    for (const { name, text } of files.filter((file) => !exempt.test(file.name))) {
      const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? (name.endsWith('.css') ? text : '');
      expect(style, name).not.toMatch(/#[0-9a-f]{3,8}\b|rgba?\(|hsl/i);
    }
  });

  it('sides are logical, so that right to left works', () => {
    for (const { name, text } of files) {
      const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? (name.endsWith('base.css') ? text : '');
      expect(style, name).not.toMatch(
        /\b(margin|padding|border)-(left|right)\b|^\s*(left|right):|text-align: (left|right)/m,
      );
    }
  });

  it('nothing remote is asked for', () => {
    for (const { name, text } of files.filter((file) => !/fake|providers|words\//.test(file.name))) {
      expect(text, name).not.toMatch(/\bfetch\(['"`]http|XMLHttpRequest|new WebSocket|@import url/);
    }
  });
});
