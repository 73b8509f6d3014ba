// Checks the colour pairs of the tokens, in both themes, with and without more contrast: text 4.5:1, controls and
// graphics that mean something 3:1. Run: node scripts/contrast.mjs [-v]. Exit 1 when a pair fails.
import { readFileSync } from 'node:fs';

const css = readFileSync(new URL('../src/lib/design/tokens.css', import.meta.url), 'utf8').replaceAll(
  /\/\*[\s\S]*?\*\//g,
  '',
);

/** Custom properties of the rule `:root` that begins behind an index. */
function tokens(from) {
  const start = css.indexOf('{', css.indexOf(':root {', from)) + 1;
  const body = css.slice(start, css.indexOf('}', start));
  return Object.fromEntries(
    [...body.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value.trim()]),
  );
}
const base = tokens(css.lastIndexOf(':root {', css.indexOf('--side')));
const strong = { ...base, ...tokens(css.indexOf('prefers-contrast: more')) };

/** The arguments of a function, split at its own commas. */
function args(value) {
  const inner = value.slice(value.indexOf('(') + 1, value.lastIndexOf(')'));
  const parts = [''];
  let depth = 0;
  for (const char of inner) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0;
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}

/** A value as red, green, blue and alpha from 0 to 1. */
function colour(value, set, dark) {
  if (value === 'transparent') return [0, 0, 0, 0];
  if (value.startsWith('#')) return [...[1, 3, 5].map((at) => Number.parseInt(value.slice(at, at + 2), 16) / 255), 1];
  if (value.startsWith('var(')) return colour(set[args(value)[0]], set, dark);
  if (value.startsWith('light-dark(')) return colour(args(value)[dark ? 1 : 0], set, dark);
  const [, first, second] = args(value);
  const [, name, percent] = /^(.*)\s([\d.]+)%$/.exec(first);
  const share = Number(percent) / 100;
  const [a, b] = [colour(name, set, dark), colour(second, set, dark)];
  const alpha = a[3] * share + b[3] * (1 - share);
  return [...[0, 1, 2].map((at) => (a[at] * a[3] * share + b[at] * b[3] * (1 - share)) / (alpha || 1)), alpha];
}
const over = (top, ground) => top.slice(0, 3).map((part, at) => part * top[3] + ground[at] * (1 - top[3]));
const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
function ratio(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const TEXT = 4.5;
const GRAPHIC = 3;
const surfaces = ['side', 'ground', 'raised'];
const tones = ['ok', 'info', 'warn', 'danger'];
const pairs = (fronts, backs, need) => fronts.flatMap((front) => backs.map((back) => [front, back, need]));
const tints = ['fill', 'fill-hover', 'hover'].flatMap((tint) => surfaces.map((surface) => `${tint}@${surface}`));
const wanted = [
  ...pairs(['ink', 'ink-2', 'ink-3'], [...surfaces, 'select', 'select-idle'], TEXT),
  ...pairs(['ink', 'ink-2'], tints, TEXT),
  ...pairs(['ink', 'ink-2'], ['nav-select', 'neutral-soft', ...tones.map((tone) => `${tone}-soft`)], TEXT),
  ...pairs(['accent', ...tones], [...surfaces, 'select', 'hover@ground'], TEXT),
  ...pairs(
    ['danger'],
    surfaces.map((surface) => `fill@${surface}`),
    TEXT,
  ),
  ...tones.map((tone) => [tone, `${tone}-soft`, TEXT]),
  ...pairs(['on-accent'], ['accent', 'accent-hover'], TEXT),
  ['on-inverse', 'inverse', TEXT],
  ...pairs(['edge', 'thin', 'accent'], [...surfaces, 'select', 'select-idle'], GRAPHIC),
];

let failed = 0;
let tightest = Infinity;
let count = 0;
for (const [mode, set] of Object.entries({ normal: base, 'more contrast': strong })) {
  for (const dark of [false, true]) {
    const get = (name) => colour(set[`--${name}`], set, dark);
    for (const [front, back, need] of wanted) {
      const [tint, surface] = back.split('@');
      const ground = surface ? over(get(tint), get(surface)) : get(tint);
      const found = ratio(over(get(front), ground), ground);
      count += 1;
      tightest = Math.min(tightest, found / need);
      if (found < need) failed += 1;
      if (found < need || process.argv.includes('-v')) {
        console.log(
          `${found < need ? 'FAIL' : 'ok'} ${found.toFixed(2)} of ${need}: ${front} on ${back}, ${dark ? 'dark' : 'light'}, ${mode}`,
        );
      }
    }
  }
}
console.log(`${count} pairs, ${failed} fail, the tightest has ${((tightest - 1) * 100).toFixed(0)} % to spare`);
process.exit(failed > 0 ? 1 : 0);
