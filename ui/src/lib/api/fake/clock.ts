/** The fixed moment at which everything invented stands. */
import type { Time } from '../types';

export const NOW = Date.parse('2026-05-14T14:31:40.000Z');
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const time = (at: number): Time => new Date(at).toISOString();
/** So long before now. */
export const past = (ms: number): Time => time(NOW - ms);
/** Today, at a clock time. */
export const today = (clock: string): number => Date.parse(`2026-05-14T${clock}Z`);

/** A key as the engine makes them: 64 hex digits, the last eight tell the number. */
export function keyOf(kind: string, number: number): string {
  let hash = 2166136261;
  const text = `${kind}${number}`;
  let out = '';
  for (let round = 0; out.length < 56; round++) {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ (text.charCodeAt(at) + round), 16777619);
    out += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return out + number.toString(16).padStart(8, '0');
}
export const numberOf = (key: string): number => Number.parseInt(key.slice(56), 16);
