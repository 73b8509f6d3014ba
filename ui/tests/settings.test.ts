import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settings } from '$lib/api/fake/rest';

const engine = readFileSync('../src-tauri/engine/src/model/settings.rs', 'utf8');
const list = engine.slice(
  engine.indexOf('pub const SETTINGS'),
  engine.indexOf('];', engine.indexOf('pub const SETTINGS')),
);
/** Key and default of every setting of the engine. */
const real = new Map(
  [...list.matchAll(/"([a-z_]+(?:\.[a-z_]+)?)",\s*(?:default: )?"([^"]*)"/g)].map((found) => [found[1], found[2]]),
);

describe('settings', () => {
  it('of the engine are read', () => {
    expect(real.get('imap.dead_line_seconds')).toBe('300');
    expect(real.get('ui.theme')).toBe('system');
  });

  it('that the page shows are there', () => {
    const pages = readdirSync('src/pages/general').map((name) => readFileSync(`src/pages/general/${name}`, 'utf8'));
    const used = [...pages.join('\n').matchAll(/'([a-z]+\.[a-z_]+)'|key="([a-z_.]+)"/g)]
      .map((found) => found[1] ?? found[2] ?? '')
      .filter((key) => /^(ui|desktop|imap|processing|retention|cancel)/.test(key));
    expect(used.length).toBeGreaterThan(8);
    for (const key of used) expect(real.has(key), key).toBe(true);
  });

  it('of the fake are those of the engine', () => {
    for (const { key, value } of settings()) expect(real.get(key), key).toBe(value);
  });
});
