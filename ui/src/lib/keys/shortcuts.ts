/** Every shortcut, in one table that feeds the keys themselves, hints, menus and the help sheet. */
import type { Key } from '$lib/words/words.svelte';

export interface Shortcut {
  /** As `KeyboardEvent.key` names it, lower case. */
  keys: readonly string[];
  ctrl?: boolean;
  alt?: boolean;
  /** As it stands on the keyboard. */
  shown: readonly string[];
  label: Key;
  group: 'anywhere' | 'list';
}

export const shortcuts = {
  pages: {
    keys: ['1', '2', '3', '4', '5', '6', '7', '8'],
    ctrl: true,
    shown: ['Ctrl', '1…8'],
    label: 'key.pages',
    group: 'anywhere',
  },
  check: { keys: ['f5'], shown: ['F5'], label: 'key.check', group: 'anywhere' },
  filter: { keys: ['f'], ctrl: true, shown: ['Ctrl', 'F'], label: 'key.filter', group: 'anywhere' },
  settings: { keys: [','], ctrl: true, shown: ['Ctrl', ','], label: 'key.settings', group: 'anywhere' },
  back: { keys: ['escape'], shown: ['Esc'], label: 'key.back', group: 'anywhere' },
  help: { keys: ['/', '?'], ctrl: true, shown: ['Ctrl', '/'], label: 'key.help', group: 'anywhere' },
  move: { keys: ['arrowup', 'arrowdown'], shown: ['↑', '↓'], label: 'key.move', group: 'list' },
  open: { keys: ['enter'], shown: ['Enter'], label: 'key.open', group: 'list' },
  retry: { keys: ['r'], shown: ['R'], label: 'key.retry', group: 'list' },
  anyway: { keys: ['n'], shown: ['N'], label: 'key.anyway', group: 'list' },
  delivered: { keys: ['d'], shown: ['D'], label: 'key.delivered', group: 'list' },
  dismiss: { keys: ['delete'], shown: ['Del'], label: 'key.dismiss', group: 'list' },
  rule: { keys: ['arrowup', 'arrowdown'], alt: true, shown: ['Alt', '↑', '↓'], label: 'key.rule', group: 'list' },
  copy: { keys: ['c'], ctrl: true, shown: ['Ctrl', 'C'], label: 'key.copy', group: 'list' },
} as const satisfies Record<string, Shortcut>;

export type ShortcutName = keyof typeof shortcuts;

/** Cmd takes the place of Ctrl on a Mac; letters count by where they print, so that other layouts work too. */
export function hits(event: KeyboardEvent, name: ShortcutName): boolean {
  const wanted: Shortcut = shortcuts[name];
  const ctrl = event.ctrlKey || event.metaKey;
  const byPlace = /^Key([A-Z])$/.exec(event.code)?.[1]?.toLowerCase();
  const pressed = event.key.toLowerCase();
  const isKey =
    wanted.keys.includes(pressed) ||
    (byPlace !== undefined && !/^[a-z]$/.test(pressed) && wanted.keys.includes(byPlace));
  return isKey && ctrl === (wanted.ctrl ?? false) && event.altKey === (wanted.alt ?? false);
}
