/** What the kinds of destination look like. */
import type { DestinationView } from '$lib/api/types';
import type { IconName } from '$lib/design/glyphs';
import type { Words } from '$lib/words/words.svelte';

const icons: Record<string, IconName> = {
  desktop: 'computer',
  ntfy: 'phone',
  gotify: 'phone',
  matrix: 'chat',
  telegram: 'destination',
  webhook: 'globe',
  command: 'bolt',
};
export const kindIcon = (kind: string): IconName => icons[kind] ?? 'destination';
export const kindName = (kind: string, words: Words): string => {
  const key = `kind.${kind}`;
  return words.has(key) ? words.say(key) : kind;
};
export const kindSay = (kind: string, words: Words): string => {
  const key = `kind.${kind}.say`;
  return words.has(key) ? words.say(key) : '';
};
export const fieldName = (field: string, words: Words): string => {
  const key = `field.${field}`;
  return words.has(key) ? words.say(key) : field;
};

/** The one word that tells destinations of a kind apart: the host of the server, the room, the program. */
export function placeName(destination: DestinationView): string | undefined {
  const { url, server, room_id, command } = destination.fields;
  if (room_id) return room_id;
  if (command) return command.split(/\s/)[0]?.split('/').at(-1);
  try {
    return new URL(url ?? server ?? '').host;
  } catch {
    return undefined;
  }
}
