/** The signature as lines: thin arcs are arrivals, the core is what became of the one. */

export type RingState = 'told' | 'sending' | 'held' | 'silent' | 'unsure' | 'dead';

const CENTRE = 12;
const ARC_RADIUS = 10.2;
const ARCS_MAX = 8;
export const CORE_RADIUS = 5.5;

const at = (radius: number, degrees: number, centre: number): string => {
  const angle = ((degrees - 90) * Math.PI) / 180;
  return `${(centre + radius * Math.cos(angle)).toFixed(2)} ${(centre + radius * Math.sin(angle)).toFixed(2)}`;
};

/** A piece of a circle, clockwise from the top. */
export const arc = (radius: number, from: number, to: number, centre = CENTRE): string =>
  `M${at(radius, from, centre)}A${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${at(radius, to, centre)}`;

/** As many arcs as arrivals, none for a single one. */
export function arcs(count: number): string[] {
  if (count < 2) return [];
  const shown = Math.min(count, ARCS_MAX);
  const gap = shown > 4 ? 20 : 26;
  const step = 360 / shown;
  return Array.from({ length: shown }, (_, k) => arc(ARC_RADIUS, k * step + gap / 2, (k + 1) * step - gap / 2));
}
