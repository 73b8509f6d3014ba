/** What narrows the history, as the page holds it and as the engine takes it. */
import type { Fate } from '$lib/api/types';
import type { HistoryFilter } from '$lib/api/api.svelte';

export const OUTCOMES: Fate[] = ['told', 'sending', 'held', 'silent', 'uncertain', 'dead'];
export const TIMES = ['day', 'week', 'month', 'before'] as const;
const DAY_MS = 86_400_000;
const lengths: Record<string, number> = { day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS };

export interface Filter {
  text: string;
  mailbox: string;
  destination: string;
  outcome: string;
  time: string;
  /** Day before which mail is shown, where the time says so. */
  before: string;
}
export const emptyFilter = (): Filter => ({
  text: '',
  mailbox: '',
  destination: '',
  outcome: '',
  time: '',
  before: '',
});
export const isNarrowed = ({ text, mailbox, destination, outcome, time }: Filter): boolean =>
  [text, mailbox, destination, outcome, time].some((value) => value !== '');

export function toQuery(filter: Filter, now: number): HistoryFilter {
  const length = lengths[filter.time];
  const until = filter.time === 'before' ? Date.parse(`${filter.before}T00:00:00`) : Number.NaN;
  return {
    ...(filter.text ? { text: filter.text } : {}),
    ...(filter.mailbox ? { mailbox: filter.mailbox } : {}),
    ...(filter.destination ? { destination: filter.destination } : {}),
    ...(filter.outcome ? { outcome: filter.outcome as Fate } : {}),
    ...(length ? { since: new Date(now - length).toISOString() } : {}),
    ...(Number.isNaN(until) ? {} : { until: new Date(until).toISOString() }),
  };
}
