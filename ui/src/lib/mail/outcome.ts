/** What became of a mail, folded into one state: the worst of its notifications wins. */
import type { HistoryRow, NotificationStatus, NotificationView } from '$lib/api/types';
import type { RingState } from '$lib/design/ring';
import { readable } from './wire-name';
import type { Words } from '$lib/words/words.svelte';

const states: Record<NotificationStatus, RingState> = {
  dead: 'dead',
  uncertain: 'unsure',
  pending: 'sending',
  processing: 'sending',
  completed: 'told',
  cancelled: 'silent',
};
const worst: RingState[] = ['dead', 'unsure', 'sending', 'told', 'silent', 'held'];

export const ringOf = (status: NotificationStatus): RingState => states[status];

type Row = Pick<HistoryRow, 'decision' | 'notifications' | 'sightings'>;

export function outcome(row: Pick<HistoryRow, 'decision' | 'notifications'>): RingState {
  const found = new Set(row.notifications.map((one) => states[one.status]));
  const state = worst.find((one) => found.has(one));
  if (state) return state;
  return row.decision === 'hold' ? 'held' : 'silent';
}

/** The notifications that make a mail what it is. */
export const deciding = (row: Row): NotificationView[] => {
  const state = outcome(row);
  return row.notifications.filter((one) => states[one.status] === state);
};

const dueAt = (row: Row): number | undefined => {
  const due = row.notifications.filter((one) => one.status === 'pending' && one.attempt > 0 && one.due_at);
  return due.length === 0 ? undefined : Math.min(...due.map((one) => Date.parse(one.due_at ?? '')));
};

/** The word at the end of a narrow row. */
export function shortOutcome(row: Row, words: Words): string {
  const state = outcome(row);
  const due = dueAt(row);
  if (state === 'sending' && due) return words.say('out.retrying', { time: words.clock(due) });
  const word = words.say(`out.${state}`);
  return row.sightings > 1 && (state === 'told' || state === 'silent')
    ? words.say('out.times', { word, n: row.sightings })
    : word;
}

/** The words of a wide row: where it rang, or what went wrong where. */
export function longOutcome(row: Row, words: Words): string {
  const state = outcome(row);
  const destination = deciding(row)
    .map((one) => one.destination)
    .join(', ');
  const due = dueAt(row);
  if (state === 'told') return destination;
  if (state === 'sending' && due) return words.say('out.retrying', { time: words.clock(due) });
  const word = words.say(`out.${state}`);
  return state === 'unsure' || state === 'dead' ? words.say('out.at', { word, destination }) : word;
}

export const toneOf = (state: RingState): 'info' | 'warn' | 'danger' | 'quiet' =>
  state === 'sending' ? 'info' : state === 'unsure' ? 'warn' : state === 'dead' ? 'danger' : 'quiet';

/** What the ring says to a reader. */
export function ringLabel(count: number, state: RingState, words: Words): string {
  const said = words.say(`ring.${state}`);
  return count === 1 ? words.say('ring.once', { state: said }) : words.say('ring.times', { n: count, state: said });
}

export const senderOf = (row: { from?: string | null; from_name?: string | null }, words: Words): string =>
  row.from_name || row.from || words.say('mail.no_sender');
export const subjectOf = (row: { subject: string | null }, words: Words): string =>
  row.subject || words.say('mail.no_subject');

/** A channel's error in a few words, or in a sentence. */
export const shortCause = (code: string | null | undefined, words: Words): string => {
  const key = `short.${code}`;
  return words.say(words.has(key) ? key : 'short.other');
};
export const longCause = (code: string | null | undefined, words: Words): string => {
  const key = `cause.${code}`;
  return words.say(words.has(key) ? key : 'cause.other');
};
export const sourceName = (source: string, words: Words): string => {
  const key = `source.${source}`;
  return words.has(key) ? words.say(key) : source;
};
/** A folder by its name on the wire. */
export const folderName = (wire: string, words: Words): string =>
  wire.toUpperCase() === 'INBOX' ? words.say('add.folder.inbox') : readable(wire);
/** Where a report saw its mail: of an IMAP place the folder, without the numbers in it. */
export const placeName = (locator: string, words: Words): string =>
  folderName(locator.replace(/;UIDVALIDITY=\d+;UID=\d+$/, ''), words);
/** Why a report was not rung for. */
export const whyOf = (code: string | null | undefined, verdict: string, words: Words): string => {
  const key = `why.${code ?? verdict}`;
  return words.has(key) ? words.say(key) : words.say('why.repeat');
};
